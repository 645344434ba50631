//! Discovery: the first requests of a run. They find the chain, the versions of EntryPoint that are served, and what the target does with
//! what the text leaves open. They give no verdict, and the profile takes precedence over what they find.

use std::{collections::BTreeMap, mem, sync::Arc};

use paymaster_engine::cases::{Base, Group, single_requests, with};
use paymaster_engine::knowledge::{Discover, Knowledge};
use paymaster_engine::message::{Answer, Call, ParsedRequest};
use paymaster_engine::session::Access;
use paymaster_ethereum::EntryPointVersion;
use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;
use serde_json::{Value, json};

use crate::SPECIFICATION;
use crate::generate::{Source, hex};
use crate::kinds::{self, CallParts, hex_number, is_stub, paymaster_members, version};
use crate::relations::zero;
use crate::rules::results::{LIMITS, Shape};
use crate::target::{FEES, Found, Target};

/// Chains that are tried where neither the profile nor the target names one: large ones, their test chains, and a development chain.
const CHAINS: [u64; 9] = [1, 8_453, 84_532, 11_155_111, 10, 42_161, 137, 56, 31_337];
/// The fees of an operation that every service could pay for, in wei.
const LOW_FEE: u64 = 1_000_000_000;
/// An address at which no EntryPoint is.
const NO_ENTRY_POINT: &str = "0xe6e6e6e6e6e6e6e6e6e6e6e6e6e6e6e6e6e6e6e6";
/// A chain that no service serves.
const FOREIGN_CHAIN: u64 = 0x00ff_ffff_fff1;

/// What a request of discovery tries.
#[derive(Clone, Copy, Debug)]
enum Trial {
    /// The chain, asked of the node or bundler at the same URL.
    AskChain,
    /// The versions of EntryPoint, asked of the bundler at the same URL.
    AskEntryPoints,
    /// A stub request that names this chain.
    Chain(u64),
    /// An ordinary request.
    Plain(Kind),
    /// An ordinary request with the address of no EntryPoint.
    UnknownEntryPoint,
    /// What the text leaves open, by its name in reports.
    Open(&'static str),
}

/// What a request tries, its kind, and the request; none where nothing known of the target makes one.
type Planned = (Trial, Kind, Option<Value>);

/// A state machine: it returns the requests of a round, takes their exchanges and learns from them.
#[derive(Debug, Default)]
pub(crate) struct Discovery {
    target: Target,
    seed: u64,
    round: u32,
    next_id: u64,
    trials: Vec<Trial>,
    access: Access,
    /// The shapes of the results by version; none for a refusal.
    shapes: BTreeMap<EntryPointVersion, Vec<Option<Shape>>>,
    /// Whether each request with an unknown EntryPoint was refused.
    refuses_unknown: Vec<bool>,
    /// The chains whose requests got a result, and how many got an error.
    chains: (Vec<u64>, usize),
}

impl Discovery {
    /// A discovery that starts from what is known.
    pub(crate) fn new(target: Target, seed: u64) -> Self {
        Self { target, seed, next_id: 1, ..Self::default() }
    }

    /// What is known now, and whether requests got past HTTP to the service.
    pub(crate) fn found(self) -> (Target, Access) {
        (self.target, self.access)
    }

    fn source(&self) -> Source {
        Source::new(self.seed ^ u64::from(self.round), &self.target)
    }

    /// The node or bundler that often stands behind the same URL.
    fn ask_node(&self) -> Vec<Planned> {
        let ask = |trial, method| {
            let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": [] });
            (trial, kinds::STUB_07, Some(request))
        };
        let mut requests = Vec::new();
        if self.target.chain_id().is_none() {
            requests.push(ask(Trial::AskChain, "eth_chainId"));
        }
        if self.target.profile.service.entry_points.is_empty() {
            requests.push(ask(Trial::AskEntryPoints, "eth_supportedEntryPoints"));
        }
        requests
    }

    /// Requests for each chain, of operations that cost little. Of the versions that no profile names, those that nearly every service has one
    /// of are tried first, and then the others.
    fn guess_chain(&self, is_first: bool) -> Vec<Planned> {
        if self.target.chain_id().is_some() {
            return Vec::new();
        }
        let is_named = !self.target.profile.service.entry_points.is_empty();
        let is_common = |version| matches!(version, EntryPointVersion::V06 | EntryPointVersion::V07);
        let versions =
            self.target.sent_versions().filter(|version| (is_named || is_common(*version)) == is_first);
        // A listed operation is sent as it is.
        let is_listed = !self.target.profile.operations.sponsorable.is_empty();
        let fees = if is_listed { &[][..] } else { &FEES[..] };
        let mut source = self.source();
        let mut requests = Vec::new();
        for version in versions {
            let kind = kinds::of(true, version);
            for chain in CHAINS {
                let request = source.base(&Base::accepted(kind)).map(|request| {
                    let request = with_param(&request, 2, json!(hex(chain)));
                    fees.iter().fold(request, |request, fee| with(&request, "/params/0", fee, hex(LOW_FEE)))
                });
                requests.push((Trial::Chain(chain), kind, request));
            }
        }
        requests
    }

