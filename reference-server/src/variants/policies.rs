//! Variants of what a server supports: which operations, accounts, tokens and modes. A profile of such a server states less.

use serde_json::{Map, Value, json};

use super::{Statement, Variant};
use crate::injection::{Behaviour, RequestView};

/// The account that a server knows which simulates operations.
const DEPLOYED: &str = "0x5b38da6a701c568545dcfcb03fcb875f56beddc4";

pub(super) const VARIANTS: &[Variant] = &[
    Variant::refusal(
        "unknown-accounts-refused",
        "simulates operations: refuses every sender but one with an error",
        |view| view.is_call() && view.operation()["sender"] != DEPLOYED,
    )
    .untrue(&[Statement::AcceptsAny]),
    Variant::new(
        "one-account-version",
        "sponsors the account BICONOMY 2.0.0 alone",
        Behaviour::Result(|_, result| unsponsored(result)),
    )
    .when(has_other_account)
    .untrue(&[Statement::SponsorsAny, Statement::Accounts]),
    Variant::refusal(
        "other-accounts-refused",
        "refuses every account but BICONOMY 2.0.0 with an error",
        has_other_account,
    )
    .untrue(&[Statement::Accounts]),
    Variant::new(
        "small-calls-sponsored",
        "sponsors calls of at most 100 bytes",
        Behaviour::Result(|_, result| unsponsored(result)),
    )
    .when(|view| view.is_sponsored_mode() && view.byte_count("callData") > 100)
    .untrue(&[Statement::SponsorsAny]),
    Variant::new(
        "webhook-data-decides",
        "sponsors no request with webhookData of some content",
        Behaviour::Result(|_, result| unsponsored(result)),
    )
    .when(|view| {
        let data = view.sponsorship_info()["webhookData"].as_object();
        view.is_sponsored_mode() && data.is_some_and(|data| !data.is_empty())
    }),
    Variant::new(
        "sponsors-no-operation",
        "sponsors no operation",
        Behaviour::Result(|_, result| unsponsored(result)),
    )
    .when(|view| view.is_sponsored_mode())
    .untrue(&[Statement::SponsorsAny, Statement::OneOperation]),
    Variant::new(
        "token-data-of-the-paymaster-alone",
        "returns the address of the paymaster and nothing else as paymasterAndData in token mode",
        Behaviour::Result(|_, result| {
            if let Some(data) = result.get("paymasterAndData").and_then(|data| data.as_str()) {
                let paymaster = data.get(..42).unwrap_or_default();
                result.insert("paymasterAndData".to_owned(), json!(paymaster));
            }
        }),
    )
    .when(|view| view.is_token_mode()),
    Variant::configured("one-token", "supports one token", |config| {
        config.tokens.truncate(1);
    }),
    Variant::configured("no-token", "supports no token", |config| config.tokens.clear())
        .untrue(&[Statement::OneOperation]),
    Variant::refusal("token-mode-alone", "refuses the sponsored mode", |view| view.is_sponsored_mode())
        .untrue(&[Statement::AcceptsAny, Statement::Accounts]),
    Variant::refusal("sponsored-mode-alone", "refuses the token mode", |view| view.is_token_mode())
        .untrue(&[Statement::AcceptsAny, Statement::Tokens, Statement::OneToken, Statement::OneOperation]),
];

fn unsponsored(result: &mut Map<String, Value>) {
    if result.contains_key("paymasterAndData") {
        result.insert("paymasterAndData".to_owned(), json!("0x"));
    }
}

fn has_other_account(view: &RequestView<'_>) -> bool {
    let account = &view.sponsorship_info()["smartAccountInfo"];
    view.is_sponsored_mode() && (account["name"] != "BICONOMY" || account["version"] != "2.0.0")
}
