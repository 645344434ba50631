//! The list of known failures: reads and updates its file, and reads today's date.

mod file;
mod update;

use std::{path::PathBuf, sync::Arc};

use chrono::{NaiveDate, Utc};

use crate::cli::{args::KnownArgs, process::CommandError};
use paymaster_engine::{
    specification::Specification,
    verdict::{known::KnownFailureList, strictness::Strictness, summary::Summary},
};
use paymaster_settings::{exit, output};

/// The file to update where none is named.
const DEFAULT_PATH: &str = "known-failing.toml";

/// The list of known failures, and how to update it.
#[derive(Debug, Default)]
pub(crate) struct KnownFailures {
    path: Option<PathBuf>,
    update: Option<update::NewEntries>,
    pub(crate) list: Arc<KnownFailureList>,
}

impl KnownFailures {
    /// Reads the file that the argument names, else the one that the configuration file names.
    pub(crate) fn read(
        args: &KnownArgs,
        configured: Option<&PathBuf>,
        specification: &Specification,
    ) -> Result<Self, CommandError> {
        let today = Utc::now().date_naive();
        let named = args.known_failing.as_ref().or(configured);
        let entries = match named {
            Some(path) if path.exists() || !args.update_known_failing => file::read(path, specification)?,
            _ => Vec::new(),
        };
        let update = args.update_known_failing.then(|| update::NewEntries {
            reason: args.reason.clone(),
            owner: args.owner.clone(),
            expires: args.expires.unwrap_or_else(|| in_90_days(today)),
        });
        Ok(Self { path: named.cloned(), update, list: Arc::new(KnownFailureList { entries, today }) })
    }

    /// Adds what failed to the file, where that was requested. Returns the exit code, which stays that of the run: the updated list
    /// counts from the next run on.
    pub(crate) fn update(&self, code: u8, summary: &Summary, strictness: Strictness) -> u8 {
        let Some(new) = &self.update else {
            return code;
        };
        let path = self.path.clone().unwrap_or_else(|| DEFAULT_PATH.into());
        match update::write(&path, new, &self.list, summary, strictness) {
            Ok(message) => {
                output::eprint(&format!("{message}\n"));
                code
            }
            Err(cause) => {
                output::error(&cause.to_string());
                exit::USAGE
            }
        }
    }
}

fn in_90_days(today: NaiveDate) -> NaiveDate {
    today.checked_add_days(chrono::Days::new(90)).unwrap_or(NaiveDate::MAX)
}
