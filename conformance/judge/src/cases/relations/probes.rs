//! Probes: requests whose answer the specification leaves open. The answers are observed for the fingerprint and break no rule.

use paymaster_schemas::{Method, Mode, Pair};
use serde_json::{Value, json};

use crate::cases::relations::edit::{ALL_PAIRS, MODE, OPERATION, baseline, member, remove, set};
use crate::{
    cases::{
        case::{BuildInput, Ids, Member, Order, Relation, Role, Rounds},
        generate::boundary::Notation,
    },
    json::number::amount,
    message::tables::{FEES, GAS},
    target::context::Support,
};

/// The same call in every reading of each ambiguity.
pub static DIALECT_PROBES: Relation = Relation {
    id: "dialect-probes",
    about: "the same call in each reading of what the specification leaves open",
    bases: ALL_PAIRS,
    rounds: Rounds::scaled(2),
    order: Order::Sequential,
    members: dialects,
};

/// Calls about which the specification is silent.
pub static BEHAVIOUR_PROBES: Relation = Relation {
    id: "behaviour-probes",
    about: "calls whose answer the specification does not show",
    bases: ALL_PAIRS,
    rounds: Rounds::scaled(2),
    order: Order::Sequential,
    members: behaviours,
};

/// A probe that an observer evaluates. The other probes are only judged for the form of their answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    Version20,
    Version200,
    ModeSponsored,
    ModeSponsorship,
    FeeTokenAddress,
    TokenAddress,
    DecimalAmounts,
    HexAmounts,
    IntegerAmounts,
    EmptyTokenInfo,
    EmptyTokenList,
    NoMode,
    Signature,
    NoGasLimits,
    NoInitCode,
    ListAlone,
    RepeatedToken,
}

impl Probe {
    /// The label of the request. The fingerprint shows it.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Version20 => "jsonrpc 2.0",
            Self::Version200 => "jsonrpc 2.0.0",
            Self::ModeSponsored => "mode SPONSORED",
            Self::ModeSponsorship => "mode SPONSORSHIP",
            Self::FeeTokenAddress => "feeTokenAddress",
            Self::TokenAddress => "tokenAddress",
            Self::DecimalAmounts => "decimal amounts",
            Self::HexAmounts => "hex amounts",
            Self::IntegerAmounts => "integer amounts",
            Self::EmptyTokenInfo => "tokenInfo {}",
            Self::EmptyTokenList => "an empty tokenList",
            Self::NoMode => "no mode",
            Self::Signature => "with signature and paymasterAndData",
            Self::NoGasLimits => "without the gas limits",
            Self::NoInitCode => "without initCode",
            Self::ListAlone => "only tokenList, one of it unsupported",
            Self::RepeatedToken => "a token asked for twice",
        }
    }
}

fn dialects(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = input.pair else { return Vec::new() };
    let mut members = vec![baseline(input, ids)];
    let mut variant = |label: &str, request: Value| members.push(member(Role::Probe, label, request, ids));
    for (probe, version) in [(Probe::Version20, "2.0"), (Probe::Version200, "2.0.0")] {
        let mut request = input.base.clone();
        request["jsonrpc"] = json!(version);
        variant(probe.label(), request);
    }
    if pair.mode == Mode::Sponsored {
        for (probe, name) in [(Probe::ModeSponsored, "SPONSORED"), (Probe::ModeSponsorship, "SPONSORSHIP")] {
            let mut request = input.base.clone();
            set(&mut request, MODE, "mode", json!(name));
            variant(probe.label(), request);
        }
    }
    if pair == Pair::SPONSOR_ERC20 {
        let own = &input.base["params"][1]["tokenInfo"][input.context.dialect.fee_token_member.as_str()];
        for probe in [Probe::FeeTokenAddress, Probe::TokenAddress] {
            let name = probe.label();
            let mut request = input.base.clone();
            set(&mut request, MODE, "tokenInfo", json!({ name: own }));
            variant(name, request);
        }
    }
    for (probe, notation) in [
        (Probe::DecimalAmounts, Notation::Decimal),
        (Probe::HexAmounts, Notation::Hex),
        (Probe::IntegerAmounts, Notation::Integer),
    ] {
        variant(probe.label(), rewritten(input.base, notation));
    }
    members
}

const SPONSORSHIP_INFO: &str = "/params/1/sponsorshipInfo";

/// The base with every amount in another notation.
fn rewritten(base: &Value, notation: Notation) -> Value {
    let mut request = base.clone();
    for name in ["nonce"].into_iter().chain(GAS).chain(FEES) {
        if let Some(amount) = amount(&base["params"][0][name]) {
            set(&mut request, OPERATION, name, notation.write(&amount));
        }
    }
    request
}

fn behaviours(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let Some(pair) = input.pair else { return Vec::new() };
    let base = input.base;
    let mut members = vec![baseline(input, ids)];
    let mut variant = |label: &str, request: Value| members.push(member(Role::Probe, label, request, ids));
    let mut request = base.clone();
    set(&mut request, OPERATION, "signature", json!("0x"));
    set(&mut request, OPERATION, "paymasterAndData", json!("0x"));
    variant(Probe::Signature.label(), request);
    if pair != Pair::SPONSOR_ERC20 {
        let mut request = base.clone();
        for name in GAS {
            remove(&mut request, OPERATION, name);
        }
        let label = if pair.mode == Mode::Sponsored {
            Probe::NoGasLimits.label()
        } else {
            "without the gas limits, in token mode"
        };
        variant(label, request);
    }
    let mut request = base.clone();
    remove(&mut request, OPERATION, "initCode");
    variant(Probe::NoInitCode.label(), request);
    let mut request = rewritten(base, Notation::Hex);
    set(&mut request, MODE, "calculateGasLimits", json!(false));
    variant("hex amounts, calculateGasLimits false", request);
    if pair.mode == Mode::Sponsored {
        let mut request = base.clone();
        let deep = (0..40).fold(json!({}), |inside, _| json!({ "in": inside }));
        set(&mut request, SPONSORSHIP_INFO, "webhookData", deep);
        variant("webhookData 40 objects deep", request);
    }
    if pair.method == Method::GetFeeQuoteOrData {
        let mut request = base.clone();
        remove(&mut request, MODE, "mode");
        variant(Probe::NoMode.label(), request);
    }
    if pair == Pair::QUOTE_ERC20 {
        for (probe, info) in
            [(Probe::EmptyTokenInfo, json!({})), (Probe::EmptyTokenList, json!({"tokenList": []}))]
        {
            let mut request = base.clone();
            set(&mut request, MODE, "tokenInfo", info);
            variant(probe.label(), request);
        }
        let supported = input.context.tokens_with(Support::Supported).next();
        let unsupported = input.context.tokens_with(Support::Unsupported).next();
        if let (Some(known), Some(unknown)) = (supported, unsupported) {
            let mut request = base.clone();
            set(&mut request, MODE, "tokenInfo", json!({"tokenList": [known, unknown]}));
            variant(Probe::ListAlone.label(), request);
        }
        if let Some(known) = supported {
            let mut request = base.clone();
            set(
                &mut request,
                MODE,
                "tokenInfo",
                json!({"preferredToken": known, "tokenList": [known, known]}),
            );
            variant(Probe::RepeatedToken.label(), request);
        }
    }
    members
}
