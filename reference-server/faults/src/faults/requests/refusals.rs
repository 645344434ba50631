//! Faults of refusals: requests that must be refused with an error, and those whose refusal is a result (sections 2.2, 4.2 and 7).

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::SERVE_FIRST_TOKEN;
use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, is_refusal, quotes, remove, result, set, some_result};

const ABSENT: &str = "error.token-absent";
const UNSUPPORTED: &str = "error.token-unsupported";
const REFUSAL: &str = "error.refusal-is-none";
const UNSUPPORTED_QUOTE: &str = "error.unsupported-quote-is-none";

pub(in crate::faults) const FAULTS: &[Fault] = &[
    Fault::new(
        "request.mode-mandatory",
        "sponsor-without-mode-served",
        "serves sponsor requests without mode in the sponsored mode",
    )
    .injects(Behaviour::Request(|_, request| request["params"][1]["mode"] = "SPONSORED".into()))
    .when(is_sponsor_without_mode)
    .depends_on("/params/1/mode"),
    Fault::new(
        "request.mode-mandatory",
        "sponsor-mode-guessed",
        "takes a sponsor request with tokenInfo and without mode as one in token mode",
    )
    .injects(Behaviour::Request(|_, request| request["params"][1]["mode"] = "ERC20".into()))
    .when(|view| is_sponsor_without_mode(view) && view.token_info().get("feeTokenAddress").is_some()),
    Fault::new(ABSENT, "absent-token-served", "uses the first supported token when none is named")
        .injects(SERVE_FIRST_TOKEN)
        .when(|view| view.omits_fee_token())
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(ABSENT, "absent-token-gets-0x", "answers with 0x when no token is named")
        .injects(Behaviour::Answer(|_, answer| {
            remove(answer, "error");
            set(answer, "result", some_result("ERC20", "0x"));
        }))
        .when(|view| view.omits_fee_token())
        .also(PAYS_NOTHING)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        ABSENT,
        "absent-token-info-served",
        "uses the first supported token when there is no tokenInfo",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.omits_fee_token() && view.mode_object().get("tokenInfo").is_none())
    .depends_on("/params/1/tokenInfo"),
    Fault::new(ABSENT, "null-token-served", "uses the first supported token when the token is null")
        .injects(SERVE_FIRST_TOKEN)
        .when(|view| {
            view.is(Pair::SPONSOR_ERC20)
                && view.token_info().get("feeTokenAddress").is_some_and(Value::is_null)
        })
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        ABSENT,
        "empty-token-served",
        "uses the first supported token when the token is an empty string",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.is(Pair::SPONSOR_ERC20) && view.fee_token() == Some(""))
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(ABSENT, "preferred-token-for-absent", "uses preferredToken when feeTokenAddress is missing")
        .injects(Behaviour::Request(|view, request| {
            let token = view.preferred().map(str::to_owned);
            request["params"][1]["tokenInfo"] = json!({ "feeTokenAddress": token });
        }))
        .when(|view| view.omits_fee_token() && view.preferred().is_some()),
    Fault::new(ABSENT, "absent-token-sponsored", "sponsors an operation whose token is not named")
        .injects(Behaviour::Request(|_, request| request["params"][1]["mode"] = "SPONSORED".into()))
        .when(|view| view.omits_fee_token())
        .also(&["sponsor.mode-mandatory-served", "token-sponsor-result.MODE"])
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served",
        "uses the first supported token instead of an unsupported one",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.names_unsupported_fee_token())
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(UNSUPPORTED, "unsupported-token-gets-0x", "answers with 0x when the token is not supported")
        .injects(Behaviour::Answer(|_, answer| {
            remove(answer, "error");
            set(answer, "result", some_result("ERC20", "0x"));
        }))
        .when(|view| view.names_unsupported_fee_token())
        .also(PAYS_NOTHING)
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served-when-not-calculated",
        "serves a token that is not supported when calculateGasLimits is false",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.names_unsupported_fee_token() && view.calculates(false)),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served-when-deploying",
        "serves a token that is not supported when there is an initCode",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.names_unsupported_fee_token() && view.has_init_code()),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served-now-and-then",
        "serves 1 of 5 tokens that are not supported",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.names_unsupported_fee_token() && view.is_one_in(5)),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served-again",
        "serves a token that is not supported when the same bytes come again",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.names_unsupported_fee_token() && view.is_repeated()),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served-to-string-ids",
        "serves a token that is not supported when the id is a string",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| view.names_unsupported_fee_token() && view.id().is_string()),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served-without-gas-limit",
        "serves a token that is not supported when a gas limit is left out",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| {
        view.names_unsupported_fee_token()
            && ["callGasLimit", "verificationGasLimit", "preVerificationGas"]
                .iter()
                .any(|name| view.operation().get(name).is_none())
    }),
    Fault::new(
        UNSUPPORTED,
        "unsupported-token-served-beside-preferred",
        "serves a token that is not supported when preferredToken is supported",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| {
        view.names_unsupported_fee_token() && view.preferred().is_some_and(|token| view.supports(token))
    }),
    Fault::new(UNSUPPORTED, "longer-token-served", "accepts a token that contains a supported address")
        .injects(SERVE_FIRST_TOKEN)
        .when(|view| {
            let named = view.fee_token().unwrap_or_default().to_ascii_lowercase();
            let within =
                |token: &String| named.len() > token.len() && named.contains(&token.to_ascii_lowercase());
            view.is(Pair::SPONSOR_ERC20) && view.tokens.iter().any(within)
        })
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(UNSUPPORTED, "piece-of-a-token-served", "accepts a token that is part of a supported address")
        .injects(SERVE_FIRST_TOKEN)
        .when(|view| {
            let named = view.fee_token().unwrap_or_default().to_ascii_lowercase();
            let within =
                |token: &String| named.len() < token.len() && token.to_ascii_lowercase().contains(&named);
            view.is(Pair::SPONSOR_ERC20) && !named.is_empty() && view.tokens.iter().any(within)
        })
        .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        UNSUPPORTED,
        "native-coin-served",
        "accepts the addresses that represent the native coin as tokens",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| {
        view.names_unsupported_fee_token() && {
            let digits = view.fee_token().unwrap_or_default().get(2..).unwrap_or_default();
            digits.chars().all(|digit| digit == '0') || digits.chars().all(|digit| matches!(digit, 'e' | 'E'))
        }
    })
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(
        UNSUPPORTED,
        "lookalike-token-served",
        "compares only the first 32 digits of a token's address",
    )
    .injects(SERVE_FIRST_TOKEN)
    .when(|view| {
        let start = |token: &str| token.get(..34).map(str::to_ascii_lowercase);
        view.names_unsupported_fee_token()
            && view
                .tokens
                .iter()
                .any(|token| view.fee_token().is_some_and(|named| start(named) == start(token)))
    })
    .depends_on("/params/1/tokenInfo/feeTokenAddress"),
    Fault::new(REFUSAL, "refusal-as-error", "returns an error for an operation that it does not sponsor")
        .injects(REFUSE_WITH_ERROR)
        .when(|view| view.is_sponsored_mode())
        .also(&["sponsor.refused-gets-0x"]),
    Fault::new(
        REFUSAL,
        "refusal-as-error-in-quotes",
        "returns an error for an operation that it does not sponsor, in quotes only",
    )
    .injects(REFUSE_WITH_ERROR)
    .when(|view| view.is(Pair::QUOTE_SPONSORED))
    .also(&["sponsor.refused-gets-0x"]),
    Fault::new(
        REFUSAL,
        "refusal-as-error-when-sponsoring",
        "returns an error for an operation that it does not sponsor, in pm_sponsorUserOperation only",
    )
    .injects(REFUSE_WITH_ERROR)
    .when(|view| view.is(Pair::SPONSOR_SPONSORED))
    .also(&["sponsor.refused-gets-0x"]),
    Fault::new(
        UNSUPPORTED_QUOTE,
        "unsupported-quote-as-error",
        "answers with an error when a token is not supported",
    )
    .depends_on_the_request()
    .injects(Behaviour::Answer(|_, answer| {
        if unsupported_count(answer) > 0 {
            into_error(answer);
        }
    }))
    .also(&["request.token-list"]),
    Fault::new(
        UNSUPPORTED_QUOTE,
        "all-unsupported-as-error",
        "answers with an error when no token is supported",
    )
    .depends_on_the_request()
    .injects(Behaviour::Answer(|_, answer| {
        if unsupported_count(answer) > 0
            && result(answer).is_some_and(|result| quotes(result).next().is_none())
        {
            into_error(answer);
        }
    })),
    Fault::new(
        UNSUPPORTED_QUOTE,
        "unsupported-preferred-as-error",
        "answers with an error when the preferred token is not supported",
    )
    .injects(Behaviour::Answer(|_, answer| {
        if answer.contains_key("result") {
            into_error(answer);
        }
    }))
    .when(|view| view.is(Pair::QUOTE_ERC20) && view.preferred().is_some_and(|token| !view.supports(token)))
    .depends_on("/params/1/tokenInfo/preferredToken"),
];

/// The clauses that `0x` as the data of token mode breaks.
const PAYS_NOTHING: &[&str] = &["token-sponsor-result.paymasterAndData", "sponsor.erc20-result"];

type Answer = serde_json::Map<String, Value>;

const REFUSE_WITH_ERROR: Behaviour = Behaviour::Answer(|_, answer| {
    if result(answer).is_some_and(|result| is_refusal(result)) {
        into_error(answer);
    }
});

fn into_error(answer: &mut Answer) {
    remove(answer, "result");
    let error = json!({ "code": -32000, "message": "not possible for this operation" });
    set(answer, "error", error);
}

fn unsupported_count(answer: &mut Answer) -> usize {
    let unsupported = result(answer).and_then(|result| result.get("unsupportedTokens"));
    unsupported.and_then(Value::as_array).map_or(0, Vec::len)
}

fn is_sponsor_without_mode(view: &RequestView<'_>) -> bool {
    let mode_object = view.mode_object().as_object();
    view.request["method"] == "pm_sponsorUserOperation"
        && mode_object.is_some_and(|mode| !mode.contains_key("mode"))
}
