//! A page with several implementations side by side: clauses as rows, reports as columns, a badge for each.

use std::collections::BTreeMap;

use indexmap::IndexSet;
use maud::{Markup, html};
use paymaster_schemas::{Section, find_clause};

use crate::report::counts::{Counts, RuleState};
use crate::report::{Report, mark, observed, sections, words};
use paymaster_engine::verdict::Conclusion;
use paymaster_settings::EMBEDDED_WARNING;
use paymaster_settings::output::page;
use paymaster_settings::output::{Block, Head, Own, Style, Table, Text, html, id, markdown};

/// A report and the name of its column.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) run: Report,
}

/// The page.
pub(crate) fn page(columns: &[Column]) -> String {
    let rows = rows(columns);
    let top = Head {
        tool: concat!("paymaster-conformance ", env!("CARGO_PKG_VERSION")).to_owned(),
        state: "compared",
        word: format!("{} side by side", words::count(columns.len() as u128, "implementation")),
        limits: Text::default(),
        target: String::new(),
    };
    let below = html! {
        p.meaning { "Every clause that a rule judges, by section of the specification. A clause counts as broken where any of its rules is." }
        p.counts {
            @for state in RuleState::ALL {
                span.legend { (mark(state)) (state.word()) }
            }
            span.legend { "empty: not in that report" }
        }
    };
    let body = html! {
        a.skip href="#matrix" { "Skip to the table" }
        (page::head(&top, &below))
        main {
            section #matrix {
                h2 { "Clauses" }
                div.filters { div.chips { button #differences type="button" aria-pressed="false" { "Only where they differ" } } p #shown role="status" {} }
                div.scroll.tall tabindex="0" role="region" aria-label="Clauses by implementation" {
                    table.matrix {
                        thead {
                            tr.names {
                                th scope="col" { "clause" }
                                @for column in columns { th scope="col" { (column.name) } }
                                th scope="col" { "all" }
                            }
                            tr { th scope="row" { "run" } @for column in columns { (head(column)) } td {} }
                            (totals(&rows, columns))
                        }
                        @for ((specification, _), (section, clauses)) in &rows {
                            tbody.part {
                                tr.section { th colspan=(columns.len() + 2) scope="rowgroup" { span { (section) " " (sections::name(specification, section)) } } }
                                @for clause in clauses { (row(clause, columns)) }
                            }
                        }
                    }
                }
            }
            (html::blocks(&[observed(&columns.iter().map(|column| (column.name.as_str(), &column.run)).collect::<Vec<_>>(), false)]))
            (badges(columns))
        }
        footer { p { "Written by paymaster-conformance " (env!("CARGO_PKG_VERSION")) "." } }
    };
    page::document("Paymaster conformance, side by side", Own::default(), &body)
}

/// The same in Markdown: the totals, and the clauses in which the reports differ, each with its text.
pub(crate) fn text(columns: &[Column]) -> String {
    let rows = rows(columns);
    let table = |first: &str, rows: Vec<Vec<Text>>| {
        let names = columns.iter().map(|column| column.name.clone());
        Block::Table(Table {
            columns: [first.to_owned()].into_iter().chain(names).collect(),
            rows,
            ..Table::default()
        })
    };
    let counts: Vec<Counts> = columns.iter().map(|column| counts(&rows, column)).collect();
    let present =
        RuleState::ALL.into_iter().filter(|state| counts.iter().any(|counts| counts.get(*state) > 0));
    let totals = present.map(|state| {
        let numbers = counts.iter().map(|counts| counts.get(state).to_string().into());
        [state.word().into()].into_iter().chain(numbers).collect()
    });
    let title = format!("{} side by side.", words::count(columns.len() as u128, "implementation"));
    let mut blocks = vec![Block::paragraph(title), table("clauses", totals.collect())];
    let mut alike = 0_u32;
    for ((specification, _), (section, clauses)) in &rows {
        let mut differing = Vec::new();
        for clause in clauses {
            let states: Vec<_> = columns.iter().map(|column| state(clause, &column.run)).collect();
            if states.windows(2).all(|pair| pair[0] == pair[1]) {
                alike += 1;
                continue;
            }
            let known = find_clause(clause).map_or("", |known| known.text);
            let words = states.iter().map(|state| state.map_or("not in this report", RuleState::word).into());
            let name = Text::of(Style::Id, clause).and(": ").and(known);
            differing.push([name].into_iter().chain(words).collect());
        }
        let title = format!("{section} {}", sections::name(specification, section));
        blocks.push(Block::section("", title, vec![table("clause", differing)]));
    }
    let alike = format!("In {}, all of them agree.", words::count(alike, "other clause"));
    blocks.push(Block::paragraph(alike));
    markdown::parts(&blocks).trim_start().to_owned()
}

/// The clauses of every report, by section, in the order of the reports.
fn rows(columns: &[Column]) -> Rows<'_> {
    let mut rows = Rows::new();
    for column in columns {
        for rule in &column.run.rules {
            let key = (column.run.specification.name.as_str(), Section::order(&rule.section));
            let (_, clauses) = rows.entry(key).or_insert((&rule.section, IndexSet::new()));
            clauses.insert(&rule.clause);
        }
    }
    rows
}

