//! The report that people read, on a terminal, in Markdown and as a page: verdict, defects with examples, figures and advice.

use std::collections::BTreeSet;

use clap::Args;
use maud::{Markup, html};
use paymaster_settings::output::document::markdown::{self, LONGEST_COMMENT};
use paymaster_settings::output::document::terminal::Lines;
use paymaster_settings::output::page;
use paymaster_settings::output::{Block, Card, Document, Head, Message, Own, Style, Text, html, quoted};
use paymaster_settings::specifications::find_rule;
use paymaster_settings::{EMBEDDED_WARNING, Paint};

use super::phrases::{outcome, verdict};
use super::wrong::{WrongGroup, groups};
use super::{plots, tables};
use crate::figures::{Example, LONGEST_BODY, Outcome, WrongAnswers};
use crate::results::{Change, RunComparison, RunSummary, RunVerdict};
use crate::text::{count, date, latency, number, rate, seconds, share};

/// How much of the report a terminal shows.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct Extent {
    /// Print the verdict and the headlines of the defects alone.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Print everything: every kind of wrong answer and cause of a failure, whole requests, date and command line.
    #[arg(short, long)]
    verbose: bool,
}

/// What has no options: everything.
const WHOLE: Extent = Extent { quiet: false, verbose: true };

impl Extent {
    /// Most kinds of wrong answers, and most causes of failures, that are shown.
    fn most(self) -> usize {
        if self.verbose { usize::MAX } else { 5 }
    }
}

/// Lines for a terminal.
pub fn lines(extent: Extent, paint: Paint) -> Lines {
    Lines { paint, width: 110, is_whole: extent.verbose, more: "-v shows", ..Lines::default() }
}

/// The report for a terminal, with the comparison with an earlier run if there is one.
pub fn terminal(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
    extent: Extent,
    paint: Paint,
) -> String {
    let mut document = document(summary, comparison, extent);
    if extent.quiet {
        let warning = summary.embedded.then(|| Block::paragraph(EMBEDDED_WARNING));
        document.top = warning.into_iter().collect();
        // The defects.
        document.blocks.truncate(1);
    }
    lines(extent, paint).document(&document)
}

/// The comparison of two runs: what `compare` prints and writes.
pub fn compared(comparison: &RunComparison, before: &RunSummary, after: &RunSummary) -> Document {
    let (state, word) = match comparison.worst() {
        Change::Worse => ("broken", "WORSE"),
        Change::Unclear => ("inconclusive", "UNCLEAR"),
        Change::Same | Change::Better => ("passed", "NOT WORSE"),
    };
    let embedded =
        [("the earlier run", before), ("this run", after)].into_iter().filter(|(_, run)| run.embedded);
    Document {
        title: "Load test comparison",
        head: Head { state, word: word.to_owned(), limits: Text::default(), ..head(after) },
        top: embedded.map(|(which, _)| Block::paragraph(format!("{which}: {EMBEDDED_WARNING}"))).collect(),
        blocks: vec![tables::compared(comparison)],
    }
}

/// What is written in the report's own style.
pub fn own() -> Own {
    Own { style: include_str!("page.css"), script: include_str!("page.js") }
}

pub(super) fn markdown(summary: &RunSummary, comparison: Option<&RunComparison>) -> String {
    markdown::render(&document(summary, comparison, WHOLE), LONGEST_COMMENT)
}

pub(super) fn web_page(summary: &RunSummary, comparison: Option<&RunComparison>) -> String {
    html::page(&document(summary, comparison, WHOLE), own(), "")
}

