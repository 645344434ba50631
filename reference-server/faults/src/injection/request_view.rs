//! What an injection reads of a request: its bytes and its JSON.

use std::time::Duration;

use alloy_primitives::U256;
use hyper::HeaderMap;
use paymaster_schemas::{Kind, Mode, kinds};
use paymaster_service::{EntryPoint, PolicyConfig, pair_of};
use serde_json::{Map, Value, json};

use super::change::{json as parsed, text_of};
use super::memory::Memory;

/// The largest integer up to which a double holds each one.
const LARGEST_SAFE_INTEGER: i128 = (1 << 53) - 1;

/// The gas limits of an operation.
pub(crate) const GAS_LIMITS: [&str; 3] = ["callGasLimit", "verificationGasLimit", "preVerificationGas"];

/// The gas limits of the paymaster.
pub(crate) const PAYMASTER_LIMITS: [&str; 2] = ["paymasterVerificationGasLimit", "paymasterPostOpGasLimit"];

/// The address of EntryPoint 0.7.
pub(crate) const ENTRY_POINT_07: &str = "0x0000000071727De22E5E9d8BAf0edAc6f37da032";

/// What is known of a request beside its body.
#[derive(Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) headers: &'a HeaderMap,
    /// How many requests are answered at this time, this one included.
    pub(crate) in_flight: usize,
    /// How long its connection was idle before it.
    pub(crate) idle: Duration,
}

/// A request as an injection reads it.
pub(crate) struct RequestView<'a> {
    /// The bytes of the body, or of one element of a batch.
    pub(crate) raw: &'a [u8],
    /// The parsed JSON; null when the bytes are not JSON.
    pub(crate) request: &'a Value,
    /// Its headers, and the other requests in flight.
    pub(crate) arrival: Arrival<'a>,
    /// What this injection remembers of earlier requests.
    pub(crate) memory: &'a Memory,
    /// The addresses of the supported tokens, in the order of the configuration.
    pub(crate) tokens: &'a [String],
}

