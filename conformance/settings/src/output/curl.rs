//! Command lines for cURL and for `replay` that work as printed in any POSIX shell.

use std::{fmt::Write as _, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};

use paymaster_engine::cases::Member;
use paymaster_exchange::HeaderSet;
use serde::{Deserialize, Serialize};

use crate::ShownTarget;
use crate::output::{quoted, word};

/// The longest body that fits into one argument of a command, in bytes.
const LONGEST_ARGUMENT: usize = 100_000;

/// The cURL line that sends a request; none where its body is too long for a command line.
pub fn line(place: &ShownTarget, member: &Member) -> Option<String> {
    let body = &member.body;
    if body.len() > LONGEST_ARGUMENT {
        return None;
    }
    let command = without_body(place, member.sent_as.as_deref());
    Some(match std::str::from_utf8(body) {
        Ok(text) if !text.contains('\0') => format!("{command} --data-raw {}", quoted(text)),
        _ => {
            let encoded = BASE64_STANDARD.encode(&**body);
            format!("printf %s '{encoded}' | base64 -d | {command} --data-binary @-")
        }
    })
}

/// What sends a body to a target as a run does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurlCommand {
    /// The cURL command, but for the body.
    pub without_body: String,
    /// The environment variables that must be exported before; none where there are no such variables.
    pub needs: Option<String>,
}

impl CurlCommand {
    /// The command for a target.
    pub fn of(place: &ShownTarget) -> Self {
        Self { without_body: without_body(place, None), needs: needs(place) }
    }
}

/// The cURL command that sends requests to a target as this client does, without a body.
fn without_body(place: &ShownTarget, sent_as: Option<&HeaderSet>) -> String {
    let url = place.literal.as_deref().map_or(VARIABLE.to_owned(), quoted);
    let mut command = format!("curl -sS{} {url}", place.curl_options);
    match sent_as {
        None => command.push_str(" -H 'content-type: application/json' -H 'accept: application/json'"),
        Some(headers) => add_headers(&mut command, headers, place),
    }
    for (name, shell) in &place.headers {
        // In double quotes the shell replaces the variables.
        let _ = write!(command, " -H \"{name}: {}\"", escaped(shell));
    }
    command
}

/// Adds the headers of a published client, as far as the user's own headers do not replace them.
fn add_headers(command: &mut String, headers: &HeaderSet, place: &ShownTarget) {
    // Writing to a String cannot fail.
    for (name, value) in sent_headers(headers, place) {
        let _ = write!(command, " -H {}", quoted(&format!("{}: {value}", headers.written(name))));
    }
    // A header without a value removes the one that cURL would send by itself.
    for name in ["accept", "user-agent"] {
        if headers.header(name).is_none() {
            let _ = write!(command, " -H '{name}:'");
        }
    }
    if headers.header("accept-encoding").is_some() {
        command.push_str(" --compressed");
    }
}

/// The headers of a published client as they were sent: the user's own headers replace those of the same name.
pub fn sent_headers<'a>(
    headers: &'a HeaderSet,
    place: &'a ShownTarget,
) -> impl Iterator<Item = &'a (&'static str, &'static str)> {
    let is_own = |name: &str| place.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    headers.lines.iter().filter(move |(name, _)| !is_own(name))
}

/// The URL of the target as one word of a shell: the variable of the environment where it holds a secret.
pub fn url(place: &ShownTarget) -> String {
    place.literal.as_deref().map_or(VARIABLE.to_owned(), word)
}

/// The line that sends the requests of a replay file to the target of the run again. Secret URLs and header values are variables of
/// the environment.
pub fn replay(place: &ShownTarget, path: &Path, on_chain: bool) -> String {
    let mut command = format!("paymaster-conformance replay {}", word(&path.display().to_string()));
    if place.embedded {
        return command;
    }
    let _ = write!(command, " {}{}{}", url(place), place.replay_options, place.curl_options);
    if on_chain {
        command.push_str(&place.chain_options);
    }
    command
}

