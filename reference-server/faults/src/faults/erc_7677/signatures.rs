//! Faults of what the data are signed over. They show where the profile names contract and signer.

use alloy_primitives::U256;
use paymaster_service::EntryPoint;
use serde_json::{Map, Value, json};

use super::change_data;
use super::requests::{set_operation, zero_limits};
use crate::faults::{Fault, fault};
use crate::injection::{
    Behaviour, GAS_LIMITS, PAYMASTER_LIMITS, RequestView, SwappedPart, refuse, remove, set,
};

const SIGNATURE: Fault = signed("data.signature");
const OF_LIMITS: Fault = signed("data.signature-of-limits");
const KEPT: Fault = OF_LIMITS.depends_on_others();
const OF_CALL: Fault = signed("data.signature-of-call");
const DIFFERS: Fault = signed("data.differs").also(&["data.*", "call.same-operation"]).depends_on_others();
const WINDOW: Fault = signed("data.window");
const FINAL: Fault = Fault::breaking("is-final.signature");
/// What every wrong signature breaks.
const SIGNED: &[&str] =
    &["data.signature", "data.signature-of-limits", "data.concurrent", "data.window", "call.same-operation"];

/// What the faults of the signature of data have in common.
const fn signed(clause: &'static str) -> Fault {
    Fault::breaking(clause).when(|view| view.is_data()).also(SIGNED)
}

