//! Replaying a finding: sends its requests again, as often and in such circumstances that a rule which is still broken shows it, and
//! judges the answers by the rule.
//!
//! The requests are sent as they were and, in turns, as new ones: with ids and nonces that the target has not seen. Where the finding
//! needs no other requests in flight, each pair of tries has a new connection, and where nothing was wrong, both are sent once more after
//! ordinary calls about the same: a target that was started anew has forgotten what a run had asked before. Where no cause is known, they
//! are sent once more after the requests of a whole run, if these cost nobody money. A finding that needs other requests in flight has those
//! of a whole run with it, and every answer is judged: the share is one of all answers of a run.
//!
//! Where later answers are compared with the first results of a target, such as its first quotes, new ones are asked for before.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, stream};
use paymaster_client::{pace::Pace, stop::Stop};
use paymaster_engine::cases::{Group, Member, Plan, WHOLE_FROM, keeps_idle};
use paymaster_engine::diagnosis::{Key, without_indices};
use paymaster_engine::json::amount;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::rules::{Rule, Violation};
use paymaster_engine::session::{Original, Recheck, Replayed};
use paymaster_engine::specification::{Places, Specification};
use paymaster_engine::spending::SpendingLimits;
use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;
use paymaster_settings::Settings;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::run::sending::{Chain, DeliveryError, Sender, Sponsorships, limits_of};

/// The most requests for one finding.
const MOST_REQUESTS: usize = 10_000;

const BOUND_REACHED: &str = "the bound of requests was reached";

/// For how long at least requests are sent that broke the rule now and then: the second in which they come may decide. Where no cause is known, a
/// longer time may.
const SPREAD: Duration = Duration::from_millis(2_200);
const SPREAD_WITHOUT_CAUSE: Duration = Duration::from_secs(8);
/// How often in this time the requests of a finding without a cause are sent after those of a run.
const SENT_LATER: u32 = 16;

/// How many groups of a run are sent over one connection, before the requests of a finding without a cause: some servers fail after many.
const OVER_ONE_CONNECTION: usize = 300;

/// How many groups of a run follow each copy of the finding's.
const COPY_EVERY: usize = 8;

/// The most time for one finding.
const LONGEST: Duration = Duration::from_mins(1);

/// How many calls of each method and mode show whether the target serves any, and are sent before the requests of a finding.
const CONTROLS: u32 = 2;

/// How many calls show what later answers are compared with.
const FIRST_RESULTS: u32 = 24;

/// What replaying a finding shows.
#[derive(Clone, Debug)]
pub enum ReplayOutcome {
    /// The rule held in this many tries. One that is still broken as often as before holds in them with a probability of at most 1 %.
    Fixed(u32),
    /// The rule is broken.
    StillThere(Violation),
    /// The rule was not seen broken, and that does not show that it holds.
    NotProved {
        /// Why it does not.
        reason: String,
        /// The answer that the rule could not be judged by, where there is one.
        answer: Option<Box<Exchange>>,
    },
    /// The target could not be tested, for this reason.
    CouldNotTest(String),
}

/// A way of sending the requests of a finding, and what it has shown.
#[derive(Default)]
struct Way {
    is_new: bool,
    held: u32,
    held_for_refusals: u32,
    unjudged: u32,
    /// Why the last unjudged answers could not be judged, and the answer.
    unproved: Option<(String, Option<Box<Exchange>>)>,
}

/// The search for a violation of one finding.
struct Search<'a> {
    sender: Sender,
    rule: &'static Rule,
    recheck: Recheck<'a>,
    finding: &'a Original,
    group: &'a Group,
    context: &'a dyn Knowledge,
    needed: u32,
    /// Whether the requests broke the rule now and then: how many requests came over a connection may decide.
    is_partial: bool,
    /// Whether the requests of a whole run may be sent: they cost nobody money.
    may_send_a_run: bool,
    ways: Vec<Way>,
    /// How many answers of a run the rule judged and held for.
    held_in_company: Cell<u32>,
    /// Why the target could not be tested in the last such try.
    untested: Option<String>,
}

