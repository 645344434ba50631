//! The kill matrix: the results of all trials.
//! Also how well the causes of known faults are named.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use paymaster_engine::diagnosis::{Cause, CauseKind, Difference, Respect, Shown, without_indices};
use paymaster_engine::json::encloses;
use paymaster_engine::rules::Rule;
use paymaster_engine::specification::Specification;
use paymaster_engine::verdict::Summary;
use paymaster_reference_server::{Fault, FaultCondition};
use paymaster_schemas::Basis;
use paymaster_settings::SPECIFICATIONS;

use crate::selftest::trial::{Deviation, Trial};

/// All trials of a selftest.
#[derive(Debug, Default)]
pub struct Matrix {
    /// The trials, seed by seed, in the order of the tables of faults and variants.
    pub trials: Vec<Trial>,
    /// Whether the trials had a chain.
    pub is_on_chain: bool,
}

/// A row of the matrix: a fault or variant, and the rules that its trials broke.
#[derive(Debug)]
pub struct Row {
    /// The fault or variant.
    pub deviation: Deviation,
    /// How many trials it had.
    pub trials: usize,
    /// For a fault, the rules that caught it; for a variant, the rules that it broke wrongly; each with the number of trials.
    pub rules: BTreeMap<&'static str, usize>,
}

impl Matrix {
    /// The trials with a wrong verdict, and what is wrong with each.
    pub fn problems(&self) -> Vec<(&Trial, String)> {
        self.trials.iter().filter_map(|trial| Some((trial, trial.problem()?))).collect()
    }

    /// The rules that no fault of their clause broke, by specification, so that no trial shows that they work: with a chain, the rules
    /// about it; without one, all others.
    pub fn unproven(&self) -> Vec<(&'static Specification, &'static Rule)> {
        let proven: BTreeSet<(&str, &str)> = self
            .trials
            .iter()
            .flat_map(|trial| trial.caught_by().map(|rule| (trial.deviation.specification().name, rule.id)))
            .collect();
        let all = SPECIFICATIONS.iter().flat_map(|own| own.rules().map(|rule| (*own, rule)));
        all.filter(|(own, rule)| {
            (rule.basis() == Basis::OnChain) == self.is_on_chain && !proven.contains(&(own.name, rule.id))
        })
        .collect()
    }

    /// The number of trials with faults, and the number with variants.
    pub fn counts(&self) -> (usize, usize) {
        let faults = self.trials.iter().filter(|trial| trial.deviation.fault().is_some()).count();
        (faults, self.trials.len() - faults)
    }

    /// A row for each fault and variant, in the order of their first trials.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = IndexMap::new();
        for trial in &self.trials {
            let deviation = trial.deviation;
            let new = || Row { deviation, trials: 0, rules: BTreeMap::new() };
            let row = rows.entry((deviation.specification().name, deviation.name())).or_insert_with(new);
            row.trials += 1;
            let rules: Vec<&Rule> = match deviation {
                Deviation::Fault(..) => trial.caught_by().collect(),
                Deviation::Variant(..) => trial.wrongly_broken().collect(),
            };
            for rule in rules {
                *row.rules.entry(rule.id).or_default() += 1;
            }
        }
        rows.into_values().collect()
    }
}

/// A defect as a run reports it.
#[derive(Clone, Debug)]
pub struct NamedDefect {
    /// Its headline.
    pub headline: String,
    /// Its cause in words; empty where none was found.
    pub cause: String,
    /// On what it depends according to the cause; none where no cause was found.
    pub kind: Option<CauseKind>,
    /// The members of the request that the cause names, as JSON pointers with `*` for array indices.
    pub members: Vec<String>,
    /// How many rules it breaks.
    pub rules: usize,
}

