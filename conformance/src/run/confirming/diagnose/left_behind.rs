//! What an earlier request left behind, as a cause: an answer that is kept under a member of the request, a count, or a spent budget.
//!
//! A target that remembers requests answers those of the run in another way when they are sent again. Each trial therefore draws a new
//! value of the member under which something may be kept: the request must be right with it alone, and wrong after an earlier request
//! with the same value. The control is the same requests with two values: there the last one must be right. Or the other way round: wrong
//! alone and with two values, and right after an earlier request of another method.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use paymaster_engine::cases::{Group, Member, Order};
use paymaster_engine::diagnosis::{
    Cause, Difference, EarlierRequest, differences, is_about_the_kind, is_right_in_the_same_respect, with_all,
};
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::rules::Violation;
use paymaster_engine::session::Outcome;
use paymaster_engine::specification::Places;
use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;
use serde_json::{Value, json};

use super::{Diagnosis, Search, circumstances::with_members, members::Subject, parsed, with_body};
use crate::run::confirming::Reproduction;
use crate::run::replay::{scattered, unseen_number, written_like};

/// How often a request is repeated: with the same subject, and of the same party.
const REPETITIONS: usize = 4;
const REPETITIONS_OF_A_PARTY: usize = 16;

const ID: &str = "/id";

/// How often a request must be wrong after an earlier one, and right after an unrelated one. With one wrong answer in two by chance, one such
/// pair is seen in at most 4 of 10 trials: all pairs are in one search of 10^6.
const SEEN: usize = 16;

/// How often a request is right alone, or wrong, before it is sent after others.
const SENT_ALONE: usize = 4;

/// In how many rounds new requests of a group are right one by one. At the same time they are wrong in at least `SENT_ALONE` of them.
const SEEN_AT_ONCE: usize = 8;

/// What a request shows after earlier ones, or alone.
enum After {
    Wrong(Box<Reproduction>),
    Right,
}