    fn which_versions(&self) -> Vec<Planned> {
        let mut source = self.source();
        let mut requests = Vec::new();
        for version in self.target.sent_versions() {
            for is_stub in [true, false] {
                let kind = kinds::of(is_stub, version);
                for _ in 0..2 {
                    requests.push((Trial::Plain(kind), kind, source.base(&Base::accepted(kind))));
                }
            }
            let kind = kinds::of(true, version);
            let request = source.base(&Base::accepted(kind));
            let unknown = request.map(|request| with_param(&request, 1, json!(NO_ENTRY_POINT)));
            requests.push((Trial::UnknownEntryPoint, kind, unknown));
        }
        requests
    }

    /// What the text leaves open, with a version that is served.
    fn what_is_open(&self) -> Vec<Planned> {
        let Some(version) = self.target.served_versions().next() else { return Vec::new() };
        let mut source = self.source();
        let kind = kinds::of(true, version);
        let mut open = |name, change: fn(&Value) -> Value| {
            let request = source.base(&Base::accepted(kind));
            (Trial::Open(name), kind, request.map(|request| change(&request)))
        };
        vec![
            open("foreign-chain", |request| with_param(request, 2, json!(hex(FOREIGN_CHAIN)))),
            open("null-context", |request| with_param(request, 3, Value::Null)),
            open("zero-fees", |request| zero(request, true)),
        ]
    }

    fn learn(&mut self, answers: &[(Group, Vec<Exchange>)]) {
        let trials = mem::take(&mut self.trials);
        for (group, exchanges) in answers {
            // A node is asked here, and not the service.
            let Some(trial) = trials.get(group.number) else { continue };
            if !matches!(trial, Trial::AskChain | Trial::AskEntryPoints) {
                self.access.see_group(group, exchanges, &self.target);
            }
            let Some(exchange) = exchanges.first() else { continue };
            self.learn_one(*trial, exchange);
        }
        self.decide_chain();
        self.decide_versions();
    }

    fn learn_one(&mut self, trial: Trial, exchange: &Exchange) {
        let answer = Answer::of(exchange);
        let result = answer.result().filter(|result| result.is_object());
        let is_refused = answer.error().is_some();
        match trial {
            Trial::AskChain => {
                if let Some(chain) = answer.result().and_then(hex_number) {
                    self.target.found.chain_id = Some(chain);
                    self.target.found.chain_is_sure = true;
                }
            }
            Trial::AskEntryPoints => {
                let listed = answer.result().and_then(Value::as_array).into_iter().flatten();
                let known = listed.filter_map(|address| EntryPointVersion::at(address.as_str()?));
                self.target.found.announced = known.map(|version| version.to_string()).collect();
            }
            Trial::Chain(chain) => match result {
                Some(_) if !self.chains.0.contains(&chain) => self.chains.0.push(chain),
                Some(_) => {}
                None => self.chains.1 += usize::from(is_refused),
            },
            Trial::Plain(kind) => {
                if result.is_some() || is_refused {
                    self.shapes.entry(version(kind)).or_default().push(result.map(Shape::of));
                }
                let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
                if let Some(call) = request.valid_call() {
                    learn(&mut self.target.found, call, exchange);
                    if result.is_some() && self.target.is_listed(call) {
                        self.target.found.kept.insert(kind.name.to_owned());
                    }
                }
            }
            Trial::UnknownEntryPoint if result.is_some() || is_refused => {
                self.refuses_unknown.push(is_refused);
            }
            Trial::UnknownEntryPoint => {}
            Trial::Open(name) => {
                let seen = if result.is_some() { "served" } else { "refused" };
                self.target.found.is_final |= result.is_some_and(|result| result["isFinal"] == true);
                if result.is_some() || is_refused {
                    self.target.found.dialect.insert(name.to_owned(), seen.to_owned());
                }
            }
        }
    }

