//! A cURL line that works as printed, in any POSIX shell.

use std::fmt::Write as _;

use base64::{Engine, prelude::BASE64_STANDARD};

use super::Place;

/// Longer bodies do not fit into one argument of a command.
const LONGEST_ARGUMENT: usize = 100_000;

/// The line that sends a body; none when it is too long for a command line.
pub fn line(place: &Place, body: &[u8]) -> Option<String> {
    if body.len() > LONGEST_ARGUMENT {
        return None;
    }
    let url = match &place.literal {
        Some(url) => quoted(url),
        None => "\"$PAYMASTER_URL\"".to_owned(),
    };
    let mut command = format!(
        "curl -sS{} {url} -H 'content-type: application/json' -H 'accept: application/json'",
        place.curl_options
    );
    for (name, shell) in &place.headers {
        // Double quotes, so that the shell fills in what we do not print.
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

/// What has to be set before the line works; none when nothing has.
pub fn needs(place: &Place) -> Option<String> {
    let mut names = Vec::new();
    if place.literal.is_none() {
        names.push("PAYMASTER_URL".to_owned());
    }
    for (_, shell) in &place.headers {
        for part in shell.split('$').skip(1) {
            let name: String = part
                .trim_start_matches('{')
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                .collect();
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| names.join(", "))
}

/// A text as one word of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn escaped(shell: &str) -> String {
    shell
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('`', "\\`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place {
            shown: String::new(),
            embedded: false,
            literal: Some("http://127.0.0.1:1/a'b".to_owned()),
            headers: vec![("x-key".to_owned(), "Bearer ${KEY}".to_owned())],
            curl_options: format!(" --cacert {}", quoted("/a folder/it's.pem")),
            warnings: Vec::new(),
        }
    }

    #[test]
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
        assert!(words.contains(&"x-key: Bearer k-1"), "{words:?}");
        assert_eq!(words.last(), Some(&r#"{"a":"it's"}"#));
        assert_eq!(needs(&place()).as_deref(), Some("KEY"));
    }

    #[test]
    fn secret_urls_are_variables_and_odd_bytes_are_piped() {
        let place = Place::default();
        let line = line(&place, b"\xFF").unwrap();
        assert!(
            line.starts_with("printf %s '/w==' | base64 -d | curl -sS \"$PAYMASTER_URL\""),
            "{line}"
        );
        assert_eq!(needs(&place).as_deref(), Some("PAYMASTER_URL"));
        assert_eq!(self::line(&place, &vec![b' '; LONGEST_ARGUMENT + 1]), None);
    }
}
