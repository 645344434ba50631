//! How much of the plan a run sends: every relation, or only those that some rules need; with all their rounds, or with the fewest.

mod needs;

use std::collections::BTreeSet;

use crate::{
    cases::{case::Relation, relations::RELATIONS},
    rules::Rule,
};
use needs::RelationOfPair;
use paymaster_schemas::Pair;

/// How often a rule must hold in a quick run, unless its quota is smaller.
pub const QUICK_QUOTA: u64 = 2;

/// How much of the plan is sent. The default is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The relations; none for every relation.
    relations: Option<BTreeSet<RelationOfPair>>,
    quick: bool,
}

impl Scope {
    /// The relations that these rules need. A rule over a group needs its relation. A rule over single exchanges needs the relations
    /// whose requests show every kind of fault of it.
    #[must_use]
    pub fn of_rules(rules: &[&'static Rule]) -> Self {
        let mut relations = BTreeSet::new();
        for rule in rules {
            let Some(needed) = needs::of(rule) else {
                return Self::default();
            };
            relations.extend(needed);
        }
        Self {
            relations: Some(relations),
            quick: false,
        }
    }

    /// The same relations with the fewest rounds that exercise every rule once or twice, whatever the number of cases.
    #[must_use]
    pub fn quick(self) -> Self {
        Self { quick: true, ..self }
    }

    /// Whether it has the fewest rounds.
    pub fn is_quick(&self) -> bool {
        self.quick
    }

    /// Whether the groups of a relation with base requests of this pair are sent.
    pub fn includes(&self, relation: &Relation, pair: Pair) -> bool {
        let wanted = self.relations.as_ref();
        wanted.is_none_or(|wanted| {
            wanted.contains(&(relation.id, None)) || wanted.contains(&(relation.id, Some(pair)))
        })
    }

    /// How often a relation is built for each of its bases.
    pub fn rounds(&self, relation: &Relation, cases: u32) -> u32 {
        if self.quick {
            let fewest = needs::quick_rounds(relation);
            // A share of cases has as many rounds as are wanted.
            relation.rounds.count(u32::MAX / 100).min(fewest)
        } else {
            relation.rounds.count(cases)
        }
    }

    /// The most groups that a plan of this scope can have. It has fewer when a relation cannot be built for the target.
    pub fn at_most(&self, cases: u32) -> usize {
        let groups = |relation: &&Relation| {
            let bases = relation
                .bases
                .iter()
                .filter(|base| self.includes(relation, base.pair));
            bases.count() * self.rounds(relation, cases) as usize
        };
        RELATIONS.iter().map(groups).sum()
    }

    /// How often a rule must hold before it passes.
    pub fn quota(&self, rule: &Rule) -> u64 {
        if self.quick {
            rule.quota.min(QUICK_QUOTA)
        } else {
            rule.quota
        }
    }
}
