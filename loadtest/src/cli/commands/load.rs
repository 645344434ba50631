//! The default command: a load test.

use paymaster_engine::specification::Specification;
use paymaster_reference_server::Config;
use paymaster_settings::embedded::profile_of;
use paymaster_settings::output as out;
use paymaster_settings::process::{self, CommandError};
use paymaster_settings::settings::{LoadTable, SetupError};
use paymaster_settings::{RunSetup, exit as codes, which};

use super::{embedded::Embedded, reports::publish};
use crate::cli::args::LoadArgs;
use crate::cli::{command_line, interrupts};
use crate::metrics::LiveFigures;
use crate::report::RequestedReport;
use crate::results::{Change, RunComparison, RunSummary, RunVerdict};
use crate::run::{self, RunOptions};

/// Executes a load test and writes its reports.
pub(crate) fn run(args: &LoadArgs) -> Result<u8, CommandError> {
    let reports = RequestedReport::parse(&args.reports)?;
    // An earlier report that cannot be read is an error before anything is sent.
    let earlier = args.options.compare.as_deref().map(RunSummary::read).transpose()?;
    let mut embedded = None;
    let runtime = process::runtime()?;
    let setup = runtime.block_on(read_target(args, &mut embedded))?;
    if !setup.shown_target.embedded && !args.deviations.is_empty() {
        return Err("--fault and --variant are for the embedded server: give no URL".into());
    }
    let options = options(args, &setup.load)?;
    let command = command_line::of_target(args.url.as_deref(), &options.sending.common.headers, &setup);
    if let Some(port) = args.dashboard {
        out::eprint(&format!("dashboard: http://127.0.0.1:{port}/\n"));
    }
    let live = LiveFigures::default();
    let done: Result<_, CommandError> = runtime.block_on(async {
        let server = args.metrics.serve(&live).await?;
        let mut interrupts = interrupts()?;
        let summary = run::run(&options, command, setup, &live, interrupts.next()).await?;
        Ok((summary, server, interrupts))
    });
    drop(embedded);
    let (summary, server, mut interrupts) = done?;
    let finished = finish(args, &reports, earlier.as_ref(), &summary);
    runtime.block_on(args.metrics.close(server, &mut interrupts));
    finished
}

/// Compares and writes the reports. Gives the exit code.
fn finish(
    args: &LoadArgs,
    reports: &[RequestedReport],
    earlier: Option<&RunSummary>,
    summary: &RunSummary,
) -> Result<u8, CommandError> {
    let RunOptions { compare, tolerance, .. } = &args.options;
    let compared = compare.as_ref().zip(earlier).filter(|_| summary.has_begun());
    let comparison = compared.map(|(path, earlier)| {
        RunComparison::of(&path.display().to_string(), earlier, summary, tolerance.share)
    });
    let comparison = comparison.transpose();
    let compared = comparison.as_ref().ok().and_then(Option::as_ref);
    let published = publish(summary, compared, reports, args.extent);
    let code = match (summary.verdict, compared.map(RunComparison::worst)) {
        (RunVerdict::Passed | RunVerdict::Incomplete, Some(Change::Worse)) => codes::VIOLATIONS,
        (RunVerdict::Passed, Some(Change::Unclear)) => codes::INCOMPLETE,
        (verdict, _) => verdict as u8,
    };
    if !published {
        return Ok(codes::USAGE);
    }
    if code != codes::VIOLATIONS {
        comparison?;
    }
    Ok(code)
}

/// Reads the target from file, environment and arguments. Without a URL, it starts the embedded server.
async fn read_target(args: &LoadArgs, embedded: &mut Option<Embedded>) -> Result<RunSetup, SetupError> {
    let start = |specification: &Specification| {
        let started = Embedded::start(&args.deviations);
        let server =
            embedded.insert(started.map_err(|cause| format!("the embedded server: {}", cause.message))?);
        Ok((server.url.clone(), profile_of(specification, &Config::default(), &[])))
    };
    which::read_run(&args.options.sending.of_run(), args.url.as_deref(), start).await
}

/// The options of the run: arguments, or else the table `[load]` of the profile.
fn options(args: &LoadArgs, load: &LoadTable) -> Result<RunOptions, CommandError> {
    let mut options = args.options.clone();
    if options.weights.is_empty() {
        options.weights = load.weights.clone().into_iter().collect();
    }
    for (key, given, of_profile) in [
        ("thresholds", &mut options.thresholds, &load.thresholds),
        ("abort-on", &mut options.abort_on, &load.abort_on),
    ] {
        if given.is_empty() {
            let parsed: Result<_, String> = of_profile.iter().map(|text| text.parse()).collect();
            *given = parsed.map_err(|cause| format!("load.{key}: {cause}"))?;
        }
    }
    options.sending.i_own_this_target |= load.own_target;
    if let Some(port) = args.dashboard {
        options.goose_options.extend(["--dashboard".to_owned(), format!("--dashboard-port={port}")]);
    }
    let reports = args.goose_report.iter().map(|path| format!("--report-file={}", path.display()));
    let baseline = args.goose_baseline.iter().map(|path| format!("--baseline-file={}", path.display()));
    options.goose_options.extend(reports.chain(baseline));
    Ok(options)
}
