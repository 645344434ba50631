//! `selftest`: checks the verdicts on the user's machine, against reference servers with known faults.

mod causes;
mod pairs;

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::{
    cli::{
        args::SelftestArgs,
        filter,
        process::{CommandError, Runtime, stop_at_interrupt},
    },
    report::{terminal::progress::StatusLine, text::words::count},
    selftest::{
        self, Cases, Causes, Deviation, Matrix, ProfilePart, ProfileParts, Row, SelftestError, Trials,
        every_deviation,
    },
};
use paymaster_client::stop::Stop;
use paymaster_engine::{cases::plan::DEFAULT_CASES, specification::Specification};
use paymaster_settings::{exit, output, specifications::DEFAULT_SPECIFICATION};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &SelftestArgs) -> Result<u8, CommandError> {
    if let Some(count) = args.pairs {
        return pairs::run(count, args.seeds);
    }
    let deviations = select(&args.only, every_deviation())?;
    let seeds: Vec<u64> = (1..=args.seeds).collect();
    let profile_parts: ProfileParts =
        if args.sparse_profiles { ProfilePart::sparse } else { ProfilePart::whole };
    // A sparse profile promises too little for faults to be caught.
    let deviations: Vec<Deviation> = deviations
        .into_iter()
        .filter(|deviation| !args.sparse_profiles || deviation.fault().is_none())
        .collect();
    let trials = Trials {
        deviations: &deviations,
        seeds: &seeds,
        profile_parts,
        cases: match args.cases {
            Some(cases) => Cases::Fixed(cases),
            None if args.causes => Cases::Fixed(DEFAULT_CASES),
            None => Cases::ShortFirst,
        },
        causes: args.causes,
    };
    // Each trial has a runtime of its own. This one waits for Ctrl-C meanwhile.
    let matrix = Runtime::start()?.block_on(async {
        let stop = stop_at_interrupt();
        tokio::task::block_in_place(|| run_trials(&trials, &stop))
    })?;
    let scope = Scope { all: args.only.is_empty() && !args.sparse_profiles, trials: trials.count() };
    let report = Report::of(&matrix, &scope);
    let mut text = report.text(&matrix);
    let causes = Causes::of(&matrix);
    if args.causes {
        text += &causes::text(&causes);
    }
    output::print(&text).map_err(|cause| format!("the matrix could not be written: {cause}"))?;
    Ok(match report.code() {
        exit::CONFORMS | exit::INCOMPLETE if !causes.untrue.is_empty() => exit::VIOLATIONS,
        code => code,
    })
}

/// Runs the trials and shows the progress on a terminal.
fn run_trials(trials: &Trials<'_>, stop: &Stop) -> Result<Matrix, SelftestError> {
    let status = StatusLine::default();
    let (done, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = trials.count();
    let matrix = selftest::run(trials, stop, &|trial| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let is_wrong = usize::from(trial.problem().is_some());
        let wrong = wrong.fetch_add(is_wrong, Ordering::Relaxed) + is_wrong;
        status.show(&format!("{done} of {all} trials, {wrong} not as they must be"));
    });
    status.show("");
    matrix
}

/// The deviations whose name or clause matches a filter; all of them where there is no filter. A filter that matches nothing is an
/// error.
fn select(filters: &[String], all: Vec<Deviation>) -> Result<Vec<Deviation>, CommandError> {
    let names = |deviation: &Deviation| match deviation {
        Deviation::Fault(_, fault) => vec![fault.name, fault.clause],
        Deviation::Variant(_, variant) => vec![variant.name],
    };
    filter::select(filters, all, names).map_err(|unmatched| {
        format!(
            "no fault, variant or clause matches `{}`{}; the reference server's --list-faults and --list-variants name them",
            unmatched.filter, unmatched.suggestion
        )
        .into()
    })
}

/// Which trials were requested.
struct Scope {
    /// Whether every fault and variant is included: only then is a rule that no fault breaks a problem.
    all: bool,
    /// The number of trials.
    trials: usize,
}

/// The result of a selftest.
struct Report {
    /// Trials with a wrong verdict, and rules that no fault broke.
    problems: Vec<String>,
    /// The number of requested trials that did not run to their end.
    missing: usize,
}

impl Report {
    fn of(matrix: &Matrix, scope: &Scope) -> Self {
        let missing = scope.trials.saturating_sub(matrix.trials.len());
        let unproven = if scope.all && missing == 0 { matrix.unproven() } else { Vec::new() };
        let wrong = matrix.problems().into_iter().map(|(trial, problem)| {
            let name = named(trial.deviation.specification(), trial.deviation.name());
            match trial.profile_part {
                ProfilePart::Whole => format!("{name} (seed {}) {problem}", trial.seed),
                part => format!("{name} (seed {}, {}) {problem}", trial.seed, part.name()),
            }
        });
        let unproven = unproven.into_iter().map(|(specification, rule)| {
            format!("no fault proves the rule {}", named(specification, rule.id))
        });
        Self { problems: wrong.chain(unproven).collect(), missing }
    }