impl Search<'_> {
    /// The cause where an earlier request decides.
    pub(super) async fn left_behind(&mut self) -> Option<Diagnosis> {
        if !self.judges_groups()
            && let Some(diagnosis) = self.spent_budget().await
        {
            return Some(diagnosis);
        }
        let subject = self.subject();
        let own = subject.value(&self.finding.group)?;
        let others = self.others();
        // The body as a whole stands for what a request leaves for the next one, whatever that is.
        let Places { subject: whole, party, once, bytes, kept_under, .. } = self.places();
        for under in [party, whole] {
            if !self.judges_groups()
                && let Some(diagnosis) = self.missing(under, &own).await
            {
                return Some(diagnosis);
            }
        }
        for under in [whole, party, "", ID, once, bytes].into_iter().chain(kept_under.iter().copied()) {
            if under == once {
                if let Some(diagnosis) = self.kept_under_once(&own, &others).await {
                    return Some(diagnosis);
                }
            } else if let Some(diagnosis) = self.kept_under(under, &own, &others).await {
                // What is kept under a part of the request is there after the whole request too.
                let of_part = if under == whole { self.kept_under_once(&own, &others).await } else { None };
                return Some(of_part.unwrap_or(diagnosis));
            }
        }
        if self.judges_groups() {
            self.left_behind_in_the_group(&own).await
        } else {
            self.company_of_its_own().await
        }
    }

    /// Whether the request is wrong after requests of its own group with the same value of a member, and right after such requests with another
    /// value.
    async fn left_behind_in_the_group(&mut self, base: &Value) -> Option<Diagnosis> {
        let places = self.places();
        if self.finding.violation.member == 0 {
            return None;
        }
        if let Some(diagnosis) = self.company_of_its_own().await {
            return Some(diagnosis);
        }
        'members: for under in [places.once, places.party] {
            let mut wrong = None;
            for is_together in (0..SEEN).flat_map(in_no_order) {
                let mut group = self.renewed_group(under, base)?;
                for place in 0..if is_together { 0 } else { self.finding.violation.member } {
                    let earlier = self.renewed(&parsed(group.members.get(place)?)?, under)?;
                    group = with_body(&group, place, &earlier)?;
                }
                let (exchanges, outcome) = self.send_freely(&group).await?;
                let seen = self.what_is_wrong(&exchanges);
                match outcome {
                    Outcome::Broken(_) if is_together => wrong = Some(seen),
                    // Where the answer is the same, only what it is compared with has changed.
                    Outcome::Held
                        if !is_together
                            && self.is_same_respect(&exchanges)
                            && wrong.as_ref().is_none_or(|wrong| *wrong != seen) => {}
                    _ => continue 'members,
                }
            }
            if self.is_the_same_whatever_else(under, base).await? {
                return Some(Diagnosis::of(Cause::Earlier(EarlierRequest::Member(under, places))));
            }
        }
        None
    }

    /// Whether new requests of a group that is sent at the same time are right each time when they are sent one after the other, over as many
    /// connections, and wrong again and again at the same time.
    pub(crate) async fn company_of_its_own(&mut self) -> Option<Diagnosis> {
        let own = &self.finding.group;
        if own.relation.order != Order::Concurrent || own.members.len() < 2 {
            return None;
        }
        let (mut wrong, mut right) = (0, 0);
        for is_at_once in (0..SEEN_AT_ONCE).flat_map(in_no_order) {
            let group = self.renewed_group(self.places().once, &self.finding.group.base)?;
            self.budget.add(&group);
            let sent = if is_at_once {
                // Over new connections too: which request of its connection one is may decide.
                self.resender.sender.close_idle();
                self.resender.send_as(&group, Order::Concurrent).await
            } else {
                self.resender.send_apart(&group).await
            };
            match sent {
                Ok((_, Outcome::Broken(_))) if is_at_once => wrong += 1,
                Ok((_, Outcome::Held)) if is_at_once && right + SENT_ALONE < SEEN_AT_ONCE => right += 1,
                Ok((exchanges, Outcome::Held)) if !is_at_once && self.is_same_respect(&exchanges) => {}
                _ => return None,
            }
        }
        (wrong >= SENT_ALONE).then(|| Diagnosis::of(Cause::Concurrency))
    }

    /// Where two answers should differ: whether they are the same too where the requests share little but party, nonce and terms. Other members that
    /// the target leaves out of account would make them the same as well, and with another nonce the answers differ in any case.
    async fn is_the_same_whatever_else(&mut self, under: &str, base: &Value) -> Option<bool> {
        let Violation { member, pointer, .. } = &self.finding.violation;
        let at = |exchange: &Exchange| Answer::of(exchange).document()?.value.pointer(pointer).cloned();
        let values: Vec<_> = self.finding.exchanges.iter().map(at).collect();
        let Some(wrong) = values.get(*member).filter(|wrong| wrong.is_some()) else { return Some(true) };
        let Some(other) = values.iter().take(*member).position(|value| value == wrong) else {
            return Some(true);
        };
        let group = self.renewed_group(under, base)?;
        let request = parsed(group.members.get(*member)?)?;
        let own_kind = self.by_pair().remove(&self.finding.pair).unwrap_or_default();
        let specification = self.resender.context.specification();
        // Those in which the compared requests differ stay too: the rule is about them.
        let compared = parsed(group.members.get(other)?)?;
        let mut kept = differences(&compared, &request, specification);
        let Places { subject, party, once, terms, .. } = self.places();
        let as_sent = |place| Difference::new(place, None, request.pointer(place).cloned(), specification);
        kept.extend([party, once, terms].map(as_sent));
        let mut others = own_kind.into_values().filter_map(|call| with_all(&call, &kept));
        let different = others.find(|call| call.pointer(subject) != request.pointer(subject))?;
        let group = with_body(&group, *member, &different)?;
        let (exchanges, _) = self.send_freely(&group).await?;
        Some(
            at(exchanges.get(*member)?).is_some_and(|value| Some(value) == exchanges.get(other).and_then(at)),
        )
    }

    /// What the answers have at the place of the violation.
    fn what_is_wrong(&self, exchanges: &[Exchange]) -> Option<Value> {
        let Violation { member, pointer, .. } = &self.finding.violation;
        let answer = Answer::of(exchanges.get(*member)?);
        answer.document()?.value.pointer(pointer).cloned()
    }

    /// The group of the finding, built from its base with a new value of the member.
    pub(super) fn renewed_group(&self, under: &str, base: &Value) -> Option<Group> {
        let base = self.renewed(base, under)?;
        Subject::Base.with(&self.finding.group, base, self.resender.context)
    }

    /// Whether the request is wrong with a new value of the member, and right after an earlier request of another method with the same value.
    async fn missing(&mut self, under: &'static str, own: &Value) -> Option<Diagnosis> {
        const TRIED: usize = 2;
        let kind = self.finding.pair?;
        let mut wrong = None;
        for _ in 0..SENT_ALONE {
            match self.alone_with_new(under, own).await? {
                After::Wrong(reproduction) => wrong = Some(*reproduction),
                After::Right => return None,
            }
        }
        let is_other = |other: &Kind| other.method != kind.method && other.selector == kind.selector;
        let by_method =
            self.by_pair().into_iter().filter_map(|(pair, of)| Some((pair.filter(is_other)?.method, of)));
        let some = |(method, of): (_, BTreeMap<_, Value>)| {
            of.into_values().take(TRIED).map(move |other| (other, method))
        };
        let others: Vec<_> = by_method.flat_map(some).collect();
        'others: for (earlier, method) in others {
            for is_related in (0..SEEN).flat_map(in_no_order) {
                match self.after(under, own, Some(&earlier), is_related).await {
                    Some(After::Right) if is_related => {}
                    Some(After::Wrong(_)) if !is_related => {}
                    _ => continue 'others,
                }
            }
            let member = (under, self.places());
            return Some(Diagnosis {
                reproduction: wrong,
                ..Diagnosis::of(Cause::Missing { method, member })
            });
        }
        None
    }

    /// Whether something is kept under the amount that is sent once, or under that and the party.
    async fn kept_under_once(&mut self, own: &Value, others: &[Value]) -> Option<Diagnosis> {
        let places @ Places { once, party, .. } = self.places();
        let is_of_another = |other: &&Value| other.pointer(party) != own.pointer(party);
        let of_others: Vec<Value> = others.iter().filter(is_of_another).cloned().collect();
        if let Some(diagnosis) = self.kept_under(once, own, &of_others).await {
            return Some(diagnosis);
        }
        let same_party =
            Difference::new(party, None, own.pointer(party).cloned(), self.resender.context.specification());
        let of_party: Vec<Value> = others.iter().filter_map(|other| same_party.applied(other)).collect();
        let diagnosis = self.kept_under(once, own, &of_party).await?;
        Some(Diagnosis { cause: Cause::Earlier(EarlierRequest::OnceOfParty(places)), ..diagnosis })
    }

    /// Whether the request is right with a new value of the member, and wrong after an earlier request with the same value.
    async fn kept_under(&mut self, under: &'static str, own: &Value, others: &[Value]) -> Option<Diagnosis> {
        // The first time, it may be wrong because of the requests that were sent last.
        self.is_right_alone(under, own).await?;
        for _ in 1..SENT_ALONE {
            if !self.is_right_alone(under, own).await? {
                return None;
            }
        }
        let places = self.places();
        let is_repeatable = !self.judges_groups() && [places.subject, places.party].contains(&under);
        let repeated = is_repeatable.then_some(None);
        for earlier in repeated.into_iter().chain(others.iter().map(Some)) {
            let Some(reproduction) = self.always_wrong_after(under, own, earlier).await else { continue };
            // One request comes before, or those that were repeated. The requests that a rule compares are none of them.
            let times = if earlier.is_some() { 1 } else { reproduction.group.members.len() - 1 };
            let earlier = match (under, times) {
                ("", _) => EarlierRequest::Other,
                (member, 1) if member == places.subject && earlier.is_none() => EarlierRequest::Same,
                (_, 1) if earlier.is_none() && !self.is_wrong_after_any(under, own, others).await => {
                    EarlierRequest::WithOtherOnce(places)
                }
                (member, 1) => EarlierRequest::Member(member, places),
                (member, times) => EarlierRequest::Repeated(times, member, places),
            };
            return Some(Diagnosis {
                // The requests that a rule compares stay as they are.
                reproduction: (!self.judges_groups()).then_some(reproduction),
                ..Diagnosis::of(Cause::Earlier(earlier))
            });
        }
        None
    }

    /// Whether the request is wrong each time after one of these with the same value of the member.
    async fn is_wrong_after_any(&mut self, under: &str, own: &Value, others: &[Value]) -> bool {
        for other in others {
            if self.always_wrong_after(under, own, Some(other)).await.is_some() {
                return true;
            }
        }
        false
    }

    /// Whether the request is wrong each time after an earlier one with the same value of the member, or as many, and right each time after an
    /// unrelated one. Which of the two comes first follows no order, so that no count of requests decides.
    async fn always_wrong_after(
        &mut self,
        under: &str,
        own: &Value,
        earlier: Option<&Value>,
    ) -> Option<Reproduction> {
        let After::Wrong(mut reproduction) = self.after(under, own, earlier, true).await? else {
            return None;
        };
        for is_related in (0..SEEN).flat_map(in_no_order) {
            match self.after(under, own, earlier, is_related).await? {
                After::Wrong(wrong)
                    if is_related && wrong.group.members.len() == reproduction.group.members.len() =>
                {
                    reproduction = wrong;
                }
                After::Right if !is_related => {}
                _ => return None,
            }
        }
        Some(*reproduction)
    }

    /// Sends the request with a new value of the member; none where it has no such member, or nothing could be sent.
    async fn is_right_alone(&mut self, under: &str, own: &Value) -> Option<bool> {
        let own = self.renewed(own, under)?;
        let (exchanges, outcome) = self.send_last(own).await?;
        Some(self.is_right(&exchanges, &outcome))
    }

    /// What the request shows alone, with a new value of the member; none where it shows nothing.
    async fn alone_with_new(&mut self, under: &str, own: &Value) -> Option<After> {
        let own = self.renewed(own, under)?;
        let (exchanges, outcome) = self.send_last(own.clone()).await?;
        match outcome {
            Outcome::Broken(violation) => {
                Some(After::Wrong(Box::new(self.reproduction(Vec::new(), own, exchanges, violation)?)))
            }
            outcome => self.is_right(&exchanges, &outcome).then_some(After::Right),
        }
    }

    /// Whether an answer is right in the respect in which that of the finding is wrong. Where it has nothing for the rule to judge, it is not
    /// wrong either.
    fn is_right(&self, exchanges: &[Exchange], outcome: &Outcome) -> bool {
        let Violation { member, pointer, .. } = &self.finding.violation;
        if self.judges_groups() {
            return *outcome == Outcome::Held && self.is_same_respect(exchanges);
        }
        let Some((wrong, right)) = self.finding.exchanges.get(*member).zip(exchanges.last()) else {
            return false;
        };
        let is_right = match outcome {
            Outcome::Held => true,
            // That there is an answer of another kind is what the rule would judge.
            Outcome::NotJudged => !is_about_the_kind(pointer, wrong),
            _ => false,
        };
        is_right && is_right_in_the_same_respect(pointer, wrong, right, self.resender.context)
    }

    /// Sends an earlier request, and then the one of the finding with the same new value of the member; without an earlier request, that of
    /// the finding is repeated. Where the two are not related, each has a new value of its own; what any request leaves for the next one is left
    /// by that of the finding too. None where nothing is shown.
    async fn after(
        &mut self,
        under: &str,
        own: &Value,
        earlier: Option<&Value>,
        is_related: bool,
    ) -> Option<After> {
        let mut request = self.renewed(own, under)?;
        let mut sent: Vec<(Value, Exchange)> = Vec::new();
        if let Some(earlier) = earlier {
            let mut earlier = if is_related || !under.is_empty() { earlier.clone() } else { request.clone() };
            if !under.is_empty() {
                let shared = request.pointer(under).cloned();
                let specification = self.resender.context.specification();
                let change = Difference::new(under, None, shared, specification);
                earlier = change.applied(&earlier)?;
            }
            let group = self.alone(&earlier)?;
            let (exchanges, _) = self.send_freely(&group).await?;
            sent.push((earlier, exchanges.into_iter().next()?));
        }
        let mut is_right = false;
        let is_of_a_party = under == self.places().party;
        let repetitions = if is_of_a_party { REPETITIONS_OF_A_PARTY } else { REPETITIONS };
        for _ in sent.len()..if earlier.is_some() { 2 } else { repetitions } {
            if !is_related && !sent.is_empty() {
                request = self.renewed(own, under)?;
            } else if is_of_a_party {
                request = self.renewed(&request, self.places().once)?;
            }
            let (exchanges, outcome) = self.send_last(request.clone()).await?;
            is_right = self.is_right(&exchanges, &outcome);
            if let Outcome::Broken(violation) = outcome {
                if sent.is_empty() {
                    return None;
                }
                let reproduction = self.reproduction(sent, request, exchanges, violation)?;
                return Some(After::Wrong(Box::new(reproduction)));
            }
            sent.push((request.clone(), exchanges.into_iter().next()?));
        }
        is_right.then_some(After::Right)
    }

    /// The requests in the order in which they were sent: the last one breaks the rule. Of a rule that compares requests, those of the last
    /// group.
    fn reproduction(
        &self,
        earlier: Vec<(Value, Exchange)>,
        last: Value,
        exchanges: Vec<Exchange>,
        violation: Violation,
    ) -> Option<Reproduction> {
        if self.judges_groups() {
            let group = self.subject().with(&self.finding.group, last, self.resender.context)?;
            return Some(Reproduction { group, exchanges, violation });
        }
        let mut group = self.alone(&last)?;
        let model = group.members.first()?.clone();
        let (requests, mut before): (Vec<Value>, Vec<Exchange>) = earlier.into_iter().unzip();
        let member = |request: &Value| Member { body: request.to_string().into(), ..model.clone() };
        group.members.splice(0..0, requests.iter().map(member));
        group.relation = self.resender.context.specification().calls;
        before.extend(exchanges);
        let violation = Violation { member: group.members.len() - 1, ..violation };
        Some(Reproduction { group, exchanges: before, violation })
    }

    /// What is changed in the requests of the finding.
    pub(super) fn subject(&self) -> Subject {
        if self.judges_groups() { Subject::Base } else { Subject::Member(self.finding.violation.member) }
    }

    /// A request alone, sent as that of the finding.
    fn alone(&self, request: &Value) -> Option<Group> {
        with_body(&with_members(&self.finding.group, &[self.finding.violation.member])?, 0, request)
    }

    /// Sends the request of the finding with this value, or the requests that its rule compares.
    async fn send_last(&mut self, own: Value) -> Option<(Vec<Exchange>, Outcome)> {
        let group = if self.judges_groups() {
            self.subject().with(&self.finding.group, own, self.resender.context)?
        } else {
            self.alone(&own)?
        };
        self.send_freely(&group).await
    }

    /// Whether a budget is spent, or a count was reached: requests for which the rule held in the run break it now, and so do operations that
    /// the target has not seen, each over a new connection: otherwise the server of the connection may decide.
    async fn spent_budget(&mut self) -> Option<Diagnosis> {
        const TRIED: usize = 4;
        /// The target may be wrong in some seconds, and right in others.
        const APART: Duration = Duration::from_millis(500);
        if !self.was_right_only_at_first() {
            return None;
        }
        let share = self.finding.share?;
        let examples = self.material.session.tally.examples(self.resender.rule, self.finding.pair);
        for example in examples.iter().cycle().take(if examples.is_empty() { 0 } else { TRIED }) {
            let group = with_members(&example.group, &[example.member])?;
            let unseen = self.renewed(&parsed(&group.members[0])?, self.places().once)?;
            let unseen = with_body(&group, 0, &unseen)?;
            for group in [&group, &unseen] {
                self.resender.sender.close_idle();
                self.breaks(group).await?;
            }
            self.resender.sender.sleep(APART).await.ok()?;
        }
        let served = share.judged.saturating_sub(share.broken);
        (!examples.is_empty()).then(|| Diagnosis::of(Cause::Spent { served }))
    }

    /// Whether all requests of the run for which the rule held came before most of those that broke it. By chance, they are among them.
    fn was_right_only_at_first(&self) -> bool {
        let outcomes = &self.material.session.tally.outcomes;
        let own = outcomes.of_rule(self.resender.rule).filter(|own| own.pair == self.finding.pair);
        let (broken, held): (Vec<_>, Vec<_>) = own.partition(|own| own.is_broken);
        let mut broken: Vec<u32> = broken.iter().map(|own| own.place.group).collect();
        broken.sort_unstable();
        let last_right = held.iter().map(|own| own.place.group).max();
        last_right.zip(broken.get(broken.len() / 2)).is_some_and(|(right, wrong)| right < *wrong)
    }

    /// Other requests of the run, and some that were drawn for this, as different as possible: of the same method and mode those with the
    /// longest and the shortest terms, before them one of each set of members beside the party, and between them some of every other method
    /// and mode; at the end those that were refused.
    fn others(&self) -> Vec<Value> {
        const MOST_OF_THE_PAIR: usize = 12;
        const MOST_OF_OTHERS: usize = 2;
        let mut by_pair = self.by_pair();
        let own = by_pair.remove(&self.finding.pair).unwrap_or_default();
        let (operation, _) = self.places().party.rsplit_once('/').unwrap_or_default();
        let is_named = |(_, value): &(&String, &Value)| !value.is_null();
        let names = |call: &Value| -> Vec<String> {
            let members = call.pointer(operation).and_then(Value::as_object);
            members.into_iter().flatten().filter(is_named).map(|(name, _)| name.clone()).collect()
        };
        let by_names: BTreeMap<_, _> = own.values().map(|call| (names(call), call.clone())).collect();
        let mut own: VecDeque<Value> = own.into_values().collect();
        let mut others = by_pair.into_values().flat_map(|of_pair| of_pair.into_values().take(MOST_OF_OTHERS));
        let mut mixed: Vec<Value> = by_names.into_values().take(MOST_OF_THE_PAIR).collect();
        while let Some(longest) = own.pop_back().filter(|_| mixed.len() < 2 * MOST_OF_THE_PAIR) {
            mixed.push(longest);
            mixed.extend(own.pop_front());
            mixed.extend(others.next());
        }
        mixed.extend(others);
        mixed.extend(self.refused());
        mixed
    }

    /// A few valid requests of the method and mode that got an error in the run: a target may keep the error.
    fn refused(&self) -> impl Iterator<Item = Value> {
        const MOST: usize = 3;
        let specification = self.resender.context.specification();
        let is_valid = |request: &Value| {
            ParsedRequest::of(request.to_string().as_bytes(), specification).valid_call().is_some()
        };
        let examples = self.material.session.tally.examples_of_any_rule().into_iter();
        let own = examples.filter(|example| example.got_error && example.pair == self.finding.pair);
        own.filter_map(|example| parsed(example.group.members.get(example.member)?))
            .filter(is_valid)
            .take(MOST)
    }

    /// Requests that were served, and some that were drawn, by method and mode: as different as possible, those with the shortest terms first.
    fn by_pair(&self) -> BTreeMap<Option<Kind>, BTreeMap<impl Ord + use<>, Value>> {
        let places = self.places();
        let mut by_pair: BTreeMap<Option<Kind>, BTreeMap<_, Value>> = BTreeMap::new();
        let examples = self.material.session.tally.examples_of_any_rule();
        let served = examples.iter().filter(|example| !example.got_error);
        let served = served.map(|example| (example.pair, &*example.group));
        let drawn = self.material.drawn.iter().map(|group| (group.pair, group));
        for (pair, group) in served.chain(drawn) {
            let [member] = group.members.as_slice() else { continue };
            if let Some(request) = parsed(member) {
                let text = |place| request.pointer(place).map(Value::to_string);
                let terms = text(places.terms).unwrap_or_default();
                let key = (terms.len(), terms, text(places.party));
                by_pair.entry(pair).or_default().insert(key, request);
            }
        }
        by_pair
    }

    /// The request with a value at a place that the target has not seen: of the subject and of the body as a whole another amount that is sent
    /// once, of a party that too, of texts another order of letter cases. None where it has no such member.
    pub(super) fn renewed(&self, request: &Value, under: &str) -> Option<Value> {
        let number = unseen_number();
        let mut changed = request.clone();
        let Places { subject, party, once, bytes, .. } = self.places();
        let pointer = if [subject, ""].contains(&under) { once } else { under };
        let member = changed.pointer_mut(pointer)?;
        *member = match pointer {
            ID => number.into(),
            place if [party, once].contains(&place) => {
                written_like(member, place == party, number).unwrap_or_else(|| json!(number.to_string()))
            }
            place if place == bytes => json!(format!("{}{number:016x}", member.as_str()?)),
            _ => respelled(member, number)?,
        };
        if under == party { self.renewed(&changed, once) } else { Some(changed) }
    }

    pub(super) fn places(&self) -> Places {
        self.resender.context.specification().places
    }
}

/// Whether a trial comes before its control, both in an order that no count of requests follows.
pub(super) fn in_no_order(trial: usize) -> [bool; 2] {
    let is_first = scattered(trial as u64) >> 63 == 0;
    [is_first, !is_first]
}

/// An address with letters in an order of cases that depends on a number, or a list of such addresses.
fn respelled(value: &Value, number: u64) -> Option<Value> {
    let bits = scattered(number);
    let cased = |(place, letter): (usize, char)| match bits >> (place % 61) & 1 {
        _ if place < 2 => letter,
        0 => letter.to_ascii_lowercase(),
        _ => letter.to_ascii_uppercase(),
    };
    match value {
        Value::String(text) => Some(text.chars().enumerate().map(cased).collect::<String>().into()),
        Value::Array(items) => {
            let items = items.iter().map(|item| respelled(item, number));
            items.collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        _ => None,
    }
}
