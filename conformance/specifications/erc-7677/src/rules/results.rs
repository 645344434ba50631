//! Sections 3, 3.1, 5 and 6: which members a result has for the EntryPoint of its request, and their form.

use alloy_primitives::Address;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{Advice, ExchangeCheck, Report, Rule, View, shown, shown_member};
use paymaster_ethereum::{EntryPointVersion, hex_bytes};
use paymaster_schemas::Kind;
use serde_json::{Map, Value};

use crate::kinds::{CallParts, FOR_06, FOR_LATER, OF_DATA, OF_STUBS, is_06, is_stub, version};
use crate::lines;
use crate::target::Target;

/// Of which EntryPoint a result is, by its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It has the member of 0.6 alone.
    Of06,
    /// It has a member of 0.7 and later alone.
    Of07,
    /// It has both.
    Both,
    /// It has neither.
    Neither,
}

impl Shape {
    /// The shape of a result.
    pub(crate) fn of(result: &Value) -> Self {
        result.as_object().map_or(Self::Neither, Self::of_members)
    }

    /// The shape of a result with these members.
    pub(crate) fn of_members(result: &Map<String, Value>) -> Self {
        let has = |name: &str| result.get(name).is_some_and(|value| !value.is_null());
        match (has("paymasterAndData"), has("paymaster") || has("paymasterData")) {
            (true, false) => Self::Of06,
            (false, true) => Self::Of07,
            (true, true) => Self::Both,
            (false, false) => Self::Neither,
        }
    }

    /// The shape for a version.
    pub(crate) fn expected(version: EntryPointVersion) -> Self {
        if version == EntryPointVersion::V06 { Self::Of06 } else { Self::Of07 }
    }

    /// Whether clients of a version find its members.
    pub(crate) fn completes(self, version: EntryPointVersion) -> bool {
        self == Self::expected(version) || self == Self::Both
    }

    /// The shape for the other versions.
    pub(crate) fn other(self) -> Self {
        if self == Self::Of06 { Self::Of07 } else { Self::Of06 }
    }
}

const fn rule(id: &'static str, check: ExchangeCheck) -> Rule {
    Rule::exchange(id, 5, Advice::Write(&lines::SPONSORABLE), check).waiting_first(&lines::CHAIN_ID)
}

pub(crate) const RULES: &[Rule] = &[
    rule("stub.members-06", members::<OF_STUBS, FOR_06>).unless(without_06),
    rule("stub.members-07", members::<OF_STUBS, FOR_LATER>).unless(without_07_and_later),
    rule("data.members-06", members::<OF_DATA, FOR_06>).unless(without_06),
    rule("data.members-07", members::<OF_DATA, FOR_LATER>).unless(without_07_and_later),
    rule("stub.post-op-gas-07", |view, knowledge, report| {
        post_op_gas(view, knowledge, report, |version| version == EntryPointVersion::V07);
    })
    .hint("return paymasterPostOpGasLimit with the stub: 0x0 where postOp is not called")
    .unless(|knowledge| without(knowledge, |version| version == EntryPointVersion::V07)),
    rule("stub.post-op-gas-08", |view, knowledge, report| {
        post_op_gas(view, knowledge, report, |version| version >= EntryPointVersion::V08);
    })
    .unless(|knowledge| without(knowledge, |version| version >= EntryPointVersion::V08)),
    rule("result.one-shape", |view, knowledge, report| {
        if let Some((_, result)) = judged(view, knowledge) {
            let is_both = Shape::of_members(result) == Shape::Both;
            report.expect(!is_both, "/result", "the members of one EntryPoint version", || {
                "both paymasterAndData and paymaster or paymasterData".to_owned()
            });
        }
    }),
    rule("result.gas-limit", gas_limit),
    rule("result.gas-limit-size", gas_limit_size)
        .hint("return the limit that was measured: a wallet pays in advance for what it may use"),
    rule("result.null-member", null_member),
    rule("result.operation-members", operation_members)
        .hint("leave members of the operation out of results: clients copy them, or sign without them"),
    rule("result.paymaster", paymaster).unless(without_07_and_later),
    rule("result.bytes", bytes),
    rule("result.paymaster-and-data", paymaster_and_data)
        .hint("begin with the address of the contract; refuse with an error instead of 0x")
        .unless(without_06),
    rule("result.address-once", address_once)
        .hint("paymasterData begins behind the address; paymasterAndData has it at the beginning only"),
    rule("is-final.boolean", |view, knowledge, report| {
        let Some((_, result)) = judged(view, knowledge).filter(|(kind, _)| is_stub(*kind)) else { return };
        match result.get("isFinal") {
            // Another rule reports null.
            None | Some(Value::Null | Value::Bool(_)) => report.held(),
            Some(other) => report.broken("/result/isFinal", "true or false", shown(other)),
        }
    }),
    rule("sponsor-member.name", sponsor_name),
    rule("sponsor-member.icon", sponsor_icon)
        .hint("icon is the image itself, as data:image/png;base64,...; leave it out where there is none"),
];

