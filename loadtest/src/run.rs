//! A run from the first question to the summary.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use paymaster_cli::{settings::Settings as Target, target::TargetSetup};
use paymaster_client::{
    throttling::{RetryPolicy, ThrottleDecision},
    transport::PooledConnection,
};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::{case::Group, discovery::Discovery},
    target::context::Context,
};

use crate::{
    corpus::Draws,
    engine::{
        Clock, Ended, Pace, Progress, Settings, Shared, attack,
        plan::{self, Steps},
        vitals::Vitals,
    },
    judging::{Judging, Share},
    politeness,
    scenarios::{Mix, Weights},
    schedule::Schedule,
    summary::{Model, Summary},
    threshold::{Threshold, judge_all},
};

/// Requests that are made ahead for each scenario.
const CORPUS: usize = 512;
/// Users where nobody says how many: in the open model enough that arrivals seldom wait for a connection.
const CLOSED_USERS: usize = 10;
const OPEN_USERS: usize = 100;

/// How a run goes, as the user says it.
#[derive(Clone, Debug)]
pub struct Options {
    /// What is sent.
    pub scenario: String,
    /// How often each scenario is part of `mixed`.
    pub weights: Weights,
    /// Users at a time.
    pub users: Option<usize>,
    /// The measured time.
    pub duration: Duration,
    /// Users are started over this time.
    pub ramp: Duration,
    /// Then, this long nothing is measured.
    pub warm_up: Duration,
    /// Users over time, in place of `users`, `ramp` and `duration`.
    pub test_plan: Option<Steps>,
    /// Arrivals a second.
    pub rate: Option<Rate>,
    /// At most that many requests.
    pub max_requests: Option<u64>,
    /// Which share of answers is judged.
    pub judge: Share,
    /// Rules that otherwise warn count too.
    pub strict: bool,
    /// Thresholds.
    pub thresholds: Vec<Threshold>,
    /// Whether to wait as Retry-After says.
    pub respect_retry_after: bool,
    /// Whether the target is the user's own.
    pub own_target: bool,
    /// Options for goose.
    pub goose: Vec<String>,
}

/// Arrivals a second: always the same, or in steps.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// Always the same.
    Constant(f64),
    /// In steps, each reached linearly; from 0.
    Steps(Steps),
}

impl Rate {
    /// Reads `500` or `500,30s;500,5m`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.contains(',') {
            let steps = Steps::parse(text)?;
            return if steps.highest() <= FASTEST {
                Ok(Self::Steps(steps))
            } else {
                Err(too_fast())
            };
        }
        let rate = text.trim().parse::<f64>().map_err(|_| {
            format!("`{text}` is no number of arrivals a second, and no steps (500,30s;500,5m)")
        })?;
        if (0.001..=FASTEST).contains(&rate) {
            Ok(Self::Constant(rate))
        } else {
            Err(too_fast())
        }
    }

    fn highest(&self) -> f64 {
        match self {
            Self::Constant(rate) => *rate,
            Self::Steps(steps) => steps.highest(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Constant(rate) => rate.to_string(),
            Self::Steps(steps) => {
                let steps = steps.as_slice().iter();
                steps
                    .map(|(rate, time)| format!("{rate},{}s", time.as_secs()))
                    .collect::<Vec<_>>()
                    .join(";")
            }
        }
    }
}

/// Most arrivals a second.
const FASTEST: f64 = 1e6;

fn too_fast() -> String {
    "the rate must be from 0.001 to 1000000 arrivals a second".to_owned()
}

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The command line, the configuration or a file is wrong.
    Usage(String),
    /// The target could not be tested.
    CouldNotTest(String),
}