pub(crate) const FAULTS: &[Fault] = &[
    fault(SIGNATURE, "signed-for-zero-limits", "signs the gas limits of the stub call, which are zero")
        .on_request(|_, request| without_gas(request)),
    fault(OF_LIMITS, "constant-limits-signed", "signs paymaster limits of its own, whatever was sent")
        .injects(Behaviour::Exchange(
            |_, request| {
                if let Some(operation) = request["params"][0].as_object_mut() {
                    without_limits(operation);
                }
            },
            |_, result| without_limits(result),
        ))
        .when(|view| view.is_data() && view.is_later()),
    fault(OF_LIMITS, "large-limit-cut", "signs a paymaster limit above 150,000 as 150,000")
        .injects(Behaviour::Exchange(
            |_, request| set_operation(request, PAYMASTER_LIMITS[0], "0x249f0"),
            |view, result| set(result, PAYMASTER_LIMITS[0], view.text(PAYMASTER_LIMITS[0])),
        ))
        .when(|view| {
            view.is_data()
                && view.amount(PAYMASTER_LIMITS[0]).is_some_and(|limit| limit > U256::from(150_000))
        }),
    fault(SIGNATURE, "bare-factory-not-signed", "signs an account of a bare factory as one that exists")
        .on_request(|view, request| match view.text("initCode").len() {
            42 => set_operation(request, "initCode", "0x"),
            _ => set_operation(request, "factory", Value::Null),
        })
        .when(|view| {
            let is_bare = view.text("factory").len() == 42 && view.text("factoryData") == "0x";
            view.is_data() && (is_bare || view.text("initCode").len() == 42)
        }),
    fault(SIGNATURE, "own-estimate-signed", "signs a callGasLimit of its own and returns it")
        .injects(Behaviour::Exchange(
            |_, request| set_operation(request, "callGasLimit", "0x249f0"),
            |_, result| set(result, "callGasLimit", "0x249f0"),
        ))
        .also(&["data.*", "call.same-operation", "result.operation-members"]),
    fault(SIGNATURE, "gas-limits-swapped", "signs the limits of call and verification in the wrong order")
        .on_request(|view, request| swap(view, request, "callGasLimit", "verificationGasLimit")),
    fault(SIGNATURE, "fees-swapped", "signs the two fees in the wrong order")
        .on_request(|view, request| swap(view, request, "maxFeePerGas", "maxPriorityFeePerGas")),
    fault(SIGNATURE, "factory-not-signed", "signs an operation with a factory as one without").on_request(
        |view, request| {
            for member in ["factory", "factoryData"] {
                if !view.lacks(member) {
                    set_operation(request, member, Value::Null);
                }
            }
        },
    ),
    fault(SIGNATURE, "null-factory-as-address", "reads a factory that is null as the zero address")
        .on_request(|view, request| {
            if view.operation().get("factory").is_some_and(Value::is_null) {
                set_operation(request, "factory", "0x0000000000000000000000000000000000000000");
                set_operation(request, "factoryData", "0x");
            }
        }),
    fault(SIGNATURE, "nonce-cut", "signs the last 64 bits of the nonce").on_request(|view, request| {
        let nonce = view.text("nonce");
        if nonce.len() > 18 {
            set_operation(request, "nonce", json!(format!("0x{}", &nonce[nonce.len() - 16..])));
        }
    }),
    fault(SIGNATURE, "equal-fees-as-other", "signs another priority fee where both fees are equal")
        .on_request(|_, request| set_operation(request, "maxPriorityFeePerGas", "0x1"))
        .when(|view| view.is_data() && view.amount("maxFeePerGas") == view.amount("maxPriorityFeePerGas")),
    fault(OF_LIMITS, "priority-fee-zero-as-one", "signs a priority fee of 1 where the request has 0")
        .on_request(|_, request| set_operation(request, "maxPriorityFeePerGas", "0x1"))
        .when(|view| view.is_data() && view.operation()["maxPriorityFeePerGas"] == "0x0"),
    fault(OF_LIMITS, "post-op-limit-zero-as-default", "signs its own value for paymasterPostOpGasLimit 0")
        .injects(Behaviour::Exchange(
            |_, request| set_operation(request, PAYMASTER_LIMITS[1], "0xc350"),
            |_, result| without_limits(result),
        ))
        .when(|view| view.is_data() && view.operation()[PAYMASTER_LIMITS[1]] == "0x0"),
    fault(SIGNATURE, "verification-limit-of-20-bits", "signs the last 20 bits of verificationGasLimit")
        .on_request(|view, request| cut(view, request, "verificationGasLimit", 20)),
    fault(OF_LIMITS, "small-call-gas-raised", "signs a callGasLimit below 21,000 as 21,000")
        .on_request(|_, request| set_operation(request, "callGasLimit", "0x5208"))
        .when(|view| {
            view.is_data() && view.amount("callGasLimit").is_some_and(|limit| limit < U256::from(21_000))
        }),
    fault(
        OF_LIMITS,
        "small-verification-limit-raised",
        "signs a verificationGasLimit below 70,000 as 70,000",
    )
    .on_request(|_, request| set_operation(request, "verificationGasLimit", "0x11170"))
    .when(|view| {
        let limit = view.amount("verificationGasLimit").filter(|_| is_hex(view, "verificationGasLimit"));
        view.is_data() && limit.is_some_and(|limit| limit < U256::from(70_000))
    }),
    fault(SIGNATURE, "priority-fee-clamped", "signs a maxPriorityFeePerGas above 2^35 as 2^35")
        .on_request(|_, request| set_operation(request, "maxPriorityFeePerGas", "0x800000000"))
        .when(|view| {
            let fee = view.amount("maxPriorityFeePerGas").filter(|_| is_hex(view, "maxPriorityFeePerGas"));
            view.is_data() && fee.is_some_and(|fee| fee > U256::from(1_u64 << 35))
        }),
    fault(OF_LIMITS, "gas-limits-of-24-bits", "signs 24 bits of callGasLimit and preVerificationGas")
        .on_request(|view, request| {
            for member in ["callGasLimit", "preVerificationGas"] {
                cut(view, request, member, 24);
            }
        }),
    fault(OF_LIMITS, "pre-verification-gas-of-32-bits", "signs the last 32 bits of preVerificationGas")
        .on_request(|view, request| cut(view, request, "preVerificationGas", 32)),
    fault(OF_CALL, "call-data-cut", "signs the first 2,048 bytes of callData")
        .on_request(|view, request| {
            set_operation(request, "callData", &view.text("callData")[..2 + 2 * 2_048]);
        })
        .when(|view| view.is_data() && view.byte_count("callData") > 2_048),
    fault(SIGNATURE, "empty-call-as-zero-byte", "signs call data of one zero byte where they are empty")
        .on_request(|_, request| set_operation(request, "callData", "0x00"))
        .when(|view| view.is_data() && view.operation()["callData"] == "0x"),
    fault(SIGNATURE, "factory-data-cut", "signs the first 1,024 bytes of factoryData")
        .on_request(|view, request| {
            set_operation(request, "factoryData", &view.text("factoryData")[..2 + 2 * 1_024]);
        })
        .when(|view| view.is_data() && view.byte_count("factoryData") > 1_024),
    fault(KEPT, "data-cached-without-fees", "repeats data for the same operation with other fees").on_result(
        |view, result| view.repeat(result, without(view, &["maxFeePerGas", "maxPriorityFeePerGas"])),
    ),
    fault(OF_CALL, "data-cached-without-sender", "repeats data for the same operation of another sender")
        .on_result(|view, result| view.repeat(result, without(view, &["sender"])))
        .also(&[DIFFERS.clause]),
    fault(KEPT, "data-cached-without-limits", "repeats data for an operation with other gas limits")
        .on_result(|view, result| view.repeat(result, without(view, &GAS_LIMITS))),
    fault(
        KEPT,
        "data-cached-without-pre-verification-gas",
        "repeats data for an operation with another preVerificationGas",
    )
    .on_result(|view, result| view.repeat(result, without(view, &["preVerificationGas"]))),
    fault(KEPT, "fee-of-the-stub-signed", "signs the first maxFeePerGas of a sender and nonce")
        .on_request(|view, request| first(view, request, "maxFeePerGas"))
        .when(|view| view.is_paymaster_call() && is_hex(view, "maxFeePerGas")),
    fault(KEPT, "limit-of-the-stub-signed", "signs the first callGasLimit above 0 of an operation")
        .on_request(|view, request| first(view, request, "callGasLimit"))
        .when(|view| {
            view.is_paymaster_call()
                && is_hex(view, "callGasLimit")
                && view.operation()["callGasLimit"] != "0x0"
        }),
    fault(OF_CALL, "call-of-the-stub-signed", "repeats the first call data of a sender")
        .on_request(|view, request| {
            let sender = view.operation()["sender"].to_string();
            set_operation(request, "callData", view.memory.first(sender, &view.operation()["callData"]));
        })
        .when(|view| view.is_data() && is_hex(view, "callData") && view.text("callData").len() % 2 == 0)
        .also(&["data.*", "call.same-operation"])
        .depends_on_others(),
    fault(DIFFERS, "data-cached-by-sender", "repeats the first data of a sender").on_result(
        |view, result| {
            let key = format!("{}{:?}", view.operation()["sender"], view.entry_point());
            view.repeat(result, key);
        },
    ),
    fault(DIFFERS, "data-cached-by-start-of-call", "repeats data by the first 255 letters of a call")
        .on_result(|view, result| {
            let operation = view.operation();
            let call: String = view.text("callData").chars().take(255).collect();
            let key =
                format!("{} {} {call} {:?}", operation["sender"], operation["nonce"], view.entry_point());
            view.repeat(result, key);
        }),
    fault(SIGNATURE, "factory-remembered", "signs the factory of an account after that was created too")
        .on_request(|view, request| {
            for member in ["factory", "factoryData"] {
                let key = format!("{member}{}", view.operation()["sender"]);
                let own = view.operation().get(member).cloned().unwrap_or_default();
                let first = view.memory.previous(&key, &own).filter(|_| own.is_null()).unwrap_or_default();
                if !first.is_null() {
                    view.memory.previous(&key, &first);
                    set_operation(request, member, first);
                }
            }
        })
        .when(|view| view.is_data() && view.is_later())
        .also(&["data.*", "call.same-operation"])
        .depends_on_others(),
    fault(SIGNATURE, "signed-for-another-nonce-without-context", "signs the nonce 0 for a context of null")
        .on_request(|_, request| set_operation(request, "nonce", "0x0"))
        .when(|view| view.is_data() && view.context().is_null()),
    fault(SIGNATURE, "signature-of-another-digest", "signs a digest that is not the contract's")
        .on_result(|_, result| change_data(result, other_v)),
    fault(SIGNATURE, "signature-of-another-digest-of-three-params", "signs another digest for three params")
        .on_result(|_, result| change_data(result, other_v))
        .when(|view| view.is_data() && view.request["params"].as_array().is_some_and(|all| all.len() == 3)),
    fault(SIGNATURE, "signature-of-another-digest-for-06", "signs another digest for EntryPoint 0.6")
        .on_result(|_, result| change_data(result, other_v))
        .when(|view| view.is_data() && view.is_for(EntryPoint::V06)),
    fault(signed("call.same-operation"), "spelling-signed", "signs the text of the request")
        .on_result(|_, result| change_data(result, other_v))
        .when(|view| view.is_data() && is_spelled_otherwise(view)),
    fault(WINDOW, "data-expired", "the data end before now")
        .on_result(|_, result| change_data(result, |digits| set_time(digits, 0, 1_500_000_000))),
    fault(WINDOW, "data-not-yet-valid", "the data begin after now")
        .on_result(|_, result| change_data(result, |digits| set_time(digits, 1, 4_000_000_000))),
    fault(signed("data.concurrent"), "data-swapped", "swaps the data of concurrent requests")
        .injects(Behaviour::Swap(SwappedPart::Result))
        .also(&["data.*", "call.same-operation", "result.*", "stub-and-data.*", "stub.*", "request.headers"])
        .depends_on_others(),
    Fault::new("stub.members-07", "stubs-swapped", "swaps the stubs of concurrent requests")
        .injects(Behaviour::Swap(SwappedPart::Result))
        .when(|view| view.is_stub())
        .also(&["stub.*", "result.*", "stub-and-data.*", "request.headers"])
        .depends_on_others(),
    fault(FINAL, "stub-called-final", "isFinal is true for a stub that fails its validation")
        .on_result(|_, result| set(result, "isFinal", true))
        .when(|view| view.is_stub()),
    fault(FINAL, "final-without-context", "isFinal is true for a failing stub, where the context is null")
        .on_result(|_, result| set(result, "isFinal", true))
        .when(|view| view.is_stub() && view.context().is_null()),
    Fault::new("data.differs", "batch-shares-data", "gives every request of a batch the data of the first")
        .on_batch(|_, answers| {
            for member in ["paymasterData", "paymasterAndData"] {
                let results = answers.iter_mut().filter_map(|answer| answer.get_mut("result"));
                let mut data = results.filter_map(|result| result.get_mut(member));
                if let Some(first) = data.next() {
                    data.for_each(|other| other.clone_from(first));
                }
            }
        }),
    fault(FINAL, "final-after-data", "isFinal is true for a failing stub after data of the operation")
        .on_result(|view, result| {
            let operation = format!("{} {}", view.operation()["sender"], view.operation()["nonce"]);
            if view.is_data() {
                view.memory.previous(&operation, &json!(true));
            } else if view.memory.first(operation, &json!(false)) == true {
                set(result, "isFinal", true);
            }
        })
        .when(|view| view.is_paymaster_call())
        .depends_on_others(),
    fault(FINAL, "final-of-earlier-data", "a stub after data is these data, whatever the fees are now")
        .on_result(|view, result| {
            let members = ["sender", "nonce", "callData"].map(|member| view.text(member));
            let operation = format!("{} {members:?}", view.request["params"][1]);
            if view.is_data() {
                view.memory.previous(&operation, &Value::Object(result.clone()));
            } else if let Value::Object(kept) = view.memory.first(operation, &Value::Null) {
                *result = kept;
                set(result, "isFinal", true);
            }
        })
        .when(|view| view.is_paymaster_call())
        .depends_on_others(),
    fault(FINAL, "final-for-zero-limits", "isFinal is true for data that sign gas limits of zero")
        .injects(Behaviour::Exchange(
            |_, request| {
                request["method"] = json!("pm_getPaymasterData");
                without_gas(request);
            },
            |_, result| set(result, "isFinal", true),
        ))
        .when(|view| view.is_stub()),
    fault(FINAL, "final-without-estimates", "isFinal is true for data of stubs whose gas limits are zero")
        .injects(Behaviour::Exchange(
            |_, request| request["method"] = json!("pm_getPaymasterData"),
            |_, result| set(result, "isFinal", true),
        ))
        .when(|view| view.is_stub() && zero_limits(view) == 3),
    Fault::new("is-final.data-served", "data-refused-after-final", "refuses data because the stub was final")
        .on_answer(final_stub)
        .when(|view| view.is_paymaster_call())
        .also(&[
            "is-final.signature",
            "data.sponsorable-is-served",
            "data-request.without-stub",
            "endpoint.stub-and-data",
        ]),
];