/// The kind and the result of a valid call for a known EntryPoint that the target serves, if the result is an object.
pub(crate) fn judged<'a>(
    view: &'a View<'_>,
    knowledge: &dyn Knowledge,
) -> Option<(Kind, &'a Map<String, Value>)> {
    let call = view.valid_call()?;
    call.known_version().filter(|version| Target::of(knowledge).serves(*version))?;
    Some((call.pair, view.answer.result()?.as_object()?))
}

/// Why a rule about some versions does not apply: the target is known to serve others alone.
fn without(knowledge: &dyn Knowledge, is_of_rule: fn(EntryPointVersion) -> bool) -> Option<&'static str> {
    let target = Target::of(knowledge);
    (!target.sent_versions().any(is_of_rule))
        .then_some("the target serves no such version of EntryPoint, as far as profile and discovery show")
}

pub(crate) fn without_06(knowledge: &dyn Knowledge) -> Option<&'static str> {
    without(knowledge, |version| version == EntryPointVersion::V06)
}

pub(crate) fn without_07_and_later(knowledge: &dyn Knowledge) -> Option<&'static str> {
    without(knowledge, |version| version != EntryPointVersion::V06)
}

/// The members by which the answers of the versions differ are there.
fn members<const STUBS: bool, const OLDEST: bool>(
    view: &View<'_>,
    knowledge: &dyn Knowledge,
    report: &mut Report,
) {
    let names: &[&str] = if OLDEST { &["paymasterAndData"] } else { &["paymaster", "paymasterData"] };
    let Some((kind, result)) = judged(view, knowledge) else { return };
    if is_stub(kind) != STUBS || is_06(kind) != OLDEST {
        return;
    }
    let missing = names.iter().find(|name| result.get(**name).is_none_or(Value::is_null));
    match missing {
        None => report.held(),
        Some(name) => {
            let expected = format!("{} for EntryPoint {}", names.join(" and "), version(kind));
            report.broken(format!("/result/{name}"), expected, format!("members {}", member_names(result)));
        }
    }
}

fn member_names(result: &Map<String, Value>) -> String {
    if result.is_empty() { "none".to_owned() } else { result.keys().cloned().collect::<Vec<_>>().join(", ") }
}

fn post_op_gas(
    view: &View<'_>,
    knowledge: &dyn Knowledge,
    report: &mut Report,
    is_of_rule: fn(EntryPointVersion) -> bool,
) {
    let Some((kind, result)) = judged(view, knowledge) else { return };
    // A result without a paymaster is for the rule about its members.
    if is_stub(kind) && is_of_rule(version(kind)) && result.get("paymaster").is_some() {
        let limit = result.get("paymasterPostOpGasLimit");
        let holds = limit.is_some_and(|limit| !limit.is_null());
        report.expect(holds, "/result/paymasterPostOpGasLimit", "a gas limit", || shown_member(limit));
    }
}

