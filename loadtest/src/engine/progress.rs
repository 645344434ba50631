//! One line on standard error with the progress of the run, if standard error is a terminal.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use super::state::RunState;
use crate::{
    figures::outcome::{Outcome, OutcomeCounts},
    text::{duration, number},
};

/// Returns to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";
/// How often the line is refreshed.
const REFRESH_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct ProgressLine {
    is_terminal: bool,
    refreshed: Option<Instant>,
    /// The number of answers when the rate was last computed, and that time after the start.
    before: (u64, Duration),
    rate: f64,
}

impl Default for ProgressLine {
    fn default() -> Self {
        Self {
            is_terminal: io::stderr().is_terminal(),
            refreshed: None,
            before: (0, Duration::ZERO),
            rate: 0.0,
        }
    }
}

impl ProgressLine {
    /// Shows a line, unless the last one is too new. A line that cannot be written is dropped.
    pub(crate) fn show(&mut self, line: impl FnOnce(&mut Self) -> String) {
        if !self.is_terminal || self.refreshed.is_some_and(|at| at.elapsed() < REFRESH_INTERVAL) {
            return;
        }
        self.refreshed = Some(Instant::now());
        let line = line(self);
        let mut out = io::stderr().lock();
        let _ = write!(out, "{CLEAR}{line}");
        let _ = out.flush();
    }

    pub(super) fn of_run(&mut self, run: &RunState) -> String {
        let elapsed = run.clock.elapsed();
        let answers = answers(run);
        let seconds = elapsed.saturating_sub(self.before.1).as_secs_f64();
        if seconds > 0.5 {
            #[expect(clippy::cast_precision_loss, reason = "shown to people")]
            let more = answers.saturating_sub(self.before.0) as f64;
            self.rate = more / seconds;
            self.before = (answers, elapsed);
        }
        line(run, answers, self.rate, elapsed)
    }
}

/// Clears the line, so that what follows is not written behind it.
impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.refreshed.is_some() {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}

/// Answers so far, with those of the warm-up.
fn answers(run: &RunState) -> u64 {
    let mut answers = 0;
    for figures in run.shards() {
        let labels = figures.labels.values().map(|label| label.counts.answered());
        answers += labels.sum::<u64>() + figures.warm_up.answered();
    }
    answers
}

fn line(run: &RunState, answers: u64, rate: f64, elapsed: Duration) -> String {
    let mut counts = OutcomeCounts::default();
    let mut p95 = None;
    for figures in run.shards() {
        for label in figures.labels.values() {
            counts.merge(&label.counts);
        }
        if let Some(slot) = figures.series.slots.iter().rev().nth(1).or(figures.series.slots.last()) {
            p95 = p95.max(slot.percentile(95.0));
        }
    }
    let length = run.clock.length();
    let phase = if elapsed < run.clock.warm_up() {
        "warming up, "
    } else if run.is_draining() {
        "waiting for the last answers, "
    } else {
        ""
    };
    let mut line = format!(
        "{phase}{:.0} of {:.0} s: {} answers, {}/s",
        elapsed.min(length).as_secs_f64(),
        length.as_secs_f64(),
        number(answers),
        number(whole(rate)),
    );
    if let Some(p95) = p95 {
        let _ = write!(line, ", p95 {}", duration(p95));
    }
    for outcome in Outcome::ALL.into_iter().skip(1) {
        if counts.of(outcome) > 0 {
            let _ = write!(line, ", {} {}", number(counts.of(outcome)), outcome.description());
        }
    }
    line
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shown to people, and not negative"
)]
fn whole(rate: f64) -> u64 {
    rate as u64
}
