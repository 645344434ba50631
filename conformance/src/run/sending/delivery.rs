//! What happens after an exchange, as two state machines that neither send nor sleep: [`Attempts`] for one request, [`Delivery`] for a group.
//! What the exchanges so far have shown is in [`TargetState`], which all groups of a run share; [`TargetState::excuse`] alone decides whether
//! an exchange has an excuse, or is the service's answer. [`super::sender`] does what they ask for.
//!
//! Before anything waits, a request that was served before is sent: [`Comparison`] decides from that whether the error has to do with a value
//! of its request, and is therefore no excuse. An error that may come from a limit that states no time is waited for, unless other requests
//! were in flight. An error that may come from an outage is followed by further such requests with growing pauses, within a bound. Where an
//! error may come from other requests in flight, the bytes of the group are sent again alone: no other request is in flight. Where the error is
//! not seen again, the run goes on with half as many requests at a time, and the group is sent again. Where it is seen again, or only one
//! request at a time is left, it is judged like every other answer.
//!
//! A rare error that has nothing to do with load may not be seen in a few tries alone either. Therefore many copies of the group are sent
//! at the same time, too. An error that no copy gets, and no other group got at the same time, is judged. Where copies get it, their share
//! decides how often the group is sent alone before the error counts as one of overload (see [`times_alone`]).
//!
//! Where several connections are closed at a time, the target may have been restarted: what was served before is sent, as in an outage, and
//! then the groups again. Where that is served at once, it was no outage that could be seen, and a run believes it twice.
//!
//! Some targets refuse connections while too many others are open. Where a connection was refused or closed without an answer, and the group
//! is answered alone, connections are opened one after the other and kept: the number that the target takes is the new limit.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, mem};

use paymaster_client::stop::Reason;
use paymaster_client::throttling::{Retries, ThrottleDecision};
use paymaster_engine::{rules::count, spending::SpendingLimits};
use paymaster_exchange::{Body, Exchange, Failure, KEPT, Response};

use crate::run::sending::{
    Comparison, Excuse, LastRequest, Limit, Liveness, NextStep, Notice, Served, errors, is_answered,
    is_of_the_request, served, words_of,
};

/// How many times connecting is tried for one request.
const CONNECT_TRIES: u32 = 3;

/// The pause before the next try to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// How many times a group whose connection is closed is sent alone after a longer pause, until that first counts as seen alone: a target under
/// load takes a while to notice which connections were closed. 1.5 s in all, with the first pause.
const PAUSES_ALONE: u32 = 4;

/// How often a group is sent alone before copies of it are sent at the same time.
const TIMES_ALONE: usize = 5;

/// How many errors are expected in the tries alone if load makes no difference. None in spite of that has a probability of `e^-5`, 0.7 %.
const EXPECTED_ALONE: usize = 5;

/// After this many groups that get an error alone too, that error is no longer taken for one of overload.
const ALONE_TOO: u32 = 3;

/// The most copies of a group that are sent at the same time.
const MOST_COPIES: usize = 32;

/// How many further connections must be refused until the number of open ones counts as the limit of the target: once may be chance.
const REFUSED_AGAIN: u32 = 2;

/// The first pause before a probe of an outage. Each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How many pauses an outage is waited for: 25.5 seconds in all.
const PAUSES: u32 = 8;

/// The same where nothing was served yet, as of a service that starts: 3.1 seconds in all.
const PAUSES_AT_START: u32 = 5;

/// So many connections that are closed while a group is sent may come from a restart.
const CLOSED_IN_RESTART: u64 = 3;

/// How many restarts that are over at once a run believes.
const RESTARTS: u32 = 2;

/// How often one group is sent again after outages.
const OUTAGES_PER_GROUP: usize = 3;

/// How long a request is waited for while another one is served.
const MOST_WAITED: Duration = Duration::from_secs(5);

/// How many requests in a row are throttled until they are given up before the run ends.
const MOST_GIVEN_UP: u32 = 3;

/// Why the requests of a group were not all answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// The run ended first.
    #[error("the run was over")]
    Stopped,
    /// The target answered 429 or 503 each time.
    #[error("the target asked to wait again and again")]
    Throttled,
    /// What the group asks the target to pay for is more than the run may still ask for.
    #[error("the run may get no more than {0} (operations.max-sponsorships, max-cost)")]
    OverBudget(SpendingLimits),
    /// No connection could be made, for this cause; nothing was sent.
    #[error("no connection: {0}")]
    Unreachable(String),
}

/// The exchanges of one group, one for each request.
pub(super) type Delivered = Result<Vec<Exchange>, DeliveryError>;

/// The overload that a run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Overload {
    /// How many requests are sent at a time from now on.
    pub(crate) jobs: usize,
    /// What the target did when more were in flight, in words.
    pub(crate) sign: String,
    /// Whether such requests had no answer: a connection is refused, reset or closed by chance.
    pub(crate) is_refused: bool,
    /// How often the limit was lowered.
    pub(crate) times: u64,
}

impl fmt::Display for Overload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at a time; with more, {}", count(self.jobs as u128, "request"), self.sign)
    }
}

/// What the exchanges of a run have shown of its target.
#[derive(Debug, Default)]
pub(crate) struct TargetState {
    /// Host and port, for messages.
    address: String,
    /// How many requests may be in flight.
    pub(super) jobs: usize,
    pub(crate) liveness: Liveness,
    /// The overload that was found; none when there was none.
    pub(crate) overload: Option<Overload>,
    /// How often each sign of overload was seen alone too.
    alone_too: BTreeMap<String, u32>,
    /// What requests with the same values got.
    pub(crate) comparison: Comparison,
    /// How many outages are over, and whether the last one lasted longer than the run waits.
    outages: u64,
    lasting_outage: bool,
    /// How many restarts were over at once.
    restarts: u32,
    /// How many connections were closed without an answer. Requests on reused ones are sent again at once, and may be answered then.
    pub(super) closed: u64,
    /// Whether any answer had no excuse, and how many requests in a row were given up since.
    is_serving: bool,
    given_up: u32,
    /// Whether the target refused connections after it had answered, until the run gave up.
    has_ended: bool,
    /// One clone for each group with an excuse that is sent alone, or waits to be.
    pub(super) with_excuse: Arc<()>,
    /// What is to be done beside the next step.
    pub(super) effects: Vec<Effect>,
}

