//! Variants of the methods of ERC-7677: what the text leaves to the service.

use paymaster_service::{EntryPoint, Layout, PolicyConfig};
use serde_json::{Map, Value, json};

use super::{Statement, Variant, http::exceeds_quota, variant};
use crate::injection::{
    Behaviour, ENTRY_POINT_07, NO_CONTRACT, PAYMASTER_LIMITS, RequestView, change_text, refuse, remove,
    replace, reverse_members, set, text_of, with_compact_signature,
};

/// A variant of the answers to calls, of which the change follows.
const fn changed(name: &'static str, about: &'static str) -> Variant {
    variant(name, about).when(|view| view.is_paymaster_call())
}

pub(super) const VARIANTS: &[Variant] = &[
    changed("stub-without-is-final", "leaves isFinal out").on_result(|_, result| remove(result, "isFinal")),
    signed_stub("stub-equal-to-data", "the stub is the data"),
    signed_stub("stub-signed-by-the-singleton", "the stub is the data, in the layout of the singleton")
        .configured(|config| config.paymaster_data.layout = Layout::Singleton),
    changed("stub-window-past", "the window of the stub is over")
        .on_result(|_, result| change_times(result, |_| "000059682f01".to_owned()))
        .when(|view| view.is_stub() && !view.is_for(EntryPoint::V06)),
    changed("no-paymaster-data", "the paymaster reads no data, and isFinal is true")
        .on_result(|_, result| {
            replace(result, "paymasterData", "0x");
            change_text(result, "paymasterAndData", |data| data[..42].to_owned());
            replace(result, "isFinal", true);
        })
        .untrue(&[Statement::Contract]),
    changed("verification-limit-absent", "leaves paymasterVerificationGasLimit out")
        .on_result(|_, result| remove(result, PAYMASTER_LIMITS[0]))
        .when(|view| view.is_stub()),
    changed("post-op-limit-one", "paymasterPostOpGasLimit is 0x1")
        .on_result(|_, result| replace(result, PAYMASTER_LIMITS[1], "0x1"))
        .when(|view| view.is_stub()),
    changed("data-without-limits", "the data have no gas limits")
        .on_result(|_, result| {
            for limit in PAYMASTER_LIMITS {
                remove(result, limit);
            }
        })
        .when(|view| view.is_data() && has_limits(view)),
    changed("sponsor-in-data", "the data name the sponsor too")
        .on_result(|_, result| set(result, "sponsor", json!({ "name": "Paymaster" }))),
    changed("sponsor-absent", "no sponsor").on_result(|_, result| remove(result, "sponsor")),
    changed("sponsor-without-icon", "the sponsor has no icon")
        .on_result(|_, result| replace(result, "sponsor", json!({ "name": "Paymaster" }))),
    changed("icon-jpeg", "the icon is a small JPEG").on_result(|_, result| {
        replace(
            result,
            "sponsor",
            json!({ "name": "Paymaster", "icon": "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ==" }),
        );
    }),
    changed("extra-members-in-results", "results have members that the text does not list").on_result(
        |_, result| {
            set(result, "validUntil", "0x7fffffff");
            set(result, "quoteId", "q-1");
        },
    ),
    changed("upper-case-results", "writes hex digits in upper case").on_result(|_, result| {
        for member in ["paymaster", "paymasterData", "paymasterAndData"] {
            change_text(result, member, |text| format!("0x{}", text[2..].to_uppercase()));
        }
    }),
    changed("limits-with-leading-zeros", "writes gas limits with leading zeros").on_result(|_, result| {
        for limit in PAYMASTER_LIMITS {
            change_text(result, limit, |text| format!("0x00{}", &text[2..]));
        }
    }),
    changed("null-limits", "paymasterVerificationGasLimit and isFinal of the stub are null")
        .on_result(|_, result| {
            replace(result, PAYMASTER_LIMITS[0], Value::Null);
            result.insert("isFinal".to_owned(), Value::Null);
        })
        .when(|view| view.is_stub())
        .warns(&["result.null-member"]),
    changed("result-members-reversed", "writes the members of results in another order").on_answer(
        |_, answer| {
            if let Some(result) = answer.get_mut("result") {
                reverse_members(result);
            }
        },
    ),
    changed("members-of-every-version", "returns paymasterAndData beside the members of 0.7 and later")
        .on_result(|_, result| {
            let [paymaster, data] = ["paymaster", "paymasterData"].map(|member| text_of(&result[member]));
            if let Some(data) = data.strip_prefix("0x") {
                set(result, "paymasterAndData", json!(format!("{paymaster}{data}")));
            }
        })
        .when(|view| view.is_paymaster_call() && !view.is_for(EntryPoint::V06))
        .warns(&["result.one-shape"]),
    variant("singleton-layout", "the data have the layout of the singleton paymaster")
        .configured(|config| config.paymaster_data.layout = Layout::Singleton),
    changed("no-end-of-validity", "stub and data are valid without end")
        .on_result(|_, result| change_times(result, |_| "0".repeat(12)))
        .untrue(&[Statement::Contract]),
    changed("signatures-compact", "signatures have 64 bytes in stub and data, in the form of EIP-2098")
        .on_result(|_, result| {
            for member in ["paymasterData", "paymasterAndData"] {
                change_text(result, member, with_compact_signature);
            }
        })
        // Whether a contract takes them depends on its library.
        .untrue(&[Statement::Contract]),
    variant("operation-once", "gives data for an operation once, and then refuses it")
        .refuses(|view| view.is_data() && view.memory.count_of(&view.request["params"].to_string()) > 1)
        .untrue(&[Statement::AcceptsAny, Statement::OneOperation]),
    variant("foreign-chain-served", "ignores the chain id")
        .on_request(|_, request| request["params"][2] = "0x7a69".into())
        .when(|view| view.is_paymaster_call() && view.request["params"].get(2).is_some_and(Value::is_string)),
    variant("chain-id-forms-served", "reads a chain id in decimal digits")
        .on_request(|_, request| request["params"][2] = "0x7a69".into())
        .when(|view| view.is_paymaster_call() && text_of(&view.request["params"][2]) == "31337")
        .warns(&["json-rpc.invalid-params"]),
    variant("context-required", "refuses a request without a policy in the context")
        .refuses(|view| view.is_paymaster_call() && view.context().get("policyId").is_none())
        .untrue(&[Statement::AcceptsAny, Statement::OneOperation, Statement::NoContext]),
    variant("unknown-context-refused", "refuses members of the context that it does not know").refuses(
        |view| {
            view.is_paymaster_call() && view.context().as_object().is_some_and(|context| !context.is_empty())
        },
    ),
    changed("fifth-param-ignored", "ignores a fifth parameter")
        .on_request(|_, request| {
            if let Some(params) = request["params"].as_array_mut() {
                params.truncate(4);
            }
        })
        .warns(&["json-rpc.invalid-params"]),
    variant("three-params-refused", "refuses a request without a context")
        .refuses(|view| view.is_paymaster_call() && view.context().is_null()),
    variant("entry-point-06-alone", "serves EntryPoint 0.6 alone")
        .configured(|config| config.paymaster_data.entry_points = vec![EntryPoint::V06]),
    variant("entry-point-07-alone", "serves EntryPoint 0.7 alone")
        .configured(|config| config.paymaster_data.entry_points = vec![EntryPoint::V07]),
    variant("entry-point-ignored", "serves EntryPoint 0.7 for every address but that of 0.6")
        .configured(|config| config.paymaster_data.entry_points = vec![EntryPoint::V07])
        .on_request(|_, request| request["params"][1] = ENTRY_POINT_07.into())
        .when(|view| {
            let is_address = text_of(&view.request["params"][1]).len() == ENTRY_POINT_07.len();
            view.is_paymaster_call() && is_address && !view.is_for(EntryPoint::V06)
        }),
    variant("entry-points-08-and-09-alone", "serves EntryPoint 0.8 and 0.9 alone")
        .configured(|config| config.paymaster_data.entry_points = vec![EntryPoint::V08, EntryPoint::V09]),
    changed("refusals-with-own-code", "refusals have a code and data of the server").on_error(|_, error| {
        if error["code"] == -32004 {
            set(error, "code", -32001);
            set(error, "data", json!({ "reason": "policy" }));
        }
    }),
    variant("refusals-with-status-400", "refusals have the HTTP status 400")
        .configured(|config| config.error_status = 400),
    variant("unannounced-limits-refused", "refuses data for paymaster gas limits that it did not announce")
        .refuses(|view| {
            let [verification, post_op] = PAYMASTER_LIMITS.map(|limit| view.operation()[limit].as_str());
            view.is_data()
                && (verification.is_some_and(|limit| limit != "0x186a0")
                    || post_op.is_some_and(|limit| limit != "0xc350"))
        })
        .untrue(&[Statement::AcceptsAny]),
    changed("limits-by-call-length", "gas limits of stubs grow with the call, and data need the same limit")
        .injects(Behaviour::Exchange(
            |view, request| {
                let limit = &view.operation()[PAYMASTER_LIMITS[0]];
                if view.is_data() && limit.is_string() && *limit != limit_of_call(view) {
                    request["params"][0]["sender"] = PolicyConfig::DENIED_SENDER.into();
                }
            },
            |view, result| {
                if view.is_stub() {
                    replace(result, PAYMASTER_LIMITS[0], limit_of_call(view));
                }
            },
        ))
        // A malformed request is refused for its limit first.
        .warns(&["json-rpc.invalid-params"]),
    variant("zero-limits-refused-in-data", "refuses data for limits or fees of zero").refuses(|view| {
        let is_zero = |member: &str| view.operation()[member] == "0x0";
        view.is_data() && ["callGasLimit", "verificationGasLimit", "maxFeePerGas"].into_iter().any(is_zero)
    }),
    variant("repeated-data-refused", "refuses the same request a second time")
        .refuses(|view| view.is_data() && view.is_repeated())
        .untrue(&[Statement::AcceptsAny, Statement::OneOperation]),
    variant("third-data-refused", "signs data for a sender and a nonce twice, and refuses them from then on")
        .refuses(|view| {
            let operation = view.operation();
            let key = format!("{:?} {} {}", view.entry_point(), operation["sender"], operation["nonce"]);
            view.is_data() && exceeds_quota(view, Some(&key.to_ascii_lowercase()), 2)
        })
        .untrue(&[Statement::OneOperation]),
    changed(
        "one-operation-for-a-nonce",
        "signs data for one operation of a sender and nonce, and for no other",
    )
    .on_answer(|view, answer| {
        let [sender, nonce] = ["sender", "nonce"].map(|member| view.text(member).to_lowercase());
        let own = ["callData", "callGasLimit", "maxFeePerGas", "paymasterData", "signature"];
        let own = json!(own.map(|member| view.text(member).to_lowercase()));
        let key = format!("{:?} {sender} {nonce}", view.entry_point());
        if answer.contains_key("result") && view.memory.first(key, &own) != own {
            refuse(answer, -32004, "the nonce is that of another operation");
        }
    })
    .when(|view| view.is_data())
    .untrue(&[Statement::OneOperation]),
    variant("data-budget", "sponsors 60 operations, and then refuses with an error")
        .refuses(|view| view.is_data() && view.memory.count() > 60)
        .untrue(&[Statement::AcceptsAny, Statement::OneOperation]),
    variant("our-operation-refused", "sponsors no call by execute(address,uint256,bytes)")
        .refuses(|view| view.is_paymaster_call() && view.text("callData").starts_with("0xb61d27f6"))
        .untrue(&[Statement::AcceptsAny, Statement::OneOperation]),
    variant("stub-ignores-the-operation", "the stub looks at no sender")
        .on_request(|_, request| request["params"][0]["sender"] = NO_CONTRACT.into())
        .when(|view| view.is_stub() && view.operation()["sender"].is_string())
        .warns(&["refusal.early", "json-rpc.invalid-params"]),
    changed("stub-with-few-zeros-more", "the stub has two zero bytes by chance")
        .on_result(|_, result| {
            for member in ["paymasterData", "paymasterAndData"] {
                change_text(result, member, |data| {
                    let place = data.len() - 20;
                    format!("{}0000{}", &data[..place], &data[place + 4..])
                });
            }
        })
        .when(|view| view.is_stub()),
    variant("init-code-for-later-entry-points", "takes initCode for EntryPoint 0.7 too")
        .on_request(|_, request| {
            if let Some(operation) = request["params"][0].as_object_mut() {
                remove(operation, "initCode");
            }
        })
        .when(|view| view.is_later() && view.text("initCode") == "0x")
        .warns(&["entry-point.other-operation"]),
];

/// A stub of which the data are those of the data call.
const fn signed_stub(name: &'static str, about: &'static str) -> Variant {
    variant(name, about)
        .injects(Behaviour::Exchange(
            |_, request| request["method"] = "pm_getPaymasterData".into(),
            |_, result| set(result, "isFinal", false),
        ))
        .when(|view| view.is_stub())
}

/// Whether the operation has both gas limits of the paymaster, so that the data hold without those of the result.
fn has_limits(view: &RequestView<'_>) -> bool {
    PAYMASTER_LIMITS.iter().all(|limit| view.operation()[*limit].is_string())
}

/// A gas limit of the paymaster that grows with the call.
fn limit_of_call(view: &RequestView<'_>) -> Value {
    json!(format!("{:#x}", 60_000 + 8 * view.text("callData").len()))
}

/// Changes the first time in data of the layout `verifying`, in 12 hex digits.
fn change_times(result: &mut Map<String, Value>, change: fn(&str) -> String) {
    if let Some(data) = result.get("paymasterData").and_then(Value::as_str).filter(|data| data.len() > 66) {
        let data = format!("{}{}{}", &data[..54], change(&data[54..66]), &data[66..]);
        set(result, "paymasterData", data);
    }
}
