//! The place in the user's repository that a finding is about: a line of the profile.

use alloy_primitives::Address;
use paymaster_engine::diagnosis::{Cause, Finding};
use paymaster_engine::specification::Places;
use paymaster_settings::ProfileFile;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Shorter texts of a request, such as a mode, may stand in a profile for another reason.
const SHORTEST_VALUE: usize = 4;

/// A line of a file of the user's repository.
#[derive(Clone, Debug)]
pub(crate) struct ProfilePlace {
    /// The path from the root of the repository, with `/` between its parts.
    pub(crate) path: String,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// The line of the profile with a value of the request that breaks the rule: what the cause names, a token or the sender. Otherwise
/// the beginning of `[target]`, or of the file. None where no profile of the repository describes the target.
pub(crate) fn of_finding(
    finding: &Finding,
    places: Places,
    profile: Option<&ProfileFile>,
) -> Option<ProfilePlace> {
    let profile = profile?;
    let path = profile.in_repository.clone()?;
    let values = values(finding, places);
    let line = values.iter().find_map(|value| profile.line_with(value));
    Some(ProfilePlace { path, line: line.or_else(|| profile.line_of_table("target")).unwrap_or(1) })
}

/// The path as a relative reference (RFC 3986).
pub(crate) fn uri(path: &str) -> String {
    const ESCAPED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, ESCAPED).to_string()
}

/// The texts of the request that a profile may have, the most telling first.
fn values(finding: &Finding, places: Places) -> Vec<String> {
    let members = finding.cause.iter().flat_map(Cause::members);
    let failing = members.filter_map(|member| member.failing.as_ref()).flat_map(texts);
    let body = finding.group.members.get(finding.violation.member);
    let request = body.and_then(|member| serde_json::from_slice::<Value>(&member.body).ok());
    let named = [places.terms, places.party].map(|pointer| request.as_ref()?.pointer(pointer));
    let named = named.into_iter().flatten().flat_map(texts);
    failing
        .filter(|value| value.len() >= SHORTEST_VALUE)
        .chain(named.filter(|value| value.starts_with("0x") && value.parse::<Address>().is_ok()))
        .collect()
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use paymaster_settings::DEFAULT_SPECIFICATION;

    fn line(finding: &Finding, profile: &str) -> usize {
        let profile = ProfileFile::new("p.toml".as_ref(), profile.to_owned());
        of_finding(finding, DEFAULT_SPECIFICATION.places, Some(&profile)).unwrap().line
    }

    #[test]
    fn the_line_has_what_the_cause_names_or_a_value_of_the_request() {
        let mut finding = sample::violations().summary.findings.remove(0);
        let sender = "0x00000000000000000000000000000000000000a1";
        let profile = format!("\n[target]\nx = \"0x1234\"\n[operations]\nsenders = ['{sender}']\n");
        assert_eq!(line(&finding, &profile), 5);
        finding.cause = None;
        assert_eq!(line(&finding, &profile), 5);
        assert_eq!(line(&finding, "\n[target]\n"), 2);
        assert_eq!(line(&finding, ""), 1);
        assert!(of_finding(&finding, DEFAULT_SPECIFICATION.places, None).is_none());
        let outside = ProfileFile::new("/etc/p.toml".as_ref(), profile);
        assert!(of_finding(&finding, DEFAULT_SPECIFICATION.places, Some(&outside)).is_none());
    }

    #[test]
    fn paths_are_relative_references() {
        assert_eq!(uri("a b/ü#1.toml"), "a%20b/%C3%BC%231.toml");
    }
}
