//! Answers that cannot be judged: they exceed our limits, a gateway answered instead of the service, or they did not come again when they may come
//! from load.

use std::collections::BTreeMap;

use crate::{
    rules::View,
    session::{access::Access, add_counts, unserved::without_answer},
};

/// How many groups have such an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnjudgedAnswers {
    /// By the limit that the answer exceeds.
    too_large: BTreeMap<String, usize>,
    /// By the HTTP status of the gateway that answered instead of the service. The other answers of such a group are judged.
    by_gateways: BTreeMap<u16, usize>,
    /// What did not come again, in words, where it may have come from load.
    unconfirmed: BTreeMap<String, usize>,
}

impl UnjudgedAnswers {
    /// Counts the answers of a group that cannot be judged; false when the whole group cannot.
    pub fn can_judge(&mut self, views: &[View<'_>]) -> bool {
        if let Some(what) = views.iter().find_map(|view| view.answer.exceeded_limit()) {
            *self.too_large.entry(what).or_default() += 1;
            return false;
        }
        if let Some(status) = views.iter().find_map(View::gateway_status) {
            *self.by_gateways.entry(status).or_default() += 1;
        }
        true
    }

    /// Counts a group with an answer, or a missing one, that may have come from load: `what` says what it was, and what came of sending it again.
    pub fn unconfirmed(&mut self, what: String) {
        *self.unconfirmed.entry(what).or_default() += 1;
    }

    /// Adds the counts of another part of the same run.
    pub fn merge(&mut self, other: Self) {
        add_counts(&mut self.too_large, other.too_large);
        add_counts(&mut self.by_gateways, other.by_gateways);
        add_counts(&mut self.unconfirmed, other.unconfirmed);
    }

    /// The number of groups for each reason. A run with such groups does not pass. Where HTTP refused every valid request, gateways are
    /// not counted: the run reports that separately.
    pub fn reasons(self, access: &Access) -> BTreeMap<String, usize> {
        let too_large =
            self.too_large.into_iter().map(|(what, groups)| (format!("{what}: more than we read"), groups));
        let by_gateways = self
            .by_gateways
            .into_iter()
            .filter(|_| access.denied().is_none())
            .map(|(status, groups)| (access.outcomes.described(&without_answer(status)), groups));
        too_large.chain(by_gateways).chain(self.unconfirmed).collect()
    }
}