/// What follows from an exchange for the whole run.
#[derive(Debug)]
pub(super) enum Effect {
    Report(Notice),
    /// The target refused requests for that long without a time to wait.
    SlowDown(Duration),
    EndRun(Reason),
}

impl TargetState {
    /// The state at the start of a run with that many requests in flight, against the target at this address.
    pub(super) fn new(address: String, jobs: usize) -> Self {
        Self { address, jobs, ..Self::default() }
    }

    /// The excuse in an exchange, as far as it is one; otherwise the exchange is the service's answer, to be judged. Errors that came without
    /// other requests in flight too are not of load, and those that come for one value alone are of nothing else.
    pub(super) fn excuse(&self, exchange: &Exchange) -> Excuse {
        if self.comparison.value(exchange).is_some() {
            return Excuse::default();
        }
        let mut excuse = Excuse::of(exchange, &self.comparison.own_words);
        excuse.may_be_load &=
            self.jobs > 1 && self.alone_too.get(&excuse.sign).is_none_or(|times| *times < ALONE_TOO);
        excuse
    }

    /// How many requests were in flight when the target ended, whose connections it closed without an answer before it refused every one; and
    /// what may have ended it: those of them, and of what it answered right before, with a new value, or all. One at least got no answer. None
    /// where it may still be there.
    pub(crate) fn last_at_end(&self, width: usize) -> (usize, Vec<LastRequest>) {
        let last = if self.has_ended { self.liveness.last_requests(width) } else { Vec::new() };
        let cut: Vec<_> = last.iter().filter(|request| request.answer.is_none()).cloned().collect();
        let (in_flight, mut shown) = (cut.len(), self.comparison.with_new_value(&last));
        if shown.is_empty() {
            shown = cut;
        } else if shown.iter().all(|request| request.answer.is_some()) {
            shown.extend(cut.into_iter().next());
        }
        (in_flight, shown)
    }

    /// How often the target seemed to be away, in words; none where it never was.
    pub(crate) fn absences(&self) -> Option<String> {
        let times = match self.outages {
            0 => return None,
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        Some(format!(
            "the target may have been away {times}: it closed several connections while one group of requests was under way, or refused what it \
             served before; what this hit was sent again"
        ))
    }

    /// Whether an error states a limit in words that were found out since.
    pub(crate) fn has_own_limit(&self, exchanges: &[Exchange]) -> bool {
        let own_words = &self.comparison.own_words;
        exchanges.iter().flat_map(errors).any(|error| own_words.has_limit(error))
    }

    /// The words of errors of which it is open whether they state a limit, each with a request that got it.
    pub(crate) fn open_words(&self, exchanges: &[Exchange]) -> BTreeMap<String, Body> {
        let is_plain = |exchange: &&Exchange| self.excuse(exchange) == Excuse::default();
        let each = exchanges.iter().filter(is_plain).flat_map(|exchange| {
            let open = errors(exchange).into_iter().filter(|error| !is_of_the_request(error));
            open.map(move |error| (words_of(error), exchange))
        });
        let own_words = &self.comparison.own_words;
        let is_open = |words: &str, exchange: &Exchange| {
            own_words.is_open(words) || own_words.has_vanished_since(words, exchange.received)
        };
        each.filter(|(words, exchange)| is_open(words, exchange))
            .map(|(words, exchange)| (words, exchange.request.clone()))
            .collect()
    }

    /// Whether exchanges are judged as they came, where others did not cause their errors: they state no limit, and are of no outage.
    fn can_be_judged(&self, exchanges: &[Exchange]) -> bool {
        let is_unsent = |exchange: &Exchange| matches!(exchange.outcome, Err(Failure::Connect(_)));
        let is_outage = |exchange: &Exchange| self.excuse(exchange).may_be_outage;
        !self.is_limited_without_time(exchanges)
            && !exchanges.iter().any(|exchange| is_unsent(exchange) || is_outage(exchange))
    }

    fn is_limited_without_time(&self, exchanges: &[Exchange]) -> bool {
        exchanges.iter().any(|exchange| self.excuse(exchange).is_limit_without_time())
    }

    /// Gives a request up. Where none is served meanwhile, the run ends soon.
    fn give_up_request(&mut self, answer: &str, is_served: bool) -> DeliveryError {
        if is_served {
            return DeliveryError::Throttled;
        }
        self.given_up += 1;
        if self.given_up == MOST_GIVEN_UP {
            let (address, tries) = (&self.address, Retries::CHECK.tries);
            let cause = format!(
                "{address} answered {answer} to each of {MOST_GIVEN_UP} requests {tries} times, with pauses between: --rate keeps to a limit"
            );
            let reason = if self.is_serving { Reason::Limited(cause) } else { Reason::GaveUp(cause) };
            self.effects.push(Effect::EndRun(reason));
        }
        DeliveryError::Throttled
    }

    fn end(&mut self, what: &str, exchange: &Exchange) {
        let cause = match &exchange.outcome {
            Ok(response) => format!("status {}", response.status),
            Err(failure @ Failure::Timeout { .. }) => format!("{failure}: --timeout gives it more time"),
            Err(failure) => failure.to_string(),
        };
        let cause = format!("{what} from {}: {cause}", self.address);
        self.effects.push(Effect::EndRun(Reason::GaveUp(cause)));
    }
}

/// How a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// Among others. Where it is `watched`, what may come from them is returned at once, to be checked.
    Among { watched: bool },
    /// While none but `copies` of its group is in flight: over new connections, since a request on a reused connection that the target closed
    /// is sent again. They are closed afterwards, unless they are to be `kept` while further ones are opened.
    Alone { copies: usize, kept: bool, after: Duration },
}

/// The tries of one request.
pub(super) struct Attempts {
    sending: Sending,
    throttled: Retries,
    /// How long the request was waited for.
    waited: Duration,
    /// Whether another request was served when this one was refused first; none where none was sent.
    neighbour: Option<bool>,
    unreachable: u32,
    /// How often the connections of a probe were closed.
    closed_probes: u32,
}

/// What to do after a try.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Return the exchange: the service answered.
    Answered,
    /// Return the exchange: there is no answer, or one with an excuse to check.
    Unclear,
    /// Send the request again after this pause, in which nothing is sent: the target asked for it.
    Pause(Duration),
    /// Connect again after this pause.
    Reconnect(Duration),
    /// Send this body, which was served before, after this pause, and ask again.
    Probe(Body, Duration),
    /// The request has no answer.
    Fail(DeliveryError),
}

