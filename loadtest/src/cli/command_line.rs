//! The command line of this process as reports show it: in the notation of a shell, without secrets.

use std::{env, ffi::OsString};

use paymaster_client::redact::{REDACTED, Redactor};
use paymaster_settings::{RunSetup, escape_controls, output::shell};

/// The longest command line that is kept, in characters. A master of Locust names each lost worker in its `merge`.
const LONGEST: usize = 2_000;

/// The command line of this process, without the secrets of its target.
pub(super) fn of_target(url: Option<&str>, headers: &[String], setup: &RunSetup) -> String {
    let url = url.map(|url| (url, setup.settings.shown_target.as_str()));
    shown(env::args_os().skip(1), |argument| without_secrets(argument, url, headers, &setup.redactor))
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

/// An argument without secrets. `url` is the one of the command line, as it was given and as reports show it; `headers` are as they were
/// given: `Name: value`.
fn without_secrets(
    argument: &str,
    url: Option<(&str, &str)>,
    headers: &[String],
    redactor: &Redactor,
) -> String {
    if let Some((_, shown)) = url.filter(|(given, _)| *given == argument) {
        return shown.to_owned();
    }
    // A header stands behind its option or in the same argument: `-H`, `-HNAME: VALUE`, `--header=NAME: VALUE`.
    let own = headers.iter().filter(|header| !header.is_empty() && argument.ends_with(*header));
    let Some(header) = own.max_by_key(|header| header.len()) else {
        return redactor.apply(argument).into_owned();
    };
    let option = argument.strip_suffix(header.as_str()).unwrap_or_default();
    format!("{option}{}", redactor.apply(&safe_header(header)))
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
        let url = Some(("https://h/k3y-of-the-path?a=b", "https://h/***?a=***"));
        shown(arguments.iter().map(OsString::from), |argument| {
            without_secrets(argument, url, &headers, &redactor)
        })
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
