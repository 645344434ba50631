//! Who is sponsored, and what decides it (section 4.2, rules 1 and 2).

use paymaster_schemas::Pair;
use serde_json::{Map, Value};

use super::Fault;
use crate::deviations::{Act, Asked, text_of};

const SPONSORED: &str = "sponsor.sponsorable-is-sponsored";
const REFUSED: &str = "sponsor.refused-gets-0x";
const INPUTS: &str = "sponsor.decision-inputs";

/// What a fault gives to an operation that gets no sponsorship: a paymaster's address and nothing behind it.
const SOME_DATA: &str = "0x6d1a5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e";

/// Whoever is not sponsored for a wrong reason misses this too.
const AND_SPONSORED: &[&str] = &[SPONSORED, "request.json-notation"];

pub(super) const FAULTS: &[Fault] = &[
    Fault::of(SPONSORED, "never-sponsors", "sponsors nothing", REFUSE)
        .when(|asked| asked.is_sponsored_mode()),
    Fault::of(
        SPONSORED,
        "never-sponsors-when-sponsoring",
        "sponsors nothing in pm_sponsorUserOperation",
        REFUSE,
    )
    .when(|asked| asked.is(Pair::SPONSOR_SPONSORED)),
    Fault::of(
        SPONSORED,
        "deployment-not-sponsored",
        "sponsors no operation with an initCode",
        REFUSE,
    )
    .when(|asked| asked.is_sponsored_mode() && asked.has_init_code()),
    Fault::of(
        SPONSORED,
        "empty-call-not-sponsored",
        "sponsors no operation with empty call data",
        REFUSE,
    )
    .when(|asked| asked.is_sponsored_mode() && asked.operation()["callData"] == "0x"),
    Fault::of(
        REFUSED,
        "refused-gets-data",
        "gives data to an operation that it does not sponsor",
        Act::Result(|_, result| replace_refusal(result, SOME_DATA)),
    )
    .when(|asked| asked.is_sponsored_mode()),
    Fault::of(
        REFUSED,
        "refused-gets-zero-byte",
        "says 0x00 for an operation that it does not sponsor",
        Act::Result(|_, result| {
            replace_refusal(result, "0x00");
        }),
    )
    .when(|asked| asked.is_sponsored_mode()),
    Fault::of(
        REFUSED,
        "refused-gets-zero-address",
        "says the zero address for an operation that it does not sponsor",
        Act::Result(|_, result| {
            replace_refusal(result, "0x0000000000000000000000000000000000000000");
        }),
    )
    .when(|asked| asked.is_sponsored_mode()),
    Fault::of(
        "sponsored-result.paymasterAndData",
        "refused-gets-empty-string",
        "says nothing for an operation that it does not sponsor",
        Act::Result(|_, result| {
            replace_refusal(result, "");
        }),
    )
    .when(|asked| asked.is_sponsored_mode())
    .also(&[REFUSED]),
    Fault::of(
        REFUSED,
        "refused-gets-data-now-and-then",
        "gives data to 1 of 10 operations that it does not sponsor",
        Act::Result(|asked, result| {
            if is_refused(result) && asked.is_one_in(10) {
                replace_refusal(result, SOME_DATA);
            }
        }),
    )
    .when(|asked| asked.is_sponsored_mode())
    .also(&["sponsor.decision-inputs", "request.json-notation"]),
    Fault::of(INPUTS, "decision-by-even-id", "sponsors only odd ids", REFUSE)
        .when(|asked| {
            sponsors(asked)
                && asked
                    .id_number()
                    .is_some_and(|id| id.ends_with(['0', '2', '4', '6', '8']))
        })
        .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-id-kind",
        "sponsors no request whose id is a string",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.id().is_string())
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-expiry",
        "sponsors nothing with an expiry above 300 seconds",
        REFUSE,
    )
    .when(|asked| {
        sponsors(asked)
            && asked.mode_object()["expiryDuration"]
                .as_u64()
                .is_some_and(|seconds| seconds > 300)
    })
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-expiry-of-a-day",
        "sponsors nothing with an expiry above a day",
        REFUSE,
    )
    .when(|asked| {
        sponsors(asked)
            && asked.mode_object()["expiryDuration"]
                .as_u64()
                .is_some_and(|seconds| seconds > 86_400)
    })
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-short-expiry",
        "sponsors nothing with an expiry below a minute",
        REFUSE,
    )
    .when(|asked| {
        sponsors(asked)
            && asked.mode_object()["expiryDuration"]
                .as_u64()
                .is_some_and(|seconds| seconds < 60)
    })
    .also(AND_SPONSORED),
    Fault::of(
        REFUSED,
        "refused-gets-data-again",
        "gives data to an operation that it does not sponsor when the same bytes come again",
        Act::Result(|asked, result| {
            if is_refused(result)
                && asked
                    .memory
                    .knows(String::from_utf8_lossy(asked.raw).into_owned())
            {
                replace_refusal(result, SOME_DATA);
            }
        }),
    )
    .when(|asked| asked.is_sponsored_mode())
    .also(&["sponsor.decision-inputs"]),
    Fault::of(
        INPUTS,
        "decision-by-absent-expiry",
        "sponsors nothing without an expiry",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.mode_object().get("expiryDuration").is_none())
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-calculate-gas-limits",
        "sponsors nothing when calculateGasLimits is false",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.calculates(false))
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-absent-calculate",
        "sponsors nothing without calculateGasLimits",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.mode_object().get("calculateGasLimits").is_none()),
    Fault::of(
        INPUTS,
        "decision-by-token-info",
        "sponsors nothing when there is a tokenInfo",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.token_info().is_object())
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-unknown-member",
        "sponsors nothing when the mode object has a member that the tables do not list",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && has_unlisted_member(asked.mode_object()))
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-version",
        "sponsors nothing for jsonrpc 2.0.0",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.request["jsonrpc"] == "2.0.0")
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-earlier-request",
        "sponsors an operation once, and not again",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.memory.knows(asked.operation().to_string()))
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-earlier-sender",
        "sponsors a sender three times, and not again",
        REFUSE,
    )
    .when(|asked| {
        let sender = text_of(&asked.operation()["sender"]);
        sponsors(asked) && (0..3).all(|time| asked.memory.knows(format!("{sender} {time}")))
    })
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-by-chance",
        "does not sponsor 1 of 25 operations",
        REFUSE,
    )
    .when(|asked| sponsors(asked) && asked.now_and_then())
    .also(AND_SPONSORED),
    Fault::of(
        INPUTS,
        "decision-favours-token-info",
        "sponsors what it otherwise does not when there is a tokenInfo",
        Act::Result(|_, result| replace_refusal(result, SOME_DATA)),
    )
    .when(|asked| sponsors(asked) && asked.token_info().is_object())
    .also(&[REFUSED]),
    Fault::of(
        INPUTS,
        "decision-favours-not-calculated",
        "sponsors what it otherwise does not when calculateGasLimits is false",
        Act::Result(|_, result| replace_refusal(result, SOME_DATA)),
    )
    .when(|asked| sponsors(asked) && asked.calculates(false))
    .also(&[REFUSED]),
    Fault::of(
        INPUTS,
        "decision-favours-long-expiry",
        "sponsors what it otherwise does not with an expiry above 300 seconds",
        Act::Result(|_, result| replace_refusal(result, SOME_DATA)),
    )
    .when(|asked| {
        sponsors(asked)
            && asked.mode_object()["expiryDuration"]
                .as_u64()
                .is_some_and(|seconds| seconds > 300)
    })
    .also(&[REFUSED]),
    Fault::of(
        REFUSED,
        "decision-cached-by-nonce",
        "decides as it did for the nonce before",
        Act::Result(|asked, result| {
            let key = text_of(&asked.operation()["nonce"]);
            remember(asked, result, key);
        }),
    )
    .when(sponsors)
    .also(&[SPONSORED, INPUTS]),
    Fault::of(
        INPUTS,
        "decision-cached-by-id",
        "decides as it did for the id before",
        Act::Result(|asked, result| {
            let key = asked.id().to_string();
            remember(asked, result, key);
        }),
    )
    .when(sponsors)
    .also(BOTH),
    Fault::of(
        REFUSED,
        "decision-cached-by-call-data",
        "decides as it did for the call data before",
        Act::Result(|asked, result| {
            let key = text_of(&asked.operation()["callData"]);
            remember(asked, result, key);
        }),
    )
    .when(sponsors)
    .also(&[SPONSORED, INPUTS]),
];

