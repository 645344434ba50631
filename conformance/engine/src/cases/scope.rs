//! How much of the plan a run sends: every relation, or only those that some rules need; and what comes first.

use std::collections::BTreeSet;

use crate::cases::{Relation, keeps_idle};
use crate::specification::Specification;
use paymaster_schemas::Kind;

/// How many parts a plan has. The first exercises every rule; a run that ends in a later one has every relation in the same share.
pub const PARTS: u32 = 11;

/// A relation, and a pair of its base requests; none for every pair.
type RelationOfPair = (&'static str, Option<Kind>);

/// How much of the plan is sent. The default is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The relations that have all of their rounds; none where every relation has.
    pub(crate) whole: Option<BTreeSet<RelationOfPair>>,
    /// Whether the other relations have their fewest rounds; otherwise they are not sent.
    pub(crate) others: bool,
    /// Whether connections are kept idle.
    pub(crate) idle: bool,
}

impl Scope {
    /// The scope with or without the requests on connections that were idle.
    #[must_use]
    pub fn with_idle(self, idle: bool) -> Self {
        Self { idle, ..self }
    }

    /// Whether a relation with base requests of this pair has all of its rounds.
    fn is_whole(&self, relation: &Relation, pair: Kind) -> bool {
        let whole = self.whole.as_ref();
        whole.is_none_or(|whole| {
            whole.contains(&(relation.id, None)) || whole.contains(&(relation.id, Some(pair)))
        })
    }

    /// How often a relation is built with base requests of this pair: 0 where it is not sent.
    pub fn rounds(&self, relation: &Relation, pair: Kind, cases: u32) -> u32 {
        let is_whole = self.is_whole(relation, pair);
        if !is_whole && !self.others || keeps_idle(relation) && !self.idle {
            return 0;
        }
        if is_whole {
            return relation.rounds.count(cases);
        }
        // A share of cases has as many rounds as are wanted.
        relation.rounds.count(u32::MAX / 100).min(relation.first_rounds)
    }

    /// How many of these rounds are sent in a part of the plan or before it. The first part exercises every rule once or twice; the
    /// others add the same share of the depth of each relation.
    pub fn rounds_until(&self, part: u32, relation: &Relation, pair: Kind, cases: u32) -> u32 {
        let all = self.rounds(relation, pair, cases);
        let first = all.min(relation.first_rounds);
        let depth = u64::from(all - first) * u64::from(part) / u64::from(PARTS - 1);
        first + u32::try_from(depth).unwrap_or(u32::MAX)
    }

    /// The most groups that a plan of this scope can have. It has fewer when a relation cannot be built for the target.
    pub fn at_most(&self, cases: u32, specification: &Specification) -> usize {
        let unknown = specification.unknown();
        let groups = |relation: &&Relation| {
            let bases = relation.bases.of(&*unknown);
            let rounds = bases.iter().map(|base| self.rounds(relation, base.pair, cases) as usize);
            rounds.sum::<usize>()
        };
        specification.relations.iter().map(groups).sum()
    }
}
