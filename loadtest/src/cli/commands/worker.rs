//! `worker` and `locustfile`: a run that a Locust master distributes over machines.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use paymaster_engine::specification::Specification;
use paymaster_settings::{
    duration, exit as codes,
    output::{self as out, report_file},
    settings::{file::FileError, setup::SetupError, target},
    specifications::{DEFAULT_SPECIFICATION, specification},
};

use crate::{
    cli::{
        args::{JudgingArgs, SendingArgs},
        error::CommandError,
        interrupts,
        metrics::MetricsArgs,
        runtime,
    },
    metrics::LiveFigures,
    report::RequestedReport,
    scenarios::mix::parse_weight,
    worker::{self, BY_CLASS, WorkerOptions, locustfile},
};

/// How long a worker waits for its master.
const PATIENCE: Duration = Duration::from_mins(5);

/// The arguments of `worker`: where the master is, and what is sent to whom. Users, their number and the rate are those of the master.
#[derive(Debug, Args)]
#[command(mut_arg("insecure", |arg| arg.help("Believe any certificate of an https:// target")))]
pub(crate) struct WorkerArgs {
    /// The paymaster URL, for example http://127.0.0.1:3000/rpc. The master cannot choose it.
    url: Option<String>,
    /// The Locust master [default port: 5557].
    #[arg(long, value_name = "HOST:PORT", help_heading = "Master")]
    master: String,
    /// How long the worker waits for a master that acknowledges and serves it, before it gives up [default: 5m].
    #[arg(long, value_name = "TIME", value_parser = duration::parse, help_heading = "Master")]
    patience: Option<Duration>,

    /// The only scenario to send. By default every user sends the scenario of its class.
    #[arg(short, long, value_name = "NAME", default_value = BY_CLASS, help_heading = "Load")]
    scenario: String,
    /// The same seed gives the same requests to a worker with the same index [default: 1].
    #[arg(long, value_name = "N", help_heading = "Load")]
    seed: Option<u64>,

    #[command(flatten)]
    judging: JudgingArgs,
    #[command(flatten)]
    sending: SendingArgs,

    /// Write a report of this worker at the end of each run; from the second run on, the file has its number (own-2.json). Its format is its ending (.json, .html, .md, .xml, .csv) or named: json, html,
    /// markdown, junit, csv. PATH may be `-` for standard output; missing folders are made. Repeatable.
    #[arg(short = 'o', long = "report", value_name = "[FORMAT=]PATH", help_heading = "Reports")]
    reports: Vec<String>,
    #[command(flatten, next_help_heading = "Reports")]
    metrics: MetricsArgs,
}

/// The arguments of `locustfile`.
#[derive(Debug, Args)]
pub(crate) struct LocustfileArgs {
    /// Where to write it [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The specification whose scenarios it names [default: fee-quote].
    #[arg(long, value_name = "NAME")]
    spec: Option<String>,
    /// The weight of a scenario, for example journey=3. Repeatable. Scenarios without a weight then have no user class.
    #[arg(long = "weight", value_name = "NAME=N", value_parser = parse_weight)]
    weights: Vec<(String, u32)>,
}

/// `worker`: serves a master.
pub(in crate::cli) fn run(args: &WorkerArgs) -> Result<u8, CommandError> {
    let reports = RequestedReport::parse(&args.reports)?;
    let (run_args, url) = (args.sending.of_run(args.seed), args.url.as_deref());
    let runtime = runtime()?;
    let no_embedded = |_: &Specification| Err("a worker has no embedded server".into());
    let setup = runtime.block_on(target::read(&run_args, url, no_embedded)).map_err(|cause| match cause {
        // There is an embedded server for the runs of one machine only.
        SetupError::Embedded(_) => CommandError::WorkerWithoutUrl,
        cause => CommandError::Target(cause),
    })?;
    let options = WorkerOptions {
        master: args.master.clone(),
        patience: args.patience.unwrap_or(PATIENCE),
        scenario: args.scenario.clone(),
        judge: args.judging.judge,
        strict: args.judging.strict,
        respect_retry_after: args.sending.respect_retry_after,
        own_target: args.sending.i_own_this_target || setup.load.own_target,
        command: args.sending.shown_command(url, &setup),
        reports,
    };
    runtime.block_on(async {
        let live = LiveFigures::default();
        let server = args.metrics.serve(&live)?;
        let mut interrupts = interrupts()?;
        let served = worker::serve(options, setup, &live, interrupts.next()).await;
        args.metrics.close(server, &mut interrupts).await;
        served?;
        Ok(codes::CONFORMS)
    })
}

/// `locustfile`: writes the locustfile of the master.
pub(in crate::cli) fn locustfile(args: &LocustfileArgs) -> Result<u8, CommandError> {
    let named = args.spec.as_deref().map_or(Ok(DEFAULT_SPECIFICATION), specification);
    let text = locustfile::render(
        named.map_err(|cause| SetupError::from(FileError::from(cause)))?,
        &args.weights.iter().cloned().collect(),
    )?;
    match &args.output {
        None => out::print(&text)?,
        Some(path) => {
            report_file::write(path, &text)
                .map_err(|cause| CommandError::LocustfileNotWritten(path.clone(), cause))?;
        }
    }
    Ok(codes::CONFORMS)
}
