//! Errors: their form, and where there is one or none (sections 4.2 and 7).

use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::Fault;
use crate::deviations::{Act, Asked, decimal_text, quotes, result};

const OBJECT: &str = "error.object";
const CODE: &str = "error.code";
const MESSAGE: &str = "error.message";
const ABSENT: &str = "error.token-absent";
const UNSUPPORTED: &str = "error.token-unsupported";
const REFUSAL: &str = "error.refusal-is-none";
const UNSUPPORTED_QUOTE: &str = "error.unsupported-quote-is-none";

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(
        OBJECT,
        "error-as-text",
        "error is a string",
        Act::Answer(|_, answer| {
            replace(answer, |error| error["message"].clone());
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        OBJECT,
        "error-in-array",
        "error is an array",
        Act::Answer(|_, answer| {
            replace(answer, |error| Value::Array(vec![error.clone()]));
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        OBJECT,
        "error-true",
        "error is true",
        Act::Answer(|_, answer| replace(answer, |_| true.into())),
    )
    .when(is_about_tokens),
    Fault::of(
        OBJECT,
        "error-number",
        "error is its code alone",
        Act::Answer(|_, answer| {
            replace(answer, |error| error["code"].clone());
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        CODE,
        "error-code-missing",
        "leaves code out",
        Act::Error(|_, error| {
            error.shift_remove("code");
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        CODE,
        "error-code-string",
        "code is a string",
        Act::Error(|_, error| {
            let code = decimal_text(error.get("code").unwrap_or(&Value::Null));
            error.insert("code".to_owned(), code);
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        CODE,
        "error-code-name",
        "code is a name",
        Act::Error(|_, error| {
            error.insert("code".to_owned(), "INVALID".into());
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        CODE,
        "error-code-fraction",
        "code has a fraction",
        Act::Error(|_, error| {
            error.insert("code".to_owned(), crate::deviations::json("-32000.5"));
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        CODE,
        "error-code-null-without-token",
        "code is null when no token is named",
        Act::Error(|_, error| {
            error.insert("code".to_owned(), Value::Null);
        }),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20) && asked.fee_token().is_none()),
    Fault::of(
        MESSAGE,
        "error-message-missing",
        "leaves message out",
        Act::Error(|_, error| {
            error.shift_remove("message");
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        MESSAGE,
        "error-message-null",
        "message is null",
        Act::Error(|_, error| {
            error.insert("message".to_owned(), Value::Null);
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        MESSAGE,
        "error-message-object",
        "message is an object",
        Act::Error(|_, error| {
            let message = error.get("message").cloned();
            error.insert("message".to_owned(), json!({ "text": message }));
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        MESSAGE,
        "error-message-array",
        "message is an array",
        Act::Error(|_, error| {
            let message = error.get("message").cloned();
            error.insert("message".to_owned(), json!([message]));
        }),
    )
    .when(is_about_tokens),
    Fault::of(
        ABSENT,
        "absent-token-served",
        "takes the first supported token when none is named",
        serve_first(),
    )
    .when(names_no_token),
    Fault::of(
        ABSENT,
        "absent-token-gets-0x",
        "answers with 0x when no token is named",
        Act::Answer(|_, answer| {
            answer.shift_remove("error");
            answer.insert("result".to_owned(), refusal());
        }),
    )
    .when(names_no_token)
    .also(PAYS_NOTHING),
    Fault::of(
        ABSENT,
        "absent-token-info-served",
        "takes the first supported token when there is no tokenInfo",
        serve_first(),
    )
    .when(|asked| names_no_token(asked) && asked.mode_object().get("tokenInfo").is_none()),
    Fault::of(
        ABSENT,
        "null-token-served",
        "takes the first supported token when the token is null",
        serve_first(),
    )
    .when(|asked| {
        asked.is(Pair::SPONSOR_ERC20)
            && asked
                .token_info()
                .get("feeTokenAddress")
                .is_some_and(Value::is_null)
    }),
    Fault::of(
        ABSENT,
        "empty-token-served",
        "takes the first supported token when the token is an empty text",
        serve_first(),
    )
    .when(|asked| asked.is(Pair::SPONSOR_ERC20) && asked.fee_token() == Some("")),
    Fault::of(
        ABSENT,
        "preferred-token-for-absent",
        "takes preferredToken for a feeTokenAddress that is not there",
        Act::Request(|asked, request| {
            let token = asked.preferred().map(str::to_owned);
            request["params"][1]["tokenInfo"] = json!({ "feeTokenAddress": token });
        }),
    )
    .when(|asked| names_no_token(asked) && asked.preferred().is_some()),
    Fault::of(
        ABSENT,
        "absent-token-sponsored",
        "sponsors an operation whose token is not named",
        Act::Request(|_, request| {
            request["params"][1]["mode"] = "SPONSORED".into();
        }),
    )
    .when(names_no_token)
    .also(&["sponsor.mode-mandatory-served", "token-sponsor-result.MODE"]),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served",
        "takes the first supported token for one that is not supported",
        serve_first(),
    )
    .when(names_unsupported),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-gets-0x",
        "answers with 0x when the token is not supported",
        Act::Answer(|_, answer| {
            answer.shift_remove("error");
            answer.insert("result".to_owned(), refusal());
        }),
    )
    .when(names_unsupported)
    .also(PAYS_NOTHING),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served-when-not-calculated",
        "serves a token that is not supported when calculateGasLimits is false",
        serve_first(),
    )
    .when(|asked| names_unsupported(asked) && asked.calculates(false)),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served-when-deploying",
        "serves a token that is not supported when there is an initCode",
        serve_first(),
    )
    .when(|asked| names_unsupported(asked) && asked.has_init_code()),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served-now-and-then",
        "serves 1 of 5 tokens that are not supported",
        serve_first(),
    )
    .when(|asked| names_unsupported(asked) && asked.is_one_in(5)),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served-again",
        "serves a token that is not supported when the same bytes come again",
        serve_first(),
    )
    .when(|asked| {
        names_unsupported(asked)
            && asked
                .memory
                .knows(String::from_utf8_lossy(asked.raw).into_owned())
    }),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served-to-string-ids",
        "serves a token that is not supported when the id is a string",
        serve_first(),
    )
    .when(|asked| names_unsupported(asked) && asked.id().is_string()),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served-without-gas-limit",
        "serves a token that is not supported when a gas limit is left out",
        serve_first(),
    )
    .when(|asked| {
        names_unsupported(asked)
            && ["callGasLimit", "verificationGasLimit", "preVerificationGas"]
                .iter()
                .any(|name| asked.operation().get(name).is_none())
    }),
    Fault::of(
        UNSUPPORTED,
        "unsupported-token-served-beside-preferred",
        "serves a token that is not supported when preferredToken is",
        serve_first(),
    )
    .when(|asked| names_unsupported(asked) && asked.preferred().is_some_and(|token| asked.supports(token))),
    Fault::of(
        UNSUPPORTED,
        "longer-token-served",
        "looks for a supported address within the token",
        serve_first(),
    )
    .when(|asked| {
        let named = asked.fee_token().unwrap_or_default().to_ascii_lowercase();
        let within =
            |token: &String| named.len() > token.len() && named.contains(&token.to_ascii_lowercase());
        asked.is(Pair::SPONSOR_ERC20) && asked.tokens.iter().any(within)
    }),
    Fault::of(
        UNSUPPORTED,
        "piece-of-a-token-served",
        "looks for the token within the supported addresses",
        serve_first(),
    )
    .when(|asked| {
        let named = asked.fee_token().unwrap_or_default().to_ascii_lowercase();
        let within =
            |token: &String| named.len() < token.len() && token.to_ascii_lowercase().contains(&named);
        asked.is(Pair::SPONSOR_ERC20) && !named.is_empty() && asked.tokens.iter().any(within)
    }),
    Fault::of(
        UNSUPPORTED,
        "native-coin-served",
        "takes the addresses that stand for the native coin for tokens",
        serve_first(),
    )
    .when(|asked| {
        names_unsupported(asked) && {
            let digits = asked.fee_token().unwrap_or_default().get(2..).unwrap_or_default();
            digits.chars().all(|digit| digit == '0') || digits.chars().all(|digit| matches!(digit, 'e' | 'E'))
        }
    }),
    Fault::of(
        UNSUPPORTED,
        "lookalike-token-served",
        "looks at the first 32 digits of a token's address only",
        serve_first(),
    )
    .when(|asked| {
        let start = |token: &str| token.get(..34).map(str::to_ascii_lowercase);
        names_unsupported(asked)
            && asked.tokens.iter().any(|token| {
                asked
                    .fee_token()
                    .is_some_and(|named| start(named) == start(token))
            })
    }),
    Fault::of(
        REFUSAL,
        "refusal-as-error",
        "answers with an error what it does not sponsor",
        refuse_with_error(),
    )
    .when(|asked| asked.is_sponsored_mode())
    .also(&["sponsor.refused-gets-0x"]),
    Fault::of(
        REFUSAL,
        "refusal-as-error-in-quotes",
        "answers with an error what it does not sponsor, in quotes only",
        refuse_with_error(),
    )
    .when(|asked| asked.is(Pair::QUOTE_SPONSORED))
    .also(&["sponsor.refused-gets-0x"]),
    Fault::of(
        REFUSAL,
        "refusal-as-error-when-sponsoring",
        "answers with an error what it does not sponsor, in pm_sponsorUserOperation only",
        refuse_with_error(),
    )
    .when(|asked| asked.is(Pair::SPONSOR_SPONSORED))
    .also(&["sponsor.refused-gets-0x"]),
    Fault::of(
        UNSUPPORTED_QUOTE,
        "unsupported-quote-as-error",
        "answers with an error when a token is not supported",
        Act::Answer(|_, answer| {
            if unsupported_count(answer) > 0 {
                into_error(answer);
            }
        }),
    )
    .also(&["request.token-list"]),
    Fault::of(
        UNSUPPORTED_QUOTE,
        "all-unsupported-as-error",
        "answers with an error when no token is supported",
        Act::Answer(|_, answer| {
            if unsupported_count(answer) > 0
                && result(answer).is_some_and(|result| quotes(result).next().is_none())
            {
                into_error(answer);
            }
        }),
    ),
    Fault::of(
        UNSUPPORTED_QUOTE,
        "unsupported-preferred-as-error",
        "answers with an error when the preferred token is not supported",
        Act::Answer(|_, answer| {
            if answer.contains_key("result") {
                into_error(answer);
            }
        }),
    )
    .when(|asked| {
        asked.is(Pair::QUOTE_ERC20) && asked.preferred().is_some_and(|token| !asked.supports(token))
    }),
];

/// The data of token mode is never 0x.
const PAYS_NOTHING: &[&str] = &["token-sponsor-result.paymasterAndData", "sponsor.erc20-result"];

type Answer = serde_json::Map<String, Value>;

fn replace(answer: &mut Answer, change: fn(&Value) -> Value) {
    if let Some(error) = answer.get_mut("error") {
        *error = change(error);
    }
}

/// The predefined codes are guarded by other clauses; the errors about tokens have codes of the service's own.
fn is_about_tokens(asked: &Asked<'_>) -> bool {
    names_no_token(asked) || names_unsupported(asked)
}

fn names_no_token(asked: &Asked<'_>) -> bool {
    asked.is(Pair::SPONSOR_ERC20) && asked.fee_token().is_none_or(str::is_empty)
}

fn names_unsupported(asked: &Asked<'_>) -> bool {
    let is_other = |token: &str| !token.is_empty() && !asked.supports(token);
    asked.is(Pair::SPONSOR_ERC20) && asked.fee_token().is_some_and(is_other)
}

/// Serves the first supported token, whatever was named.
const fn serve_first() -> Act {
    Act::Request(|asked, request| {
        let token = asked.tokens.first().cloned();
        request["params"][1]["tokenInfo"] = json!({ "feeTokenAddress": token });
    })
}

/// A token-mode result that pays nothing.
fn refusal() -> Value {
    json!({
        "MODE": "ERC20",
        "mode": "ERC20",
        "paymasterAndData": "0x",
        "preVerificationGas": "45000",
        "verificationGasLimit": 120_000,
        "callGasLimit": 60_000,
    })
}

const fn refuse_with_error() -> Act {
    Act::Answer(|_, answer| {
        let data = result(answer).and_then(|result| result.get("paymasterAndData"));
        if data.is_some_and(|data| data == "0x") {
            into_error(answer);
        }
    })
}

fn into_error(answer: &mut Answer) {
    answer.shift_remove("result");
    let error = json!({ "code": -32000, "message": "not possible for this operation" });
    answer.insert("error".to_owned(), error);
}

fn unsupported_count(answer: &mut Answer) -> usize {
    let unsupported = result(answer).and_then(|result| result.get("unsupportedTokens"));
    unsupported.and_then(Value::as_array).map_or(0, Vec::len)
}
