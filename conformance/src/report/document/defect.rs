//! A defect: headline, cause, the rules that it breaks, the smallest request and its answer, the nearest request that does not show it,
//! and how to repeat it.

use paymaster_settings::output::{Block, Card, Message, Style, Text, cut, html};

use crate::report::counts::RuleState;
use crate::report::document::WHOLE;
use crate::report::{Attempt, Defect, Exchanged, Extent, Finding, JudgedRule, Report, Request, words};

/// How many rules, and other replay files, of a defect a terminal shows. The rest is counted.
const MOST: usize = 3;
/// Of larger groups only the baseline and the member that breaks the rule are shown.
const MOST_MEMBERS: usize = 4;
/// Longest answer in a sentence, in characters.
const LONGEST_ANSWER: usize = 160;

/// The defects that fail the run, then those that only warn; below each, the broken rules that no defect explains.
pub(super) fn sections(report: &Report, extent: Extent) -> Vec<Block> {
    let groups = [(RuleState::Broken, "What is broken"), (RuleState::Warned, "What only warns")];
    let sections = groups.map(|(state, title)| {
        let own = report.defects.iter().filter(|defect| defect.fails == (state == RuleState::Broken));
        let mut blocks: Vec<Block> = own.filter_map(|defect| card(report, defect, extent)).collect();
        let unexplained: Vec<Text> = report.unexplained(state).into_iter().map(rule_line).collect();
        if !unexplained.is_empty() {
            blocks.push(Block::paragraph("Broken, without a request that shows it:"));
            blocks.push(Block::List(unexplained));
        }
        Block::section(state.name(), title, blocks)
    });
    sections.into()
}

fn card(report: &Report, defect: &Defect, extent: Extent) -> Option<Block> {
    let shown = report.shown(defect)?;
    let (label, is_flaky) = (&defect.label, defect.fails && shown.is_flaky());
    let more = defect.rules.len() - 1;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let mut facts: Vec<(&str, Text)> = Vec::new();
    facts.extend(defect.cause_in_words.iter().map(|cause| ("cause", Text::quoted(cause))));
    let rules: Vec<&JudgedRule> = report.rules_of(defect).collect();
    let most = if extent.verbose { rules.len() } else { MOST.min(rules.len()) };
    facts.extend(rules[..most].iter().map(|rule| ("breaks", rule_line(rule))));
    let ids: Vec<&str> = rules[most..].iter().map(|rule| rule.id.as_str()).collect();
    facts.extend((!ids.is_empty()).then(|| ("breaks", format!("and {}", some(&ids, extent)).into())));
    let hint = &shown.details.hint;
    facts.extend((!hint.is_empty()).then(|| ("hint", Text::quoted(hint))));
    facts.push(("seen", words::seen(shown, rules[0].broken).into()));
    let mut inside = evidence(shown, extent);
    inside.extend(repeat(report, defect.findings[0], shown));
    inside.extend(also(report, &defect.findings[1..], extent));
    let blocks = vec![
        Block::Page(vec![Block::Facts(what(shown))]),
        Block::Facts(facts),
        Block::details("Request, answer and how to repeat it", true, inside),
    ];
    Some(Block::Card(Card {
        id: defect.anchor(),
        label: if is_flaky { format!("Flaky {}", label.to_lowercase()) } else { label.clone() },
        title: Text::quoted(&defect.headline),
        note: format!("{}: {}{more}", report.extent(defect), defect.rules[0]),
        is_folded: !defect.fails,
        blocks: if extent.quiet { Vec::new() } else { blocks },
    }))
}

/// The other places at which the rules of a defect are broken: the replay files; on a page, whole.
fn also(report: &Report, others: &[usize], extent: Extent) -> Vec<Block> {
    let findings = others.iter().filter_map(|number| Some((*number, report.findings.get(*number)?)));
    let replays: Vec<&str> =
        findings.clone().filter_map(|(_, finding)| finding.replay_file.as_deref()).collect();
    let blocks = findings.flat_map(|(number, own)| {
        let call = own.details.call.as_deref().unwrap_or("any request");
        let place = format!("{call} at {}, {}", own.at(), own.rule);
        [Block::Paragraph(Text::of(Style::Strong, place)), Block::Html(finding(report, number, own))]
    });
    let summary = format!("The same at {}", words::count(others.len() as u128, "other place"));
    let whole = Block::Page(vec![Block::details(summary, false, blocks.collect())]);
    let replays = (!replays.is_empty()).then(|| ("also in", Text::quoted(some(&replays, extent))));
    let replays = replays.map(|replays| Block::Facts(vec![replays]));
    replays.into_iter().chain((!others.is_empty()).then_some(whole)).collect()
}

/// A finding that a page shows alone.
pub(crate) fn finding(report: &Report, number: usize, finding: &Finding) -> maud::Markup {
    let known = finding.details.known.iter();
    let known = known.map(|entry| Block::paragraph(format!("Known: {}", entry.in_words())));
    let facts = Block::Facts(what(finding));
    let parts = known.chain([facts]).chain(evidence(finding, WHOLE)).chain(repeat(report, number, finding));
    maud::html! { article.finding { (html::blocks(&parts.collect::<Vec<_>>())) } }
}

/// What was expected and found, where, and by which call.
fn what(finding: &Finding) -> Vec<(&'static str, Text)> {
    let mut facts = Block::expectation(&finding.expected, &finding.actual, &finding.pointer);
    facts.extend(finding.details.call_in_words.iter().map(|call| ("call", Text::from(call))));
    facts
}

