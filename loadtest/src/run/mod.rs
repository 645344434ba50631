//! A run, from discovery to the summary.

mod discover;
mod options;
pub mod target_check;

pub(crate) use discover::discover;
pub use options::*;

use std::{pin::pin, sync::Arc, time::Duration};

use paymaster_client::http::PooledConnection;
use paymaster_settings::{RunSetup, Settings as TargetSettings, output::CurlCommand, process::CommandError};

use crate::engine::{
    EndReason, MOST_USERS, Pacing, RunClock, RunSettings, RunState, Schedule, Timetable, execute, plan,
};
use crate::figures::{CpuTimes, Figures};
use crate::judging::AnswerJudge;
use crate::metrics::LiveFigures;
use crate::number::{epoch, whole};
use crate::results::{LoadModel, ModelName, RunSummary, Threshold, ThresholdResult, first_broken, judge_all};
use crate::scenarios::{Mix, RequestGenerator};
use crate::text::seconds;

/// Request sequences that are made for each scenario before the start.
pub(crate) const SEQUENCES: usize = 512;
/// The default number of users in the closed model.
const CLOSED_USERS: usize = 10;
/// The default number of users in the open model: enough that arrivals seldom wait for a connection.
const OPEN_USERS: usize = 100;
/// Most requests of an iteration: a journey has two.
const MOST_REQUESTS_PER_ITERATION: f64 = 2.0;

/// When requests are sent. `limit` is the rate of the profile.
fn pacing(options: &RunOptions, limit: Option<f64>, length: Duration, seed: u64) -> Pacing {
    match (&options.rate, limit) {
        (Some(rate), _) if options.arrivals == Arrivals::Poisson => {
            Pacing::Open(Timetable::new(rate.schedule(length).poisson(seed)))
        }
        (Some(rate), _) => Pacing::Open(Timetable::new(rate.schedule(length))),
        (None, Some(limit)) => Pacing::Capped(Timetable::new(Schedule::constant(limit, length))),
        (None, None) => Pacing::Closed,
    }
}

/// Executes a load test and returns its summary, also if the load could not begin. An error is why there is none: the usage or the
/// configuration is wrong, or goose could not execute the run. `command` is the command line, without secrets. `live` gets the figures while
/// it goes on. If `signal` ends, the run ends with its figures so far.
pub async fn run(
    options: &RunOptions,
    command: String,
    setup: RunSetup,
    live: &LiveFigures,
    signal: impl Future<Output = ()> + Send,
) -> Result<RunSummary, CommandError> {
    let mut signal = pin!(signal);
    let target = &setup.settings;
    let limit = target.args.rate;
    let (clock, mut model) = planned(options, target)?;
    let requested = options.rate.as_ref().map(|rate| rate.highest() * MOST_REQUESTS_PER_ITERATION);
    let discovered = tokio::select! {
        discovered = discover(target, requested.or(limit), options.sending.i_own_this_target) => discovered?,
        () = signal.as_mut() => Err("interrupted before anything was measured".to_owned()),
    };
    let (known, discovery) = match discovered {
        Ok(discovered) => discovered,
        Err(cause) => {
            let facts = facts(&setup, command, None, options.judging, model);
            return Ok(RunSummary { cut_short: Some(cause), ..facts }.judged_by(&options.thresholds));
        }
    };
    let mut generator = RequestGenerator::new(&*known, target.seed(), SEQUENCES);
    let mix = Mix::new(&options.scenario, &options.weights.iter().cloned().collect(), &mut generator)?;
    check_limit(options.rate.as_ref(), limit, &mix)?;
    let pacing = pacing(options, limit, clock.length, target.seed());
    model.arrivals_asked = pacing.open().map(|all| all.total - all.due_before(clock.warm_up));
    let facts = facts(&setup, command, Some(&mix), options.judging, model);
    let RunSetup { settings: target, redactor, .. } = setup;
    let run = Arc::new(RunState::new(
        RunSettings {
            transport: target.transport,
            mix,
            judge: AnswerJudge::new(&known, options.judging),
            pacing,
            max_requests: options.max_requests,
            respect_retry_after: options.sending.respect_retry_after,
            redactor,
        },
        clock,
    ));
    let cpu_times = CpuTimes::now();
    live.begin(&run, cpu_times);
    let mut broken = None;
    let abort = |run: &RunState| {
        broken = broken_so_far(run, &options.abort_on);
        broken.is_some()
    };
    execute(&run, &facts.model.plan, &options.goose_options, abort, signal.as_mut()).await?;
    let generator = cpu_times.since();
    if run.ended() == Some(EndReason::TimeElapsed)
        && run.liveness.failures() > 0
        && !still_answers(&run).await
    {
        run.end_now(EndReason::TargetStopped);
    }
    let stopped_answering = run.ended() == Some(EndReason::TargetStopped);
    let summary = RunSummary {
        discovery,
        generators: vec![generator],
        ..measured(&run, run.ran_for(), stopped_answering, facts)
    };
    live.end(&summary);
    Ok(judged(summary, options, &run, broken.as_ref()))
}

