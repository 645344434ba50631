//! Which requests of the plan a rule needs.

use std::collections::BTreeSet;

use paymaster_schemas::Kind;

use super::{Check, Rule};
use crate::{
    cases::{case::Relation, scope::Scope},
    specification::Specification,
};

/// Which requests of the plan show every kind of fault of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Exercise {
    /// The relations that need all of their rounds.
    pub relations: &'static [&'static Relation],
    /// The pairs of method and mode of their base requests; all when it is empty.
    pub pairs: &'static [Kind],
    /// Whether every other relation is needed too, in its fewest rounds.
    pub others: bool,
}

impl Exercise {
    /// Every answer exercises the rule.
    pub(super) const EVERY_ANSWER: Self = Self { relations: &[], pairs: &[], others: true };
}

impl Scope {
    /// The part of the plan that these rules need. A rule over a group needs its relation. A rule over single exchanges needs the
    /// relations whose requests show every kind of fault of it. A rule that every answer exercises needs every relation, most of them
    /// in their fewest rounds. All rules together need everything.
    #[must_use]
    pub fn of_rules(selected: &[&'static Rule], specification: &Specification) -> Self {
        if specification.left_out(selected) == 0 {
            return Self::default();
        }
        let mut scope = Self { whole: Some(BTreeSet::new()), ..Self::default() };
        for rule in selected {
            let whole = scope.whole.get_or_insert_default();
            if let Check::Group(relation, _) = rule.check {
                whole.insert((relation.id, None));
                continue;
            }
            let Exercise { relations, pairs, others } = rule.exercise;
            scope.others |= others;
            for relation in relations {
                if pairs.is_empty() {
                    whole.insert((relation.id, None));
                }
                whole.extend(pairs.iter().map(|pair| (relation.id, Some(*pair))));
            }
        }
        scope
    }
}
