//! What the target's first quotes show and later quotes are compared with: the paymaster's address, the price of each token, and the
//! units of `validUntil`.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use paymaster_engine::json::amount;

use crate::target::Token;

/// The paymaster's address and the prices of tokens, as the target's first quotes show them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct QuotedFacts {
    /// `paymasterAddress`, in lower case.
    pub paymaster: Option<String>,
    /// US dollars for one token, by lower-case address.
    prices: BTreeMap<String, f64>,
    /// The exchange rate of a token, by lower-case address.
    rates: BTreeMap<String, f64>,
    /// The first `validUntil` in each unit, and how many had that unit. A replay does not compare with it: the quote of then proves nothing
    /// about the target of now.
    #[serde(skip)]
    units: Vec<(&'static str, BigUint, usize)>,
}

/// The units of a time since 1970, and how many nanoseconds each has. Section 2.8 does not show the unit.
const UNITS: [(&str, u128); 7] = [
    ("nanoseconds", 1),
    ("microseconds", 1_000),
    ("milliseconds", 1_000_000),
    ("seconds", 1_000_000_000),
    ("minutes", 60_000_000_000),
    ("hours", 3_600_000_000_000),
    ("days", 86_400_000_000_000),
];

/// The unit in which a time since 1970 lies between a day before `now` and a year after it, and the end of the time in seconds: a minute
/// ends with its last second. None for other values, such as 0 or the largest number that a clock can show, which prove no unit.
pub fn unit_of(time: &BigUint, now: SystemTime) -> Option<(&'static str, u64)> {
    const DAY: u64 = 86_400;
    let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let near = now.saturating_sub(DAY)..=now + 366 * DAY;
    // A number with more digits is near in no unit.
    let after = u128::try_from(time).ok()?.checked_add(1)?;
    let end = |nanoseconds: u128| u64::try_from(after.checked_mul(nanoseconds)? / 1_000_000_000).ok();
    let mut units = UNITS.into_iter().filter_map(|(unit, nanoseconds)| Some((unit, end(nanoseconds)?)));
    units.find(|(_, end)| near.contains(end))
}

/// No case is drawn from these facts, so that they make no difference between two contexts.
impl PartialEq for QuotedFacts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl QuotedFacts {
    /// Adds the result of a quote in token mode, which came at `received`. Known values stay.
    pub fn learn(&mut self, result: &Value, received: Option<SystemTime>) {
        if self.paymaster.is_none() {
            self.paymaster = result["paymasterAddress"].as_str().map(str::to_ascii_lowercase);
        }
        for quote in result["feeQuotes"].as_array().into_iter().flatten() {
            if let (Some(address), Some(price)) = (quote["tokenAddress"].as_str(), price(quote)) {
                self.prices.entry(address.to_ascii_lowercase()).or_insert(price);
            }
            if let (Some(address), Some(rate)) = (quote["tokenAddress"].as_str(), rate(quote)) {
                self.rates.entry(address.to_ascii_lowercase()).or_insert(rate);
            }
            let until = amount(&quote["validUntil"]).filter(|_| quote["validUntil"].is_number());
            if let (Some(until), Some(received)) = (until, received)
                && let Some((unit, _)) = unit_of(&until, received)
            {
                match self.units.iter_mut().find(|(known, ..)| *known == unit) {
                    Some((_, _, count)) => *count += 1,
                    None => self.units.push((unit, until, 1)),
                }
            }
        }
    }

    /// The unit of most times, the earlier one of two with as many, and the first time in it.
    pub fn usual_unit(&self) -> Option<(&'static str, &BigUint)> {
        let usual = self.units.iter().rev().max_by_key(|(_, _, count)| count);
        usual.map(|(unit, until, _)| (*unit, until))
    }

    /// The exchange rate of a token in the target's first quote for it.
    pub fn rate(&self, address: &str) -> Option<f64> {
        self.rates.get(&address.to_ascii_lowercase()).copied()
    }

    /// US dollars for one token, as the target's first quote for it shows.
    pub fn price(&self, address: &str) -> Option<f64> {
        self.prices.get(&address.to_ascii_lowercase()).copied()
    }
}

/// The exchange rate of a quote, as exactly as a comparison by orders of magnitude needs it.
pub(crate) fn rate(quote: &Value) -> Option<f64> {
    amount(&quote["exchangeRate"])?.to_string().parse().ok()
}

/// US dollars for one token, from the two fees of a quote. None for fees that are so small that rounding decides, to a cent or to a unit of
/// the token.
pub(crate) fn price(quote: &Value) -> Option<f64> {
    /// The smallest fee that is compared, in dollars.
    const SMALLEST_USD: f64 = 0.01;
    let usd = quote["maxGasFeeUSD"].as_f64()?;
    (usd >= SMALLEST_USD && has_exact_fee(quote))
        .then(|| usd / quote["maxGasFee"].as_f64().unwrap_or(f64::NAN))
}

/// Whether the fee of a quote is so many of the smallest units of the token that rounding to a unit does not decide. What is less than a unit
/// is not rounded.
pub(crate) fn has_exact_fee(quote: &Value) -> bool {
    /// The smallest fee that is compared, in units.
    const SMALLEST_UNITS: f64 = 100.0;
    let decimals = amount(&quote["decimal"]).and_then(|decimals| i32::try_from(decimals).ok());
    let units = quote["maxGasFee"].as_f64().zip(decimals).map(|(fee, decimals)| fee * 10_f64.powi(decimals));
    units.is_some_and(|units| units >= SMALLEST_UNITS || units > 0.0 && units < 0.5)
}

// Symbol and decimals of tokens, as the target's quotes show them (section 2.8). Both are the same in every quote for a token.

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
    fn a_fee_of_few_units_shows_no_price() {
        // A token of two decimals has no fee between 0 and 0.01.
        for (fee, decimals, is_exact) in
            [(0.01, 2, false), (0.99, 2, false), (1.0, 2, true), (0.000_1, 18, true)]
        {
            let quote = json!({"maxGasFee": fee, "decimal": decimals, "maxGasFeeUSD": fee});
            assert_eq!(has_exact_fee(&quote), is_exact, "{quote}");
            assert_eq!(price(&quote).is_some(), is_exact && fee >= 0.01, "{quote}");
        }
    }

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