/// The gas limits of the paymaster.
pub(crate) const LIMITS: [&str; 2] = ["paymasterVerificationGasLimit", "paymasterPostOpGasLimit"];

/// The digits of a hex number in a string.
fn hex_digits(value: &Value) -> Option<&str> {
    let digits = value.as_str()?.strip_prefix("0x")?;
    (!digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(digits)
}

fn gas_limit(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((_, result)) = judged(view, knowledge) else { return };
    for name in LIMITS {
        match result.get(name) {
            None | Some(Value::Null) => report.held(),
            Some(limit) => {
                let is_hex = hex_digits(limit).is_some();
                report
                    .expect(is_hex, format_args!("/result/{name}"), "a hex number as text", || shown(limit));
            }
        }
    }
}

fn gas_limit_size(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    const DIGITS: usize = 120 / 4;
    let Some((_, result)) = judged(view, knowledge) else { return };
    for (name, limit) in LIMITS.into_iter().filter_map(|name| Some((name, result.get(name)?))) {
        if let Some(digits) = hex_digits(limit) {
            let holds = digits.trim_start_matches('0').len() <= DIGITS;
            report.expect(holds, format_args!("/result/{name}"), "less than 2^120", || shown(limit));
        }
    }
}

fn null_member(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((_, result)) = judged(view, knowledge) else { return };
    let mut optional = LIMITS.into_iter().chain(["sponsor", "isFinal"]);
    match optional.find(|name| result.get(*name).is_some_and(Value::is_null)) {
        None => report.held(),
        Some(name) => report.broken(format!("/result/{name}"), "a value, or no such member", "null"),
    }
}

fn operation_members(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    const OF_OPERATION: [&str; 12] = [
        "sender",
        "nonce",
        "initCode",
        "factory",
        "factoryData",
        "callData",
        "callGasLimit",
        "verificationGasLimit",
        "preVerificationGas",
        "maxFeePerGas",
        "maxPriorityFeePerGas",
        "signature",
    ];
    let Some((_, result)) = judged(view, knowledge) else { return };
    match OF_OPERATION.iter().find(|name| result.contains_key(**name)) {
        None => report.held(),
        Some(name) => {
            report.broken(format!("/result/{name}"), "no member of the operation", shown(&result[*name]));
        }
    }
}

/// A member that is there and not null.
fn present<'a>(result: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    result.get(name).filter(|value| !value.is_null())
}

fn paymaster(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((_, result)) = judged(view, knowledge).filter(|(kind, _)| !is_06(*kind)) else { return };
    if let Some(paymaster) = present(result, "paymaster") {
        let holds = hex_bytes(paymaster)
            .is_some_and(|bytes| bytes.len() == 20 && bytes.iter().any(|byte| *byte != 0));
        report.expect(holds, "/result/paymaster", "an address other than zero", || shown(paymaster));
    }
}

fn bytes(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((_, result)) = judged(view, knowledge) else { return };
    for name in ["paymasterData", "paymasterAndData"] {
        if let Some(data) = present(result, name) {
            let expected = "0x and an even number of hex digits";
            report
                .expect(hex_bytes(data).is_some(), format_args!("/result/{name}"), expected, || shown(data));
        }
    }
}

fn paymaster_and_data(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((_, result)) = judged(view, knowledge).filter(|(kind, _)| is_06(*kind)) else { return };
    if let Some((data, bytes)) =
        present(result, "paymasterAndData").and_then(|data| Some((data, hex_bytes(data)?)))
    {
        let holds = bytes.get(..20).is_some_and(|address| address.iter().any(|byte| *byte != 0));
        let expected = "the address of the paymaster, 20 bytes other than zero, and its data";
        report.expect(holds, "/result/paymasterAndData", expected, || shown(data));
    }
}

