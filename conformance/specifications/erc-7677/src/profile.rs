//! The profile: what the user states about the target, read from `paymaster.toml`.

use std::{borrow::Cow, collections::BTreeMap};

use alloy_primitives::Address;
pub use paymaster_engine::knowledge::Accepts;
use paymaster_engine::{specification::ProfileError, spending::Wei};
use paymaster_ethereum::{ContractKind, EntryPointVersion};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

use crate::kinds::version_named;

/// The profile of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// What the URL serves.
    pub service: Service,
    /// Which operations it sponsors.
    pub operations: Operations,
    /// The contract that checks the data.
    pub contract: Contract,
}

/// What the URL serves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Service {
    /// The versions of EntryPoint that are served, as `0.7`; empty where the profile does not state them.
    pub entry_points: Vec<String>,
    /// The chain that requests name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_id: Option<u64>,
    /// The context that requests have; `{}` by default.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
}

/// Which operations the target sponsors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Operations {
    /// What it does with operations that are not listed.
    pub accepts: Accepts,
    /// Operations that it sponsors.
    pub sponsorable: Vec<Listed>,
    /// Operations and senders that it refuses.
    pub refused: Vec<Listed>,
    /// How many data requests of a run may get a result: each may reserve money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_sponsorships: Option<u64>,
    /// The most that their operations may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Wei>,
}

/// An operation of one version, or all operations of a sender.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Listed {
    /// The version of EntryPoint; none for every operation of a sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_point: Option<String>,
    /// Members of the operation, as clients send them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub operation: Map<String, Value>,
    /// The sender whose operations are all refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
}

impl Listed {
    /// The version of EntryPoint; none for every operation of a sender.
    pub fn version(&self) -> Option<EntryPointVersion> {
        version_named(self.entry_point.as_deref()?)
    }

    /// Whether an operation for this version is the listed one: it has every listed member, and no call and no new account beyond them.
    pub fn lists(&self, version: EntryPointVersion, sent: &Value) -> bool {
        let is_same = |one: &Value, other: &Value| match (one.as_str(), other.as_str()) {
            (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
            _ => one == other,
        };
        if let Some(sender) = &self.sender {
            return sent["sender"].as_str().is_some_and(|sent| sent.eq_ignore_ascii_case(sender));
        }
        let is_empty = |member: &str| sent.get(member).is_none_or(|data| data.is_null() || data == "0x");
        self.version() == Some(version)
            && ["callData", "initCode", "factory", "eip7702Auth"]
                .iter()
                .all(|member| self.operation.contains_key(*member) || is_empty(member))
            && self
                .operation
                .iter()
                .all(|(member, value)| sent.get(member).is_some_and(|sent| is_same(sent, value)))
    }
}

/// The contract that checks the data, where it is one whose data we can read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Contract {
    /// The contract by version of EntryPoint: `{ "0.7" = "verifying-0.7" }`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kind: BTreeMap<String, String>,
    /// The account whose signature the contract accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// How many flags Coinbase's contract reads, whose editions differ: without it, their signatures are not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flags: Option<u8>,
    /// A bundler that may send the operations, whose senders can pay where a token is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bundler: Option<String>,
    /// Senders that hold enough of the tokens that the paymaster takes, and let it take them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub payers: Vec<String>,
}

impl Contract {
    /// The contract for this version.
    pub fn of(&self, version: EntryPointVersion) -> Option<ContractKind> {
        self.kind.get(&version.to_string())?.parse().ok()
    }

    /// Whether the profile says that this sender can pay in tokens.
    pub fn can_pay(&self, sender: Address) -> bool {
        self.payers.iter().any(|payer| payer.parse() == Ok(sender))
    }

    /// The account whose signature it accepts.
    pub fn signer(&self) -> Option<Address> {
        self.signer.as_deref()?.parse().ok()
    }
}

/// The tables of a file. Those of other users are left out, whatever they say. Values whose type is easily mistaken are read as they are.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Contents {
    spec: IgnoredAny,
    target: IgnoredAny,
    run: IgnoredAny,
    load: IgnoredAny,
    service: RawService,
    operations: Operations,
    contract: Contract,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct RawService {
    entry_points: Vec<String>,
    chain_id: Option<Value>,
    context: Option<Value>,
}

