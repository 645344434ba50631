//! Redaction by value: secrets are replaced wherever they stand in an output, and nothing else is changed.
//!
//! What counts as secret:
//!
//! - Each segment of the URL's path that the profile does not declare public (`public-path-segments`), each value of its query, each
//!   request header value, the environment variables in headers, and the user and password of a proxy's URL.
//! - Values that cannot be a key are hidden only where the URL or the header itself is printed: values shorter than six characters,
//!   numbers and versions (`v2`, `80001`), addresses, and words that are common in texts about paymasters (`sponsorship`, `tokenInfo`).
//!   Replacing them everywhere would garble texts that are not secret.
//! - Values of headers that negotiate content, such as Accept, are not secret.
//! - A secret is found as it was given, percent-encoded, percent-decoded and escaped for JSON. Where a text was cut, the beginning of a
//!   secret is found too.

mod common;
mod forms;

use std::{borrow::Cow, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};

pub use common::is_version;
use common::{is_address, is_plain};
use parking_lot::RwLock;

/// The text that replaces a secret.
pub const REDACTED: &str = "***";

/// The least length of a key, in bytes.
const SHORTEST: usize = 6;

/// The least length, in bytes, of the beginning of a secret that is replaced where a text was cut.
const SHORTEST_PART: usize = 4;

/// The mark where a text was cut.
const CUT: &str = "...";

/// Texts of this length, in bytes, may end with a body that was cut without a mark. It is less than the length of such a body, from which
/// white space may have been trimmed.
const KEPT: usize = paymaster_exchange::KEPT - 1024;

/// Headers whose values are not secret, unless they come from the environment.
const PUBLIC_HEADERS: [&str; 9] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-type",
    "host",
    "origin",
    "pragma",
    "user-agent",
];

/// Replaces the secrets of a run in texts. Clones share their secrets: a report that is open hides those that are found later too.
#[derive(Clone, Debug)]
pub struct Redactor {
    secrets: Arc<RwLock<Vec<Secret>>>,
    /// Whether a text is a common word of outputs, so that it cannot be a key.
    is_public_word: fn(&str) -> bool,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::with_public_words(|_| false)
    }
}

/// One form of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Secret {
    form: String,
    /// Whether it is a word of letters, which is replaced only where it stands alone.
    word: bool,
}

impl Redactor {
    /// A redactor without secrets. Texts for which `is_public_word` is true are never taken for keys.
    pub fn with_public_words(is_public_word: fn(&str) -> bool) -> Self {
        Self { secrets: Arc::default(), is_public_word }
    }

    /// Adds a secret: it is replaced from now on, in every form in which it is transmitted. A value that cannot be a key is ignored.
    pub fn hide(&mut self, secret: &str) {
        if secret.len() < SHORTEST
            || is_address(secret)
            || is_version(secret)
            || (self.is_public_word)(secret)
        {
            return;
        }
        let word = secret.bytes().all(|byte| byte.is_ascii_lowercase());
        let mut secrets = self.secrets.write();
        for form in forms::of(secret) {
            let secret = Secret { form, word };
            if !secrets.contains(&secret) {
                secrets.push(secret);
            }
        }
        // The longest first, so that a secret that contains another one is replaced whole.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.form.len()));
    }

    /// Adds the value of a secret header or of a variable in a header, and the credentials in it: those after a scheme (`Bearer ...`), the
    /// decoded ones of `Basic ...`, and the value of each cookie.
    pub fn hide_header(&mut self, value: &str) {
        self.hide(value);
        if let Some((scheme, credentials)) = value.split_once(' ') {
            let credentials = credentials.trim();
            self.hide(credentials);
            let decoded = BASE64_STANDARD.decode(credentials).ok();
            let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
            if let Some(pair) = decoded.filter(|_| scheme.eq_ignore_ascii_case("basic")) {
                self.hide(&pair);
                if let Some((_, password)) = pair.split_once(':') {
                    self.hide(password);
                }
            }
        }
        for part in value.split([';', ',']) {
            if let Some((_, value)) = part.split_once('=') {
                self.hide(value.trim().trim_matches('"'));
            }
        }
    }

    /// Whether the value of a header of that lower-case name is secret.
    pub fn is_secret_header(name: &str) -> bool {
        !PUBLIC_HEADERS.contains(&name)
    }

    /// Adds the secrets in the path and query of a URL. Returns the path and query without them.
    ///
    /// On this machine (`loopback`), segments that are plain words, versions or small numbers are not secret. Elsewhere, only the segments
    /// in `public` are not secret.
    pub fn hide_path(
        &mut self,
        path: &str,
        query: Option<&str>,
        loopback: bool,
        public: &[String],
    ) -> String {
        let is_public = |segment: &str| {
            segment.is_empty() || public.iter().any(|word| word == segment) || (loopback && is_plain(segment))
        };
        let mut hidden = |part: &str| {
            self.hide(part);
            REDACTED
        };
        let segments =
            path.split('/').map(|segment| if is_public(segment) { segment } else { hidden(segment) });
        let mut shown = segments.collect::<Vec<_>>().join("/");
        let mut whole = path.to_owned();
        if let Some(query) = query {
            let parts = query.split('&').map(|part| match part.split_once('=') {
                Some((name, value)) => format!("{name}={}", hidden(value)),
                None => hidden(part).to_owned(),
            });
            shown = format!("{shown}?{}", parts.collect::<Vec<_>>().join("&"));
            whole = format!("{path}?{query}");
        }
        // Short segments are hidden as part of the whole path. A single segment has no longer whole.
        if shown.contains(REDACTED) && (path.trim_matches('/').contains('/') || query.is_some()) {
            self.hide(&whole);
        }
        shown
    }

