//! The report that people read, on a terminal, in Markdown and as a page: verdict, defects, what was not judged, and what to do next.

mod defect;
#[cfg(test)]
mod tests;

pub(crate) use defect::finding;

use std::collections::{BTreeMap, BTreeSet};

use chrono::Utc;
use clap::Args;
use indexmap::IndexMap;
use paymaster_engine::verdict::{Conclusion, Verdict};
use paymaster_schemas::{Clause, find_clause};
use paymaster_settings::Paint;
use paymaster_settings::output::document::markdown::{self, LONGEST_COMMENT};
use paymaster_settings::output::document::terminal::Lines;
use paymaster_settings::output::{Block, Document, Head, Own, Style, Table, Text, html};

use crate::report::counts::RuleState;
use crate::report::{JudgedRule, KnownFailure, Report, rules, words};

/// How much of the report a terminal shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct Extent {
    /// Print the verdict and the headlines of the defects alone.
    #[arg(short, long, conflicts_with_all = ["verbose", "observed"])]
    pub(crate) quiet: bool,
    /// Print everything: whole requests, cURL lines, warnings as defects, why rules were not judged, and what --observed prints.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print what the target does where the specification leaves it open, and what valid requests reached.
    #[arg(long)]
    pub(crate) observed: bool,
}

/// What has no options: everything, and the observations folded.
const WHOLE: Extent = Extent { quiet: false, verbose: true, observed: false };

/// The report in lines of at most so many columns.
pub(crate) fn terminal(report: &Report, extent: Extent, paint: Paint, width: usize) -> String {
    let mut document = document(report, extent);
    let more =
        "-v shows what is folded here, --observed the observations, -o report.html everything as a page";
    let is_folded = !extent.verbose && !is_untested(report);
    document.blocks.push(next(report, is_folded.then_some(more)));
    if extent.quiet {
        document.top.clear();
        document.blocks.truncate(1);
    }
    let lines = Lines { paint, width, is_whole: extent.verbose, more: "-v shows", ..Lines::default() };
    lines.document(&document)
}

/// The report for a Rust program: whole, and without what only the command has, such as options and the next step.
pub(crate) fn for_a_program(report: &Report) -> String {
    Lines { is_whole: true, ..Lines::default() }.document(&document(report, WHOLE))
}

/// Markdown for the summary of a CI step and for a comment on a pull request: short, with details that unfold.
pub(crate) fn text(report: &Report) -> String {
    let mut document = document(report, WHOLE);
    document.blocks.push(next(report, None));
    markdown::render(&document, LONGEST_COMMENT)
}

/// The page: the next step on top, and the rules below what was not judged.
pub(crate) fn page(report: &Report) -> String {
    let mut document = document(report, WHOLE);
    document.blocks.insert(document.blocks.len() - 1, Block::Html(rules(report)));
    document.top.splice(0..0, words::next(report).map(|next| titled("Next", next.into())));
    html::page(&document, Own::default(), "The same seed sends the same requests. ")
}

/// The verdict and what is known about the target, without the next step.
fn document(report: &Report, extent: Extent) -> Document {
    let verdict = report.verdict_line();
    let limits = verdict.qualification();
    // What a target answers is quoted.
    let limits = match limits.strip_prefix(": ").filter(|_| report.conclusion == Conclusion::CouldNotTest) {
        Some(cause) => Text::from(": ").with(Style::Quoted, cause),
        None => limits.into(),
    };
    let mut blocks = defect::sections(report, extent);
    blocks.extend([known(report), not_judged(report)]);
    blocks.push(observed(&[("values, and how often", report)], extent.observed));
    let date = Utc::now().format("%Y-%m-%d %H:%M UTC");
    Document {
        title: "Paymaster conformance",
        head: Head {
            tool: format!("paymaster-conformance {}, {date}", env!("CARGO_PKG_VERSION")),
            state: words::tone(report.conclusion).name(),
            word: report.conclusion.headline().to_owned(),
            limits,
            target: report.target.clone(),
        },
        top: top(report, extent),
        blocks,
    }
}

/// Counts, the conditions of the run, and what limits it.
fn top(report: &Report, extent: Extent) -> Vec<Block> {
    let counts = report.counts();
    let mut top = vec![Block::Counts {
        all: words::count(counts.rules() as u128, "rule"),
        states: RuleState::ALL.map(|state| (state.name(), state.word(), counts.get(state) as u64)).to_vec(),
        note: words::sent(report),
    }];
    if extent.verbose {
        let none = if report.embedded { "of the embedded server" } else { "none" };
        let strict = report.strict.then(|| ("strict", Text::from("yes")));
        let facts = [
            ("judged by", Text::quoted(&report.details.specification)),
            ("profile", Text::quoted(report.details.profile.as_deref().unwrap_or(none))),
            ("exit code", report.exit_code.to_string().into()),
        ];
        top.push(Block::Facts(facts.into_iter().chain(strict).collect()));
    }
    let limits = words::limits(report).into_iter();
    top.extend(limits.map(|(title, limit)| titled(title, Text::quoted(limit))));
    if !report.details.contradictions.is_empty() {
        let remedy = "One of the two is wrong: correct the line of the profile, or the target.";
        top.push(Block::Paragraph(
            Text::of(Style::Strong, "Profile and target contradict each other. ").and(remedy),
        ));
        top.extend(report.details.contradictions.iter().cloned().map(Block::List));
    }
    // The line of the profile that most inconclusive rules wait for, to paste.
    if let Some((about, line)) = &report.details.missing_line {
        top.extend([titled("Missing", format!("{about}:").into()), Block::Code("toml", line.clone())]);
    }
    top
}

