//! Reports: written after a run, merged and compared.

use std::path::PathBuf;

use paymaster_settings::{Environment, exit as codes, output as out, process::CommandError};

use paymaster_client::files as input;

use crate::cli::args::{CompareArgs, MergeArgs};
use crate::cli::command_line;
use crate::report::{self, Extent, RequestedReport};
use crate::results::{self, Change, RunComparison, RunSummary};

/// Prints the report and writes the report files. An error of one file does not stop the others. Returns whether all succeeded. Where a
/// report goes to standard output, the one for people goes to standard error.
pub(crate) fn publish(
    summary: &RunSummary,
    comparison: Option<&RunComparison>,
    reports: &[RequestedReport],
    extent: Extent,
) -> bool {
    let stdout_taken = reports.iter().any(RequestedReport::is_on_stdout);
    let paint = out::paint(&Environment::of_process(), stdout_taken);
    let text = report::terminal(summary, comparison, extent, paint);
    let printed = if stdout_taken {
        out::eprint(&text);
        Ok(())
    } else {
        out::print(&text).map_err(|cause| cause.to_string())
    };
    let written = reports.iter().map(|report| report.write(summary, comparison));
    let errors: Vec<String> = [printed].into_iter().chain(written).filter_map(Result::err).collect();
    for error in &errors {
        out::error(&format!("a report could not be written: {error}"));
    }
    errors.is_empty()
}

/// `merge`: merges several reports and judges them as one run.
pub(crate) fn merge(args: &MergeArgs) -> Result<u8, CommandError> {
    let reports = RequestedReport::parse(&args.reports)?;
    if args.check {
        return Ok(codes::CONFORMS);
    }
    let mut files = args.files.clone();
    if let Some(list) = &args.files_from {
        let text = input::read_text(list, input::WRITTEN_BY_HAND)
            .map_err(|cause| format!("{}: {cause}", list.display()))?;
        files.extend(text.lines().filter(|line| !line.is_empty()).map(PathBuf::from));
    }
    let runs = files.iter().map(|path| RunSummary::read(path));
    let runs: Vec<RunSummary> = runs.collect::<Result<_, _>>()?;
    let merged = RunSummary {
        command: args.command.as_deref().map_or_else(command_line::of_process, command_line::given),
        ..results::merge(&runs, &args.thresholds, &args.missing)?
    };
    let published = publish(&merged, None, &reports, args.extent);
    Ok(if published { merged.verdict as u8 } else { codes::USAGE })
}

/// `compare`: compares two reports.
pub(crate) fn compare(args: &CompareArgs) -> Result<u8, CommandError> {
    let (before, after) = (RunSummary::read(&args.before)?, RunSummary::read(&args.after)?);
    let name = args.before.display().to_string();
    let comparison = RunComparison::of(&name, &before, &after, args.tolerance.share)?;
    let document = report::compared(&comparison, &before, &after);
    let paint = out::paint(&Environment::of_process(), false);
    out::print(&report::lines(Extent::default(), paint).document(&document))?;
    if let Some(path) = &args.output {
        document.write(path, report::own()).map_err(|cause| format!("{}: {cause}", path.display()))?;
    }
    Ok(match comparison.worst() {
        Change::Worse => codes::VIOLATIONS,
        Change::Unclear => codes::INCOMPLETE,
        Change::Same | Change::Better => codes::CONFORMS,
    })
}
