//! Reads a list of known failures.

use std::path::Path;

use chrono::NaiveDate;
use paymaster_engine::{
    specification::Specification,
    verdict::known::{KnownFailure, KnownFailureKind},
};
use paymaster_settings::{
    did_you_mean,
    settings::file::{ContentsError, FileError, parsed},
};
use serde::Deserialize;
use toml::{Spanned, value::Datetime};

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

/// Reads a file about rules and kinds of calls of a specification.
pub(super) fn read(path: &Path, specification: &Specification) -> Result<Vec<KnownFailure>, FileError> {
    parsed(path, |text| parse(text, specification))
}

/// Reads the text of a file.
fn parse(text: &str, specification: &Specification) -> Result<Vec<KnownFailure>, ContentsError> {
    let contents: Contents = toml::from_str(text).map_err(|cause| ContentsError::of_parser(text, &cause))?;
    let mut entries: Vec<KnownFailure> = Vec::new();
    for (kind, rows) in
        [(KnownFailureKind::Failing, contents.failing), (KnownFailureKind::Flaky, contents.flaky)]
    {
        for row in rows {
            let at = row.rule.span().start;
            let entry = entry(kind, row, text, specification)?;
            if entries.iter().any(|known| known.scope() == entry.scope()) {
                let message = format!("{} is listed twice: delete one", entry.scope());
                return Err(ContentsError::at(text, at, message));
            }
            entries.push(entry);
        }
    }
    Ok(entries)
}

fn entry(
    kind: KnownFailureKind,
    row: Row,
    text: &str,
    specification: &Specification,
) -> Result<KnownFailure, ContentsError> {
    let rule = specification.find_rule(row.rule.get_ref()).ok_or_else(|| {
        let id = row.rule.get_ref();
        let hint = did_you_mean(id, specification.rules().map(|rule| rule.id));
        refusal(text, &row.rule, &format!("there is no rule `{id}`{hint}"))
    })?;
    let method = named(row.method, text, &specification.methods())?;
    let mut modes = Vec::new();
    for (parameter, value) in specification.kinds.iter().filter_map(|kind| kind.selector) {
        if parameter == MODE && !modes.contains(&value) {
            modes.push(value);
        }
    }
    let selected = named(row.mode, text, &modes)?;
    if let Some(pointer) = &row.pointer
        && !(pointer.get_ref().is_empty() || pointer.get_ref().starts_with('/'))
    {
        return Err(refusal(
            text,
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
        reason: written(row.reason, text, "reason", "say why this failure is accepted for now")?,
        owner: written(row.owner, text, "owner", "say who owns it")?,
        expires: date(&row.expires, text)?,
    })
}

/// The one of the known names that a row has.
fn named(
    name: Option<Spanned<String>>,
    text: &str,
    known: &[&'static str],
) -> Result<Option<&'static str>, ContentsError> {
    let Some(name) = name else { return Ok(None) };
    let found = known.iter().copied().find(|known| known == name.get_ref());
    found.map(Some).ok_or_else(|| {
        let message = format!("`{}` is none of {}", name.get_ref(), known.join(" or "));
        refusal(text, &name, &message)
    })
}

fn written(value: Spanned<String>, text: &str, key: &str, advice: &str) -> Result<String, ContentsError> {
    let content = value.get_ref().trim();
    if content.is_empty() || content.starts_with(PLACEHOLDER) {
        return Err(refusal(text, &value, &format!("the {key} is missing: {advice}")));
    }
    Ok(value.into_inner())
}

fn date(value: &Spanned<Datetime>, text: &str) -> Result<NaiveDate, ContentsError> {
    let given = value.get_ref();
    given
        .date
        .filter(|_| given.time.is_none())
        .and_then(|date| NaiveDate::from_ymd_opt(date.year.into(), date.month.into(), date.day.into()))
        .ok_or_else(|| refusal(text, value, "expires is a date without a time, as in 2027-01-31"))
}

fn refusal<T>(text: &str, value: &Spanned<T>, message: &str) -> ContentsError {
    ContentsError::at(text, value.span().start, message)
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
