//! A whole run: discovery, the plan, the confirmation of violations, the summary.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::mpsc::UnboundedReceiver, task::JoinSet, time::Instant};

use crate::events::Event;
use crate::run::confirming::confirm;
use crate::run::planning::{Forecast, GroupQueue, of_plan};
use crate::run::sending::{LastRequest, Notice, Sender, Sponsorships, limits_of};
use crate::run::worker::{OVER_ONE_CONNECTION, Progress, Sessions, Work, last_in_words};
use crate::run::{Reporter, Suite};
use paymaster_client::pace::Pace;
use paymaster_client::stop::{Reason, Stop};
use paymaster_engine::cases::{Group, Member, Role};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::session::{Access, Ending, RefusedClients, Rounds, Sent, Session};
use paymaster_engine::spending::SpendingLimits;
use paymaster_engine::verdict::{End, Summary};
use paymaster_exchange::{Exchange, Failure};
use paymaster_settings::Settings;

/// From fewer judged requests, the duration of the run is not estimated.
const ENOUGH: usize = 20;

/// After how many answers of discovery, none of them JSON-RPC, the plan is not sent.
const ENOUGH_ANSWERS: usize = 20;

/// What came for a request that was in flight when the target ended.
const ENDED: &str = "the connection was closed without an answer, and every one since was refused";

/// The time between two progress events.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The result of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// The summary.
    pub summary: Summary,
    /// What is known about the target at the end; a replay judges by it.
    pub context: Arc<dyn Knowledge>,
}

/// Runs a suite against a target and reports its events. It does not fail: what went wrong is in the summary.
#[expect(clippy::too_many_lines, reason = "the steps of a run, in order")]
pub async fn check(
    settings: &Settings,
    suite: &Suite,
    stop: &Stop,
    reporter: &mut dyn Reporter,
) -> RunOutcome {
    let started = Instant::now();
    let is_idle = settings.args.idle.is_some();
    let suite = &suite.with_idle(is_idle);
    let limits = limits_of(settings);
    let (mut sender, notices) = sender_of(settings, suite, limits, stop, started);
    sender.reports_exchanges = reporter.wants_exchanges();
    let mut listener = Listener { notices, reporter };
    let sender = Arc::new(sender);
    let limit = stop.trigger_after(settings.args.time_limit());
    let specification = suite.specification.line();
    listener.event(&Event::Started {
        target: &settings.shown_target,
        specification: &specification,
        seed: settings.seed(),
    });
    let mut forecast = Forecast::new(settings, suite, started);
    report_estimate(&mut forecast, &sender, &mut listener).await;
    let (context, access, sent) = discover(settings, suite, limits, &sender, &mut listener).await;
    sender.target.lock().comparison.knowing(Arc::clone(&context));
    forecast.learn(&context, sender.pace.sent());
    sender.sponsorships.lock().learn(&context);
    let mut session = Session::new(suite.rules.clone(), Arc::clone(&context));
    (session.known, session.idle) = (Arc::clone(&suite.known), is_idle);
    session.tally.without_examples = !settings.closer_look;
    let before_plan = sender.pace.sent();
    let (mut plan_end, mut judged, mut coverage, mut last) = (None, 0, Vec::new(), None);
    let answers =
        sent.iter().flat_map(|(_, exchanges)| exchanges).filter(|exchange| exchange.outcome.is_ok());
    let is_no_json_rpc = answers.count() >= ENOUGH_ANSWERS && access.is_no_json_rpc();
    if stop.reason().is_none() && !access.is_permanently_denied() && !is_no_json_rpc {
        (plan_end, judged, last) =
            judge_plan(settings, suite, &sender, sent, &mut forecast, &mut session, &mut listener).await;
        if session.shortened && forecast.depth_ends() <= Instant::now() {
            coverage.push(format!(
                "{judged} requests of the plan were sent in the {} s that it has, the rest of its depth was not (--time-limit)",
                (forecast.depth_ends() - started).as_secs()
            ));
        }
    } else {
        session.tally.access.merge(access);
    }
    let (in_flight, last_requests) = sender.target.lock().last_at_end(sender.jobs);
    judge_last(&last_requests, &mut session);
    let last = last_in_words(in_flight, &last_requests).or(last);
    if limits.is_some() && sender.target.lock().liveness.has_answered() {
        coverage.push(sender.sponsorships.lock().account());
    }
    let denied = session.tally.denied().map(Reason::GaveUp);
    listener.event(&Event::Confirming);
    let confirming = confirm::findings(&sender, suite, &session, settings, forecast.ends());
    let findings = listener.hear(confirming).await;
    listener.hear_the_rest();
    for finding in &findings {
        listener.event(&Event::Found(finding));
    }
    limit.abort();
    coverage.extend(observe_sending(settings, &sender, &mut session, judged > 0));
    let took = started.elapsed();
    let progress = u32::try_from(before_plan + judged).ok().filter(|_| judged >= ENOUGH);
    let interval = progress.and_then(|requests| took.checked_div(requests));
    let early = match denied.or_else(|| stop.reason()).or(plan_end) {
        Some(reason) => {
            let (end, mut cause) = early_end(&reason, &mut forecast, interval).await;
            if let Some(last) = last.filter(|_| end == End::GaveUp) {
                cause = format!("{cause}; {last}");
            }
            Some((end, cause))
        }
        None => None,
    };
    let mut summary = session.conclude(Ending {
        target: settings.shown_target.clone(),
        seed: settings.seed(),
        early,
        findings,
        strictness: settings.strictness(),
        recorded: None,
        requests: sender.pace.sent(),
        connections: sender.jobs,
        took,
    });
    summary.coverage = coverage;
    listener.event(&Event::Finished(&summary));
    RunOutcome { summary, context }
}