/// The statement that a rule checks, with its id, section and basis.
fn rule_line(rule: &JudgedRule) -> Text {
    Text::of(Style::Link, &rule.id).and(format!(" (section {}, {}): {}", rule.section, rule.basis, rule.text))
}

/// The first ones, and how many more there are; all of them where everything is shown.
fn some(all: &[&str], extent: Extent) -> String {
    let most = if extent.verbose { all.len() } else { MOST.min(all.len()) };
    let more = format!(" and {} more", all.len() - most);
    all[..most].join(", ") + if most < all.len() { &more } else { "" }
}

/// The requests with their answers, and the nearest request that does not break the rule.
fn evidence(finding: &Finding, extent: Extent) -> Vec<Block> {
    // The label of a recorded request names its place in the recording.
    let recorded = finding.requests.first().filter(|_| finding.details.is_recorded);
    let recorded = recorded.map(|request| Block::Facts(vec![("recorded", Text::quoted(&request.label))]));
    let mut blocks: Vec<Block> = recorded.into_iter().collect();
    let (all, most) = (finding.requests.len(), finding.first_and_wrong());
    let shown = if all <= MOST_MEMBERS { (0..all).collect() } else { most.clone() };
    let hidden = all.saturating_sub(shown.len());
    for member in shown {
        let Some(request) = finding.requests.get(member) else { continue };
        let is_wrong = member == finding.member;
        let name = if request.label.is_empty() { &request.role } else { &request.label };
        let here = if is_wrong { " (broken here)" } else { "" };
        let place = if all > 1 { format!("{} of {all}: {name}{here}", member + 1) } else { String::new() };
        let marks =
            if is_wrong { (finding.deciding(), vec![finding.pointer.as_str()]) } else { Default::default() };
        let is_raw = is_wrong && finding.details.cause.as_ref().is_some_and(|cause| cause.is_writing);
        let pair = pair(request, finding.exchanges.get(member), &place, &marks, is_raw);
        // Where there is room for a fold, the others are folded.
        let is_plain = is_wrong || !extent.verbose && most.contains(&member);
        blocks.push(if is_plain { pair } else { Block::details(place, false, vec![pair]) });
    }
    if hidden > 0 {
        blocks
            .push(Block::paragraph(format!("{hidden} more requests of this group are in the replay file.")));
    }
    if let Some(contrast) = &finding.details.contrast
        && let Some(request) = contrast.requests.get(contrast.member)
    {
        let exchange = contrast.exchanges.get(contrast.member);
        if let Some(cause) = finding.details.cause.as_ref().filter(|cause| !cause.right.is_empty()) {
            let answer = cut(&exchange.map(Exchanged::line).unwrap_or_default(), LONGEST_ANSWER);
            let name = if cause.compares { "other" } else { "right" };
            let text = Text::quoted(format!("{}: {answer}", cause.right));
            blocks.push(Block::Facts(vec![(name, text)]));
        }
        let nearest = pair(request, exchange, "", &(finding.deciding(), Vec::new()), false);
        blocks.push(Block::details("The nearest request that does not break it", false, vec![nearest]));
    }
    blocks
}

/// A request and its answer, with these places marked in them.
fn pair(
    request: &Request,
    exchange: Option<&Exchanged>,
    place: &str,
    (deciding, wrong): &(Vec<&str>, Vec<&str>),
    is_raw: bool,
) -> Block {
    let headers = request.client.as_ref().map(|client| format!("with the headers of {client}"));
    let note: Vec<&str> =
        [place].into_iter().chain(headers.as_deref()).filter(|note| !note.is_empty()).collect();
    let (status, body) = match exchange.map(|exchange| &exchange.answer) {
        None => (String::new(), Err("not kept")),
        Some(Err(failure)) => (String::new(), Err(failure.as_str())),
        Some(Ok(response)) => (format!("HTTP {}", response.status), Ok(&response.body.text)),
    };
    let request = Message::new("request", note.join(", "), Ok(&request.body.text), deciding);
    Block::Exchange([Message { is_raw, ..request }, Message::new("answer", status, body, wrong)])
}

/// What the same request got when it was sent again, where that was not the same each time, and the lines that repeat it.
fn repeat(report: &Report, number: usize, finding: &Finding) -> Vec<Block> {
    let mut blocks = Vec::new();
    if finding.attempts.iter().any(|attempt| attempt.actual.as_ref() != Some(&finding.actual)) {
        let gist = |attempt: &Attempt| match &attempt.actual {
            Some(actual) => Text::from("broken again: ").with(Style::Quoted, cut(actual, 200)),
            None => "held".into(),
        };
        let summary = format!("The same requests sent again: {}", words::reproduced(finding));
        let attempts = finding.attempts.iter().map(gist).collect();
        blocks.push(Block::details(summary, false, vec![Block::List(attempts)]));
    }
    let none = || vec![("cURL", "none: the body is too long for a command line, or has a secret".into())];
    let curl = finding.curl.as_ref().map(|line| Block::command(format!("curl-{number}"), "cURL", line, true));
    blocks.push(curl.unwrap_or_else(|| Block::Facts(none())));
    let replay = finding.details.replay.iter();
    blocks.extend(replay.map(|line| Block::command(format!("replay-{number}"), "replay", line, false)));
    blocks.extend(report.details.exports.iter().map(|names| Block::exports(names)));
    blocks
}