/// The report, of this extent.
fn document(summary: &RunSummary, comparison: Option<&RunComparison>, extent: Extent) -> Document {
    let wrong = groups(&summary.figures.wrong);
    let shown = (1..).zip(&wrong).take(extent.most());
    let mut defects: Vec<Block> =
        shown.map(|(number, group)| defect(summary, number, group, extent)).collect();
    if let Some(more @ 1..) = wrong.len().checked_sub(extent.most()) {
        let more = format!("{} of wrong answers: see the other reports", count(more as u64, "more kind"));
        defects.extend([Block::paragraph(""), Block::paragraph(more)]);
    }
    let counts = summary.figures.total(None).counts;
    let outcomes = Outcome::all().map(|outcome| {
        let state = match outcome {
            Outcome::Good => "passed",
            Outcome::Wrong => "broken",
            _ => "warned",
        };
        (state, outcome.description(), counts.of(outcome))
    });
    let scenarios = Some(summary.scenarios.join(", ")).filter(|names| !names.is_empty());
    let mut facts: Vec<_> = scenarios.into_iter().map(|names| ("scenarios", Text::quoted(names))).collect();
    facts.extend(date(summary.began).map(|date| ("began", date.into())));
    let merged = summary.merged_commands.iter().map(|command| ("merged", command));
    let commands = [("command", &summary.command)].into_iter().chain(merged);
    let commands = commands.filter(|(_, command)| !command.is_empty());
    facts.extend(commands.map(|(name, line)| (name, Text::of(Style::Code, line))));
    let figures = summary.has_begun().then(|| html! { (tiles(summary)) (page::counts(outcomes)) });
    let mut top: Vec<Block> = figures.into_iter().map(Block::Html).collect();
    top.extend(outcome(summary).into_iter().map(Block::paragraph));
    if extent.verbose {
        top.push(Block::Facts(facts));
    }
    let list = |id, title, lines: Vec<String>| {
        Block::section(id, title, vec![Block::List(lines.iter().map(Text::from).collect())])
    };
    let mut blocks = vec![
        Block::section("wrong", "Wrong answers", defects),
        tables::failures(summary, extent.most()),
        tables::thresholds(summary),
    ];
    blocks.extend(comparison.map(tables::compared));
    blocks.extend([
        Block::Html(plots::section(summary)),
        tables::scenarios(summary),
        list("workers", "Workers", tables::workers(summary)),
        list("next", "Next", advice(summary)),
    ]);
    Document { title: "Load test", head: head(summary), top, blocks }
}

/// The verdict of a run, its target and its date.
fn head(summary: &RunSummary) -> Head {
    let words = verdict(summary);
    let (word, limits) = words.split_at(words.find(':').unwrap_or(words.len()));
    // What a target answers is quoted.
    let limits = match limits.strip_prefix(": ").filter(|_| summary.verdict == RunVerdict::CouldNotTest) {
        Some(cause) => Text::from(": ").with(Style::Quoted, cause),
        None => limits.into(),
    };
    let began = date(summary.began).map(|date| format!(", {date}"));
    Head {
        tool: format!("paymaster-loadtest {}{}", env!("CARGO_PKG_VERSION"), began.unwrap_or_default()),
        state: match summary.verdict {
            RunVerdict::Passed => "passed",
            RunVerdict::Failed => "broken",
            RunVerdict::Incomplete | RunVerdict::CouldNotTest => "inconclusive",
        },
        word: word.to_owned(),
        limits,
        target: summary.target.clone(),
    }
}

/// Wrong answers of one group, with at most three examples.
fn defect(summary: &RunSummary, place: usize, group: &WrongGroup<'_>, extent: Extent) -> Block {
    let (first, others) = (group.kinds[0], &group.examples()[1..]);
    let mut facts = expectation(first);
    match find_rule(group.rule) {
        Some(rule) => {
            facts.push(("breaks", Text::of(Style::Id, rule.id).and(": ").and(rule.clause().text)));
            facts.push(("hint", rule.hint.into()));
        }
        None => facts.push(("breaks", Text::of(Style::Id, group.rule))),
    }
    let mut inside = example(summary, &format!("curl-{place}"), first, extent);
    for (number, kind) in others.iter().enumerate() {
        let mut blocks = vec![Block::Facts(expectation(kind))];
        blocks.extend(example(summary, &format!("curl-{place}-{number}"), kind, extent));
        let (times, place) = (count(kind.times, "answer"), &kind.key.pointer);
        let place = if place.is_empty() { "the whole answer" } else { place };
        inside.push(Block::details(format!("in {}, {place}: {times}", kind.key.label), false, blocks));
    }
    if group.hidden() > 0 {
        let more = count(group.hidden(), "more example");
        inside.push(Block::Paragraph(
            format!("{more} of other scenarios or places: see the JSON report").into(),
        ));
    }
    let blocks =
        vec![Block::Facts(facts), Block::details("Request, answer and how to repeat it", true, inside)];
    Block::Card(Card {
        id: format!("defect-{place}"),
        label: format!("Defect {place}"),
        title: group.headline(summary.figures.total(None).judged).into(),
        note: String::new(),
        is_folded: false,
        blocks: if extent.quiet { Vec::new() } else { blocks },
    })
}

