//! Probes of what the specification leaves open: nobody fails for the answer, it goes into the fingerprint.

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use crate::cases::relations::edit::{ALL_PAIRS, MODE, OPERATION, baseline, member, remove, set};
use crate::{
    cases::case::{Ids, Member, Order, Relation, Rounds, Seed},
    message::tables::GAS,
    target::context::Support,
};

/// The other readings of each ambiguity.
pub static DIALECT_PROBES: Relation = Relation {
    id: "dialect-probes",
    about: "the same call in each reading of what the specification leaves open",
    bases: ALL_PAIRS,
    rounds: Rounds::Fixed(2),
    order: Order::Sequential,
    members: dialects,
};

/// What the specification is silent about.
pub static BEHAVIOUR_PROBES: Relation = Relation {
    id: "behaviour-probes",
    about: "calls whose answer the specification does not show",
    bases: ALL_PAIRS,
    rounds: Rounds::Fixed(2),
    order: Order::Sequential,
    members: behaviours,
};

/// What the observers know a probe by.
pub(crate) mod probe {
    pub(crate) const VERSION: [&str; 2] = ["jsonrpc 2.0", "jsonrpc 2.0.0"];
    pub(crate) const SPONSORED_NAME: [&str; 2] = ["mode SPONSORED", "mode SPONSORSHIP"];
    pub(crate) const FEE_TOKEN_MEMBER: [&str; 2] = ["feeTokenAddress", "tokenAddress"];
    pub(crate) const AMOUNTS: [&str; 3] = ["decimal amounts", "hex amounts", "integer amounts"];
    pub(crate) const NO_TOKENS: [&str; 2] = ["tokenInfo {}", "an empty tokenList"];
    pub(crate) const NO_MODE: &str = "no mode";
    pub(crate) const SIGNATURE: &str = "with signature and paymasterAndData";
    pub(crate) const SENDER_ONLY: [&str; 2] = ["without the gas limits", "without initCode"];
    pub(crate) const ONLY_LIST: &str = "only tokenList, one of it unsupported";
    pub(crate) const REPEATED: &str = "a token asked for twice";
}

fn dialects(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = seed.pair else { return Vec::new() };
    let mut members = vec![baseline(seed, ids)];
    let mut variant = |label: &str, request: Value| members.push(member("probe", label, request, ids));
    for (label, version) in probe::VERSION.into_iter().zip(["2.0", "2.0.0"]) {
        let mut request = seed.base.clone();
        request["jsonrpc"] = json!(version);
        variant(label, request);
    }
    if pair.mode == paymaster_schemas::Mode::Sponsored {
        for (label, name) in probe::SPONSORED_NAME
            .into_iter()
            .zip(["SPONSORED", "SPONSORSHIP"])
        {
            let mut request = seed.base.clone();
            set(&mut request, MODE, "mode", json!(name));
            variant(label, request);
        }
    }
    if pair == Pair::SPONSOR_ERC20 {
        let own = &seed.base["params"][1]["tokenInfo"][seed.context.dialect.fee_token_member.as_str()];
        for name in probe::FEE_TOKEN_MEMBER {
            let mut request = seed.base.clone();
            set(&mut request, MODE, "tokenInfo", json!({ name: own }));
            variant(name, request);
        }
    }
    for (label, notation) in probe::AMOUNTS.into_iter().zip(["decimal", "hex", "integer"]) {
        variant(label, rewritten(seed.base, notation));
    }
    members
}

const AMOUNTS: [&str; 6] = [
    "nonce",
    "callGasLimit",
    "verificationGasLimit",
    "preVerificationGas",
    "maxFeePerGas",
    "maxPriorityFeePerGas",
];

const SPONSORSHIP_INFO: &str = "/params/1/sponsorshipInfo";

