//! What is known of the target when a case is built or an answer is judged: the profile, and what discovery found.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use alloy_primitives::Address;
use paymaster_engine::json::is_exact_integer;
use paymaster_engine::knowledge::{Expectation, Knowledge, Learn, Requirement, Statement};
use paymaster_engine::message::{Call, ParsedRequest};
use paymaster_engine::rules::{MissingLine, View};
use paymaster_ethereum::{ContractKind, EntryPointVersion};
use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::discovery::{self, Discovery};
use crate::generate::Source;
use crate::kinds::{self, CallParts, hex_number, is_stub, version};
use crate::profile::{Accepts, Listed, Profile};
use crate::rules::results::LIMITS;
use crate::{SPECIFICATION, lines};

/// Everything that is known of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// What the user states.
    pub profile: Profile,
    /// What its answers showed.
    pub found: Found,
    /// The published clients whose request headers the target refuses, by name.
    #[serde(skip)]
    pub refused_clients: BTreeSet<&'static str>,
    /// Whether a node is asked what the contract accepts.
    #[serde(skip)]
    pub(crate) on_chain: bool,
}

/// What the answers of a target showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Found {
    /// The chain that it serves.
    pub chain_id: Option<u64>,
    /// Whether it names that chain, or refuses others: then its signatures are for this chain.
    pub chain_is_sure: bool,
    /// The versions that a bundler at the same URL announces. Others are not tried; whether the paymaster serves these, its answers show.
    pub announced: BTreeSet<String>,
    /// The versions of EntryPoint for which it returned a result that fits.
    pub served: BTreeSet<String>,
    /// Whether it looks at the EntryPoint: it refused unknown ones, or some results are of 0.6 alone and others of 0.7 and later alone.
    pub reads_entry_point: bool,
    /// The members of the latest stub, by version: wallets repeat them in the data request.
    pub stubs: BTreeMap<String, Map<String, Value>>,
    /// The gas limits in which stubs of one version differ: the data of an operation may need those of its own stub.
    pub varying_limits: BTreeSet<String>,
    /// Whether a stub had `isFinal` true.
    pub is_final: bool,
    /// The kinds in which a listed operation was served: a later refusal of it can be a quota.
    pub kept: BTreeSet<String>,
    /// What it does with what the text leaves open: names and values, for reports.
    pub dialect: BTreeMap<String, String>,
}

/// Call data of ordinary size, in bytes: a batch of a dozen token transfers takes about 2 KiB.
const CALL_DATA_BYTES: usize = 4_096;
/// The longest ordinary text as an id, in printable ASCII characters.
const ID_LENGTH: usize = 64;
/// The longest ordinary signature in hex: that of a passkey, with its `0x`.
const LONGEST_SIGNATURE: usize = 2 + 2 * 512;
/// The block gas limit of large chains.
const MOST_GAS: u64 = 30_000_000;

/// The bounds of ordinary size, with their reasons.
pub(crate) const ORDINARY_SIZES: [(&str, &str); 4] = [
    (LONG_CALL_DATA, "a batch of a dozen token transfers takes about 2 KiB"),
    (LONG_ID, "clients send counters, times and UUIDs"),
    (LARGE_ID, "clients send counters and times"),
    (LARGE_GAS, "the gas limit of a block"),
];
const LONG_CALL_DATA: &str = "call data or code of a new account of more than 4096 bytes";
const LONG_ID: &str = "a text as id of more than 64 characters, or not in printable ASCII";
const LARGE_ID: &str = "a number as id that is negative, has a fraction, or is above 2^53";
const LARGE_GAS: &str = "a gas limit above 30000000";

pub(crate) const GAS: [&str; 3] = ["callGasLimit", "verificationGasLimit", "preVerificationGas"];
pub(crate) const FEES: [&str; 2] = ["maxFeePerGas", "maxPriorityFeePerGas"];
/// What decides how much an operation costs at most.
pub(crate) const COSTS: [&str; 5] = [GAS[0], GAS[1], GAS[2], FEES[0], FEES[1]];

