//! Whole runs against the methods of the reference server in this process, without a socket: a conforming service is never accused, with
//! any part of the profile, and each rule is exercised. Wrong answers are caught by the rule of their clause.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use paymaster_engine::cases::case::Group;
use paymaster_engine::cases::plan::Plan;
use paymaster_engine::cases::scope::Scope;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{Observations, Rule, observe};
use paymaster_engine::session::judge::{Judge, read};
use paymaster_erc_7677::SPECIFICATION;
use paymaster_ethereum::ContractKind;
use paymaster_exchange::{Exchange, Refusal, Response, Simulation};
use paymaster_schemas::Basis;
use paymaster_service::{Config, Service};
use serde_json::{Value, json};

const NOW: u64 = 1_800_000_000;
const CASES: u32 = 40;

/// What the reference server serves in its default configuration.
const WHOLE: &str = r#"
    [service]
    entry-points = ["0.6", "0.7", "0.8", "0.9"]
    chain-id = 31337
    [operations]
    accepts = "any"
    refused = [{ sender = "0x00000000000000000000000000000000deadbeef" }]
    [contract]
    kind = { "0.7" = "verifying-0.7", "0.8" = "verifying-0.7", "0.9" = "verifying-0.7" }
    signer = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
"#;

/// What rules found over a run.
#[derive(Debug, Default)]
struct Found {
    held: BTreeMap<&'static str, u64>,
    /// The first violation in words.
    broken: BTreeMap<&'static str, String>,
    observed: Observations,
    requests: usize,
}

/// Changes a request before the service sees it, and its answer.
type Change<'a> = &'a dyn Fn(&mut Value, &mut dyn FnMut(&Value) -> Value) -> Value;

fn send(service: &Service, change: Change<'_>, group: &Group) -> Vec<Exchange> {
    let one = |request: &Bytes| {
        let ask = |body: &[u8]| {
            let reply = service.handle_bytes(body, NOW);
            (reply.status, reply.body.unwrap_or_default())
        };
        let (mut status, mut body) = ask(request);
        if let Ok(mut parsed) = serde_json::from_slice::<Value>(request)
            && parsed["params"][0].is_object()
            && !body.is_empty()
        {
            let mut again = |request: &Value| {
                let (other, body) = ask(request.to_string().as_bytes());
                status = other;
                serde_json::from_slice(&body).unwrap_or_default()
            };
            body = change(&mut parsed, &mut again).to_string().into_bytes();
        }
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let outcome = Ok(Response { status, headers, body: body.into() });
        let exchange = Exchange::new(request.clone(), outcome, Duration::ZERO);
        Exchange { received: Some(UNIX_EPOCH + Duration::from_secs(NOW)), ..exchange }
    };
    group.members.iter().map(|member| one(member.body.bytes())).collect()
}

fn run_with(knowledge: &dyn Knowledge, seed: u64, change: Change<'_>) -> Found {
    let service = Service::new(&Config::default()).unwrap();
    let mut found = Found::default();
    let mut discovery = knowledge.discovery(seed);
    let mut answers = Vec::new();
    while let Some(groups) = discovery.next_round(&answers) {
        found.requests += groups.len();
        answers = groups
            .into_iter()
            .map(|group| (send(&service, change, &group), group))
            .map(|(sent, group)| (group, sent))
            .collect();
    }
    let (knowledge, _) = discovery.finish();
    let judge = Judge::new(SPECIFICATION.rules().collect());
    for group in Plan::new(&*knowledge, seed, CASES).within(&Scope::default().with_idle(true)) {
        let exchanges = send(&service, change, &group);
        found.requests += exchanges.len();
        observe(&read(&group, &exchanges, &*knowledge), &*knowledge, &mut found.observed);
        for judgement in judge.group(&group, &exchanges, &*knowledge) {
            *found.held.entry(judgement.rule.id).or_default() += judgement.report.held;
            for violation in judgement.report.violations {
                let exchange = &exchanges[violation.member];
                let words = || {
                    let name = (group.relation.id, group.round);
                    format!("{name:?}: {violation:?}\n{:?}\n{:?}", exchange.request, exchange.outcome)
                };
                found.broken.entry(judgement.rule.id).or_insert_with(words);
            }
        }
    }
    for rule in SPECIFICATION.rules().filter(|rule| (rule.not_applicable)(&*knowledge).is_some()) {
        found.held.insert(rule.id, rule.quota);
    }
    found
}

