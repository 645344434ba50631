//! Examples of requests for which a rule held. The cause of a broken rule is found by comparing with them.

use std::sync::Arc;

use paymaster_schemas::Pair;

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
    pub pair: Option<Pair>,
    /// Whether it was answered with an error.
    pub got_error: bool,
}

/// The examples of one rule: of each method and mode the first ones in the order of the plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Examples(Vec<Example>);

impl Examples {
    /// Adds an example where there is room. The group is copied at most once: `shared` holds the copy for all rules.
    pub(super) fn offer(
        &mut self,
        group: &Group,
        member: usize,
        view: &View<'_>,
        shared: &mut Option<Arc<Group>>,
    ) {
        let pair = view.request.pair();
        if self.of(pair).count() < MOST_EXAMPLES {
            let group = Arc::clone(shared.get_or_insert_with(|| Arc::new(group.clone())));
            self.0.push(Example {
                group,
                member,
                pair,
                got_error: view.answer.error().is_some(),
            });
        }
    }

    /// All examples.
    pub(super) fn all(&self) -> impl Iterator<Item = &Example> {
        self.0.iter()
    }

    /// Adds the examples of another part of the run.
    pub(super) fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
        self.0.sort_by_key(|example| example.group.number);
        let mut kept: Vec<Example> = Vec::new();
        for example in self.0.drain(..) {
            let same = kept.iter().filter(|known| known.pair == example.pair).count();
            if same < MOST_EXAMPLES {
                kept.push(example);
            }
        }
        self.0 = kept;
    }

    /// The examples of this method and mode.
    pub(super) fn of(&self, pair: Option<Pair>) -> impl Iterator<Item = &Example> {
        self.0.iter().filter(move |example| example.pair == pair)
    }
}
