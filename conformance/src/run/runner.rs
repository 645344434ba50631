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
    worker::{Work, Yield},
};
use paymaster_cli::settings::Settings;
use paymaster_client::{
    pace::Pace,
    stop::{Reason, Stop},
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::{case::Group, discovery::Discovery, plan::Plan},
    rules,
    session::{
        access::Access,
        judge::{self, Judge},
        tally::{Course, End, Tally, conclude},
    },
    target::context::Context,
    verdict::{finding::Finding, summary::Summary},
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
    let (context, access) = discover(settings, suite, &courier, &mut news, reporter).await;
    let context = Arc::new(context);
    forecast.learn(&context, courier.pace.sent());
    let (mut home, cut) = if stop.reason().is_none() && !access.is_denied_for_good() {
        judge_plan(settings, suite, &courier, &mut forecast, &mut news, reporter).await
    } else {
        (Yield::default(), false)
    };
    home.tally.access.merge(access);
    let denied = home.tally.denied().map(Reason::GaveUp);
    let confirming = confirm::findings(&courier, suite, &context, &home.tally, settings);
    let findings = telling(confirming, &mut news, reporter).await;
    while let Ok(item) = news.try_recv() {
        tell(&item, reporter);
    }
    for finding in &findings {
        reporter.event(&Event::Found(finding));
    }
    limit.abort();
    for (protocol, times) in courier.spoken() {
        let seen = home
            .tally
            .observations
            .entry("behaviour.http-version")
            .or_default();
        seen.insert(protocol.to_string(), times);
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
    let summary = summarize(settings, suite, &context, home, findings, ended);
    let cut_short = match (summary.cut_short, late) {
        (Some(cause), Some(late)) if late.too_long => Some(format!("{cause}: {late}")),
        (cause, _) => cause,
    };
    let summary = Summary {
        requests: courier.pace.sent(),
        took,
        cut_short,
        ..summary
    };
    reporter.event(&Event::Finished(&summary));
    Outcome { summary, context }
}

/// Asks the target what it speaks and supports, and whether it lets requests in.
async fn discover(
    settings: &Settings,
    suite: &Suite,
    courier: &Courier,
    news: &mut UnboundedReceiver<News>,
    reporter: &mut dyn Reporter,
) -> (Context, Access) {
    let mut access = Access::default();
    let unknown = Context::new(settings.profile.clone());
    let mut discovery = Discovery::new(unknown.clone(), settings.seed);
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
        for (group, exchanges) in &answers {
            for view in judge::read(group, exchanges, &unknown) {
                access.see(&view);
            }
        }
    }
    let context = discovery.finish();
    (context.asking_a_chain(suite.chain.is_some()), access)
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

/// Sends and judges every group of the plan.
async fn judge_plan(
    settings: &Settings,
    suite: &Suite,
    courier: &Arc<Courier>,
    forecast: &mut Forecast<'_>,
    news: &mut UnboundedReceiver<News>,
    reporter: &mut dyn Reporter,
) -> (Yield, bool) {
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
        judge: Judge::new(suite.rules.clone()),
        suite: suite.clone(),
        context: Arc::clone(context),
        groups,
        done: AtomicUsize::new(0),
        broken: Mutex::default(),
    });
    let mut crew = JoinSet::new();
    for _ in 0..workers {
        crew.spawn(Arc::clone(&work).run());
    }
    let mut home = Yield::default();
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
    for mut part in parts {
        work.settle(&mut part, died);
        home.tally.merge(part.tally);
        home.unread.merge(part.unread);
        for (reason, times) in part.unjudged {
            *home.unjudged.entry(reason).or_default() += times;
        }
    }
    tell_progress(&work, &mut told, reporter);
    (home, cut)
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

fn summarize(
    settings: &Settings,
    suite: &Suite,
    context: &Context,
    home: Yield,
    findings: Vec<Finding>,
    ended: Option<Reason>,
) -> Summary {
    let Yield {
        tally,
        mut unjudged,
        unread,
        ..
    } = home;
    let Tally {
        reached,
        observations,
        ..
    } = &tally;
    let ended = ended.or_else(|| {
        let cause = "no answer to a valid request could be judged".to_owned();
        tally.shows_nothing().then_some(Reason::GaveUp(cause))
    });
    let unread = unread.told(tally.access.denied().is_some());
    let course = Course {
        end: match ended {
            Some(Reason::GaveUp(_)) => End::GaveUp,
            Some(Reason::Interrupted | Reason::TimeLimit | Reason::Limited(_)) => End::Stopped,
            Some(Reason::Budget) | None => End::Done,
        },
        no_result: tally.is_without_result(),
        unread: !unread.is_empty(),
        left_out: rules::left_out(&suite.rules),
    };
    unjudged.extend(unread);
    let complete = ended.is_none();
    let (rules, known) = tally.outcomes(&suite.rules, &findings, context, &suite.known, complete);
    // A run that did not get through its plan says nothing of a list.
    let list = if complete { known.as_slice() } else { &[] };
    let conclusion = conclude(&rules, list, settings.strictness, course);
    Summary {
        target: settings.shown_target.clone(),
        seed: settings.seed,
        conclusion,
        recorded: None,
        cut_short: ended.map(|reason| words(&reason, settings)),
        reached: reached.clone(),
        observations: observations.clone(),
        rules,
        left_out: course.left_out,
        findings,
        places: tally.seen().into_iter().map(|(key, _)| key.clone()).collect(),
        known,
        unjudged,
        dialect: context.dialect.clone(),
        requests: 0,
        took: Duration::ZERO,
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
