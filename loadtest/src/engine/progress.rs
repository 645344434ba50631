//! One line on standard error that says how the run goes; none when standard error is no terminal.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use super::shared::Shared;
use crate::{
    figures::outcome::{Counts, Outcome},
    report::words::{duration, number},
};

/// Goes back to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";
/// How often the line changes.
const EVERY: Duration = Duration::from_millis(250);

/// Tells a person who watches how the run goes.
#[derive(Debug)]
pub struct Progress {
    watched: bool,
    told: Option<Instant>,
    /// Answers at the last telling, and when that was.
    before: (u64, Duration),
    rate: f64,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            watched: io::stderr().is_terminal(),
            told: None,
            before: (0, Duration::ZERO),
            rate: 0.0,
        }
    }
}

impl Progress {
    pub(super) fn tell(&mut self, shared: &Shared) {
        if !self.watched || self.told.is_some_and(|told| told.elapsed() < EVERY) {
            return;
        }
        self.told = Some(Instant::now());
        let elapsed = shared.clock.elapsed();
        let answers = answers(shared);
        let seconds = elapsed.saturating_sub(self.before.1).as_secs_f64();
        if seconds > 0.5 {
            #[expect(clippy::cast_precision_loss, reason = "for people")]
            let more = answers.saturating_sub(self.before.0) as f64;
            self.rate = more / seconds;
            self.before = (answers, elapsed);
        }
        let line = line(shared, answers, self.rate, elapsed);
        // Nobody is harmed when progress cannot be shown.
        let mut out = io::stderr().lock();
        let _ = write!(out, "{CLEAR}{line}");
        let _ = out.flush();
    }

    pub(super) fn clear(&mut self) {
        if self.watched && self.told.take().is_some() {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}

/// Answers so far, those of the warm-up included.
fn answers(shared: &Shared) -> u64 {
    let mut answers = 0;
    for part in shared.parts() {
        let labels = part.labels.values().map(|label| label.counts.answered());
        answers += labels.sum::<u64>() + part.warm_up.answered();
    }
    answers
}

fn line(shared: &Shared, answers: u64, rate: f64, elapsed: Duration) -> String {
    let mut counts = Counts::default();
    let mut p95 = None;
    for part in shared.parts() {
        for label in part.labels.values() {
            counts.merge(&label.counts);
        }
        if let Some(slot) = part.series.slots.iter().rev().nth(1).or(part.series.slots.last()) {
            p95 = p95.max(slot.percentile(95.0));
        }
    }
    let length = shared.clock.length();
    let phase = if elapsed < shared.clock.warm_up() {
        "warming up, "
    } else if shared.is_draining() {
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
            let _ = write!(line, ", {} {}", number(counts.of(outcome)), outcome.words());
        }
    }
    line
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate for people: not negative"
)]
fn whole(rate: f64) -> u64 {
    rate as u64
}
