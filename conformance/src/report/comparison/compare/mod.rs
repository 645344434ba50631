//! Compares two runs: newly broken, fixed, still broken and no longer judged rules, and changes of dialect and behaviour.

use std::collections::{BTreeMap, BTreeSet};

use paymaster_engine::diagnosis::FINDINGS_PER_RULE;
use paymaster_engine::verdict::Conclusion;
use paymaster_schemas::Basis;
use paymaster_settings::output::{Block, Document, Head, Style, Text, cut};
use paymaster_settings::{EMBEDDED_WARNING, escape_controls, exit};
use serde_json::Value;

use crate::report::counts::RuleState;
use crate::report::{Finding, JudgedRule, Report, words};

/// How a rule differs between the first run and the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ChangeKind {
    /// Fails the second run, and did not fail the first.
    New,
    /// Warns in the second run, and did not in the first.
    NewWarning,
    /// Broken in both, and in the second at more places.
    NewPointer,
    /// Broken in both.
    Still,
    /// Broken in the first run, passed in the second.
    Fixed,
    /// Judged in the first run only. A broken rule does not count as fixed then.
    NoLongerJudged,
    /// Passed in the second run, and was not judged in the first.
    NewlyJudged,
    /// Listed in one of the reports only.
    InOneReport,
}

/// A rule that is broken in one of the runs, or differs between them.
#[derive(Clone, Debug)]
pub(crate) struct Change<'a> {
    /// How it differs.
    pub(crate) kind: ChangeKind,
    /// The rule before, where that report has it.
    pub(crate) before: Option<&'a JudgedRule>,
    /// The rule after, where that report has it.
    pub(crate) after: Option<&'a JudgedRule>,
    /// The places at which only the second run broke it.
    pub(crate) places: Vec<String>,
}

/// The differences of two runs.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    /// The first run: the baseline.
    pub(crate) before: &'a Report,
    /// The second run.
    pub(crate) after: &'a Report,
    /// The rules that are broken in one of the runs, or differ.
    pub(crate) changes: Vec<Change<'a>>,
    /// How many other rules there are.
    pub(crate) alike: usize,
}

/// Compares a run with an earlier one.
pub(crate) fn compare<'a>(before: &'a Report, after: &'a Report) -> Comparison<'a> {
    let mut changes: Vec<Change<'_>> =
        after.rules.iter().filter_map(|rule| change(before, after, rule)).collect();
    let alike = after.rules.len() - changes.len();
    let gone = before.rules.iter().filter(|rule| after.rule(&rule.id).is_none());
    changes.extend(gone.map(|rule| Change {
        kind: ChangeKind::InOneReport,
        before: Some(rule),
        after: None,
        places: Vec::new(),
    }));
    Comparison { before, after, changes, alike }
}

impl<'a> Comparison<'a> {
    /// The changes of one kind.
    pub(crate) fn of(&self, kind: ChangeKind) -> impl Iterator<Item = &Change<'a>> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// The number of changes of one kind.
    pub(crate) fn count(&self, kind: ChangeKind) -> usize {
        self.of(kind).count()
    }

    /// Whether something fails the second run that did not fail the first.
    pub(crate) fn is_worse(&self) -> bool {
        let fails = |change: &Change<'_>| {
            change.after.is_some_and(|rule| self.after.state(rule) == RuleState::Broken)
        };
        self.count(ChangeKind::New) > 0 || self.of(ChangeKind::NewPointer).any(fails)
    }

    /// Whether the target of one of the runs could not be tested, so that there is nothing to compare.
    pub(crate) fn is_void(&self) -> bool {
        [self.before, self.after].into_iter().any(|run| run.conclusion == Conclusion::CouldNotTest)
    }

    /// The exit code: 1 when something new fails, 3 when there is nothing to compare, 4 when fewer stated rules are judged.
    pub(crate) fn exit_code(&self, allow_incomplete: bool) -> u8 {
        let stated = |change: &Change<'_>| change.before.is_some_and(|rule| rule.basis() == Basis::Stated);
        if self.is_void() {
            exit::COULD_NOT_TEST
        } else if self.is_worse() {
            exit::VIOLATIONS
        } else if self.of(ChangeKind::NoLongerJudged).any(stated) && !allow_incomplete {
            exit::INCOMPLETE
        } else {
            exit::CONFORMS
        }
    }
}

