//! The list of known failures: reads and updates its file, and reads today's date.
//! The update adds entries for what failed, and keeps the existing content of the file, comments included.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{NaiveDate, Utc};
use indexmap::IndexSet;
use paymaster_client::files;
use paymaster_engine::diagnosis::{Finding, Key};
use paymaster_engine::rules::{Violation, fails_the_run};
use paymaster_engine::specification::Specification;
use paymaster_engine::verdict::{KnownFailure, KnownFailureKind, KnownFailureList, Strictness, Summary};
use paymaster_settings::output::{self, report_file};
use paymaster_settings::settings::{ContentsError, parsed};
use paymaster_settings::{did_you_mean, escape_controls, exit};
use serde::Deserialize;
use toml::{Spanned, value::Datetime};
use toml_edit::{DocumentMut, Table, value};

use crate::cli::{CommandError, KnownArgs, at};

/// The file to update where none is named.
const DEFAULT_PATH: &str = "known-failing.toml";

/// The list of known failures, and how to update it.
#[derive(Debug, Default)]
pub(crate) struct KnownFailures {
    path: Option<PathBuf>,
    update: Option<KnownArgs>,
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
            Some(path) if path.exists() || !args.update_known_failing => {
                parsed(path, |text| parse(text, specification))?
            }
            _ => Vec::new(),
        };
        let update = args.update_known_failing.then(|| args.clone());
        Ok(Self { path: named.cloned(), update, list: Arc::new(KnownFailureList { entries, today }) })
    }

    /// Adds what failed to the file, where that was requested. Returns the exit code, which stays that of the run: the updated list
    /// counts from the next run on.
    pub(crate) fn update(&self, code: u8, summary: &Summary, strictness: Strictness) -> u8 {
        let Some(new) = &self.update else { return code };
        match self.write(new, summary, strictness) {
            Ok(message) => {
                output::eprint(&format!("{message}\n"));
                code
            }
            Err(cause) => {
                output::error(&cause);
                exit::USAGE
            }
        }
    }

    /// Adds entries for what failed and is not listed. Returns a message for the user.
    fn write(&self, args: &KnownArgs, summary: &Summary, strictness: Strictness) -> Result<String, String> {
        let path = self.path.as_deref().unwrap_or(Path::new(DEFAULT_PATH));
        let fails = |key: &&Key| {
            let outcome = summary.rules.iter().find(|outcome| outcome.rule.id == key.rule);
            outcome.is_some_and(|outcome| fails_the_run(outcome.rule.basis(), strictness.strict))
        };
        // Expired entries are not added again: their owner decides.
        let is_new = |key: &&Key| !self.list.entries.iter().any(|entry| entry.matches(key));
        let new: Vec<&Key> = summary.places.iter().filter(fails).filter(is_new).collect();
        if new.is_empty() {
            return Ok(format!("{}: nothing to write", path.display()));
        }
        let mut text = match files::read_text(path, files::WRITTEN_BY_HAND) {
            Ok(text) => text,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => HEAD.to_owned(),
            Err(cause) => return Err(at(path)(cause)),
        };
        let expires = args.expires.unwrap_or_else(|| in_90_days(self.list.today));
        let owner = args.owner.clone().or_else(|| ask("Who owns these entries? "));
        let mut unexplained = 0;
        for key in &new {
            let finding = summary.findings.iter().find(|finding| finding.key() == **key);
            let reason = args.reason.clone().or_else(|| ask(&question(key, finding)));
            unexplained += usize::from(reason.is_none() || owner.is_none());
            let flaky = finding.is_some_and(Finding::is_flaky);
            let kind = if flaky { KnownFailureKind::Flaky } else { KnownFailureKind::Failing };
            // The blocks of both lists may be in any order, so each is appended and the existing bytes stay.
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            let row = row(key, reason, owner.clone(), expires);
            text = format!("{text}\n[[{}]]\n{row}", kind.into_str());
        }
        text.parse::<DocumentMut>()
            .map_err(|cause| format!("{}: entries cannot be added to this list: {cause}", path.display()))?;
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
}