/// The threshold that the figures so far break.
fn broken_so_far(run: &RunState, abort_on: &[Threshold]) -> Option<ThresholdResult> {
    let elapsed = run.clock.elapsed();
    let measured = elapsed.checked_sub(run.clock.warm_up).filter(|_| !abort_on.is_empty())?;
    first_broken(abort_on, &run.figures_until(elapsed), measured)
}

/// What a summary says of a run that begins now. There is no mix if the load cannot begin.
pub(crate) fn facts(
    setup: &RunSetup,
    command: String,
    mix: Option<&Mix>,
    judging: JudgingOptions,
    model: LoadModel,
) -> RunSummary {
    let target = &setup.shown_target;
    RunSummary {
        began: whole(epoch()),
        command,
        target: target.shown.clone(),
        curl: CurlCommand::of(target),
        embedded: target.embedded,
        scenarios: mix.map(|mix| mix.names().into_iter().map(str::to_owned).collect()).unwrap_or_default(),
        left_out: mix.map(|mix| mix.left_out.clone()).unwrap_or_default(),
        seed: setup.settings.seed(),
        model,
        judge_share: judging.judge.0,
        ..RunSummary::new(Figures::default(), Duration::ZERO)
    }
}

/// The figures of what a run measured, with its length and its facts, once new iterations were started for `ran_for`.
pub(crate) fn measured(
    run: &RunState,
    ran_for: Duration,
    stopped_answering: bool,
    facts: RunSummary,
) -> RunSummary {
    let mut figures = run.figures_until(ran_for);
    // The measured time ends with the last answer if that is later than `ran_for`, because a target that is slower than the arrivals
    // answers after the end. If the target stopped answering, it ends with the last answer in any case.
    let last = run.last_answer();
    let end = if stopped_answering && !last.is_zero() { last } else { ran_for.max(last) };
    let length = end.saturating_sub(run.clock.warm_up);
    figures.series.cover(length);
    RunSummary { stopped_answering, ..facts.with_figures(figures, length) }
}

