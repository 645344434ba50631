//! What is no key: versions, chain ids, addresses, and short words in paths of servers on this machine.

/// A number, or `v` and a number.
pub fn is_version(text: &str) -> bool {
    let digits =
        |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(text) || text.strip_prefix('v').is_some_and(digits)
}

/// A short lower-case word, a version or a chain id, as paths of servers on this machine are made of.
pub(super) fn is_plain(segment: &str) -> bool {
    let telling = ["key", "secret", "token", "pass"];
    let word = segment.len() <= 16
        && segment
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_')
        && !telling.iter().any(|part| segment.contains(part));
    word || is_version(segment)
}

/// Addresses are public by nature, and they stand in requests and answers.
pub(super) fn is_address(segment: &str) -> bool {
    segment
        .strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 40 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