impl Target {
    /// The dialect in a line, for people.
    pub(crate) fn dialect_in_words(&self) -> String {
        let chain =
            self.chain_id().map_or_else(|| "chain unknown".to_owned(), |chain| format!("chain {chain}"));
        let versions: Vec<String> = self.served_versions().map(|version| version.to_string()).collect();
        let versions = if versions.is_empty() { "none known".to_owned() } else { versions.join(", ") };
        let mut parts = vec![chain, format!("EntryPoint {versions}")];
        parts.extend(self.found.dialect.iter().map(|(name, value)| format!("{name} {value}")));
        parts.join(" · ")
    }

    /// What is known of a target of this specification.
    ///
    /// # Panics
    ///
    /// Where the knowledge is that of another specification: its rules and relations are in no run of this one.
    pub fn of(knowledge: &dyn Knowledge) -> &Self {
        let knowledge: &dyn Any = knowledge;
        knowledge.downcast_ref().expect("the rules of a specification get its own knowledge")
    }

    /// What the profile alone says.
    pub fn new(profile: Profile) -> Self {
        Self { profile, ..Self::default() }
    }

    /// The chain that requests name.
    pub fn chain_id(&self) -> Option<u64> {
        self.profile.service.chain_id.or(self.found.chain_id)
    }

    /// Whether signatures are known to be for this chain.
    fn chain_is_sure(&self) -> bool {
        self.profile.service.chain_id.is_some() || self.found.chain_is_sure
    }

    /// The context that requests have.
    pub fn context(&self) -> Value {
        Value::Object(self.profile.service.context.clone())
    }

    /// Whether requests for this version are sent: the profile lists it, or the target served it. Where neither is known of any version, all are
    /// sent, or those that are announced.
    pub fn sends(&self, version: EntryPointVersion) -> bool {
        let announced = &self.found.announced;
        let is_none_known = self.profile.service.entry_points.is_empty() && self.found.served.is_empty();
        let may_be_served = || announced.is_empty() || announced.contains(&version.to_string());
        if is_none_known { may_be_served() } else { self.serves(version) }
    }

    /// Whether the target serves this version: the profile lists it or, where it lists none, says that an operation of it is sponsored, or the
    /// target returned a result that fits.
    pub fn serves(&self, version: EntryPointVersion) -> bool {
        let (listed, name): (_, &str) = (&self.profile.service.entry_points, version.into());
        if !listed.is_empty() {
            return listed.iter().any(|listed| listed == name);
        }
        let mut sponsorable = self.profile.operations.sponsorable.iter();
        self.found.served.contains(name)
            || sponsorable.any(|listed| listed.entry_point.as_deref() == Some(name))
    }

    /// The versions that the target serves.
    pub fn served_versions(&self) -> impl Iterator<Item = EntryPointVersion> {
        EntryPointVersion::ALL.into_iter().filter(|version| self.serves(*version))
    }

    /// Whether it is known to serve several versions. A service of 0.7 alone that ignores the EntryPoint answers for 0.8 and 0.9 as for its
    /// own.
    pub fn serves_several(&self) -> bool {
        match self.profile.service.entry_points.len() {
            0 => self.found.reads_entry_point && self.served_versions().count() > 1,
            listed => listed > 1,
        }
    }

    /// The versions of EntryPoint that requests are sent for.
    pub fn sent_versions(&self) -> impl Iterator<Item = EntryPointVersion> {
        EntryPointVersion::ALL.into_iter().filter(|version| self.sends(*version))
    }

