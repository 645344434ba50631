//! The progress of a run on standard error: one line that is overwritten, on a terminal only; and the estimate of a run with a rate
//! limit.

use std::io::{self, IsTerminal, Write};

use crate::{events::Event, run::Reporter};

/// Moves to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// A status line on standard error. Each text replaces the previous one; an empty text clears the line.
#[derive(Debug)]
pub(crate) struct StatusLine {
    on_terminal: bool,
}

impl Default for StatusLine {
    fn default() -> Self {
        Self {
            on_terminal: io::stderr().is_terminal(),
        }
    }
}

impl StatusLine {
    /// Shows a text, on a terminal only.
    pub(crate) fn show(&self, text: &str) {
        if self.on_terminal {
            let mut out = io::stderr().lock();
            // Progress that cannot be shown is not an error.
            let _ = write!(out, "{CLEAR}{text}");
            let _ = out.flush();
        }
    }

    /// Writes a permanent line, on a terminal or not.
    pub(crate) fn note(&self, text: &str) {
        let clear = if self.on_terminal { CLEAR } else { "" };
        // A note that cannot be shown is not an error.
        let _ = writeln!(io::stderr().lock(), "{clear}{text}");
    }
}

/// Shows the progress of a run.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    status: StatusLine,
    at_most: usize,
}

impl Reporter for Progress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { target, .. } => self
                .status
                .show(&format!("discovering the dialect of {target} ...")),
            Event::Planned { at_most, .. } => {
                self.at_most = *at_most;
                self.status
                    .show(&format!("sending at most {at_most} groups of requests"));
            }
            Event::Judged {
                groups,
                requests,
                findings,
            } => {
                let at_most = self.at_most;
                self.status.show(&format!(
                    "{groups} of at most {at_most} groups judged, {requests} requests sent, {findings} rules broken"
                ));
            }
            Event::Waiting { pause, reason } => {
                self.status
                    .show(&format!("waiting {} s: {reason}", pause.as_secs()));
            }
            Event::Overloaded { jobs, sign } => self.status.note(&format!(
                "note: {sign} while other requests were in flight, and not for the same request alone: at most {jobs} at a time from now on"
            )),
            Event::Estimated(estimate) => self.status.note(&estimate.to_string()),
            Event::Broken { .. } | Event::Exchanged(_) => {}
            Event::Found(finding) => self.status.show(&format!("confirmed {}", finding.rule.id)),
            Event::Finished(_) => self.status.show(""),
        }
    }
}
