//! A document on a terminal, in lines of limited width.

use paymaster_engine::rules::count;
use serde_json::Value;

use super::{Block, Card, Document, Message, Style, Table, Text};
use crate::output::{Paint, compact, cut, wrapped};

/// The widest line, in columns, where the terminal is not narrower. Command lines may be longer: they must work as printed.
pub const WIDTH: usize = 100;

/// The column of the values of a defect.
const COLUMN: usize = 13;

/// Longest body that is shown as it was sent, in characters.
const LONGEST_BODY: usize = 320;

/// Text for a terminal.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The text so far.
    pub text: String,
    /// The widest line, in columns.
    pub width: usize,
    /// Colours.
    pub paint: Paint,
    /// Whether everything is shown. Otherwise bodies have the parts that matter, and warnings and what unfolds are a line.
    pub is_whole: bool,
    /// What shows the rest: `-v shows`.
    pub more: &'static str,
}

impl Default for Lines {
    fn default() -> Self {
        Self { text: String::new(), width: WIDTH, paint: Paint::default(), is_whole: false, more: "" }
    }
}

impl Lines {
    /// The document.
    pub fn document(mut self, document: &Document) -> String {
        self.verdict(document);
        self.blocks(&document.top, 0);
        self.blocks(&document.blocks, 0);
        self.text
    }

    /// Adds a line.
    pub fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Adds a text behind a head of `width` letters. Its further lines are indented by as many.
    pub fn hanging(&mut self, head: &str, width: usize, text: impl Into<Text>) {
        for (number, line) in self.painted(&text.into(), self.width - width).into_iter().enumerate() {
            self.line(&format!("{}{line}", if number == 0 { head.to_owned() } else { " ".repeat(width) }));
        }
    }

