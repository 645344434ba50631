//! Which headers of recorded requests are secret.

/// Headers that are no credentials. The values of all other headers are hidden in every output.
const PUBLIC: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "dnt",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "te",
    "transfer-encoding",
    "upgrade-insecure-requests",
    "user-agent",
];

/// The values of request headers that must be hidden.
pub fn secrets<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    headers
        .filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            // `:authority` and other pseudo-headers of HTTP/2 are method, path and host.
            !PUBLIC.contains(&name.as_str()) && !name.starts_with("sec-") && !name.starts_with(':')
        })
        .map(|(_, value)| value.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_headers_are_public_and_all_others_secret() {
        let headers = [
            ("Accept", "application/json"),
            ("sec-fetch-mode", "cors"),
            (":path", "/"),
            ("Authorization", "Bearer k"),
            ("x-api-key", "k2"),
            ("cookie", "s=1"),
        ];
        assert_eq!(secrets(headers.into_iter()), ["Bearer k", "k2", "s=1"]);
    }
}
