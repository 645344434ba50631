//! Symbol and decimals of tokens, as the target's quotes show them (section 2.8). Both are the same in every quote for a token.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::target::profile::Token;
use paymaster_engine::json::number::amount;

/// Symbol and decimals of tokens, as the target's first quotes show them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenFacts(BTreeMap<String, Token>);

impl TokenFacts {
    /// Adds the tokens of a quote result in token mode. Known values stay; values of the wrong type are ignored.
    pub fn learn(&mut self, result: &Value) {
        for quote in result["feeQuotes"].as_array().into_iter().flatten() {
            if let Some(address) = quote["tokenAddress"].as_str() {
                self.note(&Token {
                    address: address.to_owned(),
                    symbol: quote["symbol"].as_str().map(str::to_owned),
                    decimals: decimals(&quote["decimal"]),
                });
            }
        }
    }

    /// Adds symbol and decimals of a token. Known values stay.
    pub fn note(&mut self, token: &Token) {
        let known = self.0.entry(token.address.to_ascii_lowercase()).or_default();
        if known.address.is_empty() {
            known.address.clone_from(&token.address);
        }
        known.symbol = known.symbol.take().or_else(|| token.symbol.clone());
        known.decimals = known.decimals.or(token.decimals);
    }

    /// The known symbol and decimals of a token. The letter case of the address does not matter.
    pub fn of(&self, address: &str) -> Option<&Token> {
        self.0.get(&address.to_ascii_lowercase())
    }

    /// Everything that is known, in the order of the addresses.
    pub fn all(&self) -> impl Iterator<Item = &Token> {
        self.0.values()
    }
}

/// A number of decimals, in any JSON number notation; none when it does not fit 8 bits.
fn decimals(value: &Value) -> Option<u8> {
    let value = value.is_number().then(|| amount(value)).flatten()?;
    u8::try_from(&value).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_values_are_kept() {
        let mut facts = TokenFacts::default();
        facts.learn(&json!({"feeQuotes": [
            {"tokenAddress": "0xAB", "symbol": "ONE", "decimal": 6.0},
            {"tokenAddress": "0xCD", "decimal": "18"},
            {"symbol": "NONE", "decimal": 1},
        ]}));
        facts.learn(&json!({"feeQuotes": [
            {"tokenAddress": "0xab", "symbol": "TWO", "decimal": 18},
            {"tokenAddress": "0xcd", "symbol": "CD", "decimal": 1.5},
            {"tokenAddress": "0xcd", "symbol": null, "decimal": 256},
        ]}));
        facts.learn(&json!({"paymasterAndData": "0x"}));
        let one = facts.of("0xaB").unwrap();
        assert_eq!((one.symbol.as_deref(), one.decimals), (Some("ONE"), Some(6)));
        let other = facts.of("0xcd").unwrap();
        assert_eq!((other.symbol.as_deref(), other.decimals), (Some("CD"), None));
        assert_eq!(facts.all().count(), 2);
        assert_eq!(facts.of("0xef"), None);
    }
}