fn address_once(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    const ADDRESS: usize = 20;
    let Some((kind, result)) = judged(view, knowledge) else { return };
    let bytes = |member: &str| result.get(member).and_then(hex_bytes);
    let (member, address, data) = if is_06(kind) {
        let all = bytes("paymasterAndData").filter(|all| all.len() >= ADDRESS);
        let parts = all.map(|all| (Address::from_slice(&all[..ADDRESS]), all.slice(ADDRESS..)));
        let (address, data) = parts.unzip();
        ("/result/paymasterAndData", address, data)
    } else {
        let address = present(result, "paymaster").and_then(|text| text.as_str()?.parse::<Address>().ok());
        ("/result/paymasterData", address, bytes("paymasterData"))
    };
    // Data can begin with zeros, as a number does.
    if let (Some(address), Some(data)) = (address.filter(|address| !address.is_zero()), data) {
        let is_repeated = data.starts_with(address.as_slice());
        report.expect(!is_repeated, member, "data without the address before them", || {
            "data that begin with the paymaster's address".to_owned()
        });
    }
}

/// The sponsor of a stub; none where it is absent or null.
fn sponsor<'a>(view: &'a View<'_>, knowledge: &dyn Knowledge, report: &mut Report) -> Option<&'a Value> {
    let (_, result) = judged(view, knowledge).filter(|(kind, _)| is_stub(*kind))?;
    let sponsor = present(result, "sponsor");
    if sponsor.is_none() {
        report.held();
    }
    sponsor
}

fn sponsor_name(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    if let Some(sponsor) = sponsor(view, knowledge, report) {
        let expected = "an object with name, a text";
        report.expect(sponsor["name"].is_string(), "/result/sponsor", expected, || shown(sponsor));
    }
}

fn sponsor_icon(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some(sponsor) = sponsor(view, knowledge, report) else { return };
    match sponsor.get("icon").filter(|icon| !icon.is_null()) {
        None => report.held(),
        Some(icon) => {
            let holds = icon.as_str().is_some_and(is_data_uri);
            report.expect(
                holds,
                "/result/sponsor/icon",
                "a data: URI of RFC 2397, in the characters of a URI",
                || shown(icon),
            );
        }
    }
}

/// Whether a text is a `data:` URI of RFC 2397, whose data are written in the characters of a URI, and whose base64 can be read.
fn is_data_uri(text: &str) -> bool {
    let scheme = text.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:"));
    let Some((head, data)) = scheme.and_then(|_| text[5..].split_once(',')) else { return false };
    if !head.to_ascii_lowercase().ends_with(";base64") {
        return text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?[]@!$&'()*+,;=%".contains(&byte));
    }
    // Some writers escape the characters of base64 that have a meaning in a URI.
    let data = percent_encoding::percent_decode_str(data).decode_utf8_lossy();
    let digits = data.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/".contains(&byte);
    data.len() - digits.len() <= 2 && digits.len() % 4 != 1 && digits.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_uri_is_whole() {
        for uri in [
            "data:image/png;base64,iVBORw0KGgo=",
            "data:image/svg+xml,%3Csvg/%3E",
            "DATA:,x",
            "data:image/jpeg;base64,AAAA",
            "data:image/png;base64,iVBORw0KGgo%3d",
        ] {
            assert!(is_data_uri(uri), "{uri}");
        }
        for uri in [
            "https://example.org/i.png",
            "",
            "data:image/png;base64",
            "data:image/png;base64,A",
            "data:image/png;base64,A*AA",
            // The letters of base64url are none of base64 (RFC 2397): browsers read no such image.
            "data:image/png;base64,A-A_",
            "data:image/svg+xml;utf8,<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
            "data:image/svg+xml,%3Csvg fill=%22#627eea%22/%3E",
        ] {
            assert!(!is_data_uri(uri), "{uri}");
        }
    }
}
