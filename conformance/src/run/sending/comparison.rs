//! Compares requests before an excuse is believed. A status of a gateway, a rate limit or an overload excuses an answer only if it does not
//! depend on what the request means. Where every request with one value gets it, and its neighbours without that value do not, it is the
//! service's answer, and judged.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::sync::Arc;

use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::rules::is_of_gateway;
use paymaster_engine::session::without_values;
use paymaster_engine::specification::DecidingValues;
use paymaster_exchange::{Body, Exchange, RefusedValue};
use paymaster_schemas::Kind;

use crate::run::sending::{Excuse, LastRequest, OwnWords};

/// From fewer different requests with a value, nothing is concluded.
const FEWEST: usize = 3;

/// With a greater probability that chance explains the refusals, nothing is concluded.
const BY_CHANCE: f64 = 0.001;

/// What the requests of a run, and their values, got.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// What is known of the target; none where nothing is compared.
    knowledge: Option<Arc<dyn Knowledge>>,
    /// Valid requests, in the order of their answers.
    seen: Vec<Seen>,
    /// Where in `seen` the requests with a value are, in order. Those before the first refusal are entered with it: most runs see none.
    places: HashMap<u64, Vec<usize>>,
    /// How many of `seen` are in `places`.
    entered: usize,
    /// How often each value was at its member, and how many values each member had.
    known: HashMap<u64, u32>,
    new_values: BTreeMap<&'static str, usize>,
    /// Whether the exchange that was noted last had a value that none before had.
    pub(super) is_new: bool,
    /// For each value and sign that is the service's answer, the value.
    answers: BTreeMap<(Key, String), Arc<RefusedValue>>,
    /// What is known of the target's own words for limits.
    pub(super) own_words: OwnWords,
}

/// A valid request and what it got.
#[derive(Debug)]
struct Seen {
    kind: Kind,
    /// Its values, at their members and at any.
    values: Box<[u64]>,
    refused: Option<Refused>,
}

/// What requests may share: a value, among all requests or among those of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    value: u64,
    kind: Option<&'static str>,
}

