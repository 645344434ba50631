//! Probes: requests whose answer the specification leaves open. The answers are observed for the fingerprint and break no rule.

use paymaster_engine::cases::{
    Bases, BuildInput, Ids, Member, Relation, Role, Rounds, baseline, in_client_order, member, set, with,
    with_own_id, without,
};
use paymaster_engine::generate::Notation;
use paymaster_engine::json::amount;
use paymaster_schemas::{Mode, kinds};
use serde_json::{Value, json};

use crate::relations::{MODE, OPERATION, SPONSORSHIP_INFO};
use crate::tables::{FEES, GAS};
use crate::target::{CALL_DATA_BYTES, Context, Support, hex};

/// A call in every reading of each ambiguity.
pub static DIALECT_PROBES: Relation =
    Relation::new("dialect-probes", "the same call in each reading of what the specification leaves open")
        .of(Bases::EveryKind, Rounds::scaled(2), |input, ids| {
            let (pair, base) = (input.pair, input.base);
            let mut probes = vec![
                (Probe::VERSION_2_0, with(base, "", "jsonrpc", "2.0")),
                (Probe::VERSION_2_0_0, with(base, "", "jsonrpc", "2.0.0")),
            ];
            if Mode::of(pair) == Mode::Sponsored {
                probes.push((Probe::MODE_SPONSORED, with(base, MODE, "mode", "SPONSORED")));
                probes.push((Probe::MODE_SPONSORSHIP, with(base, MODE, "mode", "SPONSORSHIP")));
            }
            if pair == kinds::SPONSOR_ERC20 {
                let own = &base["params"][1]["tokenInfo"]
                    [Context::of(input.context).dialect.fee_token_member.as_str()];
                for probe in [Probe::FEE_TOKEN_ADDRESS, Probe::TOKEN_ADDRESS] {
                    probes.push((probe, with(base, MODE, "tokenInfo", json!({ probe.0: own }))));
                }
            }
            probes.extend([
                (Probe::DECIMAL_AMOUNTS, rewritten(base, Notation::Decimal)),
                (Probe::HEX_AMOUNTS, rewritten(base, Notation::Hex)),
                (Probe::INTEGER_AMOUNTS, rewritten(base, Notation::Integer)),
            ]);
            probed(input, ids, probes.into_iter().map(|(probe, request)| (probe.0, request)))
        });

/// Calls about which the specification is silent.
pub static BEHAVIOUR_PROBES: Relation = Relation::new(
    "behaviour-probes",
    "calls whose answer the specification does not show",
)
.of(Bases::EveryKind, Rounds::scaled(2), |input, ids| {
    let (pair, base) = (input.pair, input.base);
    let with_token_info = |info| with(base, MODE, "tokenInfo", info);
    let signed = with(base, OPERATION, "signature", "0x");
    let mut probes = vec![(Probe::SIGNATURE.0, with(&signed, OPERATION, "paymasterAndData", "0x"))];
    if pair != kinds::SPONSOR_ERC20 {
        let request = GAS.iter().fold(base.clone(), |request, name| without(&request, OPERATION, name));
        let in_token_mode = "without the gas limits, in token mode";
        let label = if Mode::of(pair) == Mode::Sponsored { Probe::NO_GAS_LIMITS.0 } else { in_token_mode };
        probes.push((label, request));
    }
    let request = with(&rewritten(base, Notation::Hex), MODE, "calculateGasLimits", false);
    probes.push(("hex amounts, calculateGasLimits false", request));
    if Mode::of(pair) == Mode::Sponsored {
        let deep = (0..40).fold(json!({}), |inside, _| json!({ "in": inside }));
        probes.push(("webhookData 40 objects deep", with(base, SPONSORSHIP_INFO, "webhookData", deep)));
    }
    if pair == kinds::SPONSOR_SPONSORED {
        probes.push(("expiryDuration 0", with(base, MODE, "expiryDuration", 0)));
    }
    if kinds::is_quote(pair) {
        probes.push((Probe::NO_MODE.0, without(base, MODE, "mode")));
    }
    if pair == kinds::QUOTE_ERC20 {
        probes.push((Probe::EMPTY_TOKEN_INFO.0, with_token_info(json!({}))));
        probes.push((Probe::EMPTY_TOKEN_LIST.0, with_token_info(json!({"tokenList": []}))));
        let supported = Context::of(input.context).tokens_with(Support::Supported).next();
        let unsupported = Context::of(input.context).tokens_with(Support::Unsupported).next();
        if let (Some(known), Some(unknown)) = (supported, unsupported) {
            let info = json!({"tokenList": [known, unknown]});
            probes.push((Probe::LIST_ALONE.0, with_token_info(info)));
        }
        if let Some(known) = supported {
            let info = json!({"preferredToken": known, "tokenList": []});
            probes.push(("preferredToken beside an empty tokenList", with_token_info(info)));
            let info = json!({"preferredToken": null, "tokenList": [known]});
            probes.push(("preferredToken null beside a tokenList", with_token_info(info)));
            let info = json!({"preferredToken": known, "tokenList": [known, known]});
            probes.push((Probe::REPEATED_TOKEN.0, with_token_info(info)));
        }
    }
    let mut members = probed(input, ids, probes);
    members.extend(long_bodies(input));
    members
});

