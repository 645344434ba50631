//! The first profile: discovery, then a few operations, and what they showed as the text of a profile.

use std::collections::BTreeMap;

use paymaster_engine::cases::{Base, FIRST_ID, Group, single_requests};
use paymaster_engine::first_profile::{self, FirstProfile, ProfileText, ReachedKinds, list};
use paymaster_engine::knowledge::Discover as _;
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::rules::MissingLine;
use paymaster_engine::session::Access;
use paymaster_engine::spending::SpendingLimits;
use paymaster_ethereum::EntryPointVersion;
use paymaster_exchange::Exchange;
use serde_json::Value;
use toml_edit::{Array, InlineTable};

use crate::discovery::Discovery;
use crate::generate::Source;
use crate::kinds::{self, CallParts, KINDS};
use crate::target::{COSTS, Target};
use crate::{SPECIFICATION, lines};

/// How many made-up operations are sent, each as stub and as data.
const OPERATIONS: usize = 4;

/// Sends what discovery sends, and then operations.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    discovery: Option<Discovery>,
    seed: u64,
    target: Target,
    access: Access,
    reached: ReachedKinds,
    /// The members that make an operation, with how many of its requests got a result, and how many were sent.
    operations: BTreeMap<String, (EntryPointVersion, Value, usize, usize)>,
}

impl Survey {
    pub(crate) fn new(seed: u64, limits: SpendingLimits) -> Self {
        let mut target = Target::default();
        let operations = &mut target.profile.operations;
        (operations.max_sponsorships, operations.max_cost) = (limits.sponsorships, limits.cost);
        Self { discovery: Some(Discovery::new(target, seed)), seed, ..Self::default() }
    }

    fn end_discovery(&mut self) {
        if let Some(discovery) = self.discovery.take() {
            (self.target, self.access) = discovery.found();
        }
    }

    fn operations(&self) -> Vec<Group> {
        let mut source = Source::new(self.seed ^ 0x0b5e, &self.target);
        let mut requests = Vec::new();
        for version in self.target.served_versions() {
            let wanted = Base::accepted(kinds::of(false, version));
            for _ in 0..OPERATIONS {
                let Some(data) = source.base(&wanted) else { continue };
                let mut stub = data.clone();
                stub["method"] = kinds::STUB.into();
                requests.extend([(wanted, stub), (wanted, data)]);
            }
        }
        single_requests(requests, &mut { FIRST_ID }, &self.target)
    }

    fn note(&mut self, exchange: &Exchange) {
        let ParsedRequest::Call(call) = ParsedRequest::of(&exchange.request, &SPECIFICATION) else { return };
        let Some(version) = call.known_version() else { return };
        let operation = call.operation();
        let own: Value = ["sender", "nonce", "callData"]
            .into_iter()
            .map(|name| (name.to_owned(), operation[name].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let served = usize::from(Answer::of(exchange).result().is_some_and(Value::is_object));
        let known = self.operations.entry(own.to_string()).or_insert((version, own, 0, 0));
        known.2 += served;
        known.3 += 1;
    }

    /// The tables of the first profile. It promises nothing that the target did not show.
    fn tables(&self) -> String {
        let mut text = ProfileText::default();
        text.table("service");
        let served: Vec<String> = self.target.served_versions().map(|version| version.to_string()).collect();
        if served.is_empty() {
            text.example("The versions of EntryPoint that are served.", r#"entry-points = ["0.7"]"#);
        } else if served.len() == 1 || self.target.serves_several() {
            text.found("found: these got results.", "entry-points", Array::from_iter(served));
        } else {
            let comment = format!(
                "found: {} got results, and a service of one version that ignores the EntryPoint answers so too. List each that is served.",
                served.join(", ")
            );
            text.found(&comment, "entry-points", Array::from_iter([served[0].as_str()]));
        }
        // TOML has no larger numbers.
        match self.target.found.chain_id.and_then(|chain| i64::try_from(chain).ok()) {
            Some(chain) if self.target.found.chain_is_sure => {
                text.found("found: the chain that the target serves.", "chain-id", chain);
            }
            Some(chain) => text.only_you(
                "The chain. Requests for this one got results, and so may those for others: correct it.",
                "chain-id",
                chain,
            ),
            None => text.example("The chain that the target serves.", "chain-id = 8453"),
        }
        text.example("The context that requests have.", r#"context = { policyId = "..." }"#);
        self.operations_table(&mut text);
        text.table("contract");
        text.example(
            "The contract and its signer: signatures are then checked without a node.",
            r#"kind = { "0.7" = "verifying-0.7" }"#,
        );
        text.line(r#"#: signer = "0x...""#);
        text.0
    }

    fn operations_table(&self, text: &mut ProfileText) {
        text.table("operations");
        let is_served = |(.., served, sent): &&(_, _, usize, usize)| served == sent;
        let served = self.operations.values().filter(is_served).count();
        text.example(
            &format!(
                "Whether every well-formed operation gets a result (\"any\"), or listed ones alone (\"listed\"). found: {served} of {} \
                 made-up operations got one.",
                self.operations.len()
            ),
            r#"accepts = "any""#,
        );
        // The shortest one of each version.
        let served = EntryPointVersion::ALL.into_iter().filter_map(|version| {
            let own = self.operations.values().filter(is_served).filter(|(own, ..)| *own == version);
            own.min_by_key(|(_, operation, ..)| operation["callData"].as_str().map(str::len))
        });
        let sponsored: Vec<InlineTable> = served
            .map(|(version, own, ..)| {
                let members = ["sender", "nonce", "callData"].into_iter().chain(COSTS);
                let operation = members.map(|name| (name, own[name].as_str().unwrap_or_default()));
                let mut entry = InlineTable::from_iter([("entry-point", version.to_string())]);
                entry.insert("operation", operation.collect::<InlineTable>().into());
                entry
            })
            .collect();
        if sponsored.is_empty() {
            let line = (lines::SPONSORABLE.text)(&Target::default());
            text.example("An operation that the target sponsors: it makes most rules conclusive.", &line);
        } else {
            let comment = "Operations that it sponsors. found: these made-up ones got results.";
            text.only_you(comment, "sponsorable", list(sponsored));
        }
        text.example(
            "A sender whose operations are refused: two rules wait for one.",
            r#"refused = [{ sender = "0x00000000000000000000000000000000deadbeef" }]"#,
        );
    }
}

impl first_profile::Survey for Survey {
    fn next_round(&mut self, answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        for exchange in answers.iter().flat_map(|(_, exchanges)| exchanges) {
            self.reached.see(exchange, &SPECIFICATION);
        }
        if let Some(discovery) = &mut self.discovery {
            if let Some(round) = discovery.next_round(answers) {
                return Some(round);
            }
            self.end_discovery();
            let groups = self.operations();
            return (!groups.is_empty()).then_some(groups);
        }
        for (group, exchanges) in answers {
            self.access.see_group(group, exchanges, &self.target);
            for exchange in exchanges {
                self.note(exchange);
            }
        }
        None
    }

    fn finish(mut self: Box<Self>, _: &dyn Fn(&str) -> bool) -> FirstProfile {
        self.end_discovery();
        let needs: Option<&'static MissingLine> = if self.reached.serves_any(&KINDS) {
            None
        } else if self.target.chain_id().is_none() {
            Some(&lines::CHAIN_ID)
        } else {
            Some(&lines::SPONSORABLE)
        };
        let mut findings: Vec<String> = self.reached.lines(&KINDS).collect();
        findings.push(self.target.dialect_in_words());
        FirstProfile { findings, tables: self.tables(), needs, access: self.access }
    }
}