fn honest(request: &mut Value, ask: &mut dyn FnMut(&Value) -> Value) -> Value {
    ask(request)
}

fn profile(text: &str) -> Arc<dyn Knowledge> {
    (SPECIFICATION.read_profile)(text).unwrap()
}

#[test]
fn the_reference_server_breaks_nothing_and_reaches_every_rule() {
    for seed in 1..3 {
        let found = run_with(&*profile(WHOLE), seed, &honest);
        assert!(found.broken.is_empty(), "{:#?}", found.broken);
        let is_short = |rule: &&Rule| found.held.get(rule.id).copied().unwrap_or_default() < rule.quota;
        let short = SPECIFICATION.rules().filter(|rule| rule.basis() != Basis::OnChain).filter(is_short);
        let short: Vec<_> = short.map(|rule| (rule.id, rule.quota, found.held.get(rule.id))).collect();
        assert!(short.is_empty(), "{short:#?}");
        assert!(found.requests < 6_000, "{} requests", found.requests);
        let observed: BTreeSet<&str> = found.observed.into_keys().collect();
        let all = SPECIFICATION.observers.iter().map(|observer| observer.clause);
        let unseen: Vec<&str> = all.filter(|clause| !observed.contains(clause)).collect();
        assert_eq!(unseen, OBSERVED_OF_OTHERS);
    }
}

/// What is observed of a service of one EntryPoint, with a node, and of a service whose results have members that the text does not list.
const OBSERVED_OF_OTHERS: [&str; 3] =
    ["observed.unknown-entry-point", "observed.node", "observed.extra-members"];

#[test]
fn whichever_entry_point_is_served_the_rules_of_json_rpc_are_exercised() {
    for version in ["0.6", "0.7", "0.8", "0.9"] {
        let text = format!("[service]\nentry-points = [\"{version}\"]\nchain-id = 31337\n");
        let found = run_with(&*profile(&text), 1, &honest);
        assert!(found.broken.is_empty(), "{version}: {:#?}", found.broken);
        let is_exercised = |rule: &&Rule| found.held.get(rule.id).copied() >= Some(rule.quota);
        let of_json_rpc = SPECIFICATION.rules().filter(|rule| rule.id.starts_with("json-rpc."));
        let missing: Vec<_> = of_json_rpc.filter(|rule| !is_exercised(rule)).map(|rule| rule.id).collect();
        assert_eq!(missing, Vec::<&str>::new(), "{version}");
        assert!(found.observed.contains_key("observed.unknown-entry-point"), "{version}");
    }
}

#[test]
fn no_part_of_the_profile_accuses_the_reference_server() {
    let whole = profile(WHOLE);
    let mut parts = vec![("nothing", SPECIFICATION.unknown())];
    parts.extend(SPECIFICATION.profile_parts.iter().map(|part| (part.name, (part.of)(&*whole))));
    for (name, part) in parts {
        let found = run_with(&*part, 7, &honest);
        assert!(found.broken.is_empty(), "{name}: {:#?}", found.broken);
    }
}