    /// The first chain with a result. It is the chain of signatures only if requests for other chains were refused.
    fn decide_chain(&mut self) {
        let (served, refused) = mem::take(&mut self.chains);
        if let Some(chain) = served.first().filter(|_| self.target.chain_id().is_none()) {
            self.target.found.chain_id = Some(*chain);
            self.target.found.chain_is_sure = served.len() == 1 && refused > 0;
        }
    }

    /// Results that fit show that a version is served. A result of another shape shows it only where the target looks at the EntryPoint,
    /// as one that refuses every unknown one does: the service of one EntryPoint may ignore the parameter.
    fn decide_versions(&mut self) {
        let shapes = mem::take(&mut self.shapes);
        let all = || shapes.values().flatten();
        let refuses_unknown =
            !self.refuses_unknown.is_empty() && self.refuses_unknown.iter().all(|is_refused| *is_refused);
        let [has_06, has_07] =
            [Shape::Of06, Shape::Of07].map(|shape| all().flatten().any(|found| *found == shape));
        self.target.found.reads_entry_point = refuses_unknown || has_06 && has_07;
        let looks_at_it = refuses_unknown || all().any(Option::is_none) || has_06 && has_07;
        for (version, shapes) in &shapes {
            let own = Shape::expected(*version);
            let is_served = shapes.iter().flatten().any(|shape| *shape != own.other() || looks_at_it);
            if is_served {
                self.target.found.served.insert(version.to_string());
            }
        }
    }
}

impl Discover for Discovery {
    fn next_round(&mut self, answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        self.learn(answers);
        loop {
            self.round += 1;
            let requests = match self.round {
                1 => self.ask_node(),
                2 => self.guess_chain(true),
                3 => self.guess_chain(false),
                4 => self.which_versions(),
                5 => self.what_is_open(),
                _ => return None,
            };
            let (trials, requests): (Vec<_>, Vec<_>) = requests
                .into_iter()
                .filter_map(|(trial, kind, request)| Some((trial, (Base::accepted(kind), request?))))
                .unzip();
            self.trials.extend(trials);
            let groups = single_requests(requests, &mut self.next_id, &self.target);
            if !groups.is_empty() {
                return Some(groups);
            }
        }
    }