/// A sentence behind its title.
fn titled(title: &str, text: Text) -> Block {
    Block::Paragraph(Text::of(Style::Strong, format!("{title}: ")).and(text))
}

/// The list of known failures: the entries that are out of date, then the others.
fn known(report: &Report) -> Block {
    let (stale, rest) = report.stale_and_known();
    let item = |known: &&KnownFailure, stale: &str| {
        let style = if report.rule(&known.rule).is_some() { Style::Link } else { Style::Id };
        let place = known.scope.strip_prefix(&known.rule).unwrap_or_default().trim_start_matches(", ");
        let comma = if place.is_empty() { "" } else { ", " };
        let rule = Text::of(style, &known.rule).and(comma).with(Style::Quoted, place);
        rule.and(": ").with(Style::Bad, stale).with(Style::Quoted, known.in_words())
    };
    let stale = stale.iter().map(|known| item(known, "Out of date, which fails the run: "));
    let items = stale.chain(rest.iter().map(|known| item(known, ""))).collect();
    Block::section("known", "Known failures", vec![Block::List(items)])
}

/// The rules that were not judged, with how often they held and must, by what would make them conclusive: at once where that decides the
/// verdict. None of a target that could not be tested: the verdict has the only reason.
fn not_judged(report: &Report) -> Block {
    let verdicts = [
        (Verdict::Inconclusive, "inconclusive: exercised too seldom to pass (times held / times needed)"),
        (Verdict::Covered, "covered: known failures alone keep them from being judged"),
        (Verdict::NotApplicable, "not applicable to this target"),
    ];
    let is_incomplete = report.conclusion == Conclusion::Incomplete;
    let all = verdicts.into_iter().filter(|_| !is_untested(report));
    let blocks = all.filter_map(|(verdict, meaning)| {
        let rules: Vec<&JudgedRule> = report.rules.iter().filter(|rule| rule.verdict == verdict).collect();
        let mut by_reason: IndexMap<&str, Vec<Text>> = IndexMap::new();
        let is_inconclusive = verdict == Verdict::Inconclusive;
        for rule in &rules {
            let is_too_few = is_inconclusive && rule.held < rule.quota;
            let times = if is_too_few { format!(" {}/{}", rule.held, rule.quota) } else { String::new() };
            let reason = rule.reason.as_deref().unwrap_or_default();
            by_reason.entry(reason).or_default().push(Text::of(Style::Link, &rule.id).and(times));
        }
        let items = by_reason.into_iter().map(|(reason, rules)| {
            let arrow = if reason.is_empty() { "" } else { " -> " };
            Text::listed(rules).and(arrow).with(Style::Quoted, reason)
        });
        let list = vec![Block::List(items.collect())];
        let title = format!("{} {meaning}", words::count(rules.len() as u128, "rule"));
        (!rules.is_empty()).then(|| Block::details(title, is_incomplete && is_inconclusive, list))
    });
    Block::section("inconclusive", "What could not be judged", blocks.collect())
}

/// What targets do where the specification leaves it open, and what valid requests reached: a column for each report, with its title.
pub(crate) fn observed(columns: &[(&str, &Report)], is_open: bool) -> Block {
    let all: Vec<BTreeMap<String, String>> =
        columns.iter().map(|(_, report)| words::observed(report).into_iter().collect()).collect();
    let names: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let rows = names.iter().map(|name| {
        // A point of the dialect is no clause.
        let name_of =
            |clause: &Clause| Text::of(Style::Id, name).with(Style::Muted, format!(" ({})", clause.text));
        let shown = find_clause(name).map_or_else(|| Text::quoted(name), name_of);
        let values = all.iter().map(|seen| Text::quoted(seen.get(*name).map_or("", String::as_str)));
        [shown].into_iter().chain(values).collect()
    });
    let columns = ["observed"].into_iter().chain(columns.iter().map(|(title, _)| *title));
    let title = "What was observed";
    let table = Table {
        title: title.to_owned(),
        columns: columns.map(str::to_owned).collect(),
        rows: rows.collect(),
        ..Table::default()
    };
    let summary = words::count(names.len() as u128, "observation");
    let summary = format!("{summary} where the specification leaves it open: none of them is a failure");
    let details = Block::details(summary, is_open, vec![Block::Table(table)]);
    Block::section("observed", title, if names.is_empty() { Vec::new() } else { vec![details] })
}

/// Whether nothing could be tested: there is nothing to unfold then.
fn is_untested(report: &Report) -> bool {
    report.conclusion == Conclusion::CouldNotTest && report.rules.iter().all(|rule| rule.held == 0)
}

/// What to do next, and what else is worth knowing then.
fn next(report: &Report, more: Option<&str>) -> Block {
    let items = words::next(report).into_iter().chain(more.map(str::to_owned)).map(Text::from);
    Block::section("next", "Next", vec![Block::List(items.collect())])
}