/// Sends the requests of a finding again and judges the answers by its rule, within a bound of requests and time.
pub async fn replay(
    settings: &Settings,
    chain: Option<Chain>,
    rule: &'static Rule,
    group: &Group,
    finding: &Original,
    context: &dyn Knowledge,
    stop: &Stop,
) -> ReplayOutcome {
    if keeps_idle(group.relation) && settings.args.idle.is_none() {
        let cause = "its connection must be idle before the request: repeat it with --idle, as in the run";
        return ReplayOutcome::CouldNotTest(cause.to_owned());
    }
    let ends = Instant::now() + settings.args.time_limit().min(LONGEST);
    // Pauses are made and not reported: there is no receiver.
    let (jobs, pace) =
        (finding.circumstances.connections, Pace::new(settings.args.rate, settings.args.max_requests, ends));
    let unlimited = Sponsorships::new(context.specification(), SpendingLimits::default());
    let (mut sender, _) = Sender::new(settings.transport.clone(), stop.clone(), pace, jobs, unlimited);
    sender.chain = chain.map(|chain| chain.with_bundler(context.bundler()));
    (sender.checks, sender.idle_time) = (false, settings.args.idle.unwrap_or_default());
    let shown_now = tokio::time::timeout_at(ends, first_results_of_now(&sender, context, group)).await;
    let shown_now = shown_now.ok().flatten();
    let (shown_now, calls) = shown_now.unzip();
    let context = shown_now.as_deref().unwrap_or(context);
    let is_partial = finding.share.broken < finding.share.judged;
    let ways = [false, true]
        .into_iter()
        .filter(|is_new| !is_new || renewed_for(group, finding, context.specification()).is_some());
    let mut search = Search {
        sender,
        rule,
        recheck: Recheck::new(rule, context),
        finding,
        group,
        context,
        needed: finding.share.tries() * if is_partial { 2 } else { 1 },
        is_partial,
        may_send_a_run: limits_of(settings) == SpendingLimits::default(),
        ways: ways.map(|is_new| Way { is_new, ..Way::default() }).collect(),
        held_in_company: Cell::default(),
        untested: None,
    };
    if let Some(violation) = search.broken_between(&calls.unwrap_or_default()) {
        return ReplayOutcome::StillThere(violation);
    }
    let ended = tokio::select! {
        biased;
        () = stop.stopped() => Err(ended(stop)),
        () = tokio::time::sleep_until(ends) => Err("the time limit was reached".to_owned()),
        ended = search.run() => ended,
    };
    match ended {
        Ok(conclusion) => conclusion,
        Err(cause) => search.cut_short(cause),
    }
}

impl Way {
    fn has_ended(&self, needed: u32) -> bool {
        let judged = self.held + self.held_for_refusals;
        judged >= needed || self.unjudged > judged
    }
}

