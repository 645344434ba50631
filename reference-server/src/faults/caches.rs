//! Answers that are remembered under too little of the request, or that cross with others.

use paymaster_schemas::Pair;
use serde_json::{Map, Value};

use super::Fault;
use crate::deviations::{Act, Asked, Part, text_of};

const ECHO: &str = "answer.id";
const QUOTED: &str = "quote.tokens-quoted";
const QUOTE_CONTENT: &[&str] = &[
    "quote.only-requested",
    "quote.unsupported-listed",
    "quote.unsupported-only-unsupported",
];

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        ECHO,
        "answers-cross",
        "gives concurrent requests to be sponsored each other's answers",
        Act::Cross(Part::Answer),
    )
    .when(|asked| asked.is(Pair::SPONSOR_SPONSORED))
    .also(&[
        "answer.*",
        "sponsor.*",
        "quote.*",
        "sponsored-result.*",
        "request.*",
        "error.*",
        "json-rpc.*",
    ]),
    Fault::of(
        ECHO,
        "answer-cached-with-id",
        "repeats the first answer to the same params, id included",
        Act::Answer(|asked, answer| {
            let key = asked.request["params"].to_string();
            let id = asked.memory.first(key, asked.id());
            answer.insert("id".to_owned(), id);
        }),
    )
    .when(|asked| asked.is_call()),
    Fault::of(
        QUOTED,
        "quote-cached-by-sender",
        "repeats the first quote for a sender",
        Act::Result(|asked, result| {
            repeat(asked, result, text_of(&asked.operation()["sender"]));
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_CONTENT),
    Fault::of(
        QUOTED,
        "quote-cached-by-id",
        "repeats the first quote for an id",
        Act::Result(|asked, result| {
            repeat(asked, result, asked.id().to_string());
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_CONTENT),
    Fault::of(
        QUOTED,
        "quote-cached-by-nonce",
        "repeats the first quote for a nonce",
        Act::Result(|asked, result| {
            repeat(asked, result, text_of(&asked.operation()["nonce"]));
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_CONTENT),
    Fault::of(
        QUOTED,
        "quote-cached-by-operation",
        "repeats the first quote for an operation",
        Act::Result(|asked, result| {
            repeat(asked, result, asked.operation().to_string());
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_CONTENT),
    Fault::of(
        QUOTED,
        "quote-cached-by-list-length",
        "repeats the first quote for as many tokens",
        Act::Result(|asked, result| {
            repeat(asked, result, asked.token_list().len().to_string());
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_CONTENT),
    Fault::of(
        QUOTED,
        "quote-cached-by-method",
        "repeats the first quote of all",
        Act::Result(|asked, result| {
            repeat(asked, result, String::new());
        }),
    )
    .when(|asked| asked.is(Pair::QUOTE_ERC20))
    .also(QUOTE_CONTENT),
    Fault::of(
        "sponsor.mode-mandatory-served",
        "result-cached-by-sender",
        "repeats the first sponsor result for a sender, whatever the mode",
        Act::Result(|asked, result| {
            repeat(asked, result, text_of(&asked.operation()["sender"]));
        }),
    )
    .when(|asked| asked.is_sponsor())
    .also(MODES),
    Fault::of(
        "sponsor.mode-mandatory-served",
        "result-cached-by-operation",
        "repeats the first sponsor result for an operation, whatever the mode",
        Act::Result(|asked, result| {
            repeat(asked, result, asked.operation().to_string());
        }),
    )
    .when(|asked| asked.is_sponsor())
    .also(MODES),
];

/// A result of the other mode.
const MODES: &[&str] = &[
    "sponsored-result.MODE",
    "token-sponsor-result.MODE",
    "token-sponsor-result.paymasterAndData",
    "sponsor.refused-gets-0x",
    "sponsor.sponsorable-is-sponsored",
    "sponsor.decision-inputs",
];

fn repeat(asked: &Asked<'_>, result: &mut Map<String, Value>, key: String) {
    let first = asked.memory.first(key, &Value::Object(result.clone()));
    if let Value::Object(first) = first {
        *result = first;
    }
}