/// Every state, the worst first.
const WORST_FIRST: [RuleState; RuleState::ALL.len()] = [
    RuleState::Broken,
    RuleState::UnexpectedlyPassing,
    RuleState::Warned,
    RuleState::KnownFailing,
    RuleState::Inconclusive,
    RuleState::Covered,
    RuleState::Passed,
    RuleState::NotApplicable,
];

/// The state of a clause in a report: the worst of its rules.
fn state(clause: &str, run: &Report) -> Option<RuleState> {
    let own = run.rules.iter().filter(|rule| rule.clause == clause);
    let states: Vec<RuleState> = own.map(|rule| run.state(rule)).collect();
    WORST_FIRST.into_iter().find(|state| states.contains(state))
}

fn head(column: &Column) -> Markup {
    let run = &column.run;
    html! {
        td {
            @if let Ok(badge) = badge_markup(run) { (badge) }
            span.target { (run.target) }
            @if run.embedded { span.target { (EMBEDDED_WARNING) } }
            span.target { (run.verdict_line().sentence()) }
            span.target { "seed " (run.seed) @if run.strict { ", strict" } }
        }
    }
}

/// The clauses by section, as the table has them.
type Rows<'a> = BTreeMap<(&'a str, Vec<u32>), (&'a str, IndexSet<&'a str>)>;

/// The states of the clauses in a report.
fn states<'a>(rows: &'a Rows<'_>, column: &'a Column) -> impl Iterator<Item = RuleState> + 'a {
    rows.values().flat_map(|(_, clauses)| clauses).filter_map(|clause| state(clause, &column.run))
}

fn counts(rows: &Rows<'_>, column: &Column) -> Counts {
    Counts::of_states(states(rows, column))
}

/// The row with the number of clauses of each state, for each report and for all of them.
fn totals(rows: &Rows<'_>, columns: &[Column]) -> Markup {
    let clauses = rows.values().flat_map(|(_, clauses)| clauses);
    let all = columns.iter().flat_map(|column| states(rows, column));
    html! {
        tr.totals {
            th scope="row" { (words::count(clauses.count() as u128, "clause")) }
            @for column in columns { td { (tally(&counts(rows, column))) } }
            td { (tally(&Counts::of_states(all))) }
        }
    }
}

/// How many have each state, a line each.
fn tally(counts: &Counts) -> Markup {
    html! {
        ul {
            @for (state, number) in counts.present() {
                li title=(state.word()) { (mark(state)) " " (number) span.quiet { " " (state.word()) } }
            }
        }
    }
}