impl Attempts {
    pub(super) fn new(sending: Sending) -> Self {
        let throttled = Retries::CHECK;
        Self { sending, throttled, waited: Duration::ZERO, neighbour: None, unreachable: 0, closed_probes: 0 }
    }

    /// Decides what to do after a try that ended now, and after the probe that it led to, where it did.
    pub(super) fn after(
        &mut self,
        target: &mut TargetState,
        exchange: &Exchange,
        probe: Option<&Exchange>,
        now: SystemTime,
    ) -> Next {
        target.closed += u64::from(probe.is_none() && is_closed(exchange));
        let excuse = target.excuse(exchange);
        let is_checked = self.sending == Sending::Among { watched: true } && excuse.may_be_load;
        // Sending it alone shows whether the target still answers, and sending copies of it shows nothing about that.
        let is_copy = matches!(self.sending, Sending::Alone { copies: 2.., .. });
        // A target that takes few connections refuses a further one.
        let is_further = matches!(self.sending, Sending::Alone { kept: true, .. });
        let is_excused = is_checked || is_copy || is_further;
        match probe {
            Some(probe) => target.comparison.note(probe, false),
            None => target.comparison.note(exchange, !self.waited.is_zero()),
        }
        match target.liveness.note(probe.unwrap_or(exchange)) {
            _ if probe.is_some_and(|probe| !is_answered(probe)) && !is_answered(exchange) => {
                if let Some(next) = self.probe_again(target, probe) {
                    return next;
                }
                let last = probe.unwrap_or(exchange);
                target.has_ended |= matches!(last.outcome, Err(Failure::Connect(_)));
                target.end("the target stopped answering", last);
            }
            NextStep::Probe(known_good) if !is_excused && probe.is_none() => {
                return Next::Probe(known_good, Duration::ZERO);
            }
            NextStep::Unreachable if !is_excused => target.end("no answer", exchange),
            _ => {}
        }
        let response = match &exchange.outcome {
            Ok(response) => response,
            Err(Failure::Connect(cause)) => {
                self.unreachable += 1;
                return match self.unreachable {
                    ..CONNECT_TRIES => Next::Reconnect(CONNECT_PAUSE),
                    _ if is_checked => Next::Unclear,
                    _ => Next::Fail(DeliveryError::Unreachable(cause.clone())),
                };
            }
            Err(_) => return Next::Unclear,
        };
        let is_alone = matches!(self.sending, Sending::Alone { .. });
        if excuse.is_limit_without_time() && (is_checked || is_alone) {
            return Next::Unclear;
        }
        let excuse = match probe {
            Some(probe) => {
                let is_served = served(probe) > Served::No && target.comparison.sign(probe).is_none();
                self.neighbour.get_or_insert(is_served);
                target.comparison.note_neighbour(exchange, is_served);
                target.excuse(exchange)
            }
            // An outage is followed by such a request anyway.
            None if !excuse.may_be_outage && !is_copy => {
                let may_wait = excuse.limit.is_some() && self.neighbour.is_none();
                let is_compared = may_wait || target.comparison.is_suspect(exchange);
                match target.liveness.answered(Served::WithError).filter(|_| is_compared) {
                    Some(neighbour) => return Next::Probe(neighbour, Duration::ZERO),
                    None => excuse,
                }
            }
            None => excuse,
        };
        self.after_excuse(target, exchange, response, &excuse, now)
    }

    /// The probe once more after a pause, where its connection was closed: a restart may close connections for a while.
    fn probe_again(&mut self, target: &TargetState, probe: Option<&Exchange>) -> Option<Next> {
        let is_closed = probe.is_some_and(is_closed);
        let body = target.liveness.answered(Served::No);
        let body = body.filter(|_| is_closed && self.closed_probes < PAUSES_AT_START)?;
        self.closed_probes += 1;
        Some(Next::Probe(body, FIRST_PAUSE * 2_u32.pow(self.closed_probes - 1)))
    }

    /// Decides what to do after a response, by the excuse that it has.
    fn after_excuse(
        &mut self,
        target: &mut TargetState,
        exchange: &Exchange,
        response: &Response,
        excuse: &Excuse,
        now: SystemTime,
    ) -> Next {
        let decision = match excuse.limit {
            Some(Limit::InBody) => self.throttled.throttled_without_time(),
            Some(_) => self.throttled.decide(response, || now),
            None => ThrottleDecision::NotThrottled,
        };
        let is_served = self.neighbour == Some(true);
        let shows_nothing =
            is_served && (self.waited >= MOST_WAITED || target.comparison.has_waited(exchange));
        match decision {
            ThrottleDecision::Wait(pause) if !shows_nothing => {
                self.waited += pause;
                Next::Pause(pause)
            }
            // A replay compares nothing, because the run that found it did: while others are served, this is the answer.
            ThrottleDecision::Wait(_) | ThrottleDecision::GiveUp
                if !target.comparison.is_active() && (is_served || excuse.limit == Some(Limit::InBody)) =>
            {
                Next::Unclear
            }
            ThrottleDecision::Wait(_) | ThrottleDecision::GiveUp => {
                Next::Fail(target.give_up_request(&excuse.sign, is_served))
            }
            ThrottleDecision::NotThrottled => {
                target.given_up = 0;
                target.is_serving |= !excuse.may_be_outage;
                if excuse.may_be_outage { Next::Unclear } else { Next::Answered }
            }
        }
    }
}

/// The way of one group from its first request to answers that are judged.
#[derive(Default)]
pub(super) struct Delivery {
    /// Whether what may come from load or an outage is checked. Otherwise it is an answer like every other.
    checks: bool,
    watched: bool,
    /// How many requests could be in flight, and how many outages were over, when the group was sent.
    jobs: usize,
    outages: u64,
    /// How many connections were closed before the group was sent.
    closed: u64,
    /// How often the group was sent again after an outage.
    waited: usize,
    /// Whether another request was served after a refusal that may come from load: the two are compared once the group is refused alone too.
    neighbour: Option<bool>,
    phase: Phase,
}

/// What a group waits for: its exchanges among others, that no other request is in flight, or the exchanges of a check.
#[derive(Default)]
enum Phase {
    #[default]
    Start,
    Among,
    /// The exchanges were refused as in an outage.
    BeforeOutage(Vec<Exchange>),
    /// They are kept while a probe is sent after that many pauses.
    Outage(u32, Vec<Exchange>),
    BeforeLoad(LoadCheck),
    Load(LoadCheck, LoadStage),
}