    /// The gas limits of the paymaster that a data request has: those of the latest stub, or ordinary ones.
    pub(crate) fn paymaster_limits(&self, version: EntryPointVersion) -> [(&'static str, Value); 2] {
        let stub = self.found.stubs.get(&version.to_string());
        let [verification, post_op] = LIMITS;
        [(verification, "0xc350"), (post_op, "0x7530")].map(|(member, ordinary)| {
            let of_stub = stub.and_then(|stub| stub.get(member)).filter(|limit| limit.is_string());
            (member, of_stub.cloned().unwrap_or_else(|| json!(ordinary)))
        })
    }

    /// The paymaster of the latest stub, where discovery found one.
    pub(crate) fn paymaster(&self, version: EntryPointVersion) -> Option<Address> {
        let stub = self.found.stubs.get(&version.to_string())?;
        let member = stub.get("paymaster").or_else(|| stub.get("paymasterAndData"))?;
        member.as_str()?.get(..42)?.parse().ok()
    }

    /// The contract for a version, its signer and its chain, where signatures can be checked.
    pub fn contract(&self, version: EntryPointVersion) -> Option<(ContractKind, Address, u64)> {
        let kind = self.profile.contract.of(version)?;
        let has_editions = matches!(kind, ContractKind::Coinbase06 | ContractKind::Coinbase07);
        let is_checked = !has_editions || self.profile.contract.flags.is_some();
        let chain = self.chain_id().filter(|_| is_checked && self.chain_is_sure())?;
        Some((kind, self.profile.contract.signer()?, chain))
    }

    /// Whether signatures of any version can be checked.
    pub fn checks_signatures(&self) -> bool {
        self.sent_versions().any(|version| self.contract(version).is_some())
    }

    /// Whether every operation gets a result that the profile does not list as refused.
    pub fn accepts_any(&self) -> bool {
        self.profile.operations.accepts == Accepts::Any
    }

    /// Whether a data request may be refused for the gas limits of the paymaster in it, which are those of another operation's stub.
    pub fn may_refuse_limits(&self, call: &Call) -> bool {
        self.found.varying_limits.iter().any(|limit| call.operation().get(limit).is_some())
    }

    fn lists(list: &[Listed], version: EntryPointVersion, operation: &Value) -> bool {
        list.iter().any(|listed| listed.lists(version, operation))
    }

    /// Whether the profile lists the operation as refused.
    pub fn is_refused(&self, version: EntryPointVersion, operation: &Value) -> bool {
        Self::lists(&self.profile.operations.refused, version, operation)
    }

    /// The bound of ordinary size that a call exceeds.
    fn beyond(call: &Call) -> Option<&'static str> {
        let operation = call.operation();
        let bytes =
            |member: &str| operation[member].as_str().map_or(0, |text| text.len().saturating_sub(2) / 2);
        let is_large = |member: &&str| {
            let limit = &operation[*member];
            limit.is_string() && hex_number(limit).is_none_or(|limit| limit > MOST_GAS)
        };
        let bounds = [
            (
                LONG_CALL_DATA,
                ["callData", "initCode", "factoryData"].iter().any(|member| bytes(member) > CALL_DATA_BYTES),
            ),
            (
                LONG_ID,
                call.id.as_str().is_some_and(|id| {
                    id.len() > ID_LENGTH || id.bytes().any(|byte| !(b' '..=b'~').contains(&byte))
                }),
            ),
            (
                LARGE_ID,
                call.id.is_number() && (!is_exact_integer(&call.id) || call.id.to_string().starts_with('-')),
            ),
            (LARGE_GAS, GAS.iter().any(is_large)),
        ];
        bounds.into_iter().find(|(_, exceeded)| *exceeded).map(|(bound, _)| bound)
    }

    /// Whether a call is one that every client could send: of the target's chain and context, with the EntryPoint of a served version.
    fn is_usual(&self, call: &Call) -> bool {
        let is_chain = self.chain_id().is_none_or(|chain| call.chain_id() == Some(chain));
        let own = &self.profile.service.context;
        // A client that has no context may send null; a target may ask it for an object, and refuses what it refuses in any case.
        let is_refused = || self.lists_as_refused(&call.envelope);
        let is_context = call.context().as_object() == Some(own)
            || call.context().is_null() && own.is_empty() && is_refused();
        call.known_version().is_some_and(|version| self.sends(version)) && is_chain && is_context
    }