/// Reads the profile in the text of a configuration file.
pub(crate) fn read(text: &str) -> Result<Profile, ProfileError> {
    let contents: Contents = toml::from_str(text).map_err(|cause| ProfileError {
        at: cause.span().map(|span| span.start),
        // The parser's own text quotes values, which can be secret.
        message: cause.message().lines().next().unwrap_or_default().to_owned(),
    })?;
    let Contents { service, operations, contract, .. } = contents;
    let wrong = |message: String| ProfileError { at: None, message };
    let chain_id = service.chain_id.map(|chain_id| {
        let message =
            "service.chain-id is no chain id: write a whole number above 0, such as chain-id = 8453";
        chain_id.as_u64().filter(|id| *id > 0).ok_or_else(|| wrong(message.to_owned()))
    });
    let context = match service.context {
        None => Map::new(),
        Some(Value::Object(context)) => context,
        Some(_) => {
            let message =
                "service.context is no object: write a table, such as context = { policyId = \"...\" }";
            return Err(wrong(message.to_owned()));
        }
    };
    let service = Service { entry_points: service.entry_points, chain_id: chain_id.transpose()?, context };
    let profile = Profile { service, operations, contract };
    check(&profile).map_err(wrong)?;
    Ok(profile)
}

const VERSIONS: &str = "write 0.6, 0.7, 0.8 or 0.9";

fn check(profile: &Profile) -> Result<(), String> {
    if let Some(place) = profile.service.entry_points.iter().position(|name| version_named(name).is_none()) {
        return Err(format!("service.entry-points[{place}] is no version of EntryPoint: {VERSIONS}"));
    }
    let operations = &profile.operations;
    for (list, entries) in [("sponsorable", &operations.sponsorable), ("refused", &operations.refused)] {
        for (place, entry) in entries.iter().enumerate() {
            let may_be_sender = list == "refused";
            check_listed(entry, may_be_sender).map_err(|what| format!("operations.{list}[{place}]{what}"))?;
        }
    }
    for (name, kind) in &profile.contract.kind {
        let Some(version) = version_named(name) else {
            return Err(format!("contract.kind has a key that is no version of EntryPoint: {VERSIONS}"));
        };
        if !kind.parse().is_ok_and(|kind: ContractKind| kind.serves(version)) {
            let known = ContractKind::all().filter(|kind| kind.serves(version)).map(|kind| kind.to_string());
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(format!(
                "contract.kind.\"{name}\" is no contract for it that we know: write one of {known}"
            ));
        }
    }
    let Contract { signer, bundler, flags, payers, .. } = &profile.contract;
    for (name, addresses) in
        [("signer", signer.as_slice()), ("bundler", bundler.as_slice()), ("payers", payers)]
    {
        if addresses.iter().any(|address| address.parse::<Address>().is_err()) {
            return Err(format!("contract.{name} is no address: write 0x and 40 hex digits"));
        }
    }
    if flags.is_some_and(|flags| flags != 3) {
        return Err("contract.flags is not 3, the only number whose layout is known: leave the line out, and signatures are not checked".to_owned());
    }
    Ok(())
}

/// The members of an operation that are bytes.
const BYTES: [&str; 6] =
    ["initCode", "callData", "factoryData", "paymasterAndData", "paymasterData", "signature"];

fn hex_digits(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix("0x")
}

