//! The forms in which a secret is transmitted.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;

/// All characters except the unreserved ones (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A value as it is, percent-encoded and percent-decoded, each also escaped for JSON. Forms that are too short for a key are left out.
pub(super) fn of(secret: &str) -> Vec<String> {
    let decoded = percent_decode_str(secret).decode_utf8();
    let decoded = decoded.map_or_else(|_| secret.to_owned(), std::borrow::Cow::into_owned);
    let mut forms = vec![decoded.replace('+', " ")];
    for text in [secret, &decoded] {
        let encoded = utf8_percent_encode(text, RESERVED).to_string();
        for form in [text, &encoded] {
            forms.push(with_digits(form, str::to_ascii_uppercase));
            forms.push(with_digits(form, str::to_ascii_lowercase));
            forms.push(form.to_owned());
        }
    }
    // Twice: a response can quote a response, and then JSON is escaped within JSON.
    for _ in 0..2 {
        for form in forms.clone() {
            let json = Value::from(form.as_str()).to_string();
            let json = json[1..json.len() - 1].to_owned();
            forms.push(json.replace('/', "\\/"));
            forms.push(json);
        }
        forms.sort_unstable();
        forms.dedup();
    }
    forms.retain(|form| form.len() >= super::SHORTEST);
    forms
}

/// A text whose percent codes have their digits in another letter case.
fn with_digits(text: &str, change: fn(&str) -> String) -> String {
    let parts = text.split('%').enumerate().map(|(place, part)| match part.split_at_checked(2) {
        Some((digits, rest)) if place > 0 => change(digits) + rest,
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("%")
}