/// What is known when the check begins whether an error comes from other requests in flight.
struct LoadCheck {
    sign: String,
    /// Whether a request had no answer.
    is_refused: bool,
    /// How often the group was sent alone after a longer pause.
    pauses: u32,
    /// What is judged where the error came by chance.
    kept: Option<Vec<Exchange>>,
}

/// What is sent in such a check.
#[derive(Clone, Copy)]
enum LoadStage {
    /// The group alone, this many times; `again` after copies of it got the error.
    Alone { left: usize, again: bool },
    /// The group over one more connection, while so many are open, and one more was `refused` this many times.
    Connections { open: usize, refused: u32 },
    /// Copies of the group at the same time.
    Copies,
}

/// What to do next for a group.
#[derive(Debug)]
pub(super) enum Step {
    Send(Sending),
    /// Wait until no other request is in flight. None is until the group is sent among others, or is done.
    Quiet,
    /// Send this body after this pause.
    Probe(Body, Duration),
    Done(Delivered),
}

impl Delivery {
    pub(super) fn new(checks: bool) -> Self {
        Self { checks, ..Self::default() }
    }

    /// Decides what to do next. `came` is what the last step brought: the exchanges of each copy of the group, or the one of the probe.
    pub(super) fn next(&mut self, target: &mut TargetState, came: Vec<Delivered>) -> Step {
        let phase = mem::replace(&mut self.phase, Phase::Among);
        let is_refusal_expected = matches!(phase, Phase::Load(_, LoadStage::Connections { .. }));
        let mut came = match came.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(came) => came,
            Err(error) if is_refusal_expected && error != DeliveryError::Stopped => Vec::new(),
            Err(error) => return Step::Done(Err(error)),
        };
        match phase {
            Phase::Start => self.send(target, true),
            Phase::Among => {
                let exchanges = came.pop().unwrap_or_default();
                self.after_sending(target, exchanges, self.waited < OUTAGES_PER_GROUP)
            }
            // Another group has waited for its end.
            Phase::BeforeOutage(_) if target.outages > self.outages => self.send_after_outage(target),
            Phase::BeforeOutage(refused) => self.probe(target, 0, refused),
            Phase::Outage(pauses, refused) => {
                self.after_probe(target, pauses, refused, came.iter().flatten().next())
            }
            // The check of another group has lowered the limit.
            Phase::BeforeLoad(_) if target.jobs < self.jobs => self.send(target, true),
            Phase::BeforeLoad(LoadCheck { is_refused: true, .. })
                if target.outages > self.outages && self.waited < OUTAGES_PER_GROUP =>
            {
                self.send_after_outage(target)
            }
            Phase::BeforeLoad(LoadCheck { is_refused: true, kept: Some(refused), .. })
                if self.waited < OUTAGES_PER_GROUP && self.may_be_restart(target) =>
            {
                self.probe(target, 0, refused)
            }
            Phase::BeforeLoad(check) => {
                // The target may need a moment until it has noticed that connections are closed.
                let after = if check.is_refused { CONNECT_PAUSE } else { Duration::ZERO };
                self.phase = Phase::Load(check, LoadStage::Alone { left: TIMES_ALONE, again: false });
                Step::Send(Sending::Alone { copies: 1, kept: false, after })
            }
            Phase::Load(mut check, stage @ LoadStage::Alone { .. })
                if check.pauses < PAUSES_ALONE
                    && !target.alone_too.contains_key(&check.sign)
                    && came.iter().flatten().any(is_closed) =>
            {
                check.pauses += 1;
                let after = CONNECT_PAUSE * 2_u32.pow(check.pauses);
                self.phase = Phase::Load(check, stage);
                Step::Send(Sending::Alone { copies: 1, kept: false, after })
            }
            Phase::Load(check, stage) => self.after_load(target, check, stage, came),
        }
    }

    /// Sends the group among others, `watched` where other requests can be in flight.
    fn send(&mut self, target: &TargetState, watched: bool) -> Step {
        self.watched = watched && self.checks && target.jobs > 1;
        (self.jobs, self.outages, self.closed) = (target.jobs, target.outages, target.closed);
        Step::Send(Sending::Among { watched: self.watched })
    }

    /// Whether several connections were closed since the group was sent.
    fn may_be_restart(&self, target: &TargetState) -> bool {
        let is_new = !target.lasting_outage && target.restarts < RESTARTS;
        is_new && target.closed >= self.closed + CLOSED_IN_RESTART
    }

    /// Sends a request that was served before, or else a refused one, after that many pauses.
    fn probe(&mut self, target: &TargetState, pauses: u32, refused: Vec<Exchange>) -> Step {
        let own_words = &target.comparison.own_words;
        let is_outage = |exchange: &&Exchange| Excuse::of(exchange, own_words).may_be_outage;
        let first = || Some(refused.iter().find(is_outage)?.request.clone());
        let body = target.liveness.answered(Served::WithError).or_else(first).unwrap_or_default();
        self.phase = Phase::Outage(pauses, refused);
        Step::Probe(body, if pauses == 0 { Duration::ZERO } else { FIRST_PAUSE * 2_u32.pow(pauses - 1) })
    }

    fn after_probe(
        &mut self,
        target: &mut TargetState,
        pauses: u32,
        refused: Vec<Exchange>,
        probe: Option<&Exchange>,
    ) -> Step {
        let most = match target.liveness.answered(Served::WithError) {
            _ if target.lasting_outage => 0,
            Some(_) if refused.iter().all(is_answered) => PAUSES,
            _ => PAUSES_AT_START,
        };
        let is_served = probe.is_some_and(|probe| served(probe) > Served::No);
        if let Some(probe) = probe {
            target.liveness.note(probe);
            target.comparison.note(probe, false);
        }
        let may_be_load = self.watched && refused.iter().any(|exchange| target.excuse(exchange).may_be_load);
        if pauses == 0 && may_be_load {
            self.neighbour = Some(is_served);
        } else if pauses == 0 {
            for exchange in &refused {
                target.comparison.note_neighbour(exchange, is_served);
            }
        }
        target.lasting_outage = !is_served && pauses == most;
        let is_restart =
            is_served && pauses == 0 && !refused.iter().all(is_answered) && self.may_be_restart(target);
        target.restarts += u32::from(is_restart);
        if is_restart || is_served && pauses > 0 {
            target.outages += 1;
            if pauses > 0 {
                target.effects.push(Effect::SlowDown(FIRST_PAUSE * (2_u32.pow(pauses) - 1)));
            }
            return self.send_after_outage(target);
        }
        // What was refused may have come at the end of an outage.
        if is_served && self.waited == 0 && !self.watched && refused.iter().all(is_answered) {
            return self.send_after_outage(target);
        }
        if is_served || target.lasting_outage {
            return self.after_sending(target, refused, false);
        }
        let pause = FIRST_PAUSE * 2_u32.pow(pauses);
        let came = probe.and_then(status).map_or("nothing".to_owned(), |status| status.to_string());
        let reason = format!("the target answered {came} to a request that was served before");
        target.effects.push(Effect::Report(Notice::Waiting { pause, reason, is_asked_for: false }));
        self.probe(target, pauses + 1, refused)
    }

    fn send_after_outage(&mut self, target: &TargetState) -> Step {
        self.waited += 1;
        self.send(target, self.watched)
    }

    /// Decides what follows from exchanges among others, and `may_wait` for the end of an outage.
    fn after_sending(&mut self, target: &TargetState, exchanges: Vec<Exchange>, may_wait: bool) -> Step {
        let excuses: Vec<Excuse> = exchanges.iter().map(|exchange| target.excuse(exchange)).collect();
        // Where one request is sent at a time, no others show whether the target was restarted.
        let is_closed = target.jobs == 1 && exchanges.iter().any(is_closed);
        let is_outage = self.checks && (excuses.iter().any(|excuse| excuse.may_be_outage) || is_closed);
        let is_short =
            |exchange: &Exchange| exchange.outcome.as_ref().map_or(0, |response| response.body.len()) <= KEPT;
        // Long answers are not kept: the holders of slots may wait for their memory.
        let is_short = exchanges.iter().all(is_short);
        if may_wait && is_outage && is_short {
            self.phase = Phase::BeforeOutage(exchanges);
            return Step::Quiet;
        }
        let of_load = excuses.iter().find(|excuse| self.watched && excuse.may_be_load);
        if let Some(Excuse { sign, .. }) = of_load {
            let (sign, is_refused) = (sign.clone(), !exchanges.iter().all(is_answered));
            let kept = is_short.then_some(exchanges);
            self.phase = Phase::BeforeLoad(LoadCheck { sign, is_refused, pauses: 0, kept });
            return Step::Quiet;
        }
        if self.watched && excuses.iter().any(Excuse::is_limit_without_time) {
            return self.send(target, false);
        }
        Step::Done(Ok(exchanges))
    }

    fn after_load(
        &mut self,
        target: &mut TargetState,
        check: LoadCheck,
        stage: LoadStage,
        mut came: Vec<Vec<Exchange>>,
    ) -> Step {
        let next = match stage {
            LoadStage::Alone { .. } if came.iter().any(|came| may_be_of_load(target, came)) => {
                *target.alone_too.entry(check.sign).or_default() += 1;
                let exchanges = came.pop().unwrap_or_default();
                if let Some(is_served) = self.neighbour.take() {
                    for exchange in &exchanges {
                        target.comparison.note_neighbour(exchange, is_served);
                    }
                }
                return if target.is_limited_without_time(&exchanges) {
                    self.send(target, false)
                } else {
                    Step::Done(Ok(exchanges))
                };
            }
            LoadStage::Alone { left, again } if left > 1 => LoadStage::Alone { left: left - 1, again },
            LoadStage::Alone { again: true, .. } => return self.lower_jobs(target, target.jobs / 2, check),
            LoadStage::Alone { .. } if check.is_refused => LoadStage::Connections { open: 0, refused: 0 },
            LoadStage::Alone { .. } => LoadStage::Copies,
            LoadStage::Connections { open, refused } => {
                let is_open = came.first().is_some_and(|exchanges| exchanges.iter().all(is_answered));
                match (is_open, open) {
                    // Requests that end their connection have each one of its own, beside those of the others.
                    (true, _) if open + 1 == 2 * target.jobs => LoadStage::Copies,
                    (true, _) => LoadStage::Connections { open: open + 1, refused: 0 },
                    (false, _) if refused < REFUSED_AGAIN => {
                        LoadStage::Connections { open, refused: refused + 1 }
                    }
                    (false, 0) => LoadStage::Copies,
                    (false, _) => return self.lower_jobs(target, open.min(target.jobs), check),
                }
            }
            LoadStage::Copies => {
                let errors = came.iter().filter(|came| may_be_of_load(target, came)).count();
                let groups = Arc::strong_count(&target.with_excuse) - 1;
                let times = match errors {
                    0 if groups > 1 => times_alone(groups, target.jobs),
                    _ => times_alone(errors, came.len()),
                };
                match times.map(|times| times.saturating_sub(TIMES_ALONE)) {
                    None => {
                        // A limit that is known is touched again now and then, by a connection that is not closed yet.
                        let is_of_known = |known: &Overload| {
                            known.sign == check.sign || known.is_refused && check.is_refused
                        };
                        let is_known = target.overload.as_ref().is_some_and(is_of_known);
                        let mut kept = check.kept.filter(|_| !is_known);
                        kept = kept.filter(|kept| target.can_be_judged(kept));
                        return kept.map_or_else(|| self.send(target, false), |kept| Step::Done(Ok(kept)));
                    }
                    Some(0) => return self.lower_jobs(target, target.jobs / 2, check),
                    Some(left) => LoadStage::Alone { left, again: true },
                }
            }
        };
        let copies = if matches!(next, LoadStage::Copies) { target.jobs.min(MOST_COPIES) } else { 1 };
        let kept = matches!(next, LoadStage::Connections { .. });
        self.phase = Phase::Load(check, next);
        Step::Send(Sending::Alone { copies, kept, after: Duration::ZERO })
    }

    /// Sends the group again with at most that many requests in flight.
    fn lower_jobs(&mut self, target: &mut TargetState, jobs: usize, check: LoadCheck) -> Step {
        target.jobs = jobs.max(1);
        let times = target.overload.take().map_or(0, |known| known.times) + 1;
        let overload = target.overload.insert(Overload {
            jobs: target.jobs,
            sign: check.sign,
            is_refused: check.is_refused,
            times,
        });
        target.effects.push(Effect::Report(Notice::Overloaded(overload.clone())));
        self.send(target, true)
    }
}