fn row(clause: &str, columns: &[Column]) -> Markup {
    let states: Vec<Option<RuleState>> = columns.iter().map(|column| state(clause, &column.run)).collect();
    let differs = states.windows(2).any(|pair| pair[0] != pair[1]);
    let known = find_clause(clause);
    html! {
        tr.row.differs[differs] id=(clause) {
            th scope="row" {
                (id(clause))
                @if let Some(known) = known {
                    span.basis { (html::text(&known.text.into())) }
                    span.basis { (known.basis.into_str()) }
                }
            }
            @for state in &states {
                @match state {
                    Some(state) => td title=(state.word()) { (mark(*state)) span.quiet { (state.word()) } },
                    None => td title="not in this report" { span.quiet { "not in this report" } },
                }
            }
            td.total { (tally(&Counts::of_states(states.iter().flatten().copied()))) }
        }
    }
}

fn badges(columns: &[Column]) -> Markup {
    html! {
        section #badges {
            h2 { "Badges" }
            p { "Each is also written as an SVG file." }
            ul.badges {
                @for column in columns {
                    @match badge_markup(&column.run) {
                        Ok(badge) => li { (badge) code { (file(&column.name)) } },
                        Err(why) => li { (column.name) ": no badge, " (why) },
                    }
                }
            }
        }
    }
}

/// The file name of a column's badge.
pub(crate) fn file(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' }
    };
    format!("{}.svg", name.chars().map(plain).collect::<String>())
}

/// The text of the left half.
const LABEL: &str = "paymaster conformance";

/// The approximate width of a letter, in pixels; `textLength` makes the text fit.
const LETTER: usize = 7;
/// The padding left and right of a text together, in pixels.
const PADDING: usize = 12;

/// The badge of a run as an SVG file: an image with its conclusion.
pub(crate) fn badge(run: &Report) -> Result<String, String> {
    Ok(badge_markup(run)?.into_string() + "\n")
}

/// The badge as an element of a page.
fn badge_markup(run: &Report) -> Result<Markup, String> {
    if run.embedded {
        // A badge is a verdict on a service of the user, and has no room for a warning.
        return Err(EMBEDDED_WARNING.to_owned());
    }
    if run.left_out > 0 {
        let judged = format!("{} judged, since --rule left out {}", run.verdict_line().share(), run.left_out);
        return Err(format!("{judged}: a badge needs a run over all of them"));
    }
    let (text, colour) = message(run);
    let width = |text: &str| text.chars().count() * LETTER;
    let (left, right) = (width(LABEL) + PADDING, width(&text) + PADDING);
    let title = format!("{LABEL}: {text}");
    Ok(html! {
        svg.badge xmlns="http://www.w3.org/2000/svg" role="img" aria-label=(title) width=(left + right) height="20" viewBox=(format!("0 0 {} 20", left + right)) {
            title { (title) }
            rect width=(left + right) height="20" rx="3" fill="#3d444d" {}
            path d=(format!("M{left} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1 -3 3h-{}z", right - 3, right - 3)) fill=(colour) {}
            g fill="#ffffff" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle" {
                text x=(left / 2) y="14" textLength=(left - PADDING) { (LABEL) }
                text x=(left + right / 2) y="14" textLength=(right - PADDING) { (text) }
            }
        }
    })
}

