//! Reports of a finished run, for people and for machines. The runner does not depend on them.

pub(crate) mod comparison;
pub(crate) mod formats;
pub(crate) mod html;
pub(crate) mod machine;
mod markdown;
pub(crate) mod replay_file;
pub(crate) mod replay_folder;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod terminal;
pub(crate) mod text;

use std::{
    io::{self, Write},
    path::PathBuf,
};

use crate::events::Event;

use paymaster_schemas::Basis;
use paymaster_settings::{output::terminal::escape_controls, settings::ShownTarget};

use paymaster_client::redact::Redactor;
use paymaster_engine::{
    knowledge::Knowledge,
    verdict::{counts, line::VerdictLine, strictness::Strictness, summary::Summary},
};

/// A finished run, with what its reports need.
#[derive(Debug)]
pub struct Finished<'a> {
    /// The summary.
    pub summary: &'a Summary,
    /// What is known about the target.
    pub context: &'a dyn Knowledge,
    /// How strictly the run was concluded.
    pub strictness: Strictness,
    /// The URL of the target as it may be shown, and the options that repeat requests.
    pub place: &'a ShownTarget,
    /// Replaces the secrets in texts.
    pub redactor: &'a Redactor,
    /// The replay file of each finding, in the order of the findings, where one was written.
    pub replays: &'a [Option<PathBuf>],
}

impl<'a> Finished<'a> {
    /// A finished run without replay files.
    pub(crate) fn new(
        summary: &'a Summary,
        context: &'a dyn Knowledge,
        strictness: Strictness,
        place: &'a ShownTarget,
        redactor: &'a Redactor,
    ) -> Self {
        Self { summary, context, strictness, place, redactor, replays: &[] }
    }

    /// A text without its secrets.
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.redactor.apply(text).into_owned()
    }

    /// A text on one line without its secrets, with escapes in place of control characters.
    pub(crate) fn safe(&self, text: &str) -> String {
        escape_controls(&self.redactor.apply(text))
    }

    /// The command line that replays the finding with this index; none where it has no replay file.
    pub(crate) fn replay_line(&self, number: usize) -> Option<String> {
        let path = self.replays.get(number)?.as_ref()?;
        let on_chain = self.summary.findings.get(number)?.basis == Basis::OnChain;
        Some(text::curl::replay(self.place, path, on_chain))
    }

    /// What limits the whole run, each on one line and without secrets: what the target refuses with the same error message throughout, and
    /// the warnings of the command line.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let refusals = self.summary.refusal.iter();
        let refusals = refusals.map(|refusal| {
            text::words::refused(refusal, self.context.specification().kinds.len(), self.redactor)
        });
        let warnings = self.place.warnings();
        refusals.chain(warnings.map(|text| self.safe(text))).collect()
    }

    /// The verdict in words.
    pub fn verdict(&self) -> VerdictLine {
        VerdictLine::of(self.summary, self.strictness)
    }
}

/// A report that is written event by event while the run goes on.
pub trait ReportLog {
    /// Whether every exchange is to be reported to it.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// Writes an event.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    fn event(&mut self, event: &Event<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the end of the report. Without any event before, the report is still complete.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    fn end(&mut self, finished: &Finished<'_>, out: &mut dyn Write) -> io::Result<()>;
}