/// How often a group must be sent alone, without an error, before its error counts as one of overload; none when there was no error under
/// load. `errors` of `copies` that were sent at the same time got one.
fn times_alone(errors: usize, copies: usize) -> Option<usize> {
    (errors > 0).then(|| (EXPECTED_ALONE * copies).div_ceil(errors))
}

/// Whether the connection was closed before an answer.
fn is_closed(exchange: &Exchange) -> bool {
    matches!(exchange.outcome, Err(Failure::Broken(_)))
}

/// Whether one of the exchanges may come from load, whatever requests with the same values got.
fn may_be_of_load(target: &TargetState, exchanges: &[Exchange]) -> bool {
    exchanges.iter().any(|exchange| Excuse::of(exchange, &target.comparison.own_words).may_be_load)
}

fn status(exchange: &Exchange) -> Option<u16> {
    exchange.outcome.as_ref().ok().map(|response| response.status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::sending::own_words::OwnWords;
    use bytes::Bytes;

    const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    const BUSY: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"server busy"}}"#;
    const RATE: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"rate limit exceeded"}}"#;

    fn exchange(outcome: Result<(u16, &str), Failure>) -> Exchange {
        let outcome = outcome.map(|(status, body)| Response {
            status,
            headers: Vec::new(),
            body: body.to_owned().into(),
        });
        Exchange::new(Bytes::from_static(b"{}"), outcome, Duration::ZERO)
    }

    fn good() -> Exchange {
        exchange(Ok((200, RESULT)))
    }

    fn closed() -> Exchange {
        exchange(Err(Failure::Broken("closed".to_owned())))
    }

    fn refused() -> Exchange {
        exchange(Err(Failure::Connect("refused".to_owned())))
    }

    fn with_retry_after(seconds: &str) -> Exchange {
        let mut exchange = exchange(Ok((429, "")));
        if let Ok(response) = &mut exchange.outcome {
            response.headers.push(("retry-after".to_owned(), seconds.to_owned()));
        }
        exchange
    }

    /// A run against a scripted target: what the sender does, without a socket and a clock.
    struct Run {
        target: TargetState,
        /// What was done, in words.
        did: Vec<String>,
    }

    impl Run {
        /// A run in which a request was served before.
        fn new(jobs: usize) -> Self {
            let mut run = Self::at_start(jobs);
            run.target.liveness.note(&good());
            run.target.is_serving = true;
            run
        }

        fn at_start(jobs: usize) -> Self {
            Self { target: TargetState::new("target".to_owned(), jobs), did: Vec::new() }
        }

        /// Sends a group of one request, whose exchanges the script makes from what was done last and how many exchanges that led to.
        fn deliver(&mut self, script: impl Fn(&str, usize) -> Exchange) -> Delivered {
            let mut delivery = Delivery::new(true);
            let mut came = Vec::new();
            self.did.clear();
            let mut with_excuse = None;
            loop {
                let step = delivery.next(&mut self.target, came);
                self.drain();
                came = match step {
                    Step::Done(delivered) => return delivered,
                    Step::Quiet => {
                        with_excuse.get_or_insert_with(|| Arc::clone(&self.target.with_excuse));
                        self.did("quiet");
                        Vec::new()
                    }
                    Step::Probe(_, after) => {
                        let number = self.did_probe(after);
                        vec![Ok(vec![script("probe", number)])]
                    }
                    Step::Send(sending) => {
                        let (did, copies) = match sending {
                            Sending::Among { watched: true } => ("watched", 1),
                            Sending::Among { watched: false } => ("unwatched", 1),
                            Sending::Alone { kept: true, .. } => ("open", 1),
                            Sending::Alone { copies: 1, .. } => ("alone", 1),
                            Sending::Alone { copies, .. } => ("copy", copies),
                        };
                        (0..copies).map(|_| self.send(sending, did, &script)).collect()
                    }
                };
            }
        }

        fn send(
            &mut self,
            sending: Sending,
            did: &str,
            script: &impl Fn(&str, usize) -> Exchange,
        ) -> Delivered {
            let mut attempts = Attempts::new(sending);
            loop {
                let number = self.did(did);
                let exchange = script(did, number);
                let now = SystemTime::UNIX_EPOCH;
                let mut next = attempts.after(&mut self.target, &exchange, None, now);
                while let Next::Probe(_, after) = next {
                    let number = self.did_probe(after);
                    let probe = script("probe", number);
                    next = attempts.after(&mut self.target, &exchange, Some(&probe), now);
                }
                self.drain();
                match next {
                    Next::Answered | Next::Unclear | Next::Probe(..) => return Ok(vec![exchange]),
                    Next::Fail(cause) => return Err(cause),
                    Next::Reconnect(_) => {}
                    Next::Pause(pause) => {
                        self.did(&format!("pause {pause:?}"));
                    }
                }
            }
        }

        fn did_probe(&mut self, after: Duration) -> usize {
            self.did(&if after.is_zero() { "probe".to_owned() } else { format!("probe after {after:?}") })
        }

        /// Notes what is done. Returns how often it was done before.
        fn did(&mut self, what: &str) -> usize {
            self.did.push(what.to_owned());
            let action = what.split(' ').next();
            self.did.iter().filter(|did| did.split(' ').next() == action).count() - 1
        }

        fn drain(&mut self) {
            for effect in mem::take(&mut self.target.effects) {
                match effect {
                    Effect::Report(Notice::Overloaded(overload)) => {
                        self.did.push(format!("{} jobs", overload.jobs));
                    }
                    Effect::Report(_) => {}
                    Effect::SlowDown(waited) => self.did.push(format!("slow down after {waited:?}")),
                    Effect::EndRun(reason) => self.did.push(format!("end: {reason}")),
                }
            }
        }

        /// What was done, with the number of times in a row.
        fn story(&self) -> String {
            let in_a_row = self.did.chunk_by(|one, next| one == next);
            let times = in_a_row.map(|same| match same.len() {
                1 => same[0].clone(),
                times => format!("{times} {}", same[0]),
            });
            times.collect::<Vec<_>>().join(", ")
        }
    }

    /// The status of the answer that is judged; 0 where there is none.
    fn judged(delivered: &Delivered) -> u16 {
        delivered.as_ref().map_or(0, |exchanges| status(&exchanges[0]).unwrap_or(0))
    }

    #[test]
    fn nothing_is_done_beside_sending_where_there_is_no_trouble() {
        for (jobs, story) in [(1, "unwatched"), (8, "watched")] {
            let mut run = Run::new(jobs);
            assert_eq!(judged(&run.deliver(|_, _| good())), 200);
            assert_eq!(run.story(), story);
        }
    }

    #[test]
    fn a_stated_pause_is_kept_and_the_third_request_in_a_row_that_is_given_up_ends_the_run() {
        let mut run = Run::new(8);
        let soon = |_: &str, number| if number < 2 { with_retry_after("3") } else { good() };
        assert_eq!(judged(&run.deliver(soon)), 200);
        assert_eq!(run.story(), "watched, probe, pause 3s, watched, pause 3s, watched");
        for number in [1, 2, 1, 2, 3] {
            if number == 1 {
                run.deliver(|_, _| good()).unwrap();
            }
            assert_eq!(run.deliver(|_, _| with_retry_after("3")).unwrap_err(), DeliveryError::Throttled);
            assert_eq!(run.story().contains("end: target answered HTTP 429"), number == 3, "{}", run.story());
        }
    }

    #[test]
    fn an_error_that_comes_alone_too_is_judged_and_the_fourth_one_at_once() {
        for excuse in [exchange(Ok((503, BUSY))), exchange(Ok((200, BUSY))), closed()] {
            let mut run = Run::new(8);
            run.target.lasting_outage = true;
            let is_outage = Excuse::of(&excuse, &OwnWords::default()).may_be_outage;
            let script = |did: &str, _| if did == "probe" && !is_outage { good() } else { excuse.clone() };
            for number in 0..=ALONE_TOO {
                assert_eq!(judged(&run.deliver(script)), status(&excuse).unwrap_or(0));
                // What is closed first is sent alone after longer pauses too.
                let story = run.story().replace("quiet, probe, quiet", "quiet").replace("5 alone", "alone");
                let expected = if number < ALONE_TOO { "watched, quiet, alone" } else { "watched" };
                assert!(story.starts_with(expected), "{story}");
                assert_eq!(story.contains("alone"), number < ALONE_TOO, "{story}");
            }
        }
    }

    #[test]
    fn an_error_that_copies_get_and_the_group_alone_never_halves_the_jobs() {
        let mut run = Run::new(64);
        let script = |did: &str, number| match did {
            "watched" if number == 0 => exchange(Ok((200, BUSY))),
            "copy" if number < 16 => exchange(Ok((200, BUSY))),
            _ => good(),
        };
        assert_eq!(judged(&run.deliver(script)), 200);
        assert_eq!(run.story(), "watched, quiet, 5 alone, 32 copy, 5 alone, 32 jobs, watched");
        assert_eq!(
            run.target.overload.as_ref().unwrap().to_string(),
            "32 requests at a time; with more, the error \"server busy\""
        );
    }

    #[test]
    fn an_error_that_no_copy_gets_is_chance_unless_other_groups_got_it_too() {
        let script = |did: &str, number| match (did, number) {
            ("watched", 0) => exchange(Ok((200, BUSY))),
            _ => good(),
        };
        let mut run = Run::new(4);
        let exchanges = run.deliver(script).unwrap();
        assert_eq!(
            Excuse::of(&exchanges[0], &OwnWords::default()).sign,
            "the error \"server busy\"",
            "the first answer is judged"
        );
        assert_eq!(run.story(), "watched, quiet, 5 alone, 4 copy");
        // Two other groups wait to be sent alone.
        let _others = [Arc::clone(&run.target.with_excuse), Arc::clone(&run.target.with_excuse)];
        run.deliver(script).unwrap();
        assert_eq!(run.story(), "watched, quiet, 5 alone, 4 copy, 2 alone, 2 jobs, watched");
    }

    #[test]
    fn the_rarer_an_error_is_under_load_the_more_often_it_is_looked_for_alone() {
        assert_eq!(times_alone(0, 32), None);
        assert_eq!(times_alone(32, 32), Some(5));
        assert_eq!(times_alone(3, 32), Some(54));
        assert_eq!(times_alone(1, 32), Some(160));
    }

    #[test]
    fn a_target_that_takes_few_connections_lowers_the_jobs_to_their_number() {
        let mut run = Run::new(8);
        let script = |did: &str, number| match did {
            "watched" if number < 3 => refused(),
            "open" if number >= 3 => refused(),
            _ => good(),
        };
        assert_eq!(judged(&run.deliver(script)), 200);
        assert_eq!(
            run.story(),
            "3 watched, quiet, 5 alone, 12 open, 3 jobs, watched",
            "three are refused, each three times"
        );
    }

    #[test]
    fn a_further_connection_that_is_refused_does_not_end_the_run() {
        let mut run = Run::new(8);
        for _ in 0..17 {
            run.target.liveness.note(&closed());
        }
        let script = |did: &str, number| match did {
            "open" if number >= 3 => closed(),
            "watched" if number < 1 => closed(),
            "probe" => closed(),
            _ => good(),
        };
        for times in 0..8 {
            assert_eq!(judged(&run.deliver(script)), 200, "{times}: {}", run.story());
        }
    }

    #[test]
    fn a_known_limit_that_is_touched_again_is_no_answer() {
        let mut run = Run::new(8);
        let touched = |did: &str, number| if did == "watched" && number < 2 { closed() } else { good() };
        assert_eq!(judged(&run.deliver(touched)), 0, "by chance, as far as is known");
        let script = |did: &str, number| match did {
            "watched" if number < 2 => closed(),
            "open" if number >= 3 => closed(),
            _ => good(),
        };
        assert_eq!(judged(&run.deliver(script)), 200);
        assert_eq!(run.target.jobs, 3);
        assert_eq!(judged(&run.deliver(touched)), 200, "sent again: {}", run.story());
        let refused_too = |did: &str, number| if did == "watched" && number < 2 { refused() } else { good() };
        assert_eq!(judged(&run.deliver(refused_too)), 200, "no answer in another way: {}", run.story());
    }

    #[test]
    fn a_target_that_notices_late_what_was_closed_is_waited_for() {
        let mut run = Run::new(8);
        let script = |did: &str, number| match did {
            "watched" if number < 1 => closed(),
            "alone" if number < 3 => closed(),
            "open" if number >= 4 => closed(),
            _ => good(),
        };
        assert_eq!(judged(&run.deliver(script)), 200, "{}", run.story());
        assert_eq!(run.target.jobs, 4);
    }

    #[test]
    fn a_limit_that_another_group_has_lowered_is_tried_first() {
        let mut run = Run::new(8);
        let mut delivery = Delivery::new(true);
        delivery.next(&mut run.target, Vec::new());
        let step = delivery.next(&mut run.target, vec![Ok(vec![closed()])]);
        assert!(matches!(step, Step::Quiet), "{step:?}");
        run.target.jobs = 4;
        let step = delivery.next(&mut run.target, Vec::new());
        assert!(matches!(step, Step::Send(Sending::Among { watched: true })), "{step:?}");
        run.target.jobs = 1;
        assert!(!run.target.excuse(&closed()).may_be_load, "one request is never too many");
    }

    #[test]
    fn an_error_of_a_gateway_is_an_answer_where_a_request_that_was_served_before_still_is() {
        let mut run = Run::new(1);
        let script = |did: &str, _| if did == "probe" { good() } else { exchange(Ok((502, ""))) };
        assert_eq!(judged(&run.deliver(script)), 502);
        assert_eq!(run.story(), "unwatched, quiet, probe, unwatched, quiet, probe");
    }

    #[test]
    fn an_outage_is_waited_for_within_a_bound_and_what_it_refused_is_sent_again() {
        let gateway = || exchange(Ok((503, "")));
        let mut run = Run::new(1);
        let script = |did: &str, number| match (did, number) {
            ("probe", 2..) | ("unwatched", 1) => good(),
            _ => gateway(),
        };
        assert_eq!(judged(&run.deliver(script)), 200);
        let story =
            "unwatched, quiet, probe, probe after 100ms, probe after 200ms, slow down after 300ms, unwatched";
        assert_eq!(run.story(), story);

        for (mut run, pauses, last) in [(Run::new(1), 8, "12.8s"), (Run::at_start(1), 5, "1.6s")] {
            assert_eq!(judged(&run.deliver(|_, _| gateway())), 503);
            assert!(run.story().ends_with(&format!("probe after {last}")), "{}", run.story());
            assert_eq!(run.did.len(), 3 + pauses);
            run.deliver(|_, _| gateway()).unwrap();
            assert_eq!(run.story(), "unwatched, quiet, probe", "a lasting outage is not waited for again");
        }

        let mut run = Run::new(1);
        let script =
            |did: &str, number: usize| if did == "probe" && number % 2 == 1 { good() } else { gateway() };
        assert_eq!(judged(&run.deliver(script)), 503);
        let times = run.did.iter().filter(|did| *did == "unwatched").count();
        assert_eq!(times, OUTAGES_PER_GROUP + 1);
    }

    #[test]
    fn several_connections_that_are_closed_at_a_time_are_a_restart_twice() {
        let mut target = TargetState::new("target".to_owned(), 8);
        let next = |target: &mut TargetState, delivery: &mut Delivery, came: Option<Exchange>| {
            delivery.next(target, came.into_iter().map(|exchange| Ok(vec![exchange])).collect())
        };
        for number in 0..=RESTARTS {
            let mut hit = [Delivery::new(true), Delivery::new(true)];
            for delivery in &mut hit {
                next(&mut target, delivery, None);
            }
            for delivery in &mut hit {
                assert!(matches!(next(&mut target, delivery, Some(closed())), Step::Quiet));
            }
            target.closed += CLOSED_IN_RESTART;
            let [first, second] = &mut hit;
            let step = next(&mut target, first, None);
            if number == RESTARTS {
                assert!(matches!(step, Step::Send(Sending::Alone { .. })), "{step:?}");
                return;
            }
            assert!(matches!(step, Step::Probe(_, Duration::ZERO)), "{step:?}");
            for step in [next(&mut target, first, Some(good())), next(&mut target, second, None)] {
                assert!(matches!(step, Step::Send(Sending::Among { .. })), "{step:?}");
            }
        }
    }

    #[test]
    fn a_connection_that_is_closed_where_no_other_is_open_may_come_from_a_restart() {
        let mut run = Run::new(1);
        let script = |did: &str, number| match did {
            "unwatched" if number == 0 => closed(),
            "probe" if number < 1 => closed(),
            _ => good(),
        };
        assert_eq!(judged(&run.deliver(script)), 200);
        assert_eq!(
            run.story(),
            "unwatched, quiet, probe, probe after 100ms, slow down after 100ms, unwatched"
        );
    }

    #[test]
    fn a_request_is_waited_for_longer_where_no_other_is_served_meanwhile() {
        let mut run = Run::new(1);
        run.target.comparison.knowing(paymaster_fee_quote::SPECIFICATION.unknown());
        let script = |did: &str, _| if did == "probe" { good() } else { exchange(Ok((200, RATE))) };
        let five_times = "unwatched, probe, pause 1s, unwatched, pause 1s, unwatched, pause 1s, unwatched, pause 1s, unwatched, pause 1s, \
                          unwatched";
        for _ in 0..5 {
            assert_eq!(run.deliver(script).unwrap_err(), DeliveryError::Throttled);
            assert_eq!(run.story(), five_times, "the run does not end: other requests are served");
        }
        let mut run = Run::new(1);
        run.target.comparison.knowing(paymaster_fee_quote::SPECIFICATION.unknown());
        assert_eq!(run.deliver(|_, _| exchange(Ok((200, RATE)))).unwrap_err(), DeliveryError::Throttled);
        assert_eq!(run.story().matches("unwatched").count(), 8);
    }

    #[test]
    fn a_target_that_never_answers_ends_the_run_soon_and_one_that_stops_after_a_probe() {
        let timeout = || {
            let waiting_for = paymaster_exchange::Stage::Head;
            exchange(Err(Failure::Timeout { waiting_for, after: Duration::ZERO }))
        };
        let mut run = Run::at_start(8);
        for is_over in [false, false, true] {
            run.deliver(|_, _| timeout()).unwrap();
            assert_eq!(run.story().contains("end: no answer from target"), is_over, "{}", run.story());
        }
        let pauses = "watched, probe, probe after 100ms, probe after 200ms";
        let to_the_end = format!(
            "{pauses}, probe after 400ms, probe after 800ms, probe after 1.6s, end: the target stopped"
        );
        // How many probes are not answered, and by what: a restart may close connections for a while.
        for (unanswered, by, story) in [
            (0, timeout(), "watched, probe"),
            (2, closed(), pauses),
            (6, closed(), &to_the_end),
            (1, timeout(), "watched, probe, end: the target stopped answering"),
        ] {
            let mut run = Run::new(8);
            for _ in 0..20 {
                let script = |did: &str, number| match did {
                    "probe" if number < unanswered => by.clone(),
                    "probe" => good(),
                    _ => timeout(),
                };
                run.deliver(script).unwrap();
            }
            assert!(run.story().starts_with(story), "{}", run.story());
        }
    }
}
