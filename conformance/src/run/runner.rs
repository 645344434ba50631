//! A run from the first question to the summary.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, atomic::AtomicUsize, atomic::Ordering},
    time::Duration,
};

use tokio::{
    sync::mpsc::{self, UnboundedReceiver},
    task::JoinSet,
    time::Instant,
};

use crate::events::Event;
use crate::run::{
    Reporter, Suite, confirm,
    courier::{Courier, News, join},
    forecast::Forecast,
    supply::Supply,
    worker::Work,
};
use paymaster_cli::settings::Settings;
use paymaster_client::{
    pace::Pace,
    stop::{Reason, Stop},
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::{
        case::Group,
        discovery::{Discovered, Discovery},
        plan::Plan,
    },
    session::{Ending, Session, tally::End},
    target::context::Context,
    verdict::summary::Summary,
};

/// How often the reporters are told how far the run is.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// What a run leaves behind.
#[derive(Debug)]
pub struct Outcome {
    /// The summary.
    pub summary: Summary,
    /// What is known of the target at the end: what a replay needs to judge again.
    pub context: Arc<Context>,
}

/// Runs a suite against a target and tells the reporter what happens. Never fails: what went wrong is in the summary.
pub async fn check(settings: &Settings, suite: &Suite, stop: &Stop, reporter: &mut dyn Reporter) -> Outcome {
    let started = Instant::now();
    let ends = started + settings.time_limit;
    let (sender, mut news) = mpsc::unbounded_channel();
    let courier = Courier::new(
        settings.transport.clone(),
        stop.clone(),
        Pace::new(settings.rate, settings.max_requests, ends),
        settings.jobs,
        sender,
    );
    let courier = Arc::new(
        courier
            .telling_exchanges(reporter.wants_exchanges())
            .simulating_on(suite.chain.clone()),
    );
    let limit = tokio::spawn({
        let stop = stop.clone();
        async move {
            tokio::time::sleep_until(ends).await;
            stop.trigger(Reason::TimeLimit);
        }
    });
    reporter.event(&Event::Started {
        target: &settings.shown_target,
        seed: settings.seed,
    });
    let mut forecast = Forecast::new(settings, suite);
    tell_estimate(&mut forecast, &courier, reporter).await;
    let Discovered { context, access } = discover(settings, suite, &courier, &mut news, reporter).await;
    let context = Arc::new(context);
    forecast.learn(&context, courier.pace.sent());
    let mut session = Session::new(suite.rules.clone(), suite.observe, Arc::clone(&context));
    let mut cut = false;
    if stop.reason().is_none() && !access.is_denied_for_good() {
        cut = judge_plan(
            settings,
            suite,
            &courier,
            &mut forecast,
            &mut session,
            &mut news,
            reporter,
        )
        .await;
    }
    session.merge_access(access);
    let denied = session.denied().map(Reason::GaveUp);
    let confirming = confirm::findings(&courier, suite, &session, settings);
    let findings = telling(confirming, &mut news, reporter).await;
    while let Ok(item) = news.try_recv() {
        tell(&item, reporter);
    }
    for finding in &findings {
        reporter.event(&Event::Found(finding));
    }
    limit.abort();
    for (protocol, times) in courier.spoken() {
        session.observe("behaviour.http-version", protocol.to_string(), times);
    }
    let hopeless = || courier.vitals.hopeless().map(Reason::GaveUp);
    let ended = denied
        .or_else(|| stop.reason())
        .or_else(hopeless)
        .or(cut.then_some(Reason::Budget));
    let took = started.elapsed();
    let answers = u32::try_from(courier.pace.answers()).unwrap_or(u32::MAX);
    let late = match took.checked_div(answers) {
        Some(interval) if ended == Some(Reason::TimeLimit) => forecast.at(interval).await,
        _ => None,
    };
    let early = ended.map(|reason| {
        let cause = words(&reason, settings);
        match late.filter(|late| late.too_long) {
            Some(late) => (end(&reason), format!("{cause}: {late}")),
            None => (end(&reason), cause),
        }
    });
    let summary = session.conclude(Ending {
        target: settings.shown_target.clone(),
        seed: settings.seed,
        early,
        findings,
        known: &suite.known,
        strictness: settings.strictness,
        recorded: None,
        requests: courier.pace.sent(),
        took,
    });
    reporter.event(&Event::Finished(&summary));
    Outcome { summary, context }
}

