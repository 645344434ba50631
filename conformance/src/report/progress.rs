//! The progress of a run on standard error: one line that is overwritten, on a terminal only; and the estimate of a run with a rate
//! limit.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::events::Event;
use crate::report::words::{count, time};
use crate::run::Reporter;

/// Moves to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// Shows a text in the status line on standard error, on a terminal only. It replaces the previous one; an empty text clears the line.
pub(crate) fn show(text: &str) {
    let mut out = io::stderr().lock();
    if out.is_terminal() {
        // Progress that cannot be shown is not an error.
        let _ = write!(out, "{CLEAR}{text}");
        let _ = out.flush();
    }
}

/// Writes a permanent line, on a terminal or not.
fn note(text: &str) {
    let mut out = io::stderr().lock();
    let clear = if out.is_terminal() { CLEAR } else { "" };
    // A note that cannot be shown is not an error.
    let _ = writeln!(out, "{clear}{text}");
}

/// Shows the progress of a run.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    at_most: usize,
    /// When the first groups were judged, and how many requests had been sent then: those of discovery too.
    begun: Option<(Instant, usize)>,
    findings: usize,
    is_noted: bool,
}

/// The shortest time after which rate and time left mean something.
const SETTLED: Duration = Duration::from_millis(200);

/// Pauses of this length are also told where there is no terminal, once.
const NOTABLE: Duration = Duration::from_secs(5);

/// ` at 120 a second, at most 45 s left`, from what was sent in this time. Empty at the beginning.
fn pace(groups: usize, at_most: usize, sent: usize, elapsed: Duration) -> String {
    if elapsed < SETTLED || groups == 0 || sent == 0 {
        return String::new();
    }
    let seconds = elapsed.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rough figure for people")]
    let (rate, left) =
        (sent as f64 / seconds, seconds * at_most.saturating_sub(groups) as f64 / groups as f64);
    let left = time(Duration::from_secs_f64(left.round()));
    let decimals = usize::from(rate < 10.0);
    format!(" at {rate:.decimals$} a second, at most {left} left")
}

impl Reporter for Progress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { target, .. } => {
                show(&format!("discovering the dialect of {target} ..."));
            }
            Event::Planned { at_most, limits, .. } => {
                if limits.is_some() {
                    note(&format!("at most {limits} (operations.max-sponsorships, operations.max-cost)"));
                }
                self.at_most = *at_most;
                show(&format!("sending at most {at_most} groups of requests"));
            }
            Event::Judged { groups, requests, findings } => {
                let (at_most, now) = (self.at_most, Instant::now());
                let (since, before) = *self.begun.get_or_insert((now, *requests));
                let pace = pace(*groups, at_most, requests.saturating_sub(before), now - since);
                self.findings = *findings;
                show(&format!(
                    "{groups} of at most {at_most} groups judged, {requests} requests sent{pace}, \
                     {findings} rules broken"
                ));
            }
            Event::Waiting { pause, reason } => {
                let text = format!("waiting {}: {reason}", time(*pause));
                if *pause >= NOTABLE && !std::mem::replace(&mut self.is_noted, true) {
                    note(&text);
                }
                show(&text);
            }
            Event::Overloaded { jobs, sign } => note(&format!(
                "note: {sign} while other requests were in flight, and not for the same request alone: \
                 at most {jobs} at a time from now on"
            )),
            Event::Estimated(estimate) => note(&estimate.to_string()),
            Event::Confirming if self.findings > 0 => show(&format!(
                "sending again what broke {}, to confirm it and to find its cause ...",
                count(self.findings as u128, "rule")
            )),
            Event::Broken { .. } | Event::Exchanged(_) | Event::Confirming | Event::Found(_) => {}
            Event::Finished(_) => show(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_left_follow_from_what_was_sent() {
        let seconds = Duration::from_secs;
        for (groups, at_most, sent, elapsed, words) in [
            (0, 100, 0, seconds(5), ""),
            (10, 100, 30, Duration::from_millis(100), ""),
            (10, 100, 30, Duration::from_millis(500), " at 60 a second, at most 5.0 s left"),
            (10, 100, 30, seconds(5), " at 6.0 a second, at most 45 s left"),
            (50, 100, 900, seconds(3), " at 300 a second, at most 3.0 s left"),
            (10, 1_000, 30, seconds(10), " at 3.0 a second, at most 16 min 30 s left"),
            (100, 100, 300, seconds(10), " at 30 a second, at most 0.0 s left"),
        ] {
            assert_eq!(pace(groups, at_most, sent, elapsed), words, "{groups} of {at_most}");
        }
    }
}