    /// Whether an operation is one that every service takes: of an account that exists, with real limits and fees, no null, and no longer
    /// signature than that of a passkey; or of an account to create, where any operation is accepted. The rules about forms of clients judge the
    /// others, by their own grades.
    fn is_real(&self, operation: &Value) -> bool {
        let is_positive = |member: &&str| hex_number(&operation[*member]).is_some_and(|number| number > 0);
        let fees = FEES.map(|fee| hex_number(&operation[fee]).unwrap_or_default());
        let has_null = operation.as_object().is_some_and(|members| members.values().any(Value::is_null));
        let is_empty = |member: &str| operation.get(member).is_none_or(|data| data == "0x");
        let digits = |member: &str| operation[member].as_str().unwrap_or_default().len();
        // An address with a call, and not the mark of EIP-7702.
        let creates =
            |factory, data, least| self.accepts_any() && digits(factory) >= 42 && digits(data) >= least;
        GAS.iter().all(is_positive)
            && fees[1] > 0
            && fees[1] <= fees[0]
            && !has_null
            && is_empty("eip7702Auth")
            && digits("signature") <= LONGEST_SIGNATURE
            && (is_empty("initCode") || creates("initCode", "initCode", 50))
            && (is_empty("factory") || creates("factory", "factoryData", 10))
    }

    fn expectation(&self, call: &Call) -> Expectation {
        let (Some(version), operation) = (call.known_version(), call.operation()) else {
            return Expectation::Unknown;
        };
        if self.is_refused(version, operation) {
            return Expectation::NotSponsored;
        }
        // What decides must be stated: the version, the chain, and an operation of values that every service takes.
        let is_stated = self.serves(version)
            && self.chain_id().is_some()
            && self.is_real(operation)
            && self.has_limits_of_stub(call, version);
        // A service that simulates knows the nonces of listed operations alone.
        let is_short_nonce = hex_number(&operation["nonce"]).is_some();
        let is_stated = is_stated && (self.accepts_any() || is_short_nonce && self.lists_costs(call));
        let may_be_quota = !self.accepts_any() && self.found.kept.contains(call.pair.name);
        if is_stated && (self.accepts_any() || self.is_listed(call)) && !may_be_quota {
            Expectation::Sponsored
        } else {
            Expectation::Unknown
        }
    }

    /// Whether a call has the gas limits of the paymaster that a wallet sends again with a data request: those of the stub.
    fn has_limits_of_stub(&self, call: &Call, version: EntryPointVersion) -> bool {
        let stub = self.found.stubs.get(&version.to_string()).filter(|_| !is_stub(call.pair));
        LIMITS.iter().all(|limit| {
            let of_stub = stub.and_then(|stub| stub.get(*limit)).filter(|of_stub| of_stub.is_string());
            of_stub.is_none_or(|of_stub| call.operation().get(limit) == Some(of_stub))
        })
    }

    /// Whether the profile lists the operation of a call with its gas limits and fees. A target may refuse those that we invent.
    fn lists_costs(&self, call: &Call) -> bool {
        self.profile.operations.sponsorable.iter().any(|listed| {
            let is_listed = |member: &&str| listed.operation.contains_key(*member);
            listed.lists(version(call.pair), call.operation()) && COSTS.iter().all(is_listed)
        })
    }

    /// Whether the profile lists the operation of a call as sponsorable.
    pub fn is_listed(&self, call: &Call) -> bool {
        Self::lists(&self.profile.operations.sponsorable, version(call.pair), call.operation())
    }

    /// Whether the profile names the sender of a call, so that it may have sent operations.
    pub fn names_sender(&self, call: &Call) -> bool {
        let sent = call.operation()["sender"].as_str().unwrap_or_default();
        let is_named = |listed: &Listed| {
            listed
                .operation
                .get("sender")
                .and_then(Value::as_str)
                .is_some_and(|named| named.eq_ignore_ascii_case(sent))
        };
        self.profile.operations.sponsorable.iter().any(is_named)
    }
}

impl From<Profile> for Arc<dyn Knowledge> {
    fn from(profile: Profile) -> Self {
        Arc::new(Target::new(profile))
    }
}

impl Knowledge for Target {
    paymaster_engine::knowledge_of_fields!();

    fn bundler(&self) -> Option<String> {
        self.profile.contract.bundler.clone()
    }

    fn requirement(&self, call: &Call) -> Requirement {
        let within_tables = self.is_usual(call);
        let beyond = Self::beyond(call);
        let is_judged = within_tables && beyond.is_none();
        let expectation = if is_judged { self.expectation(call) } else { Expectation::Unknown };
        Requirement { within_tables, beyond, expectation }
    }

