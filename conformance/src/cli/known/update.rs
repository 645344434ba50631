//! `--update-known-failing`: writes entries for what failed. What stands in the file stays as it is, comments included.

use std::{
    fs,
    io::{self, BufRead, IsTerminal, Write},
    path::Path,
};

use chrono::{Datelike, NaiveDate};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::cli::known::file::PLACEHOLDER;
use paymaster_cli::terminal::harmless;
use paymaster_judge::{
    rules::find_rule,
    session::tally::{Strictness, fails_the_run},
    verdict::{
        finding::{Finding, Key},
        known::{Kind, Known},
        summary::Summary,
    },
};

/// What a new list begins with.
const HEAD: &str = "# Known failures of paymaster-conformance. [[failing]] fails in every run, [[flaky]] in some. method, mode and pointer narrow\n\
                    # an entry. What passes, matches nothing or is past its expiry fails the run.\n";

/// What the user wants to be written.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) reason: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) expires: NaiveDate,
}

/// Writes entries for what failed and is not listed; gives a line that says so.
pub(super) fn write(
    path: &Path,
    wish: &Wish,
    known: &Known,
    summary: &Summary,
    strictness: Strictness,
) -> Result<String, String> {
    let told = |cause: String| format!("{}: {cause}", path.display());
    let new: Vec<&Key> = summary
        .places
        .iter()
        .filter(|key| find_rule(key.rule).is_some_and(|rule| fails_the_run(rule.basis(), strictness.strict)))
        // An expired entry is for its owner to prolong, by hand.
        .filter(|key| !known.entries.iter().any(|entry| entry.matches(key)))
        .collect();
    if new.is_empty() {
        return Ok(format!("{}: nothing to write", path.display()));
    }
    let mut text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => HEAD.to_owned(),
        Err(cause) => return Err(told(cause.to_string())),
    };
    let owner = wish.owner.clone().or_else(|| ask("Who answers for these? "));
    let mut unexplained = 0;
    for key in &new {
        let finding = summary.findings.iter().find(|finding| finding.key() == **key);
        let reason = wish.reason.clone().or_else(|| ask(&question(key, finding)));
        unexplained += usize::from(reason.is_none() || owner.is_none());
        let flaky = finding.is_some_and(Finding::is_flaky);
        let kind = if flaky { Kind::Flaky } else { Kind::Failing };
        // Blocks of both lists may stand in any order: what is there already stays where it is, byte for byte.
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push('\n');
        text.push_str(&block(kind, row(key, reason, owner.clone(), wish.expires)));
    }
    text.parse::<DocumentMut>()
        .map_err(|cause| told(format!("blocks cannot be added to this list: {cause}")))?;
    fs::write(path, text).map_err(|cause| told(cause.to_string()))?;
    let written = format!("{}: wrote {}", path.display(), entries(new.len()));
    Ok(if unexplained == 0 {
        written
    } else {
        format!(
            "{written}; {} still to be explained: replace each {PLACEHOLDER}, or the list is refused",
            entries(unexplained)
        )
    })
}

fn entries(number: usize) -> String {
    if number == 1 {
        "1 entry".to_owned()
    } else {
        format!("{number} entries")
    }
}

fn row(key: &Key, reason: Option<String>, owner: Option<String>, expires: NaiveDate) -> Table {
    let mut row = Table::new();
    row["rule"] = value(key.rule);
    if let Some(pair) = key.pair {
        row["method"] = value(pair.method.name());
        row["mode"] = value(pair.mode.name());
    }
    row["pointer"] = value(key.pointer.as_str());
    row["reason"] = value(reason.unwrap_or_else(|| format!("{PLACEHOLDER}: why is this accepted for now?")));
    row["owner"] = value(owner.unwrap_or_else(|| format!("{PLACEHOLDER}: who answers for it?")));
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

fn block(kind: Kind, row: Table) -> String {
    let name = match kind {
        Kind::Failing => "failing",
        Kind::Flaky => "flaky",
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
            harmless(&violation.expected),
            harmless(&violation.actual)
        )
    });
    let pair = key
        .pair
        .map_or(String::new(), |pair| format!(" ({})", pair.name()));
    format!(
        "{}{pair} at `{}`{seen}\n  Why is this accepted for now? ",
        key.rule,
        harmless(&key.pointer)
    )
}

/// Asks a person; none when there is nobody to ask, or no answer.
fn ask(question: &str) -> Option<String> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return None;
    }
    let mut out = io::stderr().lock();
    // Whoever cannot be asked does not answer.
    let _ = write!(out, "{question}");
    let _ = out.flush();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    let answer = answer.trim();
    (!answer.is_empty()).then(|| answer.to_owned())
}
