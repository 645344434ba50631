//! Groups of requests that are not judged, by reason.

use std::collections::{BTreeMap, btree_map::Entry};

use paymaster_exchange::Exchange;

use crate::cases::Member;
use crate::rules::View;
use crate::session::{Access, without_answer};
use crate::verdict::UnjudgedGroups;

/// Why a group is not judged.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// It was not sent, or in vain; the run says on its own that it is not whole.
    NotSent(String),
    /// An answer exceeds this limit of ours.
    TooLarge(String),
    /// A gateway answered with this HTTP status instead of the service. The other answers of such a group are judged.
    Gateway(u16),
    /// What may have come from load did not come again, in words.
    Unconfirmed(String),
}

/// The groups that are not judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unjudged(BTreeMap<Reason, UnjudgedGroups>);

impl Unjudged {
    /// Counts the answers of a group that cannot be judged; false when the whole group cannot.
    pub fn can_judge(&mut self, views: &[View<'_>], exchanges: &[Exchange]) -> bool {
        let too_large = |view: &View<'_>| view.answer.exceeded_limit().map(Reason::TooLarge);
        let of_gateway = |view: &View<'_>| view.gateway_status().map(Reason::Gateway);
        let mut first = |of: &dyn Fn(&View<'_>) -> Option<Reason>| {
            let found = views.iter().zip(exchanges).find_map(|(view, it)| Some((of(view)?, view.label, it)));
            found.map(|(reason, label, it)| self.count(reason, label, &it.request)).is_some()
        };
        if first(&too_large) {
            return false;
        }
        first(&of_gateway);
        true
    }

    /// Counts a group that was not sent, or in vain, for this reason.
    pub fn not_sent(&mut self, why: String, member: &Member) {
        self.count(Reason::NotSent(why), &member.label, &member.body);
    }

    /// Counts a group with an answer to this request, or a missing one, that may have come from load: `what` says what it was, and what came of
    /// sending it again.
    pub fn unconfirmed(&mut self, what: String, member: &Member) {
        self.count(Reason::Unconfirmed(what), &member.label, &member.body);
    }

    fn count(&mut self, reason: Reason, label: &str, request: &[u8]) {
        let request = String::from_utf8_lossy(request).into_owned();
        add(&mut self.0, reason, UnjudgedGroups { groups: 1, request, label: label.to_owned() });
    }

    /// Adds the counts of another part of the same run.
    pub fn merge(&mut self, other: Self) {
        for (reason, groups) in other.0 {
            add(&mut self.0, reason, groups);
        }
    }

    /// The groups by reason, in words, and whether their answers alone keep the run from passing. Where HTTP refused every valid request,
    /// gateways are not counted: the run reports that separately.
    pub fn in_words(self, access: &Access) -> (BTreeMap<String, UnjudgedGroups>, bool) {
        let (mut all, mut is_incomplete) = (BTreeMap::new(), false);
        for (reason, groups) in self.0 {
            let is_sent = !matches!(reason, Reason::NotSent(_));
            let words = match reason {
                Reason::NotSent(what) | Reason::Unconfirmed(what) => what,
                Reason::TooLarge(what) => format!("{what}: more than we read"),
                Reason::Gateway(_) if access.denied().is_some() => continue,
                Reason::Gateway(status) => access.outcomes.described(&without_answer(status)),
            };
            is_incomplete |= is_sent;
            add(&mut all, words, groups);
        }
        (all, is_incomplete)
    }
}

fn add<K: Ord>(all: &mut BTreeMap<K, UnjudgedGroups>, key: K, groups: UnjudgedGroups) {
    match all.entry(key) {
        Entry::Occupied(mut known) => known.get_mut().merge(groups),
        Entry::Vacant(place) => drop(place.insert(groups)),
    }
}
