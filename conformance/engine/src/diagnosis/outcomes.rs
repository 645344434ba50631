//! What a run keeps of each judged request: which rules judged it, and at which places it broke them.
//!
//! A request takes a few bytes: the rules are bits. Parts of a run are merged in any order.

use std::collections::{BTreeMap, BTreeSet};

use paymaster_schemas::Kind;

use crate::diagnosis::{Key, KindShare};
use crate::message::Answer;
use crate::rules::{Bits, Rule, View};

/// How many requests are kept. Of a longer run, an even sample of the groups is.
pub const MOST_REQUESTS: usize = 20_000;

/// The place of a request in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestPlace {
    /// The number of its group, from 0.
    pub group: u32,
    /// Its place in the group, from 0.
    pub member: u32,
}

/// Of which kind an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerKind {
    /// It has a result.
    Result,
    /// It has an error.
    Error,
    /// It has neither, or there was no answer.
    Other,
}

impl AnswerKind {
    /// The kind of an answer.
    pub fn of(answer: &Answer<'_>) -> Self {
        if answer.result().is_some() {
            Self::Result
        } else if answer.error().is_some() {
            Self::Error
        } else {
            Self::Other
        }
    }
}

/// A request that was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedRequest {
    /// Method and mode; none where it has none.
    pub pair: Option<Kind>,
    /// How it was answered.
    pub answer: AnswerKind,
    /// Whether it must get a result.
    pub is_owed: bool,
    rules: Bits,
}

/// A request that a rule judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestOutcome {
    /// Where it stands in the plan.
    pub place: RequestPlace,
    /// Method and mode; none where it has none.
    pub pair: Option<Kind>,
    /// How it was answered.
    pub answer: AnswerKind,
    /// Whether it must get a result.
    pub is_owed: bool,
    /// Whether it broke the rule.
    pub is_broken: bool,
}

/// The requests of a run and their outcomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The rules of the run, by the number that stands for each.
    rules: Vec<&'static str>,
    /// How often the sample was halved: 0 while every request is kept.
    halvings: u32,
    /// How many requests were judged in all, those that are not kept included.
    pub all: u64,
    requests: BTreeMap<RequestPlace, JudgedRequest>,
    broken: BTreeMap<Key, BTreeSet<RequestPlace>>,
}

impl Outcomes {
    /// No requests yet, of a run with these rules.
    pub(crate) fn of(rules: &[&Rule]) -> Self {
        Self { rules: rules.iter().map(|rule| rule.id).collect(), ..Self::default() }
    }

    /// Forgets every request.
    pub(crate) fn clear(&mut self) {
        *self = Self { rules: std::mem::take(&mut self.rules), ..Self::default() };
    }

    /// The number that stands for a rule; the number of rules for one that is not in the run, which judged nothing.
    fn number(&self, rule: &Rule) -> usize {
        self.rules.iter().position(|id| *id == rule.id).unwrap_or(self.rules.len())
    }

