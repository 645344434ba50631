//! A user: it starts iterations, sends their requests over its own connection, and counts the judged answers.
//!
//! goose can stop a user between two transactions only. So a transaction is a slice of a user's time, not one exchange.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use goose::goose::{GooseUser, TransactionResult};
use paymaster_client::lean::{LeanConnection, Reply};
use paymaster_client::throttling::stated_pause;
use paymaster_engine::rules::Violation;
use paymaster_exchange::{Exchange, Failure};

use super::iteration::{self, Iteration};
use crate::engine::{EndReason, Lane, Pacing, RunState};
use crate::figures::{self, Example, LONGEST_BODY, Outcome, Sample, WrongKey};
use crate::judging::{self, Assessment, SentRequest};

/// How long a user works before goose may stop it.
const SLICE: Duration = Duration::from_millis(100);
/// How long a user sleeps if it has no iteration to start.
const IDLE: Duration = Duration::from_millis(2);
/// The pause after a user's first failed connection. It doubles with each further failure in a row.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause after failed connections.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The connection of a user, and when it may connect again.
#[derive(Debug, Default)]
pub(crate) struct UserState {
    connection: LeanConnection,
    back_off: BackOff,
}

/// When a user may connect again.
#[derive(Debug, Default)]
struct BackOff {
    /// Failed connections in a row.
    failed: u32,
    /// The end of the pause after a failed connection.
    paused_until: Option<Instant>,
}

impl BackOff {
    /// Sets the pause after a failed connection, or clears it after any other exchange and after a plain reply.
    fn note(&mut self, exchange: Option<&Exchange>) {
        let outcome = exchange.map(|exchange| &exchange.outcome);
        if let Some(Err(Failure::Connect(_) | Failure::Broken(_))) = outcome {
            let pause = FIRST_PAUSE.saturating_mul(1 << self.failed.min(10)).min(LONGEST_PAUSE);
            self.failed += 1;
            self.paused_until = Some(Instant::now() + pause);
        } else {
            (self.failed, self.paused_until) = (0, None);
        }
    }
}

/// Starts iterations of a user of goose until the end of a slice.
pub(crate) async fn work(run: Arc<RunState>, user: &mut GooseUser, is_reported: bool) -> TransactionResult {
    let index = user.weighted_users_index;
    let mut state = take_state(&run, index).unwrap_or_else(|| {
        run.users.change(&run.clock, |users| users + 1);
        UserState::default()
    });
    run.clock.start();
    let sender = Sender { index, lane: None, goose: Some(user).filter(|_| is_reported) };
    work_slice(&run, &mut state, sender).await;
    run.idle_users.lock().insert(index, state);
    Ok(())
}

/// Who sends the requests of an iteration.
pub(crate) struct Sender<'a> {
    /// The number of the user.
    pub(super) index: usize,
    /// What the user sends; none for the mix of the run.
    pub(super) lane: Option<&'a Lane>,
    /// The user of goose, to which exchanges are reported if there is a dashboard or report of goose.
    pub(super) goose: Option<&'a mut GooseUser>,
}

/// Starts iterations until the end of a slice.
pub(crate) async fn work_slice(run: &RunState, state: &mut UserState, mut sender: Sender<'_>) {
    let mut now = Instant::now();
    let until = now + SLICE;
    loop {
        if let Some(pause_ends) = state.back_off.paused_until.filter(|ends| *ends > now) {
            tokio::time::sleep_until(pause_ends.min(until).into()).await;
            if pause_ends >= until {
                break;
            }
            now = Instant::now();
        }
        let Some(iteration) = iteration::next(run, now, until).await else {
            // goose starts the next slice at once and never yields by itself. Without this sleep, idle users would keep the timers
            // of the runtime from firing.
            tokio::time::sleep(IDLE).await;
            break;
        };
        run.busy.fetch_add(1, Ordering::AcqRel);
        let busy = scopeguard::guard(&run.busy, |busy| _ = busy.fetch_sub(1, Ordering::AcqRel));
        now = execute(run, state, &mut sender, iteration).await;
        drop(busy);
        if now >= until {
            break;
        }
    }
}

/// Closes the connection of a user that goose has stopped.
pub(crate) fn leave(run: &RunState, user: &GooseUser) {
    if take_state(run, user.weighted_users_index).is_some() {
        run.users.change(&run.clock, |users| users.saturating_sub(1));
    }
}

fn take_state(run: &RunState, index: usize) -> Option<UserState> {
    run.idle_users.lock().remove(&index)
}

