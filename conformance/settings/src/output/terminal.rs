//! Colours, and texts without control characters for a terminal.

use anstyle::AnsiColor;

use super::document::Style;

/// Colours words, where colours are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    /// Whether colours are wanted.
    pub colours: bool,
}

impl Paint {
    /// A text that looks like this.
    pub fn with(self, style: Style, text: &str) -> String {
        let style = match style {
            Style::Strong => anstyle::Style::new().bold(),
            Style::Muted => anstyle::Style::new().dimmed(),
            Style::Good => AnsiColor::Green.on_default().bold(),
            Style::Bad => AnsiColor::Red.on_default().bold(),
            Style::Odd => AnsiColor::Yellow.on_default().bold(),
            Style::Id | Style::Link => AnsiColor::Cyan.on_default(),
            Style::Plain | Style::Code | Style::Quoted => anstyle::Style::new(),
        };
        if self.colours { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// A text from the target that is safe to print: control characters, and characters that change the direction of text, are escaped.
pub fn escape_controls(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        let reorders =
            matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if letter.is_control() || reorders {
            clean.extend(letter.escape_default());
        } else {
            clean.push(letter);
        }
    }
    clean
}

/// Cuts a text in the middle where it is longer than `longest` characters.
pub fn cut(text: &str, longest: usize) -> String {
    let count = text.chars().count();
    if count <= longest {
        return text.to_owned();
    }
    let note = format!("...({count} characters)...");
    let keep = longest.saturating_sub(note.len());
    let head: String = text.chars().take(keep.div_ceil(2)).collect();
    let tail: String = text.chars().skip(count - keep / 2).collect();
    format!("{head}{note}{tail}")
}

/// A count with its digits in groups of three, for example `12 345`.
pub fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Breaks a text into lines of at most `width` columns, at spaces where there are any.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let mut word = word.to_owned();
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::take(&mut line));
        }
        while word.chars().count() > width {
            let (head, tail): (String, String) =
                (word.chars().take(width).collect(), word.chars().skip(width).collect());
            lines.push(head);
            word = tail;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(escape_controls("a\u{1b}[31m\nb\u{202e}"), "a\\u{1b}[31m\\nb\\u{202e}");
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!((number(999), number(1_234_567)), ("999".to_owned(), "1 234 567".to_owned()));
    }

    #[test]
    fn lines_are_broken_at_spaces_or_where_they_must() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
