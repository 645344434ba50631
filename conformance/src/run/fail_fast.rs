//! `--fail-fast`: the run ends at the first violation that fails it and is seen again when its requests are sent again.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use crate::run::sending::sender::Sender;
use paymaster_engine::{
    cases::case::Group,
    knowledge::Knowledge,
    session::{recheck::Recheck, tally::NewlyBroken},
    verdict::{
        known::KnownFailureList,
        strictness::{Strictness, fails_the_run},
    },
};

/// What the confirmation of a violation needs, and whether there was one.
pub(crate) struct FailFast {
    context: Arc<dyn Knowledge>,
    known: Arc<KnownFailureList>,
    strictness: Strictness,
    over: AtomicBool,
}

impl FailFast {
    pub(crate) fn new(
        context: Arc<dyn Knowledge>,
        known: Arc<KnownFailureList>,
        strictness: Strictness,
    ) -> Self {
        Self { context, known, strictness, over: AtomicBool::new(false) }
    }

    /// Whether a violation was confirmed.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Sends the group of new violations again, once for each that fails the run and is not a known failure.
    pub(crate) async fn confirm(&self, sender: &Sender, group: &Group, new: Vec<NewlyBroken>) {
        for broken in new {
            let fails = fails_the_run(broken.rule.basis(), self.strictness.strict);
            if self.is_over() || !fails || self.known.covers(&broken.key).is_some() {
                continue;
            }
            let Ok(exchanges) = sender.deliver(group).await else {
                return;
            };
            let recheck = Recheck::new(broken.rule, &*self.context);
            if recheck.violation_at(&broken.key, group, &exchanges).is_some() {
                self.over.store(true, Ordering::Relaxed);
            }
        }
    }
}
