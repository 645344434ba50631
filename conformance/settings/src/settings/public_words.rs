//! Words that are not keys: common words of URLs and texts about paymasters, and names of the specification.

use paymaster_client::redact::is_version;
use paymaster_schemas::documents;

/// Words of URLs of paymasters, and of texts about them.
const WORDS: &str = "account accounts arbitrum avalanche bundler bundlers development endpoint erc20 ethereum gateway \
    holesky jsonrpc localhost mainnet network optimism paymaster paymasters polygon private production \
    public sandbox sepolia service services sponsor sponsored sponsoring sponsorship staging testnet \
    webhook";

/// Further such words, too short to be a key alone, which occur joined to others by `-` or `_`.
const SHORT_WORDS: &str = "api base bsc dev eth json main prod rpc test token user";

/// Whether a text is a common word, a name of the specification, a number or a version. Words joined by `-` or `_` are checked one by one.
pub fn is_common(text: &str) -> bool {
    let is_word = |part: &str| {
        let lower = part.to_ascii_lowercase();
        let mut known = WORDS.split(' ').chain(SHORT_WORDS.split(' '));
        known.any(|word| word == lower) || is_version(&lower)
    };
    text.split(['-', '_']).all(is_word) || is_name(text)
}

/// Whether a text is a method, a member or another word in quotes in the schemas of the specification.
fn is_name(text: &str) -> bool {
    let quoted = format!("\"{text}\"");
    documents().any(|document| document.text.contains(&quoted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_field_and_names_of_the_specification_are_public() {
        for word in
            ["sponsorship", "tokenInfo", "pm_sponsorUserOperation", "json-rpc", "mainnet", "v2", "137"]
        {
            assert!(is_common(word), "{word}");
        }
        for key in ["correcthorse", "k-123456", "mainnet-s3cret"] {
            assert!(!is_common(key), "{key}");
        }
    }
}