    /// The text without the secrets.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let cut_at_the_end = text.len() >= KEPT;
        let mut text = Cow::Borrowed(text);
        let secrets = self.secrets.read();
        for secret in secrets.iter() {
            if text.contains(&secret.form) {
                text = Cow::Owned(secret.replaced(&text));
            }
        }
        if cut_at_the_end || text.contains(CUT) {
            text = without_beginnings(&secrets, text, cut_at_the_end);
        }
        text
    }
}

impl Secret {
    fn replaced(&self, text: &str) -> String {
        if !self.word {
            return text.replace(&self.form, REDACTED);
        }
        let mut clean = String::with_capacity(text.len());
        let mut copied = 0;
        for (place, form) in text.match_indices(&self.form) {
            let behind = place + form.len();
            let neighbours = [text[..place].chars().next_back(), text[behind..].chars().next()];
            if !neighbours.into_iter().flatten().any(char::is_alphanumeric) {
                clean.push_str(&text[copied..place]);
                clean.push_str(REDACTED);
                copied = behind;
            }
        }
        clean + &text[copied..]
    }

    /// The number of bytes of this secret's beginning that a text ends with.
    fn begins(&self, text: &str) -> Option<usize> {
        (SHORTEST_PART..self.form.len())
            .rev()
            .find(|length| self.form.is_char_boundary(*length) && text.ends_with(&self.form[..*length]))
    }
}

/// Replaces the beginning of a secret where the text was cut within it.
fn without_beginnings<'a>(secrets: &[Secret], text: Cow<'a, str>, cut_at_the_end: bool) -> Cow<'a, str> {
    let cuts = text.match_indices(CUT).map(|(place, _)| place);
    let end = cut_at_the_end.then_some(text.len());
    let ranges: Vec<_> = cuts
        .chain(end)
        .filter_map(|cut| {
            let before = &text[..cut];
            let longest = secrets.iter().filter_map(|secret| secret.begins(before)).max()?;
            Some(cut - longest..cut)
        })
        .collect();
    if ranges.is_empty() {
        return text;
    }
    let mut clean = text.into_owned();
    for range in ranges.into_iter().rev() {
        clean.replace_range(range, REDACTED);
    }
    Cow::Owned(clean)
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
        assert_eq!(redactor.apply("path /my-secret-key of any api"), "path /*** of any api");
    }

    #[test]
    fn public_words_are_hidden_in_the_url_alone() {
        let mut redactor = Redactor::with_public_words(|text| text == "sponsorship");
        let address = "0x00000000000000000000000000000000000000a1";
        for segment in [address, "sponsorship", "v2", "137", "123456789"] {
            let shown = redactor.hide_path(&format!("/{segment}"), None, false, &[]);
            assert_eq!(shown, "/***");
            let text = format!("{{\"{segment}\":1}} x{segment}");
            assert_eq!(redactor.apply(&text), text);
        }
    }

    #[test]
    fn a_key_that_is_a_word_is_hidden_where_it_stands_alone() {
        let mut redactor = Redactor::default();
        redactor.hide_path("/correcthorse", None, false, &[]);
        assert_eq!(
            redactor.apply("correcthorse, correcthorses and acorrecthorse: /correcthorse"),
            "***, correcthorses and acorrecthorse: /***"
        );
    }

    #[test]
    fn every_form_of_a_secret_is_hidden() {
        let mut redactor = Redactor::default();
        redactor.hide_path("/k%2Fey%22one+two", None, false, &[]);
        redactor.hide_header("Basic dXNlcjpodW50ZXIyMg==");
        redactor.hide_header("session=cookie-1; theme=\"quoted/2\"");
        for form in [
            "k%2Fey%22one+two",
            "k%2fey%22one+two",
            "k%2Fey%22one%2Btwo",
            "k/ey\"one+two",
            "k/ey\"one two",
            r#"k/ey\"one+two"#,
            r#"k\/ey\"one+two"#,
            "dXNlcjpodW50ZXIyMg==",
            "user:hunter22",
            "hunter22",
            "cookie-1",
            "quoted/2",
            r"quoted\/2",
            "quoted%2F2",
        ] {
            let text = redactor.apply(form).into_owned();
            assert!(!text.contains(|letter: char| letter.is_alphanumeric()), "{form}: {text}");
        }
    }

    #[test]
    fn a_text_that_was_cut_within_a_secret_shows_none_of_its_beginning() {
        let mut redactor = Redactor::default();
        redactor.hide("canary-0123456789");
        assert_eq!(redactor.apply("\"key canary-0123... (99 bytes)"), "\"key ***... (99 bytes)");
        assert_eq!(redactor.apply("a can... (99 bytes)"), "a can... (99 bytes)");
        let long = format!("{}canary-012345", "x".repeat(KEPT));
        assert!(redactor.apply(&long).ends_with("x***"));
    }

    #[test]
    fn headers_that_negotiate_are_no_secret() {
        assert!(!Redactor::is_secret_header("accept"));
        assert!(Redactor::is_secret_header("authorization"));
        assert!(Redactor::is_secret_header("x-api-key"));
    }
}
