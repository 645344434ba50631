//! Faults of what the data are signed over. They show where the profile names contract and signer.

use alloy_primitives::U256;
use paymaster_service::EntryPoint;
use serde_json::{Map, Value, json};

use super::change_data;
use super::requests::set_operation;
use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, SwappedPart, refuse, remove, set};

const SIGNATURE: &str = "data.signature";
const OF_LIMITS: &str = "data.signature-of-limits";
const WINDOW: &str = "data.window";
const PAYMASTER_LIMITS: [&str; 2] = ["paymasterVerificationGasLimit", "paymasterPostOpGasLimit"];
/// What every wrong signature breaks.
const SIGNED: &[&str] =
    &["data.signature", OF_LIMITS, "data.concurrent", "data.window", "call.same-operation"];

/// A fault of the signature of data, of which the change follows.
const fn signed(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    Fault::new(clause, name, about).when(|view| view.is_data()).also(SIGNED)
}

pub(in crate::faults) const FAULTS: &[Fault] = &[
    signed(SIGNATURE, "signed-for-zero-limits", "signs the gas limits of the stub call, which are zero")
        .on_request(|_, request| {
            for member in ["callGasLimit", "verificationGasLimit", "preVerificationGas"] {
                set_operation(request, member, json!("0x0"));
            }
        }),
    signed(
        OF_LIMITS,
        "constant-limits-signed",
        "signs its own gas limits of the paymaster, whatever the request has",
    )
    .injects(Behaviour::Exchange(
        |_, request| {
            if let Some(operation) = request["params"][0].as_object_mut() {
                without_limits(operation);
            }
        },
        |_, result| without_limits(result),
    ))
    .when(|view| view.is_data() && view.is_later()),
    signed(OF_LIMITS, "large-limit-cut", "signs a paymaster limit above 150,000 as 150,000")
        .injects(Behaviour::Exchange(
            |_, request| set_operation(request, PAYMASTER_LIMITS[0], json!("0x249f0")),
            |view, result| set(result, PAYMASTER_LIMITS[0], view.text(PAYMASTER_LIMITS[0])),
        ))
        .when(|view| view.is_data() && view.amount(PAYMASTER_LIMITS[0]).is_some_and(|limit| limit > U256::from(150_000))),
    signed(SIGNATURE, "bare-factory-not-signed", "signs an account of a factory without data as one that exists")
        .on_request(|view, request| match view.text("initCode").len() {
            42 => set_operation(request, "initCode", json!("0x")),
            _ => set_operation(request, "factory", Value::Null),
        })
        .when(|view| {
            let is_bare = view.text("factory").len() == 42 && view.text("factoryData") == "0x";
            view.is_data() && (is_bare || view.text("initCode").len() == 42)
        }),
    signed(SIGNATURE, "own-estimate-signed", "signs a callGasLimit of its own and returns it")
        .injects(Behaviour::Exchange(
            |_, request| set_operation(request, "callGasLimit", json!("0x249f0")),
            |_, result| set(result, "callGasLimit", "0x249f0"),
        ))
        .also(&["data.*", "call.same-operation", "result.operation-members"]),
    signed(SIGNATURE, "gas-limits-swapped", "signs the limits of call and verification in the wrong order")
        .on_request(|view, request| swap(view, request, "callGasLimit", "verificationGasLimit")),
    signed(SIGNATURE, "fees-swapped", "signs the two fees in the wrong order")
        .on_request(|view, request| swap(view, request, "maxFeePerGas", "maxPriorityFeePerGas")),
    signed(SIGNATURE, "factory-not-signed", "signs an operation with a factory as one without").on_request(
        |view, request| {
            for member in ["factory", "factoryData"] {
                if view.operation().get(member).is_some() {
                    set_operation(request, member, Value::Null);
                }
            }
        },
    ),
    signed(SIGNATURE, "null-factory-as-address", "reads a factory that is null as the zero address")
        .on_request(|view, request| {
            if view.operation().get("factory").is_some_and(Value::is_null) {
                set_operation(request, "factory", json!("0x0000000000000000000000000000000000000000"));
                set_operation(request, "factoryData", json!("0x"));
            }
        }),
    signed(SIGNATURE, "nonce-cut", "signs the last 64 bits of the nonce").on_request(|view, request| {
        let nonce = view.text("nonce");
        if nonce.len() > 18 {
            set_operation(request, "nonce", json!(format!("0x{}", &nonce[nonce.len() - 16..])));
        }
    }),
    signed(SIGNATURE, "equal-fees-as-other", "signs another priority fee where both fees are equal")
        .on_request(|_, request| set_operation(request, "maxPriorityFeePerGas", json!("0x1")))
        .when(|view| view.is_data() && view.amount("maxFeePerGas") == view.amount("maxPriorityFeePerGas")),
    signed(OF_LIMITS, "priority-fee-zero-as-one", "signs a priority fee of 1 where the request has 0")
        .on_request(|_, request| set_operation(request, "maxPriorityFeePerGas", json!("0x1")))
        .when(|view| view.is_data() && view.operation()["maxPriorityFeePerGas"] == "0x0"),
    signed(
        OF_LIMITS,
        "post-op-limit-zero-as-default",
        "signs a limit of its own where paymasterPostOpGasLimit is 0",
    )
    .injects(Behaviour::Exchange(
        |_, request| set_operation(request, PAYMASTER_LIMITS[1], json!("0xc350")),
        |_, result| without_limits(result),
    ))
    .when(|view| view.is_data() && view.operation()[PAYMASTER_LIMITS[1]] == "0x0"),
    signed(SIGNATURE, "verification-limit-of-20-bits", "signs the last 20 bits of verificationGasLimit")
        .on_request(|view, request| {
            let limit = view.amount("verificationGasLimit").unwrap_or_default() % U256::from(1 << 20);
            set_operation(request, "verificationGasLimit", json!(format!("{limit:#x}")));
        }),
    signed(
        OF_LIMITS,
        "gas-limits-of-24-bits",
        "signs the last 24 bits of callGasLimit and preVerificationGas",
    )
    .on_request(|view, request| {
        for member in ["callGasLimit", "preVerificationGas"] {
            let limit = view.amount(member).unwrap_or_default() % U256::from(1 << 24);
            set_operation(request, member, json!(format!("{limit:#x}")));
        }
    }),
    signed(OF_LIMITS, "pre-verification-gas-of-32-bits", "signs the last 32 bits of preVerificationGas")
        .on_request(|view, request| {
            let limit = view.amount("preVerificationGas").unwrap_or_default() % U256::from(1_u64 << 32);
            set_operation(request, "preVerificationGas", json!(format!("{limit:#x}")));
        }),
    signed("data.signature-of-call", "call-data-cut", "signs the first 2,048 bytes of callData")
        .on_request(|view, request| {
            let data = view.text("callData");
            set_operation(request, "callData", json!(data[..2 + 2 * 2_048]));
        })
        .when(|view| view.is_data() && view.byte_count("callData") > 2_048),
    signed(SIGNATURE, "empty-call-as-zero-byte", "signs call data of one zero byte where they are empty")
        .on_request(|_, request| set_operation(request, "callData", json!("0x00")))
        .when(|view| view.is_data() && view.operation()["callData"] == "0x"),
    signed(SIGNATURE, "factory-data-cut", "signs the first 1,024 bytes of factoryData")
        .on_request(|view, request| {
            let data = view.text("factoryData");
            set_operation(request, "factoryData", json!(data[..2 + 2 * 1_024]));
        })
        .when(|view| view.is_data() && view.byte_count("factoryData") > 1_024),
    signed(OF_LIMITS, "data-cached-without-fees", "repeats data for the same operation with other fees")
        .on_result(|view, result| {
            view.repeat(result, without(view, &["maxFeePerGas", "maxPriorityFeePerGas"]));
        })
        .depends_on_others(),
    signed(
        OF_LIMITS,
        "data-cached-without-limits",
        "repeats data for the same operation with other gas limits",
    )
    .on_result(|view, result| {
        view.repeat(result, without(view, &["callGasLimit", "verificationGasLimit", "preVerificationGas"]));
    })
    .depends_on_others(),
    signed(OF_LIMITS, "fee-of-the-stub-signed", "signs the first maxFeePerGas of a sender and nonce")
        .on_request(|view, request| first(view, request, "maxFeePerGas"))
        .when(|view| view.is_paymaster_call())
        .depends_on_others(),
    signed(
        OF_LIMITS,
        "limit-of-the-stub-signed",
        "signs the first callGasLimit of a sender and nonce that is not 0",
    )
    .on_request(|view, request| first(view, request, "callGasLimit"))
    .when(|view| (view.is_paymaster_call()) && view.operation()["callGasLimit"] != "0x0")
    .depends_on_others(),
    signed(
        "data.signature-of-call",
        "call-of-the-stub-signed",
        "signs the first call data of a sender again",
    )
    .on_request(|view, request| {
        let sender = view.operation()["sender"].to_string();
        set_operation(request, "callData", view.memory.first(sender, &view.operation()["callData"]));
    })
    .also(&["data.*", "call.same-operation"])
    .depends_on_others(),
    signed("data.differs", "data-cached-by-sender", "repeats the first data of a sender")
        .on_result(|view, result| {
            let key = format!("{}{:?}", view.operation()["sender"], view.entry_point());
            view.repeat(result, key);
        })
        .also(&["data.*", "call.same-operation"])
        .depends_on_others(),
    signed(
        "data.differs",
        "data-cached-by-start-of-call",
        "repeats the first data of a sender, a nonce and the first 255 letters of a call",
    )
    .on_result(|view, result| {
        let operation = view.operation();
        let call: String = view.text("callData").chars().take(255).collect();
        let key = format!("{} {} {call} {:?}", operation["sender"], operation["nonce"], view.entry_point());
        view.repeat(result, key);
    })
    .also(&["data.*", "call.same-operation"])
    .depends_on_others(),
    signed(SIGNATURE, "factory-remembered", "signs the factory of an account after that was created too")
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
        .depends_on_others(),
    signed(
        SIGNATURE,
        "signed-for-another-nonce-without-context",
        "signs the nonce 0 where the context is null",
    )
    .on_request(|_, request| set_operation(request, "nonce", json!("0x0")))
    .when(|view| view.is_data() && view.request["params"][3].is_null()),
    signed(SIGNATURE, "signature-of-another-digest", "signs a digest that is not the contract's")
        .on_result(|_, result| change_data(result, other_v)),
    signed(
        SIGNATURE,
        "signature-of-another-digest-for-06",
        "signs, for EntryPoint 0.6, a digest that is not the contract's",
    )
    .on_result(|_, result| change_data(result, other_v))
    .when(|view| view.is_data() && view.entry_point() == Some(EntryPoint::V06)),
    signed("call.same-operation", "spelling-signed", "signs the text of the request")
        .on_result(|_, result| change_data(result, other_v))
        .when(|view| view.is_data() && is_spelled_otherwise(view)),
    signed(WINDOW, "data-expired", "the data end before now")
        .on_result(|_, result| change_data(result, |digits| set_time(digits, 0, 1_500_000_000))),
    signed(WINDOW, "data-not-yet-valid", "the data begin after now")
        .on_result(|_, result| change_data(result, |digits| set_time(digits, 1, 4_000_000_000))),
    signed("data.concurrent", "data-swapped", "swaps the data of concurrent requests")
        .injects(Behaviour::Swap(SwappedPart::Result))
        .also(&["data.*", "call.same-operation", "result.*", "stub-and-data.*", "stub.*", "request.headers"])
        .depends_on_others(),
    Fault::new("stub.members-07", "stubs-swapped", "swaps the stubs of concurrent requests")
        .injects(Behaviour::Swap(SwappedPart::Result))
        .when(|view| view.is_stub())
        .also(&["stub.*", "result.*", "stub-and-data.*", "request.headers"])
        .depends_on_others(),
    Fault::new(
        "is-final.signature",
        "stub-called-final",
        "isFinal is true for a stub that fails its validation",
    )
    .on_result(|_, result| set(result, "isFinal", true))
    .when(|view| view.is_stub()),
    Fault::new(
        "is-final.signature",
        "final-without-context",
        "isFinal is true for a stub that fails its validation, where the context is null",
    )
    .on_result(|_, result| set(result, "isFinal", true))
    .when(|view| view.is_stub() && view.request["params"][3].is_null()),
    Fault::new(
        "data.differs",
        "batch-shares-data",
        "answers every request of a batch with the data of the first one",
    )
    .on_batch(|_, answers| {
        for member in ["paymasterData", "paymasterAndData"] {
            let results = answers.iter_mut().filter_map(|answer| answer.get_mut("result"));
            let mut data = results.filter_map(|result| result.get_mut(member));
            if let Some(first) = data.next() {
                data.for_each(|other| other.clone_from(first));
            }
        }
    }),
    Fault::new(
        "is-final.signature",
        "final-after-data",
        "isFinal is true for a stub that fails its validation, where data for the operation were asked for before",
    )
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
    Fault::new(
        "is-final.signature",
        "final-for-zero-limits",
        "isFinal is true for data that sign gas limits of zero",
    )
    .injects(Behaviour::Exchange(
        |_, request| {
            request["method"] = json!("pm_getPaymasterData");
            for member in ["callGasLimit", "verificationGasLimit", "preVerificationGas"] {
                set_operation(request, member, json!("0x0"));
            }
        },
        |_, result| set(result, "isFinal", true),
    ))
    .when(|view| view.is_stub()),
    Fault::new(
        "is-final.data-served",
        "data-refused-after-final",
        "refuses data, because the stub was final",
    )
    .on_answer(final_stub)
    .when(|view| view.is_paymaster_call())
    .also(&[
        "is-final.signature",
        "data.sponsorable-is-served",
        "data-request.without-stub",
        "endpoint.stub-and-data",
    ]),
];

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
pub(in crate::faults) fn other_v(digits: &str) -> String {
    let (rest, v) = digits.split_at(digits.len() - 2);
    format!("{rest}{}", if v == "1b" { "1c" } else { "1b" })
}

/// Puts a time, in seconds, into one of the first two words of the data.
pub(in crate::faults) fn set_time(digits: &str, word: usize, time: u64) -> String {
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
