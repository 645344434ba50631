//! Which recorded request headers are secret.

/// Headers that every client sends and that open no door. The value of any other header may stand in no output.
const PLAIN: &[&str] = &[
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

/// The values of request headers that are to be hidden.
pub fn secrets<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    headers
        .filter(|(name, _)| {
            let name = name.to_ascii_lowercase();
            // `:authority` and its like are HTTP/2's words for method, path and host.
            !PLAIN.contains(&name.as_str()) && !name.starts_with("sec-") && !name.starts_with(':')
        })
        .map(|(_, value)| value.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_client_sends_is_shown_and_the_rest_is_not() {
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
