//! ERC-7677 (`erc-7677`), as it plugs into the engine: rules, relations, and what is known of a target. A pure library, as the engine is.

pub mod discovery;
mod generate;
pub mod kinds;
pub mod lines;
mod load;
mod observers;
mod on_chain;
pub mod profile;
mod profile_parts;
pub mod relations;
mod rules;
mod survey;
pub mod target;

use std::{borrow::Cow, sync::Arc, time::Duration};

use paymaster_engine::cases::{Base, BuildInput, with, without};
use paymaster_engine::generate::Change;
use paymaster_engine::message::Call;
use paymaster_engine::rules::{answer_form, batches, errors, http, json_rpc};
use paymaster_engine::specification::{DecidingValues, Page, Places, Specification};
use paymaster_engine::spending::Wei;
use paymaster_ethereum::{EntryPointVersion, most_cost};
use paymaster_schemas::ERC_7677;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kinds::{CallParts, DATA, DATA_07, KINDS, STUB_07, is_06};
use crate::rules::results::Shape;
use crate::target::{ORDINARY_SIZES, Target, other_method};

/// ERC-7677: Paymaster Web Service Capability.
pub static SPECIFICATION: Specification = Specification {
    name: "erc-7677",
    title: "ERC-7677: Paymaster Web Service Capability",
    version: "status Review, 2025-05-14",
    published: "https://eips.ethereum.org/EIPS/eip-7677",
    definition: &ERC_7677,
    kinds: &KINDS,
    rules: &[
        answer_form::RULES,
        rules::results::RULES,
        rules::requests::RULES,
        rules::pairs::RULES,
        rules::signatures::RULES,
        rules::signatures::ON_CHAIN,
        errors::RULES,
        json_rpc::RULES,
        batches::RULES,
        http::RULES,
    ],
    relations: relations::RELATIONS,
    observers: observers::OBSERVERS,
    calls: &relations::CALLS,
    places: Places {
        params: &["the operation", "the EntryPoint", "the chain id", "the context"],
        subject: "/params/0",
        party: "/params/0/sender",
        once: "/params/0/nonce",
        bytes: "/params/0/callData",
        kind: "/params/1",
        terms: "/params/3",
        kept_under: &[],
        parts: &[
            ("/result/paymasterAndData", "/result/paymasterData"),
            ("/params/0/paymasterAndData", "/params/0/paymasterData"),
            ("/params/0/initCode", "/params/0/factory"),
            ("/params/0/initCode", "/params/0/factoryData"),
        ],
    },
    // Stub and data for 0.7, 0.8, 0.9 and 0.6.
    plain_bases: &[
        generate::of_a_sent_version(STUB_07),
        generate::of_a_sent_version(DATA_07),
        Base::accepted(KINDS[2]),
        Base::accepted(KINDS[6]),
        Base::accepted(KINDS[3]),
        Base::accepted(KINDS[7]),
        Base::accepted(KINDS[0]),
        Base::accepted(KINDS[4]),
    ],
    read_profile: |text| Ok(profile::read(text)?.into()),
    template: include_str!("template.toml"),
    survey: |seed, limits| Box::new(survey::Survey::new(seed, limits)),
    profile_parts: profile_parts::PARTS,
    page: Page {
        introduction: INTRODUCTION,
        required: |_, _| "no".to_owned(),
        ordinary_sizes: || {
            ORDINARY_SIZES.iter().map(|(bound, reason)| ((*bound).to_owned(), *reason)).collect()
        },
    },
    restore: |saved| Ok(Arc::new(Target::deserialize(saved)?)),
    first_results: None,
    called: kinds::called,
    shows_answer: |_| false,
    // The text leaves open with which code an EntryPoint is refused.
    any_code: |call| call.known_version().is_none(),
    grants: |_| true,
    // The text says nothing of quotas: a service may have them.
    refuses_repeats: true,
    excluding_line: |_| None,
    line_asked_for: lines::asked_for,
    // A service may reserve money for the data that it signs.
    asks_for: |request| (request["method"] == DATA).then(|| Wei(most_cost(&request["params"][0]))),
    sort_of_kind: |kind| if is_06(kind) { OF_06 } else { OF_07 },
    sort_of_result,
    settled: |result| match Shape::of(result) {
        Shape::Both => Some(Value::from("a result for several versions of EntryPoint")),
        _ => sort_of_result(result).map(Value::from),
    },
    sibling: |input| Some(sibling(input)),
    refused: generate::refused,
    deciding,
    right_answer,
    may_change,
    check_row: |_, _, _, _| (),
    is_amount: |name| {
        name == "nonce"
            || name == "preVerificationGas"
            || name.contains("GasLimit")
            || name.contains("FeePerGas")
    },
    free_form: "/params/3",
    counts: |_, _| Vec::new(),
    load: &load::LOAD_TEST,
};