    /// Adds the judgements on a group: for each member the numbers of the rules that judged it, and the members that broke a rule, with the place.
    pub(crate) fn add(
        &mut self,
        group: usize,
        views: &[View<'_>],
        judged: Vec<Bits>,
        broken: Vec<(usize, Key)>,
    ) {
        self.all += views.len() as u64;
        let Ok(group) = u32::try_from(group) else { return };
        if !is_kept(group, self.halvings) {
            return;
        }
        for ((member, view), rules) in (0..).zip(views).zip(judged) {
            let (answer, is_owed) = (AnswerKind::of(&view.answer), view.expectation.requires_result());
            let request = JudgedRequest { pair: view.request.pair(), answer, is_owed, rules };
            self.requests.insert(RequestPlace { group, member }, request);
        }
        for (member, key) in broken {
            if let Ok(member) = u32::try_from(member) {
                let place = RequestPlace { group, member };
                self.broken.entry(key).or_default().insert(place);
            }
        }
        self.thin();
    }

    /// Adds the outcomes of another part of the run.
    pub(crate) fn merge(&mut self, other: Self) {
        self.all += other.all;
        self.halvings = self.halvings.max(other.halvings);
        self.requests.extend(other.requests);
        for (key, places) in other.broken {
            self.broken.entry(key).or_default().extend(places);
        }
        self.keep_the_sample();
        self.thin();
    }

    /// The requests that are kept, in the order of the plan.
    pub fn requests(&self) -> impl ExactSizeIterator<Item = (RequestPlace, &JudgedRequest)> {
        self.requests.iter().map(|(place, request)| (*place, request))
    }

    /// The requests that this rule judged, in the order of the plan. A rule over a group judges the members that it compares: the
    /// first one where it compares the group as a whole.
    pub fn of_rule<'a>(&'a self, rule: &Rule) -> impl Iterator<Item = RequestOutcome> + use<'a> {
        let number = self.number(rule);
        let places = self.places_of(rule.id).collect::<Vec<_>>();
        self.requests().filter(move |(_, request)| request.rules.contains(number)).map(
            move |(place, request)| RequestOutcome {
                place,
                pair: request.pair,
                answer: request.answer,
                is_owed: request.is_owed,
                is_broken: places.iter().any(|places| places.contains(&place)),
            },
        )
    }

    /// How many requests of a method and mode this rule judged, and how many of them broke it at this place.
    pub fn share(&self, rule: &Rule, key: &Key) -> KindShare {
        let judged = self.of_rule(rule).filter(|own| own.pair == key.pair).count();
        let kept = self.requests.len().max(1) as u64;
        let is_at_place = |other: &&Key| (other.rule, &other.pointer) == (key.rule, &key.pointer);
        let mut at_place = self.broken.keys().filter(is_at_place);
        KindShare {
            is_of_calls: at_place.any(|other| other.pair.is_some()),
            broken: self.of_key(key).map_or(0, BTreeSet::len),
            judged,
            all: usize::try_from(judged as u64 * self.all / kept).unwrap_or(usize::MAX),
        }
    }

    /// The requests that broke a rule at this place, in the order of the plan; none where no request did.
    pub fn of_key(&self, key: &Key) -> Option<&BTreeSet<RequestPlace>> {
        self.broken.get(key)
    }

    /// How many of the requests that both rules judged broke the first one, the second one, both and neither, each at one of its places. Keys of
    /// two pairs have no request in common.
    pub fn overlap(&self, one: (&Rule, &Key), two: (&Rule, &Key)) -> [usize; 4] {
        let ((rule, key), (other_rule, other_key)) = (one, two);
        let (number, other) = (self.number(rule), self.number(other_rule));
        let is_judged = |request: &JudgedRequest| {
            request.pair == key.pair && request.rules.contains(number) && request.rules.contains(other)
        };
        let none = BTreeSet::new();
        let of = |key| self.broken.get(key).unwrap_or(&none);
        let (broken, other_broken) = (of(key), of(other_key));
        let judged = |places: &BTreeSet<RequestPlace>| {
            let requests = places.iter().filter_map(|place| self.requests.get(place));
            requests.filter(|request| is_judged(request)).count()
        };
        let (first, second) = (judged(broken), judged(other_broken));
        let both = broken.intersection(other_broken).count();
        let all = self.requests.values().filter(|request| is_judged(request)).count();
        [first, second, both, all + both - first - second]
    }

    /// A run of so many groups of one request of this pair, which these rules judged, with the groups that broke them.
    #[cfg(test)]
    pub(crate) fn of_run(
        pair: Option<Kind>,
        judged: &[&Rule],
        groups: u32,
        broken: &[(Key, Vec<u32>)],
    ) -> Self {
        let own = Self::of(judged);
        let mut rules = Bits::default();
        for rule in judged {
            rules.insert(own.number(rule));
        }
        let answer = AnswerKind::Result;
        let place = |group| RequestPlace { group, member: 0 };
        let requests =
            (0..groups).map(|group| (place(group), JudgedRequest { pair, answer, is_owed: true, rules }));
        let broken =
            broken.iter().map(|(key, groups)| (key.clone(), groups.iter().copied().map(place).collect()));
        Self { all: groups.into(), requests: requests.collect(), broken: broken.collect(), ..own }
    }

    fn places_of(&self, rule: &'static str) -> impl Iterator<Item = &BTreeSet<RequestPlace>> {
        let broken = self.broken.iter();
        broken.filter_map(move |(key, places)| (key.rule == rule).then_some(places))
    }

    fn thin(&mut self) {
        while self.requests.len() > MOST_REQUESTS && self.halvings < u32::BITS {
            self.halvings += 1;
            self.keep_the_sample();
        }
    }

    fn keep_the_sample(&mut self) {
        if self.halvings == 0 {
            return;
        }
        let halvings = self.halvings;
        self.requests.retain(|place, _| is_kept(place.group, halvings));
        for places in self.broken.values_mut() {
            places.retain(|place| is_kept(place.group, halvings));
        }
    }
}

