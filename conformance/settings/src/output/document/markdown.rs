//! A document in Markdown, for the summary of a CI step and for a comment on a pull request.

use super::{Block, Card, Document, Message, Style, Table, Text, html};
use crate::output::{compact, cut, escape_controls};

/// Longest body that is no JSON, in characters.
const LONGEST_BODY: usize = 2000;
/// Longest text of a target, in characters.
const LONGEST_QUOTE: usize = 2000;

/// The length of a comment, in bytes, with room for what a program adds: a comment on GitHub holds 65,536 characters.
pub const LONGEST_COMMENT: usize = 60_000;

/// Stands in place of what unfolds in a defect that would make the text too long.
pub(super) const LEFT_OUT: &str = "The request is in the other reports.";

/// The document. Defects are shortened and left out from `longest` bytes on.
pub fn render(document: &Document, longest: usize) -> String {
    let head = &document.head;
    let verdict = Text::from(&head.word).and(head.limits.clone());
    let mut text =
        format!("## {}: {}\n\n{}\n", document.title, inline(&verdict, false), code(&head.target, false));
    text.push_str(&blocks(&document.top, true));
    let parts: Vec<Part> = document.blocks.iter().flat_map(parts_of).collect();
    let others: usize =
        parts.iter().filter(|(is_defect, _)| !is_defect).map(|(_, [whole, _])| whole.len()).sum();
    let room = longest.saturating_sub(others);
    let mut left_out = 0;
    for (is_defect, forms) in parts {
        match forms.into_iter().find(|form| !is_defect || text.len() + form.len() <= room) {
            Some(form) => text.push_str(&form),
            None => left_out += 1,
        }
    }
    let noun = if left_out == 1 { "defect" } else { "defects" };
    let note =
        format!("\n{left_out} more {noun} in the other reports: this one would be too long for a comment.\n");
    if left_out > 0 { text + &note } else { text }
}

/// Whether a part is a defect, and the part whole and short.
type Part = (bool, [String; 2]);

/// The heading and each defect of a section; any other part as it is.
fn parts_of(part: &Block) -> Vec<Part> {
    match part {
        Block::Section { title, blocks, .. }
            if blocks.iter().any(|block| matches!(block, Block::Card(_))) =>
        {
            let heading = format!("\n### {}\n", inline(title, false));
            let heading = (false, [heading, String::new()]);
            [heading].into_iter().chain(blocks.iter().flat_map(parts_of)).collect()
        }
        _ => vec![(matches!(part, Block::Card(_)), [true, false].map(|is_whole| block(part, is_whole)))],
    }
}

/// Parts alone, whole.
pub fn parts(all: &[Block]) -> String {
    blocks(all, true)
}

fn blocks(all: &[Block], is_whole: bool) -> String {
    all.iter().map(|part| block(part, is_whole)).collect()
}

fn block(block: &Block, is_whole: bool) -> String {
    match block {
        Block::Section { .. } if block.is_empty() => String::new(),
        Block::Section { title, blocks: all, .. } => {
            format!("\n### {}\n{}", inline(title, false), blocks(all, is_whole))
        }
        Block::Card(Card { label, title, note, is_folded, blocks: all, .. }) => {
            let inside = format!("\n{}\n{}", inline(&note.into(), false), blocks(all, is_whole));
            let title = Text::from(label).and(": ").and(title.clone());
            if *is_folded {
                details(&title, &inside)
            } else {
                format!("\n#### {}\n{inside}", inline(&title, false))
            }
        }
        Block::Paragraph(text) => format!("\n{}\n", inline(text, false)),
        Block::List(items) => {
            let lines = items.iter().map(|item| format!("- {}\n", inline(item, false)));
            format!("\n{}", lines.collect::<String>())
        }
        Block::Facts(facts) => {
            let lines = facts.iter().map(|(name, text)| format!("- {name}: {}\n", inline(text, false)));
            format!("\n{}", lines.collect::<String>())
        }
        Block::Table(table) => self::table(table),
        Block::Details { .. } if !is_whole => format!("\n{LEFT_OUT}\n"),
        Block::Details { summary, blocks: all, .. } => details(summary, &blocks(all, is_whole)),
        Block::Exchange(messages) => messages.iter().map(message).collect(),
        Block::Command { name, line, .. } => format!("\n{name}\n\n{}", fenced("sh", line)),
        Block::Code(language, text) => format!("\n{}", fenced(language, text)),
        Block::Counts { .. } => format!("\n{}\n", inline(&block.counts(), false)),
        Block::Page(_) | Block::Html(_) => String::new(),
    }
}