fn change<'a>(before: &'a Report, after: &Report, new: &'a JudgedRule) -> Option<Change<'a>> {
    let old = before.rule(&new.id);
    let now = after.state(new);
    let was = old.map(|rule| before.state(rule));
    let places = if now.is_broken() { new_places(before, after, &new.id) } else { Vec::new() };
    let was_broken = |state: RuleState| state.is_broken() || state == RuleState::KnownFailing;
    let broken_before = was.is_some_and(was_broken);
    let judged_before =
        broken_before || matches!(was, Some(RuleState::Passed | RuleState::UnexpectedlyPassing));
    let kind = match now {
        RuleState::Broken if !matches!(was, Some(RuleState::Broken | RuleState::KnownFailing)) => {
            ChangeKind::New
        }
        RuleState::Warned | RuleState::KnownFailing if !broken_before => ChangeKind::NewWarning,
        RuleState::Broken | RuleState::Warned if !places.is_empty() => ChangeKind::NewPointer,
        RuleState::Broken | RuleState::Warned | RuleState::KnownFailing => ChangeKind::Still,
        _ if was.is_none() => ChangeKind::InOneReport,
        RuleState::Passed | RuleState::UnexpectedlyPassing if broken_before => ChangeKind::Fixed,
        RuleState::Passed | RuleState::UnexpectedlyPassing if !judged_before => ChangeKind::NewlyJudged,
        RuleState::Covered | RuleState::Inconclusive | RuleState::NotApplicable if judged_before => {
            ChangeKind::NoLongerJudged
        }
        RuleState::Passed
        | RuleState::UnexpectedlyPassing
        | RuleState::Covered
        | RuleState::Inconclusive
        | RuleState::NotApplicable => return None,
    };
    Some(Change { kind, before: old, after: Some(new), places })
}

/// The places at which only the second run broke a rule. A report holds a limited number of findings for each rule: where the first
/// report holds that many, or none because the run was over, its places are incomplete and nothing counts as new.
fn new_places(before: &Report, after: &Report, rule: &str) -> Vec<String> {
    let places = |run: &Report| -> BTreeSet<String> {
        let own = run.findings.iter().filter(|finding| finding.rule == rule);
        own.map(Finding::place).collect()
    };
    let known = places(before);
    if known.is_empty() || known.len() >= FINDINGS_PER_RULE {
        return Vec::new();
    }
    places(after).difference(&known).cloned().collect()
}

/// What a run saw at each name.
type Seen = BTreeMap<String, BTreeSet<String>>;

/// The dialect of a run. Each name has one value.
fn dialect(run: &Report) -> Seen {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    run.dialect.iter().map(|(name, value)| (name.clone(), BTreeSet::from([text(value)]))).collect()
}

/// The values of the observations. How often they were seen depends on seed and number of cases and is not compared.
fn behaviour(run: &Report) -> Seen {
    let clauses = run.observations.iter();
    clauses.map(|(clause, values)| (clause.clone(), values.keys().cloned().collect())).collect()
}

/// How the two runs are called in the text.
#[derive(Clone, Debug)]
pub(crate) struct SideNames {
    /// The name of the first: a file, or a URL without its secrets.
    pub(crate) before: String,
    /// The name of the second.
    pub(crate) after: String,
    /// Whether they are two targets, rather than two runs of one target.
    pub(crate) targets: bool,
}

/// How many values of one observation are listed. The rest is counted.
const MOST_VALUES: usize = 6;

