//! What opens no door: words that URLs and texts about paymasters are made of, versions, chain ids, addresses.

use paymaster_schemas::documents;

/// Words that stand in URLs of paymasters, and in texts about them.
const WORDS: [&str; 34] = [
    "account",
    "accounts",
    "arbitrum",
    "avalanche",
    "bundler",
    "bundlers",
    "development",
    "endpoint",
    "erc20",
    "ethereum",
    "gateway",
    "holesky",
    "jsonrpc",
    "localhost",
    "mainnet",
    "network",
    "optimism",
    "paymaster",
    "paymasters",
    "polygon",
    "private",
    "production",
    "public",
    "sandbox",
    "sepolia",
    "service",
    "services",
    "sponsor",
    "sponsored",
    "sponsoring",
    "sponsorship",
    "staging",
    "testnet",
    "webhook",
];

/// The same, too short to be a key alone, which stand beside others with `-` or `_` between.
const SHORT_WORDS: [&str; 12] = [
    "api", "base", "bsc", "dev", "eth", "json", "main", "prod", "rpc", "test", "token", "user",
];

/// A word that texts are made of, a name of the specification, a number or a version. Words with `-` or `_` between count as each.
pub(super) fn is_common(text: &str) -> bool {
    let is_word = |part: &str| {
        let lower = part.to_ascii_lowercase();
        WORDS.contains(&&*lower) || SHORT_WORDS.contains(&&*lower) || is_version(&lower)
    };
    text.split(['-', '_']).all(is_word) || is_name(text)
}

/// A method, a member or another word that the specification's schemas quote.
fn is_name(text: &str) -> bool {
    let quoted = format!("\"{text}\"");
    documents().iter().any(|document| document.text.contains(&quoted))
}

fn is_version(text: &str) -> bool {
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