/// What unfolds below a summary, which is HTML.
fn details(summary: &Text, inside: &str) -> String {
    let quoted =
        |style| if matches!(style, Style::Quoted | Style::Id | Style::Link) { Style::Code } else { style };
    let summary = Text(summary.0.iter().map(|(style, part)| (quoted(*style), part.clone())).collect());
    format!("\n<details>\n<summary>{}</summary>\n{inside}\n</details>\n", html::text(&summary).into_string())
}

fn table(table: &Table) -> String {
    let line =
        |cells: &mut dyn Iterator<Item = String>| format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "));
    let rule = if table.has_numbers { "---:" } else { "---" };
    let rules = ["---"].into_iter().chain(std::iter::repeat_n(rule, table.columns.len() - 1));
    let rows = table.rows.iter().map(|row| line(&mut row.iter().map(|cell| inline(cell, true))));
    format!(
        "\n{}{}{}",
        line(&mut table.columns.iter().map(|column| inline(&column.into(), true))),
        line(&mut rules.map(str::to_owned)),
        rows.collect::<String>()
    )
}

fn message(message: &Message) -> String {
    let shown = match (message.json(), &message.body) {
        (Some(value), _) => {
            let marks: Vec<&str> = message.marks.iter().map(String::as_str).collect();
            fenced(
                if marks.is_empty() { "json" } else { "" },
                &compact::pretty_marked(&value, &marks, 0, 100),
            )
        }
        (_, Ok(text) | Err(text)) => fenced("", &cut(&escape_controls(text), LONGEST_BODY)),
    };
    format!("\n{}\n\n{shown}", inline(&message.caption(), false))
}

/// A text in a line, or in a cell of a table, where a vertical bar is escaped in code too.
fn inline(text: &Text, is_cell: bool) -> String {
    let mut line = String::new();
    for (style, part) in text.0.iter().filter(|(_, part)| !part.is_empty()) {
        let shown = match style {
            Style::Plain | Style::Muted | Style::Good | Style::Odd => escaped(part),
            // What is bold ends with no blank.
            Style::Strong | Style::Bad => {
                let word = part.trim_end();
                format!("**{}**{}", escaped(word), &part[word.len()..])
            }
            Style::Code | Style::Quoted | Style::Id | Style::Link => code(part, is_cell),
        };
        // The backticks of two codes would be those of one.
        line += if line.ends_with('`') && shown.starts_with('`') { " " } else { "" };
        line += &shown;
    }
    line
}

/// Escapes a text, so that it is no markup of Markdown or HTML.
fn escaped(raw: &str) -> String {
    let mut safe = String::new();
    for letter in raw.chars() {
        if matches!(letter, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&') {
            safe.push('\\');
        }
        safe.push(letter);
    }
    safe
}

/// A text on one line as inline code, so that nothing in it is markup, a link or a mention.
fn code(raw: &str, is_cell: bool) -> String {
    let text = cut(&escape_controls(raw), LONGEST_QUOTE);
    let text = if is_cell { text.replace('|', "\\|") } else { text };
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// Lines as a block of code.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_target_are_not_markup() {
        assert_eq!(code("a", false), "`a`");
        assert_eq!(code("a`b``c", false), "```a`b``c```");
        assert_eq!(code("`", false), "`` ` ``");
        assert_eq!(code("a|b", true), "`a\\|b`");
        assert_eq!(fenced("", "```"), "````\n```\n````\n");
        assert_eq!(inline(&"<b> `a|b` *c*".into(), false), "\\<b\\> `a|b` \\*c\\*");
        assert_eq!(inline(&"`a``b`".into(), false), "`a` `b`");
    }
}
