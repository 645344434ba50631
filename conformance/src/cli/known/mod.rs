//! The list of known failures: its file, read and written; the date of today is read here.

mod file;
mod update;

use std::{path::PathBuf, sync::Arc};

use chrono::{NaiveDate, Utc};

use crate::cli::{args::KnownArgs, out};
use paymaster_cli::exit;
use paymaster_judge::{
    session::tally::Strictness,
    verdict::{known::Known, summary::Summary},
};

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

    /// Writes what failed into the list, when that was asked for, and says so. Gives the exit code, which stays that of the run:
    /// the list is for the next one.
    pub(crate) fn settle(&self, code: u8, summary: &Summary, strictness: Strictness) -> u8 {
        let Some(wish) = &self.update else {
            return code;
        };
        let path = self.path.clone().unwrap_or_else(|| DEFAULT_PATH.into());
        match update::write(&path, wish, &self.known, summary, strictness) {
            Ok(said) => {
                out::eprint(&format!("{said}\n"));
                code
            }
            Err(cause) => {
                out::error(&cause);
                if code == exit::VIOLATIONS {
                    code
                } else {
                    exit::USAGE
                }
            }
        }
    }
}

fn in_90_days(today: NaiveDate) -> NaiveDate {
    today
        .checked_add_days(chrono::Days::new(90))
        .unwrap_or(NaiveDate::MAX)
}
