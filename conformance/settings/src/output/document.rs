//! One document for every format that people read. A program makes it once; [`terminal`], [`markdown`] and [`html`] show the same parts in
//! the same words. A part that is empty is not shown.

pub mod html;
pub mod markdown;
pub mod terminal;

use std::{io, path::Path};

use maud::Markup;

use crate::output::{Own, cut, escape_controls, report_file};

/// Longest value that is shown, in characters. The message that has it is shown too.
const LONGEST_VALUE: usize = 400;

/// A report.
#[derive(Debug)]
pub struct Document {
    /// What it is: `Load test`.
    pub title: &'static str,
    /// The verdict.
    pub head: Head,
    /// What stands at the verdict: counts, and what limits the run.
    pub top: Vec<Block>,
    /// Everything else.
    pub blocks: Vec<Block>,
}

impl Document {
    /// Writes it to a file: as Markdown where the name ends with `.md`, and otherwise as a page.
    pub fn write(&self, path: &Path, own: Own) -> io::Result<()> {
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        let text = if is_markdown { markdown::render(self, usize::MAX) } else { html::page(self, own, "") };
        report_file::write(path, &text)
    }
}

/// The top of a report.
#[derive(Clone, Debug)]
pub struct Head {
    /// The program that wrote it, its version and the date.
    pub tool: String,
    /// The state whose colour the verdict has: `broken`, `passed` or `inconclusive`.
    pub state: &'static str,
    /// The verdict in capital letters.
    pub word: String,
    /// What follows the verdict, with the characters between.
    pub limits: Text,
    /// The URL of the target.
    pub target: String,
}

/// A part of a report.
#[derive(Clone, Debug)]
pub enum Block {
    /// Parts below a heading.
    Section {
        /// Its id on the page.
        id: &'static str,
        /// The heading.
        title: Text,
        /// The parts.
        blocks: Vec<Self>,
    },
    /// A defect.
    Card(Card),
    /// A sentence or more.
    Paragraph(Text),
    /// Items of equal rank.
    List(Vec<Text>),
    /// Names and what is known of each. A name that follows itself is shown once.
    Facts(Vec<(&'static str, Text)>),
    /// Rows and columns.
    Table(Table),
    /// Parts that unfold below a line. A terminal shows them where they are open, or where everything is shown.
    Details {
        /// The line.
        summary: Text,
        /// Whether they are shown at once.
        is_open: bool,
        /// The parts.
        blocks: Vec<Self>,
    },
    /// A request and its answer.
    Exchange([Message; 2]),
    /// A command line to copy.
    Command {
        /// Its id on the page.
        id: String,
        /// What it is for, in a word.
        name: &'static str,
        /// The line.
        line: String,
        /// Whether a terminal leaves it out where it is too long.
        folds: bool,
    },
    /// Lines of this language.
    Code(&'static str, String),
    /// How many there are of each state.
    Counts {
        /// How many there are: `81 rules`.
        all: String,
        /// The name of each state, its word and its number.
        states: Vec<(&'static str, &'static str, u64)>,
        /// What follows the numbers.
        note: String,
    },
    /// Parts that only the page has room for.
    Page(Vec<Self>),
    /// A drawing or another part that only the page can have.
    Html(Markup),
}

/// A defect.
#[derive(Clone, Debug)]
pub struct Card {
    /// Its id on the page.
    pub id: String,
    /// `Defect 1`.
    pub label: String,
    /// What is wrong.
    pub title: Text,
    /// How much is wrong.
    pub note: String,
    /// Whether it is only a warning, which unfolds.
    pub is_folded: bool,
    /// Cause, request, answer and how to repeat it.
    pub blocks: Vec<Block>,
}

/// A request or an answer.
#[derive(Clone, Debug)]
pub struct Message {
    /// `request` or `answer`.
    pub name: &'static str,
    /// The status, or which of several requests it is; may be empty.
    pub note: String,
    /// Its body, or why there is none.
    pub body: Result<String, String>,
    /// The places that are marked in it, as JSON pointers.
    pub marks: Vec<String>,
    /// Whether text shows it as it was sent, although it is JSON.
    pub is_raw: bool,
}

/// A table. The first cell of a row is its name.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Text>>,
    /// Whether the cells are numbers, which are aligned on the right.
    pub has_numbers: bool,
    /// The place of each row in a drawing, where there is one.
    pub places: Vec<String>,
}

/// How a part of a text looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As the text around it.
    Plain,
    /// Important.
    Strong,
    /// Less important.
    Muted,
    /// In the colour of success.
    Good,
    /// In the colour of failure.
    Bad,
    /// In the colour of warnings.
    Odd,
    /// Code in a sentence, between backticks where there are no fonts.
    Code,
    /// A text of the target or of the user. Markdown quotes it, so that nothing in it is markup, a link or a mention.
    Quoted,
    /// The id of a rule.
    Id,
    /// The id of a rule that the page has a part about.
    Link,
}

/// A text on one line, without control characters.
#[derive(Clone, Debug, Default)]
pub struct Text(Vec<(Style, String)>);

impl Text {
    /// A text that looks like this.
    pub fn of(style: Style, text: impl AsRef<str>) -> Self {
        Self::default().with(style, text)
    }

