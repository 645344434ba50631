//! Reports: what a run leaves for people and machines. They read what the runner leaves behind; the runner knows none of them.

pub mod badge;
pub(crate) mod compact;
pub mod compare;
pub mod curl;
mod exchange;
mod finding;
pub mod formats;
mod har;
pub mod html;
pub mod json;
pub mod junit;
mod known;
mod markdown;
pub mod matrix;
pub mod ndjson;
mod paint;
mod progress;
mod raw_json;
pub mod recorded;
pub mod replay_file;
#[cfg(test)]
mod sample;
mod sarif;
mod sections;
pub mod terminal;
pub(crate) mod words;

pub use paint::{Paint, harmless, wrapped};
pub use progress::{Progress, Ticker};
pub(crate) use words::count;

use std::path::PathBuf;

use paymaster_schemas::Basis;

use crate::{
    context::Context, counts, events::Summary, redact::Redactor, tally::Strictness, verdict_line::VerdictLine,
};

/// The target as it may stand in reports.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The URL, secrets replaced.
    pub shown: String,
    /// The URL as it is, when nothing in it is secret.
    pub literal: Option<String>,
    /// Whether it was the embedded reference server, which is gone when the run is over.
    pub embedded: bool,
    /// Request headers beside our own: the name, and what a shell can make the value from without us printing it.
    pub headers: Vec<(String, String)>,
    /// Options that cURL needs to reach it as we did, ready for a shell: a blank before each.
    pub curl_options: String,
    /// Options that `replay` needs beside those of cURL, ready for a shell: a blank before each.
    pub replay_options: String,
    /// Options that `replay` needs to ask the same chain, ready for a shell: a blank before each.
    pub chain_options: String,
    /// What a reader of any report has to know of how the target was asked.
    pub warnings: Vec<String>,
}

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
