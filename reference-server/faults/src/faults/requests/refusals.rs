//! Faults of refusals: requests that must be refused with an error, and those whose refusal is a result (sections 2.2, 4.2 and 7).

use paymaster_schemas::kinds;
use serde_json::{Value, json};

use super::SERVE_FIRST_TOKEN;
use crate::faults::{FEE_TOKEN, Fault, NATIVE_COIN, PREFERRED, fault};
use crate::injection::{
    Behaviour, GAS_LIMITS, RequestView, has_quotes, is_refusal, refuse, refuse_result, remove, result, set,
    some_result,
};

const MODE: Fault = Fault::breaking("request.mode-mandatory");
const ABSENT: Fault = Fault::breaking("error.token-absent").injects(SERVE_FIRST_TOKEN);
const ABSENT_BY_TOKEN: Fault = ABSENT.depends_on(FEE_TOKEN);
const OTHER: Fault = Fault::breaking("error.token-unsupported").injects(SERVE_FIRST_TOKEN);
const OTHER_BY_TOKEN: Fault = OTHER.depends_on(FEE_TOKEN);
const REFUSAL: Fault =
    Fault::breaking("error.refusal-is-none").injects(REFUSE_WITH_ERROR).also(&["sponsor.refused-gets-0x"]);
const QUOTE: Fault = Fault::breaking("error.unsupported-quote-is-none").depends_on_the_request();

pub(crate) const FAULTS: &[Fault] = &[
    fault(MODE, "sponsor-without-mode-served", "serves sponsor requests without mode in the sponsored mode")
        .on_request(|_, request| request["params"][1]["mode"] = "SPONSORED".into())
        .when_at("/params/1/mode", is_sponsor_without_mode),
    fault(MODE, "sponsor-mode-guessed", "takes a sponsor request with tokenInfo and no mode as token mode")
        .on_request(|_, request| request["params"][1]["mode"] = "ERC20".into())
        .when(|view| is_sponsor_without_mode(view) && view.token_info().get("feeTokenAddress").is_some()),
    fault(MODE, "null-mode-served", "takes a sponsor request whose mode is null as sponsored mode")
        .on_request(|_, request| request["params"][1]["mode"] = "SPONSORED".into())
        .when_at("/params/1/mode", |view| {
            view.request["method"] == "pm_sponsorUserOperation"
                && view.mode_object().get("mode").is_some_and(Value::is_null)
        }),
    fault(ABSENT_BY_TOKEN, "absent-token-served", "uses the first supported token when none is named")
        .when(|view| view.omits_fee_token()),
    fault(ABSENT_BY_TOKEN, "absent-token-gets-0x", "answers with 0x when no token is named")
        .on_answer(|_, answer| pay_nothing(answer))
        .when(|view| view.omits_fee_token())
        .also(PAYS_NOTHING),
    fault(ABSENT, "absent-token-info-served", "uses the first supported token when there is no tokenInfo")
        .when_at("/params/1/tokenInfo", |view| view.omits_fee_token() && view.omits("tokenInfo")),
    fault(ABSENT_BY_TOKEN, "null-token-served", "uses the first supported token when the token is null")
        .when(|view| {
            view.is(kinds::SPONSOR_ERC20)
                && view.token_info().get("feeTokenAddress").is_some_and(Value::is_null)
        }),
    fault(ABSENT_BY_TOKEN, "empty-token-served", "uses the first supported token when the token is empty")
        .when(|view| view.pays_in(str::is_empty)),
    fault(ABSENT, "preferred-token-for-absent", "uses preferredToken when feeTokenAddress is missing")
        .on_request(|view, request| {
            let token = view.preferred().map(str::to_owned);
            request["params"][1]["tokenInfo"] = json!({ "feeTokenAddress": token });
        })
        .when(|view| view.omits_fee_token() && view.preferred().is_some()),
    fault(ABSENT_BY_TOKEN, "absent-token-sponsored", "sponsors an operation whose token is not named")
        .on_request(|_, request| request["params"][1]["mode"] = "SPONSORED".into())
        .when(|view| view.omits_fee_token())
        .also(&["sponsor.mode-mandatory-served", "token-sponsor-result.MODE"]),
    fault(OTHER_BY_TOKEN, "unsupported-token-served", "uses the first token instead of an unsupported one")
        .when(|view| view.names_unsupported_fee_token()),
    fault(OTHER, "unsupported-token-gets-0x", "answers with 0x when the token is not supported")
        .on_answer(|_, answer| pay_nothing(answer))
        .when(|view| view.names_unsupported_fee_token())
        .also(PAYS_NOTHING),
    fault(OTHER, "unsupported-token-gets-0x-when-refused", "answers refused senders with 0x")
        .on_answer(|_, answer| pay_nothing(answer))
        .when(|view| view.names_unsupported_fee_token() && view.is_denied())
        .also(PAYS_NOTHING),
    fault(OTHER, "unsupported-token-served-when-not-calculated", "serves any token when not calculating")
        .when(|view| view.names_unsupported_fee_token() && view.calculates(false)),
    fault(OTHER, "unsupported-token-served-when-deploying", "serves unsupported tokens beside an initCode")
        .when(|view| view.names_unsupported_fee_token() && view.has_init_code()),
    fault(OTHER, "unsupported-token-served-now-and-then", "serves 1 of 5 tokens that are not supported")
        .when(|view| view.names_unsupported_fee_token() && view.is_one_in(5)),
    fault(OTHER, "unsupported-token-served-again", "serves unsupported tokens when the bytes come again")
        .when(|view| view.names_unsupported_fee_token() && view.is_repeated()),
    fault(OTHER, "unsupported-token-served-to-string-ids", "serves unsupported tokens if the id is a string")
        .when(|view| view.names_unsupported_fee_token() && view.id().is_string()),
    fault(OTHER, "unsupported-token-served-without-gas-limit", "serves any token when a gas limit is absent")
        .when(|view| view.names_unsupported_fee_token() && GAS_LIMITS.iter().any(|name| view.lacks(name))),
    fault(OTHER, "unsupported-token-served-beside-preferred", "serves any token beside a supported one")
        .when(|view| {
            view.names_unsupported_fee_token() && view.preferred().is_some_and(|token| view.supports(token))
        }),
    fault(OTHER_BY_TOKEN, "longer-token-served", "accepts a token that contains a supported address")
        .when(|view| view.pays_in(|named| view.tokens.iter().any(|token| is_longer(named, token)))),
    fault(OTHER_BY_TOKEN, "piece-of-a-token-served", "accepts a token that is part of a supported address")
        .when(|view| {
            view.pays_in(|named| !named.is_empty() && view.tokens.iter().any(|token| is_longer(token, named)))
        }),
    fault(OTHER_BY_TOKEN, "native-coin-served", "accepts addresses that represent the native coin as tokens")
        .when(|view| {
            let is_zero = |token: &str| token.trim_matches(['0', 'x']).is_empty();
            view.names_unsupported_fee_token()
                && view.pays_in(|token| is_zero(token) || token.eq_ignore_ascii_case(NATIVE_COIN))
        }),
    fault(OTHER_BY_TOKEN, "checksummed-native-coin-served", "accepts 0xEeee... with the checksum as a token")
        .when(|view| view.names_unsupported_fee_token() && view.fee_token() == Some(NATIVE_COIN)),
    fault(OTHER_BY_TOKEN, "lookalike-token-served", "compares only the first 32 digits of a token's address")
        .when(|view| {
            let named = view.fee_token().and_then(|named| named.get(..34)).unwrap_or_default();
            let begins_so =
                |token: &String| token.get(..34).is_some_and(|start| start.eq_ignore_ascii_case(named));
            view.names_unsupported_fee_token() && view.tokens.iter().any(begins_so)
        }),
    fault(REFUSAL, "refusal-as-error", "returns an error for an operation that it does not sponsor")
        .when(|view| view.is_sponsored_mode()),
    fault(REFUSAL, "refusal-as-error-in-quotes", "returns an error for a refused operation, in quotes only")
        .when(|view| view.is(kinds::QUOTE_SPONSORED)),
    fault(REFUSAL, "refusal-as-error-when-sponsoring", "refuses by an error in pm_sponsorUserOperation only")
        .when(|view| view.is(kinds::SPONSOR_SPONSORED)),
    fault(QUOTE, "unsupported-quote-as-error", "answers with an error when a token is not supported")
        .on_answer(|_, answer| {
            if unsupported_count(answer) > 0 {
                refuse(answer, -32000, NOT_POSSIBLE);
            }
        })
        .also(&["request.token-list"]),
    fault(QUOTE, "all-unsupported-as-error", "answers with an error when no token is supported").on_answer(
        |_, answer| {
            if unsupported_count(answer) > 0 && result(answer).is_some_and(|result| !has_quotes(result)) {
                refuse(answer, -32000, NOT_POSSIBLE);
            }
        },
    ),
    fault(QUOTE, "unsupported-preferred-as-error", "answers with an error to an unsupported preferred token")
        .on_answer(|_, answer| refuse_result(answer, -32000, NOT_POSSIBLE))
        .when_at(PREFERRED, |view| {
            view.is(kinds::QUOTE_ERC20) && view.preferred().is_some_and(|token| !view.supports(token))
        }),
];