/// A wrong service: its name, the rule that must catch it, and what it does with a request and its answer.
type Fault = (&'static str, fn(&mut Value, &mut dyn FnMut(&Value) -> Value) -> Value);

fn is_stub(request: &Value) -> bool {
    request["method"] == "pm_getPaymasterStubData"
}

/// Changes the result of stubs.
fn stub(request: &Value, ask: &mut dyn FnMut(&Value) -> Value, change: fn(&mut Value)) -> Value {
    let mut answer = ask(request);
    if is_stub(request) && answer["result"].is_object() {
        change(&mut answer["result"]);
    }
    answer
}

fn without(result: &mut Value, name: &str) {
    if let Some(members) = result.as_object_mut() {
        members.shift_remove(name);
    }
}

fn changed_if_present(result: &mut Value, name: &str, value: Value) {
    if result.get(name).is_some() {
        result[name] = value;
    }
}

const FAULTS: &[Fault] = &[
    ("stub.post-op-gas-07", |request, ask| {
        stub(request, ask, |result| without(result, "paymasterPostOpGasLimit"))
    }),
    ("result.gas-limit", |request, ask| {
        stub(request, ask, |result| changed_if_present(result, "paymasterPostOpGasLimit", json!("40000")))
    }),
    ("result.gas-limit", |request, ask| {
        stub(request, ask, |result| changed_if_present(result, "paymasterPostOpGasLimit", json!("0x")))
    }),
    ("result.gas-limit-size", |request, ask| {
        stub(request, ask, |result| {
            changed_if_present(result, "paymasterPostOpGasLimit", json!(format!("0x{}", "f".repeat(31))));
        })
    }),
    ("result.null-member", |request, ask| stub(request, ask, |result| result["sponsor"] = Value::Null)),
    ("is-final.boolean", |request, ask| stub(request, ask, |result| result["isFinal"] = json!("true"))),
    ("sponsor-member.name", |request, ask| stub(request, ask, |result| result["sponsor"] = json!({}))),
    ("sponsor-member.icon", |request, ask| {
        stub(request, ask, |result| result["sponsor"]["icon"] = json!("https://example.org/i.png"))
    }),
    ("result.operation-members", |request, ask| {
        stub(request, ask, |result| result["callGasLimit"] = json!("0x1"))
    }),
    ("result.paymaster", |request, ask| {
        stub(request, ask, |result| {
            changed_if_present(result, "paymaster", json!(format!("0x{}", "0".repeat(40))));
        })
    }),
    ("result.paymaster-and-data", |request, ask| {
        stub(request, ask, |result| changed_if_present(result, "paymasterAndData", json!("0x")))
    }),
    ("stub.members-07", |request, ask| {
        stub(request, ask, |result| {
            if let Some(paymaster) = result["paymaster"].as_str() {
                *result = json!({ "paymasterAndData": paymaster });
            }
        })
    }),
    ("stub.members-06", |request, ask| {
        stub(request, ask, |result| {
            if result.get("paymasterAndData").is_some() {
                *result = json!({ "paymaster": format!("0x{}", "57".repeat(20)), "paymasterData": "0x" });
            }
        })
    }),
    ("result.one-shape", |request, ask| {
        stub(request, ask, |result| {
            if let Some(paymaster) = result["paymaster"].as_str() {
                result["paymasterAndData"] = json!(paymaster);
            }
        })
    }),
    ("stub-and-data.length", |request, ask| {
        stub(request, ask, |result| {
            changed_if_present(result, "paymasterData", json!(format!("0x{}", "5a".repeat(64))));
        })
    }),
    ("stub-and-data.zero-bytes", |request, ask| zero_stub(request, ask)),
    // The signature of a request with other limits than those that were sent.
    ("data.signature", |request, ask| {
        request["params"][0]["verificationGasLimit"] = json!("0x12345");
        ask(request)
    }),
    ("data.signature-of-limits", |request, ask| {
        if request["params"][0]["callGasLimit"] == "0x12cc8" {
            request["params"][0]["callGasLimit"] = json!("0x0");
        }
        ask(request)
    }),
    ("data.differs", |request, ask| {
        request["params"][0]["callData"] = json!("0x");
        ask(request)
    }),
    ("operation.unsigned", |request, ask| {
        if request["params"][0].get("signature").is_none() { error(request) } else { ask(request) }
    }),
    ("operation.null-members", |request, ask| {
        let has_null =
            request["params"][0].as_object().is_some_and(|members| members.values().any(Value::is_null));
        if has_null { error(request) } else { ask(request) }
    }),
    ("operation.nonce", |request, ask| {
        let is_long = request["params"][0]["nonce"].as_str().is_some_and(|nonce| nonce.len() > 40);
        if is_long { error(request) } else { ask(request) }
    }),
    ("operation.eip-7702", |request, ask| {
        if request["params"][0].get("eip7702Auth").is_some() { error(request) } else { ask(request) }
    }),
    ("operation.factory", |request, ask| {
        let operation = &request["params"][0];
        let is_new = operation["factory"].is_string()
            || operation["initCode"].as_str().is_some_and(|code| code != "0x");
        if is_new { error(request) } else { ask(request) }
    }),
    ("operation.stub-members", |request, ask| {
        if request["params"][0]["paymasterData"].is_string() { error(request) } else { ask(request) }
    }),
    ("call.letter-case", |request, ask| {
        let has_capitals = request["params"][0]["callData"]
            .as_str()
            .is_some_and(|text| text == text.to_uppercase().replacen('X', "x", 1));
        if has_capitals { error(request) } else { ask(request) }
    }),
    ("stub-request.zero-limits", |request, ask| {
        if request["params"][0]["callGasLimit"] == "0x0" { error(request) } else { ask(request) }
    }),
    ("stub-request.zero-fees", |request, ask| {
        if request["params"][0]["maxFeePerGas"] == "0x0" { error(request) } else { ask(request) }
    }),
    (
        "context.null",
        |request, ask| {
            if request["params"][3].is_null() { coded(request, -32_603) } else { ask(request) }
        },
    ),
    ("entry-point.letter-case", |request, ask| {
        let lower = request["params"][1].as_str().is_some_and(|text| text == text.to_lowercase());
        if lower { error(request) } else { ask(request) }
    }),
    ("entry-point.unknown-refused", |request, ask| {
        if request["params"][1].as_str().is_some_and(|text| text.starts_with("0xe7e7")) {
            request["params"][1] = json!("0x0000000071727De22E5E9d8BAf0edAc6f37da032");
        }
        ask(request)
    }),
    (
        "request.id-string",
        |request, ask| if request["id"].is_string() { error(request) } else { ask(request) },
    ),
    ("refusal.early", |request, ask| {
        if is_stub(request) {
            request["params"][0]["sender"] = json!("0x00000000000000000000000000000000000000a1");
        }
        ask(request)
    }),
    (
        "endpoint.stub-and-data",
        |request, ask| if is_stub(request) { ask(request) } else { coded(request, -32_601) },
    ),
    (
        "stub.sponsorable-is-served",
        |request, ask| if is_stub(request) { error(request) } else { ask(request) },
    ),
];

/// Stubs of zeros alone.
fn zero_stub(request: &Value, ask: &mut dyn FnMut(&Value) -> Value) -> Value {
    stub(request, ask, |result| {
        changed_if_present(result, "paymasterData", json!(format!("0x{}", "00".repeat(129))));
    })
}

fn coded(request: &Value, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": code, "message": "refused" } })
}

fn error(request: &Value) -> Value {
    coded(request, -32_602)
}

#[test]
fn each_fault_is_caught_by_the_rule_of_its_clause() {
    let whole = profile(WHOLE);
    let mut missed = Vec::new();
    for (rule, fault) in FAULTS {
        let found = run_with(&*whole, 3, fault);
        if !found.broken.contains_key(rule) {
            missed.push((rule, found.broken.into_keys().collect::<Vec<_>>()));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Chance makes zeros too, so that each of eight pairs must have them.
#[test]
fn zeros_in_the_stubs_of_seven_of_eight_operations_accuse_nobody() {
    // The amount that the fourth of the eight operations transfers, at the end of its call.
    let spared = format!("{:064x}{}", 1_000_003, "0".repeat(56));
    let fault = |request: &mut Value, ask: &mut dyn FnMut(&Value) -> Value| {
        let is_spared = request["params"][0]["callData"].as_str().is_some_and(|call| call.ends_with(&spared));
        if is_spared { ask(request) } else { zero_stub(request, ask) }
    };
    let found = run_with(&*profile(WHOLE), 3, &fault);
    assert!(!found.broken.contains_key("stub-and-data.zero-bytes"), "{:#?}", found.broken);
    assert!(found.held["stub-and-data.zero-bytes"] > 0);
}

/// A refusal breaks the promise of the profile where it can have no other reason.
#[test]
fn a_sponsorable_operation_may_be_refused_for_what_the_profile_does_not_state() {
    const COSTS: &str = r#", callGasLimit = "0x186a0", verificationGasLimit = "0x186a0", preVerificationGas = "0xc350",
        maxFeePerGas = "0x64", maxPriorityFeePerGas = "0x1""#;
    let listing = |costs: &str| {
        let operation =
            r#"sender = "0x00000000000000000000000000000000000000a1", nonce = "0x7", callData = "0x""#;
        let costs = costs.replace('\n', "");
        profile(&format!(
            "[service]\nentry-points = [\"0.7\"]\nchain-id = 31337\n[operations]\naccepts = \"listed\"\n\
             sponsorable = [{{ entry-point = \"0.7\", operation = {{ {operation}{costs} }} }}]"
        ))
    };
    let refusing = |words: &'static str| move |request: &mut Value, _: &mut dyn FnMut(&Value) -> Value| json!({ "jsonrpc": "2.0", "id": request["id"], "error": { "code": -32_000, "message": words } });
    // Data requests are refused that lack a limit of the paymaster which the stub has.
    let needs_limits = |request: &mut Value, ask: &mut dyn FnMut(&Value) -> Value| {
        let has_limits = |operation: &Value| {
            ["paymasterVerificationGasLimit", "paymasterPostOpGasLimit"]
                .iter()
                .all(|limit| operation[limit].is_string())
        };
        if is_stub(request)
            || has_limits(&request["params"][0])
            || request["params"][0].get("initCode").is_some()
        {
            ask(request)
        } else {
            error(request)
        }
    };
    let accuses = |knowledge: &dyn Knowledge, change: Change<'_>| {
        let found = run_with(knowledge, 1, change);
        ["stub.sponsorable-is-served", "data.sponsorable-is-served"]
            .map(|rule| found.broken.contains_key(rule))
    };
    let (capped, used_up) = (refusing("the fee is above our bound"), refusing("the daily quota is used up"));
    assert_eq!(accuses(&*listing(""), &capped), [false; 2]);
    assert_eq!(accuses(&*listing(COSTS), &capped), [true; 2]);
    assert_eq!(accuses(&*listing(COSTS), &used_up), [false; 2]);
    assert_eq!(accuses(&*profile(WHOLE), &capped), [true; 2]);
    assert_eq!(accuses(&*profile(WHOLE), &used_up), [false; 2]);
    assert_eq!(accuses(&*profile(WHOLE), &needs_limits), [false; 2]);
}

#[test]
fn a_revert_where_a_token_is_paid_accuses_only_for_a_sender_that_can_pay() {
    let service = Service::new(&Config::from_toml("paymaster_data.layout = \"singleton\"").unwrap()).unwrap();
    let accused = |payers: &str, change: Change<'_>| {
        let profile = profile(&format!(
            r#"
            service = {{ entry-points = ["0.7"], chain-id = 31337, context = {{ token = "0xda5289fcaaf71d52a80a254da614a192b693e977" }} }}
            contract = {{ kind = {{ "0.7" = "singleton-0.7" }}, payers = [{payers}] }}
            [operations]
            accepts = "listed"
            sponsorable = [{{ entry-point = "0.7", operation = {{ sender = "0x00000000000000000000000000000000000000a1", nonce = "0x0", callData = "0x" }} }}]
            "#
        ));
        let knowledge = profile.with_chain(true);
        let judge = Judge::new(SPECIFICATION.rules().filter(|rule| rule.id == "data.accepted").collect());
        let plan = Plan::new(&*knowledge, 1, CASES).within(&Scope::default());
        plan.flat_map(|group| {
            let mut exchanges = send(&service, change, &group);
            for exchange in &mut exchanges {
                let refusal = Refusal::Reverted(ContractKind::Singleton07.functions());
                exchange.on_chain = Some(Simulation::Refused(refusal, "AA33 reverted".to_owned()));
            }
            judge.group(&group, &exchanges, &*knowledge)
        })
        .map(|judgement| judgement.report.violations.len())
        .sum::<usize>()
    };
    // Requests with another context take no token.
    let without = accused("", &honest);
    assert_eq!(accused(r#""0x00000000000000000000000000000000000000a5""#, &honest), without);
    let payer = r#""0x00000000000000000000000000000000000000A1""#;
    assert!(accused(payer, &honest) > without);
    // The last bit of the first byte admits every bundler. Without it, the contract may refuse ours.
    let for_some_bundlers = |request: &mut Value, ask: &mut dyn FnMut(&Value) -> Value| {
        let mut answer = ask(request);
        let data = answer["result"]["paymasterData"].as_str().map(str::to_owned);
        if let Some((first, rest)) = data.as_deref().and_then(|data| data.split_at_checked(4)) {
            let mode = u8::from_str_radix(&first[2..], 16).unwrap() & !1;
            answer["result"]["paymasterData"] = json!(format!("0x{mode:02x}{rest}"));
        }
        answer
    };
    assert_eq!(accused(payer, &for_some_bundlers), 0);
}
