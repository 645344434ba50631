//! Reports of a finished run, for people and for machines. The runner does not depend on them.

pub(crate) mod comparison;
pub(crate) mod document;
pub(crate) mod formats;
pub(crate) mod html;
pub(crate) mod machine;
mod making;
pub(crate) mod model;
pub(crate) mod progress;
pub(crate) mod replay_file;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod text;

pub(crate) use {
    document::*, formats::*, html::*, machine::*, model::*, progress::*, replay_file::*, text::*,
};

use std::io::{self, Write};
use std::sync::Arc;

use crate::events::Event;

use paymaster_client::redact::Redactor;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::verdict::{Strictness, Summary, counts};
use paymaster_settings::ShownTarget;

pub(crate) use making::Maker;

/// A finished run, from which its report is made.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The summary.
    pub(crate) summary: Summary,
    /// What is known about the target.
    pub(crate) context: Arc<dyn Knowledge>,
    /// How strictly the run was concluded.
    pub(crate) strictness: Strictness,
    /// The URL of the target as it may be shown, and the options that repeat requests.
    pub(crate) place: ShownTarget,
    /// Replaces the secrets in texts.
    pub(crate) redactor: Redactor,
}

impl Finished {
    /// What makes the parts of its report.
    pub(crate) fn maker(&self) -> Maker<'_> {
        Maker { redactor: &self.redactor, place: &self.place }
    }
}

/// A report that is written event by event while the run goes on.
pub trait ReportLog {
    /// Whether every exchange is to be reported to it.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// Writes an event, whose parts `maker` makes without secrets.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    fn event(&mut self, event: &Event<'_>, maker: Maker<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the end of the report. Without any event before, the report is still complete.
    ///
    /// # Errors
    ///
    /// When `out` fails.
    fn end(&mut self, report: &Report, out: &mut dyn Write) -> io::Result<()>;
}