/// Sends the requests of an iteration, one after the other. Gives the time of the last answer.
#[expect(
    clippy::too_many_lines,
    reason = "the way of one request, in order, on the path that decides the speed"
)]
async fn execute(
    run: &RunState,
    state: &mut UserState,
    sender: &mut Sender<'_>,
    iteration: Iteration,
) -> Instant {
    let index = sender.index;
    if iteration.is_held_back(run, index) {
        return Instant::now();
    }
    let taken = sender.lane.map(|lane| lane.take(iteration.number));
    let (mix, place) =
        taken.as_ref().map_or((&run.settings.mix, iteration.number), |(mix, place)| (&**mix, *place));
    let sequence = mix.sequence(place);
    let mut token: Option<String> = None;
    let mut operation = None;
    let mut started = None;
    let mut ended = None;
    for (step, template) in sequence.iter().enumerate() {
        if step > 0 && template.taken.is_some() && token.is_none() {
            run.figures_of(index).unfinished += 1;
            break;
        }
        if step > 0 && matches!(run.settings.pacing, Pacing::Capped(_)) {
            // The cap limits requests, not iterations.
            match run.due.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => break,
            }
        }
        let number = run.sent.fetch_add(1, Ordering::AcqRel);
        if run.settings.max_requests.is_some_and(|most| number >= most) {
            run.drain(EndReason::RequestBudget);
            break;
        }
        let sent_at = Instant::now();
        let started = started.get_or_insert_with(|| iteration.start(run, index, sent_at));
        let intended = iteration.due.filter(|_| step == 0).unwrap_or(sent_at);
        let sent = SentRequest { template, number, token: token.as_deref() };
        let UserState { connection, back_off } = state;
        let operation = *operation.get_or_insert(number);
        let write = |out: &mut Vec<u8>| template.write(number, operation, sent.token, out);
        let length = template.length(sent.token);
        let reply = connection.exchange(&run.settings.transport, sent_at, length, write).await;
        let (reply, assessment) = run.settings.judge.assess_reply(reply, sent);
        let (took, exchange, response) = match &reply {
            Reply::Plain(plain) => (plain.took, None, Some((plain.status, plain.body))),
            Reply::Other(exchange) => {
                let response = exchange.outcome.as_ref().ok();
                let response = response.map(|response| (response.status, &response.body[..]));
                (exchange.took, Some(exchange), response)
            }
        };
        let answered_at = sent_at + took;
        ended = Some(answered_at);
        let sample = Sample {
            label: template.label,
            at: run.clock.measured(intended),
            latency: answered_at.duration_since(intended),
            outcome: assessment.outcome,
            judged: assessment.judged,
        };
        back_off.note(exchange);
        note(run, exchange, &sample, answered_at);
        count(run, index, &sample, &assessment, exchange);
        let outcome = sample.outcome;
        let (status, body) = response.unzip();
        token = (outcome == Outcome::Good)
            .then(|| judging::value_for_next(body.unwrap_or_default(), sequence, step, place))
            .flatten();
        if let Some(user) = sender.goose.as_deref_mut() {
            report_to_goose(user, &sample, status).await;
        }
        started.answered &= outcome.is_answer();
        if outcome != Outcome::Good {
            break;
        }
    }
    if let Some(started) = started {
        started.finish(run, index);
    }
    ended.unwrap_or_else(Instant::now)
}

/// Notes whether the target responds, when it answered, and whether it requests a pause. A plain reply has no exchange.
fn note(run: &RunState, exchange: Option<&Exchange>, sample: &Sample<'_>, now: Instant) {
    let elapsed = now.saturating_duration_since(run.clock.start());
    let outcome = exchange.map(|exchange| exchange.outcome.as_ref());
    if let Some(Err(failure)) = outcome {
        return run.liveness.failed(failure, elapsed);
    }
    run.liveness.responded(elapsed);
    if sample.outcome.is_answer() && sample.at.is_some() {
        run.note_answer(elapsed);
    }
    if run.settings.respect_retry_after
        && let Some(Ok(response)) = outcome
        && let Some(pause) = stated_pause(response, SystemTime::now)
    {
        run.pause(pause);
    }
}

/// Counts an exchange. In the warm-up, only its outcome counts. `exchange` is there if the answer may break a rule.
fn count(
    run: &RunState,
    index: usize,
    sample: &Sample<'_>,
    assessment: &Assessment,
    exchange: Option<&Exchange>,
) {
    let mut figures = run.figures_of(index);
    figures.record(sample);
    if sample.at.is_none() {
        return;
    }
    for (rule, violation) in &assessment.violations {
        let key = WrongKey {
            rule: rule.id.to_owned(),
            label: sample.label.to_owned(),
            pointer: judging::pointer(rule, violation),
        };
        figures.add_wrong(key, || example(run, violation, exchange));
    }
    if let Some(code) = &assessment.error_code {
        figures::count(&mut figures.error_codes, code.clone(), 1);
    }
    if let Some(failure) = &assessment.failure {
        let failure = run.settings.redactor.apply(failure).into_owned();
        figures::count(&mut figures.failures, failure, 1);
    }
}

/// A wrong answer for the report.
fn example(run: &RunState, violation: &Violation, exchange: Option<&Exchange>) -> Example {
    let redacted = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_BODY)]);
        run.settings.redactor.apply(&text).into_owned()
    };
    let response = exchange.and_then(|exchange| exchange.outcome.as_ref().ok());
    Example {
        expected: redacted(violation.expected.as_bytes()),
        actual: redacted(violation.actual.as_bytes()),
        request: exchange.map(|exchange| redacted(&exchange.request)).unwrap_or_default(),
        status: response.map(|response| response.status),
        response: response.map(|response| redacted(&response.body)).unwrap_or_default(),
        pointer: redacted(violation.pointer.as_bytes()),
    }
}

/// Adds an exchange to the metrics of goose, for its dashboard and reports.
async fn report_to_goose(user: &mut GooseUser, sample: &Sample<'_>, status: Option<u16>) {
    let good = sample.outcome == Outcome::Good;
    let error = (!good).then_some(sample.outcome.description());
    // It fails only after goose has closed its metrics, at the end of the run.
    let reported =
        user.record_custom_request_duration("POST", sample.label, sample.latency, good, status, error);
    let _ = reported.await;
}
