//! Parses a node's response to an `eth_call`.

use alloy_primitives::{Address, U256, hex};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reply {
    result: Option<String>,
    error: Option<Error>,
}

#[derive(Deserialize)]
struct Error {
    code: i64,
    message: String,
}

/// Longest part of a node's error message that is repeated, in characters.
const LONGEST_MESSAGE: usize = 200;

/// The uint256 that a call of `contract` returned.
pub(super) fn word(body: &[u8], contract: Address) -> Result<U256, String> {
    let reply: Reply =
        serde_json::from_slice(body).map_err(|_| "the answer is not that of a JSON-RPC node")?;
    if let Some(Error { code, message }) = reply.error {
        let message: String = message.chars().take(LONGEST_MESSAGE).collect();
        return Err(format!("error {code}, {message}"));
    }
    let text = reply.result.ok_or("the answer has neither result nor error")?;
    let bytes =
        text.strip_prefix("0x").and_then(|digits| hex::decode(digits).ok()).ok_or("the result is not hex")?;
    if bytes.is_empty() {
        let hint = "is signing.sponsorship_paymaster right?";
        return Err(format!("no VerifyingPaymaster is deployed at {contract}: {hint}"));
    }
    let word: [u8; 32] =
        bytes.try_into().map_err(|bytes: Vec<u8>| format!("the result has {} bytes, not 32", bytes.len()))?;
    Ok(U256::from_be_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_parsed_and_anything_else_is_an_error() {
        let zeros = "0".repeat(63);
        let good = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"0x{zeros}7"}}"#);
        assert_eq!(word(good.as_bytes(), Address::ZERO), Ok(U256::from(7)));
        for (body, expected) in [
            ("<html>", "not that of a JSON-RPC node"),
            ("{}", "neither"),
            (r#"{"result":"0x"}"#, "no VerifyingPaymaster is deployed at 0x0000"),
            (r#"{"result":"0x00"}"#, "1 bytes"),
            (r#"{"result":"7"}"#, "not hex"),
            (
                r#"{"error":{"code":-32000,"message":"execution reverted"}}"#,
                "error -32000, execution reverted",
            ),
        ] {
            let why = word(body.as_bytes(), Address::ZERO).unwrap_err();
            assert!(why.contains(expected), "{body}: {why}");
        }
    }
}