    fn finish(self: Box<Self>) -> (Arc<dyn Knowledge>, Access) {
        let (target, access) = self.found();
        (Arc::new(target), access)
    }
}

/// Learns from a valid call what its result shows: the chain, a version that fits, the members of a stub.
pub(crate) fn learn(found: &mut Found, call: &Call, exchange: &Exchange) {
    let answer = Answer::of(exchange);
    let (Some(result), Some(version)) = (answer.result().and_then(Value::as_object), call.known_version())
    else {
        return;
    };
    if !Shape::of_members(result).completes(version) {
        return;
    }
    if found.chain_id.is_none() {
        found.chain_id = call.chain_id();
    }
    found.served.insert(version.to_string());
    if is_stub(call.pair) {
        found.is_final |= result.get("isFinal") == Some(&Value::Bool(true));
        let stub = paymaster_members(version, result);
        if let Some(earlier) = found.stubs.insert(version.to_string(), stub.clone()) {
            let varying = LIMITS.iter().filter(|limit| earlier.get(**limit) != stub.get(**limit));
            found.varying_limits.extend(varying.map(|limit| (*limit).to_owned()));
        }
    }
}

/// A request with another value of a parameter.
pub(crate) fn with_param(request: &Value, place: usize, value: Value) -> Value {
    let mut params = request["params"].clone();
    params[place] = value;
    with(request, "", "params", params)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use paymaster_exchange::Response;

    use super::*;

    #[test]
    fn what_a_bundler_at_the_same_url_announces_is_what_is_tried() {
        for (announced, others) in
            [(json!([EntryPointVersion::V07.address().to_string()]), false), (json!([]), true)]
        {
            let mut discovery = Discovery::new(Target::default(), 1);
            let asked = discovery.next_round(&[]).unwrap();
            let answered = asked.into_iter().map(|group| {
                let request: Value = serde_json::from_slice(&group.members[0].body).unwrap();
                let is_chain = request["method"] == "eth_chainId";
                let result = if is_chain { json!("0x7a69") } else { announced.clone() };
                let body =
                    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string().into();
                let response = Response { status: 200, headers: Vec::new(), body };
                let exchange = Exchange::new(group.members[0].body.clone(), Ok(response), Duration::ZERO);
                (group, vec![exchange])
            });
            let next = discovery.next_round(&answered.collect::<Vec<_>>()).unwrap();
            let sent = next.iter().map(|group| serde_json::from_slice(&group.members[0].body).unwrap());
            let versions: Vec<Option<EntryPointVersion>> =
                sent.map(|request: Value| EntryPointVersion::at(request["params"][1].as_str()?)).collect();
            assert!(versions.contains(&Some(EntryPointVersion::V07)), "{versions:?}");
            assert_eq!(versions.contains(&Some(EntryPointVersion::V06)), others, "{versions:?}");
        }
    }

    #[test]
    fn a_service_of_a_later_version_alone_is_found_on_its_chain() {
        let served = EntryPointVersion::V08.address().to_checksum(None);
        let mut discovery = Discovery::new(Target::default(), 1);
        let mut answers = Vec::new();
        while let Some(round) = discovery.next_round(&answers) {
            let answered = round.into_iter().map(|group| {
                let request: Value = serde_json::from_slice(&group.members[0].body).unwrap();
                let params = &request["params"];
                let (member, value) = if params[1] == served.as_str() && params[2] == "0x89" {
                    let data = format!("0x{}", "a1".repeat(150));
                    (
                        "result",
                        json!({ "paymaster": format!("0x{}", "57".repeat(20)), "paymasterData": data }),
                    )
                } else {
                    ("error", json!({ "code": -32602, "message": "not served" }))
                };
                let answer = json!({ "jsonrpc": "2.0", "id": request["id"], member: value });
                let response = Response { status: 200, headers: Vec::new(), body: answer.to_string().into() };
                let exchange = Exchange::new(group.members[0].body.clone(), Ok(response), Duration::ZERO);
                (group, vec![exchange])
            });
            answers = answered.collect();
        }
        let found = discovery.found().0.found;
        assert_eq!(found.chain_id, Some(137));
        assert!(found.served.iter().eq(["0.8"]), "{:?}", found.served);
        let dialect: Vec<(&str, &str)> =
            found.dialect.iter().map(|(name, seen)| (name.as_str(), seen.as_str())).collect();
        let expected = [("foreign-chain", "refused"), ("null-context", "served"), ("zero-fees", "served")];
        assert_eq!(dialect, expected);
    }

    #[test]
    fn a_listed_operation_is_sent_with_its_fees_and_any_other_with_low_ones() {
        let fees_of = |profile: &str| -> Vec<Value> {
            let target = Target::new(crate::profile::read(profile).unwrap());
            let requests = Discovery::new(target, 1).guess_chain(true);
            requests
                .into_iter()
                .filter_map(|(_, _, request)| request)
                .map(|own| own["params"][0]["maxFeePerGas"].clone())
                .collect()
        };
        let listed = r#"operations.accepts = "listed"
            operations.sponsorable = [{ entry-point = "0.7", operation = { sender = "0x00000000000000000000000000000000000000a1", maxFeePerGas = "0x77" } }]"#;
        assert!(fees_of(listed).iter().all(|fee| fee == "0x77") && !fees_of(listed).is_empty());
        assert!(fees_of("").iter().all(|fee| *fee == json!(hex(LOW_FEE))) && !fees_of("").is_empty());
    }

    #[test]
    fn a_version_that_is_answered_in_the_form_of_another_is_served_where_unknown_ones_are_refused() {
        for (refuses_unknown, expected) in [(true, vec!["0.6", "0.7", "0.8", "0.9"]), (false, vec!["0.6"])] {
            let mut discovery = Discovery::new(Target::default(), 1);
            let mut answers = Vec::new();
            while let Some(round) = discovery.next_round(&answers) {
                let answered = round.into_iter().map(|group| {
                    let request: Value = serde_json::from_slice(&group.members[0].body).unwrap();
                    let is_unknown = request["params"][1] == NO_ENTRY_POINT;
                    let (member, value) = if refuses_unknown && is_unknown {
                        ("error", json!({ "code": -32602, "message": "unknown EntryPoint" }))
                    } else if request["method"] == "eth_chainId" {
                        ("result", json!("0x7a69"))
                    } else {
                        let is_final = request["params"][3].is_null();
                        let data = format!("0x{}", "a1".repeat(150));
                        ("result", json!({ "paymasterAndData": data, "isFinal": is_final }))
                    };
                    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], member: value });
                    let response =
                        Response { status: 200, headers: Vec::new(), body: answer.to_string().into() };
                    let exchange = Exchange::new(group.members[0].body.clone(), Ok(response), Duration::ZERO);
                    (group, vec![exchange])
                });
                answers = answered.collect();
            }
            let found = discovery.found().0.found;
            let served: Vec<String> = found.served.iter().cloned().collect();
            assert_eq!(served, expected, "{refuses_unknown}");
            assert!(found.is_final, "without a context");
        }
    }
}