/// Large call data before a long id of letters of four bytes. A service that decodes each piece of the body alone spoils one of them, in one
/// of the two ids. What the profile promises of these sizes is not exceeded.
fn long_bodies(input: &BuildInput<'_>) -> [Member; 2] {
    let limits = &Context::of(input.context).limits;
    let at_most = |size: u64, most: usize| usize::try_from(size).map_or(most, |size| size.min(most));
    let bytes = at_most(limits.call_data_bytes.unwrap_or(CALL_DATA_BYTES), 32_000);
    let letters = at_most(limits.id_length.unwrap_or(u64::MAX), 1_000).saturating_sub(1);
    let request = in_client_order(&with(input.base, OPERATION, "callData", hex(bytes, input.round)));
    ["", "-"].map(|first| {
        let id = format!("{first}{}", "\u{1F680}".repeat(letters));
        let label = format!("call data of {bytes} bytes before an id of {letters} letters of four bytes");
        with_own_id(Role::Probe, label, &with(&request, "", "id", id))
    })
}

/// The label of a probe that an observer evaluates; the fingerprint shows it. The other probes are only judged for the form of their answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe(pub(crate) &'static str);

impl Probe {
    pub(crate) const VERSION_2_0: Self = Self("jsonrpc 2.0");
    pub(crate) const VERSION_2_0_0: Self = Self("jsonrpc 2.0.0");
    pub(crate) const MODE_SPONSORED: Self = Self("mode SPONSORED");
    pub(crate) const MODE_SPONSORSHIP: Self = Self("mode SPONSORSHIP");
    pub(crate) const FEE_TOKEN_ADDRESS: Self = Self("feeTokenAddress");
    pub(crate) const TOKEN_ADDRESS: Self = Self("tokenAddress");
    pub(crate) const DECIMAL_AMOUNTS: Self = Self("decimal amounts");
    pub(crate) const HEX_AMOUNTS: Self = Self("hex amounts");
    pub(crate) const INTEGER_AMOUNTS: Self = Self("integer amounts");
    pub(crate) const EMPTY_TOKEN_INFO: Self = Self("tokenInfo {}");
    pub(crate) const EMPTY_TOKEN_LIST: Self = Self("an empty tokenList");
    pub(crate) const NO_MODE: Self = Self("no mode");
    pub(crate) const SIGNATURE: Self = Self("with signature and paymasterAndData");
    pub(crate) const NO_GAS_LIMITS: Self = Self("without the gas limits");
    /// The relation `optional-members` sends it.
    pub(crate) const NO_INIT_CODE: Self = Self("without initCode");
    pub(crate) const LIST_ALONE: Self = Self("only tokenList, one of it unsupported");
    pub(crate) const REPEATED_TOKEN: Self = Self("a token asked for twice");
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
