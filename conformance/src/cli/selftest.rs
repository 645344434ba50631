//! `selftest`: shows on the user's machine that the verdicts hold.

use std::fmt::Write as _;

use super::{args::SelftestArgs, exit, out};
use crate::{
    plan::DEFAULT_CASES,
    selftest::{self, Deviation, Matrix, Trial, every_deviation},
};

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &SelftestArgs) -> Result<u8, String> {
    let deviations: Vec<Deviation> = every_deviation()
        .into_iter()
        .filter(|deviation| args.only.is_empty() || args.only.iter().any(|name| name == deviation.name()))
        .collect();
    if deviations.is_empty() {
        return Err(
            "no fault and no variant has that name; `selftest` without --only lists them all".to_owned(),
        );
    }
    let seeds: Vec<u64> = (1..=args.seeds).collect();
    let matrix = selftest::run(&deviations, &seeds, args.cases.unwrap_or(DEFAULT_CASES), &|_| {})?;
    let whole = args.only.is_empty();
    out::print(&text(&matrix, whole)).map_err(|cause| format!("the matrix could not be written: {cause}"))?;
    let holds = matrix.complaints().is_empty() && (!whole || matrix.unproven().is_empty());
    Ok(if holds { exit::CONFORMS } else { exit::VIOLATIONS })
}

fn text(matrix: &Matrix, whole: bool) -> String {
    let mut text = String::new();
    let complaints = matrix.complaints();
    let unproven = if whole { matrix.unproven() } else { Vec::new() };
    let (faults, variants) = matrix.counts();
    let word = if complaints.is_empty() && unproven.is_empty() {
        "THE VERDICTS HOLD"
    } else {
        "THE VERDICTS DO NOT HOLD"
    };
    let mut line = |line: String| writeln!(text, "{line}").expect("a String takes all");
    line(format!(
        "{word}  {faults} runs with a fault, {variants} with a lawful variant"
    ));
    for (trial, complaint) in &complaints {
        line(format!(
            "  {} (seed {}) {complaint}",
            trial.deviation.name(),
            trial.seed
        ));
    }
    for rule in &unproven {
        line(format!("  no fault proves the rule {}", rule.id));
    }
    line(String::new());
    for trial in &matrix.trials {
        line(row(trial));
    }
    text
}

fn row(trial: &Trial) -> String {
    let list = |ids: Vec<&str>| {
        if ids.is_empty() {
            "-".to_owned()
        } else {
            ids.join(", ")
        }
    };
    match trial.deviation {
        Deviation::Fault(fault) => {
            format!(
                "fault    {:<42} caught by {}",
                fault.name,
                list(trial.caught_by().map(|rule| rule.id).collect())
            )
        }
        Deviation::Variant(variant) => {
            format!(
                "variant  {:<42} breaks    {}",
                variant.name,
                list(trial.strays().map(|rule| rule.id).collect())
            )
        }
    }
}
