//! What calls and results of the fee-quote specification name.

use std::{collections::BTreeSet, time::Duration};

use paymaster_engine::cases::{BuildInput, with};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::{Call, Called};
use paymaster_engine::rules::View;
use paymaster_engine::specification::{Counted, DecidingValues};
use paymaster_engine::spending::Wei;
use paymaster_ethereum::most_cost;
use paymaster_schemas::{Kind, Mode, kinds, member_validator};
use serde_json::{Value, json};

use crate::target::{Context, Support};

/// The tokens of a request, in the spelling of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedTokens<'a> {
    /// `tokenInfo.preferredToken`.
    pub preferred: Option<&'a str>,
    /// `tokenInfo.tokenList`; none when the member is absent.
    pub list: Option<Vec<&'a str>>,
    /// `tokenInfo.feeTokenAddress`, or its alias `tokenAddress`.
    pub fee: Option<&'a str>,
}

impl<'a> RequestedTokens<'a> {
    fn read(info: &'a Value) -> Self {
        let text = |member: &str| info[member].as_str();
        Self {
            preferred: text("preferredToken"),
            list: info["tokenList"].as_array().map(|list| list.iter().filter_map(Value::as_str).collect()),
            fee: text("feeTokenAddress").or_else(|| text("tokenAddress")),
        }
    }

    /// The tokens of preferredToken and tokenList, in lower case.
    pub fn quoted(&self) -> BTreeSet<String> {
        let listed = self.list.iter().flatten();
        listed.copied().chain(self.preferred).map(str::to_ascii_lowercase).collect()
    }
}

/// How many tokens a request names: for quotes supported and not supported ones as far as that is known, all, those both preferred and listed, and
/// those in the list alone. To pay in: 1 or 0.
pub fn counts(request: &Value, knowledge: &dyn Knowledge) -> Vec<(Counted, usize)> {
    let tokens = RequestedTokens::read(&request["params"][1]["tokenInfo"]);
    let (named, context) = (tokens.quoted(), Context::of(knowledge));
    let has = |support: Support| move |token: &&str| context.support(token) == support;
    let to_pay_in = |what, token: Option<&str>| {
        (Counted { pointer: "/params/1/tokenInfo/feeTokenAddress", what }, usize::from(token.is_some()))
    };
    let mut counts = vec![
        to_pay_in("supported token to pay in", tokens.fee.filter(has(Support::Supported))),
        to_pay_in("token to pay in", tokens.fee),
        to_pay_in("unsupported token to pay in", tokens.fee.filter(has(Support::Unsupported))),
    ];
    // Without a token, which are quoted is open.
    if named.is_empty() {
        return counts;
    }
    let counted = |what| Counted { pointer: "/params/1/tokenInfo", what };
    let listed = |what| Counted { pointer: "/params/1/tokenInfo/tokenList", what };
    let of = |support| named.iter().map(String::as_str).filter(has(support)).count();
    let is_preferred =
        |token: &&str| tokens.preferred.is_some_and(|preferred| preferred.eq_ignore_ascii_case(token));
    let list = || tokens.list.iter().flatten().copied();
    let only_listed = list().filter(has(Support::Unsupported)).filter(|token| !is_preferred(token)).count();
    counts.extend([
        (counted("supported token"), of(Support::Supported)),
        (counted("unsupported token"), of(Support::Unsupported)),
        (counted("token"), named.len()),
        (counted("preferred token in the list"), list().filter(is_preferred).count()),
        (listed("listed token"), list().count()),
        (listed("unsupported token in the list alone"), only_listed),
    ]);
    counts
}

/// The parts of a call (sections 2.2 to 2.5).
pub trait CallParts {
    /// The partial user operation.
    fn operation(&self) -> &Value;
    /// The mode object.
    fn mode_object(&self) -> &Value;
    /// The tokens that it names.
    fn tokens(&self) -> RequestedTokens<'_>;
    /// The name of the smart account, where the request gives one.
    fn account(&self) -> Option<&str>;
}

impl CallParts for Call {
    fn operation(&self) -> &Value {
        &self.envelope["params"][0]
    }

