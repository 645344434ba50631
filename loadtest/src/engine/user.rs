//! What a user does: it takes a turn, sends a chain of requests over its own connection, has the answers judged and counted.
//!
//! goose looks at its users between transactions, so a transaction is a slice of a user's work, not one exchange.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::{Duration, Instant, SystemTime},
};

use goose::goose::GooseUser;
use paymaster_client::{
    throttling::{RetryPolicy, ThrottleDecision},
    transport::PooledConnection,
};
use paymaster_exchange::{Exchange, Failure};

use super::{
    shared::{Ended, Pace, Shared},
    turn::{self, Turn},
};
use crate::{
    corpus::Entry,
    figures::{Example, Sample, WrongKey, outcome::Outcome},
    judging::{self, Seen, Sent},
};

/// How long a user works until goose may stop it.
const SLICE: Duration = Duration::from_millis(100);
/// How long a user rests who has nothing to do.
const IDLE: Duration = Duration::from_millis(2);
/// How long a user waits after its first failed connection; after each further one in a row, twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// How long it waits at most.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How much of a wrong answer is kept.
const KEPT: usize = 4_096;

/// What a user has of its own.
#[derive(Default)]
pub(crate) struct State {
    line: PooledConnection,
    scratch: Vec<u8>,
    /// Failed connections in a row.
    failed: u32,
    /// No connection is tried before.
    waits_until: Option<Instant>,
}