/// Whether the first address contains the second, and more.
fn is_longer(long: &str, short: &str) -> bool {
    long.len() > short.len() && long.to_ascii_lowercase().contains(&short.to_ascii_lowercase())
}

/// The clauses that `0x` as the data of token mode breaks.
const PAYS_NOTHING: &[&str] = &["token-sponsor-result.paymasterAndData", "sponsor.erc20-result"];

const NOT_POSSIBLE: &str = "not possible for this operation";

type Answer = serde_json::Map<String, Value>;

const REFUSE_WITH_ERROR: Behaviour = Behaviour::Answer(|_, answer| {
    if result(answer).is_some_and(|result| is_refusal(result)) {
        refuse(answer, -32000, NOT_POSSIBLE);
    }
});

fn unsupported_count(answer: &mut Answer) -> usize {
    let unsupported = result(answer).and_then(|result| result.get("unsupportedTokens"));
    unsupported.and_then(Value::as_array).map_or(0, Vec::len)
}

fn is_sponsor_without_mode(view: &RequestView<'_>) -> bool {
    let mode_object = view.mode_object().as_object();
    view.request["method"] == "pm_sponsorUserOperation"
        && mode_object.is_some_and(|mode| !mode.contains_key("mode"))
}

/// Answers with a result whose data is `0x`.
fn pay_nothing(answer: &mut Answer) {
    remove(answer, "error");
    set(answer, "result", some_result("ERC20", "0x"));
}
