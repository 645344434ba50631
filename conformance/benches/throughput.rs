//! Judged exchanges a second over loopback HTTP, the reference server in the same process, signing off, on two worker threads.
//! The bar: 30,000 a second on two cores.
//!
//! The same requests are also sent without being judged, in turns with the judged runs, so that drift of a shared machine
//! meets both. Other processes only ever take time away, so the bar is held against the best turn.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{error::Error, fs, process::ExitCode, thread::available_parallelism, time::Duration};

use paymaster_client::http::transport::{Limits, Transport};
use paymaster_client::network::target::Target;
use paymaster_client::stop::Stop;
use paymaster_conformance::Event;
use paymaster_conformance::run::{Reporter, Suite, check};
use paymaster_engine::verdict::conclusion::Conclusion;
use paymaster_reference_server::Config;
use paymaster_settings::args::{CommonArgs, RunArgs};
use paymaster_settings::{DEFAULT_SPECIFICATION, Embedded, Settings};

/// As in the commands.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Judged exchanges a second on two cores, from the project's plan.
const BAR: f64 = 30_000.0;
/// Fewer exchanges in a run say little of a rate.
const FEWEST: u32 = 60_000;
/// Cases that make so many exchanges.
const CASES: u32 = 10_000;
/// Enough to compile every validator before anything is measured.
const WARM_UP_CASES: u32 = 50;
/// Exchanges at the same time: the default of the command line.
const JOBS: usize = 100;
/// Runs of each kind.
const TURNS: usize = 5;
/// Clock ticks a second in `/proc/self/stat`, the same on every Linux.
const TICKS: f64 = 100.0;

type Failure = Box<dyn Error>;

fn main() -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(measure())
}

async fn measure() -> Result<ExitCode, Failure> {
    let mut config = Config::default();
    config.signing.enabled = false;
    let server = Embedded::start_with(&config).await?;
    let judging = Suite::of(DEFAULT_SPECIFICATION);
    let sending = Suite { rules: Vec::new(), ..Suite::of(DEFAULT_SPECIFICATION) };
    run(&server, &judging, WARM_UP_CASES).await?;
    let memory_before = peak_memory();
    let (mut judged, mut sent) = (Runs::default(), Runs::default());
    for _ in 0..TURNS {
        judged.push(&run(&server, &judging, CASES).await?);
        sent.push(&run(&server, &sending, CASES).await?);
    }
    let memory_after = peak_memory();
    server.stop().await;

    let exchanges = judged.exchanges;
    if exchanges < FEWEST {
        return Err(format!("{exchanges} exchanges are too few, it takes {FEWEST}: raise CASES").into());
    }
    let rows = [
        ("exchanges a second, best", best(&judged.rates), best(&sent.rates)),
        ("exchanges a second, median", median(&judged.rates), median(&sent.rates)),
        ("CPU time of an exchange, server included, median, us", median(&judged.costs), median(&sent.costs)),
    ];
    println!("{exchanges} exchanges a run, {JOBS} at a time, {TURNS} runs of each kind, in turns:\n");
    println!("| | judged | only sent | ratio |\n|---|---:|---:|---:|");
    for (name, judged, sent) in rows {
        let ratio = judged.zip(sent).map(|(judged, sent)| judged / sent);
        println!("| {name} | {} | {} | {} |", shown(judged, 1), shown(sent, 1), shown(ratio, 3));
    }
    println!(
        "\npeak resident memory, server included: {} MB after a run of {WARM_UP_CASES} cases, {} MB after those of {CASES}",
        shown(memory_before, 1),
        shown(memory_after, 1),
    );
    if let Some(cost) = median(&judged.costs) {
        println!(
            "two cores with nothing else to do would carry {:.0} judged exchanges a second at that cost",
            2e6 / cost
        );
    }
    let rate = best(&judged.rates).ok_or("nothing was measured")?;
    let cores = available_parallelism()?.get();
    let met = rate >= BAR;
    println!(
        "bar of {BAR} judged exchanges a second on 2 cores: {} ({rate:.0}, {cores} cores here)",
        if met { "met" } else { "missed" }
    );
    Ok(if met || cores < 2 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the runs of one kind measured.
#[derive(Default)]
struct Runs {
    exchanges: u32,
    /// Exchanges a second.
    rates: Vec<f64>,
    /// CPU time of an exchange in microseconds; nothing where the system does not tell.
    costs: Vec<f64>,
}

impl Runs {
    fn push(&mut self, run: &Run) {
        self.exchanges = run.exchanges;
        let exchanges = f64::from(run.exchanges);
        self.rates.push(exchanges / run.took.as_secs_f64());
        self.costs.extend(run.cpu.map(|cpu| cpu * 1e6 / exchanges));
    }
}

struct Run {
    exchanges: u32,
    took: Duration,
    /// CPU seconds.
    cpu: Option<f64>,
}

struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

/// A whole run, discovery and summary included.
async fn run(server: &Embedded, suite: &Suite, cases: u32) -> Result<Run, Failure> {
    let target = Target::parse(&server.url).map_err(|cause| cause.to_string())?;
    let args = RunArgs {
        common: CommonArgs { seed: Some(1), ..CommonArgs::default() },
        cases: Some(cases),
        jobs: Some(JOBS),
        time_limit: Some(Duration::from_mins(5)),
        shrink_requests: Some(0),
        ..RunArgs::default()
    };
    let settings = Settings::new(
        Transport::new(target, Limits::default(), &[]),
        server.url.clone(),
        server.profile(DEFAULT_SPECIFICATION),
        args,
    );
    let before = cpu_seconds();
    let summary = check(&settings, suite, &Stop::default(), &mut Silent).await.summary;
    let after = cpu_seconds();
    // Without rules nothing is judged.
    let expected = if suite.rules.is_empty() { Conclusion::NothingBroken } else { Conclusion::Conforms };
    if summary.conclusion != expected || summary.cut_short.is_some() {
        return Err(format!(
            "the reference server must conform, and this run says {:?}, {:?}",
            summary.conclusion, summary.cut_short
        )
        .into());
    }
    Ok(Run {
        exchanges: u32::try_from(summary.requests)?,
        took: summary.took,
        cpu: after.zip(before).map(|(after, before)| after - before),
    })
}

/// CPU time of this process so far, user and system.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program stands in parentheses and may hold anything; utime and stime are the 12th and 13th after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11);
    let (user, system) = (times.next()?, times.next()?);
    Some((user.parse::<f64>().ok()? + system.parse::<f64>().ok()?) / TICKS)
}

/// The most memory that was resident so far, in MB.
fn peak_memory() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes / 1_024.0)
}

fn best(values: &[f64]) -> Option<f64> {
    values.iter().copied().max_by(f64::total_cmp)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn shown(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.decimals$}"))
}