/// Sends the requests of discovery.
async fn discover(
    settings: &Settings,
    suite: &Suite,
    courier: &Courier,
    news: &mut UnboundedReceiver<News>,
    reporter: &mut dyn Reporter,
) -> Discovered {
    let context = Context::new(settings.profile.clone()).asking_a_chain(suite.chain.is_some());
    let mut discovery = Discovery::new(context, settings.seed);
    let mut answers: Vec<(Group, Vec<Exchange>)> = Vec::new();
    while let Some(round) = discovery.next_round(&answers) {
        let delivering = join(round.iter().map(|group| courier.deliver(group)).collect());
        let delivered = tokio::select! {
            biased;
            () = courier.stop.stopped() => break,
            delivered = telling(delivering, news, reporter) => delivered,
        };
        answers = round
            .into_iter()
            .zip(delivered)
            .filter_map(|(group, exchanges)| Some((group, exchanges.ok()?)))
            .collect();
    }
    discovery.finish()
}

async fn telling<T>(
    work: impl Future<Output = T>,
    news: &mut UnboundedReceiver<News>,
    reporter: &mut dyn Reporter,
) -> T {
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            output = &mut work => return output,
            Some(item) = news.recv() => tell(&item, reporter),
        }
    }
}

fn tell(item: &News, reporter: &mut dyn Reporter) {
    match item {
        News::Asked { pause, status } => reporter.event(&Event::Waiting {
            pause: *pause,
            reason: &format!("the target answered {status}"),
        }),
        News::Exchanged(delivered) => reporter.event(&Event::Exchanged(delivered)),
    }
}

/// Sends and judges every group of the plan. Gives whether the request budget ended before the plan did.
async fn judge_plan(
    settings: &Settings,
    suite: &Suite,
    courier: &Arc<Courier>,
    forecast: &mut Forecast<'_>,
    session: &mut Session,
    news: &mut UnboundedReceiver<News>,
    reporter: &mut dyn Reporter,
) -> bool {
    let context = &forecast.context();
    let budget = courier.pace.left();
    let at_most = Plan::at_most(settings.cases).min(budget);
    reporter.event(&Event::Planned {
        dialect: &context.dialect,
        at_most,
    });
    tell_estimate(forecast, courier, reporter).await;
    let (groups, making) = Supply::start(suite, context, settings.seed, settings.cases, budget);
    let workers = courier.jobs().min(at_most);
    let work = Arc::new(Work {
        courier: Arc::clone(courier),
        session: session.clone(),
        groups,
        done: AtomicUsize::new(0),
        broken: Mutex::default(),
    });
    let mut crew = JoinSet::new();
    for _ in 0..workers {
        crew.spawn(Arc::clone(&work).run());
    }
    let mut parts = Vec::new();
    let mut told = BTreeSet::new();
    let mut tick = tokio::time::interval(TELL_EVERY);
    loop {
        tokio::select! {
            joined = crew.join_next() => match joined {
                None => break,
                Some(Ok(part)) => parts.push(part),
                Some(Err(cause)) => courier.stop.trigger(Reason::GaveUp(format!("a worker of ours failed: {cause}"))),
            },
            Some(item) = news.recv() => tell(&item, reporter),
            _ = tick.tick() => {
                tell_progress(&work, &mut told, reporter);
                tell_estimate(forecast, courier, reporter).await;
            }
        }
    }
    work.groups.close().await;
    let cut = making.await.unwrap_or_else(|cause| {
        courier
            .stop
            .trigger(Reason::GaveUp(format!("the plan could not be made: {cause}")));
        false
    });
    let died = matches!(courier.stop.reason(), Some(Reason::GaveUp(_)));
    for part in parts {
        session.merge(work.settle(part, died));
    }
    tell_progress(&work, &mut told, reporter);
    cut
}

fn tell_progress(work: &Work, told: &mut BTreeSet<&'static str>, reporter: &mut dyn Reporter) {
    for rule in work.newly_broken(told) {
        told.insert(rule.id);
        reporter.event(&Event::Broken { rule });
    }
    reporter.event(&Event::Judged {
        groups: work.done.load(Ordering::Relaxed),
        requests: work.courier.pace.sent(),
        findings: told.len(),
    });
}

async fn tell_estimate(forecast: &mut Forecast<'_>, courier: &Courier, reporter: &mut dyn Reporter) {
    if let Some(estimate) = forecast.news(&courier.pace).await {
        reporter.event(&Event::Estimated(&estimate));
    }
}

/// What the reason for which a run ended early means for its conclusion.
fn end(reason: &Reason) -> End {
    match reason {
        Reason::GaveUp(_) => End::GaveUp,
        Reason::Interrupted | Reason::TimeLimit | Reason::Limited(_) => End::Stopped,
        Reason::Budget => End::Done,
    }
}

fn words(reason: &Reason, settings: &Settings) -> String {
    match reason {
        Reason::Interrupted => "interrupted".to_owned(),
        Reason::TimeLimit => format!(
            "the time limit of {} s was reached",
            settings.time_limit.as_secs()
        ),
        Reason::Budget => format!(
            "the budget of {} requests was spent",
            settings.max_requests.unwrap_or_default()
        ),
        Reason::Limited(cause) | Reason::GaveUp(cause) => cause.clone(),
    }
}