/// Every kind of change in the order of the report, with its style and its title for two runs of one target and for two targets.
const KINDS: [(ChangeKind, Style, &str, &str); 8] = [
    (ChangeKind::New, Style::Bad, "New: fails now, and did not before", "Fails at the second only"),
    (
        ChangeKind::NewPointer,
        Style::Bad,
        "Broken before, and now at other places too",
        "Broken at both, at the second at other places too",
    ),
    (ChangeKind::NewWarning, Style::Odd, "Warns now, and did not before", "Warns at the second only"),
    (ChangeKind::Still, Style::Strong, "Still broken", "Broken at both"),
    (ChangeKind::Fixed, Style::Good, "Fixed", "Broken at the first only"),
    (
        ChangeKind::NoLongerJudged,
        Style::Odd,
        "No longer judged: neither fixed nor broken",
        "Judged at the first only",
    ),
    (ChangeKind::NewlyJudged, Style::Good, "Judged now, and passed", "Judged at the second only, and passed"),
    (ChangeKind::InOneReport, Style::Strong, IN_ONE_REPORT, IN_ONE_REPORT),
];
const IN_ONE_REPORT: &str = "In one report only: other rules were selected, or the versions differ";

/// The comparison, for a terminal, a page or Markdown.
pub(crate) fn document(comparison: &Comparison<'_>, names: &SideNames) -> Document {
    let sides = if names.targets { ["first", "second"] } else { ["before", "after"] };
    let runs = [comparison.before, comparison.after];
    let points = [
        ("Dialect", differences(&runs.map(dialect), sides)),
        ("Behaviour, where the specification leaves it open", differences(&runs.map(behaviour), sides)),
    ];
    let (state, word) = headline(comparison, names, points.iter().all(|(_, texts)| texts.is_empty()));
    let mut facts = Vec::new();
    for (side, run) in sides.into_iter().zip(runs) {
        let (heading, counts) = (run.verdict_line().heading(), run.counts());
        let rules = words::count(counts.rules() as u128, "rule");
        facts.push((side, format!("{heading} · {rules}: {}", counts.line()).into()));
        facts.extend(run.cut_short.iter().map(|cause| (side, format!("cut short: {cause}").into())));
    }
    let alike = format!("{} alike", words::count(comparison.alike as u128, "other rule"));
    let notes = notes(comparison, names, sides).into_iter().flatten().map(|note| format!("note: {note}"));
    let notes = notes.chain((!comparison.is_void()).then_some(alike));
    let section = |title: Text, items| Block::section("", title, vec![Block::List(items)]);
    let blocks = if comparison.is_void() {
        let next = "one of the runs could not test its target, so there is nothing to compare: run it again";
        vec![section("Next".into(), vec![next.into()])]
    } else {
        let kinds = KINDS.map(|(kind, style, of_runs, of_targets)| {
            let title = Text::of(style, if names.targets { of_targets } else { of_runs });
            section(title, comparison.of(kind).filter_map(|change| item(change, comparison)).collect())
        });
        let points = points.map(|(title, texts)| section(title.into(), texts));
        kinds.into_iter().chain(points).collect()
    };
    Document {
        title: "Comparison",
        head: Head {
            tool: format!("paymaster-conformance {}", env!("CARGO_PKG_VERSION")),
            state,
            word: word.to_owned(),
            limits: Text::default(),
            target: format!("{} -> {}", names.before, names.after),
        },
        top: [Block::Facts(facts)].into_iter().chain(notes.map(Block::paragraph)).collect(),
        blocks,
    }
}

/// The state whose colour the result has, and the result in capital letters.
fn headline(
    comparison: &Comparison<'_>,
    names: &SideNames,
    behave_alike: bool,
) -> (&'static str, &'static str) {
    let same = behave_alike && comparison.changes.iter().all(|change| change.kind == ChangeKind::Still);
    let all = [
        (comparison.is_void(), "broken", "COULD NOT COMPARE"),
        (same, "passed", "ALIKE"),
        (names.targets, "inconclusive", "DIFFERENT"),
        (comparison.is_worse(), "broken", "WORSE"),
        (comparison.count(ChangeKind::Fixed) > 0, "passed", "BETTER"),
    ];
    let first = all.into_iter().find(|(is_so, ..)| *is_so);
    first.map_or(("inconclusive", "CHANGED"), |(_, state, word)| (state, word))
}