impl Search<'_> {
    /// Sends rounds of requests until each way of sending them has shown what it can. The error says what ended the search before.
    async fn run_alone(&mut self) -> Result<ReplayOutcome, String> {
        for number in 0.. {
            let round = self.round(number);
            if round.is_empty() {
                break;
            }
            let requests: usize = round.iter().map(|(_, group)| group.members.len()).sum();
            if self.sender.pace.sent() + requests > MOST_REQUESTS {
                return Err(BOUND_REACHED.to_owned());
            }
            // The second half of the tries goes over one connection.
            if !(self.is_partial && self.ways.iter().all(|way| way.held >= self.needed / 2)) {
                self.sender.close_idle();
            }
            // In no order: every second round could be in step with the target too.
            let is_due = scattered(number as u64) % 2 == 1;
            if self.is_partial && self.group.members.len() > 1 && is_due {
                self.deliver(&self.wrong_request_alone()).await?;
            }
            let spread = if self.finding.cause.is_none() { SPREAD_WITHOUT_CAUSE } else { SPREAD };
            let ways = self.ways.iter().filter(|way| !way.has_ended(self.needed)).count();
            let pause = spread / self.needed / u32::try_from(ways).unwrap_or(1).max(1);
            for (way, group) in round {
                if self.is_partial {
                    tokio::time::sleep(pause).await;
                }
                let exchanges = self.deliver(&group).await?;
                if let Some(outcome) = self.judge(way, &group, &exchanges) {
                    return Ok(outcome);
                }
            }
        }
        match self.conclusion().await {
            ReplayOutcome::Fixed(tries) => {
                if let Some(broken) = self.after_ordinary_calls().await? {
                    return Ok(broken);
                }
                // What the target keeps of any other request may decide; where the tries showed it now and then, how many requests came over the
                // connection.
                let may_depend = self.finding.cause.is_none() || self.finding.shown_by_a_run;
                let is_whole = may_depend && self.may_send_a_run;
                let is_over_one = (may_depend || self.is_partial) && self.may_send_a_run;
                Ok(self.after_runs([is_whole, is_over_one]).await?.unwrap_or(ReplayOutcome::Fixed(tries)))
            }
            conclusion => Ok(conclusion),
        }
    }

    /// Sends the requests once more after a whole run, and after many groups of one over one connection, each where it is due. Gives a
    /// conclusion where that breaks the rule.
    async fn after_runs(&mut self, is_due: [bool; 2]) -> Result<Option<ReplayOutcome>, String> {
        let runs = [(self.finding.circumstances.connections, usize::MAX), (1, OVER_ONE_CONNECTION)];
        for ((in_flight, most), _) in runs.into_iter().zip(is_due).filter(|(_, is_due)| *is_due) {
            self.sender.close_idle();
            {
                let plan = Plan::new(self.context, unseen_number(), WHOLE_FROM).take(most);
                let sending = stream::iter(plan).map(async |group| self.deliver(&group).await);
                let mut sending = pin!(sending.buffered(in_flight));
                while let Some(exchanges) = sending.next().await {
                    exchanges?;
                }
            }
            for way in 0..self.ways.len() {
                let group = self.group_of(way);
                let exchanges = self.deliver(&group).await?;
                if let Some(outcome) = self.judge(way, &group, &exchanges) {
                    return Ok(Some(outcome));
                }
            }
        }
        Ok(None)
    }

    /// Sends the requests once more after ordinary calls of every method with the same subject. Gives a conclusion where that breaks the rule.
    async fn after_ordinary_calls(&mut self) -> Result<Option<ReplayOutcome>, String> {
        let specification = self.context.specification();
        let subject = specification.places.subject;
        for way in 0..self.ways.len() {
            let group = self.group_of(way);
            let body = group
                .members
                .get(self.finding.member)
                .map(|member| serde_json::from_slice::<Value>(&member.body));
            let Some(own) = body.and_then(Result::ok).and_then(|body| body.pointer(subject).cloned()) else {
                continue;
            };
            for mut call in Plan::of(&[specification.calls], self.context, unseen_number(), CONTROLS) {
                let is_of_the_kind = |own: Kind| call.pair.is_some_and(|of| of.selector == own.selector);
                let Some(member) =
                    call.members.first_mut().filter(|_| group.pair.is_some_and(is_of_the_kind))
                else {
                    continue;
                };
                let Ok(mut body) = serde_json::from_slice::<Value>(&member.body) else { continue };
                if let Some(place) = body.pointer_mut(subject) {
                    place.clone_from(&own);
                    member.body = body.to_string().into();
                    self.deliver(&call).await?;
                }
            }
            let exchanges = self.deliver(&group).await?;
            if let Some(outcome) = self.judge(way, &group, &exchanges) {
                return Ok(Some(outcome));
            }
        }
        Ok(None)
    }

    /// Sends the requests alone where they break the rule alone, and else within those of a whole run.
    async fn run(&mut self) -> Result<ReplayOutcome, String> {
        let in_flight = self.finding.circumstances.in_flight;
        if in_flight <= 1 {
            return self.run_alone().await;
        }
        let own = self.deliver(self.group).await?;
        match self.recheck.replayed(self.group, &own, self.finding) {
            Replayed::Broken(violation) => return Ok(ReplayOutcome::StillThere(violation)),
            Replayed::NotTested(cause) => return Ok(ReplayOutcome::CouldNotTest(cause)),
            _ => {}
        }
        let key = self.key();
        while self.tries() < self.needed {
            let sending = stream::iter(self.plan()).map(async |group| (self.deliver(&group).await, group));
            let mut sending = pin!(sending.buffered(in_flight));
            while let Some((exchanges, group)) = sending.next().await {
                let exchanges = exchanges?;
                if let Some(violation) = self.recheck.violation_at(&key, &group, &exchanges) {
                    return Ok(ReplayOutcome::StillThere(violation));
                }
                let held = u32::try_from(self.recheck.held(&group, &exchanges)).unwrap_or(u32::MAX);
                self.held_in_company.set(self.tries().saturating_add(held));
                if self.sender.pace.sent() > MOST_REQUESTS {
                    return Err(BOUND_REACHED.to_owned());
                }
            }
        }
        for _ in 0..if self.finding.cause.is_none() { SENT_LATER } else { 0 } {
            tokio::time::sleep(SPREAD_WITHOUT_CAUSE / SENT_LATER).await;
            let group = self.new_group();
            let exchanges = self.deliver(&group).await?;
            if let Some(violation) = self.recheck.violation_at(&key, &group, &exchanges) {
                return Ok(ReplayOutcome::StillThere(violation));
            }
        }
        if !self.serves_others().await {
            return Ok(not_proved("the target refuses ordinary requests"));
        }
        Ok(self
            .after_runs([self.finding.cause.is_none(); 2])
            .await?
            .unwrap_or(ReplayOutcome::Fixed(self.tries())))
    }

    /// How the rule is broken between calls, where it is broken by comparing them: what later answers are compared with may be wrong as before.
    fn broken_between(&self, calls: &[(Group, Vec<Exchange>)]) -> Option<Violation> {
        let (_, with_first_results) = self.context.specification().first_results?;
        let (key, without) = (self.key(), with_first_results(self.context, &[]));
        let alone = Recheck::new(self.rule, &*without);
        calls.iter().find_map(|(group, exchanges)| {
            let violation = self.recheck.violation_at(&key, group, exchanges)?;
            // What is wrong in one call alone may be another defect.
            alone.violation_at(&key, group, exchanges).is_none().then_some(violation)
        })
    }

    /// The place of the finding.
    fn key(&self) -> Key {
        let member = self.group.members.get(self.finding.member);
        let specification = self.context.specification();
        Key {
            rule: self.rule.id,
            pair: member.and_then(|member| ParsedRequest::of(&member.body, specification).pair()),
            pointer: without_indices(&self.finding.pointer),
        }
    }

    /// The requests of a run, and between them those of the finding.
    fn plan(&self) -> Vec<Group> {
        let plan = Plan::new(self.context, unseen_number(), WHOLE_FROM).enumerate();
        plan.flat_map(|(number, group)| {
            let copy = (number % COPY_EVERY == 0).then(|| self.new_group());
            copy.into_iter().chain([group])
        })
        .collect()
    }

    /// The group of the finding as new requests, as far as it can be changed.
    fn new_group(&self) -> Group {
        let new = renewed_for(self.group, self.finding, self.context.specification());
        new.unwrap_or_else(|| self.group.clone())
    }

    /// The request that broke the rule, as a new one without the others of its group. A target that answers every n-th request otherwise, as a
    /// balancer with n machines does, meets the same request of each group every time, until there is one request more.
    fn wrong_request_alone(&self) -> Group {
        let mut group = self.new_group();
        let member = self.finding.member.min(group.members.len().saturating_sub(1));
        group.members = group.members.drain(member..).take(1).collect();
        group
    }

    /// The group to send in this way.
    fn group_of(&self, way: usize) -> Group {
        if self.ways[way].is_new { self.new_group() } else { self.group.clone() }
    }

    async fn deliver(&self, group: &Group) -> Result<Vec<Exchange>, String> {
        self.sender.deliver(group).await.map_err(|cause| match cause {
            DeliveryError::Stopped => ended(&self.sender.stop),
            cause => cause.to_string(),
        })
    }

    /// The groups to send alone, over one connection: each with its way of sending.
    fn round(&self, number: usize) -> Vec<(usize, Group)> {
        let mut ways: Vec<usize> = (0..self.ways.len()).collect();
        ways.retain(|way| !self.ways[*way].has_ended(self.needed));
        if ways.is_empty() {
            return Vec::new();
        }
        // Each way is the first one on a connection in every other round.
        let first = number % ways.len();
        ways.rotate_left(first);
        ways.iter().cycle().take(2).map(|way| (*way, self.group_of(*way))).collect()
    }

    /// Notes what the answers to one group show. Gives a conclusion where they decide.
    fn judge(&mut self, way: usize, group: &Group, exchanges: &[Exchange]) -> Option<ReplayOutcome> {
        let replayed = self.recheck.replayed(group, exchanges, self.finding);
        let way = &mut self.ways[way];
        let mut unproved = |reason: String, member: usize| {
            way.unproved = Some((reason, exchanges.get(member).cloned().map(Box::new)));
        };
        match replayed {
            Replayed::Broken(violation) => return Some(ReplayOutcome::StillThere(violation)),
            Replayed::NotTested(cause) => {
                self.untested = Some(cause);
                way.unjudged += 1;
            }
            Replayed::Held => way.held += 1,
            Replayed::HeldForRefusal => {
                unproved(
                    "the request got a result when it broke the rule, and is refused now".to_owned(),
                    self.finding.member,
                );
                way.held_for_refusals += 1;
            }
            Replayed::NotServed(earlier) => {
                let place = earlier + 1;
                unproved(
                    format!("request {place}, which comes before, was served in the run and is refused now"),
                    earlier,
                );
                way.unjudged += 1;
            }
            Replayed::NotJudged => {
                unproved("the rule does not judge such an answer".to_owned(), self.finding.member);
                way.unjudged += 1;
            }
        }
        None
    }

    /// What all tries show. Nothing was seen broken.
    async fn conclusion(&mut self) -> ReplayOutcome {
        let needed = self.needed;
        let tries = self.tries();
        if let Some(cause) = self.untested.take().filter(|_| tries == 0) {
            return ReplayOutcome::CouldNotTest(cause);
        }
        let shown = |way: &Way| way.held_for_refusals == 0 && way.held >= needed;
        // New requests are others: without a known cause, they show nothing about those of the finding.
        let is_shown =
            self.ways.iter().any(|way| shown(way) && (!way.is_new || self.finding.cause.is_some()));
        let is_refused = |way: &Way| way.held + way.held_for_refusals >= needed;
        if is_shown || self.ways.iter().all(is_refused) && self.serves_others().await {
            // The requests of a run follow.
            let is_shown_later = self.finding.shown_by_a_run && self.may_send_a_run;
            return if self.finding.of_sent_values && !is_shown_later {
                not_proved(
                    "in the run, other requests of this kind were answered rightly, and it is not known that the request alone decides: what was \
                     sent before may, and a replay does not send it. Check the target again",
                )
            } else {
                ReplayOutcome::Fixed(tries)
            };
        }
        let unproved = self.ways.iter_mut().find_map(|way| way.unproved.take());
        let (reason, answer) = unproved.unwrap_or_default();
        ReplayOutcome::NotProved { reason, answer }
    }

    /// Whether the target serves an ordinary request of the same method and mode.
    async fn serves_others(&self) -> bool {
        let calls = self.context.specification().calls;
        for call in Plan::of(&[calls], self.context, unseen_number(), CONTROLS) {
            if self.group.pair.is_none_or(|pair| call.pair == Some(pair))
                && let Ok(exchanges) = self.sender.deliver(&call).await
                && exchanges.iter().any(|exchange| Answer::of(exchange).result().is_some())
            {
                return true;
            }
        }
        false
    }

    /// What a search shows that ended before its last try.
    fn cut_short(&self, cause: String) -> ReplayOutcome {
        let held = self.tries();
        if held == 0 {
            return ReplayOutcome::CouldNotTest(cause);
        }
        let ways = if self.finding.circumstances.in_flight > 1 { 1 } else { self.ways.len() };
        let needed = self.needed as usize * ways;
        if held as usize >= needed {
            return not_proved(&format!("{cause} before the requests were sent once more after others"));
        }
        not_proved(&format!("{cause}: the rule held {held} times, and 99 % needs {needed}"))
    }

    /// How often the rule held.
    fn tries(&self) -> u32 {
        let of_way = |way: &Way| way.held + way.held_for_refusals;
        self.held_in_company.get() + self.ways.iter().map(of_way).sum::<u32>()
    }
}