/// The text of the right half and its colour, dark enough for white letters.
fn message(run: &Report) -> (String, &'static str) {
    let verdict = run.verdict_line();
    let number = |state| verdict.counts.get(state);
    match run.conclusion {
        Conclusion::Conforms if number(RuleState::KnownFailing) > 0 => (verdict.sentence(), "#8a5a00"),
        Conclusion::Conforms => (verdict.sentence(), "#17753a"),
        Conclusion::Violations => (format!("{} broken", number(RuleState::Broken)), "#b3261e"),
        Conclusion::ListOutOfDate => ("known failures out of date".to_owned(), "#b3261e"),
        Conclusion::NothingBroken | Conclusion::Incomplete => {
            (format!("incomplete: {} judged", verdict.share()), "#6b3fb5")
        }
        Conclusion::CouldNotTest => ("not tested".to_owned(), "#5d6673"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use paymaster_engine::verdict::conclusion::{Conclusion, Verdict};

    const EVIL: &str = "</script><img src=x onerror=alert(1)>";

    fn column(name: &str, change: impl FnOnce(&mut Report)) -> Column {
        let mut run = sample::violations().report();
        change(&mut run);
        Column { name: name.to_owned(), run }
    }

    #[test]
    fn rows_are_clauses_and_columns_are_reports() {
        let columns = [
            column("one", |_| {}),
            column("two", |run| {
                run.conclusion = Conclusion::Conforms;
                run.unjudged.clear();
                run.rules.retain(|rule| rule.id != "quote-result.MODE");
                for rule in &mut run.rules {
                    rule.verdict = Verdict::Passed;
                }
            }),
        ];
        let html = page(&columns);
        assert_eq!(html.matches("class=\"row").count(), 5);
        assert_eq!(html.matches("not in this report</span>").count(), 1);
        assert_eq!(html.matches("class=\"row differs\"").count(), 5);
        let cell = |id: &str| {
            let from = html.find(&format!("id=\"{id}\"")).unwrap();
            html[from..from + html[from..].find("</tr>").unwrap()].to_owned()
        };
        let id = cell("answer.id");
        assert!(id.find("title=\"broken\"").unwrap() < id.find("title=\"passed\"").unwrap(), "{id}");
        assert!(html.contains("5 clauses") && cell("answer.id").contains("<td class=\"total\">"));
        assert!(html.contains("2 broken") && html.contains(">conforms</text>"));
    }

    #[test]
    fn a_clause_stands_as_the_worst_of_its_rules() {
        let mut all = WORST_FIRST;
        all.sort();
        let mut known = RuleState::ALL;
        known.sort();
        assert_eq!(all, known, "every state is ranked");
        let both = column("one", |run| {
            let mut second = run.rule("answer.id").unwrap().clone();
            second.verdict = Verdict::Passed;
            run.rules.push(second);
        });
        assert_eq!(state("answer.id", &both.run), Some(RuleState::Broken));
        assert_eq!(state("no.such", &both.run), None);
    }

    #[test]
    fn markup_in_a_report_stays_text() {
        let evil = column(EVIL, |run| {
            EVIL.clone_into(&mut run.target);
            run.rules[0].clause = EVIL.to_owned();
            run.rules[0].section = EVIL.to_owned();
            run.dialect.insert(EVIL.to_owned(), EVIL.into());
            run.observations.insert(EVIL.to_owned(), [(EVIL.to_owned(), 1)].into());
        });
        let html = page(&[evil]);
        assert!(!html.contains("<img"));
        assert_eq!(html.matches("</script>").count(), 1);
        assert_eq!(file("a/b c.v1"), "a-b-c.v1.svg");
    }

    #[test]
    fn a_badge_shows_how_the_run_ended() {
        let mut run = sample::violations().report();
        run.unjudged.clear();
        insta::assert_snapshot!("badge", badge(&run).unwrap());
        for (conclusion, words) in [
            (Conclusion::Conforms, "conforms; 1 rule warns; 1 advisory rule not judged"),
            (Conclusion::NothingBroken, "incomplete: 4 of 5 rules judged"),
            (Conclusion::ListOutOfDate, "known failures out of date"),
            (Conclusion::Incomplete, "incomplete: 4 of 5 rules judged"),
            (Conclusion::CouldNotTest, "not tested"),
        ] {
            run.conclusion = conclusion;
            let badge = badge(&run).unwrap();
            assert!(badge.contains(&format!(">{words}</text>")), "{badge}");
        }
        run.left_out = 76;
        let why = badge(&run).unwrap_err();
        assert!(why.starts_with("4 of 81 rules judged, since --rule left out 76"), "{why}");
    }
}