fn expectation(kind: &WrongAnswers) -> Vec<(&'static str, Text)> {
    Block::expectation(&kind.example.expected, &kind.example.actual, &kind.key.pointer)
}

/// A request, its answer, and the command that sends the request again, whose id on the page is `curl`.
fn example(summary: &RunSummary, curl: &str, kind: &WrongAnswers, extent: Extent) -> Vec<Block> {
    let Example { request, status, response, pointer, .. } = &kind.example;
    let note = status.map_or_else(String::new, |status| format!("HTTP {status}"));
    let exchange = [
        Message::new("request", "", Ok(request), &[]),
        Message::new("answer", note, Ok(response), &[pointer]),
    ];
    let exchange = exchange.map(|message| Message { is_raw: message.is_raw || !extent.verbose, ..message });
    let mut blocks = vec![Block::Exchange(exchange)];
    if summary.curl.without_body.is_empty() || request.len() >= LONGEST_BODY {
        let why = "The request is too long for this report, or was sent by an earlier version.";
        blocks.push(Block::paragraph(why));
    } else {
        let line = format!("{} --data-raw {}", summary.curl.without_body, quoted(request));
        blocks.push(Block::command(curl.to_owned(), "cURL", &line, true));
        blocks.extend(summary.curl.needs.iter().map(|names| Block::exports(names)));
    }
    blocks
}

/// The most important figures, for the page.
fn tiles(summary: &RunSummary) -> Markup {
    let total = summary.figures.total(None);
    let p = |percent| latency(total.latency.percentile(percent));
    let wrong = total.counts.of(Outcome::Wrong);
    let failed = total.counts.failed();
    let state = |times, state| Some(if times > 0 { state } else { "passed" });
    let tiles = [
        (rate(summary.rate()), "answers", None),
        (p(50.0), "p50", None),
        (p(95.0), "p95", None),
        (p(99.0), "p99", None),
        (share(wrong, total.judged), "wrong of judged", state(wrong, "broken")),
        (share(failed, total.counts.all()), "failed", state(failed, "warned")),
        (number(total.counts.all()), "requests", None),
        (seconds(summary.seconds), "measured", None),
    ];
    html! {
        div.tiles { @for (value, name, state) in tiles { div { b data-state=[state] { (value) } span { (name) } } } }
    }
}

/// Most rules whose hints are shown.
const EXPLAINED: usize = 5;

/// What to do after a run with these results, the most useful first.
fn advice(summary: &RunSummary) -> Vec<String> {
    let counts = summary.figures.total(None).counts;
    let mut advice = Vec::new();
    if summary.verdict == RunVerdict::CouldNotTest {
        advice.push("check the address, the headers and the log of the target; `paymaster-conformance URL` shows more of a single exchange".to_owned());
    }
    let mut explained = BTreeSet::new();
    for rule in summary.figures.wrong.iter().filter_map(|wrong| find_rule(&wrong.key.rule)) {
        if explained.insert(rule.id) && explained.len() <= EXPLAINED {
            advice.push(format!("{}: {} (`paymaster-conformance explain {}`)", rule.id, rule.hint, rule.id));
        }
    }
    if let Some(more @ 1..) = explained.len().checked_sub(EXPLAINED) {
        let more = count(more as u64, "more broken rule");
        advice.push(format!(
            "{more}: `paymaster-conformance explain RULE` describes each that the wrong answers above name"
        ));
    }
    let is_measured = summary.verdict != RunVerdict::CouldNotTest;
    let is_slow = summary.thresholds.iter().any(|result| !result.met && result.threshold.limits_latency());
    let is_short =
        matches!(summary.verdict, RunVerdict::Passed | RunVerdict::Failed) && summary.seconds < 10.0;
    let hints = [
        (
            counts.of(Outcome::RpcError) > 0,
            "JSON-RPC errors for operations that the profile does not promise a result for: add operations that the target accepts to \
             the profile (operations.sponsorable, or accepts = \"any\"), or allow errors (--threshold 'error-rate<100%')",
        ),
        (
            counts.of(Outcome::RateLimited) > 0,
            "the target limits the rate: request less (--rate), or pause as it requests (--respect-retry-after)",
        ),
        (
            counts.of(Outcome::Timeout) > 0,
            "timeouts: find out what the target waits for; --timeout sets the time of an exchange",
        ),
        (
            is_measured && is_slow,
            "too slow for a threshold: the plots of the page (-o report.html) show whether latency rises with the load, with time or in \
             peaks; fewer --users, or a lower --rate, show from where on",
        ),
        (is_short, "a short run has too few requests for high percentiles: measure for 60 s or longer"),
    ];
    advice.extend(hints.into_iter().filter(|(applies, _)| *applies).map(|(_, hint)| hint.to_owned()));
    advice.extend(summary.warnings());
    advice
}