/// Observes what the sender saw of the target. Returns what limits the run; requests in flight do so where any of the plan was judged.
fn observe_sending(
    settings: &Settings,
    sender: &Sender,
    session: &mut Session,
    has_judged: bool,
) -> Vec<String> {
    let observations = &mut session.tally.observations;
    for (protocol, times) in sender.http_versions() {
        observations.entry("behaviour.http-version").or_default().insert(protocol.to_string(), times);
    }
    let target = sender.target.lock();
    if let Some(overload) = &target.overload {
        let in_flight = observations.entry("behaviour.requests-in-flight").or_default();
        in_flight.insert(overload.to_string(), overload.times);
    }
    let mut limits: Vec<String> = target.absences().into_iter().collect();
    let in_flight = sender.most_in_flight();
    if settings.args.jobs() > 1 && in_flight > 0 {
        if has_judged && (sender.pace.interval().is_some() || in_flight == 1) {
            let why = match (sender.pace.interval(), settings.args.rate) {
                (None, _) => "",
                (Some(_), Some(_)) => ", with --rate",
                (Some(_), None) => ": the target refused some for a time, and others were sent more slowly",
            };
            limits.push(format!("requests in flight at a time: at most {in_flight}{why}"));
        }
        if in_flight == 1 {
            session.alone = true;
        }
    }
    limits
}

/// What sends the requests of a run that began at `started`.
fn sender_of(
    settings: &Settings,
    suite: &Suite,
    limits: SpendingLimits,
    stop: &Stop,
    started: Instant,
) -> (Sender, UnboundedReceiver<Notice>) {
    let pace =
        Pace::new(settings.args.rate, settings.args.max_requests, started + settings.args.time_limit())
            .after(settings.asked);
    let sponsorships = Sponsorships::new(suite.specification, limits);
    let (mut sender, notices) =
        Sender::new(settings.transport.clone(), stop.clone(), pace, settings.args.jobs(), sponsorships);
    sender.idle_time = settings.args.idle.unwrap_or_default();
    sender.chain = suite.chain.as_ref().map(|chain| chain.with_bundler(settings.profile.bundler()));
    sender.target.lock().comparison.knowing(settings.profile.with_chain(suite.chain.is_some()));
    (sender, notices)
}

/// How the reason for an early end counts in the conclusion, and what is reported. `interval` is the time for each request of the plan, with
/// everything that was sent and waited for beside it; none where few were judged.
async fn early_end(
    reason: &Reason,
    forecast: &mut Forecast<'_>,
    interval: Option<Duration>,
) -> (End, String) {
    let late = match (reason, interval) {
        (Reason::TimeLimit(_), Some(interval)) => forecast.at(interval).await,
        _ => None,
    };
    let cause = match late.filter(|late| late.shortened) {
        Some(late) => format!("{reason}: {late}"),
        None => reason.to_string(),
    };
    let end = match reason {
        Reason::GaveUp(_) => End::GaveUp,
        Reason::Interrupted | Reason::TimeLimit(_) | Reason::FirstViolation | Reason::Limited(_) => {
            End::Stopped
        }
        Reason::Budget(_) => End::Done,
    };
    (end, cause)
}

