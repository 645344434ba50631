//! A document as an HTML page.

use maud::{Markup, html};

use super::{Block, Card, Document, Message, Style, Table, Text};
use crate::output::page;
use crate::output::{Own, copyable, id, side};

/// The page. `about` follows the name of the program at its end.
pub fn page(document: &Document, own: Own, about: &str) -> String {
    let head = &document.head;
    let body = html! {
        a.skip href="#report" { "Skip to the report" }
        (page::head(head, &html! { @for part in &document.top { (block(part, true)) } }))
        main #report { (blocks(&document.blocks)) }
        footer { p { "Written by " (head.tool) ". " (about) "Secrets of the URL and of headers are replaced by ***." } }
    };
    page::document(
        &format!("{}{} · {} · {}", head.word, head.limits, document.title, head.target),
        own,
        &body,
    )
}

/// Parts of a page.
pub fn blocks(all: &[Block]) -> Markup {
    html! { @for part in all { (block(part, false)) } }
}

/// A part; at the verdict it stands apart from the others.
fn block(block: &Block, is_top: bool) -> Markup {
    html! {
        @match block {
            Block::Section { .. } if block.is_empty() => {},
            Block::Section { id, title, blocks: all } => section id=[Some(id).filter(|id| !id.is_empty())] { h2 { (text(title)) } (blocks(all)) },
            Block::Card(card) => (self::card(card)),
            Block::Paragraph(words) => p class=(if is_top && matches!(words.0.first(), Some((Style::Strong, _))) { "note" } else { "meta" }) { (text(words)) },
            Block::List(items) => ul.advice { @for item in items { li { (text(item)) } } },
            Block::Facts(facts) => dl class=(if is_top { "facts" } else { "what" }) {
                @for (place, (name, words)) in facts.iter().enumerate() {
                    @let is_new = place == 0 || facts[place - 1].0 != *name;
                    div { dt { @if is_new { (name) } @else { span.quiet { (name) } } } dd class=(name) { (text(words)) } }
                }
            },
            Block::Table(table) => (self::table(table)),
            Block::Details { summary, is_open, blocks: all } => details.more open[*is_open] { summary { (text(summary)) } (blocks(all)) },
            Block::Exchange(messages) => div.exchange { @for message in messages { (self::message(message)) } },
            Block::Command { id, name, line, .. } => (copyable(id, name, line)),
            Block::Code(_, lines) => pre tabindex="0" { code { (lines) } },
            Block::Counts { all, states, note } => {
                (page::counts(states.iter().copied()))
                p.meta { (all) " · " (note) }
            },
            Block::Page(all) => (blocks(all)),
            Block::Html(markup) => (markup),
        }
    }
}

fn card(card: &Card) -> Markup {
    let Card { id, label, title, note, is_folded, blocks: all } = card;
    let title = html! { h3 { span.number { (label) } span.said { (text(title)) } span.held { (note) } } };
    html! {
        @if *is_folded {
            details.defect id=(id) data-state="warned" { summary { (title) } (blocks(all)) }
        } @else {
            article.defect id=(id) data-state="broken" { (title) (blocks(all)) }
        }
    }
}

/// A table that scrolls where it has no room.
pub fn table(table: &Table) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(table.title) {
            table.numbers[table.has_numbers] {
                thead { tr { @for column in &table.columns { th scope="col" { (column) } } } }
                tbody {
                    @for (place, row) in table.rows.iter().enumerate() {
                        tr data-at=[table.places.get(place)] {
                            @for (column, cell) in row.iter().enumerate() {
                                @if column == 0 { th scope="row" { (text(cell)) } } @else { td { (text(cell)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn message(message: &Message) -> Markup {
    let marks: Vec<&str> = message.marks.iter().map(String::as_str).collect();
    let body = message.body.as_ref().map(|body| (body.as_str(), marks.as_slice())).map_err(String::as_str);
    side(&text(&message.caption()), body)
}

/// A text in a line.
pub fn text(text: &Text) -> Markup {
    html! {
        @for (style, part) in text.0.iter().filter(|(_, part)| !part.is_empty()) {
            @match style {
                Style::Plain | Style::Quoted => (part),
                Style::Strong => b { (part) },
                Style::Muted => span.meta { (part) },
                Style::Good => span.tone data-state="passed" { (part) },
                Style::Bad => span.tone data-state="broken" { (part) },
                Style::Odd => span.tone data-state="warned" { (part) },
                Style::Code => code { (part) },
                Style::Id => span.rule-id { (id(part)) },
                Style::Link => a.rule-id href=(format!("#{part}")) { (id(part)) },
            }
        }
    }
}