#[cfg(test)]
mod tests {
    use paymaster_settings::SPECIFICATIONS;

    use super::*;
    use crate::report::fixtures;

    #[test]
    fn the_page_has_no_references_and_texts_of_the_target_are_escaped() {
        let page = web_page(&fixtures::failed(), None);
        assert!(page.contains("FAILED: 40 of 990 answers were wrong (1 rule); 2 thresholds missed"));
        assert_eq!(page.matches("<figure class=\"plot\">").count(), 3);
        assert!(page.contains("&lt;b&gt;") && !page.contains('\u{1b}'));
        for outside in [" src=", "@import", "url(", "<link", "fetch(", " style="] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn date_command_and_the_verdict_in_words_stand_at_the_top() {
        let page = web_page(&fixtures::passed(), None);
        let top = page.split("</header>").next().unwrap();
        for part in [
            "<span class=\"word\">PASSED</span>",
            "<span class=\"limits\">every answer was right</span>",
            ", 2026-03-01 12:00:00 UTC</p>",
            "<dt>command</dt><dd class=\"command\"><code>paymaster-loadtest 'http://127.0.0.1:3000/***' -t 'p95&lt;200ms'</code></dd>",
        ] {
            assert!(top.contains(part), "{part}: {top}");
        }
        let merged = RunSummary {
            merged_commands: vec!["paymaster-loadtest worker".to_owned()],
            ..fixtures::passed()
        };
        let page = web_page(&merged, None);
        assert!(
            page.contains("<dt>merged</dt><dd class=\"merged\"><code>paymaster-loadtest worker</code></dd>")
        );
    }

    #[test]
    fn the_warm_up_is_named_only_where_there_was_one() {
        let mut summary = fixtures::passed();
        for expected in [false, true] {
            let page = web_page(&summary, None);
            assert_eq!(page.contains("The time counts from the end of the warm-up."), expected);
            assert!(page.contains("Each step is the mean of 1 s. Point at a plot"), "{page}");
            summary.figures.warm_up.add(Outcome::Good);
        }
    }

    #[test]
    fn a_defect_of_many_scenarios_is_shown_once_with_three_examples() {
        let mut summary = fixtures::failed();
        let first = summary.figures.wrong[0].clone();
        summary.figures.wrong = (0..5)
            .map(|n| {
                let mut kind = first.clone();
                kind.key.label = format!("scenario{n}");
                kind
            })
            .collect();
        let headline = format!(
            "fee-quote.maxGasFee in scenario0, scenario1, scenario2, scenario3, scenario4: {} answers (",
            first.times * 5
        );
        let (page, markdown) = (web_page(&summary, None), markdown(&summary, None));
        let terminal = terminal(&summary, None, Extent::default(), Paint::default());
        for (text, mark) in
            [(&page, "<article class=\"defect\""), (&markdown, "#### "), (&terminal, "DEFECT ")]
        {
            let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(&headline), "{shown}");
            assert_eq!(text.matches(mark).count(), 1, "{text}");
            assert!(shown.contains("2 more examples of other scenarios or places"), "{shown}");
        }
        assert_eq!(page.matches("<div class=\"exchange\">").count(), 3);
        assert_eq!(markdown.matches("\nAnswer, HTTP 200\n").count(), 3);
    }