/// What is known of the target, with what its answers are compared with as it shows that now: what it showed in the run may have been wrong.
/// With the calls that show it. None where it shows nothing.
async fn first_results_of_now(
    sender: &Sender,
    context: &dyn Knowledge,
    group: &Group,
) -> Option<(Arc<dyn Knowledge>, Vec<(Group, Vec<Exchange>)>)> {
    let specification = context.specification();
    let (kind, with_first_results) = specification.first_results?;
    let mut sent = Vec::new();
    let relations = [specification.calls];
    let plan = Plan::of(&relations, context, unseen_number(), FIRST_RESULTS);
    let mut calls: Vec<Group> = plan.filter(|call| call.pair == Some(kind)).collect();
    let for_each = calls.first().map(|call| calls_for_each_element(group, call, specification));
    calls.extend(for_each.into_iter().flatten());
    for call in calls {
        let exchanges = sender.deliver(&call).await.ok()?;
        sent.push((call, exchanges));
    }
    let exchanges = sent.iter().flat_map(|(_, exchanges)| exchanges);
    let answers: Vec<_> = exchanges.map(|exchange| (Answer::of(exchange), exchange.received)).collect();
    let results: Vec<_> =
        answers.iter().filter_map(|(answer, received)| Some((answer.result()?, *received))).collect();
    let shown = (!results.is_empty()).then(|| with_first_results(context, &results))?;
    drop(results);
    drop(answers);
    Some((shown, sent))
}

