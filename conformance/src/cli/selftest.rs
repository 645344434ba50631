//! `selftest`: shows on the user's machine that the verdicts hold.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::cli::{
    args::SelftestArgs,
    check::{runtime, stop_at_interrupt},
    filter::glob,
    out,
};
use crate::{
    report::{Ticker, count},
    selftest::{self, Deviation, Matrix, Row, every_deviation},
};
use paymaster_cli::{exit, suggestion::did_you_mean};
use paymaster_client::stop::Stop;
use paymaster_judge::cases::plan::DEFAULT_CASES;

/// Runs the command; gives the exit code.
pub(crate) fn run(args: &SelftestArgs) -> Result<u8, String> {
    let deviations = select(&args.only, every_deviation())?;
    let seeds: Vec<u64> = (1..=args.seeds).collect();
    let cases = args.cases.unwrap_or(DEFAULT_CASES);
    // The trials have runtimes of their own; this one lives as long as they run, and waits for Ctrl-C.
    let matrix = runtime()?.block_on(async {
        let stop = stop_at_interrupt();
        tokio::task::block_in_place(|| watched(&deviations, &seeds, cases, &stop))
    })?;
    let asked = Asked {
        all: args.only.is_empty(),
        trials: deviations.len() * seeds.len(),
    };
    let report = Report::of(&matrix, &asked);
    out::print(&report.text(&matrix)).map_err(|cause| format!("the matrix could not be written: {cause}"))?;
    Ok(report.code())
}

fn watched(deviations: &[Deviation], seeds: &[u64], cases: u32, stop: &Stop) -> Result<Matrix, String> {
    let ticker = Ticker::default();
    let (done, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = deviations.len() * seeds.len();
    let matrix = selftest::run(deviations, seeds, cases, stop, &|trial| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let now_wrong = usize::from(trial.complaint().is_some());
        let wrong = wrong.fetch_add(now_wrong, Ordering::Relaxed) + now_wrong;
        ticker.say(&format!("{done} of {all} trials, {wrong} not as they must be"));
    });
    ticker.say("");
    matrix
}

/// The deviations that the filters ask for; all of them when there is none. A filter that matches nothing is an error.
fn select(filters: &[String], all: Vec<Deviation>) -> Result<Vec<Deviation>, String> {
    let asks = |filter: &String, deviation: &Deviation| {
        glob(filter, deviation.name())
            || matches!(deviation, Deviation::Fault(fault) if glob(filter, fault.clause))
    };
    for filter in filters {
        if !all.iter().any(|deviation| asks(filter, deviation)) {
            let hint = did_you_mean(filter, all.iter().map(Deviation::name));
            return Err(format!(
                "no fault, variant or clause matches `{filter}`{hint}; the reference server's --list-faults and \
                 --list-variants name them"
            ));
        }
    }
    Ok(all
        .into_iter()
        .filter(|deviation| filters.is_empty() || filters.iter().any(|filter| asks(filter, deviation)))
        .collect())
}

/// What was asked for.
struct Asked {
    /// Every fault and variant; only then can it be said that each rule is proven.
    all: bool,
    /// How many trials.
    trials: usize,
}

/// What came of it.
struct Report {
    /// What is not as it must be.
    complaints: Vec<String>,
    /// Trials that were asked for and not run to their end.
    missing: usize,
}

impl Report {
    fn of(matrix: &Matrix, asked: &Asked) -> Self {
        let missing = asked.trials.saturating_sub(matrix.trials.len());
        let unproven = if asked.all && missing == 0 {
            matrix.unproven()
        } else {
            Vec::new()
        };
        let wrong = matrix.complaints().into_iter().map(|(trial, complaint)| {
            format!("{} (seed {}) {complaint}", trial.deviation.name(), trial.seed)
        });
        let unproven = unproven
            .into_iter()
            .map(|rule| format!("no fault proves the rule {}", rule.id));
        Self {
            complaints: wrong.chain(unproven).collect(),
            missing,
        }
    }

    fn code(&self) -> u8 {
        match (self.complaints.is_empty(), self.missing) {
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
        let mut line = |line: &str| writeln!(text, "{line}").expect("a String takes all");
        if self.missing > 0 {
            line(&format!(
                "  interrupted: {} left out",
                count(self.missing as u64, "run")
            ));
        }
        for complaint in &self.complaints {
            line(&format!("  {complaint}"));
        }
        line("");
        for row in matrix.rows() {
            line(&text_of(&row));
        }
        text
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
    let rules = if rules.is_empty() {
        "-".to_owned()
    } else {
        rules.join(", ")
    };
    let (kind, verb) = match row.deviation {
        Deviation::Fault(_) => ("fault", "caught by"),
        Deviation::Variant(_) => ("variant", "breaks"),
    };
    format!("{kind:<8} {:<42} {verb:<9} {rules}", row.deviation.name())
}

#[cfg(test)]
mod tests {
    use super::{Asked, Deviation, Matrix, Report, every_deviation, exit, select};
    use crate::selftest::Trial;
    use paymaster_judge::{rules::find_rule, verdict::conclusion::Conclusion};

    fn trial(name: &str, seed: u64, broken: &[&str]) -> Trial {
        let named = |deviation: &Deviation| deviation.name() == name;
        let is_broken = !broken.is_empty();
        Trial {
            deviation: every_deviation().into_iter().find(named).expect("it is there"),
            seed,
            broken: broken
                .iter()
                .map(|id| find_rule(id).expect("it is there"))
                .collect(),
            conclusion: if is_broken {
                Conclusion::Violations
            } else {
                Conclusion::Conforms
            },
            cut_short: None,
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
        let asked = Asked {
            all: false,
            trials: 7,
        };
        insta::assert_snapshot!(Report::of(&matrix, &asked).text(&matrix));
    }

    #[test]
    fn a_filter_that_matches_nothing_is_an_error_with_a_hint() {
        let known = every_deviation()[0].name();
        let typo = format!("{known}x");
        let error = select(&[known.to_owned(), typo], every_deviation()).expect_err("the second is unknown");
        assert!(error.contains(&format!("did you mean `{known}`?")), "{error}");
        let by_clause = select(&["quote-result.*".to_owned()], every_deviation());
        assert!(by_clause.is_ok_and(|chosen| !chosen.is_empty()));
    }

    #[test]
    fn trials_left_out_are_no_success() {
        let asked = Asked { all: true, trials: 3 };
        let report = Report::of(&Matrix::default(), &asked);
        assert_eq!(report.code(), exit::INCOMPLETE);
        assert!(report.text(&Matrix::default()).starts_with("INCOMPLETE"));
    }

    #[test]
    fn rules_that_no_fault_proves_are_a_complaint() {
        let asked = Asked { all: true, trials: 0 };
        assert_eq!(Report::of(&Matrix::default(), &asked).code(), exit::VIOLATIONS);
    }
}