    fn code(&self) -> u8 {
        match (self.problems.is_empty(), self.missing) {
            (false, _) => exit::VIOLATIONS,
            (true, 0) => exit::CONFORMS,
            (true, _) => exit::INCOMPLETE,
        }
    }

    fn text(&self, matrix: &Matrix) -> String {
        let word = match self.code() {
            exit::CONFORMS => "THE VERDICTS HOLD",
            exit::INCOMPLETE => "INCOMPLETE",
            _ => "THE VERDICTS DO NOT HOLD",
        };
        let (faults, variants) = matrix.counts();
        let mut text = format!(
            "{word}  {} with a fault, {} with a lawful variant\n",
            count(faults as u64, "run"),
            variants
        );
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to a String cannot fail");
        if self.missing > 0 {
            line(&format!("  interrupted: {} left out", count(self.missing as u64, "run")));
        }
        for problem in &self.problems {
            line(&format!("  {problem}"));
        }
        line("");
        for row in matrix.rows() {
            line(&text_of(&row));
        }
        text
    }
}

/// A name, with the specification where it is not the default one.
fn named(specification: &Specification, name: &str) -> String {
    if specification == DEFAULT_SPECIFICATION {
        name.to_owned()
    } else {
        format!("{}: {name}", specification.name)
    }
}

fn text_of(row: &Row) -> String {
    let rules: Vec<String> = row
        .rules
        .iter()
        .map(|(rule, &times)| {
            if times == row.trials {
                (*rule).to_owned()
            } else {
                format!("{rule} ({times} of {} seeds)", row.trials)
            }
        })
        .collect();
    let rules = if rules.is_empty() { "-".to_owned() } else { rules.join(", ") };
    let (kind, verb) = match row.deviation {
        Deviation::Fault(..) => ("fault", "caught by"),
        Deviation::Variant(..) => ("variant", "breaks"),
    };
    let name = named(row.deviation.specification(), row.deviation.name());
    format!("{kind:<8} {name:<42} {verb:<9} {rules}")
}

#[cfg(test)]
mod tests {
    use super::ProfilePart;
    use super::{Deviation, Matrix, Report, Scope, every_deviation, exit, select};
    use crate::selftest::Trial;
    use paymaster_engine::verdict::conclusion::Conclusion;
    use paymaster_settings::specifications::DEFAULT_SPECIFICATION;

    fn trial(name: &str, seed: u64, broken: &[&str]) -> Trial {
        let named = |deviation: &Deviation| deviation.name() == name;
        let is_broken = !broken.is_empty();
        Trial {
            deviation: every_deviation().into_iter().find(named).expect("it is there"),
            seed,
            profile_part: ProfilePart::Whole,
            broken: broken
                .iter()
                .map(|id| DEFAULT_SPECIFICATION.find_rule(id).expect("it is there"))
                .collect(),
            conclusion: if is_broken { Conclusion::Violations } else { Conclusion::Conforms },
            cut_short: None,
            defects: Vec::new(),
        }
    }

    #[test]
    fn the_matrix_as_it_is_read() {
        let matrix = Matrix {
            trials: vec![
                trial("id-null", 1, &["answer.id"]),
                trial("quote-mode-missing", 1, &["quote-result.MODE", "answer.id"]),
                trial("token-errors-positive", 1, &[]),
                trial("id-null", 2, &[]),
                trial("quote-mode-missing", 2, &["quote-result.MODE"]),
                trial("token-errors-positive", 2, &[]),
            ],
        };
        let scope = Scope { all: false, trials: 7 };
        insta::assert_snapshot!(Report::of(&matrix, &scope).text(&matrix));
    }

    #[test]
    fn a_filter_that_matches_nothing_is_an_error_with_a_hint() {
        let known = every_deviation()[0].name();
        let typo = format!("{known}x");
        let error = select(&[known.to_owned(), typo], every_deviation()).expect_err("the second is unknown");
        let message = error.message;
        assert!(message.contains(&format!("did you mean `{known}`?")), "{message}");
        let by_clause = select(&["quote-result.*".to_owned()], every_deviation());
        assert!(by_clause.is_ok_and(|chosen| !chosen.is_empty()));
    }

    #[test]
    fn missing_trials_make_it_incomplete() {
        let scope = Scope { all: true, trials: 3 };
        let report = Report::of(&Matrix::default(), &scope);
        assert_eq!(report.code(), exit::INCOMPLETE);
        assert!(report.text(&Matrix::default()).starts_with("INCOMPLETE"));
    }

    #[test]
    fn a_rule_that_no_fault_breaks_is_a_problem() {
        let scope = Scope { all: true, trials: 0 };
        assert_eq!(Report::of(&Matrix::default(), &scope).code(), exit::VIOLATIONS);
    }
}