    fn mode_object(&self) -> &Value {
        &self.envelope["params"][1]
    }

    fn tokens(&self) -> RequestedTokens<'_> {
        RequestedTokens::read(&self.mode_object()["tokenInfo"])
    }

    fn account(&self) -> Option<&str> {
        self.mode_object()["sponsorshipInfo"]["smartAccountInfo"]["name"].as_str()
    }
}

/// The tokens that the result of a quote quotes, lower case.
pub(crate) fn quoted_tokens(result: &Value) -> BTreeSet<String> {
    addresses(&result["feeQuotes"], |quote| &quote["tokenAddress"])
}

/// The tokens that the result of a quote lists as unsupported, lower case.
pub(crate) fn unsupported_tokens(result: &Value) -> BTreeSet<String> {
    addresses(&result["unsupportedTokens"], |token| token)
}

fn addresses(list: &Value, address: fn(&Value) -> &Value) -> BTreeSet<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| Some(address(item).as_str()?.to_ascii_lowercase())).collect()
}

/// What a request calls (sections 2.1 and 2.3).
pub(crate) fn called(envelope: &Value) -> Called {
    let of_method = kinds::ALL.into_iter().find(|kind| envelope["method"] == kind.method);
    let Some(method) = of_method.map(|kind| kind.method) else { return Called::Unknown };
    let mode = &envelope["params"][1];
    let named = mode["mode"].as_str().and_then(Mode::from_name);
    match named.and_then(|mode| kinds::of(method, mode)) {
        Some(kind) => Called::Kind(kind),
        None => Called::WithoutKind {
            method,
            is_absent: mode.as_object().is_some_and(|mode| mode.get("mode").is_none_or(Value::is_null)),
        },
    }
}

/// Whether the call sponsors in token mode and its fee token is missing, null or an empty string. It is not valid, but the specification
/// shows its answer (section 4.2, rule 4).
pub(crate) fn omits_fee_token(call: &Call) -> bool {
    let absent = match call.mode_object().get("tokenInfo") {
        None => true,
        Some(Value::Object(info)) => ["feeTokenAddress", "tokenAddress"]
            .iter()
            .filter_map(|name| info.get(*name))
            .all(|token| token.is_null() || token == ""),
        Some(_) => false,
    };
    call.pair == kinds::SPONSOR_ERC20 && absent
}

/// Whether section 7 leaves the code of the refusal open: it shows none for a missing or invalid fee token.
pub(crate) fn is_refused_with_any_code(call: &Call) -> bool {
    let address = member_validator("token-info", "feeTokenAddress");
    let has_fee_token =
        || call.tokens().fee.zip(address).is_some_and(|(token, address)| address.is_valid(&token.into()));
    call.pair == kinds::SPONSOR_ERC20 && !has_fee_token()
}

/// Whether a result sponsors the operation (section 4.2).
pub(crate) fn grants(result: &Value) -> bool {
    result["paymasterAndData"] != "0x"
}

/// What a request asks the target to pay: the gas of the operation, where it sponsors without a token. A service may take another mode than
/// the one of token mode for it.
pub(crate) fn asks_for(request: &Value) -> Option<Wei> {
    let sponsors = request["method"] == kinds::SPONSOR;
    let in_tokens = request["params"][1]["mode"].as_str().and_then(Mode::from_name) == Some(Mode::Erc20);
    (sponsors && !in_tokens).then(|| Wei(most_cost(&request["params"][0])))
}

/// What a target may decide by: the sender, the tokens, the account.
pub(crate) fn deciding(call: &Call) -> DecidingValues<'_> {
    let operation = call.operation();
    let init_code = operation["initCode"].as_str();
    let tokens = call.tokens();
    let one = [
        ("method", Some(call.pair.method)),
        ("mode", Some(Mode::of(call.pair).into_str())),
        ("sender", operation["sender"].as_str()),
        ("initCode", init_code.map(|code| if code == "0x" { code } else { "other than 0x" })),
        ("preferredToken", tokens.preferred),
        ("feeTokenAddress", tokens.fee.or(omits_fee_token(call).then_some("absent"))),
        ("smart account", call.account()),
    ];
    let one = one.into_iter().filter_map(|(member, value)| Some((member, value?)));
    let all = one.chain(tokens.list.into_iter().flatten().map(|token| ("tokenList with", token)));
    all.map(|(member, value)| (member, value.into())).collect()
}

