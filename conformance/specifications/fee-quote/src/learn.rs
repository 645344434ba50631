//! Learns dialect and tokens of the target from its traffic. The profile takes precedence.
//!
//! The tokens of the target are assumed to stay the same during a recording. A token that is quoted once and listed as
//! unsupported another time counts as unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::SystemTime;

use paymaster_engine::knowledge::{Knowledge, Learn};
use paymaster_engine::message::{Answer, Call, ParsedRequest};
use paymaster_exchange::Exchange;
use paymaster_schemas::{Mode, kinds};
use serde_json::Value;

use crate::SPECIFICATION;
use crate::call::{CallParts, quoted_tokens, unsupported_tokens};
use crate::tables::in_notation;
use crate::target::forms;
use crate::target::{
    Amounts, Context, Dialect, Profile, QuotedTokens, ReadingCounts, ServedCapitals, ServedForms, Support,
    TokenFacts, distinguishes_readings, shown_support,
};

/// Learns from exchanges, one at a time.
#[derive(Debug, Default)]
pub struct Learner {
    base: Context,
    served: Served,
    tokens: BTreeMap<String, Support>,
    facts: TokenFacts,
    /// Forms of published clients that were served, for each of [`NOTATIONS`]: the form of a request depends on the dialect, which
    /// the whole of the traffic shows.
    forms: [ServedForms; 3],
    /// Quotes that show the reading of preferredToken and tokenList once their tokens are known.
    readings: Vec<Reading>,
}

/// How often each reading was served with a result.
#[derive(Debug, Default)]
struct Served {
    versions: BTreeMap<String, u64>,
    names: BTreeMap<String, u64>,
    fee_members: BTreeMap<&'static str, u64>,
    notations: [u64; 3],
}

#[derive(Debug)]
struct Reading {
    preferred: String,
    list: Vec<String>,
    quoted: BTreeSet<String>,
    unsupported: BTreeSet<String>,
}

/// The most quotes that are kept for the readings. A proxy runs for a long time, and more quotes add nothing.
const MOST_READINGS: usize = 1_000;

/// The most forms that are kept for each notation. They contain the smart account and the webhook data of a request, so that their number
/// has no other bound.
const MOST_FORMS: usize = 1_000;

/// The notations, the default first.
const NOTATIONS: [Amounts; 3] = [Amounts::Decimal, Amounts::Hex, Amounts::Mixed];

impl Learner {
    /// A learner that starts from the profile.
    pub fn new(profile: Profile) -> Self {
        Self { base: Context::new(profile), ..Self::default() }
    }

    /// What is known of the target now.
    pub fn context(&self) -> Context {
        let mut context = self.base.clone();
        context.facts.clone_from(&self.facts);
        for (token, support) in &self.tokens {
            if *support != Support::Unknown {
                context.learn_token(token, *support);
            }
        }
        let pins = &self.base.profile.dialect;
        let served = &self.served;
        let Dialect { jsonrpc_version, sponsored_name, fee_token_member, amount_notation, .. } =
            &mut context.dialect;
        if pins.jsonrpc_version.is_none() {
            choose(jsonrpc_version, &served.versions);
        }
        if pins.sponsored_name.is_none() {
            choose(sponsored_name, &served.names);
        }
        if pins.fee_token_member.is_none() {
            choose(fee_token_member, &served.fee_members);
        }
        if pins.amount_notation.is_none() {
            let most = served.notations.iter().max().copied().unwrap_or_default();
            let first = served.notations.iter().position(|times| *times == most);
            *amount_notation = NOTATIONS[first.unwrap_or_default()];
        }
        let notation = NOTATIONS.iter().position(|known| *known == *amount_notation);
        context.served_forms = self.forms[notation.unwrap_or_default()].clone();
        if pins.quoted_tokens.is_none() {
            context.dialect.quoted_tokens = self.quoted_tokens(&context);
        }
        context
    }

    fn quote(&mut self, call: &Call, result: &Value, received: Option<SystemTime>) {
        self.facts.learn(result);
        self.base.quoted.learn(result, received);
        let quoted = quoted_tokens(result);
        let unsupported = unsupported_tokens(result);
        for (token, support) in shown_support(&call.tokens().quoted(), &quoted, &unsupported) {
            self.note(token, support);
        }
        if let (Some(preferred), Some(list)) = (&call.tokens().preferred, &call.tokens().list)
            && distinguishes_readings(preferred, list)
            && self.readings.len() < MOST_READINGS
        {
            self.readings.push(Reading {
                preferred: (*preferred).to_owned(),
                list: list.iter().map(|token| (*token).to_owned()).collect(),
                quoted,
                unsupported,
            });
        }
    }

