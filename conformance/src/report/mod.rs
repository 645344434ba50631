//! Reports: what a run leaves for people and machines. They read what the runner leaves behind; the runner knows none of them.

pub(crate) mod badge;
pub(crate) mod compact;
pub(crate) mod compare;
pub(crate) mod curl;
mod exchange;
mod finding;
pub(crate) mod formats;
mod har;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod junit;
mod known;
mod markdown;
pub(crate) mod matrix;
pub(crate) mod ndjson;
mod progress;
mod raw_json;
pub(crate) mod recorded;
pub(crate) mod replay_file;
#[cfg(test)]
mod sample;
mod sarif;
pub(crate) mod sections;
pub(crate) mod terminal;
pub(crate) mod words;

pub(crate) use progress::{Progress, Ticker};
pub(crate) use words::count;

use std::path::PathBuf;

use paymaster_cli::settings::Place;
use paymaster_schemas::Basis;

use paymaster_client::redact::Redactor;
use paymaster_judge::{
    session::tally::Strictness,
    target::context::Context,
    verdict::{counts, line::VerdictLine, summary::Summary},
};

/// A run that is over, ready to be reported.
#[derive(Debug)]
pub struct Finished<'a> {
    /// The summary.
    pub summary: &'a Summary,
    /// What was known of the target.
    pub context: &'a Context,
    /// How strictly it was concluded.
    pub strictness: Strictness,
    /// Where the target is.
    pub place: &'a Place,
    /// Hides the secrets.
    pub redactor: &'a Redactor,
    /// The replay file of each finding, where one was written.
    pub replays: &'a [Option<PathBuf>],
}

impl Finished<'_> {
    /// The line that replays the finding of that number; none where it has no replay file.
    pub(crate) fn replay_line(&self, number: usize) -> Option<String> {
        let path = self.replays.get(number)?.as_ref()?;
        let on_chain = self.summary.findings.get(number)?.basis == Basis::OnChain;
        Some(curl::replay(self.place, path, on_chain))
    }

    /// The verdict, with what it rests on.
    pub fn verdict(&self) -> VerdictLine {
        VerdictLine::of(self.summary, self.strictness)
    }
}