/// Every quote of a result in token mode, with its index.
pub(crate) fn quotes<'a>(view: &'a View<'_>) -> impl Iterator<Item = (usize, &'a Value)> {
    let call = view.valid_call().filter(|call| call.pair == kinds::QUOTE_ERC20);
    let result = call.and_then(|_| view.answer.result());
    result.and_then(|result| result["feeQuotes"].as_array()).into_iter().flatten().enumerate()
}

/// The sort of result that a call of this kind gets, in words.
pub(crate) fn sort_of_kind(kind: Kind) -> &'static str {
    match kind {
        kinds::QUOTE_ERC20 => "quotes, of ERC20 mode",
        kinds::SPONSOR_ERC20 => "a result of ERC20 mode",
        _ => "a result of SPONSORED mode",
    }
}

/// The sort of a result, in words; none where it names no mode. A member of another mode may be there, and empty.
pub(crate) fn sort_of_result(result: &Value) -> Option<&'static str> {
    let mode = result.get("MODE").or_else(|| result.get("mode"))?;
    let has_data = result["paymasterAndData"].as_str().is_some_and(|data| !data.is_empty());
    match (Mode::from_name(mode.as_str()?)?, result.get("feeQuotes").is_some() && !has_data) {
        (Mode::Erc20, true) => Some("quotes, of ERC20 mode"),
        (Mode::Erc20, false) => Some("a result of ERC20 mode"),
        (Mode::Sponsored, true) => Some("quotes, of SPONSORED mode"),
        (Mode::Sponsored, false) => Some("a result of SPONSORED mode"),
    }
}

/// A quote for the same operation in the other mode; none when no supported token or account is known.
pub(crate) fn in_other_mode(input: &BuildInput<'_>) -> Option<Value> {
    let operations = &Context::of(input.context).profile.operations;
    if !operations.serves(Mode::Sponsored) || !operations.serves(Mode::Erc20) {
        return None;
    }
    let mode = match Mode::of(input.pair) {
        Mode::Sponsored => {
            let token = Context::of(input.context).tokens_with(Support::Supported).next()?;
            let info = json!({ "preferredToken": token, "tokenList": [token] });
            json!({ "mode": "ERC20", "calculateGasLimits": true, "tokenInfo": info })
        }
        Mode::Erc20 => {
            let info = Context::of(input.context).sponsorship_info();
            let name = &Context::of(input.context).dialect.sponsored_name;
            json!({ "mode": name, "calculateGasLimits": true, "sponsorshipInfo": info })
        }
    };
    let quote = with(input.base, "", "method", kinds::QUOTE_ERC20.method);
    Some(with(&quote, "", "params", json!([input.base["params"][0], mode])))
}

/// An answer that is right in form. It has the members of every kind of result: rules read those of the method and mode alone.
pub(super) fn right_answer(call: &Call, now: Duration) -> Value {
    let mode = Mode::of(call.pair).into_str();
    let paymaster = format!("0x{}", "57".repeat(20));
    let quotes = call.tokens().quoted().into_iter().map(|token| {
        json!({
            "symbol": "USDC", "decimal": 6, "tokenAddress": token, "maxGasFee": 0.5, "maxGasFeeUSD": 0.5, "exchangeRate": 1_000_000,
            "premiumPercentage": "7", "validUntil": now.as_secs() + 60, "logoUrl": "https://example.org/logo.png",
        })
    });
    let result = json!({
        "MODE": mode, "mode": mode, "paymasterAddress": paymaster, "feeQuotes": quotes.collect::<Vec<_>>(), "unsupportedTokens": [],
        "paymasterAndData": format!("{paymaster}{}", "5a".repeat(65)), "preVerificationGas": "50000",
        "verificationGasLimit": 100_000, "callGasLimit": 50_000,
    });
    json!({ "jsonrpc": call.envelope["jsonrpc"], "id": call.id, "result": result })
}
