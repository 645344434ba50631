//! `selftest --pairs`: two faults in one server.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::causes::defects;
use crate::{
    cli::process::{CommandError, Runtime, stop_at_interrupt},
    report::{terminal::progress::StatusLine, text::words::count},
    selftest::{PairTrial, fault_pairs, run_pairs},
};
use paymaster_settings::{exit, output, specifications::SPECIFICATIONS};

/// Of how many of 100 pairs the two faults must be two defects, and of how many both causes must be named. A replay must be right for
/// every pair of which both causes are named.
const TWO_DEFECTS: usize = 95;
const BOTH_NAMED: usize = 90;

/// Runs so many pairs of each specification with each seed; returns the exit code.
pub(super) fn run(number: usize, seeds: u64) -> Result<u8, CommandError> {
    let draws =
        SPECIFICATIONS.iter().flat_map(|specification| (1..=seeds).map(move |seed| (*specification, seed)));
    let asked = number.saturating_mul(draws.clone().count());
    let trials = Runtime::start()?.block_on(async {
        let stop = stop_at_interrupt();
        let (status, done) = (StatusLine::default(), AtomicUsize::new(0));
        let on_trial = |_: &PairTrial| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            status.show(&format!("{done} of {asked} pairs"));
        };
        let trials = tokio::task::block_in_place(|| {
            draws
                .map(|(own, seed)| run_pairs(&fault_pairs(own, number, seed), seed, &stop, &on_trial))
                .collect::<Result<Vec<_>, _>>()
        });
        status.show("");
        trials
    })?;
    let trials: Vec<PairTrial> = trials.into_iter().flatten().collect();
    let report = Report::of(&trials, asked);
    output::print(&report.text(&trials))
        .map_err(|cause| format!("the pairs could not be written: {cause}"))?;
    Ok(report.code())
}

/// How many trials are as they must be.
struct Report {
    asked: usize,
    done: usize,
    two_defects: usize,
    named: usize,
    replayed: usize,
}

impl Report {
    fn of(trials: &[PairTrial], asked: usize) -> Self {
        let number = |is_right: fn(&PairTrial) -> bool| trials.iter().filter(|trial| is_right(trial)).count();
        Self {
            asked,
            done: trials.len(),
            two_defects: number(PairTrial::has_two_defects),
            named: number(PairTrial::names_both),
            replayed: number(|trial| trial.names_both() && trial.is_replayed()),
        }
    }

    fn code(&self) -> u8 {
        let is_enough = |number: usize, of_100: usize| number * 100 >= of_100 * self.done;
        let holds = is_enough(self.two_defects, TWO_DEFECTS)
            && is_enough(self.named, BOTH_NAMED)
            && self.replayed == self.named;
        match (holds, self.done < self.asked) {
            (false, _) => exit::VIOLATIONS,
            (true, true) => exit::INCOMPLETE,
            (true, false) => exit::CONFORMS,
        }
    }

    fn text(&self, trials: &[PairTrial]) -> String {
        let word = match self.code() {
            exit::CONFORMS => "THE PAIRS HOLD",
            exit::INCOMPLETE => "INCOMPLETE",
            _ => "THE PAIRS DO NOT HOLD",
        };
        let of_one_rule = trials.iter().filter(|trial| trial.pair.is_of_one_rule).count();
        let mut text = String::new();
        let mut line = |line: &str| writeln!(text, "{line}").expect("writing to a String cannot fail");
        line(&format!(
            "{word}  {} of {} asked for, {of_one_rule} of one rule",
            count(self.done as u128, "pair"),
            self.asked
        ));
        line(&format!("  at least two defects: {}", self.two_defects));
        line(&format!("  both causes named: {}", self.named));
        line(&format!("  of these, replays right: {}", self.replayed));
        for trial in trials {
            if trial.has_two_defects() && trial.names_both() && trial.is_replayed() {
                continue;
            }
            line("");
            for (place, fault) in trial.pair.faults.iter().enumerate() {
                let named = if trial.is_named[place] { "" } else { ", not named" };
                let replayed = if trial.is_fixed[place] { "" } else { ", replay not right" };
                line(&format!(
                    "  {} depends on {}{named}{replayed}",
                    fault.name,
                    fault.member.unwrap_or_default()
                ));
            }
            defects(&trial.defects, &mut line);
        }
        text
    }
}
