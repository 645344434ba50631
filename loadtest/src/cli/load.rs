//! The default command: a run.

use std::time::Duration;

use paymaster_cli::{
    args::{RunArgs, TargetArgs},
    exit as codes,
    file::LoadTable,
    target::{self, TargetSetup},
};

use super::{args::LoadArgs, exit, out, reports};
use crate::{
    compare::Comparison,
    embedded::Embedded,
    report,
    run::{self, Options, Problem},
    scenarios::Weights,
    summary::{Summary, Verdict},
    threshold::Threshold,
};

/// The measured time where nobody says how long.
const DURATION: Duration = Duration::from_secs(10);

/// Runs a load test and reports it.
pub(super) fn run(args: &LoadArgs) -> Result<u8, Problem> {
    for path in &args.reports {
        report::format_of(path).map_err(Problem::Usage)?;
    }
    // What cannot be compared with is told before anything is sent.
    let earlier = args
        .compare
        .as_deref()
        .map(|path| Summary::read(path).map(|summary| (path.display().to_string(), summary)))
        .transpose()
        .map_err(|cause| Problem::Usage(cause.to_string()))?;
    let mut embedded = None;
    let known = aimed(args, &mut embedded).map_err(Problem::Usage)?;
    if !known.embedded && !args.deviations.is_empty() {
        return Err(Problem::Usage(
            "--fault and --variant are for the embedded server: give no URL".to_owned(),
        ));
    }
    let options = options(args, &known.load).map_err(Problem::Usage)?;
    if let Some(port) = args.dashboard {
        out::eprint(&format!("dashboard: http://127.0.0.1:{port}/\n"));
    }
    let done = runtime().map_err(Problem::Usage)?.block_on(async {
        tokio::spawn(stop_when_asked());
        tokio::select! {
            done = run::run(&options, known) => done,
            () = interrupted_before() => Err(Problem::CouldNotTest("interrupted before anything was measured".to_owned())),
        }
    });
    drop(embedded);
    let summary = done?;
    let comparison = earlier
        .map(|(name, before)| Comparison::of(&name, &before, &summary, args.tolerance.share))
        .transpose()
        .map_err(Problem::Usage);
    let (comparison, refused) = match comparison {
        Ok(comparison) => (comparison, None),
        Err(problem) => (None, Some(problem)),
    };
    let written = reports::tell(&summary, comparison.as_ref(), &args.reports);
    let code = code(&summary, comparison.as_ref());
    if code == codes::VIOLATIONS {
        return Ok(code);
    }
    match refused {
        Some(problem) => Err(problem),
        None if written => Ok(code),
        None => Ok(codes::USAGE),
    }
}

fn code(summary: &Summary, comparison: Option<&Comparison>) -> u8 {
    match (summary.verdict, comparison) {
        (Verdict::Passed | Verdict::Incomplete, Some(comparison)) if comparison.is_worse() => {
            codes::VIOLATIONS
        }
        (Verdict::Passed, Some(comparison)) if comparison.is_unclear() => codes::INCOMPLETE,
        (verdict, _) => exit::code(verdict),
    }
}

fn aimed(args: &LoadArgs, embedded: &mut Option<Embedded>) -> Result<TargetSetup, String> {
    let flags = RunArgs {
        target: TargetArgs::clone(&args.target),
        timeout: args.timeout,
        seed: args.seed,
        ..RunArgs::default()
    };
    let setup = target::read(&flags, args.url.as_deref(), || {
        let server = Embedded::start(&args.deviations)?;
        let told = (server.url.clone(), server.profile.clone());
        *embedded = Some(server);
        Ok(told)
    })?;
    Ok(setup)
}

fn options(args: &LoadArgs, load: &LoadTable) -> Result<Options, String> {
    let mut weights: Weights = load.weights.clone();
    if !args.weights.is_empty() {
        weights = args.weights.iter().cloned().collect();
    }
    let mut thresholds = args.thresholds.clone();
    if thresholds.is_empty() {
        let of_file: Result<Vec<Threshold>, _> = load.thresholds.iter().map(|text| text.parse()).collect();
        thresholds = of_file.map_err(|cause| format!("load.thresholds: {cause}"))?;
    }
    let mut goose = Vec::new();
    if let Some(port) = args.dashboard {
        goose.extend(["--dashboard".to_owned(), format!("--dashboard-port={port}")]);
    }
    for path in &args.goose_report {
        goose.push(format!("--report-file={}", path.display()));
    }
    if let Some(path) = &args.goose_baseline {
        goose.push(format!("--baseline-file={}", path.display()));
    }
    Ok(Options {
        scenario: args.scenario.clone(),
        weights,
        users: args.users,
        duration: args.duration.unwrap_or(DURATION),
        ramp: args.ramp.unwrap_or_default(),
        warm_up: args.warm_up.unwrap_or_default(),
        test_plan: args.test_plan.clone(),
        rate: args.rate.clone(),
        max_requests: args.max_requests,
        judge: args.judge,
        strict: args.strict,
        thresholds,
        respect_retry_after: args.respect_retry_after,
        own_target: args.i_own_this_target || load.own_target,
        goose,
    })
}

/// A runtime with a worker for each core.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, String> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|cause| format!("the runtime: {cause}"))
}

/// goose listens to Ctrl-C alone; when the system asks this process to end, that is the same.
async fn stop_when_asked() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        && terminate.recv().await.is_some()
    {
        goose::trigger_killswitch("asked to end");
    }
}

/// Ctrl-C while the target is asked what it speaks; once the load begins, goose takes the signal over.
async fn interrupted_before() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
