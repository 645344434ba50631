//! The list of known failures: its file, read and written; the date of today is read here.

mod file;
mod update;

use std::{path::PathBuf, sync::Arc};

use chrono::{NaiveDate, Utc};

use super::args::KnownArgs;
use crate::{events::Summary, known::Known, tally::Strictness};

/// The list to write to where none is named.
const DEFAULT_PATH: &str = "known-failing.toml";

/// What the command line and the configuration say of known failures.
#[derive(Debug, Default)]
pub(crate) struct List {
    path: Option<PathBuf>,
    update: Option<update::Wish>,
    pub(crate) known: Arc<Known>,
}

impl List {
    /// Reads the list that is named by a flag, else by the configuration file.
    pub(crate) fn read(args: &KnownArgs, configured: Option<&PathBuf>) -> Result<Self, String> {
        let today = Utc::now().date_naive();
        let named = args.known_failing.as_ref().or(configured);
        let entries = match named {
            Some(path) if path.exists() || !args.update_known_failing => file::read(path)?,
            _ => Vec::new(),
        };
        let update = args.update_known_failing.then(|| update::Wish {
            reason: args.reason.clone(),
            owner: args.owner.clone(),
            expires: args.expires.unwrap_or_else(|| in_90_days(today)),
        });
        Ok(Self {
            path: named.cloned(),
            update,
            known: Arc::new(Known { entries, today }),
        })
    }

    /// Writes what failed into the list, when that was asked for; gives a line that says so.
    pub(crate) fn update(&self, summary: &Summary, strictness: Strictness) -> Result<Option<String>, String> {
        let Some(wish) = &self.update else {
            return Ok(None);
        };
        let path = self.path.clone().unwrap_or_else(|| DEFAULT_PATH.into());
        update::write(&path, wish, &self.known, summary, strictness).map(Some)
    }
}

fn in_90_days(today: NaiveDate) -> NaiveDate {
    today
        .checked_add_days(chrono::Days::new(90))
        .unwrap_or(NaiveDate::MAX)
}
