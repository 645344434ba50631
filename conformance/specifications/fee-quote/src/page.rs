//! What the page of the specification says beside sections, tables, clauses and readings.

use paymaster_engine::specification::Page;
use paymaster_schemas::{Document, Kind, Mode, kinds, resolved};
use serde_json::Value;

use crate::tables;
use crate::target::{BOUNDS, SizeLimits};

pub(crate) const PAGE: Page = Page {
    introduction: INTRODUCTION,
    required,
    ordinary_sizes: || {
        BOUNDS.iter().map(|bound| (bound.in_words(&SizeLimits::default()), bound.reason)).collect()
    },
};

const INTRODUCTION: &str = "# The specification

This page describes, in our own words, the specification that `paymaster-conformance` tests: a paymaster service for ERC-4337 user
operations with two JSON-RPC methods, `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation`, and two modes, `SPONSORED` and `ERC20`.
The numbers of the sections are those of the specification. Rules, reports and `explain` cite them.

Three words are short for a request or a mode:

| word | meaning |
|---|---|
| quote request | a call of `pm_getFeeQuoteOrData` |
| sponsor request | a call of `pm_sponsorUserOperation` |
| token mode, sponsored mode | `ERC20`, `SPONSORED` |

The column *required* of the tables has one of these values:

| value | meaning |
|---|---|
| yes | the member must be present |
| in ... | the member must be present in this method and mode |
| listed | a request table lists the member, and the specification does not mark it as required or as optional; a run never fails a server that refuses a request without it |
| no | the member of a result may be absent |

";

/// A member of the mode object is required by the requests of some kinds only.
fn required(document: &Document, member: &str) -> String {
    let demanding: Vec<Kind> =
        kinds::ALL.into_iter().filter(|pair| demands(*pair, document.name, member)).collect();
    if demanding.len() == kinds::ALL.len() {
        return "yes".to_owned();
    }
    if let [pair] = demanding.as_slice() {
        let names = any_of(info(*pair));
        if names.contains(&member) {
            let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
            return format!("one of {} in {}", names.join(", "), called(*pair));
        }
    }
    if !demanding.is_empty() {
        let calls: Vec<String> = demanding.into_iter().map(called).collect();
        return format!("in {}", calls.join(" and "));
    }
    let optional = kinds::ALL
        .into_iter()
        .find(|pair| document.name == "user-operation" && tables::is_optional(member, *pair));
    match optional {
        Some(pair) => format!("listed; optional in {}", called(pair)),
        // Sections 2.1 to 2.5 are about requests.
        None if ["2.1", "2.2", "2.3", "2.4", "2.5"].contains(&document.section) => "listed".to_owned(),
        None => "no".to_owned(),
    }
}

/// Whether the requests of a pair must have a member of the mode object, or of its token info.
fn demands(pair: Kind, document: &str, member: &str) -> bool {
    let mode_object = mode_object(pair);
    match document {
        "mode-object" => {
            mode_object["required"].as_array().is_some_and(|names| names.iter().any(|name| name == member))
        }
        "token-info" => any_of(info(pair)).contains(&member),
        _ => false,
    }
}

fn mode_object(pair: Kind) -> &'static Value {
    static NONE: Value = Value::Null;
    &resolved(pair.request_document).unwrap_or(&NONE)["properties"]["params"]["prefixItems"][1]
}

fn info(pair: Kind) -> &'static Value {
    &mode_object(pair)["properties"]["tokenInfo"]
}

/// The members of which an `anyOf` requires one.
fn any_of(schema: &Value) -> Vec<&str> {
    let branches = schema["anyOf"].as_array().into_iter().flatten();
    branches.filter_map(|branch| branch["required"][0].as_str()).collect()
}

fn called(pair: Kind) -> String {
    format!("`{}` / `{}`", pair.method, Mode::of(pair).into_str())
}
