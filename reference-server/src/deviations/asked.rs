//! What a deviation may look at: the request, as it was sent and as it reads.

use alloy_primitives::U256;
use paymaster_schemas::{Method, Mode, Pair};
use serde_json::Value;

use super::memory::Memory;

/// A request and what surrounds it.
pub(crate) struct Asked<'a> {
    /// The bytes of the request: of the body, or of one element of a batch.
    pub(crate) raw: &'a [u8],
    /// The same as JSON; null where it is none.
    pub(crate) request: &'a Value,
    /// What this deviation remembers of earlier requests.
    pub(crate) memory: &'a Memory,
    /// The supported tokens, in the order of the configuration.
    pub(crate) tokens: &'a [String],
}

impl Asked<'_> {
    /// The method and mode asked for, where both are known ones and the params are two objects.
    pub(crate) fn pair(&self) -> Option<Pair> {
        if !self.operation().is_object() || !self.mode_object().is_object() {
            return None;
        }
        let method = Method::from_name(self.request["method"].as_str()?)?;
        let mode = match (method, self.mode_object().get("mode")) {
            (_, Some(name)) => Mode::from_name(name.as_str()?)?,
            (Method::GetFeeQuoteOrData, None) if has_members(self.token_info()) => Mode::Erc20,
            (Method::GetFeeQuoteOrData, None) => Mode::Sponsored,
            (Method::SponsorUserOperation, None) => return None,
        };
        Some(Pair { method, mode })
    }

    pub(crate) fn is(&self, pair: Pair) -> bool {
        self.pair() == Some(pair)
    }

    pub(crate) fn is_sponsored_mode(&self) -> bool {
        self.pair().is_some_and(|pair| pair.mode == Mode::Sponsored)
    }

    pub(crate) fn is_token_mode(&self) -> bool {
        self.pair().is_some_and(|pair| pair.mode == Mode::Erc20)
    }

    pub(crate) fn is_quote(&self) -> bool {
        self.pair()
            .is_some_and(|pair| pair.method == Method::GetFeeQuoteOrData)
    }

    pub(crate) fn is_sponsor(&self) -> bool {
        self.pair()
            .is_some_and(|pair| pair.method == Method::SponsorUserOperation)
    }

    /// Whether this is a whole request of one of the two methods that is to be answered.
    pub(crate) fn is_call(&self) -> bool {
        let version = self.request["jsonrpc"].as_str();
        self.pair().is_some() && self.has_id() && matches!(version, Some("2.0" | "2.0.0"))
    }

    /// Whether there is an id that can be echoed.
    pub(crate) fn has_id(&self) -> bool {
        self.id().is_string() || self.id().is_number()
    }

    /// The id; null where there is none.
    pub(crate) fn id(&self) -> &Value {
        &self.request["id"]
    }

    /// The id's text, where it is a string.
    pub(crate) fn id_string(&self) -> Option<&str> {
        self.id().as_str()
    }

    /// The id's digits as they were sent, where it is a number.
    pub(crate) fn id_number(&self) -> Option<String> {
        self.id().is_number().then(|| self.id().to_string())
    }

    /// The operation; null where there is none, as with the others below.
    pub(crate) fn operation(&self) -> &Value {
        &self.request["params"][0]
    }

    pub(crate) fn mode_object(&self) -> &Value {
        &self.request["params"][1]
    }

    pub(crate) fn token_info(&self) -> &Value {
        &self.mode_object()["tokenInfo"]
    }

    pub(crate) fn sponsorship_info(&self) -> &Value {
        &self.mode_object()["sponsorshipInfo"]
    }

    /// Whether calculateGasLimits is there and is `wanted`.
    pub(crate) fn calculates(&self, wanted: bool) -> bool {
        self.mode_object()["calculateGasLimits"] == wanted
    }

    /// An amount of the operation, in any of its notations.
    pub(crate) fn amount(&self, member: &str) -> Option<U256> {
        let value = &self.operation()[member];
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        match text.strip_prefix("0x") {
            Some(digits) => U256::from_str_radix(digits, 16).ok(),
            None => U256::from_str_radix(&text, 10).ok(),
        }
    }

    /// How many bytes a hex member of the operation has; 0 where it is missing.
    pub(crate) fn byte_count(&self, member: &str) -> usize {
        let text = self.operation()[member].as_str().unwrap_or_default();
        text.len().saturating_sub(2) / 2
    }

    /// Whether the operation brings its account's code.
    pub(crate) fn has_init_code(&self) -> bool {
        self.byte_count("initCode") > 0
    }

    /// The preferred token of a quote.
    pub(crate) fn preferred(&self) -> Option<&str> {
        self.token_info()["preferredToken"].as_str()
    }

    /// The token list of a quote; empty where there is none.
    pub(crate) fn token_list(&self) -> Vec<&str> {
        let list = self.token_info()["tokenList"].as_array();
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The token that a sponsorship is to be paid in, under either name.
    pub(crate) fn fee_token(&self) -> Option<&str> {
        let info = self.token_info();
        let named = info.get("feeTokenAddress").or_else(|| info.get("tokenAddress"));
        named.and_then(Value::as_str)
    }

    /// Whether the service supports that token.
    pub(crate) fn supports(&self, token: &str) -> bool {
        self.tokens.iter().any(|known| known.eq_ignore_ascii_case(token))
    }

    /// Whether this is one of every `period` requests for which the question is put.
    pub(crate) fn is_one_in(&self, period: u64) -> bool {
        self.memory.count().is_multiple_of(period)
    }

    /// One of 25: seldom enough to be overlooked by a single try of each kind.
    pub(crate) fn now_and_then(&self) -> bool {
        self.is_one_in(25)
    }
}

fn has_members(value: &Value) -> bool {
    value.as_object().is_some_and(|object| !object.is_empty())
}
