//! What a user does: it takes a turn, sends a chain of requests over its own connection, has the answers judged and counted.
//!
//! goose looks at its users between transactions, so a transaction is a slice of a user's work, not one exchange.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::{Duration, Instant, SystemTime},
};

use goose::goose::GooseUser;
use paymaster_conformance::{
    exchange::{Exchange, Response},
    run::{Line, pause},
};

use super::shared::{Ended, Pace, Shared};
use crate::{
    corpus::Entry,
    figures::{Example, Sample, WrongKey, outcome::Outcome},
    judging::{self, Seen, Sent},
};

/// How long a user works until goose may stop it.
const SLICE: Duration = Duration::from_millis(100);
/// How long a user rests who has nothing to do.
const IDLE: Duration = Duration::from_millis(2);
/// An arrival that begins later than this is late.
const LATE: Duration = Duration::from_millis(1);
/// How much of a wrong answer is kept.
const KEPT: usize = 4_096;

/// What a user has of its own.
#[derive(Default)]
pub(crate) struct State {
    line: Line,
    scratch: Vec<u8>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

/// A turn: its number, and when it is due in the open model.
#[derive(Clone, Copy)]
struct Turn {
    number: u64,
    due: Option<Instant>,
    /// Whether a user had been waiting for it.
    awaited: bool,
}

/// Works for a while.
pub(super) async fn work(shared: &Arc<Shared>, user: &mut GooseUser) {
    let own = user.weighted_users_index;
    let mut state = rested(shared, own).unwrap_or_default();
    let until = Instant::now() + SLICE;
    shared.clock.start();
    loop {
        let Some(turn) = turn(shared, until).await else {
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

/// Waits for the next turn; none when there is none before `until`, or no more.
async fn turn(shared: &Shared, until: Instant) -> Option<Turn> {
    if shared.is_over() {
        return None;
    }
    let open = matches!(shared.settings.pace, Pace::Open(_));
    if !open && (shared.is_draining() || Instant::now() >= shared.clock.ends()) {
        return None;
    }
    if !open && let Some(paused) = shared.paused() {
        tokio::time::sleep_until(paused.min(until).into()).await;
        return None;
    }
    let Some(schedule) = shared.settings.pace.schedule() else {
        let number = shared.turns.fetch_add(1, Ordering::AcqRel);
        return Some(Turn {
            number,
            due: None,
            awaited: false,
        });
    };
    if shared.ended() == Some(Ended::Budget) {
        return None;
    }
    let (permit, awaited) = if let Ok(permit) = shared.due.try_acquire() {
        (permit, false)
    } else {
        let waited = tokio::time::timeout_at(until.into(), shared.due.acquire()).await;
        (waited.ok()?.ok()?, true)
    };
    permit.forget();
    let number = shared.turns.fetch_add(1, Ordering::AcqRel);
    let due = schedule.due(number).map(|due| shared.clock.start() + due);
    Some(Turn {
        number,
        due: due.filter(|_| open),
        awaited,
    })
}

/// Sends the requests of a chain, one after the other.
async fn chain(shared: &Arc<Shared>, state: &mut State, user: &mut GooseUser, own: usize, turn: Turn) {
    if let Some(due) = turn.due {
        let measured = shared.clock.measured(due).is_some();
        let late = due.elapsed() > LATE;
        let held_back = shared.paused().is_some();
        let mut part = shared.part(own);
        if measured {
            part.arrivals.due += 1;
            part.arrivals.held_back += u64::from(held_back);
            part.arrivals.waited += u64::from(late && !turn.awaited && !held_back);
            part.arrivals.late += u64::from(late && turn.awaited && !held_back);
        }
        if held_back {
            return;
        }
    }
    let mut token: Option<String> = None;
    for (step, entry) in shared.settings.mix.chain(turn.number).iter().enumerate() {
        if step > 0 && entry.takes_a_token() && token.is_none() {
            shared.part(own).unfinished += 1;
            return;
        }
        if step > 0 && matches!(shared.settings.pace, Pace::Capped(_)) {
            // The cap is one of requests, not of journeys.
            match shared.due.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => return,
            }
        }
        let number = shared.sent.fetch_add(1, Ordering::AcqRel);
        if shared.settings.max_requests.is_some_and(|most| number >= most) {
            shared.drain(Ended::Budget);
            return;
        }
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
        answered(shared, &exchange);
        let outcome = looked.0;
        count(shared, own, &exchange, entry, (intended, latency), looked);
        if !shared.settings.goose.is_empty() {
            tell_goose(user, entry, &exchange, latency, outcome).await;
        }
        if outcome != Outcome::Good {
            return;
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
}

/// Notes that the target lives, and whether it asks for a pause.
fn answered(shared: &Shared, exchange: &Exchange) {
    let Ok(response) = &exchange.outcome else { return };
    let now = u64::try_from(shared.clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
    shared.last_response.store(now, Ordering::Relaxed);
    if shared.settings.respect_retry_after
        && let Some(asked) = limited(response)
    {
        shared.pause(asked);
    }
}

fn limited(response: &Response) -> Option<Duration> {
    // The common case costs no look at the clock.
    matches!(response.status, 429 | 503)
        .then(|| pause(response, SystemTime::now()))
        .flatten()
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
