//! Observers record what the specification leaves open, for the dialect and behaviour fingerprint. They break no rule.

use std::{borrow::Cow, collections::BTreeMap};

use crate::{knowledge::Knowledge, rules::View};

/// Observes one point that the specification leaves open. The values are counted over the run.
pub struct Observer {
    /// The clause, of basis *ambiguous* or *not shown*.
    pub clause: &'static str,
    watch: Watch,
}

/// How an observer observes.
enum Watch {
    Exchange(ExchangeWatch),
    Group(GroupWatch),
}

/// What an observer sees in one exchange, if anything.
pub type Seen = Option<Cow<'static, str>>;
/// Observes one exchange.
pub type ExchangeWatch = fn(&View<'_>, &dyn Knowledge) -> Seen;
/// Adds what it observes in the exchanges of a group.
pub type GroupWatch = fn(&[View<'_>], &dyn Knowledge, &mut Vec<String>);

impl Observer {
    /// An observer of single exchanges.
    pub const fn exchange(clause: &'static str, watch: ExchangeWatch) -> Self {
        Self { clause, watch: Watch::Exchange(watch) }
    }

    /// An observer of the exchanges of each group together.
    pub const fn group(clause: &'static str, watch: GroupWatch) -> Self {
        Self { clause, watch: Watch::Group(watch) }
    }

    /// Adds the values that it observes in a group.
    pub fn see(&self, views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
        match self.watch {
            Watch::Exchange(watch) => {
                let seen = views.iter().filter_map(|view| watch(view, knowledge));
                values.extend(seen.map(Cow::into_owned));
            }
            Watch::Group(watch) => watch(views, knowledge, values),
        }
    }
}

/// For each observed clause, every value that occurred and how often.
pub type Observations = BTreeMap<&'static str, BTreeMap<String, u64>>;

/// Adds what the observers of the specification see in the views of one group.
pub fn observe(views: &[View<'_>], knowledge: &dyn Knowledge, seen: &mut Observations) {
    let mut values = Vec::new();
    for observer in knowledge.specification().observers {
        observer.see(views, knowledge, &mut values);
        if values.is_empty() {
            continue;
        }
        let counts = seen.entry(observer.clause).or_default();
        for value in values.drain(..) {
            *counts.entry(value).or_default() += 1;
        }
    }
}
