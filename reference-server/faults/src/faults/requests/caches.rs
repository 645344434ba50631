//! Faults of caching and concurrency: results that are cached under a part of the request, or swapped between requests.

use std::time::Duration;

use paymaster_schemas::kinds;
use serde_json::Value;

use crate::faults::{Fault, fault};
use crate::injection::{Behaviour, SwappedPart, retain, set, text_of};

const ECHO: Fault = Fault::breaking("answer.id").depends_on_others();
const QUOTED: Fault =
    Fault::breaking("quote.tokens-quoted").also(QUOTE_CONTENT).when(|view| view.is(kinds::QUOTE_ERC20));
const QUOTE_CACHED: Fault = QUOTED.depends_on_others();
const MODE_CACHED: Fault = Fault::breaking("sponsor.mode-mandatory-served")
    .when(|view| view.is_sponsor())
    .also(MODES)
    .depends_on_others();
const QUOTE_CONTENT: &[&str] = &[
    "json-rpc.batch-elements",
    "quote.only-requested",
    "quote.unsupported-listed",
    "quote.unsupported-only-unsupported",
];

pub(crate) const FAULTS: &[Fault] = &[
    fault(ECHO, "answers-cross", "swaps the responses to concurrent sponsor requests")
        .injects(Behaviour::Swap(SwappedPart::Answer))
        .when(|view| view.is(kinds::SPONSOR_SPONSORED))
        .also(&[
            "answer.*",
            "sponsor.*",
            "quote.*",
            "sponsored-result.*",
            "request.*",
            "error.*",
            "json-rpc.*",
            "plausibility.*",
        ]),
    fault(ECHO, "answer-cached-with-id", "repeats the first answer to the same params, id included")
        .on_answer(|view, answer| {
            let key = view.request["params"].to_string();
            let id = view.memory.first(key, view.id());
            set(answer, "id", id);
        })
        .when(|view| view.is_call()),
    fault(QUOTE_CACHED, "quote-cached-by-sender", "repeats the first quote for a sender")
        .on_result(|view, result| view.repeat(result, text_of(&view.operation()["sender"])))
        .also(&["quote.*", "plausibility.fee-of-operation"]),
    fault(
        QUOTED,
        "quote-of-the-sender-under-load",
        "repeats the last quote of a sender while others are in flight",
    )
    .on_http(|view, response| {
        let body = response.body.as_deref().unwrap_or_default();
        let Ok(mut answer) = serde_json::from_slice::<Value>(body) else { return };
        let Some(result) = answer.get_mut("result") else { return };
        let last = view.memory.previous(&text_of(&view.operation()["sender"]), result);
        if let Some(last) = last.filter(|_| view.arrival.in_flight > 1) {
            *result = last;
            response.body = Some(answer.to_string().into());
        }
        // Requests meet.
        response.delay = Duration::from_millis(1);
    })
    .also(&["quote.*", "plausibility.*"])
    .depends_on_others(),
    fault(QUOTE_CACHED, "quote-cached-by-id", "repeats the first quote for an id")
        .on_result(|view, result| view.repeat(result, view.id().to_string())),
    fault(QUOTE_CACHED, "quote-cached-by-nonce", "repeats the first quote for a nonce")
        .on_result(|view, result| view.repeat(result, text_of(&view.operation()["nonce"]))),
    fault(QUOTE_CACHED, "quote-cached-by-operation", "repeats the first quote for an operation")
        .on_result(|view, result| view.repeat(result, view.operation().to_string())),
    fault(QUOTE_CACHED, "quote-cached-by-list-length", "repeats the first quote for a number of tokens")
        .on_result(|view, result| view.repeat(result, view.token_list().len().to_string())),
    fault(QUOTED, "quote-cached-by-method", "repeats the first token of the first quote for every request")
        .on_result(|view, result| {
            view.repeat(result, String::new());
            retain(result, "feeQuotes", |place, _| place < 1);
        })
        // The first quote was that of discovery. From then on, the tokens of a request decide whether its answer is wrong.
        .when(|view| view.is(kinds::QUOTE_ERC20))
        .also(&["quote.*", "json-rpc.batch-elements"]),
    fault(MODE_CACHED, "result-cached-by-sender", "repeats the first sponsor result for a sender")
        .on_result(|view, result| view.repeat(result, text_of(&view.operation()["sender"]))),
    fault(MODE_CACHED, "result-cached-by-operation", "repeats the first sponsor result for an operation")
        .on_result(|view, result| view.repeat(result, view.operation().to_string())),
    fault(QUOTE_CACHED, "quote-cached-by-preferred-token", "repeats the first quote for a preferred token")
        .on_result(|view, result| view.repeat(result, view.preferred().unwrap_or_default().to_owned()))
        .when(|view| view.is(kinds::QUOTE_ERC20) && view.preferred().is_some()),
];

/// The clauses that a result of the other mode breaks.
const MODES: &[&str] = &[
    "plausibility.gas",
    "plausibility.token-data",
    "sponsored-result.MODE",
    "token-sponsor-result.MODE",
    "token-sponsor-result.paymasterAndData",
    "sponsor.refused-gets-0x",
    "sponsor.sponsorable-is-sponsored",
    "sponsor.decision-inputs",
];
