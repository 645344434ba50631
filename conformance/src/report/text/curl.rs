//! Command lines for cURL and for `replay` that work as printed in any POSIX shell.

use std::{fmt::Write as _, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};

use paymaster_cli::{
    settings::ShownTarget,
    shell::{quoted, word},
};

/// The longest body that fits into one argument of a command, in bytes.
const LONGEST_ARGUMENT: usize = 100_000;

/// The cURL line that sends a body; none where the body is too long for a command line.
pub(crate) fn line(place: &ShownTarget, body: &[u8]) -> Option<String> {
    if body.len() > LONGEST_ARGUMENT {
        return None;
    }
    let url = place.literal.as_deref().map_or(VARIABLE.to_owned(), quoted);
    let mut command = format!(
        "curl -sS{} {url} -H 'content-type: application/json' -H 'accept: application/json'",
        place.curl_options
    );
    for (name, shell) in &place.headers {
        // In double quotes the shell replaces the variables.
        let _ = write!(command, " -H \"{name}: {}\"", escaped(shell));
    }
    Some(match std::str::from_utf8(body) {
        Ok(text) if !text.contains('\0') => format!("{command} --data-raw {}", quoted(text)),
        _ => {
            let encoded = BASE64_STANDARD.encode(body);
            format!("printf %s '{encoded}' | base64 -d | {command} --data-binary @-")
        }
    })
}

/// The line that sends the requests of a replay file to the target of the run again. Secret URLs and header values are variables of
/// the environment.
pub(crate) fn replay(place: &ShownTarget, path: &Path, on_chain: bool) -> String {
    let mut command = format!(
        "paymaster-conformance replay {}",
        word(&path.display().to_string())
    );
    if place.embedded {
        return command;
    }
    let url = place.literal.as_deref().map_or(VARIABLE.to_owned(), word);
    let _ = write!(command, " {url}{}{}", place.replay_options, place.curl_options);
    if on_chain {
        command.push_str(&place.chain_options);
    }
    command
}

/// The environment variables that must be exported before the lines work; none where there are no such variables.
pub(crate) fn needs(place: &ShownTarget) -> Option<String> {
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
pub(crate) const RPC_VARIABLE: &str = "\"$PAYMASTER_RPC_URL\"";

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
    use super::*;
    use paymaster_cli::shell::config_option;

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
        let line = line(&place(), br#"{"a":"it's"}"#).unwrap();
        let echoed = line.replacen("curl -sS", "printf '%s\\n'", 1);
        let output = std::process::Command::new("sh")
            .args(["-c", &echoed])
            .env("KEY", "k-1")
            .output()
            .unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = words.lines().collect();
        assert_eq!(
            words[..3],
            ["--cacert", "/a folder/it's.pem", "http://127.0.0.1:1/a'b"]
        );
        assert!(words.contains(&"x-key: Bearer $1 k-1"), "{words:?}");
        assert_eq!(words.last(), Some(&r#"{"a":"it's"}"#));
        assert_eq!(needs(&place()).as_deref(), Some("KEY"));
    }

    #[test]
    fn secret_urls_are_variables_and_odd_bytes_are_piped() {
        let place = ShownTarget::default();
        let line = line(&place, b"\xFF").unwrap();
        assert!(
            line.starts_with("printf %s '/w==' | base64 -d | curl -sS \"$PAYMASTER_URL\""),
            "{line}"
        );
        assert_eq!(needs(&place).as_deref(), Some("PAYMASTER_URL"));
        assert_eq!(self::line(&place, &vec![b' '; LONGEST_ARGUMENT + 1]), None);
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
        let embedded = ShownTarget {
            embedded: true,
            ..place
        };
        assert_eq!(
            replay(&embedded, path, false),
            "paymaster-conformance replay r/answer.id-1.json"
        );
    }
}
