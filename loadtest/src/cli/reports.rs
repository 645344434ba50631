//! Reports of runs: written after a run, added up, compared.

use std::path::PathBuf;

use paymaster_cli::{environment::Environment, exit as codes, terminal::Paint};

use super::{
    args::{CompareArgs, MergeArgs},
    exit, out,
};
use crate::{
    compare::Comparison,
    merge,
    report::{self, terminal},
    summary::Summary,
};

/// Prints the report and writes the files; one that cannot be written loses none of the others. False when one could not.
pub(super) fn tell(summary: &Summary, comparison: Option<&Comparison>, paths: &[PathBuf]) -> bool {
    let mut trouble = Vec::new();
    trouble.extend(
        out::print(&terminal::render(summary, comparison, paint()))
            .err()
            .map(|cause| cause.to_string()),
    );
    for path in paths {
        trouble.extend(report::write(path, summary, comparison).err());
    }
    for cause in &trouble {
        out::error(&format!("a report could not be written: {cause}"));
    }
    trouble.is_empty()
}

fn paint() -> Paint {
    out::paint(&Environment::of_process(), false)
}

/// `merge`: judges several reports as one run.
pub(super) fn merge(args: &MergeArgs) -> Result<u8, String> {
    for path in &args.reports {
        report::format_of(path)?;
    }
    let parts = args.files.iter().map(|path| Summary::read(path));
    let parts: Vec<Summary> = parts
        .collect::<Result<_, _>>()
        .map_err(|cause| cause.to_string())?;
    let merged = merge::merge(&parts, &args.thresholds)?;
    let written = tell(&merged, None, &args.reports);
    let code = exit::code(merged.verdict);
    Ok(if written || code == codes::VIOLATIONS {
        code
    } else {
        codes::USAGE
    })
}

/// `compare`: says what became worse.
pub(super) fn compare(args: &CompareArgs) -> Result<u8, String> {
    let read = |path: &PathBuf| Summary::read(path).map_err(|cause| cause.to_string());
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let name = args.before.display().to_string();
    let comparison = Comparison::of(&name, &before, &after, args.tolerance.share)?;
    let mut text = String::new();
    let (verdict, code) = if comparison.is_worse() {
        ("WORSE", codes::VIOLATIONS)
    } else if comparison.is_unclear() {
        ("UNCLEAR", codes::INCOMPLETE)
    } else {
        ("NOT WORSE", codes::CONFORMS)
    };
    text.push_str(verdict);
    terminal::compared(&mut text, &comparison, paint());
    out::print(&text)?;
    Ok(code)
}