    fn note(&mut self, token: &str, support: Support) {
        let known = self.tokens.entry(token.to_owned()).or_insert(support);
        if *known != support {
            *known = Support::Unknown;
        }
    }

    /// Which reading explains the quotes.
    fn quoted_tokens(&self, context: &Context) -> QuotedTokens {
        let supported = |token: &str| context.support(token) == Support::Supported;
        let mut read = ReadingCounts::default();
        for Reading { preferred, list, quoted, unsupported } in &self.readings {
            read.count(preferred, list, [quoted, unsupported], supported);
        }
        read.most()
    }
}

impl Served {
    fn count(&mut self, call: &Call) {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(version) = text(&call.envelope["jsonrpc"]) {
            *self.versions.entry(version).or_default() += 1;
        }
        let mode = text(&call.mode_object()["mode"]).filter(|_| Mode::of(call.pair) == Mode::Sponsored);
        if let Some(name) = mode {
            *self.names.entry(name).or_default() += 1;
        }
        if call.pair == kinds::SPONSOR_ERC20 {
            let info = &call.mode_object()["tokenInfo"];
            let named = |member: &str| info.get(member).is_some();
            match (named("feeTokenAddress"), named("tokenAddress")) {
                (true, false) => *self.fee_members.entry("feeTokenAddress").or_default() += 1,
                (false, true) => *self.fee_members.entry("tokenAddress").or_default() += 1,
                _ => {}
            }
        }
        let Some(operation) = call.operation().as_object() else { return };
        for (times, notation) in self.notations.iter_mut().zip(NOTATIONS) {
            *times += u64::from(operation.iter().all(|(name, value)| in_notation(name, value, notation)));
        }
    }
}

/// Sets the reading that was served most often. The current one stays unless another was served more often.
fn choose(reading: &mut String, served: &BTreeMap<impl AsRef<str> + Ord, u64>) {
    let own =
        served.iter().find(|(name, _)| name.as_ref() == reading.as_str()).map_or(0, |(_, times)| *times);
    let most = served.iter().max_by_key(|(_, times)| **times);
    if let Some((name, _)) = most.filter(|(_, times)| **times > own) {
        name.as_ref().clone_into(reading);
    }
}

impl Learn for Learner {
    fn see(&mut self, exchange: &Exchange) {
        let ParsedRequest::Call(call) = ParsedRequest::of(&exchange.request, &SPECIFICATION) else { return };
        let answer = Answer::of(exchange);
        let Some(result) = answer.result().filter(|result| call.valid && result.is_object()) else { return };
        self.base.served_capitals.learn(&call, result);
        // A target may read a token in such a spelling as another one: its answer shows nothing else.
        if ServedCapitals::is_unusual(&call) {
            return;
        }
        self.served.count(&call);
        self.base.served_accounts.learn(&call, result);
        for (forms, notation) in self.forms.iter_mut().zip(NOTATIONS) {
            let dialect = Dialect { amount_notation: notation, ..Dialect::default() };
            if forms.len() < MOST_FORMS && forms::is_of_client(&call, &dialect) {
                forms.learn(&call, &dialect);
            }
        }
        if call.pair == kinds::QUOTE_ERC20 {
            self.quote(&call, result, exchange.received);
        }
    }

