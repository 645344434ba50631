//! Values that are not keys: versions, chain ids, addresses, and short words in paths of servers on this machine.

/// Whether a text is a number, or `v` and a number.
pub fn is_version(text: &str) -> bool {
    let digits =
        |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(text) || text.strip_prefix('v').is_some_and(digits)
}

/// Whether a segment is a short lower-case word, a version or a chain id, as in the paths of servers on this machine.
pub(super) fn is_plain(segment: &str) -> bool {
    let suspicious = ["key", "secret", "token", "pass"];
    let word = segment.len() <= 16
        && segment.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_')
        && !suspicious.iter().any(|part| segment.contains(part));
    word || is_version(segment)
}

/// Whether a segment is an Ethereum address. Addresses are public, and stand in requests and responses.
pub(super) fn is_address(segment: &str) -> bool {
    segment
        .strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
