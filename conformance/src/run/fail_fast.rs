//! `--fail-fast`: the run ends at the first violation that fails it and is seen again when its requests are sent again.

use std::sync::Arc;

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

/// What the confirmation of a violation needs.
pub(crate) struct FailFast {
    pub(crate) context: Arc<dyn Knowledge>,
    pub(crate) known: Arc<KnownFailureList>,
    pub(crate) strictness: Strictness,
}

impl FailFast {
    /// Sends the group of new violations again, once for each that fails the run and is not a known failure. Returns whether one is seen
    /// again.
    pub(crate) async fn confirms(&self, sender: &Sender, group: &Group, new: Vec<NewlyBroken>) -> bool {
        for broken in new {
            let fails = fails_the_run(broken.rule.basis(), self.strictness.strict);
            if !fails || self.known.covers(&broken.key).is_some() {
                continue;
            }
            let Ok(exchanges) = sender.deliver(group).await else {
                return false;
            };
            let recheck = Recheck::new(broken.rule, &*self.context);
            if recheck.violation_at(&broken.key, group, &exchanges).is_some() {
                return true;
            }
        }
        false
    }
}