/// Runs a load test.
pub async fn run(options: &Options, known: TargetSetup) -> Result<Summary, Problem> {
    let TargetSetup {
        settings: target,
        redactor,
        ..
    } = known;
    let limit = target.rate;
    let users = options.users.unwrap_or(if options.rate.is_some() {
        OPEN_USERS
    } else {
        CLOSED_USERS
    });
    let shape = shape(options, users, &target).map_err(Problem::Usage)?;
    polite(options, &target, limit).await?;

    let context = discover(&target).await?;
    let mut draws = Draws::new(&context, target.seed, CORPUS);
    let (mix, left_out) =
        Mix::new(&options.scenario, &options.weights, &mut draws).map_err(Problem::Usage)?;
    let requests = mix.requests_a_turn();
    let pace = match (&options.rate, limit) {
        (Some(rate), Some(limit)) if rate.highest() * requests > limit => {
            return Err(Problem::Usage(format!(
                "the profile limits the target to {limit} requests a second (target.requests-per-second), and --rate {} means {:.1}",
                rate.shown(),
                rate.highest() * requests
            )));
        }
        (Some(Rate::Constant(rate)), _) => Pace::Open(Schedule::constant(*rate, shape.length)),
        (Some(Rate::Steps(steps)), _) => Pace::Open(Schedule::new(0.0, steps.as_slice())),
        (None, Some(limit)) => Pace::Capped(Schedule::constant(limit, shape.length)),
        (None, None) => Pace::Closed,
    };
    let clock = Clock::new(shape.unmeasured, shape.length);
    let model = model(options, &pace, limit, &shape);
    let scenarios = mix.names().into_iter().map(str::to_owned).collect();
    let seed = target.seed;
    let shown_target = target.shown_target.clone();
    let shared = Arc::new(Shared::new(
        Settings {
            transport: target.transport,
            mix,
            judging: Judging::new(context.clone(), options.judge, options.strict),
            pace,
            users: shape.users,
            plan: shape.plan.clone(),
            max_requests: options.max_requests,
            respect_retry_after: options.respect_retry_after,
            redactor,
            shown_host: host_alone(&shown_target),
            goose: options.goose.clone(),
        },
        clock,
    ));
    let began = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let vitals = Vitals::now();
    attack(&shared, Progress::default())
        .await
        .map_err(|cause| Problem::Usage(cause.to_string()))?;
    let generator = vitals.since();
    if shared.ended() == Some(Ended::InTime)
        && shared.liveness.failures() > 0
        && !still_answers(&shared).await
    {
        shared.end_now(Ended::GaveUp);
    }
    let summary = Summary {
        began: began.as_secs(),
        target: shown_target,
        scenarios,
        left_out,
        seed,
        judge_share: options.judge.value(),
        generators: vec![generator],
        model,
        ..measured(&shared)
    };
    Ok(concluded(summary, options, &shared))
}

/// The figures of the measured time.
fn measured(shared: &Shared) -> Summary {
    let mut figures = shared.figures();
    let (warm_up, ran_for) = (shared.clock().warm_up(), shared.ran_for());
    // A target that is slower than its arrivals is waited for after the asked time: that time counts too.
    let length = ran_for.max(shared.last_answer()).saturating_sub(warm_up);
    if let Pace::Open(schedule) = &shared.settings.pace {
        let before = schedule.due_before(warm_up);
        // With a request budget, arrivals end with the last one that it paid for.
        let budget = shared.ended() == Some(Ended::Budget);
        let last = schedule.due(before + figures.arrivals.due).filter(|_| budget);
        let until = last.unwrap_or(ran_for);
        let asked = schedule.due_before(until).saturating_sub(before);
        figures.arrivals.unsent = asked.saturating_sub(figures.arrivals.due);
        figures.arrivals.due = figures.arrivals.due.max(asked);
        figures.arrivals.seconds = until.saturating_sub(warm_up).as_secs_f64();
    }
    figures.series.cover(length);
    Summary::of(figures, length)
}

fn concluded(mut summary: Summary, options: &Options, shared: &Shared) -> Summary {
    summary.stopped_answering = shared.ended() == Some(Ended::GaveUp);
    summary.cut_short = match shared.ended() {
        Some(Ended::Interrupted) => Some("interrupted".to_owned()),
        Some(Ended::GaveUp) => Some(shared.liveness.to_string()),
        Some(Ended::InTime | Ended::Budget) | None => None,
    };
    let judged = judge_all(&options.thresholds, &summary.figures(), summary.length());
    summary.judged(judged)
}

/// Whether the target answers a last request, on a new connection. It is asked when the requests before it failed: a target that
/// stopped answering shortly before the end of a run would otherwise pass for one with a few failed requests.
async fn still_answers(shared: &Shared) -> bool {
    let body = shared.settings.mix.chain(0)[0].body(shared.sent(), None);
    let exchange = PooledConnection::default()
        .exchange(&shared.settings.transport, body)
        .await;
    exchange.outcome.is_ok()
}

/// Users and times.
struct Shape {
    users: usize,
    plan: String,
    /// Ramp and warm-up.
    unmeasured: Duration,
    length: Duration,
}