/// The requests of a finding with each element of their lists alone, as calls like this one: what is shown for one of several things may be
/// wrong as before, and what is shown for it alone another value.
fn calls_for_each_element(group: &Group, call: &Group, specification: &Specification) -> Vec<Group> {
    let Some(member) = call.members.first() else { return Vec::new() };
    let mut calls = Vec::new();
    for body in group.members.iter().filter_map(|member| serde_json::from_slice::<Value>(&member.body).ok()) {
        for pointer in specification.places.kept_under {
            let elements = body.pointer(pointer).and_then(Value::as_array);
            for element in elements.filter(|elements| elements.len() > 1).into_iter().flatten() {
                let mut body = body.clone();
                if let Some(list) = body.pointer_mut(pointer) {
                    *list = json!([element]);
                }
                let member = Member { body: body.to_string().into(), ..member.clone() };
                calls.push(Group { members: vec![member], ..call.clone() });
            }
        }
    }
    calls.truncate(FIRST_RESULTS as usize);
    calls
}

fn not_proved(reason: &str) -> ReplayOutcome {
    ReplayOutcome::NotProved { reason: reason.to_owned(), answer: None }
}

/// The group of a finding as new requests: the members that decide stay as they are. The sender is another one where the nonce decides, or
/// earlier requests matter.
fn renewed_for(group: &Group, finding: &Original, specification: &Specification) -> Option<Group> {
    let is_kept = |pointer: &str| {
        let decides = |member: &String| member.starts_with(pointer) || pointer.starts_with(member);
        finding.cause.iter().flatten().any(decides) || finding.pointer.starts_with(pointer)
    };
    // A target may count the requests of a sender.
    let renews_party =
        is_kept(specification.places.once) || finding.circumstances.earlier > 0 || finding.of_an_unseen_party;
    renewed(group, &is_kept, renews_party, specification)
}