    #[test]
    fn texts_of_the_target_are_no_markup() {
        let text = markdown(&fixtures::failed(), None);
        assert!(
            text.starts_with(
                "## Load test: FAILED: 40 of 990 answers were wrong (1 rule); 2 thresholds missed\n"
            ),
            "{text}"
        );
        // In backticks nothing is markup.
        assert!(
            text.contains("- found: `\"0.25\" <b>\\u{1b}[31m` at `") && !text.contains('\u{1b}'),
            "{text}"
        );
        assert_eq!(text.matches("<b>").count(), text.matches("- found: `").count(), "{text}");
        assert!(text.contains("| wrong-rate\\<=0% (default) | "), "{text}");
        assert!(text.contains("| error-rate (wrong or failed) \\<1% (default) | "), "{text}");
        assert!(
            text.contains("\n- began: 2026-03-01 12:00:00 UTC\n")
                && text.contains(
                    "\n- command: `paymaster-loadtest 'http://127.0.0.1:3000/***' -t 'p95<200ms'`\n"
                ),
            "{text}"
        );
        // The same rule at the same place in three scenarios.
        assert_eq!(text.matches("#### Defect 1: fee-quote.maxGasFee in ").count(), 1, "{text}");
        assert_eq!(text.matches("- found: ").count(), 3, "{text}");
    }

    #[test]
    fn an_unreachable_target_has_a_page() {
        let page = web_page(&fixtures::unreachable(), None);
        assert!(page.contains("COULD NOT TEST") && page.contains("no connection: refused"));
        assert!(!page.contains("too slow for a threshold"));
    }

    #[test]
    fn the_headline_of_a_load_that_did_not_begin_is_why() {
        let summary = fixtures::not_begun();
        let page = web_page(&summary, None);
        let top = page.split("</header>").next().unwrap();
        assert!(top.contains("<span class=\"word\">COULD NOT TEST</span>"), "{top}");
        assert!(top.contains("no connection: &lt;b&gt;") && !page.contains("class=\"tiles\""), "{page}");
        let text = markdown(&summary, None);
        assert!(text.starts_with("## Load test: COULD NOT TEST: `no connection: <b>`"), "{text}");
        assert!(!text.contains("scenarios:") && text.contains("nothing was measured"), "{text}");
    }

    #[test]
    fn quiet_shows_headlines_and_verbose_shows_what_unfolds() {
        let summary = RunSummary { embedded: true, ..fixtures::failed() };
        let [quiet, plain, verbose] =
            [(true, false), (false, false), (false, true)].map(|(quiet, verbose)| {
                let shown = terminal(&summary, None, Extent { quiet, verbose }, Paint::default());
                shown.split_whitespace().collect::<Vec<_>>().join(" ")
            });
        for text in [&quiet, &plain, &verbose] {
            assert!(text.starts_with("FAILED: 40 of 990 ") && text.contains("DEFECT 1 "), "{text}");
            assert!(text.contains(EMBEDDED_WARNING), "{text}");
        }
        assert!(!quiet.contains("curl ") && !quiet.contains("p95"), "{quiet}");
        let command = "paymaster-loadtest 'http://127.0.0.1:3000/***'";
        assert!(plain.contains("p95") && !plain.contains(command), "{plain}");
        assert!(verbose.contains(command), "{verbose}");
    }

    #[test]
    fn up_to_five_rules_are_explained_and_the_others_counted() {
        let mut summary = fixtures::failed();
        let first = summary.figures.wrong[0].clone();
        let rules = SPECIFICATIONS.iter().flat_map(|specification| specification.rules());
        let ids: Vec<&str> = rules.map(|rule| rule.id).filter(|id| find_rule(id).is_some()).collect();
        for (broken, explained, more) in [
            (1, 1, None),
            (5, 5, None),
            (
                6,
                5,
                Some(
                    "1 more broken rule: `paymaster-conformance explain RULE` describes each that the wrong answers above name",
                ),
            ),
            (
                8,
                5,
                Some(
                    "3 more broken rules: `paymaster-conformance explain RULE` describes each that the wrong answers above name",
                ),
            ),
        ] {
            // Each rule is broken in two scenarios.
            let kinds = ids[..broken].iter().flat_map(|id| [(id, "a"), (id, "b")]);
            let kinds = kinds.map(|(id, label)| {
                let mut kind = first.clone();
                (kind.key.rule, kind.key.label) = ((*id).to_owned(), label.to_owned());
                kind
            });
            summary.figures.wrong = kinds.collect();
            let advice = advice(&summary);
            let hints = advice.iter().filter(|line| line.contains("(`paymaster-conformance explain "));
            assert_eq!(hints.count(), explained, "{advice:?}");
            let found = advice.iter().find(|line| line.contains(" more broken rule"));
            assert_eq!(found.map(String::as_str), more);
        }
    }
}