    /// A text of the target or of the user.
    pub fn quoted(text: impl AsRef<str>) -> Self {
        Self::of(Style::Quoted, text)
    }

    /// The text, and a part that looks like this.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl AsRef<str>) -> Self {
        self.0.push((style, escape_controls(text.as_ref())));
        self
    }

    /// The text, and another one.
    #[must_use]
    pub fn and(mut self, other: impl Into<Self>) -> Self {
        self.0.extend(other.into().0);
        self
    }

    /// Texts with a comma between.
    pub fn listed(all: impl IntoIterator<Item = Self>) -> Self {
        let joined = |text: Self, next: Self| if text.is_empty() { next } else { text.and(", ").and(next) };
        all.into_iter().fold(Self::default(), joined)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|(_, part)| part.is_empty())
    }

    /// The parts, with backticks around code.
    fn in_letters(&self) -> impl Iterator<Item = (Style, String)> {
        self.0.iter().map(|(style, part)| {
            let tick = if *style == Style::Code { "`" } else { "" };
            (*style, format!("{tick}{part}{tick}"))
        })
    }
}

/// As letters alone can show it.
impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.in_letters().try_for_each(|(_, part)| f.write_str(&part))
    }
}

/// What is between backticks is code.
impl<T: AsRef<str>> From<T> for Text {
    fn from(text: T) -> Self {
        let parts: Vec<&str> = text.as_ref().split('`').collect();
        if parts.len().is_multiple_of(2) {
            return Self::of(Style::Plain, text);
        }
        let style = |place: usize| if place % 2 == 1 { Style::Code } else { Style::Plain };
        let parts = parts.iter().enumerate();
        parts.fold(Self::default(), |text, (place, part)| text.with(style(place), part))
    }
}

impl Message {
    /// A message of this name. What is wrong as a whole, with an empty pointer as mark, is shown as it was received.
    pub fn new(
        name: &'static str,
        note: impl Into<String>,
        body: Result<&String, &str>,
        marks: &[&str],
    ) -> Self {
        let marks: Vec<String> = marks.iter().map(|mark| (*mark).to_owned()).collect();
        let is_raw = marks.iter().any(String::is_empty);
        Self { name, note: note.into(), body: body.cloned().map_err(str::to_owned), marks, is_raw }
    }

    /// Its name, and what is known of it.
    fn caption(&self) -> Text {
        let (first, rest) = self.name.split_at(1);
        let note = if self.note.is_empty() { String::new() } else { format!(", {}", self.note) };
        Text::of(Style::Plain, first.to_uppercase() + rest + &note)
    }
}

impl Block {
    /// Parts below a heading.
    pub fn section(id: &'static str, title: impl Into<Text>, blocks: Vec<Self>) -> Self {
        Self::Section { id, title: title.into(), blocks }
    }

    /// Parts that unfold below a line.
    pub fn details(summary: impl Into<Text>, is_open: bool, blocks: Vec<Self>) -> Self {
        Self::Details { summary: summary.into(), is_open, blocks }
    }

    /// A sentence or more.
    pub fn paragraph(text: impl Into<Text>) -> Self {
        Self::Paragraph(text.into())
    }

    /// A command line to copy.
    pub fn command(id: String, name: &'static str, line: &str, folds: bool) -> Self {
        Self::Command { id, name, line: line.to_owned(), folds }
    }

    /// The variables that a command line reads.
    pub fn exports(names: &str) -> Self {
        Self::Paragraph(Text::from("(export ").with(Style::Quoted, names).and(" first)"))
    }

    /// What was expected and found, and at which place of the answer.
    pub fn expectation(expected: &str, found: &str, pointer: &str) -> Vec<(&'static str, Text)> {
        let value = |text: &str| Text::quoted(cut(text, LONGEST_VALUE));
        let place = if pointer.is_empty() { "the whole answer" } else { pointer };
        vec![("expected", value(expected)), ("found", value(found).and(" at ").and(value(place)))]
    }

    /// Whether a heading has nothing to stand above: sentences alone explain nothing.
    fn is_empty(&self) -> bool {
        match self {
            Self::Section { blocks, .. } => blocks.iter().all(Self::is_empty),
            Self::Table(table) => table.rows.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Paragraph(_) => true,
            _ => false,
        }
    }