fn shape(options: &Options, users: usize, target: &Target) -> Result<Shape, String> {
    // What was begun in time may take as long as an exchange may, and what was due then, as long again.
    let slack = target.transport.limits.timeout * 2 + Duration::from_secs(5);
    if let Some(plan) = &options.test_plan {
        let (users, text) = plan
            .users(slack)
            .map_err(|cause| format!("--test-plan: {cause}"))?;
        return checked(Shape {
            users,
            plan: text,
            unmeasured: options.warm_up,
            length: plan.length(),
        });
    }
    if !(1..=plan::MOST_USERS).contains(&users) {
        return Err(format!(
            "the number of users must be from 1 to {}",
            plan::MOST_USERS
        ));
    }
    if !options.ramp.is_zero() && users < 2 {
        return Err("--ramp needs at least 2 users".to_owned());
    }
    let length = match &options.rate {
        Some(Rate::Steps(steps)) => steps.length(),
        _ => options.ramp + options.warm_up + options.duration,
    };
    checked(Shape {
        users,
        plan: plan::constant(users, options.ramp, length + slack),
        unmeasured: options.ramp + options.warm_up,
        length,
    })
}

fn checked(shape: Shape) -> Result<Shape, String> {
    if shape.unmeasured >= shape.length {
        return Err("the warm-up leaves no time to measure".to_owned());
    }
    Ok(shape)
}

fn model(options: &Options, pace: &Pace, limit: Option<f64>, shape: &Shape) -> Model {
    let (name, rate, arrivals_asked) = match pace {
        Pace::Closed => ("closed", None, None),
        Pace::Capped(_) => ("closed", limit.map(|limit| limit.to_string()), None),
        Pace::Open(schedule) => (
            "open",
            options.rate.as_ref().map(Rate::shown),
            Some(schedule.total() - schedule.due_before(shape.unmeasured)),
        ),
    };
    Model {
        name: name.to_owned(),
        users: shape.users,
        rate,
        arrivals_asked,
        plan: shape.plan.clone(),
    }
}

/// Refuses what would bother a stranger.
async fn polite(options: &Options, target: &Target, limit: Option<f64>) -> Result<(), Problem> {
    let address = target.transport.target.address();
    let resolved = tokio::net::lookup_host(&address).await;
    let addresses: Vec<IpAddr> = resolved
        .map(|all| all.map(|socket| socket.ip()).collect())
        .unwrap_or_default();
    // A journey is two requests.
    let asked = options.rate.as_ref().map(|rate| rate.highest() * 2.0).or(limit);
    politeness::check(&addresses, asked, options.own_target).map_err(Problem::Usage)
}

/// Asks the target what it speaks and supports.
async fn discover(target: &Target) -> Result<Context, Problem> {
    let mut discovery = Discovery::new(Context::new(target.profile.clone()), target.seed);
    let mut line = PooledConnection::default();
    let mut answers: Vec<(Group, Vec<Exchange>)> = Vec::new();
    let (mut answered, mut trouble) = (false, None);
    while let Some(round) = discovery.next_round(&answers) {
        answers = Vec::new();
        for group in round {
            let mut exchanges = Vec::new();
            for member in &group.members {
                let exchange = ask(&mut line, target, &member.body).await;
                match &exchange.outcome {
                    Ok(response) => {
                        answered |= response.body.first() == Some(&b'{');
                        trouble.get_or_insert_with(|| format!("HTTP {}", response.status));
                    }
                    Err(failure) => trouble = Some(failure.to_string()),
                }
                exchanges.push(exchange);
            }
            answers.push((group, exchanges));
        }
        if !answered {
            let cause = trouble.unwrap_or_else(|| "nothing was sent".to_owned());
            return Err(Problem::CouldNotTest(format!("{}: {cause}", target.shown_target)));
        }
    }
    Ok(discovery.finish().context)
}

async fn ask(line: &mut PooledConnection, target: &Target, body: &bytes::Bytes) -> Exchange {
    let mut retries = RetryPolicy::BEFORE_LOAD.start();
    loop {
        let exchange = line.exchange(&target.transport, body.clone()).await;
        let decision = exchange
            .outcome
            .as_ref()
            .map(|response| retries.decide(response, SystemTime::now));
        let Ok(ThrottleDecision::Wait(pause)) = decision else {
            return exchange;
        };
        tokio::time::sleep(pause).await;
    }
}

/// Scheme, host and port of a URL: what goose may show.
fn host_alone(url: &str) -> String {
    let path = url
        .find("://")
        .and_then(|at| url[at + 3..].find('/').map(|slash| at + 3 + slash));
    path.map_or(url, |path| &url[..path]).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_numbers_or_steps() {
        assert_eq!(Rate::parse("500"), Ok(Rate::Constant(500.0)));
        assert!((Rate::parse("0,0s;500,30s").unwrap().highest() - 500.0).abs() < 1e-9);
        for text in ["0", "-1", "many", "NaN", "1e9", "2000000,3s"] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn goose_is_shown_no_path() {
        assert_eq!(host_alone("http://127.0.0.1:3000/***?k"), "http://127.0.0.1:3000");
        assert_eq!(host_alone("http://h"), "http://h");
    }
}
