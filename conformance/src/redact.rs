//! Redaction by value: what is secret is replaced wherever it stands in an output, and nothing else is touched.

use std::borrow::Cow;

/// What stands in the place of a secret.
pub const SHOWN: &str = "***";

/// Shorter values are no keys, and replacing them everywhere would garble what is not secret (chain ids, `v2`): they are
/// hidden where we print the URL or the header, and only there.
const SHORTEST: usize = 6;

/// Knows the secrets of a run.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// From now on this value is replaced; too short ones are not taken.
    pub fn hide(&mut self, secret: &str) {
        if secret.len() < SHORTEST || self.secrets.iter().any(|known| known == secret) {
            return;
        }
        self.secrets.push(secret.to_owned());
        // A secret that contains another one is replaced whole.
        self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    }

    /// Hides a header value, and the credentials in it without their scheme (`Bearer ...`).
    pub fn hide_header(&mut self, value: &str) {
        self.hide(value);
        if let Some((_, credentials)) = value.split_once(' ') {
            self.hide(credentials.trim());
        }
    }

    /// Hides what is secret in the path and query of a URL; gives the path and query as they may be shown.
    ///
    /// On this machine (`loopback`), segments that are plain words, versions or small numbers are no secret; elsewhere only
    /// those named in `public` are not. A plain word is hidden in the URL alone: replacing `rpc` everywhere would garble texts.
    pub fn hide_path(
        &mut self,
        path: &str,
        query: Option<&str>,
        loopback: bool,
        public: &[String],
    ) -> String {
        let segments: Vec<&str> = path
            .split('/')
            .map(|segment| {
                let known = segment.is_empty()
                    || public.iter().any(|word| word == segment)
                    || (loopback && is_plain(segment));
                if known {
                    return segment;
                }
                if !is_plain(segment) && !is_address(segment) {
                    self.hide(segment);
                }
                SHOWN
            })
            .collect();
        let mut shown = segments.join("/");
        if let Some(query) = query {
            let parts: Vec<String> = query
                .split('&')
                .map(|part| {
                    if let Some((name, value)) = part.split_once('=') {
                        self.hide(value);
                        return format!("{name}={SHOWN}");
                    }
                    self.hide(part);
                    SHOWN.to_owned()
                })
                .collect();
            shown = format!("{shown}?{}", parts.join("&"));
        }
        if shown.contains(SHOWN) {
            let whole = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
            self.hide(&whole);
        }
        shown
    }

    /// The text without the secrets.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), SHOWN));
            }
        }
        text
    }
}

/// A short lower-case word, a version or a chain id: nothing that opens a door.
fn is_plain(segment: &str) -> bool {
    let telling = ["key", "secret", "token", "pass"];
    let word = segment.len() <= 16
        && segment
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_')
        && !telling.iter().any(|part| segment.contains(part));
    let digits = |text: &str| text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    word || digits(segment) || segment.strip_prefix('v').is_some_and(digits)
}

/// Addresses are public by nature, and they stand in requests and answers.
fn is_address(segment: &str) -> bool {
    segment
        .strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_by_value_and_nothing_else_is() {
        let mut redactor = Redactor::default();
        let shown = redactor.hide_path(
            "/api/v2/80001/Ab3.k3y-value",
            Some("auth=querysecret&flag"),
            false,
            &["api".to_owned()],
        );
        redactor.hide_header("Bearer tok-12345");
        assert_eq!(shown, "/api/***/***/***?auth=***&***");
        let text =
            redactor.apply("no key Ab3.k3y-value (tok-12345, querysecret) for tokenInfo on chain 80001");
        assert_eq!(text, "no key *** (***, ***) for tokenInfo on chain 80001");
    }

    #[test]
    fn on_this_machine_plain_words_are_shown_and_keys_are_not() {
        let mut redactor = Redactor::default();
        let mut shown = |path: &str| redactor.hide_path(path, None, true, &[]);
        assert_eq!(shown("/"), "/");
        assert_eq!(shown("/any/path"), "/any/path");
        assert_eq!(shown("/api/v2/80001/SECRETKEY"), "/api/v2/80001/***");
        assert_eq!(shown("/my-secret-key"), "/***");
        assert_eq!(
            redactor.apply("path /my-secret-key of any api"),
            "path *** of any api"
        );
    }

    #[test]
    fn words_and_addresses_in_a_path_do_not_garble_texts() {
        let mut redactor = Redactor::default();
        let address = "0x00000000000000000000000000000000000000a1";
        let shown = redactor.hide_path(&format!("/sponsorship/{address}"), None, false, &[]);
        assert_eq!(shown, "/***/***");
        let text = format!("sponsorship of {address}");
        assert_eq!(redactor.apply(&text), text);
    }
}