/// Puts zeros into the gas limits.
fn without_gas(request: &mut Value) {
    for member in GAS_LIMITS {
        set_operation(request, member, "0x0");
    }
}

/// Keeps the last bits of an amount.
fn cut(view: &RequestView<'_>, request: &mut Value, member: &str, bits: usize) {
    let amount = view.amount(member).unwrap_or_default() % (U256::ONE << bits);
    set_operation(request, member, format!("{amount:#x}"));
}

/// The params without these members of the operation.
fn without(view: &RequestView<'_>, members: &[&str]) -> String {
    let mut params = view.request["params"].clone();
    if let Some(operation) = params[0].as_object_mut() {
        for member in members {
            remove(operation, member);
        }
    }
    params.to_string()
}

/// Whether a member is written as a target that reads it takes it.
fn is_hex(view: &RequestView<'_>, member: &str) -> bool {
    let digits = view.text(member).strip_prefix("0x").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Puts the first value of this member for the sender and nonce into the request.
fn first(view: &RequestView<'_>, request: &mut Value, member: &str) {
    let operation = view.operation();
    let key = format!("{}{}{:?}", operation["sender"], operation["nonce"], view.entry_point());
    set_operation(request, member, view.memory.first(key, &operation[member]));
}

fn without_limits(members: &mut Map<String, Value>) {
    for member in PAYMASTER_LIMITS {
        remove(members, member);
    }
}

fn swap(view: &RequestView<'_>, request: &mut Value, one: &str, other: &str) {
    set_operation(request, one, view.operation()[other].clone());
    set_operation(request, other, view.operation()[one].clone());
}

/// The same signature with the other v, which is of another account.
pub(crate) fn other_v(digits: &str) -> String {
    let (rest, v) = digits.split_at(digits.len() - 2);
    format!("{rest}{}", if v == "1b" { "1c" } else { "1b" })
}

/// Puts a time, in seconds, into one of the first two words of the data.
pub(crate) fn set_time(digits: &str, word: usize, time: u64) -> String {
    let (start, end) = (64 * word, 64 * (word + 1));
    format!("{}{time:064x}{}", &digits[..start], &digits[end..])
}

/// Whether the operation has hex digits in upper case or another first member than `sender`.
fn is_spelled_otherwise(view: &RequestView<'_>) -> bool {
    let is_upper = view.text("callData").bytes().any(|digit| digit.is_ascii_uppercase());
    let first = view.operation().as_object().and_then(|members| members.keys().next());
    is_upper || first.is_some_and(|member| member != "sender")
}

fn final_stub(view: &RequestView<'_>, answer: &mut Map<String, Value>) {
    if !answer.contains_key("result") {
        return;
    }
    if view.is_stub() {
        answer["result"]["isFinal"] = json!(true);
    } else {
        refuse(answer, -32000, "the stub was final");
    }
}