/// The group with ids and nonces that the target has not seen, and senders where these are renewed too. Values that are equal stay equal.
/// None where no request of the group can be changed.
pub(crate) fn renewed(
    group: &Group,
    is_kept: &dyn Fn(&str) -> bool,
    renews_party: bool,
    specification: &Specification,
) -> Option<Group> {
    const ID: &str = "/id";
    let Places { once, party, .. } = specification.places;
    let mut new = BTreeMap::new();
    let mut changed = group.clone();
    for member in &mut changed.members {
        let Ok(mut body) = serde_json::from_slice::<Value>(&member.body) else { continue };
        // In a body with other white space, these values cannot be replaced alone. New values in the other bodies only would make the requests
        // differ in more than they did.
        if body.to_string().as_bytes() != &*member.body {
            return None;
        }
        let requests = match &mut body {
            Value::Array(batch) => batch.as_mut_slice(),
            single => std::slice::from_mut(single),
        };
        for request in requests {
            for pointer in [ID, once, party] {
                if pointer == party && !renews_party {
                    continue;
                }
                let Some(value) = request.pointer_mut(pointer).filter(|_| !is_kept(pointer)) else {
                    continue;
                };
                // In another notation or letter case it is the same amount or address.
                let Some(own) = amount(value) else { continue };
                let number = *new.entry((pointer, own)).or_insert_with(unseen_number);
                if let Some(now) = written_like(value, pointer == party, number) {
                    *value = now;
                }
            }
        }
        member.body = body.to_string().into();
    }
    (!new.is_empty()).then_some(changed)
}