const BOTH: &[&str] = &[SPONSORED, REFUSED, "request.json-notation"];

const REFUSE: Act = Act::Result(|_, result| {
    if result.contains_key("paymasterAndData") {
        result.insert("paymasterAndData".to_owned(), "0x".into());
    }
});

fn sponsors(asked: &Asked<'_>) -> bool {
    asked.is(Pair::SPONSOR_SPONSORED)
}

fn is_refused(result: &Map<String, Value>) -> bool {
    result.get("paymasterAndData").is_some_and(|data| data == "0x")
}

fn replace_refusal(result: &mut Map<String, Value>, data: &str) {
    if is_refused(result) {
        result.insert("paymasterAndData".to_owned(), data.into());
    }
}

fn has_unlisted_member(mode: &Value) -> bool {
    const LISTED: [&str; 5] = [
        "mode",
        "calculateGasLimits",
        "expiryDuration",
        "sponsorshipInfo",
        "tokenInfo",
    ];
    mode.as_object()
        .is_some_and(|mode| mode.keys().any(|key| !LISTED.contains(&key.as_str())))
}

/// The first decision for a key is kept for all that come with the same key.
fn remember(asked: &Asked<'_>, result: &mut Map<String, Value>, key: String) {
    let refused = asked.memory.first(key, &is_refused(result).into());
    if refused == true {
        result.insert("paymasterAndData".to_owned(), "0x".into());
    } else {
        replace_refusal(result, SOME_DATA);
    }
}