/// Sends the requests of discovery. Returns what it found, whether requests got past HTTP to the service, and what was sent to the service
/// and is still to be judged.
async fn discover(
    settings: &Settings,
    suite: &Suite,
    limits: SpendingLimits,
    sender: &Sender,
    listener: &mut Listener<'_>,
) -> (Arc<dyn Knowledge>, Access, Sent) {
    let known = settings.profile.with_chain(suite.chain.is_some()).with_spending_limits(limits);
    let mut rounds = Rounds::new(known.discovery(settings.seed()));
    let mut answers = Vec::new();
    while let Some(round) = rounds.next_round(answers) {
        let Some(came) = listener.hear(sender.deliver_round(round)).await else { break };
        answers = came;
    }
    let (discovery, mut sent) = rounds.finish(suite.specification);
    let (known, access) = discovery.finish();
    let mut clients = RefusedClients::new(known, settings.seed());
    let mut answers = Vec::new();
    while let Some(round) = clients.next_round(&answers) {
        let Some(came) = listener.hear(sender.deliver_round(round)).await else { break };
        answers = came;
        sent.extend(answers.iter().cloned());
    }
    (clients.finish(), access, sent)
}

/// Reports what happens while requests are sent.
struct Listener<'a> {
    notices: UnboundedReceiver<Notice>,
    reporter: &'a mut dyn Reporter,
}

impl Listener<'_> {
    fn event(&mut self, event: &Event<'_>) {
        self.reporter.event(event);
    }

    /// Awaits `work`, and reports notices meanwhile.
    async fn hear<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                output = &mut work => return output,
                Some(notice) = self.notices.recv() => self.report(&notice),
            }
        }
    }

    fn hear_the_rest(&mut self) {
        while let Ok(notice) = self.notices.try_recv() {
            self.report(&notice);
        }
    }

    fn report(&mut self, notice: &Notice) {
        match notice {
            Notice::Waiting { pause, reason, .. } => self.event(&Event::Waiting { pause: *pause, reason }),
            Notice::Overloaded(overload) => {
                self.event(&Event::Overloaded { jobs: overload.jobs, sign: &overload.sign });
            }
            Notice::Exchanged(exchange) => self.event(&Event::Exchanged(exchange)),
        }
    }
}

/// However slow the target is, so many requests may be in flight: it may answer many at once.
const FEWEST_JOBS: usize = 25;

/// How many requests may be in flight: a target that answers one after the other, as fast as its fastest answer, answers them in half of the time
/// that each may take.
fn answered_in_time<'a>(exchanges: impl Iterator<Item = &'a Exchange>, limit: Duration) -> usize {
    let fastest = exchanges.filter(|exchange| exchange.outcome.is_ok()).map(|exchange| exchange.took).min();
    let jobs = (limit / 2).as_micros() / fastest.unwrap_or_default().as_micros().max(1);
    usize::try_from(jobs).unwrap_or(usize::MAX).max(FEWEST_JOBS)
}

/// Judges the requests that got no answer because the target ended, each behind the answered ones that may have ended it.
fn judge_last(last: &[LastRequest], session: &mut Session) {
    let member_of = |request: &LastRequest| Member { role: Role::Call, ..request.group.members[0].clone() };
    let before: Vec<(Member, Exchange)> =
        last.iter().filter_map(|request| Some((member_of(request), request.answer.clone()?))).collect();
    for request in last.iter().filter(|request| request.answer.is_none()) {
        let member = &request.group.members[0];
        let ended =
            Exchange::new(member.body.clone(), Err(Failure::Broken(ENDED.to_owned())), Duration::ZERO);
        let ended = Exchange { sent_as: member.sent_as.clone(), ..ended };
        let (members, exchanges): (Vec<_>, Vec<_>) =
            before.iter().cloned().chain([(member.clone(), ended)]).unzip();
        session.judge(&Group { members, ..request.group.clone() }, &exchanges);
    }
}

