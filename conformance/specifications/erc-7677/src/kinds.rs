//! The kinds of calls: each method with each version of EntryPoint, and the parts of a call.

use paymaster_engine::message::{Call, Called};
use paymaster_ethereum::EntryPointVersion;
use paymaster_schemas::{Kind, KindOfCall};
use serde_json::{Map, Value};

/// The method that is called before the gas estimate.
pub const STUB: &str = "pm_getPaymasterStubData";
/// The method that is called before the user signs.
pub const DATA: &str = "pm_getPaymasterData";

const fn kind(number: u8, name: &'static str, version: &'static str) -> KindOfCall {
    let is_stub = number < 4;
    let form = (2 * (number / 4) + (!number.is_multiple_of(4)) as u8) as usize;
    KindOfCall {
        number,
        name,
        method: if is_stub { STUB } else { DATA },
        selector: Some(("EntryPoint", version)),
        request_document: ["stub-request-06", "stub-request-07", "data-request-06", "data-request-07"][form],
        result_document: ["stub-result-06", "stub-result-07", "data-result-06", "data-result-07"][form],
    }
}

static DESCRIBED: [KindOfCall; 8] = [
    kind(0, "stub-0.6", "0.6"),
    kind(1, "stub-0.7", "0.7"),
    kind(2, "stub-0.8", "0.8"),
    kind(3, "stub-0.9", "0.9"),
    kind(4, "data-0.6", "0.6"),
    kind(5, "data-0.7", "0.7"),
    kind(6, "data-0.8", "0.8"),
    kind(7, "data-0.9", "0.9"),
];

/// Every kind: stubs by version, then data by version.
pub const KINDS: [Kind; 8] = [
    Kind::new(&DESCRIBED[0]),
    Kind::new(&DESCRIBED[1]),
    Kind::new(&DESCRIBED[2]),
    Kind::new(&DESCRIBED[3]),
    Kind::new(&DESCRIBED[4]),
    Kind::new(&DESCRIBED[5]),
    Kind::new(&DESCRIBED[6]),
    Kind::new(&DESCRIBED[7]),
];

/// A stub for EntryPoint 0.7.
pub const STUB_07: Kind = KINDS[1];
/// Data for EntryPoint 0.6.
pub const DATA_06: Kind = KINDS[4];
/// Data for EntryPoint 0.7.
pub const DATA_07: Kind = KINDS[5];

/// Which answers the function of a rule judges, as its parameters: those of one method, and those of EntryPoint 0.6 or of later ones.
pub(crate) const OF_STUBS: bool = true;
pub(crate) const OF_DATA: bool = false;
pub(crate) const FOR_06: bool = true;
pub(crate) const FOR_LATER: bool = false;

/// Whether a kind is a stub.
pub fn is_stub(kind: Kind) -> bool {
    kind.method == STUB
}

/// The version of EntryPoint of a kind.
pub fn version(kind: Kind) -> EntryPointVersion {
    EntryPointVersion::ALL[usize::from(kind.number % 4)]
}

/// Whether operations and results have the members of EntryPoint 0.6.
pub fn is_06(kind: Kind) -> bool {
    version(kind) == EntryPointVersion::V06
}

/// The member of a result that has the bytes of the service.
pub(crate) fn data_member(kind: Kind) -> &'static str {
    if is_06(kind) { "paymasterAndData" } else { "paymasterData" }
}

/// The kind of a stub or of data for this version.
pub fn of(is_stub: bool, version: EntryPointVersion) -> Kind {
    let place = EntryPointVersion::ALL.iter().position(|known| *known == version).unwrap_or_default();
    KINDS[if is_stub { place } else { place + 4 }]
}

/// The version of this name: `0.7`.
pub fn version_named(name: &str) -> Option<EntryPointVersion> {
    EntryPointVersion::ALL.into_iter().find(|version| version.to_string() == name)
}

/// The parts of a call.
pub trait CallParts {
    /// The user operation.
    fn operation(&self) -> &Value;
    /// The version of the EntryPoint, if it is a known one.
    fn known_version(&self) -> Option<EntryPointVersion>;
    /// The chain id, if it is a hex number.
    fn chain_id(&self) -> Option<u64>;
    /// The context.
    fn context(&self) -> &Value;
}

impl CallParts for Call {
    fn operation(&self) -> &Value {
        &self.envelope["params"][0]
    }

    fn known_version(&self) -> Option<EntryPointVersion> {
        EntryPointVersion::at(self.envelope["params"][1].as_str()?)
    }

    fn chain_id(&self) -> Option<u64> {
        hex_number(&self.envelope["params"][2])
    }

    fn context(&self) -> &Value {
        &self.envelope["params"][3]
    }
}

/// A number in hex of at most 64 bits.
pub fn hex_number(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

/// What a request calls. With an unknown EntryPoint, the form of the operation decides: which members it needs must be known to read it.
pub(crate) fn called(envelope: &Value) -> Called {
    let method = match envelope["method"].as_str() {
        Some(STUB) => STUB,
        Some(DATA) => DATA,
        _ => return Called::Unknown,
    };
    let entry_point = &envelope["params"][1];
    let is_address = |text: &str| text.parse::<alloy_primitives::Address>().is_ok();
    let Some(address) = entry_point.as_str().filter(|text| text.starts_with("0x") && is_address(text)) else {
        return Called::WithoutKind { method, is_absent: entry_point.is_null() };
    };
    let by_form = || {
        let is_06 = envelope["params"][0].get("initCode").is_some();
        if is_06 { EntryPointVersion::V06 } else { EntryPointVersion::V07 }
    };
    Called::Kind(of(method == STUB, EntryPointVersion::at(address).unwrap_or_else(by_form)))
}

/// The members of a result that belong to the paymaster of an operation for this version. A result may have those of other versions too.
pub(crate) fn paymaster_members(
    version: EntryPointVersion,
    result: &Map<String, Value>,
) -> Map<String, Value> {
    let names: &[&str] = if version == EntryPointVersion::V06 {
        &["paymasterAndData"]
    } else {
        &["paymaster", "paymasterData", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit"]
    };
    names.iter().filter_map(|name| Some(((*name).to_owned(), result.get(*name)?.clone()))).collect()
}
