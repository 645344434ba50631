//! What the target's first quotes show and later quotes are compared with: the paymaster's address, and the price of each token.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The paymaster's address and the prices of tokens, as the target's first quotes show them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct QuotedFacts {
    /// `paymasterAddress`, in lower case.
    pub paymaster: Option<String>,
    /// US dollars for one token, by lower-case address.
    prices: BTreeMap<String, f64>,
}

/// No case is drawn from these facts, so that they make no difference between two contexts.
impl PartialEq for QuotedFacts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl QuotedFacts {
    /// Adds the result of a quote in token mode. Known values stay.
    pub fn learn(&mut self, result: &Value) {
        if self.paymaster.is_none() {
            self.paymaster = result["paymasterAddress"].as_str().map(str::to_ascii_lowercase);
        }
        for quote in result["feeQuotes"].as_array().into_iter().flatten() {
            if let (Some(address), Some(price)) = (quote["tokenAddress"].as_str(), price(quote)) {
                self.prices.entry(address.to_ascii_lowercase()).or_insert(price);
            }
        }
    }

    /// US dollars for one token, as the target's first quote for it shows.
    pub fn price(&self, address: &str) -> Option<f64> {
        self.prices.get(&address.to_ascii_lowercase()).copied()
    }
}

/// US dollars for one token, from the two fees of a quote. None for fees that are so small that rounding decides.
pub(crate) fn price(quote: &Value) -> Option<f64> {
    /// The smallest fee that is compared, in dollars.
    const SMALLEST_USD: f64 = 0.01;
    /// The smallest fee that is compared, in the smallest units of the token.
    const SMALLEST_UNITS: f64 = 100.0;
    let (fee, usd) = (quote["maxGasFee"].as_f64()?, quote["maxGasFeeUSD"].as_f64()?);
    let decimals = i32::try_from(quote["decimal"].as_u64()?).ok()?;
    let units = fee * 10_f64.powi(decimals);
    (usd >= SMALLEST_USD && units >= SMALLEST_UNITS).then(|| usd / fee)
}