/// Judges what discovery sent, and sends and judges every group of the plan. Returns why it was not completed, how many requests were sent as part of groups, and which ones
/// were the last, in words.
#[expect(clippy::too_many_lines, reason = "the steps of a plan, in order")]
async fn judge_plan(
    settings: &Settings,
    suite: &Suite,
    sender: &Arc<Sender>,
    discovered: Sent,
    forecast: &mut Forecast<'_>,
    session: &mut Session,
    listener: &mut Listener<'_>,
) -> (Option<Reason>, usize, Option<String>) {
    sender.target.lock().liveness.begin_plan();
    let context = &Arc::clone(&forecast.context);
    let budget = sender.pace.left();
    let at_most = suite.scope.at_most(settings.args.cases(), suite.specification).min(budget);
    listener.event(&Event::Planned {
        dialect: &context.dialect(),
        at_most,
        limits: context.spending_limits(),
    });
    forecast.begin_plan(&sender.pace);
    report_estimate(forecast, sender, listener).await;
    let (groups, building) =
        GroupQueue::start(suite, context, settings.seed(), settings.args.cases(), budget);
    let exchanges = discovered.iter().flat_map(|(_, exchanges)| exchanges);
    let jobs = sender.jobs.min(answered_in_time(exchanges, settings.transport.limits.timeout));
    sender.lower_jobs(jobs);
    let workers = jobs.min(at_most);
    let work = Arc::new(Work {
        sender: Arc::clone(sender),
        sessions: Sessions { empty: session.clone(), idle: Mutex::default() },
        groups,
        progress: Mutex::new(Progress { depth_ends: Some(forecast.depth_ends()), ..Progress::default() }),
        ended: Stop::default(),
        over_one_connection: if at_most < 4 * OVER_ONE_CONNECTION { 0 } else { OVER_ONE_CONNECTION },
        begun: Instant::now(),
        plan_ends: forecast.started + of_plan(settings.args.time_limit()),
        time_limit: settings.args.time_limit(),
        fail_fast: suite.fail_fast,
        strict: settings.strictness().strict,
    });
    let mut running = JoinSet::new();
    for place in 0..workers {
        running.spawn(Arc::clone(&work).run(place));
    }
    let mut unanswered = work.receive_all(discovered);
    let mut reported = BTreeSet::new();
    let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
    loop {
        tokio::select! {
            joined = running.join_next() => match joined {
                None => break,
                Some(Ok(groups)) => unanswered.extend(groups),
                Some(Err(cause)) => sender.stop.trigger(Reason::GaveUp(format!("a worker of ours failed: {cause}"))),
            },
            Some(notice) = listener.notices.recv() => listener.report(&notice),
            _ = tick.tick() => {
                report_progress(&work, &mut reported, listener);
                report_estimate(forecast, sender, listener).await;
                work.progress.lock().depth_ends = Some(forecast.depth_ends());
            }
        }
    }
    work.groups.close().await;
    let cut = building.await.unwrap_or_else(|cause| {
        sender.stop.trigger(Reason::GaveUp(format!("the plan could not be made: {cause}")));
        false
    });
    let stopped_answering = matches!(sender.stop.reason(), Some(Reason::GaveUp(_)));
    work.settle(&unanswered, stopped_answering, settings.seed().wrapping_add(2)).await;
    for part in work.sessions.idle.lock().drain(..) {
        session.merge(part);
    }
    report_progress(&work, &mut reported, listener);
    if work.progress.lock().shortened {
        session.shortened = true;
    }
    if cut {
        work.ended.trigger(Reason::Budget(settings.args.max_requests.unwrap_or_default()));
    }
    let progress = work.progress.lock();
    (work.ended.reason(), progress.judged, progress.last.in_words())
}

fn report_progress(work: &Work, reported: &mut BTreeSet<&'static str>, listener: &mut Listener<'_>) {
    for rule in work.newly_broken(reported) {
        reported.insert(rule.id);
        listener.event(&Event::Broken { rule });
    }
    listener.event(&Event::Judged {
        groups: work.progress.lock().done,
        requests: work.sender.pace.sent(),
        findings: reported.len(),
    });
}

async fn report_estimate(forecast: &mut Forecast<'_>, sender: &Sender, listener: &mut Listener<'_>) {
    if let Some(estimate) = forecast.update(&sender.pace).await {
        listener.event(&Event::Estimated(&estimate));
    }
}

#[cfg(test)]
mod tests {
    use paymaster_exchange::Response;

    use super::*;

    #[test]
    fn a_slow_target_has_fewer_requests_in_flight() {
        let answered = |millis| {
            let response = Response { status: 200, headers: Vec::new(), body: "{}".into() };
            Exchange::new("{}", Ok(response), Duration::from_millis(millis))
        };
        let failed = Exchange::new("{}", Err(Failure::Broken(String::new())), Duration::ZERO);
        let most = |fastest| {
            let exchanges = [answered(2_000), answered(fastest), failed.clone()];
            answered_in_time(exchanges.iter(), Duration::from_secs(10))
        };
        assert_eq!([1, 100, 125, 1_000].map(most), [5_000, 50, 40, FEWEST_JOBS]);
    }
}
