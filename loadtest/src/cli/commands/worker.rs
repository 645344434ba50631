//! `worker` and `locustfile`: a run that a Locust master distributes over machines.

use std::path::PathBuf;

use clap::Args;
use paymaster_engine::specification::Specification;
use paymaster_settings::output::{self as out, report_file};
use paymaster_settings::process::{self, CommandError};
use paymaster_settings::{DEFAULT_SPECIFICATION, exit as codes, specification, which};

use crate::cli::{MetricsArgs, command_line, interrupts};
use crate::metrics::LiveFigures;
use crate::report::RequestedReport;
use crate::scenarios::parse_weight;
use crate::worker::{self, WorkerOptions, locustfile};

/// The arguments of `worker`: where the master is, and what is sent to whom. Users, their number and the rate are those of the master.
#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    /// The paymaster URL, for example http://127.0.0.1:3000/rpc. The master cannot choose it.
    url: Option<String>,
    #[command(flatten)]
    options: WorkerOptions,

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
pub(crate) fn run(args: &WorkerArgs) -> Result<u8, CommandError> {
    let reports = RequestedReport::parse(&args.reports)?;
    let (run_args, url) = (args.options.sending.of_run(), args.url.as_deref());
    let runtime = process::runtime()?;
    // There is an embedded server for the runs of one machine only.
    let no_embedded = |_: &Specification| {
        Err("a worker needs the URL of the target: give it here, in PAYMASTER_URL or in the profile".into())
    };
    let setup = runtime.block_on(which::read_run(&run_args, url, no_embedded))?;
    let mut options = args.options.clone();
    options.sending.i_own_this_target |= setup.load.own_target;
    let command = command_line::of_target(url, &options.sending.common.headers, &setup);
    runtime.block_on(async {
        let live = LiveFigures::default();
        let server = args.metrics.serve(&live).await?;
        let mut interrupts = interrupts()?;
        let served = worker::serve(options, command, reports, setup, &live, interrupts.next()).await;
        args.metrics.close(server, &mut interrupts).await;
        served?;
        Ok(codes::CONFORMS)
    })
}

/// `locustfile`: writes the locustfile of the master.
pub(crate) fn locustfile(args: &LocustfileArgs) -> Result<u8, CommandError> {
    let named = args.spec.as_deref().map_or(Ok(DEFAULT_SPECIFICATION), specification);
    let text = locustfile::render(named?, &args.weights.iter().cloned().collect())?;
    match &args.output {
        None => out::print(&text)?,
        Some(path) => {
            report_file::write(path, &text).map_err(|cause| format!("{}: {cause}", path.display()))?;
        }
    }
    Ok(codes::CONFORMS)
}
