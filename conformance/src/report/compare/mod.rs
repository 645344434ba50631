//! Two runs side by side: what is newly broken, fixed, still broken, no longer judged, and what changed in dialect and behaviour.

mod text;

use std::collections::BTreeSet;

use paymaster_schemas::Basis;

use crate::report::{
    counts::Standing,
    recorded::{Recorded, RecordedRule},
};
use paymaster_cli::exit;
use paymaster_judge::verdict::{conclusion::Conclusion, finding::FINDINGS_PER_RULE};

pub(crate) use text::{Words, render};

/// What became of a rule from the first run to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Fails the run now, and did not before.
    New,
    /// Warns now, and did not before.
    NewWarning,
    /// Broken in both, and now at a place too where it was not.
    NewPlace,
    /// Broken in both.
    Still,
    /// Broken before, passed now.
    Fixed,
    /// Passed or broken before, and not judged any more: that is not fixed.
    Lost,
    /// Not judged before, passed now.
    Gained,
    /// In one of the reports only.
    Unmatched,
}

impl Kind {
    /// Every kind, in the order of the report.
    pub(crate) const ALL: [Self; 8] = [
        Self::New,
        Self::NewPlace,
        Self::NewWarning,
        Self::Still,
        Self::Fixed,
        Self::Lost,
        Self::Gained,
        Self::Unmatched,
    ];
}

/// A rule of which there is something to say.
#[derive(Clone, Debug)]
pub(crate) struct Change<'a> {
    /// What became of it.
    pub kind: Kind,
    /// The rule before, where that report has it.
    pub before: Option<&'a RecordedRule>,
    /// The rule after, where that report has it.
    pub after: Option<&'a RecordedRule>,
    /// The places at which it is broken now and was not before.
    pub places: Vec<String>,
}

/// A clause of the fingerprint on which the two differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// A point of the dialect, or an observed clause.
    pub name: String,
    /// What only the first run saw.
    pub before: Vec<String>,
    /// What only the second run saw.
    pub after: Vec<String>,
}

/// Two runs, compared.
#[derive(Debug)]
pub(crate) struct Comparison<'a> {
    /// The first run: what the second one is held against.
    pub before: &'a Recorded,
    /// The second run.
    pub after: &'a Recorded,
    /// The rules of which there is something to say.
    pub changes: Vec<Change<'a>>,
    /// How many rules have the same verdict in both, the broken ones not counted.
    pub alike: usize,
    /// Where the dialects differ.
    pub dialect: Vec<Difference>,
    /// Where the behaviours differ.
    pub behaviour: Vec<Difference>,
}

/// Compares a run with one before it.
pub(crate) fn compare<'a>(before: &'a Recorded, after: &'a Recorded) -> Comparison<'a> {
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
        kind: Kind::Unmatched,
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
    /// The rules of that kind.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &Change<'a>> {
        self.changes.iter().filter(move |change| change.kind == kind)
    }

    /// How many rules are of that kind.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        self.of(kind).count()
    }

    /// Whether something fails the second run that did not fail the first.
    pub(crate) fn is_worse(&self) -> bool {
        let fails = |change: &Change<'_>| {
            let now = change.after.map(|rule| self.after.standing(rule));
            now == Some(Standing::Broken)
        };
        self.count(Kind::New) > 0 || self.of(Kind::NewPlace).any(fails)
    }

    /// Whether one of the runs says nothing because its target could not be tested.
    pub(crate) fn is_void(&self) -> bool {
        [self.before, self.after]
            .into_iter()
            .any(|run| run.conclusion == Conclusion::CouldNotTest)
    }

    /// Whether stated rules that were judged before are not judged any more.
    pub(crate) fn judges_less(&self) -> bool {
        let stated = |change: &Change<'_>| change.before.is_some_and(|rule| rule.ground() == Basis::Stated);
        self.of(Kind::Lost).any(stated)
    }

    /// The exit code, out of the one table: 1 when something new fails, 3 when there was nothing to compare, 4 when less is judged.
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
    before: &Recorded,
    after: &Recorded,
    old: Option<&'a RecordedRule>,
    new: &'a RecordedRule,
) -> Option<Change<'a>> {
    let now = after.standing(new);
    let was = old.map(|rule| before.standing(rule));
    let places = if now.is_broken() {
        new_places(before, after, &new.id)
    } else {
        Vec::new()
    };
    let was_broken = |standing: Standing| standing.is_broken() || standing == Standing::KnownFailing;
    let broken_before = was.is_some_and(was_broken);
    let judged_before =
        broken_before || matches!(was, Some(Standing::Passed | Standing::UnexpectedlyPassing));
    let kind = match now {
        Standing::Broken if !matches!(was, Some(Standing::Broken | Standing::KnownFailing)) => Kind::New,
        Standing::Warned | Standing::KnownFailing if !broken_before => Kind::NewWarning,
        Standing::Broken | Standing::Warned if !places.is_empty() => Kind::NewPlace,
        Standing::Broken | Standing::Warned | Standing::KnownFailing => Kind::Still,
        _ if was.is_none() => Kind::Unmatched,
        Standing::Passed | Standing::UnexpectedlyPassing if broken_before => Kind::Fixed,
        Standing::Passed | Standing::UnexpectedlyPassing if !judged_before => Kind::Gained,
        Standing::Inconclusive | Standing::NotApplicable if judged_before => Kind::Lost,
        Standing::Passed
        | Standing::UnexpectedlyPassing
        | Standing::Inconclusive
        | Standing::NotApplicable => return None,
    };
    Some(Change {
        kind,
        before: old,
        after: Some(new),
        places,
    })
}

/// Where a rule is broken now and was not. A report holds so many findings of a rule and no more: when the first report holds
/// that many, or none because the run was over, what it does not hold may still have been there.
fn new_places(before: &Recorded, after: &Recorded, rule: &str) -> Vec<String> {
    let places = |run: &Recorded| -> BTreeSet<String> {
        let own = run.findings.iter().filter(|finding| finding.rule == rule);
        own.map(super::recorded::RecordedFinding::place).collect()
    };
    let known = places(before);
    if known.is_empty() || known.len() >= FINDINGS_PER_RULE {
        return Vec::new();
    }
    places(after).difference(&known).cloned().collect()
}

fn dialect(before: &Recorded, after: &Recorded) -> Vec<Difference> {
    let names: BTreeSet<_> = before.dialect.keys().chain(after.dialect.keys()).collect();
    let differing = names
        .into_iter()
        .filter(|name| before.dialect.get(*name) != after.dialect.get(*name));
    differing
        .map(|name| Difference {
            name: name.clone(),
            before: before.dialect.get(name).cloned().into_iter().collect(),
            after: after.dialect.get(name).cloned().into_iter().collect(),
        })
        .collect()
}

/// Which values were seen by one alone. How often is no difference: that goes by seed and number of cases.
fn behaviour(before: &Recorded, after: &Recorded) -> Vec<Difference> {
    let clauses: BTreeSet<_> = before
        .observations
        .keys()
        .chain(after.observations.keys())
        .collect();
    clauses
        .into_iter()
        .filter_map(|clause| {
            let values = |run: &Recorded| -> BTreeSet<String> {
                let seen = run.observations.get(clause);
                seen.into_iter()
                    .flat_map(|values| values.keys().cloned())
                    .collect()
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