pub(super) fn named_defects(summary: &Summary) -> Vec<NamedDefect> {
    let findings = &summary.findings;
    let named = |cause: &Cause| -> Vec<String> {
        // A kind of call has one method.
        if let Cause::Every { pair: Some(_), .. } = cause {
            return vec!["/method".to_owned()];
        }
        if let Cause::Amount(amount) = cause {
            return vec![without_indices(amount.counted.pointer)];
        }
        let members = cause.members().iter();
        let other = |member: &Difference| match &member.respect {
            Respect::EqualTo(other) => Some(other.clone()),
            Respect::Value | Respect::Length | Respect::Amount => None,
        };
        let pointers = members.flat_map(|member| [Some(member.pointer.clone()), other(member)]).flatten();
        pointers.map(|pointer| without_indices(&pointer)).collect()
    };
    summary
        .defects
        .iter()
        .map(|defect| {
            let shown = defect.shown(findings);
            let cause = shown.and_then(|finding| finding.cause.as_ref());
            let shows = shown.map_or(Shown::Wrong, Shown::by);
            // That two answers are alike does not say what they depend on.
            let kind = |cause: &Cause| if shows == Shown::Alike { CauseKind::Answers } else { cause.kind() };
            NamedDefect {
                headline: defect.headline(findings),
                cause: cause.and_then(|_| defect.cause_in_words(findings)).unwrap_or_default(),
                kind: cause.map(kind),
                members: cause.map(named).unwrap_or_default(),
                rules: defect.rules(findings).len(),
            }
        })
        .collect()
}

/// How well a selftest named the causes of its faults.
#[derive(Debug)]
pub struct Causes<'a> {
    /// The trials of faults that depend on one member of the request and were found: whether the first defect names that member.
    pub named: Vec<(&'a Trial, bool)>,
    /// Defects whose cause contradicts what the fault depends on, with their trials.
    pub untrue: Vec<(&'a Trial, &'a NamedDefect)>,
    /// The trials of all faults that were found, those with the most defects first.
    pub by_defects: Vec<&'a Trial>,
}

impl<'a> Causes<'a> {
    /// The causes of these trials.
    pub fn of(matrix: &'a Matrix) -> Self {
        let found = || matrix.trials.iter().filter(|trial| !trial.defects.is_empty());
        let named = found()
            .filter_map(|trial| Some((trial, trial.defects[0].names(trial.deviation.fault()?.member?))));
        let mut by_defects: Vec<&Trial> = found().filter(|trial| trial.deviation.fault().is_some()).collect();
        by_defects.sort_by_key(|trial| std::cmp::Reverse(trial.defects.len()));
        let untrue = found().flat_map(|trial| {
            let fault = trial.deviation.fault();
            let defects = trial.defects.iter().map(move |defect| (trial, defect));
            defects.filter(move |(_, defect)| fault.is_some_and(|fault| defect.contradicts(fault)))
        });
        Self { named: named.collect(), untrue: untrue.collect(), by_defects }
    }

    /// How many defects a fault gives at this share of the faults: at 0.5 the median.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a selftest has a few thousand trials"
    )]
    pub fn defects_at(&self, share: f64) -> usize {
        let most_first = &self.by_defects;
        let place = (most_first.len() as f64 * (1.0 - share)).floor() as usize;
        most_first.get(place.min(most_first.len().saturating_sub(1))).map_or(0, |trial| trial.defects.len())
    }
}

impl NamedDefect {
    /// Whether the cause contradicts what the fault depends on.
    fn contradicts(&self, fault: &Fault) -> bool {
        match self.kind {
            Some(CauseKind::Members) => match fault.member {
                Some(member) => !self.names(member),
                None => fault.condition != FaultCondition::Request,
            },
            Some(CauseKind::OtherRequests) => {
                fault.member.is_some() || fault.condition == FaultCondition::Always
            }
            Some(CauseKind::Answers) | None => false,
        }
    }

    /// Whether the cause names this member, the object that it is in, or a part of it.
    pub(super) fn names(&self, member: &str) -> bool {
        let member = &without_indices(member);
        // An operation or a mode object as a whole names no member.
        let is_named = |named: &String| {
            encloses(member, named) || named.matches('/').count() > 2 && encloses(named, member)
        };
        self.members.iter().any(is_named)
    }
}