/// The environment variables that must be exported before the lines work; none where there are no such variables.
pub fn needs(place: &ShownTarget) -> Option<String> {
    let mut names = Vec::new();
    if place.literal.is_none() {
        names.push("PAYMASTER_URL");
    }
    for (_, shell) in &place.headers {
        let parts = shell.split("${").skip(1);
        names.extend(parts.filter_map(|part| Some(part.split_once('}')?.0)));
    }
    if place.chain_options.contains(RPC_VARIABLE) {
        names.push("PAYMASTER_RPC_URL");
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// The variable in place of a secret URL of the target.
const VARIABLE: &str = "\"$PAYMASTER_URL\"";

/// The variable in place of a secret URL of a node.
pub const RPC_VARIABLE: &str = "\"$PAYMASTER_RPC_URL\"";

fn escaped(shell: &str) -> String {
    shell
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('`', "\\`")
        // Only `${NAME}` is a variable; any other dollar sign is escaped.
        .replace('$', "\\$")
        .replace("\\${", "${")
}

#[cfg(test)]
mod tests {
    use crate::output::shell::config_option;
    use bytes::Bytes;
    use paymaster_engine::cases::{case::Role, clients::find_client};

    use super::*;

    fn member(body: &[u8]) -> Member {
        Member {
            role: Role::Call,
            label: String::new(),
            body: Bytes::copy_from_slice(body).into(),
            sent_as: None,
        }
    }

    fn place() -> ShownTarget {
        ShownTarget {
            literal: Some("http://127.0.0.1:1/a'b".to_owned()),
            headers: vec![("x-key".to_owned(), "Bearer $1 ${KEY}".to_owned())],
            curl_options: format!(" --cacert {}", quoted("/a folder/it's.pem")),
            ..ShownTarget::default()
        }
    }

    #[test]
    #[cfg(unix)]
    fn quotes_survive_the_shell() {
        let line = line(&place(), &member(br#"{"a":"it's"}"#)).unwrap();
        let echoed = line.replacen("curl -sS", "printf '%s\\n'", 1);
        let output =
            std::process::Command::new("sh").args(["-c", &echoed]).env("KEY", "k-1").output().unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = words.lines().collect();
        assert_eq!(words[..3], ["--cacert", "/a folder/it's.pem", "http://127.0.0.1:1/a'b"]);
        assert!(words.contains(&"x-key: Bearer $1 k-1"), "{words:?}");
        assert_eq!(words.last(), Some(&r#"{"a":"it's"}"#));
        assert_eq!(needs(&place()).as_deref(), Some("KEY"));
    }

    #[test]
    fn secret_urls_are_variables_and_odd_bytes_are_piped() {
        let place = ShownTarget::default();
        let line = line(&place, &member(b"\xFF")).unwrap();
        assert!(line.starts_with("printf %s '/w==' | base64 -d | curl -sS \"$PAYMASTER_URL\""), "{line}");
        assert_eq!(needs(&place).as_deref(), Some("PAYMASTER_URL"));
        let long = member(&vec![b' '; LONGEST_ARGUMENT + 1]);
        assert_eq!(self::line(&place, &long), None);
    }

    #[test]
    fn the_headers_of_a_client_are_sent_and_those_of_curl_are_not() {
        let ethers = Member { sent_as: find_client("ethers"), ..member(b"{}") };
        let place = ShownTarget {
            headers: vec![("Content-Type".to_owned(), "application/json+x".to_owned())],
            ..ShownTarget::default()
        };
        assert_eq!(
            line(&place, &ethers).unwrap(),
            "curl -sS \"$PAYMASTER_URL\" -H 'Accept-Encoding: gzip' -H 'Connection: close' -H 'accept:' -H 'user-agent:' \
             --compressed -H \"Content-Type: application/json+x\" --data-raw '{}'"
        );
    }

    #[test]
    fn a_replay_asks_as_the_run_did() {
        let path = Path::new("r/answer.id-1.json");
        let place = ShownTarget {
            replay_options: format!("{} -H 'x: ${{X}}'", config_option(Some(Path::new("a b.toml")))),
            chain_options: format!(" --rpc-url {RPC_VARIABLE} --entry-point 0x1"),
            ..place()
        };
        let line = "paymaster-conformance replay r/answer.id-1.json 'http://127.0.0.1:1/a'\\''b' --config 'a b.toml' -H 'x: ${X}' \
                    --cacert '/a folder/it'\\''s.pem'";
        assert_eq!(replay(&place, path, false), line);
        let on_chain = format!("{line} --rpc-url \"$PAYMASTER_RPC_URL\" --entry-point 0x1");
        assert_eq!(replay(&place, path, true), on_chain);
        assert_eq!(needs(&place).as_deref(), Some("KEY, PAYMASTER_RPC_URL"));
        let embedded = ShownTarget { embedded: true, ..place };
        assert_eq!(replay(&embedded, path, false), "paymaster-conformance replay r/answer.id-1.json");
    }
}