fn in_90_days(today: NaiveDate) -> NaiveDate {
    today.checked_add_days(chrono::Days::new(90)).unwrap_or(NaiveDate::MAX)
}

/// The beginning of a new file.
const HEAD: &str = "# Known failures of paymaster-conformance. [[failing]] fails in every run, [[flaky]] in some. method, mode and pointer narrow\n\
                    # an entry. What passes, matches nothing or is past its expiry fails the run.\n";

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
    let expires = expires.to_string();
    row["expires"] = expires.parse::<Datetime>().map_or_else(|_| value(&expires), value);
    row
}

fn question(key: &Key, finding: Option<&Finding>) -> String {
    let seen = finding.map_or(String::new(), |finding| {
        let Violation { expected, actual, .. } = &finding.violation;
        format!(": expected {}, got {}", escape_controls(expected), escape_controls(actual))
    });
    let pair = key.pair.map_or(String::new(), |pair| format!(" ({})", pair.name));
    let pointer = escape_controls(&key.pointer);
    format!("{}{pair} at `{pointer}`{seen}\n  Why is this accepted for now? ", key.rule)
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

/// The beginning of a reason or an owner that is not written yet.
pub(super) const PLACEHOLDER: &str = "TODO";

/// The parameter that selects a kind of call among those of a method, as a row names it.
const MODE: &str = "mode";

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Contents {
    failing: Vec<Row>,
    flaky: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    rule: Spanned<String>,
    method: Option<Spanned<String>>,
    mode: Option<Spanned<String>>,
    pointer: Option<Spanned<String>>,
    reason: Spanned<String>,
    owner: Spanned<String>,
    expires: Spanned<Datetime>,
}

/// Reads the text of a file.
fn parse(text: &str, specification: &Specification) -> Result<Vec<KnownFailure>, ContentsError> {
    let contents: Contents = toml::from_str(text).map_err(|cause| ContentsError::of_parser(text, &cause))?;
    let mut entries: Vec<KnownFailure> = Vec::new();
    for (kind, rows) in
        [(KnownFailureKind::Failing, contents.failing), (KnownFailureKind::Flaky, contents.flaky)]
    {
        for row in rows {
            let refused = |(place, message)| ContentsError::at(text, place, message);
            let place = row.rule.span().start;
            let entry = entry(kind, row, specification).map_err(refused)?;
            if entries.iter().any(|known| known.scope() == entry.scope()) {
                let message = format!("{} is listed twice: delete one", entry.scope());
                return Err(refused((place, message)));
            }
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// The byte of the text at which something is wrong, and what is wrong.
type Refusal = (usize, String);

fn refusal<T>(value: &Spanned<T>, message: impl Into<String>) -> Refusal {
    (value.span().start, message.into())
}

fn entry(kind: KnownFailureKind, row: Row, specification: &Specification) -> Result<KnownFailure, Refusal> {
    let rule = specification.find_rule(row.rule.get_ref()).ok_or_else(|| {
        let id = row.rule.get_ref();
        let hint = did_you_mean(id, specification.rules().map(|rule| rule.id));
        refusal(&row.rule, format!("there is no rule `{id}`{hint}"))
    })?;
    let method = named(row.method, &specification.methods())?;
    let selectors = specification.kinds.iter().filter_map(|kind| kind.selector);
    let modes = selectors.filter(|(parameter, _)| *parameter == MODE).map(|(_, mode)| mode);
    let modes: Vec<&str> = modes.collect::<IndexSet<_>>().into_iter().collect();
    let selected = named(row.mode, &modes)?;
    if let Some(pointer) = &row.pointer
        && !(pointer.get_ref().is_empty() || pointer.get_ref().starts_with('/'))
    {
        return Err(refusal(
            pointer,
            "a pointer begins with `/`, as in /result/feeQuotes/*/symbol, or is empty for the answer as a whole",
        ));
    }
    Ok(KnownFailure {
        kind,
        rule: rule.id,
        method,
        selected,
        pointer: row.pointer.map(Spanned::into_inner),
        reason: written(row.reason, "reason", "say why this failure is accepted for now")?,
        owner: written(row.owner, "owner", "say who owns it")?,
        expires: date(&row.expires)?,
    })
}

/// The one of the known names that a row has.
fn named(name: Option<Spanned<String>>, known: &[&'static str]) -> Result<Option<&'static str>, Refusal> {
    let Some(name) = name else { return Ok(None) };
    let found = known.iter().copied().find(|known| known == name.get_ref());
    found
        .map(Some)
        .ok_or_else(|| refusal(&name, format!("`{}` is none of {}", name.get_ref(), known.join(" or "))))
}

fn written(value: Spanned<String>, key: &str, advice: &str) -> Result<String, Refusal> {
    let content = value.get_ref().trim();
    if content.is_empty() || content.starts_with(PLACEHOLDER) {
        return Err(refusal(&value, format!("the {key} is missing: {advice}")));
    }
    Ok(value.into_inner())
}

fn date(value: &Spanned<Datetime>) -> Result<NaiveDate, Refusal> {
    let date = value.get_ref().to_string().parse();
    date.map_err(|_| refusal(value, "expires is a date without a time, as in 2027-01-31"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_settings::DEFAULT_SPECIFICATION;

    fn with(line: &str) -> String {
        let mut rows =
            vec!["rule = \"answer.id\"", "reason = \"r\"", "owner = \"o\"", "expires = 2027-01-31"];
        let key = line.split(' ').next().unwrap();
        rows.retain(|row| !row.starts_with(key));
        format!("[[failing]]\n{line}\n{}\n", rows.join("\n"))
    }

    #[test]
    fn a_list_is_read() {
        let text = with("pointer = \"/id\"\nmode = \"ERC20\"")
            + "[[flaky]]\nrule = \"answer.id\"\nreason = \"r\"\nowner = \"o\"\nexpires = 2027-01-31\n";
        let entries = parse(&text, DEFAULT_SPECIFICATION).unwrap();
        assert_eq!(entries[0].kind, KnownFailureKind::Failing);
        assert_eq!(entries[0].selected, Some("ERC20"));
        assert_eq!(entries[0].expires.to_string(), "2027-01-31");
        assert_eq!(entries[1].kind, KnownFailureKind::Flaky);
        assert!(parse("", DEFAULT_SPECIFICATION).unwrap().is_empty());
    }

    #[test]
    fn errors_name_the_place_and_what_to_do() {
        for (line, place, words) in [
            ("rule = \"answer.di\"", "line 2, column 8", "did you mean `answer.id`?"),
            ("method = \"pm_other\"", "line 2, column 10", "is none of pm_getFeeQuoteOrData"),
            ("mode = \"erc\"", "line 2, column 8", "is none of SPONSORED"),
            ("pointer = \"id\"", "line 2, column 11", "a pointer begins with `/`"),
            ("reason = \"TODO: say why\"", "line 2, column 10", "say why this failure is accepted"),
            ("reason = \" \"", "line 2, column 10", "say why this failure is accepted"),
            ("owner = \"\"", "line 2, column 9", "say who owns it"),
            ("expires = 2027-01-31T00:00:00Z", "line 2, column 11", "as in 2027-01-31"),
            ("expires = \"soon\"", "line 2, column 11", "datetime"),
            ("ruel = \"answer.id\"", "line 2, column 1", "did you mean `rule`?"),
            ("count = 3", "line 2, column 1", "unknown field"),
        ] {
            let refusal = parse(&with(line), DEFAULT_SPECIFICATION).unwrap_err().to_string();
            assert!(refusal.starts_with(place), "{line}: {refusal}");
            assert!(refusal.contains(words), "{line}: {refusal}");
        }
        let twice =
            parse(&(with("rule = \"answer.id\"") + &with("rule = \"answer.id\"")), DEFAULT_SPECIFICATION)
                .unwrap_err()
                .to_string();
        assert!(twice.contains("listed twice"), "{twice}");
        let missing =
            parse("[[failing]]\nrule = \"answer.id\"\n", DEFAULT_SPECIFICATION).unwrap_err().to_string();
        assert!(missing.contains("missing field `reason`"), "{missing}");
    }
}