/// A number in the form of a value; none for a value without an ordinary form.
pub(crate) fn written_like(value: &Value, is_address: bool, number: u64) -> Option<Value> {
    match value {
        Value::Number(_) => Some(number.into()),
        Value::String(_) if is_address => Some(json!(format!("0x{number:040x}"))),
        Value::String(text) if text.starts_with("0x") => Some(json!(format!("0x{number:x}"))),
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(json!(number.to_string()))
        }
        _ => None,
    }
}

/// A number below 2^53 that no request had so far, in this process or an earlier one: the milliseconds since 1970, or the next number, and lower
/// bits that follow no order.
pub(crate) fn unseen_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = u64::try_from(since.map_or(0, |time| time.as_millis())).unwrap_or_default();
    let next = |last: u64| now.max(last + 1);
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
    let number = next(last.unwrap_or_default());
    number << 12 | scattered(number) >> 52
}

/// A number of which every bit depends on the given one.
pub(crate) fn scattered(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn ended(stop: &Stop) -> String {
    stop.reason().map_or_else(|| DeliveryError::Stopped.to_string(), |reason| reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn what_a_request_asks_for_together_is_asked_for_alone() {
        let specification = sample::violations().summary.findings[0].specification;
        let known = specification.unknown();
        let call = Plan::of(&[specification.calls], &*known, 1, CONTROLS).next().unwrap();
        let asking = |list: Value| json!({"id": 1, "params": [{}, {"tokenInfo": {"tokenList": list}}]});
        let alone = |list: Value| -> Vec<Value> {
            let member = Member { body: asking(list).to_string().into(), ..call.members[0].clone() };
            let group = Group { members: vec![member], ..call.clone() };
            let calls = calls_for_each_element(&group, &call, specification);
            calls.iter().map(|call| serde_json::from_slice(&call.members[0].body).unwrap()).collect()
        };
        assert_eq!(alone(json!(["0xa", "0xb"])), [asking(json!(["0xa"])), asking(json!(["0xb"]))]);
        assert_eq!(alone(json!(["0xa"])), [Value::Null; 0]);
        assert_eq!(alone(json!(vec!["0xa"; 99])).len(), FIRST_RESULTS as usize);
    }
}
