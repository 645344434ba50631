//! The command line of this process as reports show it: in the notation of a shell, without secrets.

use std::{env, ffi::OsString};

use paymaster_client::redact::{REDACTED, Redactor};
use paymaster_settings::{RunSetup, escape_controls, output::shell};

/// The longest command line that is kept, in characters. A master of Locust names each lost worker in its `merge`.
const LONGEST: usize = 2_000;

/// What of a command line may hold secrets.
struct GivenTarget<'a> {
    /// The URL as it was given; none if the command line has none.
    url: Option<&'a str>,
    /// The same URL with its secrets replaced.
    shown_url: &'a str,
    /// The request headers as they were given: `Name: value`.
    headers: &'a [String],
    /// Replaces the secrets of the target.
    redactor: &'a Redactor,
}

/// The command line of this process, without the secrets of its target.
pub(super) fn of_target(url: Option<&str>, headers: &[String], setup: &RunSetup) -> String {
    let RunSetup { settings, redactor, .. } = setup;
    let target = GivenTarget { url, shown_url: &settings.shown_target, headers, redactor };
    shown(env::args_os().skip(1), |argument| target.without_secrets(argument))
}

/// The command line of this process, which has no target.
pub(super) fn of_process() -> String {
    shown(env::args_os().skip(1), str::to_owned)
}

fn shown(arguments: impl Iterator<Item = OsString>, without_secrets: impl Fn(&str) -> String) -> String {
    let mut line = "paymaster-loadtest".to_owned();
    for argument in arguments {
        let safe = without_secrets(&argument.to_string_lossy());
        line.push(' ');
        line.push_str(&shell::word(&escape_controls(&safe)));
    }
    given(&line)
}

/// A command line as reports show it: without control characters, and not longer than [`LONGEST`].
pub(super) fn given(line: &str) -> String {
    let mut line = escape_controls(line);
    if let Some((cut, _)) = line.char_indices().nth(LONGEST) {
        line.truncate(cut);
        line.push_str("...");
    }
    line
}

impl GivenTarget<'_> {
    fn without_secrets(&self, argument: &str) -> String {
        if self.url == Some(argument) {
            return self.shown_url.to_owned();
        }
        // A header stands behind its option or in the same argument: `-H`, `-HNAME: VALUE`, `--header=NAME: VALUE`.
        let headers = self.headers.iter().filter(|header| !header.is_empty());
        let header = headers.filter(|header| argument.ends_with(*header)).max_by_key(|header| header.len());
        match header {
            Some(header) => {
                let option = argument.strip_suffix(header.as_str()).unwrap_or_default();
                format!("{option}{}", self.redactor.apply(&safe_header(header)))
            }
            None => self.redactor.apply(argument).into_owned(),
        }
    }
}

/// A header without its value, unless the value is no secret or is a variable of the environment, which the command line only names.
fn safe_header(header: &str) -> String {
    let Some((name, value)) = header.split_once(':') else { return REDACTED.to_owned() };
    let is_public = !Redactor::is_secret_header(&name.trim().to_ascii_lowercase());
    if is_public || value.contains("${") { header.to_owned() } else { format!("{name}: {REDACTED}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str], headers: &[&str]) -> String {
        let mut redactor = Redactor::default();
        redactor.hide("k3y-of-the-path");
        let headers: Vec<String> = headers.iter().map(|header| (*header).to_owned()).collect();
        let target = GivenTarget {
            url: Some("https://h/k3y-of-the-path?a=b"),
            shown_url: "https://h/***?a=***",
            headers: &headers,
            redactor: &redactor,
        };
        shown(arguments.iter().map(OsString::from), |argument| target.without_secrets(argument))
    }

    #[test]
    fn secrets_of_url_and_headers_are_replaced() {
        let url = "https://h/k3y-of-the-path?a=b";
        assert_eq!(
            line(&[url, "--rate", "5", "-t", "p95<2s", "-o", "a b.html"], &[]),
            "paymaster-loadtest 'https://h/***?a=***' --rate 5 -t 'p95<2s' -o 'a b.html'"
        );
        // Values of fewer than six letters too.
        let headers = ["x-key: s3c", "authorization: Bearer ${KEY}", "accept: text/html"];
        let given =
            ["-H", headers[0], "-kHx-key: s3c", "--header=x-key: s3c", "-H", headers[1], "-H", headers[2]];
        assert_eq!(
            line(&given, &headers),
            "paymaster-loadtest -H 'x-key: ***' '-kHx-key: ***' '--header=x-key: ***' -H 'authorization: Bearer ${KEY}' -H 'accept: text/html'"
        );
        assert!(!line(&["-o", "k3y-of-the-path.html"], &[]).contains("k3y"));
    }

    #[test]
    fn a_line_without_a_target_is_as_it_was_given_and_not_endless() {
        let missing = vec![OsString::from("--missing=host_1"); 1_000];
        let text = shown(missing.into_iter(), str::to_owned);
        assert!(text.starts_with("paymaster-loadtest --missing=host_1 --missing="), "{text}");
        assert_eq!(text.chars().count(), LONGEST + 3);
    }
}