/// Adds the end of the run, the results of the thresholds and the verdict. `broken` is the result that ended the run: it stays, although
/// answers came after it.
fn judged(
    mut summary: RunSummary,
    options: &RunOptions,
    run: &RunState,
    broken: Option<&ThresholdResult>,
) -> RunSummary {
    let [after, all] = [run.ran_for(), run.clock.length].map(|time| seconds(time.as_secs_f64()));
    summary.cut_short = match run.ended() {
        Some(EndReason::Interrupted) => Some(format!("interrupted after {after} of {all}")),
        Some(EndReason::TargetStopped) => Some(run.liveness.outage(run.ran_for())),
        // The requests in progress were completed, so that nothing of the verdict is excused by the early end.
        Some(EndReason::TimeElapsed | EndReason::RequestBudget | EndReason::ThresholdBroken) | None => None,
    };
    let mut results = judge_all(&options.thresholds, &summary.figures, summary.length());
    for threshold in &options.abort_on {
        if !results.iter().any(|result| result.threshold == *threshold) {
            results.push(threshold.judge(&summary.figures, summary.length(), false));
        }
    }
    let ended_by = broken.filter(|_| run.ended() == Some(EndReason::ThresholdBroken));
    if let Some(broken) = ended_by {
        let same = results.iter_mut().filter(|result| result.threshold == broken.threshold);
        same.for_each(|result| result.clone_from(broken));
    }
    let mut summary = summary.judged(results);
    if let Some(ThresholdResult { threshold, observed, .. }) = ended_by {
        summary.cut_short = Some(format!("--abort-on '{threshold}' was broken after {after}: {observed}"));
    }
    summary
}

/// Whether the target answers one more request, on a new connection. It is sent if the last requests failed: otherwise a target that
/// stopped answering shortly before the end would look like one that did not answer a few requests.
async fn still_answers(run: &RunState) -> bool {
    let body = run.settings.mix.sequence(0)[0].body(run.sent(), None);
    let exchange = PooledConnection::default().exchange(&run.settings.transport, body).await;
    exchange.outcome.is_ok()
}

/// The times of a run, and the model with its users.
fn planned(options: &RunOptions, target: &TargetSettings) -> Result<(RunClock, LoadModel), String> {
    // An exchange that begins before the end takes one timeout at most, and an arrival that waits for it another one.
    let slack = target.transport.limits.timeout * 2 + Duration::from_secs(5);
    let (ramp, warm_up) = (options.ramp.unwrap_or_default(), options.warm_up.unwrap_or_default());
    let unmeasured = ramp + warm_up;
    let (users, plan, length) = if let Some(plan) = &options.test_plan {
        let (users, text) = plan.users(slack).map_err(|cause| format!("--test-plan: {cause}"))?;
        (users, text, plan.length())
    } else {
        let default = if options.rate.is_some() { OPEN_USERS } else { CLOSED_USERS };
        let users = options.users.unwrap_or(default);
        if !(1..=MOST_USERS).contains(&users) {
            return Err(format!("the number of users must be from 1 to {MOST_USERS}"));
        }
        if !ramp.is_zero() && users < 2 {
            return Err("--ramp needs at least 2 users".to_owned());
        }
        let length = match &options.rate {
            Some(Rate::Steps(steps)) => steps.length(),
            _ => unmeasured + options.duration,
        };
        (users, plan::constant(users, ramp, length + slack), length)
    };
    if unmeasured >= length {
        return Err("the warm-up leaves no time to measure".to_owned());
    }
    let model = model(options.rate.as_ref(), target.args.rate, options.arrivals);
    Ok((RunClock::new(unmeasured, length), LoadModel { users, plan, ..model }))
}

/// The model of a load with this rate, or else with this limit of the profile.
pub(crate) fn model(rate: Option<&Rate>, limit: Option<f64>, arrivals: Arrivals) -> LoadModel {
    LoadModel {
        name: if rate.is_some() { ModelName::Open } else { ModelName::Closed },
        rate: rate.map(Rate::to_string).or(limit.map(|limit| limit.to_string())),
        poisson: arrivals == Arrivals::Poisson,
        ..LoadModel::default()
    }
}

/// Refuses a rate above the limit of the profile, in requests per second.
pub(crate) fn check_limit(rate: Option<&Rate>, limit: Option<f64>, mix: &Mix) -> Result<(), String> {
    if let (Some(rate), Some(limit)) = (rate, limit) {
        let requests = rate.highest() * mix.requests_per_iteration();
        if requests > limit {
            return Err(format!(
                "the profile limits the target to {limit} requests a second (target.requests-per-second), and --rate {rate} means {requests:.1}"
            ));
        }
    }
    Ok(())
}