/// Without what the tables list and do not call mandatory: whatever result comes has the form of its table.
fn left_out(base: &Value, pair: Pair) -> Vec<(&'static str, Value)> {
    let mut found = Vec::new();
    let mut without = |label, place, name| {
        let mut request = base.clone();
        remove(&mut request, place, name);
        found.push((label, request));
    };
    without("without calculateGasLimits", MODE, "calculateGasLimits");
    if pair.mode == paymaster_schemas::Mode::Sponsored {
        without("without webhookData", SPONSORSHIP_INFO, "webhookData");
        without("without smartAccountInfo", SPONSORSHIP_INFO, "smartAccountInfo");
    }
    if pair == Pair::SPONSOR_SPONSORED {
        without("without expiryDuration", MODE, "expiryDuration");
    }
    found
}

/// The base with every amount in another notation.
fn rewritten(base: &Value, notation: &str) -> Value {
    let mut request = base.clone();
    for name in AMOUNTS {
        let Some(amount) = crate::json::number::amount(&base["params"][0][name]) else {
            continue;
        };
        let text = match notation {
            "decimal" => json!(amount.to_string()),
            "hex" => json!(format!("0x{amount:x}")),
            _ => serde_json::from_str(&amount.to_string()).unwrap_or_default(),
        };
        set(&mut request, OPERATION, name, text);
    }
    request
}

fn behaviours(seed: &Seed<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = seed.pair else { return Vec::new() };
    let base = seed.base;
    let mut members = vec![baseline(seed, ids)];
    let mut variant = |label: &str, request: Value| members.push(member("probe", label, request, ids));
    let mut request = base.clone();
    set(&mut request, OPERATION, "signature", json!("0x"));
    set(&mut request, OPERATION, "paymasterAndData", json!("0x"));
    variant(probe::SIGNATURE, request);
    if pair != Pair::SPONSOR_ERC20 {
        let mut request = base.clone();
        for name in GAS {
            remove(&mut request, OPERATION, name);
        }
        let label = if pair.mode == paymaster_schemas::Mode::Sponsored {
            probe::SENDER_ONLY[0]
        } else {
            "without the gas limits, in token mode"
        };
        variant(label, request);
    }
    let mut request = base.clone();
    remove(&mut request, OPERATION, "initCode");
    variant(probe::SENDER_ONLY[1], request);
    for (label, request) in left_out(base, pair) {
        variant(label, request);
    }
    let mut request = rewritten(base, "hex");
    set(&mut request, MODE, "calculateGasLimits", json!(false));
    variant("hex amounts, calculateGasLimits false", request);
    if pair.mode == paymaster_schemas::Mode::Sponsored {
        let mut request = base.clone();
        let deep = (0..40).fold(json!({}), |inside, _| json!({ "in": inside }));
        set(&mut request, SPONSORSHIP_INFO, "webhookData", deep);
        variant("webhookData 40 objects deep", request);
    }
    if pair.method == paymaster_schemas::Method::GetFeeQuoteOrData {
        let mut request = base.clone();
        remove(&mut request, MODE, "mode");
        variant(probe::NO_MODE, request);
    }
    if pair == Pair::QUOTE_ERC20 {
        for (label, info) in probe::NO_TOKENS
            .into_iter()
            .zip([json!({}), json!({"tokenList": []})])
        {
            let mut request = base.clone();
            set(&mut request, MODE, "tokenInfo", info);
            variant(label, request);
        }
        let supported = seed.context.tokens_that_are(Support::Supported).next();
        let unsupported = seed.context.tokens_that_are(Support::Unsupported).next();
        if let (Some(known), Some(unknown)) = (supported, unsupported) {
            let mut request = base.clone();
            set(
                &mut request,
                MODE,
                "tokenInfo",
                json!({"tokenList": [known, unknown]}),
            );
            variant(probe::ONLY_LIST, request);
        }
        if let Some(known) = supported {
            let mut request = base.clone();
            set(
                &mut request,
                MODE,
                "tokenInfo",
                json!({"preferredToken": known, "tokenList": [known, known]}),
            );
            variant(probe::REPEATED, request);
        }
    }
    members
}
