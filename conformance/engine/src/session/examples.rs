//! Examples of requests for which a rule held. The cause of a broken rule is found by comparing with them.

use std::{collections::BTreeMap, sync::Arc};

use paymaster_schemas::Kind;

use crate::{cases::case::Group, rules::View};

/// How many examples of a rule are kept for each method and mode.
const MOST_EXAMPLES: usize = 6;

/// A request for which a rule held.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its group.
    pub group: Arc<Group>,
    /// Its place in the group.
    pub member: usize,
    /// Its method and mode; none where it has none.
    pub pair: Option<Kind>,
    /// Whether it was answered with an error.
    pub got_error: bool,
}

/// The examples of one rule: of each method and mode the first ones in the order of the plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Examples(BTreeMap<Option<Kind>, Vec<Example>>);

impl Examples {
    /// Adds an example where there is room, or in the place of a later one. The group is copied at most once: `shared` holds the copy for all rules.
    pub(super) fn offer(
        &mut self,
        group: &Group,
        member: usize,
        view: &View<'_>,
        shared: &mut Option<Arc<Group>>,
    ) {
        let pair = view.request.pair();
        let examples = self.0.entry(pair).or_default();
        let place = examples.partition_point(|example| example.group.number <= group.number);
        if place == MOST_EXAMPLES {
            return;
        }
        examples.truncate(MOST_EXAMPLES - 1);
        let group = Arc::clone(shared.get_or_insert_with(|| Arc::new(group.clone())));
        let example = Example { group, member, pair, got_error: view.answer.error().is_some() };
        examples.insert(place, example);
    }

    /// All examples, in the order of the plan.
    pub(super) fn all(&self) -> Vec<&Example> {
        let mut all: Vec<&Example> = self.0.values().flatten().collect();
        all.sort_by_key(|example| example.group.number);
        all
    }

    /// Adds the examples of another part of the run.
    pub(super) fn merge(&mut self, other: Self) {
        for (pair, examples) in other.0 {
            let own = self.0.entry(pair).or_default();
            own.extend(examples);
            own.sort_by_key(|example| example.group.number);
            own.truncate(MOST_EXAMPLES);
        }
    }

    /// The examples of this method and mode.
    pub(super) fn of(&self, pair: Option<Kind>) -> impl Iterator<Item = &Example> {
        self.0.get(&pair).into_iter().flatten()
    }
}