impl RequestView<'_> {
    /// The method and mode of the request; none unless both are known and the params are two objects.
    pub(crate) fn pair(&self) -> Option<Kind> {
        self.operation().is_object().then(|| pair_of(self.request))?
    }

    pub(crate) fn is(&self, pair: Kind) -> bool {
        self.pair() == Some(pair)
    }

    pub(crate) fn is_sponsored_mode(&self) -> bool {
        self.pair().is_some_and(|pair| Mode::of(pair) == Mode::Sponsored)
    }

    pub(crate) fn is_token_mode(&self) -> bool {
        self.pair().is_some_and(|pair| Mode::of(pair) == Mode::Erc20)
    }

    pub(crate) fn is_quote(&self) -> bool {
        self.pair().is_some_and(kinds::is_quote)
    }

    pub(crate) fn is_sponsor(&self) -> bool {
        self.pair().is_some_and(|pair| !kinds::is_quote(pair))
    }

    /// Whether this calls `pm_getPaymasterStubData` with an operation.
    pub(crate) fn is_stub(&self) -> bool {
        self.request["method"] == "pm_getPaymasterStubData" && self.operation().is_object()
    }

    /// Whether this calls `pm_getPaymasterData` with an operation.
    pub(crate) fn is_data(&self) -> bool {
        self.request["method"] == "pm_getPaymasterData" && self.operation().is_object()
    }

    /// Whether this is a stub or a data request.
    pub(crate) fn is_paymaster_call(&self) -> bool {
        self.is_stub() || self.is_data()
    }

    /// The EntryPoint of a call of ERC-7677; none for other requests, and when it is not known.
    pub(crate) fn entry_point(&self) -> Option<EntryPoint> {
        let address = self.request["params"][1].as_str().filter(|_| self.is_paymaster_call())?;
        EntryPoint::at(address.parse().ok()?)
    }

    /// Whether it names this EntryPoint.
    pub(crate) fn is_for(&self, entry_point: EntryPoint) -> bool {
        self.entry_point() == Some(entry_point)
    }

    /// The context of a call of ERC-7677; null when it is missing.
    pub(crate) fn context(&self) -> &Value {
        &self.request["params"][3]
    }

    /// Whether it names an EntryPoint after 0.6.
    pub(crate) fn is_later(&self) -> bool {
        self.entry_point().is_some_and(|entry_point| entry_point != EntryPoint::V06)
    }

    /// Whether this is a well-formed call of one of the methods, and not a notification.
    pub(crate) fn is_call(&self) -> bool {
        let version = self.request["jsonrpc"].as_str();
        let is_known = self.pair().is_some() || self.entry_point().is_some();
        is_known && self.has_id() && matches!(version, Some("2.0" | "2.0.0"))
    }

    /// Whether the id is a string or a number.
    pub(crate) fn has_id(&self) -> bool {
        self.id().is_string() || self.id().is_number()
    }

    /// The id; null when it is missing.
    pub(crate) fn id(&self) -> &Value {
        &self.request["id"]
    }

    /// The id, if it is a string.
    pub(crate) fn id_string(&self) -> Option<&str> {
        self.id().as_str()
    }

    /// The id as written in the request, if it is a number.
    pub(crate) fn id_number(&self) -> Option<String> {
        self.id().is_number().then(|| self.id().to_string())
    }

    /// The operation (`params[0]`); null when it is missing. The three methods below do the same.
    pub(crate) fn operation(&self) -> &Value {
        &self.request["params"][0]
    }

    /// Whether the operation has no such member.
    pub(crate) fn lacks(&self, member: &str) -> bool {
        self.operation().get(member).is_none()
    }

    /// Whether the mode object has no such member.
    pub(crate) fn omits(&self, member: &str) -> bool {
        self.mode_object().get(member).is_none()
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

    /// The members of `webhookData` in sponsored mode.
    pub(crate) fn webhook_data(&self) -> impl Iterator<Item = (&String, &Value)> {
        let data = self.sponsorship_info()["webhookData"].as_object();
        data.into_iter().filter(|_| self.is_sponsored_mode()).flatten()
    }

    /// Whether the sender is the one that the service refuses.
    pub(crate) fn is_denied(&self) -> bool {
        self.text("sender").eq_ignore_ascii_case(PolicyConfig::DENIED_SENDER)
    }

    /// Whether `calculateGasLimits` is present and equals `expected`.
    pub(crate) fn calculates(&self, expected: bool) -> bool {
        self.mode_object()["calculateGasLimits"] == expected
    }

    /// An amount of the operation, written in hex, decimal digits or as a JSON number.
    pub(crate) fn amount(&self, member: &str) -> Option<U256> {
        let text = text_of(&self.operation()[member]);
        let (digits, radix) = text.strip_prefix("0x").map_or((&*text, 10), |digits| (digits, 16));
        U256::from_str_radix(digits, radix).ok()
    }

    /// Length of a hex member of the operation, in bytes; 0 when it is missing.
    pub(crate) fn byte_count(&self, member: &str) -> usize {
        self.text(member).len().saturating_sub(2) / 2
    }

    /// Whether the operation deploys its account.
    pub(crate) fn has_init_code(&self) -> bool {
        self.byte_count("initCode") > 0
    }

    /// A member of the operation, if it is a string; empty otherwise.
    pub(crate) fn text(&self, member: &str) -> &str {
        self.operation()[member].as_str().unwrap_or_default()
    }

    /// The preferred token of a quote request.
    pub(crate) fn preferred(&self) -> Option<&str> {
        self.token_info()["preferredToken"].as_str()
    }

    /// Whether this is the preferred token of a quote request.
    pub(crate) fn prefers(&self, token: &str) -> bool {
        self.preferred().is_some_and(|preferred| preferred.eq_ignore_ascii_case(token))
    }

    /// How often the token list of a quote request has this token.
    pub(crate) fn times_listed(&self, token: &str) -> usize {
        self.token_list().iter().filter(|listed| listed.eq_ignore_ascii_case(token)).count()
    }

    /// The token list of a quote request; empty when it is missing.
    pub(crate) fn token_list(&self) -> Vec<&str> {
        let list = self.token_info()["tokenList"].as_array();
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The preferred token and the token list of a quote request.
    pub(crate) fn named_tokens(&self) -> impl Iterator<Item = &str> {
        self.preferred().into_iter().chain(self.token_list())
    }

    /// Whether it is a quote request with a preferred token and a token list.
    pub(crate) fn names_both(&self) -> bool {
        self.is(kinds::QUOTE_ERC20) && self.preferred().is_some() && !self.token_list().is_empty()
    }

    /// The token that the user pays in, under either of its two names.
    pub(crate) fn fee_token(&self) -> Option<&str> {
        let info = self.token_info();
        let token = info.get("feeTokenAddress").or_else(|| info.get("tokenAddress"));
        token.and_then(Value::as_str)
    }

    /// Whether the request sponsors in token mode with such a token.
    pub(crate) fn pays_in(&self, is_such: impl FnOnce(&str) -> bool) -> bool {
        self.is(kinds::SPONSOR_ERC20) && self.fee_token().is_some_and(is_such)
    }

    /// Whether the request sponsors in token mode and names no token to pay in.
    pub(crate) fn omits_fee_token(&self) -> bool {
        self.is(kinds::SPONSOR_ERC20) && self.fee_token().is_none_or(str::is_empty)
    }

    /// Whether the second parameter has a member that section 2 does not list.
    pub(crate) fn has_unlisted_mode_member(&self) -> bool {
        const LISTED: [&str; 5] =
            ["mode", "calculateGasLimits", "expiryDuration", "sponsorshipInfo", "tokenInfo"];
        let members = self.mode_object().as_object();
        members.is_some_and(|members| members.keys().any(|key| !LISTED.contains(&key.as_str())))
    }

    /// Whether the request sponsors in token mode with a token that the service does not support.
    pub(crate) fn names_unsupported_fee_token(&self) -> bool {
        self.pays_in(|token| !token.is_empty() && !self.supports(token))
    }

    /// Whether the service supports this token address, in any letter case.
    pub(crate) fn supports(&self, token: &str) -> bool {
        self.tokens.iter().any(|known| known.eq_ignore_ascii_case(token))
    }

    /// Whether this is the token at this place of the configuration.
    pub(crate) fn supports_as(&self, place: usize, token: &str) -> bool {
        self.tokens.get(place).is_some_and(|known| known.eq_ignore_ascii_case(token))
    }

    /// Whether the id is an integer that a double does not hold.
    pub(crate) fn has_large_id(&self) -> bool {
        let number = self.id_number().and_then(|digits| digits.parse::<i128>().ok());
        number.is_some_and(|number| number.abs() > LARGEST_SAFE_INTEGER)
    }

    /// The id, rounded as a JSON parser with doubles does.
    pub(crate) fn rounded_id(&self) -> Value {
        parsed(&text_of(self.id()).parse::<f64>().unwrap_or_default().to_string())
    }

    /// The first result with this key instead of the own one.
    pub(crate) fn repeat(&self, result: &mut Map<String, Value>, key: String) {
        if let Value::Object(first) = self.memory.first(key, &Value::Object(result.clone())) {
            *result = first;
        }
    }

    /// The value of a request header; empty where the request has none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.arrival.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Whether `Accept-Encoding` has this content coding.
    pub(crate) fn accepts_coding(&self, coding: &str) -> bool {
        let mut accepted = self.header("accept-encoding").split([',', ';']);
        accepted.any(|accepted| accepted.trim().eq_ignore_ascii_case(coding))
    }

    /// Whether the request permits this content coding. One without `Accept-Encoding` permits all of them.
    pub(crate) fn permits_coding(&self, coding: &str) -> bool {
        self.header("accept-encoding").is_empty() || self.accepts_coding(coding)
    }

    /// The text of an error response to this request.
    pub(crate) fn error_answer(&self, code: i32, message: &str) -> String {
        let version = self.request["jsonrpc"].as_str().unwrap_or("2.0");
        let id = if self.has_id() { self.id() } else { &Value::Null };
        json!({ "jsonrpc": version, "id": id, "error": { "code": code, "message": message } }).to_string()
    }

    /// Whether the same bytes came before.
    pub(crate) fn is_repeated(&self) -> bool {
        self.memory.count_of(&String::from_utf8_lossy(self.raw)) > 1
    }

    /// True once in every `period` evaluations of this condition. Once in 25 is so rare that a single request of each kind seldom shows
    /// the fault.
    pub(crate) fn is_one_in(&self, period: u64) -> bool {
        self.memory.count().is_multiple_of(period)
    }
}