impl State {
    /// Notes how an exchange ended: after a failed connection, the next one has to wait.
    fn back_off(&mut self, exchange: &Exchange) {
        if let Err(Failure::Connect(_) | Failure::Broken(_)) = &exchange.outcome {
            let wait = FIRST_WAIT
                .saturating_mul(1 << self.failed.min(10))
                .min(LONGEST_WAIT);
            self.failed += 1;
            self.waits_until = Some(Instant::now() + wait);
        } else {
            (self.failed, self.waits_until) = (0, None);
        }
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

/// Works for a while.
pub(super) async fn work(shared: &Arc<Shared>, user: &mut GooseUser) {
    let own = user.weighted_users_index;
    let mut state = rested(shared, own).unwrap_or_default();
    let until = Instant::now() + SLICE;
    shared.clock.start();
    loop {
        if let Some(wait) = state.waits_until.filter(|wait| *wait > Instant::now()) {
            tokio::time::sleep_until(wait.min(until).into()).await;
            if wait >= until {
                break;
            }
        }
        let Some(turn) = turn::next(shared, until).await else {
            // goose comes again at once, and never lets go of the thread by itself: without a pause here, users with nothing to
            // do would keep the timers from running.
            tokio::time::sleep(IDLE).await;
            break;
        };
        let guard = Busy::new(shared);
        chain(shared, &mut state, user, own, turn).await;
        drop(guard);
        if Instant::now() >= until {
            break;
        }
    }
    let mut resting = shared.resting.lock().unwrap_or_else(PoisonError::into_inner);
    resting.insert(own, state);
}

/// A user goes for good, and its connection with it.
pub(super) fn leave(shared: &Shared, user: &GooseUser) {
    drop(rested(shared, user.weighted_users_index));
}

fn rested(shared: &Shared, own: usize) -> Option<State> {
    let mut resting = shared.resting.lock().unwrap_or_else(PoisonError::into_inner);
    resting.remove(&own)
}

/// Counts a user as busy for as long as it lives.
struct Busy<'a>(&'a Shared);

impl<'a> Busy<'a> {
    fn new(shared: &'a Shared) -> Self {
        shared.busy.fetch_add(1, Ordering::AcqRel);
        Self(shared)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Sends the requests of a chain, one after the other.
async fn chain(shared: &Arc<Shared>, state: &mut State, user: &mut GooseUser, own: usize, turn: Turn) {
    if turn.is_held_back(shared, own) {
        return;
    }
    let mut token: Option<String> = None;
    let mut begun = None;
    for (step, entry) in shared.settings.mix.chain(turn.number).iter().enumerate() {
        if step > 0 && entry.takes_a_token() && token.is_none() {
            shared.part(own).unfinished += 1;
            break;
        }
        if step > 0 && matches!(shared.settings.pace, Pace::Capped(_)) {
            // The cap is one of requests, not of journeys.
            match shared.due.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => break,
            }
        }
        let number = shared.sent.fetch_add(1, Ordering::AcqRel);
        if shared.settings.max_requests.is_some_and(|most| number >= most) {
            shared.drain(Ended::Budget);
            break;
        }
        let begun = begun.get_or_insert_with(|| turn.begin(shared, own));
        let body = entry.body(number, token.as_deref());
        let sent_at = Instant::now();
        let intended = turn.due.filter(|_| step == 0).unwrap_or(sent_at);
        let exchange = state.line.exchange(&shared.settings.transport, body).await;
        let latency = sent_at.duration_since(intended) + exchange.took;
        let sent = Sent {
            entry,
            number,
            token: token.as_deref(),
        };
        let looked = shared.settings.judging.look(&exchange, sent, &mut state.scratch);
        let outcome = looked.0;
        state.back_off(&exchange);
        note(shared, &exchange, outcome, intended);
        begun.answered &= outcome.is_answer();
        count(shared, own, &exchange, entry, (intended, latency), looked);
        if !shared.settings.goose.is_empty() {
            tell_goose(user, entry, &exchange, latency, outcome).await;
        }
        if outcome != Outcome::Good {
            break;
        }
        if let Ok(response) = &exchange.outcome {
            token = judging::quoted_token_if(
                response,
                shared.settings.mix.chain(turn.number),
                step,
                turn.number,
            );
        }
    }
    if let Some(begun) = begun {
        begun.end(shared, own);
    }
}

/// Notes whether the target responds, when it answered, and whether it asks for a pause.
fn note(shared: &Shared, exchange: &Exchange, outcome: Outcome, intended: Instant) {
    let elapsed = shared.clock.elapsed();
    let response = match &exchange.outcome {
        Ok(response) => response,
        Err(failure) => return shared.liveness.failed(failure, elapsed),
    };
    shared.liveness.responded(elapsed);
    if outcome.is_answer() && shared.clock.measured(intended).is_some() {
        shared.answered(elapsed);
    }
    if shared.settings.respect_retry_after
        && let ThrottleDecision::Wait(pause) =
            RetryPolicy::UNDER_LOAD.start().decide(response, SystemTime::now)
    {
        shared.pause(pause);
    }
}

fn count(
    shared: &Shared,
    own: usize,
    exchange: &Exchange,
    entry: &Entry,
    (intended, latency): (Instant, Duration),
    (outcome, judged, seen): (Outcome, bool, Seen),
) {
    let at = shared.clock.measured(intended);
    let mut part = shared.part(own);
    part.record(&Sample {
        label: entry.label,
        at,
        latency,
        outcome,
        judged,
    });
    if at.is_none() {
        return;
    }
    if let Some((rule, violation)) = seen.broken {
        let key = WrongKey {
            rule: rule.id.to_owned(),
            label: entry.label.to_owned(),
            pointer: judging::pointer(rule, &violation),
        };
        part.wrong(key, || {
            let response = exchange.outcome.as_ref().ok();
            let safe = |bytes: &[u8]| {
                let text = String::from_utf8_lossy(&bytes[..bytes.len().min(KEPT)]);
                shared.settings.redactor.apply(&text).into_owned()
            };
            Example {
                expected: safe(violation.expected.as_bytes()),
                actual: safe(violation.actual.as_bytes()),
                request: safe(&exchange.request),
                status: response.map(|response| response.status),
                response: response.map(|response| safe(&response.body)).unwrap_or_default(),
            }
        });
    }
    if let Some(code) = seen.error_code {
        part.error_code(code);
    }
    if let Some(words) = seen.trouble {
        part.trouble(shared.settings.redactor.apply(&words).into_owned());
    }
}

async fn tell_goose(
    user: &mut GooseUser,
    entry: &Entry,
    exchange: &Exchange,
    latency: Duration,
    outcome: Outcome,
) {
    let status = exchange.outcome.as_ref().ok().map(|response| response.status);
    let good = outcome == Outcome::Good;
    // It fails only when goose no longer listens, and then the run is over.
    let _ = user
        .record_custom_request_duration(
            "POST",
            entry.label,
            latency,
            good,
            status,
            (!good).then_some(outcome.words()),
        )
        .await;
}
