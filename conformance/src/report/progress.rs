//! One line on standard error that says how far the run is, none when standard error is no terminal; and how long a run at a
//! limited rate takes.

use std::io::{self, IsTerminal, Write};

use crate::{events::Event, run::Reporter};

/// Goes back to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// The line: each text replaces the one before it, and an empty one takes it away.
#[derive(Debug)]
pub(crate) struct Ticker {
    watched: bool,
}

impl Default for Ticker {
    fn default() -> Self {
        Self {
            watched: io::stderr().is_terminal(),
        }
    }
}

impl Ticker {
    /// Says how far the work is.
    pub(crate) fn say(&self, text: &str) {
        if self.watched {
            let mut out = io::stderr().lock();
            // Nobody is harmed when progress cannot be shown.
            let _ = write!(out, "{CLEAR}{text}");
            let _ = out.flush();
        }
    }

    /// Writes a line that stays, on a terminal or not.
    pub(crate) fn note(&self, text: &str) {
        let clear = if self.watched { CLEAR } else { "" };
        // Nobody is harmed when it cannot be shown.
        let _ = writeln!(io::stderr().lock(), "{clear}{text}");
    }
}

/// Tells a person who watches how far the run is.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    ticker: Ticker,
    at_most: usize,
}

impl Progress {
    fn say(&self, text: &str) {
        self.ticker.say(text);
    }
}

impl Reporter for Progress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { target, .. } => self.say(&format!("asking {target} what it speaks ...")),
            Event::Planned { at_most, .. } => {
                self.at_most = *at_most;
                self.say(&format!("sending at most {at_most} groups of requests"));
            }
            Event::Judged {
                groups,
                requests,
                findings,
            } => {
                let at_most = self.at_most;
                self.say(&format!(
                    "{groups} of at most {at_most} groups judged, {requests} requests sent, {findings} rules broken"
                ));
            }
            Event::Waiting { pause, reason } => {
                self.say(&format!("waiting {} s: {reason}", pause.as_secs()));
            }
            Event::Estimated(estimate) => self.ticker.note(&estimate.to_string()),
            Event::Broken { .. } | Event::Exchanged(_) => {}
            Event::Found(finding) => self.say(&format!("looked into {}", finding.rule.id)),
            Event::Finished(_) => self.say(""),
        }
    }
}
