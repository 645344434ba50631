//! The list of known failures: reads and updates its file, and reads today's date.
//! The update adds entries for what failed, and keeps the existing content of the file, comments included.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use chrono::{Datelike, NaiveDate, Utc};
use paymaster_client::files;
use paymaster_engine::{
    specification::Specification,
    verdict::{
        finding::{Finding, Key},
        known::{KnownFailureKind, KnownFailureList},
        strictness::{Strictness, fails_the_run},
        summary::Summary,
    },
};
use paymaster_settings::{
    escape_controls, exit,
    output::{self, report_file},
};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::cli::{
    args::KnownArgs,
    known::file::PLACEHOLDER,
    process::{CommandError, PathError, at},
};

mod file;

/// The file to update where none is named.
const DEFAULT_PATH: &str = "known-failing.toml";

/// The list of known failures, and how to update it.
#[derive(Debug, Default)]
pub(crate) struct KnownFailures {
    path: Option<PathBuf>,
    update: Option<NewEntries>,
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
        let update = args.update_known_failing.then(|| NewEntries {
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
        match write(&path, new, &self.list, summary, strictness) {
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

/// The beginning of a new file.
const HEAD: &str = "# Known failures of paymaster-conformance. [[failing]] fails in every run, [[flaky]] in some. method, mode and pointer narrow\n\
                    # an entry. What passes, matches nothing or is past its expiry fails the run.\n";

/// What the new entries say.
#[derive(Debug)]
pub(super) struct NewEntries {
    pub(super) reason: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) expires: NaiveDate,
}

/// Why the list is not updated.
#[derive(Debug, thiserror::Error)]
pub(super) enum UpdateError {
    #[error(transparent)]
    File(#[from] PathError),
    #[error("{}: entries cannot be added to this list: {source}", path.display())]
    Unreadable { path: PathBuf, source: toml_edit::TomlError },
}

/// Adds entries for what failed and is not listed. Returns a message for the user.
pub(super) fn write(
    path: &Path,
    entries: &NewEntries,
    known: &KnownFailureList,
    summary: &Summary,
    strictness: Strictness,
) -> Result<String, UpdateError> {
    let new: Vec<&Key> = summary
        .places
        .iter()
        .filter(|key| {
            let outcome = summary.rules.iter().find(|outcome| outcome.rule.id == key.rule);
            outcome.is_some_and(|outcome| fails_the_run(outcome.rule.basis(), strictness.strict))
        })
        // Expired entries are not added again: their owner decides.
        .filter(|key| !known.entries.iter().any(|entry| entry.matches(key)))
        .collect();
    if new.is_empty() {
        return Ok(format!("{}: nothing to write", path.display()));
    }
    let mut text = match files::read_text(path, files::WRITTEN_BY_HAND) {
        Ok(text) => text,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => HEAD.to_owned(),
        Err(cause) => return Err(at(path)(cause).into()),
    };
    let owner = entries.owner.clone().or_else(|| ask("Who owns these entries? "));
    let mut unexplained = 0;
    for key in &new {
        let finding = summary.findings.iter().find(|finding| finding.key() == **key);
        let reason = entries.reason.clone().or_else(|| ask(&question(key, finding)));
        unexplained += usize::from(reason.is_none() || owner.is_none());
        let flaky = finding.is_some_and(Finding::is_flaky);
        let kind = if flaky { KnownFailureKind::Flaky } else { KnownFailureKind::Failing };
        // The blocks of both lists may be in any order, so each is appended and the existing bytes stay.
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&block(kind, row(key, reason, owner.clone(), entries.expires)));
    }
    text.parse::<DocumentMut>()
        .map_err(|source| UpdateError::Unreadable { path: path.to_owned(), source })?;
    report_file::write(path, &text).map_err(at(path))?;
    let written = format!("{}: wrote {}", path.display(), count(new.len()));
    Ok(if unexplained == 0 {
        written
    } else {
        format!(
            "{written}; {} still without explanation: replace each {PLACEHOLDER}, or the list is refused",
            count(unexplained)
        )
    })
}

fn count(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

fn row(key: &Key, reason: Option<String>, owner: Option<String>, expires: NaiveDate) -> Table {
    let mut row = Table::new();
    row["rule"] = value(key.rule);
    if let Some(pair) = key.pair {
        row["method"] = value(pair.method);
        if let Some((parameter, selected)) = pair.selector {
            row[parameter] = value(selected);
        }
    }
    row["pointer"] = value(key.pointer.as_str());
    row["reason"] = value(reason.unwrap_or_else(|| format!("{PLACEHOLDER}: why is this accepted for now?")));
    row["owner"] = value(owner.unwrap_or_else(|| format!("{PLACEHOLDER}: who owns it?")));
    let part = |number: u32| u8::try_from(number).unwrap_or_default();
    row["expires"] = value(toml_edit::Datetime {
        date: Some(toml_edit::Date {
            year: u16::try_from(expires.year()).unwrap_or(u16::MAX),
            month: part(expires.month()),
            day: part(expires.day()),
        }),
        time: None,
        offset: None,
    });
    row
}

fn block(kind: KnownFailureKind, row: Table) -> String {
    let name = match kind {
        KnownFailureKind::Failing => "failing",
        KnownFailureKind::Flaky => "flaky",
    };
    let mut rows = ArrayOfTables::new();
    rows.push(row);
    let mut file = DocumentMut::new();
    file.insert(name, Item::ArrayOfTables(rows));
    file.to_string()
}

fn question(key: &Key, finding: Option<&Finding>) -> String {
    let seen = finding.map_or(String::new(), |finding| {
        let violation = &finding.violation;
        format!(
            ": expected {}, got {}",
            escape_controls(&violation.expected),
            escape_controls(&violation.actual)
        )
    });
    let pair = key.pair.map_or(String::new(), |pair| format!(" ({})", pair.name));
    format!(
        "{}{pair} at `{}`{seen}\n  Why is this accepted for now? ",
        key.rule,
        escape_controls(&key.pointer)
    )
}

/// Asks on the terminal; none without a terminal, or without an answer.
fn ask(question: &str) -> Option<String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    let mut out = io::stderr().lock();
    // Where the question cannot be shown, the answer is empty.
    let _ = write!(out, "{question}");
    let _ = out.flush();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    let answer = answer.trim();
    (!answer.is_empty()).then(|| answer.to_owned())
}