    /// `81 rules: 3 broken, 70 passed · seed 1`, of counts.
    fn counts(&self) -> Text {
        let Self::Counts { all, states, note } = self else { return Text::default() };
        let present = states.iter().filter(|(.., number)| *number > 0);
        let numbers: Vec<String> = present.map(|(_, word, number)| format!("{number} {word}")).collect();
        Text::of(Style::Strong, format!("{all}: {}", numbers.join(", "))).and(format!(" · {note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::terminal::Paint;

    /// A document with every kind of part, and with texts of a target that try to be markup.
    fn document() -> Document {
        let evil = || Text::of(Style::Quoted, "<b>`@me` | \u{1b}[31m");
        let body = format!("{{\"id\":1,\"wide\":\"{}\",\"result\":{{\"a\":1,\"b\":2}}}}", "w".repeat(60));
        let message = |name, marks: &[&str]| Message::new(name, "HTTP 200", Ok(&body), marks);
        let facts = Block::Facts(vec![("breaks", Text::of(Style::Id, "a.b")), ("breaks", evil())]);
        let command = Block::command("c".to_owned(), "cURL", "curl 'x'", true);
        let details = Block::Details {
            summary: "more of it".into(),
            is_open: false,
            blocks: vec![Block::Paragraph("inside".into())],
        };
        let card = |label: &str, is_folded| {
            Block::Card(Card {
                id: label.to_lowercase(),
                label: label.to_owned(),
                title: evil(),
                note: "breaks 2 rules".to_owned(),
                is_folded,
                blocks: vec![
                    facts.clone(),
                    Block::Exchange([message("request", &[]), message("answer", &["/result/b"])]),
                    command.clone(),
                    details.clone(),
                ],
            })
        };
        let table = Table {
            title: "Figures".to_owned(),
            columns: vec!["name".to_owned(), "n".to_owned()],
            rows: vec![vec![evil(), Text::of(Style::Bad, "10")], vec!["b".into(), "2".into()]],
            has_numbers: true,
            ..Table::default()
        };
        let section = |title: &str, blocks| Block::Section { id: "s", title: title.into(), blocks };
        Document {
            title: "Test",
            head: Head {
                tool: "tool 1".to_owned(),
                state: "broken",
                word: "FAILED".to_owned(),
                limits: ": 2 rules".into(),
                target: "http://t".to_owned(),
            },
            top: vec![
                Block::Counts {
                    all: "2 rules".to_owned(),
                    states: vec![("broken", "broken", 2), ("passed", "passed", 0)],
                    note: "seed 1".to_owned(),
                },
                Block::Code("toml", "a = 1".to_owned()),
            ],
            blocks: vec![
                section("Broken", vec![card("Defect 1", false), card("Warning 1", true)]),
                section("Figures", vec![Block::Table(table)]),
                section("Next", vec![Block::List(vec!["run `it`".into()])]),
                section("Nothing", Vec::new()),
                details,
            ],
        }
    }

    #[test]
    fn every_part_on_a_terminal() {
        let lines =
            |is_whole| terminal::Lines { is_whole, more: "-v shows", width: 60, ..Default::default() };
        let text = lines(false).document(&document());
        insta::assert_snapshot!(text);
        let whole = lines(true).document(&document());
        assert!(
            whole.contains("more of it\n") && whole.contains("inside") && !whole.contains("folded"),
            "{whole}"
        );
        let painted =
            terminal::Lines { paint: Paint { colours: true }, ..lines(false) }.document(&document());
        let red = "\u{1b}[1m\u{1b}[31m";
        assert_eq!(painted.matches(red).count(), 3, "verdict, label of the defect, cell: {painted:?}");
    }

    #[test]
    fn every_part_in_markdown() {
        let text = markdown::render(&document(), usize::MAX);
        assert!(!text.contains('\u{1b}'));
        insta::assert_snapshot!(text);
        let short = markdown::render(&document(), text.len() - 1);
        assert!(short.contains(markdown::LEFT_OUT) && short.len() < text.len(), "{short}");
        assert!(markdown::render(&document(), 1).contains("2 more defects in the other reports"));
    }

    #[test]
    fn every_part_on_a_page() {
        let page = html::page(&document(), Own::default(), "");
        let body = page.split("<body>").nth(1).unwrap().split("<script>").next().unwrap();
        assert!(!body.contains("<b>`") && !body.contains('\u{1b}') && !body.contains("Nothing"), "{body}");
        let headings: Vec<&str> = body.split("<h").skip(1).map(|rest| &rest[..1]).collect();
        assert_eq!(headings.into_iter().filter(|level| *level != "e").collect::<String>(), "123322");
        insta::assert_snapshot!(body.replace("><", ">\n<"));
    }

    #[test]
    fn backticks_in_pairs_are_code() {
        let code = |text: &str| Text::from(text).0.iter().filter(|(style, _)| *style == Style::Code).count();
        assert_eq!((code("a `b` c `d`"), code("it`s"), code("")), (2, 0, 0));
        assert_eq!(Text::from("a `b` it`s").to_string(), "a `b` it`s");
    }
}