/// The values of a request, with the names of their members.
type Values = Vec<(&'static str, String)>;

#[derive(Debug)]
struct Refused {
    request: u64,
    sign: String,
    /// Whether it was sent again after the pause that it asked for.
    waited: bool,
    /// Whether another request was served right afterwards; none where none was sent.
    neighbour: Option<bool>,
}

/// Which calls are read. Refusals of ordinary ones show what the answer of the service is, which then holds for any.
#[derive(Clone, Copy)]
enum Read {
    Any,
    Valid,
    Ordinary,
}

/// What is known of the requests with one value.
#[derive(Default)]
struct OfValue {
    /// Different requests that were refused, and those of them after which a neighbour was served.
    requests: BTreeSet<u64>,
    compared: BTreeSet<u64>,
    waited: bool,
    /// How many neighbours were served and refused since the first of them.
    neighbours: [u32; 2],
}

impl Comparison {
    /// Compares requests from now on, by what is known of the target.
    pub(crate) fn knowing(&mut self, knowledge: Arc<dyn Knowledge>) {
        self.knowledge = Some(knowledge);
    }

    /// Whether requests are compared.
    pub(super) fn is_active(&self) -> bool {
        self.knowledge.is_some()
    }

    /// What an exchange may be excused by: the status, and the words of an error; none where it is an answer of the service, or there is none.
    pub(super) fn sign(&self, exchange: &Exchange) -> Option<String> {
        let status = exchange.outcome.as_ref().ok()?.status;
        let words = Excuse::of(exchange, &self.own_words).sign;
        let is_excused = !words.is_empty() || is_of_gateway(status) && !Answer::of(exchange).is_json_rpc();
        is_excused.then(|| format!("{status} {}", without_values(&words)))
    }

    /// The value for which alone requests get what came for this one; none where it may have another reason.
    pub(crate) fn value(&self, exchange: &Exchange) -> Option<Arc<RefusedValue>> {
        if self.answers.is_empty() {
            return None;
        }
        let sign = self.sign(exchange)?;
        let (kind, values) = self.read(&exchange.request, Read::Any)?;
        let mut keys = values.iter().flat_map(|(name, value)| keys(kind, name, value));
        keys.find_map(|key| self.answers.get(&(key, sign.clone())).cloned())
    }

    /// Those of these requests that had a value which none before had, at the member whose values are new most seldom.
    pub(super) fn with_new_value(&self, requests: &[LastRequest]) -> Vec<LastRequest> {
        let times = |name: &str| self.new_values.get(name).copied().unwrap_or_default();
        let rarest = |request: &LastRequest| {
            let values = self.read(&request.group.members.first()?.body, Read::Any)?.1.into_iter();
            let is_new = |name: &str, value: &str| {
                let is_known = self.known.get(&at_its_member_and_any(name, value)[0]);
                // What was answered is known by itself.
                is_known.copied().unwrap_or_default() == u32::from(request.answer.is_some())
            };
            let new = values.filter(|(name, value)| is_new(name, value));
            new.map(|(name, _)| times(name) + usize::from(request.answer.is_none())).min()
        };
        let least = requests.iter().filter_map(rarest).min();
        requests.iter().filter(|request| least.is_some() && rarest(request) == least).cloned().collect()
    }

    /// Notes an exchange. `waited` says whether it is a repetition after the pause that the target asked for.
    pub(super) fn note(&mut self, exchange: &Exchange, waited: bool) {
        self.is_new = false;
        if self.knowledge.is_none() || exchange.outcome.is_err() {
            return;
        }
        let sign = self.sign(exchange);
        let which = if sign.is_none() { Read::Valid } else { Read::Ordinary };
        if sign.is_some() && exchange.sent_as.is_some() {
            return;
        }
        let hashed = |kind, values: DecidingValues<'_>| {
            let values = values.iter().map(|(name, value)| (*name, at_its_member_and_any(name, value)));
            (kind, values.collect::<Vec<_>>())
        };
        if let Some((kind, values)) = self.read_as(&exchange.request, which, hashed) {
            for (name, [at_member, _]) in &values {
                let known = self.known.entry(*at_member).or_default();
                *known = known.saturating_add(1);
                *self.new_values.entry(name).or_default() += usize::from(*known == 1);
                self.is_new |= *known == 1;
            }
            let mut values: Vec<u64> = values.into_iter().flat_map(|(_, hashes)| hashes).collect();
            values.sort_unstable();
            values.dedup();
            let refused =
                sign.map(|sign| Refused { request: hash(&*exchange.request), sign, waited, neighbour: None });
            self.seen.push(Seen { kind, values: values.into(), refused });
        }
        if self.seen.last().is_some_and(|seen| seen.refused.is_some()) || self.entered > 0 {
            for (place, seen) in self.seen.iter().enumerate().skip(self.entered) {
                for value in &seen.values {
                    self.places.entry(*value).or_default().push(place);
                }
            }
            self.entered = self.seen.len();
        }
    }

    /// Whether a neighbour of this refused request is worth a request: other requests with one of its values were refused too, and none
    /// was served.
    pub(super) fn is_suspect(&self, exchange: &Exchange) -> bool {
        let is_refused = |of_value: OfValue| of_value.requests.len() >= 2;
        self.value(exchange).is_none() && self.most_refused(exchange, false).is_some_and(is_refused)
    }

    /// Whether waiting shows nothing more: such a request was refused again after a pause, while its neighbours were served. One that was
    /// served before has a quota.
    pub(super) fn has_waited(&self, exchange: &Exchange) -> bool {
        self.most_refused(exchange, true).is_some_and(|of_value| {
            let [served, refused] = of_value.neighbours;
            of_value.waited && of_value.compared.len() >= 2 && served > refused
        })
    }

    fn most_refused(&self, exchange: &Exchange, since_refused: bool) -> Option<OfValue> {
        self.knowledge.as_ref()?;
        let sign = self.sign(exchange)?;
        let (kind, values) = self.read(&exchange.request, Read::Any)?;
        let keys = values.iter().flat_map(|(name, value)| keys(kind, name, value));
        keys.filter_map(|key| self.of_value(key, &sign, since_refused))
            .max_by_key(|of_value| (of_value.compared.len(), of_value.requests.len()))
    }

    /// Notes whether another request was served right after this one was refused, and concludes what follows.
    pub(super) fn note_neighbour(&mut self, exchange: &Exchange, is_served: bool) {
        let request = hash(&*exchange.request);
        let last = self.seen.iter_mut().rev().filter_map(|seen| seen.refused.as_mut());
        let Some(refused) = last.into_iter().find(|refused| refused.request == request) else { return };
        refused.neighbour = Some(is_served);
        let sign = refused.sign.clone();
        let Some((kind, values)) = self.read(&exchange.request, Read::Ordinary).filter(|_| is_served) else {
            return;
        };
        let must_wait = Excuse::of(exchange, &self.own_words).limit.is_some();
        let has_sign = |seen: &&Seen| seen.refused.as_ref().is_some_and(|refused| refused.sign == sign);
        let of_sign = self.seen.iter().filter(has_sign);
        let each = of_sign.flat_map(|seen| seen.values.iter().map(|value| (*value, seen.kind.name)));
        let (of_kinds, of_all): (BTreeSet<_>, BTreeSet<_>) = each.map(|each| (each, each.0)).unzip();
        let tried = u32::try_from(of_kinds.len() + of_all.len()).map_or(f64::MAX, f64::from);
        let mut best: Option<(usize, Key, RefusedValue)> = None;
        for (way, (name, value)) in (0..4).flat_map(|way| values.iter().map(move |own| (way, own))) {
            let key = keys(kind, name, value)[way];
            let Some(of_value) = self.of_value(key, &sign, false) else { continue };
            let times = of_value.compared.len();
            let is_certain = times >= FEWEST
                && (of_value.waited || !must_wait)
                && !self.may_be_quota(key, times)
                && of_value.chance(times) * tried < BY_CHANCE;
            if is_certain && best.as_ref().is_none_or(|(most, ..)| times > *most) {
                let member = (way == 0).then(|| (*name, value.clone()));
                best = Some((times, key, RefusedValue { member }));
            }
        }
        if let Some((_, key, value)) = best {
            self.answers.insert((key, sign), value.into());
        }
    }

    /// Where in `seen` the requests of a key are, in order.
    fn places(&self, key: Key) -> impl Iterator<Item = usize> + '_ {
        let of_value = self.places.get(&key.value).into_iter().flatten().copied();
        of_value.filter(move |place| key.kind.is_none_or(|kind| self.seen[*place].kind.name == kind))
    }

    /// What the requests with this value got, all or those since the first of them was refused; none where one was served, or got anything
    /// but the sign.
    fn of_value(&self, key: Key, sign: &str, since_refused: bool) -> Option<OfValue> {
        let is_before = |place: &usize| since_refused && self.seen[*place].refused.is_none();
        let places: Vec<usize> = self.places(key).skip_while(is_before).collect();
        let mut of_value = OfValue::default();
        let mut kinds = BTreeSet::new();
        for place in &places {
            let seen = &self.seen[*place];
            let refused = seen.refused.as_ref().filter(|refused| refused.sign == sign)?;
            kinds.insert(seen.kind);
            of_value.requests.insert(refused.request);
            of_value.waited |= refused.waited;
            if refused.neighbour == Some(true) {
                of_value.compared.insert(refused.request);
            }
        }
        // A neighbour differs in little: it has the same kind, unless every request of that kind has the value.
        let of_kinds = self.seen.iter().filter(|seen| kinds.contains(&seen.kind));
        let has_near = of_kinds.count() > places.len();
        let since = self.seen.iter().enumerate().skip(*places.first()?);
        for (_, seen) in since.filter(|(place, _)| places.binary_search(place).is_err()) {
            match &seen.refused {
                _ if has_near && !kinds.contains(&seen.kind) => {}
                None => of_value.neighbours[0] += 1,
                Some(refused) if refused.sign == sign => of_value.neighbours[1] += 1,
                Some(_) => {}
            }
        }
        Some(of_value)
    }

    /// Whether requests with a value may be refused in one kind because of a quota: they were served in others before, and are so seldom since.
    fn may_be_quota(&self, key: Key, times: usize) -> bool {
        if key.kind.is_none() {
            return false;
        }
        let first = self.places(key).next().unwrap_or(0);
        let of_all = self.places(Key { kind: None, ..key });
        let served = of_all.filter(|place| self.seen[*place].refused.is_none());
        let (before, since): (Vec<usize>, Vec<usize>) = served.partition(|place| *place < first);
        !before.is_empty() && since.len() < times
    }

    /// The kind and the values of a request of this sort.
    fn read(&self, body: &Body, which: Read) -> Option<(Kind, Values)> {
        self.read_as(body, which, |kind, values| {
            (kind, values.into_iter().map(|(name, value)| (name, value.into_owned())).collect())
        })
    }

    fn read_as<T>(
        &self,
        body: &Body,
        which: Read,
        form: impl FnOnce(Kind, DecidingValues<'_>) -> T,
    ) -> Option<T> {
        let knowledge = self.knowledge.as_ref()?;
        let specification = knowledge.specification();
        let request = ParsedRequest::read(body, specification);
        let ParsedRequest::Call(call) = &*request else { return None };
        let is_ordinary = || {
            let requirement = knowledge.requirement(call);
            requirement.within_tables && requirement.beyond.is_none()
        };
        let is_shown = || (specification.shows_answer)(call);
        let is_read = match which {
            Read::Any => true,
            Read::Valid => call.valid || is_shown(),
            Read::Ordinary => call.valid && is_ordinary() || is_shown(),
        };
        is_read.then(|| form(call.pair, (specification.deciding)(call)))
    }
}