    /// Adds a table with the names on the left and numbers on the right of their columns; where it is too wide, a line for each row.
    pub fn table(&mut self, table: &Table, indent: usize) {
        let Table { columns, rows, has_numbers, .. } = table;
        let head: Vec<Text> = columns.iter().map(|column| Text::of(Style::Muted, column)).collect();
        let all: Vec<&Vec<Text>> = [&head].into_iter().chain(rows).collect();
        let length = |text: &Text| text.to_string().chars().count();
        let width = |column: usize| all.iter().map(|row| length(&row[column])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns.len()).map(width).collect();
        if !has_numbers && indent + widths.iter().sum::<usize>() + 2 * widths.len() > self.width {
            for row in rows {
                let values = row[1..].iter().filter(|value| !value.is_empty()).cloned();
                self.hanging(
                    &" ".repeat(indent),
                    indent + 2,
                    row[0].clone().and(": ").and(Text::listed(values)),
                );
            }
            return;
        }
        for row in all {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (text, width))| {
                let (gap, text) = (" ".repeat(width - length(text)), self.painted(text, usize::MAX).concat());
                if column > 0 && *has_numbers { format!("{gap}{text}  ") } else { format!("{text}{gap}  ") }
            });
            let line = " ".repeat(indent) + &cells.collect::<String>();
            self.line(&line);
        }
    }

    /// The text in lines of so many columns, in its colours.
    fn painted(&self, text: &Text, width: usize) -> Vec<String> {
        let lines = wrapped(&text.to_string(), width);
        let mut letters = text
            .in_letters()
            .flat_map(|(style, part)| part.chars().map(|own| (own, style)).collect::<Vec<_>>());
        let painted = lines.into_iter().map(|line| {
            let mut parts: Vec<(Style, String)> = Vec::new();
            for letter in line.chars() {
                // Blanks at which a line was broken are in no line.
                let style = letters.find(|(own, _)| *own == letter).map_or(Style::Plain, |(_, style)| style);
                match parts.last_mut() {
                    Some((last, part)) if *last == style => part.push(letter),
                    _ => parts.push((style, letter.to_string())),
                }
            }
            parts.iter().map(|(style, part)| self.paint.with(*style, part)).collect()
        });
        painted.collect()
    }

    fn verdict(&mut self, document: &Document) {
        let head = &document.head;
        let style = match head.state {
            "passed" => Style::Good,
            "broken" => Style::Bad,
            _ => Style::Odd,
        };
        let text = Text::of(style, &head.word).and(head.limits.clone()).and("  ");
        self.hanging("", 2, text.with(Style::Quoted, &head.target));
    }

    fn headline(&mut self, card: &Card) {
        let label = card.label.to_uppercase();
        let style = if card.is_folded { Style::Odd } else { Style::Bad };
        let is_short = card.is_folded && !self.is_whole;
        let longest = if is_short { 2 * self.width - label.len() - 24 } else { usize::MAX };
        let title = without_middle(card.title.to_string(), longest);
        self.hanging("", 2, Text::of(style, label).with(Style::Plain, format!("  {title}")));
    }

    /// Adds parts.
    pub fn blocks(&mut self, blocks: &[Block], indent: usize) {
        for block in blocks {
            self.block(block, indent);
        }
    }

    fn block(&mut self, block: &Block, indent: usize) {
        let (more, is_whole, margin) = (self.more, self.is_whole, " ".repeat(indent));
        match block {
            Block::Section { blocks, .. } if block.is_empty() => {}
            Block::Section { title, blocks, .. } => {
                // The label of a defect says enough.
                if !matches!(blocks[0], Block::Card(_)) {
                    self.line("");
                    let is_plain = title.0.iter().all(|(style, _)| *style == Style::Plain);
                    let strong = || Text::of(Style::Strong, title.to_string());
                    self.hanging("", 0, if is_plain { strong() } else { title.clone() });
                }
                self.blocks(blocks, 2);
            }
            Block::Card(card) => {
                if !card.blocks.is_empty() {
                    self.line("");
                }
                self.headline(card);
                if card.is_folded && !is_whole {
                    self.hanging("  ", 2, format!("{}; {more} it whole", card.note));
                } else {
                    // What unfolds at once needs no line of its own here.
                    let parts = card.blocks.iter().flat_map(|part| match part {
                        Block::Details { is_open: true, blocks, .. } => blocks.as_slice(),
                        part => std::slice::from_ref(part),
                    });
                    parts.for_each(|part| self.block(part, 2));
                }
            }
            Block::Paragraph(text) => self.hanging(&margin, indent, text.clone()),
            Block::List(items) => {
                for item in items {
                    self.hanging(&format!("{margin}- "), indent + 2, item.clone());
                }
            }
            Block::Facts(facts) => {
                let mut last = "";
                for (name, text) in facts {
                    self.hanging(&row(if *name == last { "" } else { name }), COLUMN, text.clone());
                    last = name;
                }
            }
            Block::Table(table) => self.table(table, indent),
            Block::Details { summary, is_open, blocks } => {
                let is_shown = *is_open || is_whole;
                let more = if is_shown { String::new() } else { format!("; {more} it") };
                self.hanging(&margin, indent, summary.clone().and(more));
                self.blocks(if is_shown { blocks } else { &[] }, 2);
            }
            Block::Exchange(messages) => messages.iter().for_each(|message| self.message(message)),
            Block::Command { name, line, folds, .. } => {
                let fits = is_whole || !folds || line.len() + COLUMN <= self.width;
                let short = || format!("{more} the line of {} characters", line.chars().count());
                self.line(&(row(name) + &if fits { line.clone() } else { short() }));
            }
            Block::Code(_, text) => text.lines().for_each(|line| self.line(&format!("{margin}  {line}"))),
            Block::Counts { .. } => self.hanging("", 0, block.counts()),
            Block::Page(_) | Block::Html(_) => {}
        }
    }

    /// A request or an answer: JSON on several lines with arrows at the marks, anything else cut.
    fn message(&mut self, message: &Message) {
        let note = if message.note.is_empty() { String::new() } else { format!("{}  ", message.note) };
        let head = row(message.name);
        let Some(value) = message.json() else {
            let shown = |body: &str| note + if body.trim().is_empty() { "(empty body)" } else { body };
            let text = message.body.as_ref().map_or_else(Clone::clone, |body| shown(body));
            return self.hanging(&head, COLUMN, Text::of(Style::Quoted, cut(text.trim(), LONGEST_BODY)));
        };
        let marks: Vec<&str> = message.marks.iter().map(String::as_str).collect();
        let whole = compact::pretty_marked(&value, &marks, COLUMN, self.width);
        let params =
            (0..value["params"].as_array().map_or(0, Vec::len)).map(|place| format!("/params/{place}"));
        let params: Vec<String> = params.chain(["/result", "/error"].map(str::to_owned)).collect();
        let params: Vec<&str> = params.iter().map(String::as_str).collect();
        let folded = || compact::folded(&value, &marks, &params, COLUMN, self.width);
        let shown = if self.is_whole { whole.clone() } else { folded() };
        let first = shown.lines().next().unwrap_or_default().chars().count();
        let gap = if COLUMN + note.chars().count() + first > self.width {
            format!("\n{}", " ".repeat(COLUMN))
        } else {
            String::new()
        };
        let hidden = whole.lines().count().saturating_sub(shown.lines().count());
        let lines = count(hidden as u128, "line");
        let hidden = (hidden > 0).then(|| format!("   ({lines} folded: {} them)", self.more));
        self.line(&format!(
            "{head}{}{gap}{shown}{}",
            note.trim_end_matches(|_| !gap.is_empty()),
            hidden.unwrap_or_default()
        ));
    }
}