/// What makes the two runs differ beside their target.
fn notes(comparison: &Comparison<'_>, names: &SideNames, [first, second]: [&str; 2]) -> [Option<String>; 6] {
    let (before, after) = (comparison.before, comparison.after);
    let Report { seed, strict, target, tool, .. } = after;
    [
        (before.seed != *seed).then(|| {
            let seeds = format!("{} and {seed}", before.seed);
            format!(
                "the seeds differ ({seeds}): a rule that is broken only sometimes may show in one run only"
            )
        }),
        before.embedded.then(|| format!("{first}: {EMBEDDED_WARNING}")),
        after.embedded.then(|| format!("{second}: {EMBEDDED_WARNING}")),
        (before.strict != *strict).then(|| {
            "only one of them was strict, so the same violation fails one run and only warns in the other"
                .to_owned()
        }),
        (before.tool.version != tool.version).then(|| {
            let versions = format!("{} and {}", before.tool.version, tool.version);
            format!("the versions of paymaster-conformance differ ({versions})")
        }),
        (!names.targets && before.target != *target)
            .then(|| format!("the targets differ ({} and {target})", before.target)),
    ]
}

/// A rule that changed, and at which place.
fn item(change: &Change<'_>, comparison: &Comparison<'_>) -> Option<Text> {
    let rule = change.after.or(change.before)?;
    let text = Text::of(Style::Id, &rule.id)
        .and(format!("  {} -> {}  ", verdict(change.before), verdict(change.after)))
        .with(Style::Muted, format!("section {}, {}", rule.section, rule.basis));
    let finding = comparison.after.findings.iter().find(|finding| finding.rule == rule.id);
    Some(match (change.kind, finding) {
        (ChangeKind::New | ChangeKind::NewWarning, Some(finding)) => {
            let (expected, actual) = (&finding.expected, cut(&escape_controls(&finding.actual), 200));
            text.with(Style::Quoted, format!(": expected {expected}, got {actual} ({})", finding.place()))
        }
        (ChangeKind::NewPointer, _) => {
            text.with(Style::Quoted, format!(": also {}", change.places.join("; ")))
        }
        _ => text,
    })
}

/// The points in which the runs differ, each with the values that only one of them saw.
fn differences(seen: &[Seen; 2], sides: [&str; 2]) -> Vec<Text> {
    let only = |side: &str, own: &BTreeSet<String>, other: &BTreeSet<String>| {
        let values: Vec<&String> = own.difference(other).collect();
        let shown = values.iter().take(MOST_VALUES).map(|value| cut(&escape_controls(value), 80));
        let more = values.len().checked_sub(MOST_VALUES).filter(|more| *more > 0);
        let shown: Vec<String> = shown.chain(more.map(|more| format!("{more} more"))).collect();
        (!shown.is_empty()).then(|| format!("only {side}: {}", shown.join(", ")))
    };
    let none = BTreeSet::new();
    let names: BTreeSet<&String> = seen.iter().flat_map(BTreeMap::keys).collect();
    let items = names.into_iter().filter_map(|name| {
        let [old, new] = seen.each_ref().map(|seen| seen.get(name).unwrap_or(&none));
        let parts = [only(sides[0], old, new), only(sides[1], new, old)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let text = || Text::of(Style::Id, name).with(Style::Quoted, format!(": {}", parts.join("; ")));
        (!parts.is_empty()).then(text)
    });
    items.collect()
}

fn verdict(rule: Option<&JudgedRule>) -> &'static str {
    rule.map_or("missing", |rule| rule.verdict.into_str())
}

#[cfg(test)]
mod tests;
