//! Compares two runs: newly broken, fixed, still broken and no longer judged rules, and changes of dialect and behaviour.

mod text;

use std::collections::BTreeSet;

use paymaster_schemas::Basis;

use crate::report::{
    counts::RuleState,
    model::{Finding, JudgedRule, Report},
};
use paymaster_engine::verdict::{conclusion::Conclusion, finding::FINDINGS_PER_RULE};
use paymaster_settings::exit;

pub(crate) use text::{SideNames, render};

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

/// A point of dialect or behaviour in which the two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// A point of the dialect, or an observed clause.
    pub(crate) name: String,
    /// Values of the first run only.
    pub(crate) before: Vec<String>,
    /// Values of the second run only.
    pub(crate) after: Vec<String>,
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
    /// Where the dialects differ.
    pub(crate) dialect: Vec<Difference>,
    /// Where the behaviours differ.
    pub(crate) behaviour: Vec<Difference>,
}

/// Compares a run with an earlier one.
pub(crate) fn compare<'a>(before: &'a Report, after: &'a Report) -> Comparison<'a> {
    let mut changes = Vec::new();
    let mut alike = 0;
    for rule in &after.rules {
        match change(before, after, before.rule(&rule.id), rule) {
            Some(change) => changes.push(change),
            None => alike += 1,
        }
    }
    let gone = before.rules.iter().filter(|rule| after.rule(&rule.id).is_none());
    changes.extend(gone.map(|rule| Change {
        kind: ChangeKind::InOneReport,
        before: Some(rule),
        after: None,
        places: Vec::new(),
    }));
    Comparison {
        before,
        after,
        changes,
        alike,
        dialect: dialect(before, after),
        behaviour: behaviour(before, after),
    }
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
            let now = change.after.map(|rule| self.after.state(rule));
            now == Some(RuleState::Broken)
        };
        self.count(ChangeKind::New) > 0 || self.of(ChangeKind::NewPointer).any(fails)
    }

    /// Whether the target of one of the runs could not be tested, so that there is nothing to compare.
    pub(crate) fn is_void(&self) -> bool {
        [self.before, self.after].into_iter().any(|run| run.conclusion == Conclusion::CouldNotTest)
    }

    /// Whether stated rules that were judged before are not judged any more.
    pub(crate) fn judges_less(&self) -> bool {
        let stated = |change: &Change<'_>| change.before.is_some_and(|rule| rule.basis() == Basis::Stated);
        self.of(ChangeKind::NoLongerJudged).any(stated)
    }

    /// The exit code: 1 when something new fails, 3 when there is nothing to compare, 4 when fewer stated rules are judged.
    pub(crate) fn exit_code(&self, allow_incomplete: bool) -> u8 {
        if self.is_void() {
            exit::COULD_NOT_TEST
        } else if self.is_worse() {
            exit::VIOLATIONS
        } else if self.judges_less() && !allow_incomplete {
            exit::INCOMPLETE
        } else {
            exit::CONFORMS
        }
    }
}

fn change<'a>(
    before: &Report,
    after: &Report,
    old: Option<&'a JudgedRule>,
    new: &'a JudgedRule,
) -> Option<Change<'a>> {
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

fn dialect(before: &Report, after: &Report) -> Vec<Difference> {
    let value = |run: &Report, name: &String| {
        run.dialect.get(name).and_then(|value| value.as_str().map(str::to_owned)).into_iter().collect()
    };
    let names: BTreeSet<_> = before.dialect.keys().chain(after.dialect.keys()).collect();
    let differing = names.into_iter().filter(|name| before.dialect.get(*name) != after.dialect.get(*name));
    differing
        .map(|name| Difference { name: name.clone(), before: value(before, name), after: value(after, name) })
        .collect()
}

/// The values that only one of the runs saw. How often they were seen depends on seed and number of cases and is not compared.
fn behaviour(before: &Report, after: &Report) -> Vec<Difference> {
    let clauses: BTreeSet<_> = before.observations.keys().chain(after.observations.keys()).collect();
    clauses
        .into_iter()
        .filter_map(|clause| {
            let values = |run: &Report| -> BTreeSet<String> {
                let seen = run.observations.get(clause);
                seen.into_iter().flat_map(|values| values.keys().cloned()).collect()
            };
            let (old, new) = (values(before), values(after));
            (old != new).then(|| Difference {
                name: clause.clone(),
                before: old.difference(&new).cloned().collect(),
                after: new.difference(&old).cloned().collect(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