const OF_06: &str = "a result of EntryPoint 0.6";
const OF_07: &str = "a result of EntryPoint 0.7 and later";

const INTRODUCTION: &str = "# ERC-7677

This page describes, in our own words, the second specification that `paymaster-conformance` tests: ERC-7677, a paymaster web service with two
JSON-RPC methods, `pm_getPaymasterStubData` and `pm_getPaymasterData`, for user operations of EntryPoint 0.6 to 0.9. The ERC is short; its status
is Review. The numbers of the sections are ours.

| word | meaning |
|---|---|
| stub | the result of `pm_getPaymasterStubData`, which the wallet uses to estimate gas |
| data | the result of `pm_getPaymasterData`, which the wallet sends |
| paymaster members | `paymasterAndData` of EntryPoint 0.6; `paymaster`, `paymasterData` and the two gas limits of 0.7 and later |

";

fn sort_of_result(result: &Value) -> Option<&'static str> {
    match Shape::of(result) {
        Shape::Of06 => Some(OF_06),
        Shape::Of07 => Some(OF_07),
        Shape::Both | Shape::Neither => None,
    }
}

/// A call of the other method with the operation of a request: for a version whose results have other members, where the target serves one.
fn sibling(input: &BuildInput<'_>) -> Value {
    let kind = input.pair;
    let mut request = with(input.base, "", "method", other_method(kind).method);
    let target = Target::of(input.context);
    let mut others =
        target.served_versions().filter(|other| (*other == EntryPointVersion::V06) != is_06(kind));
    if let Some(other) = others.next().filter(|_| input.context.may_vary_operations()) {
        request = if is_06(kind) {
            without(&request, "/params/0", "initCode")
        } else {
            with(&request, "/params/0", "initCode", "0x")
        };
        request = discovery::with_param(&request, 1, json!(other.address().to_checksum(None)));
    }
    request
}

/// What a target may decide by.
fn deciding(call: &Call) -> DecidingValues<'_> {
    fn text(value: &Value) -> Cow<'_, str> {
        value.as_str().map_or_else(|| value.to_string().into(), Cow::Borrowed)
    }
    let operation = call.operation();
    let is_new = |member: &str| operation[member].as_str().is_some_and(|code| code != "0x");
    let account = if is_new("initCode") || is_new("factory") { "new" } else { "existing" };
    vec![
        ("method", call.pair.method.into()),
        ("EntryPoint", text(&call.envelope["params"][1])),
        ("chain id", text(&call.envelope["params"][2])),
        ("context", text(call.context())),
        ("sender", text(&operation["sender"])),
        ("account", account.into()),
    ]
}

/// An answer that is right in form. It has the members of every kind of result.
fn right_answer(call: &Call, _: Duration) -> Value {
    let paymaster = format!("0x{}", "57".repeat(20));
    let data = "5a".repeat(129);
    let result = if is_06(call.pair) {
        json!({ "paymasterAndData": format!("{paymaster}{data}") })
    } else {
        json!({
            "paymaster": paymaster, "paymasterData": format!("0x{data}"),
            "paymasterVerificationGasLimit": "0xc350", "paymasterPostOpGasLimit": "0x7530",
        })
    };
    json!({ "jsonrpc": "2.0", "id": call.id, "result": result })
}

/// A sender that a person would write.
const PLAIN_SENDER: &str = "0x1000000000000000000000000000000000000001";

/// What shrinking may do at a place. Method, EntryPoint, chain and context stay, because the expectation of the request depends on them.
fn may_change(pointer: &str) -> Change {
    match pointer {
        "" | "/params" | "/params/0" => Change::Stays,
        "/jsonrpc" | "/method" | "/id" | "/params/1" | "/params/2" => Change::Fixed,
        "/params/0/sender" => Change::LetterCaseOr(PLAIN_SENDER),
        // A target may refuse a gas limit or fee of zero, which would change the failure.
        _ if pointer.contains("Gas") => Change::Positive,
        _ if pointer.starts_with("/params/3") => Change::Fixed,
        _ => Change::Free,
    }
}