    fn lists_as_refused(&self, request: &Value) -> bool {
        let version = request["params"][1].as_str().and_then(EntryPointVersion::at);
        version.is_some_and(|version| self.is_refused(version, &request["params"][0]))
    }

    fn may_serve(&self, kind: Kind) -> bool {
        self.sends(version(kind))
    }

    fn excludes(&self, kind: Kind) -> bool {
        let listed = &self.profile.service.entry_points;
        !listed.is_empty() && !listed.contains(&version(kind).to_string())
    }

    fn knows(&self, line: &MissingLine) -> bool {
        let operations = &self.profile.operations;
        // Where operations that we invent are served, none has to be listed.
        let is_open = !operations.sponsorable.is_empty() || !self.found.served.is_empty();
        let lists_some = operations.accepts == Accepts::Unknown && is_open;
        *line == lines::CHAIN_ID && self.chain_id().is_some()
            || *line == lines::SPONSORABLE && (lists_some || self.accepts_any())
            || *line == lines::ACCEPTS && self.accepts_any()
    }

    fn dialect(&self) -> Map<String, Value> {
        let mut known = Map::new();
        known.insert("chain-id".to_owned(), self.chain_id().map_or(Value::Null, Value::from));
        known.insert(
            "entry-points".to_owned(),
            self.served_versions().map(|version| version.to_string()).collect(),
        );
        known.extend(self.found.dialect.iter().map(|(name, value)| (name.clone(), json!(value))));
        known
    }

    fn kept_lines(&self, view: &View<'_>, note: &mut dyn FnMut(&'static str, usize, bool)) {
        let Some(call) = view.valid_call().filter(|call| view.within_tables && self.is_listed(call)) else {
            return;
        };
        let listed = &self.profile.operations.sponsorable;
        let version = version(call.pair);
        let place = listed.iter().position(|listed| listed.lists(version, call.operation()));
        let is_kept = match (view.answer.result(), view.answer.error()) {
            (Some(_), _) => true,
            (_, Some(_)) => false,
            _ => return,
        };
        if let Some(place) = place {
            note(lines::SPONSORABLE_LIST, place, is_kept);
        }
    }

    fn stated(&self, list: &str, place: usize) -> Option<Statement> {
        let listed =
            self.profile.operations.sponsorable.get(place).filter(|_| list == lines::SPONSORABLE_LIST)?;
        let sender = listed.operation.get("sender")?.as_str()?.to_owned();
        let own = listed.clone();
        let version = listed.version()?;
        Some(Statement {
            found_by: sender.clone(),
            states: format!("the target sponsors the listed operation of {sender} for EntryPoint {version}"),
            contradicted: "refused it, and none sponsored it",
            is_contradicted: Box::new(move |request, answer| {
                let sent = request["params"][1].as_str().and_then(EntryPointVersion::at);
                sent == Some(version)
                    && own.lists(version, &request["params"][0])
                    && answer["error"].is_object()
            }),
        })
    }

    fn with_pins_of(&self, other: &dyn Knowledge) -> Arc<dyn Knowledge> {
        let mut profile = self.profile.clone();
        profile.service = Self::of(other).profile.service.clone();
        Arc::new(Self { profile, ..self.clone() })
    }

    fn expected(&self) -> Arc<dyn Knowledge> {
        let mut expected = self.clone();
        expected.found.chain_id.get_or_insert(1);
        Arc::new(expected)
    }

    fn learner(&self) -> Box<dyn Learn> {
        Box::new(Learner(self.clone()))
    }
}

/// Learns the chain and the versions of recorded traffic.
#[derive(Debug)]
struct Learner(Target);

impl Learn for Learner {
    fn see(&mut self, exchange: &Exchange) {
        let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
        if let Some(call) = request.valid_call() {
            discovery::learn(&mut self.0.found, call, exchange);
        }
    }

    fn learned(&self) -> Arc<dyn Knowledge> {
        Arc::new(self.0.clone())
    }
}

/// The kind of the same call by the other method.
pub(crate) fn other_method(kind: Kind) -> Kind {
    kinds::of(!is_stub(kind), version(kind))
}