    fn learned(&self) -> Arc<dyn Knowledge> {
        Arc::new(self.context())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::target::dialect::Pins;
    use paymaster_exchange::Response;

    const A: &str = "0x00000000000000000000000000000000000000aa";
    const B: &str = "0x00000000000000000000000000000000000000bb";

    fn quote(info: &Value, quoted: &[&str], unsupported: &[&str]) -> Exchange {
        let amount = "0x5208";
        let request = json!({
            "jsonrpc": "2.0.0", "id": 1, "method": "pm_getFeeQuoteOrData",
            "params": [
                {
                    "sender": A, "nonce": amount, "initCode": "0x", "callData": "0x", "callGasLimit": amount,
                    "verificationGasLimit": amount, "preVerificationGas": amount, "maxFeePerGas": amount,
                    "maxPriorityFeePerGas": amount,
                },
                {"mode": "ERC20", "tokenInfo": info},
            ],
        });
        let quotes: Vec<Value> = quoted.iter().map(|token| json!({"tokenAddress": token})).collect();
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"feeQuotes": quotes, "unsupportedTokens": unsupported}});
        Exchange::new(
            request.to_string(),
            Ok(Response { status: 200, headers: Vec::new(), body: answer.to_string().into() }),
            std::time::Duration::ZERO,
        )
    }

    #[test]
    fn dialect_and_tokens_are_learned_from_what_is_served() {
        let mut learner = Learner::new(Profile::default());
        assert_eq!(learner.context().dialect, Dialect::default());
        let both = json!({"preferredToken": A, "tokenList": [B]});
        learner.see(&quote(&both, &[A], &[]));
        learner.see(&quote(&json!({"preferredToken": B, "tokenList": [B]}), &[B], &[]));
        let context = learner.context();
        assert_eq!(context.dialect.jsonrpc_version, "2.0.0");
        assert_eq!(context.dialect.amount_notation, Amounts::Hex);
        assert_eq!(context.dialect.quoted_tokens, QuotedTokens::Preferred);
        assert_eq!(context.support(A), Support::Supported);
        learner.see(&quote(&both, &[B], &[A]));
        assert_eq!(learner.context().support(A), Support::Unknown, "quoted once, unsupported once");
    }

    /// A sponsor request in sponsored mode as `change` leaves it, with its result.
    fn sponsored(change: impl FnOnce(&mut Value)) -> Exchange {
        let account = json!({"name": "BICONOMY", "version": "2.0.0"});
        let mut request = json!({
            "jsonrpc": "2.0", "id": 1, "method": "pm_sponsorUserOperation",
            "params": [
                {
                    "sender": A, "nonce": "7", "initCode": "0x", "callData": "0x", "callGasLimit": "50000",
                    "verificationGasLimit": "50000", "preVerificationGas": "50000", "maxFeePerGas": "50000",
                    "maxPriorityFeePerGas": "50000",
                },
                {
                    "mode": "SPONSORED", "calculateGasLimits": true, "expiryDuration": 300,
                    "sponsorshipInfo": {"webhookData": {}, "smartAccountInfo": account},
                },
            ],
        });
        change(&mut request);
        let result = json!({
            "MODE": "SPONSORED", "paymasterAndData": "0xab", "preVerificationGas": "1", "verificationGasLimit": 1, "callGasLimit": 1,
        });
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        Exchange {
            request: request.to_string().into(),
            outcome: Ok(Response { status: 200, headers: Vec::new(), body: answer.to_string().into() }),
            ..quote(&json!({}), &[], &[])
        }
    }

    fn within_tables(context: &Context, exchange: &Exchange) -> bool {
        match ParsedRequest::of(&exchange.request, &SPECIFICATION) {
            ParsedRequest::Call(call) => context.requirement(&call).within_tables,
            _ => false,
        }
    }

    #[test]
    fn a_form_of_a_published_client_that_was_served_once_is_owed_from_then_on() {
        let with_placeholders = |request: &mut Value| {
            request["params"][0]["signature"] = json!("0x");
            request["params"][0]["paymasterAndData"] = json!("0x");
        };
        let as_account_client = sponsored(|request| {
            with_placeholders(request);
            for name in ["nonce", "maxFeePerGas", "maxPriorityFeePerGas"] {
                request["params"][0][name] = json!("0x7");
            }
        });
        let with_a_note = sponsored(|request| request["params"][1]["note"] = json!("x"));
        let mut learner = Learner::new(Profile::default());
        // Most requests are decimal: that is the dialect.
        for _ in 0..3 {
            learner.see(&sponsored(|_| {}));
        }
        assert!(!within_tables(&learner.context(), &as_account_client));
        learner.see(&as_account_client);
        learner.see(&with_a_note);
        let context = learner.context();
        assert!(within_tables(&context, &as_account_client));
        assert!(!within_tables(&context, &sponsored(with_placeholders)), "another form");
        assert!(!within_tables(&context, &with_a_note), "no published client sends it");
    }

    #[test]
    fn addresses_in_capitals_are_owed_once_they_were_served() {
        let in_capitals = sponsored(|request| {
            request["params"][0]["sender"] = json!(format!("0x{}", "AB".repeat(20)));
        });
        let mut learner = Learner::new(Profile::default());
        assert!(!within_tables(&learner.context(), &in_capitals));
        learner.see(&in_capitals);
        assert!(within_tables(&learner.context(), &in_capitals));
    }

    #[test]
    fn the_profile_takes_precedence() {
        let profile = Profile {
            dialect: Pins {
                jsonrpc_version: Some("2.0".to_owned()),
                amount_notation: Some(Amounts::Decimal),
                ..Pins::default()
            },
            tokens: crate::target::profile::TokenLists {
                supported: Vec::new(),
                unsupported: vec![A.to_owned()],
                complete: false,
            },
            ..Profile::default()
        };
        let mut learner = Learner::new(profile);
        learner.see(&quote(&json!({"preferredToken": A, "tokenList": [A]}), &[A], &[]));
        let context = learner.context();
        assert_eq!(context.dialect, Dialect::default());
        assert_eq!(context.support(A), Support::Unsupported);
    }
}
