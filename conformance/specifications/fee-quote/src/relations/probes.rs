//! Probes: requests whose answer the specification leaves open. The answers are observed for the fingerprint and break no rule.

use paymaster_engine::{
    cases::{
        case::{Bases, BuildInput, Ids, Member, Relation, Role, Rounds},
        edit::{baseline, member, set, with, without},
    },
    generate::boundary::Notation,
    json::number::amount,
};
use paymaster_schemas::{Method, Mode, kinds};
use serde_json::{Value, json};

use crate::{
    relations::{MODE, OPERATION, SPONSORSHIP_INFO},
    tables::{FEES, GAS},
    target::context::{Context, Support},
};

/// The same call in every reading of each ambiguity.
pub static DIALECT_PROBES: Relation = Relation::new(
    "dialect-probes",
    "the same call in each reading of what the specification leaves open",
    Bases::EveryKind,
    Rounds::scaled(2),
    |input, ids| {
        let (Some(pair), base) = (input.pair, input.base) else { return Vec::new() };
        let mut probes = vec![
            (Probe::Version20, with(base, "", "jsonrpc", "2.0")),
            (Probe::Version200, with(base, "", "jsonrpc", "2.0.0")),
        ];
        if Mode::of(pair) == Mode::Sponsored {
            probes.push((Probe::ModeSponsored, with(base, MODE, "mode", "SPONSORED")));
            probes.push((Probe::ModeSponsorship, with(base, MODE, "mode", "SPONSORSHIP")));
        }
        if pair == kinds::SPONSOR_ERC20 {
            let own =
                &base["params"][1]["tokenInfo"][Context::of(input.context).dialect.fee_token_member.as_str()];
            for probe in [Probe::FeeTokenAddress, Probe::TokenAddress] {
                probes.push((probe, with(base, MODE, "tokenInfo", json!({ probe.label(): own }))));
            }
        }
        probes.extend([
            (Probe::DecimalAmounts, rewritten(base, Notation::Decimal)),
            (Probe::HexAmounts, rewritten(base, Notation::Hex)),
            (Probe::IntegerAmounts, rewritten(base, Notation::Integer)),
        ]);
        probed(input, ids, probes.into_iter().map(|(probe, request)| (probe.label(), request)))
    },
);

/// Calls about which the specification is silent.
pub static BEHAVIOUR_PROBES: Relation = Relation::new(
    "behaviour-probes",
    "calls whose answer the specification does not show",
    Bases::EveryKind,
    Rounds::scaled(2),
    |input, ids| {
        let (Some(pair), base) = (input.pair, input.base) else { return Vec::new() };
        let with_token_info = |info| with(base, MODE, "tokenInfo", info);
        let signed = with(base, OPERATION, "signature", "0x");
        let mut probes = vec![(Probe::Signature.label(), with(&signed, OPERATION, "paymasterAndData", "0x"))];
        if pair != kinds::SPONSOR_ERC20 {
            let request = GAS.iter().fold(base.clone(), |request, name| without(&request, OPERATION, name));
            let in_token_mode = "without the gas limits, in token mode";
            let label =
                if Mode::of(pair) == Mode::Sponsored { Probe::NoGasLimits.label() } else { in_token_mode };
            probes.push((label, request));
        }
        probes.push((Probe::NoInitCode.label(), without(base, OPERATION, "initCode")));
        let request = with(&rewritten(base, Notation::Hex), MODE, "calculateGasLimits", false);
        probes.push(("hex amounts, calculateGasLimits false", request));
        if Mode::of(pair) == Mode::Sponsored {
            let deep = (0..40).fold(json!({}), |inside, _| json!({ "in": inside }));
            probes.push(("webhookData 40 objects deep", with(base, SPONSORSHIP_INFO, "webhookData", deep)));
        }
        if pair == kinds::SPONSOR_SPONSORED {
            probes.push(("expiryDuration 0", with(base, MODE, "expiryDuration", 0)));
        }
        if Method::of(pair) == Method::GetFeeQuoteOrData {
            probes.push((Probe::NoMode.label(), without(base, MODE, "mode")));
        }
        if pair == kinds::QUOTE_ERC20 {
            probes.push((Probe::EmptyTokenInfo.label(), with_token_info(json!({}))));
            probes.push((Probe::EmptyTokenList.label(), with_token_info(json!({"tokenList": []}))));
            let supported = Context::of(input.context).tokens_with(Support::Supported).next();
            let unsupported = Context::of(input.context).tokens_with(Support::Unsupported).next();
            if let (Some(known), Some(unknown)) = (supported, unsupported) {
                let info = json!({"tokenList": [known, unknown]});
                probes.push((Probe::ListAlone.label(), with_token_info(info)));
            }
            if let Some(known) = supported {
                let info = json!({"preferredToken": known, "tokenList": []});
                probes.push(("preferredToken beside an empty tokenList", with_token_info(info)));
                let info = json!({"preferredToken": null, "tokenList": [known]});
                probes.push(("preferredToken null beside a tokenList", with_token_info(info)));
                let info = json!({"preferredToken": known, "tokenList": [known, known]});
                probes.push((Probe::RepeatedToken.label(), with_token_info(info)));
            }
        }
        probed(input, ids, probes)
    },
);

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

/// The baseline, and probes with their labels.
fn probed(
    input: &BuildInput<'_>,
    ids: &mut Ids,
    probes: impl IntoIterator<Item = (&'static str, Value)>,
) -> Vec<Member> {
    let mut members = vec![baseline(input, ids)];
    members.extend(probes.into_iter().map(|(label, request)| member(Role::Probe, label, request, ids)));
    members
}

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