impl OfValue {
    /// The probability that so many requests are refused by chance, by the share of refusals among the neighbours.
    fn chance(&self, times: usize) -> f64 {
        let [served, refused] = self.neighbours;
        let share = f64::from(refused + 1) / f64::from(served + refused + 2);
        share.powi(i32::try_from(times).unwrap_or(i32::MAX))
    }
}

/// A value at its member, and at any.
fn at_its_member_and_any(name: &str, value: &str) -> [u64; 2] {
    let lower = value.to_ascii_lowercase();
    [hash(&(name, &lower)), hash(&lower)]
}

/// The ways in which requests share a value, from the most general one: at this member, at any member, and the same among the requests of one
/// kind.
fn keys(kind: Kind, name: &str, value: &str) -> [Key; 4] {
    let [at_member, at_any] = at_its_member_and_any(name, value);
    let key = |value, kind| Key { value, kind };
    [key(at_member, None), key(at_any, None), key(at_member, Some(kind.name)), key(at_any, Some(kind.name))]
}

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use bytes::Bytes;
    use paymaster_engine::cases::{Group, Member, Role, plan::Plan};
    use paymaster_exchange::{Failure, Response};
    use paymaster_fee_quote::{SPECIFICATION, target::context::Context};
    use serde_json::{Value, json};

    use super::*;
    use crate::run::sending::delivery::{Attempts, Delivery, Next, Sending, Step, TargetState};

    const REFUSED: &str = "0x00000000000000000000000000000000deadbeef";

    /// What the target answers: a status, and whether Retry-After states ten seconds.
    type Answer = (u16, bool);

    const SERVED: Answer = (200, false);

    /// A run against a target that answers as a script says.
    struct Run {
        target: TargetState,
        requests: Vec<Value>,
        waited: Duration,
        sent: usize,
    }

    impl Run {
        fn new() -> Self {
            let mut target = TargetState::new("target".to_owned(), 1);
            target.comparison.knowing(SPECIFICATION.unknown());
            let groups: Vec<_> = Plan::new(&Context::default(), 1, 40).collect();
            let bodies = groups.iter().filter(|group| group.relation.id == "calls");
            let bodies = bodies.flat_map(|group| &group.members).map(|member| &member.body);
            let requests = bodies.filter_map(|body| serde_json::from_slice(body).ok());
            let valid = |request: &Value| {
                let request = ParsedRequest::of(request.to_string().as_bytes(), &SPECIFICATION);
                request.valid_call().is_some()
            };
            let requests: Vec<Value> = requests.filter(valid).collect();
            assert!(requests.len() > 60, "{}", requests.len());
            Self { target, requests, waited: Duration::ZERO, sent: 0 }
        }

        fn exchange(&mut self, body: &Bytes, script: &mut dyn FnMut(&Value, usize) -> Answer) -> Exchange {
            let (status, waits) = script(&serde_json::from_slice(body).unwrap(), self.sent);
            self.sent += 1;
            let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
            let response = Response {
                status,
                headers: waits.then(|| ("retry-after".to_owned(), "10".to_owned())).into_iter().collect(),
                body: if status == 200 { result.to_owned().into() } else { Body::default() },
            };
            Exchange::new(body.clone(), Ok(response), Duration::ZERO)
        }

        /// Sends a request until it is answered or given up. Returns the value for which alone it was refused.
        fn send(
            &mut self,
            request: &Value,
            script: &mut dyn FnMut(&Value, usize) -> Answer,
        ) -> Option<Arc<RefusedValue>> {
            let body = Bytes::from(request.to_string());
            let mut attempts = Attempts::new(Sending::Among { watched: false });
            loop {
                let exchange = self.exchange(&body, script);
                let now = SystemTime::UNIX_EPOCH;
                let mut next = attempts.after(&mut self.target, &exchange, None, now);
                while let Next::Probe(body, _) = next {
                    let probe = self.exchange(body.bytes(), script);
                    next = attempts.after(&mut self.target, &exchange, Some(&probe), now);
                }
                match next {
                    Next::Pause(pause) => self.waited += pause,
                    _ => return self.target.comparison.value(&exchange),
                }
            }
        }

        /// Every third request is one of the refused sender. Returns the values for which alone requests were refused, in words.
        fn send_all(&mut self, mut script: impl FnMut(&Value, usize) -> Answer) -> BTreeSet<String> {
            let mut requests = self.requests.clone();
            for request in requests.iter_mut().step_by(3) {
                request["params"][0]["sender"] = json!(REFUSED);
            }
            requests.rotate_left(1);
            let values = requests.iter().filter_map(|request| self.send(request, &mut script));
            let in_words = |(name, value): &(&str, String)| format!("{name} {value}");
            values
                .map(|value| value.member.as_ref().map_or_else(|| "any member".to_owned(), in_words))
                .collect()
        }
    }

    fn is_refused(request: &Value) -> bool {
        request["params"][0]["sender"] == REFUSED
    }

    fn is_token_mode(request: &Value) -> bool {
        request["params"][1]["mode"] == "ERC20"
    }

    #[test]
    fn what_comes_for_every_request_with_a_value_and_for_no_other_is_the_answer_of_the_service() {
        for answer in [(403, false), (413, false), (307, false), (504, false), (429, true), (503, true)] {
            let mut run = Run::new();
            let values = run.send_all(|request, _| if is_refused(request) { answer } else { SERVED });
            assert_eq!(values, BTreeSet::from([format!("sender {REFUSED}")]), "{answer:?}");
            let waited = Duration::from_secs(if answer.1 { 20 } else { 0 });
            assert!(run.waited <= waited, "{:?}", run.waited);
            let mut run = Run::new();
            let values = run.send_all(|request, _| if is_token_mode(request) { answer } else { SERVED });
            assert!(values.contains("mode ERC20"), "{values:?}");
        }
    }

    #[test]
    fn of_requests_without_an_answer_those_with_a_new_value_are_kept() {
        let mut run = Run::new();
        run.send_all(|_, _| SERVED);
        let any = Plan::new(&Context::default(), 1, 1).next().expect("a plan has groups");
        let group = |sender: Option<&str>| {
            let mut request = run.requests[1].clone();
            if let Some(sender) = sender {
                request["params"][0]["sender"] = json!(sender);
            }
            let members = vec![Member::plain(Role::Call, "", request.to_string())];
            Group { members, ..any.clone() }
        };
        let last = |sender| LastRequest { group: group(sender), answer: None, stamp: 0 };
        let [known, new] = [last(None), last(Some("0x00000000000000000000000000000000000000aa"))];
        let kept = |requests: &[LastRequest]| -> Vec<Body> {
            let kept = run.target.comparison.with_new_value(requests);
            kept.into_iter().map(|request| request.group.members[0].body.clone()).collect()
        };
        assert_eq!(kept(&[known.clone(), new.clone()]), [new.group.members[0].body.clone()]);
        assert_eq!(kept(&[known]).len(), 0, "it has none");
        // What was answered is known by itself.
        run.send(&serde_json::from_slice(&new.group.members[0].body).unwrap(), &mut |_, _| SERVED);
        let nothing = Exchange::new("{}", Err(Failure::Broken(String::new())), Duration::ZERO);
        let answered = LastRequest { answer: Some(nothing), ..new.clone() };
        assert_eq!(run.target.comparison.with_new_value(&[new, answered]).len(), 1);
    }

    /// A nonce is for one operation: a target that refuses some has no answer to a value that requests share.
    #[test]
    fn what_comes_for_a_nonce_is_no_answer_to_a_value() {
        let mut run = Run::new();
        let nonce = run.requests[1]["params"][0]["nonce"].clone();
        for request in run.requests.iter_mut().skip(1).step_by(3) {
            request["params"][0]["nonce"] = nonce.clone();
        }
        let mut refused = 0;
        let values = run.send_all(|request, _| {
            let is_refused = request["params"][0]["nonce"] == nonce;
            refused += usize::from(is_refused);
            if is_refused { (403, false) } else { SERVED }
        });
        assert_eq!(values, BTreeSet::new());
        assert!(refused >= run.requests.len() / 3, "{refused} of {}", run.requests.len());
    }

    /// A target may refuse what is larger than what wallets send: that says nothing of the values of the request.
    #[test]
    fn a_refused_request_counts_where_it_has_an_ordinary_size() {
        for (bytes, value) in [(1_000, Some(format!("sender {REFUSED}"))), (5_000, None)] {
            let mut run = Run::new();
            for request in run.requests.iter_mut().step_by(3) {
                request["params"][0]["callData"] = json!(format!("0x{}", "00".repeat(bytes)));
            }
            let values = run.send_all(|request, _| if is_refused(request) { (413, false) } else { SERVED });
            assert_eq!(values, value.into_iter().collect::<BTreeSet<_>>(), "{bytes} bytes");
        }
    }

    #[test]
    fn what_is_refused_among_others_and_served_alone_is_no_answer_to_a_value() {
        for status_alone in [200, 503] {
            let mut run = Run::new();
            run.target = TargetState::new("target".to_owned(), 8);
            run.target.comparison.knowing(SPECIFICATION.unknown());
            let requests = run.requests.clone();
            let served = Bytes::from(requests[8].to_string());
            let of_one_sender = requests[..8].iter().cloned().map(|mut request| {
                request["params"][0]["sender"] = json!(REFUSED);
                (Bytes::from(request.to_string()), Delivery::new(true), 503, Vec::new())
            });
            let mut in_flight: Vec<_> = of_one_sender.collect();
            let mut judged = Vec::new();
            while !in_flight.is_empty() {
                in_flight.retain_mut(|(body, delivery, status, came)| {
                    let (body, status) = match delivery.next(&mut run.target, std::mem::take(came)) {
                        Step::Done(delivered) => {
                            judged.extend(delivered.unwrap());
                            return false;
                        }
                        Step::Quiet => return true,
                        Step::Probe(..) => (&served, 200),
                        Step::Send(_) => (&*body, std::mem::replace(status, status_alone)),
                    };
                    let exchange = run.exchange(body, &mut |_, _| (status, false));
                    run.target.comparison.note(&exchange, false);
                    came.push(Ok(vec![exchange]));
                    true
                });
            }
            let is_answer = |exchange| run.target.comparison.value(exchange).is_some();
            assert_eq!(
                judged.iter().filter(|exchange| is_answer(exchange)).count(),
                if status_alone == 503 { 8 } else { 0 }
            );
        }
    }

    #[test]
    fn a_quota_is_an_excuse() {
        let mut left = 3;
        let mut run = Run::new();
        let values = run.send_all(|request, _| {
            if !is_refused(request) {
                return SERVED;
            }
            left -= 1;
            if left < 0 { (429, true) } else { SERVED }
        });
        assert_eq!(values, BTreeSet::new(), "it was served before");
        assert!(run.waited <= Duration::from_secs(20), "each further one waits in vain: {:?}", run.waited);
        for most in [10, 30, 50] {
            let mut run = Run::new();
            let values = run.send_all(|_, sent| if sent >= most { (403, false) } else { SERVED });
            assert_eq!(values, BTreeSet::new(), "every request is refused after {most}");
            let mut served = 0;
            let values = Run::new().send_all(|request, _| {
                served += u32::from(is_token_mode(request));
                if is_token_mode(request) && served > 10 { (403, false) } else { SERVED }
            });
            assert_eq!(values, BTreeSet::new(), "the mode was served before");
        }
    }

    #[test]
    fn what_ends_after_the_stated_pause_or_comes_by_chance_is_an_excuse() {
        let mut run = Run::new();
        let mut refused = BTreeSet::new();
        let values = run.send_all(|request, _| {
            if is_refused(request) && refused.insert(request.to_string()) { (429, true) } else { SERVED }
        });
        assert_eq!(values, BTreeSet::new());
        for (often, from) in [(2, 0), (3, 1), (5, 2), (20, 3)] {
            let by_chance = |_: &Value, sent: usize| {
                if (sent * 7919 + sent / 5).is_multiple_of(often) && sent > from {
                    (403, false)
                } else {
                    SERVED
                }
            };
            assert_eq!(Run::new().send_all(by_chance), BTreeSet::new(), "1 of {often}");
        }
        let for_a_while =
            |_: &Value, sent: usize| if (20..60).contains(&sent) { (502, false) } else { SERVED };
        assert_eq!(Run::new().send_all(for_a_while), BTreeSet::new());
    }
}
