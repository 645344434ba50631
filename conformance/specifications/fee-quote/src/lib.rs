//! The Paymaster JSON-RPC Service Specification (`fee-quote`), as it plugs into the engine: rules, relations, and what is known of a
//! target. A pure library, as the engine is.

pub mod base;
pub mod call;
pub mod discovery;
mod first_profile;
pub mod generate;
pub mod learn;
pub mod lines;
mod load;
pub mod observers;
pub mod on_chain;
mod page;
mod profile_parts;
pub mod relations;
pub mod rules;
mod survey;
pub mod tables;
pub mod target;

use crate::relations as related;
use crate::rules::{requests, results};
use crate::survey::Survey;
use crate::tables::{FEES, GAS};
use crate::target::{Context, profile};
use paymaster_engine::cases::Base;
use paymaster_engine::generate::Change;
use paymaster_engine::rules as responses;
use paymaster_engine::specification::{Places, Specification};
use paymaster_schemas::{FEE_QUOTE, kinds};
use serde::Deserialize;
use std::sync::Arc;

/// The Paymaster JSON-RPC Service Specification.
pub static SPECIFICATION: Specification = Specification {
    name: "fee-quote",
    title: "Paymaster JSON-RPC Service Specification",
    version: "without a version",
    published: "docs/specification.md",
    definition: &FEE_QUOTE,
    kinds: &kinds::ALL,
    rules: &[
        responses::answer_form::RULES,
        results::rows::SPONSORED_RESULT,
        results::rows::QUOTE_RESULT,
        results::rows::FEE_QUOTE,
        results::rows::TOKEN_SPONSOR_RESULT,
        requests::served::RULES,
        requests::decision::RULES,
        results::quoted_tokens::RULES,
        results::token_facts::RULES,
        responses::errors::RULES,
        requests::errors::RULES,
        requests::accepted::RULES,
        requests::notation::RULES,
        responses::json_rpc::RULES,
        responses::batches::RULES,
        responses::http::RULES,
        requests::interoperability::RULES,
        results::plausibility::RULES,
    ],
    relations: related::RELATIONS,
    observers: observers::OBSERVERS,
    calls: &related::CALLS,
    places: Places {
        params: &["the operation", "the mode object"],
        subject: "/params/0",
        party: "/params/0/sender",
        once: "/params/0/nonce",
        bytes: "/params/0/callData",
        kind: "/params/1/mode",
        terms: "/params/1",
        kept_under: &[
            "/params/1/tokenInfo/preferredToken",
            "/params/1/tokenInfo/tokenList",
            "/params/1/tokenInfo/feeTokenAddress",
        ],
        parts: &[],
    },
    plain_bases: &[
        Base::accepted(kinds::SPONSOR_SPONSORED),
        Base::accepted(kinds::QUOTE_SPONSORED),
        Base::accepted(kinds::SPONSOR_ERC20),
        Base::accepted(kinds::QUOTE_ERC20),
    ],
    read_profile: |text| Ok(profile::read(text)?.into()),
    template: include_str!("template.toml"),
    survey: |seed, limits| Box::new(Survey::new(seed, limits)),
    profile_parts: profile_parts::PARTS,
    page: page::PAGE,
    restore: |saved| Ok(Arc::new(Context::deserialize(saved)?)),
    first_results: Some((kinds::QUOTE_ERC20, |knowledge, results| {
        Arc::new(Context::of(knowledge).with_first_quotes(results))
    })),
    called: call::called,
    shows_answer: call::omits_fee_token,
    any_code: call::is_refused_with_any_code,
    grants: call::grants,
    refuses_repeats: false,
    asks_for: call::asks_for,
    excluding_line: profile::excluding_line,
    line_asked_for: |_| None,
    sort_of_kind: call::sort_of_kind,
    sort_of_result: call::sort_of_result,
    settled: requests::notation::settled,
    sibling: call::in_other_mode,
    refused: |input| relations::refused_call(input.base, Context::of(input.context)),
    deciding: call::deciding,
    right_answer: call::right_answer,
    may_change,
    check_row: results::rows::check,
    is_amount: tables::is_amount,
    free_form: "/params/1/sponsorshipInfo/webhookData",
    counts: call::counts,
    load: &load::LOAD_TEST,
};

/// A sender that a person would write.
const PLAIN_SENDER: &str = "0x1000000000000000000000000000000000000001";

/// What shrinking may do at a place. Tokens, accounts, method, mode and id stay, because the expectation of the request depends on them.
fn may_change(pointer: &str) -> Change {
    const TOKENS: &str = "/params/1/tokenInfo";
    const ACCOUNT: &str = "/params/1/sponsorshipInfo/smartAccountInfo";
    let is_gas_or_fee = |name: &str| GAS.contains(&name) || FEES.contains(&name);
    match pointer {
        "" | "/params" | "/params/0" | "/params/1" => Change::Stays,
        "/jsonrpc" | "/method" | "/id" | "/params/1/mode" => Change::Fixed,
        "/params/0/sender" => Change::LetterCaseOr(PLAIN_SENDER),
        // A target may refuse a gas limit or fee of zero, which would change the failure.
        _ if pointer.strip_prefix("/params/0/").is_some_and(is_gas_or_fee) => Change::Positive,
        _ => match (pointer.strip_prefix(TOKENS), pointer.strip_prefix(ACCOUNT)) {
            (Some("/preferredToken" | "/feeTokenAddress" | "/tokenAddress"), _) => Change::LetterCase,
            (Some(item), _) if item.starts_with("/tokenList/") => Change::LetterCase,
            (_, Some("/name" | "/version")) => Change::Removal,
            _ => Change::Free,
        },
    }
}
