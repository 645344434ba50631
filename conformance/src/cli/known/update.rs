//! `--update-known-failing`: writes entries for what failed. What stands in the file stays as it is, comments included.

use std::{
    fs,
    io::{self, BufRead, IsTerminal, Write},
    path::Path,
};

use chrono::{Datelike, NaiveDate};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::file::PLACEHOLDER;
use crate::{
    events::Summary,
    finding::{Finding, Key},
    known::{Kind, Known},
    report::harmless,
    rules::find_rule,
    tally::{Strictness, fails_the_run},
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
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => HEAD.to_owned(),
        Err(cause) => return Err(told(cause.to_string())),
    };
    let mut file: DocumentMut = text.parse().map_err(|cause| told(format!("{cause}")))?;
    let owner = wish.owner.clone().or_else(|| ask("Who answers for these? "));
    let mut unexplained = 0;
    for key in &new {
        let finding = summary.findings.iter().find(|finding| finding.key() == **key);
        let reason = wish.reason.clone().or_else(|| ask(&question(key, finding)));
        unexplained += usize::from(reason.is_none() || owner.is_none());
        let flaky = finding.is_some_and(Finding::is_flaky);
        let kind = if flaky { Kind::Flaky } else { Kind::Failing };
        add(&mut file, kind, row(key, reason, owner.clone(), wish.expires)).map_err(told)?;
    }
    fs::write(path, file.to_string()).map_err(|cause| told(cause.to_string()))?;
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

fn add(file: &mut DocumentMut, kind: Kind, mut row: Table) -> Result<(), String> {
    let name = match kind {
        Kind::Failing => "failing",
        Kind::Flaky => "flaky",
    };
    row.decor_mut().set_prefix("\n");
    let list = file
        .entry(name)
        .or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    // `failing = []` is a list too, of another kind.
    if list.as_array().is_some_and(toml_edit::Array::is_empty) {
        *list = Item::ArrayOfTables(ArrayOfTables::new());
    }
    list.as_array_of_tables_mut()
        .ok_or_else(|| format!("`{name}` is no list of [[{name}]] blocks: write it so, and run again"))?
        .push(row);
    Ok(())
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