fn check_listed(entry: &Listed, may_be_sender: bool) -> Result<(), Cow<'static, str>> {
    let is_address = |text: &str| text.starts_with("0x") && text.parse::<Address>().is_ok();
    if let Some(sender) = &entry.sender {
        if !may_be_sender || entry.entry_point.is_some() || !entry.operation.is_empty() {
            return Err(
                ": sender stands alone, and in refused only: write { entry-point = \"0.7\", operation = { ... } }".into(),
            );
        }
        return if is_address(sender) {
            Ok(())
        } else {
            Err(".sender is no address: write 0x and 40 hex digits".into())
        };
    }
    if entry.version().is_none() {
        return Err(".entry-point is no version of EntryPoint: write 0.6, 0.7, 0.8 or 0.9".into());
    }
    if !entry.operation.get("sender").and_then(Value::as_str).is_some_and(is_address) {
        return Err(".operation has no sender, or one that is no address: write 0x and 40 hex digits".into());
    }
    let is_written_as_sent = |value: &Value| {
        value.is_object()
            || hex_digits(value).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
    };
    if !entry.operation.values().all(is_written_as_sent) {
        return Err(
            ".operation has a value that is not hex in quotes: write it as clients send it, such as nonce = \"0x7\"".into(),
        );
    }
    let has_half_a_byte = |name: &str| {
        entry.operation.get(name).and_then(hex_digits).is_some_and(|digits| digits.len() % 2 == 1)
    };
    match BYTES.iter().find(|name| has_half_a_byte(name)) {
        Some(name) => {
            Err(format!(".operation.{name} has an odd number of hex digits: each byte has two").into())
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;

    #[test]
    fn a_whole_profile_is_read() {
        let profile = read(
            r#"
            [service]
            entry-points = ["0.6", "0.7"]
            chain-id = 31337
            context = { policyId = "p" }
            [operations]
            accepts = "any"
            sponsorable = [{ entry-point = "0.7", operation = { sender = "0x00000000000000000000000000000000000000a1" } }]
            refused = [{ sender = "0x00000000000000000000000000000000000000a2" }]
            [contract]
            kind = { "0.7" = "verifying-0.7" }
            signer = "0x00000000000000000000000000000000000000a3"
            "#,
        )
        .unwrap();
        assert_eq!(profile.service.chain_id, Some(31_337));
        assert_eq!(profile.contract.of(EntryPointVersion::V07), Some(ContractKind::Verifying07));
        let sent =
            serde_json::json!({ "sender": "0x00000000000000000000000000000000000000A1", "callData": "0x" });
        assert!(profile.operations.sponsorable[0].lists(EntryPointVersion::V07, &sent));
        assert!(!profile.operations.sponsorable[0].lists(EntryPointVersion::V06, &sent));
        let mut target = Target::new(profile);
        assert!(target.serves(EntryPointVersion::V06));
        target.profile.service.entry_points.clear();
        assert!(!target.serves(EntryPointVersion::V06));
        assert!(target.serves(EntryPointVersion::V07), "an operation of it is promised");
        assert_eq!(read("").unwrap(), Profile::default());
    }

    #[test]
    fn signatures_of_coinbase_s_contract_are_checked_where_the_profile_states_its_flags() {
        let contract = |flags: &str| {
            let text = format!(
                "service.chain-id = 8453\ncontract = {{ kind = {{ \"0.7\" = \"coinbase-0.7\" }}, signer = \"0x00000000000000000000000000000000000000a3\"{flags} }}"
            );
            Target::new(read(&text).unwrap()).contract(EntryPointVersion::V07)
        };
        assert_eq!(contract(""), None);
        let (kind, _, chain) = contract(", flags = 3").unwrap();
        assert_eq!((kind, chain), (ContractKind::Coinbase07, 8_453));
    }

    #[test]
    fn bad_input_is_named_with_a_remedy() {
        for (text, place, remedy) in [
            (r#"service.entry-points = ["0.5"]"#, "service.entry-points[0]", "0.6, 0.7, 0.8 or 0.9"),
            (r#"service.chain-id = "0x1""#, "service.chain-id", "chain-id = 8453"),
            ("service.chain-id = 0", "service.chain-id", "chain-id = 8453"),
            (r#"service.context = "policy""#, "service.context", "write a table"),
            (r#"contract.signer = "0x12""#, "contract.signer", "40 hex digits"),
            (r#"contract.bundler = "bundler""#, "contract.bundler", "40 hex digits"),
            (r#"contract.payers = ["0xa5"]"#, "contract.payers", "40 hex digits"),
            ("contract.flags = 2", "contract.flags", "leave the line out"),
            (r#"contract.kind = { "0.6" = "verifying-0.7" }"#, "contract.kind.\"0.6\"", "verifying-0.6"),
            (r#"operations.refused = [{ sender = "x" }]"#, "operations.refused[0].sender", "40 hex digits"),
            (
                r#"operations.sponsorable = [{ entry-point = "0.7", operation = { sender = "0x00000000000000000000000000000000000000a1", signature = "0x123" } }]"#,
                "operations.sponsorable[0].operation.signature",
                "each byte has two",
            ),
            (
                r#"operations.sponsorable = [{ entry-point = "0.7", operation = { sender = "0x00000000000000000000000000000000000000a1", nonce = "0xg" } }]"#,
                "operations.sponsorable[0].operation",
                "as clients send it",
            ),
            (r#"operations.sponsorable = [{ sender = "x" }]"#, "operations.sponsorable[0]", "entry-point"),
        ] {
            let message = read(text).unwrap_err().message;
            assert!(message.contains(place) && message.contains(remedy), "{text}: {message}");
        }
    }
}