/// Whether a group is part of the sample: each halving keeps half of the groups that were kept, evenly over the plan.
fn is_kept(group: u32, halvings: u32) -> bool {
    group.wrapping_mul(0x9e37_79b9).leading_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::specification::SAMPLE;

    /// The outcomes of groups of two requests: the second one of every third group breaks a rule.
    fn of_groups(groups: impl Iterator<Item = u32>) -> Outcomes {
        let mut outcomes = Outcomes::of(&[first()]);
        for group in groups {
            outcomes.all += 2;
            if !is_kept(group, outcomes.halvings) {
                continue;
            }
            let mut rules = Bits::default();
            rules.insert(0);
            for member in 0..2 {
                let request = JudgedRequest { pair: None, answer: AnswerKind::Result, is_owed: true, rules };
                outcomes.requests.insert(RequestPlace { group, member }, request);
            }
            if group % 3 == 0 {
                let place = RequestPlace { group, member: 1 };
                outcomes.broken.entry(key()).or_default().insert(place);
            }
            outcomes.thin();
        }
        outcomes
    }

    fn key() -> Key {
        Key { rule: first().id, pair: None, pointer: "/id".to_owned() }
    }

    fn first() -> &'static Rule {
        SAMPLE.rules().next().unwrap()
    }

    #[test]
    fn a_run_of_any_length_keeps_an_even_sample_of_its_groups() {
        let outcomes = of_groups(0..200_000);
        assert!(outcomes.halvings > 0);
        assert_eq!(outcomes.all, 400_000);
        let kept = outcomes.requests().len();
        assert!((MOST_REQUESTS / 2..=MOST_REQUESTS).contains(&kept), "{kept}");
        for tenth in 0..10 {
            let range = tenth * 20_000..(tenth + 1) * 20_000;
            let here = outcomes.requests().filter(|(place, _)| range.contains(&place.group)).count();
            assert!(here.abs_diff(kept / 10) <= kept / 200, "{here} of {kept} in {range:?}");
        }
        let share = outcomes.share(first(), &key());
        assert_eq!(share.judged, kept);
        assert_eq!(share.all, 400_000);
        assert!(share.broken.abs_diff(kept / 6) < kept / 100, "{share:?}");
    }

    #[test]
    fn parts_are_merged_in_any_order() {
        for groups in [900, 60_000] {
            let whole = of_groups(0..groups);
            // The parts have different lengths: one is a sample already, the other is not.
            let part = |end: u32| of_groups((0..groups).filter(move |group| (group % 8 == 0) == (end == 0)));
            let (mut one, mut two) = (part(0), part(1));
            one.merge(part(1));
            two.merge(part(0));
            assert_eq!(one, two);
            assert_eq!(one, whole);
        }
    }
}