/// The name of a value, padded to its column.
fn row(name: &str) -> String {
    format!("  {name:<11}")
}

/// A text; a long one without its middle, up to the end of a word or of a JSON value and from the beginning of a word, where that leaves more
/// than half of each end.
fn without_middle(text: String, longest: usize) -> String {
    let letters = text.chars().count();
    if letters <= longest {
        return text;
    }
    let kept = longest.saturating_sub(GAP.chars().count());
    let place = |letter: usize| text.char_indices().nth(letter).map_or(text.len(), |(place, _)| place);
    let (start, end) = (&text[..place(kept.div_ceil(2))], &text[place(letters - kept / 2)..]);
    let start_to = start.rfind([' ', ',']).filter(|place| 2 * place > start.len());
    let end_from = end.find(' ').filter(|place| 2 * place < end.len());
    format!(
        "{}{GAP}{}",
        &start[..start_to.unwrap_or(start.len())],
        &end[end_from.map_or(0, |place| place + 1)..]
    )
}

/// Stands in place of what is left out of a headline.
const GAP: &str = " … ";

impl Message {
    /// Its body as JSON, where text shows it as that.
    pub(super) fn json(&self) -> Option<Value> {
        let body = self.body.as_ref().ok().filter(|_| !self.is_raw)?;
        serde_json::from_str(body).ok().filter(|value: &Value| value.is_object() || value.is_array())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_headline_says_what_was_asked_and_what_came() {
        let text = "expected a result as for the baseline, got an error with a code";
        assert_eq!(without_middle(text.to_owned(), 50), "expected a result as … an error with a code");
        assert_eq!(without_middle(text.to_owned(), 63), text);
        let value = "5a".repeat(40);
        let cut = without_middle(value.clone(), 50);
        assert!(cut.starts_with(&value[..20]) && cut.ends_with(&value[60..]), "no word ends in it: {cut}");
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_line_for_each_row() {
        let mut lines = Lines { width: 30, ..Lines::default() };
        let row = ["name", "a text that is not short", ""].map(Text::from).to_vec();
        let columns = ["a", "b", "c"].map(str::to_owned).to_vec();
        lines.table(&Table { columns, rows: vec![row], ..Table::default() }, 2);
        assert_eq!(lines.text, "  name: a text that is not\n    short\n");
    }
}
