//! Variants of what a server supports: which operations, accounts, tokens and modes. A profile of such a server states less.

use alloy_primitives::U256;
use paymaster_schemas::kinds;

use super::http::exceeds_quota;
use super::{Statement, Variant, variant};
use crate::injection::{GAS_LIMITS, RequestView, change_data};

/// The account that a server knows which simulates operations.
const DEPLOYED: &str = "0x5b38da6a701c568545dcfcb03fcb875f56beddc4";

pub(super) const VARIANTS: &[Variant] = &[
    variant("unknown-accounts-refused", "simulates operations: refuses every sender but one with an error")
        .refuses(|view| view.is_call() && view.operation()["sender"] != DEPLOYED)
        .untrue(&[Statement::AcceptsAny]),
    variant("one-account-version", "sponsors the account BICONOMY 2.0.0 alone")
        .sponsors_nothing(has_other_account)
        .untrue(&[Statement::SponsorsAny, Statement::Accounts]),
    variant("other-accounts-refused", "refuses every account but BICONOMY 2.0.0 with an error")
        .refuses(has_other_account)
        .untrue(&[Statement::Accounts]),
    variant("small-calls-sponsored", "sponsors calls of at most 100 bytes")
        .sponsors_nothing(|view| view.is_sponsored_mode() && view.byte_count("callData") > 100)
        .untrue(&[Statement::SponsorsAny]),
    variant("sponsoring-budget", "sponsors 80 operations, and then no more")
        .sponsors_nothing(|view| view.is(kinds::SPONSOR_SPONSORED) && view.memory.count() > 80)
        .untrue(&[Statement::SponsorsAny]),
    variant("sponsoring-budget-in-errors", "sponsors 120 operations, and then refuses with an error")
        .refuses(|view| view.is(kinds::SPONSOR_SPONSORED) && view.memory.count() > 120)
        .untrue(BUDGET),
    variant("sender-budget", "sponsors 3 operations of one sender, and then refuses with an error")
        .refuses(|view| {
            view.is(kinds::SPONSOR_SPONSORED) && exceeds_quota(view, view.operation()["sender"].as_str(), 3)
        })
        .untrue(BUDGET),
    variant("costly-operations-unsponsored", "sponsors no operation that may cost more than 0.01 ETH")
        .sponsors_nothing(|view| view.is_sponsored_mode() && may_cost(view) > U256::from(DEAR))
        .untrue(&[Statement::SponsorsAny, Statement::OneOperation]),
    variant("costly-operations-refused", "refuses operations that may cost more than 0.01 ETH with an error")
        .refuses(|view| view.is_sponsored_mode() && may_cost(view) > U256::from(DEAR))
        .untrue(&[Statement::AcceptsAny, Statement::OneOperation]),
    variant("webhook-data-decides", "sponsors no request with webhookData of some content").sponsors_nothing(
        |view| {
            let data = view.sponsorship_info()["webhookData"].as_object();
            view.is_sponsored_mode() && data.is_some_and(|data| !data.is_empty())
        },
    ),
    variant("sponsors-no-operation", "sponsors no operation")
        .sponsors_nothing(|view| view.is_sponsored_mode())
        .untrue(&[Statement::SponsorsAny, Statement::OneOperation]),
    variant("token-data-of-the-paymaster-alone", "paymasterAndData in token mode is the address alone")
        .on_result(|_, result| change_data(result, |paymaster, _| paymaster.to_owned()))
        .when(|view| view.is_token_mode()),
    variant("one-token", "supports one token").configured(|config| config.tokens.truncate(1)),
    variant("no-token", "supports no token")
        .configured(|config| config.tokens.clear())
        .untrue(&[Statement::OneOperation]),
    variant("token-mode-alone", "refuses the sponsored mode")
        .refuses(|view| view.is_sponsored_mode())
        .untrue(&[Statement::AcceptsAny, Statement::Accounts]),
    variant("sponsored-mode-alone", "refuses the token mode").refuses(|view| view.is_token_mode()).untrue(&[
        Statement::AcceptsAny,
        Statement::Tokens,
        Statement::OneToken,
        Statement::OneOperation,
    ]),
];

/// What is not true of a server that refuses what it served before.
const BUDGET: &[Statement] = &[Statement::AcceptsAny, Statement::SponsorsAny, Statement::OneOperation];

/// 0.01 ETH, in wei.
const DEAR: u64 = 10_000_000_000_000_000;

/// What an operation may cost at most, in wei.
fn may_cost(view: &RequestView<'_>) -> U256 {
    let amount = |member| view.amount(member).unwrap_or_default();
    let gas = GAS_LIMITS.map(amount);
    gas.into_iter().fold(U256::ZERO, U256::saturating_add).saturating_mul(amount("maxFeePerGas"))
}

fn has_other_account(view: &RequestView<'_>) -> bool {
    let account = &view.sponsorship_info()["smartAccountInfo"];
    view.is_sponsored_mode() && (account["name"] != "BICONOMY" || account["version"] != "2.0.0")
}
