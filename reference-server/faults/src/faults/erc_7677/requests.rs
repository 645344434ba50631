//! Faults that refuse what clients send.

use std::time::Duration;

use paymaster_service::EntryPoint;
use serde_json::Value;

use crate::faults::{Fault, fault};
use crate::injection::{
    Behaviour, ENTRY_POINT_07, GAS_LIMITS, PAYMASTER_LIMITS, RequestView, refuse, text_of,
};

const DATA_SERVED: &str = "data.sponsorable-is-served";
const STUB_MEMBERS: &str = "operation.stub-members";
const FACTORY: &str = "operation.factory";
const EIP_7702: &str = "operation.eip-7702";
const UNKNOWN: Fault = Fault::breaking("entry-point.unknown-refused");
/// What a refusal breaks too where the profile promises results.
const PROMISED: &[&str] = &["stub.sponsorable-is-served", DATA_SERVED, "operation.*", "call.*"];

/// A fault that refuses what is served otherwise, of which the condition follows.
const fn refused(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    Fault::new(clause, name, about).injects(Behaviour::Refuse).also(PROMISED)
}

pub(crate) const FAULTS: &[Fault] = &[
    refused("endpoint.stub-and-data", "stub-method-unknown", "does not serve pm_getPaymasterStubData")
        .on_answer(|_, answer| refuse(answer, -32601, "method not found"))
        .when(|view| view.is_stub())
        .also(&["stub.sponsorable-is-served", "json-rpc.*"]),
    refused("stub.sponsorable-is-served", "sponsorable-stub-refused", "refuses every stub request")
        .when(|view| view.is_stub())
        .also(&["endpoint.stub-and-data"]),
    refused("stub.sponsorable-is-served", "large-stub-refused", "refuses stubs of calls above 2,048 bytes")
        .when(|view| view.is_stub() && view.byte_count("callData") > 2_048),
    refused("stub-request.zero-fees", "zero-priority-fee-refused", "refuses a priority fee of 0x0 alone")
        .when(|view| {
            view.is_stub() && view.text("maxPriorityFeePerGas") == "0x0" && view.text("maxFeePerGas") != "0x0"
        }),
    refused("stub-request.zero-limits", "some-zero-limits-refused", "refuses one or two gas limits of 0x0")
        .when(|view| view.is_stub() && (1..3).contains(&zero_limits(view))),
    refused(STUB_MEMBERS, "paymaster-in-lower-case-refused", "refuses its own address in lower case").when(
        |view| {
            let paymaster = view.text("paymaster");
            view.is_data() && !paymaster.is_empty() && *paymaster == paymaster.to_ascii_lowercase()
        },
    ),
    refused(STUB_MEMBERS, "paymaster-with-capitals-refused", "refuses its own address with the checksum")
        .when(|view| view.is_data() && view.text("paymaster").contains(|letter: char| letter.is_uppercase())),
    refused(
        STUB_MEMBERS,
        "stub-members-without-context-refused",
        "refuses stub members where the context is null",
    )
    .when(|view| has_stub_members(view) && view.context().is_null()),
    refused(STUB_MEMBERS, "stub-members-of-delegate-refused", "refuses stub members beside eip7702Auth")
        .when(|view| has_stub_members(view) && view.operation()["eip7702Auth"].is_object()),
    refused(STUB_MEMBERS, "paymaster-signature-refused", "refuses an empty paymasterSignature")
        .when(|view| view.is_paymaster_call() && view.text("paymasterSignature") == "0x"),
    refused(STUB_MEMBERS, "post-op-limit-alone-refused", "refuses data with paymasterPostOpGasLimit alone")
        .when(|view| {
            let [lacks_verification, lacks_post_op] = PAYMASTER_LIMITS.map(|limit| view.lacks(limit));
            view.is_data() && lacks_verification && !lacks_post_op
        }),
    refused("operation.null-members", "null-paymaster-limit-refused", "reads null as a paymaster gas limit")
        .when(|view| {
            let limit = view.operation().get("paymasterVerificationGasLimit");
            view.is_data() && limit.is_some_and(Value::is_null)
        }),
    refused(FACTORY, "placeholder-of-new-account-refused", "verifies the signature of a new account")
        .when(|view| creates_account(view) && view.text("signature").len() > 2),
    refused("endpoint.stub-and-data", "spaced-method-unknown", "finds the method by text, without a space")
        .on_answer(|_, answer| refuse(answer, -32601, "method not found"))
        .when(|view| view.raw.windows(11).any(|part| part == b"\"method\": \""))
        .also(&["request.headers", "json-rpc.*"]),
    refused(DATA_SERVED, "sponsorable-data-refused", "refuses every data request")
        .when(|view| view.is_data())
        .also(&["endpoint.stub-and-data"]),
    refused("call.letter-case", "chain-id-in-capitals-refused", "refuses upper case digits in the chain id")
        .when(|view| {
            let chain_id = text_of(&view.request["params"][2]);
            view.is_paymaster_call() && chain_id.bytes().any(|digit| digit.is_ascii_uppercase())
        }),
    refused("call.letter-case", "upper-case-refused", "refuses hex digits in upper case in the call data")
        .when(|view| {
            view.is_paymaster_call()
                && view.text("callData").bytes().any(|letter| letter.is_ascii_uppercase())
        }),
    refused(
        "call.same-operation",
        "order-of-circle-refused",
        "refuses the member order method, params, jsonrpc, id",
    )
    .when(|view| {
        let members = view.request.as_object().into_iter().flat_map(|members| members.keys());
        view.is_paymaster_call() && members.eq(["method", "params", "jsonrpc", "id"])
    }),
    refused("operation.unsigned", "unsigned-operation-refused", "refuses an operation without a signature")
        .when(|view| view.is_paymaster_call() && view.lacks("signature")),
    refused("operation.dummy-signature", "dummy-signature-refused", "refuses an operation with a signature")
        .when(|view| view.is_paymaster_call() && view.text("signature").len() > 2),
    refused(STUB_MEMBERS, "stub-members-refused", "refuses the stub's paymaster members in a data request")
        .when(has_stub_members),
    refused("operation.dummy-signature", "long-signature-refused", "accepts signatures of 65 bytes alone")
        .when(|view| view.is_paymaster_call() && ![0, 132].contains(&view.text("signature").len())),
    refused(STUB_MEMBERS, "empty-paymaster-data-refused", "refuses paymasterAndData 0x in a stub request")
        .when(|view| view.is_stub() && view.text("paymasterAndData") == "0x"),
    refused(STUB_MEMBERS, "zero-paymaster-limits-refused", "refuses paymaster gas limits of 0x0 in stubs")
        .when(|view| view.is_stub() && view.text("paymasterVerificationGasLimit") == "0x0"),
    refused(FACTORY, "factory-with-zero-limits-refused", "refuses gas limits of zero for a new account")
        .when(|view| creates_account(view) && view.text("callGasLimit") == "0x0"),
    refused("operation.null-members", "null-members-refused", "refuses members that are null").when(|view| {
        view.is_paymaster_call()
            && view.operation().as_object().is_some_and(|members| members.values().any(Value::is_null))
    }),
    refused(FACTORY, "factory-refused", "refuses operations that create their account").when(creates_account),
    refused(EIP_7702, "authorization-refused", "refuses eip7702Auth")
        .when(|view| view.is_paymaster_call() && view.operation()["eip7702Auth"].is_object()),
    refused(EIP_7702, "authorization-parity-zero-refused", "refuses an eip7702Auth with yParity 0x0")
        .when(|view| view.is_paymaster_call() && view.operation()["eip7702Auth"]["yParity"] == "0x0"),
    refused(EIP_7702, "authorization-for-every-chain-refused", "refuses an eip7702Auth with chainId 0x0")
        .when(|view| view.is_paymaster_call() && view.operation()["eip7702Auth"]["chainId"] == "0x0"),
    refused(EIP_7702, "authorization-nonce-refused", "refuses an eip7702Auth with a nonce above 0").when(
        |view| {
            let nonce = view.operation()["eip7702Auth"]["nonce"].as_str();
            view.is_paymaster_call() && nonce.is_some_and(|nonce| nonce != "0x0")
        },
    ),
    refused(EIP_7702, "authorization-for-07-refused", "refuses eip7702Auth for EntryPoint 0.7")
        .when(|view| view.is_for(EntryPoint::V07) && view.operation()["eip7702Auth"].is_object()),
    refused(EIP_7702, "delegated-factory-refused", "refuses the factory 0x7702")
        .when(|view| view.is_paymaster_call() && view.text("factory") == "0x7702"),
    refused("operation.nonce", "nonce-of-64-bits", "refuses a nonce of more than 64 bits")
        .when(|view| view.is_paymaster_call() && view.text("nonce").len() > 18),
    refused(
        DATA_SERVED,
        "first-nonce-of-a-key-refused",
        "refuses the first nonce of a key for an account that exists",
    )
    .when(|view| {
        let nonce = view.text("nonce");
        view.is_paymaster_call()
            && !creates_account(view)
            && nonce.len() > 18
            && nonce.ends_with("0000000000000000")
    }),
    refused(DATA_SERVED, "deployment-of-safe-refused", "refuses data for a new Safe").when(|view| {
        let creates = |code: &str| code.starts_with("1688f0b9");
        let (code, data) = (view.text("initCode"), view.text("factoryData"));
        view.is_data() && (code.get(42..).is_some_and(creates) || data.get(2..).is_some_and(creates))
    }),
    refused(DATA_SERVED, "attributed-data-refused", "refuses data for a call with an attribution")
        .when(|view| view.is_data() && view.text("callData").ends_with("80218021")),
    refused(DATA_SERVED, "batch-of-one-fails", "fails for data of executeBatch with one call")
        .on_answer(|_, answer| refuse(answer, -32603, "internal error"))
        .when(|view| {
            let list = view.text("callData").strip_prefix("0x34fcd5be").unwrap_or_default();
            let count = list.get(64..128).unwrap_or_default();
            view.is_data() && count.trim_start_matches('0') == "1"
        }),
    refused(DATA_SERVED, "vanity-sender-refused", "refuses data for a sender that begins 0x0000")
        .when(|view| view.is_data() && view.text("sender").starts_with("0x0000") && !view.is_denied()),
    refused("stub-request.zero-limits", "zero-limits-refused", "refuses gas limits of zero in stub requests")
        .when(|view| view.is_stub() && view.text("callGasLimit") == "0x0"),
    refused("stub-request.zero-fees", "zero-fees-divided-by", "fails when both fees are zero")
        .on_answer(|_, answer| refuse(answer, -32603, "internal error"))
        .when(|view| view.is_stub() && view.text("maxFeePerGas") == "0x0"),
    refused("context.null", "context-null-fails", "fails when the context is null")
        .on_answer(|_, answer| refuse(answer, -32603, "internal error"))
        .when(|view| view.is_paymaster_call() && view.request["params"].get(3).is_some_and(Value::is_null)),
    refused("data-request.without-stub", "data-without-stub-refused", "refuses data without an earlier stub")
        .when(|view| {
            let operation = ["sender", "nonce", "callData"].map(|member| view.text(member)).join(" ");
            if view.is_stub() {
                view.memory.previous(&operation, &Value::Bool(true));
            }
            view.is_data() && view.memory.first(operation, &Value::Bool(false)) == false
        })
        .depends_on_others(),
    Fault::new(DATA_SERVED, "entry-point-of-another", "reads the EntryPoint of another request in flight")
        .on_http(|view, response| {
            let own = &view.request["params"][1];
            let is_other =
                view.memory.previous("the last EntryPoint", own).is_some_and(|other| other != *own);
            if is_other && view.arrival.in_flight > 1 {
                response.refuse(200, &view.error_answer(-32602, "invalid params: initCode is missing"));
            }
            // Requests meet.
            response.delay = Duration::from_millis(1);
        })
        .when(|view| view.is_paymaster_call() && view.request["params"][1].is_string())
        .also(&["*"])
        .depends_on_others(),
    refused("entry-point.letter-case", "entry-point-lower-case-refused", "refuses EntryPoints in lower case")
        .when(|view| view.is_paymaster_call() && is_in_lower_case(view)),
    refused("call.letter-case", "entry-point-in-capitals-refused", "refuses EntryPoints in upper case").when(
        |view| {
            let digits = view.request["params"][1].as_str().and_then(|text| text.strip_prefix("0x"));
            view.entry_point().is_some() && digits.is_some_and(|digits| *digits == digits.to_uppercase())
        },
    ),
    Fault::new(
        "json-rpc.batch",
        "batch-text-id-of-result-lost",
        "returns id null beside a result in a batch for a text",
    )
    .on_batch(|_, answers| {
        let is_own = |answer: &&mut Value| answer["id"].is_string() && answer.get("result").is_some();
        answers.iter_mut().filter(is_own).for_each(|answer| answer["id"] = Value::Null);
    })
    .depends_on("/*/id")
    .also(&["json-rpc.batch-elements"]),
    fault(UNKNOWN, "unknown-entry-point-served", "serves an EntryPoint that it does not know")
        .on_request(|view, request| {
            request["params"][1] =
                if view.lacks("initCode") { ENTRY_POINT_07 } else { ENTRY_POINT_06 }.into();
        })
        .when(|view| {
            view.is_paymaster_call()
                && view.request["params"].get(1).is_some()
                && view.entry_point().is_none()
        }),
    fault(UNKNOWN, "entry-point-by-its-ends", "compares the first and last four digits of EntryPoints")
        .on_request(|view, request| request["params"][1] = same_ends(view).into())
        .when(|view| view.is_paymaster_call() && view.entry_point().is_none() && same_ends(view).is_some()),
    fault(UNKNOWN, "zero-entry-point-as-default", "serves the zero address as EntryPoint 0.7")
        .on_request(|_, request| request["params"][1] = ENTRY_POINT_07.into())
        .when(|view| {
            let named = view.request["params"][1].as_str().and_then(|text| text.strip_prefix("0x"));
            let is_zero = named.is_some_and(|digits| digits.bytes().all(|digit| digit == b'0'));
            view.is_paymaster_call() && is_zero && view.lacks("initCode")
        }),
    Fault::new("entry-point.other-operation", "later-operation-served-as-06", "serves 0.6 without initCode")
        .on_request(|_, request| set_operation(request, "initCode", "0x"))
        .when(|view| view.is_for(EntryPoint::V06) && view.lacks("initCode"))
        .also(&["json-rpc.invalid-params"]),
    Fault::new("answer.json-text", "html-for-stubs-of-08", "answers a stub of 0.8 with a gateway's page")
        .on_http(|_, response| response.replace(200, "text/html", "<html><body>ok</body></html>"))
        .when(|view| view.is_stub() && view.is_for(EntryPoint::V08))
        .also(&["http.content-type", "answer.*"]),
];

/// The EntryPoint whose address begins and ends as that of the request does.
fn same_ends(view: &RequestView<'_>) -> Option<&'static str> {
    let named = view.request["params"][1].as_str()?.to_lowercase();
    [ENTRY_POINT_06, ENTRY_POINT_07].into_iter().find(|served| {
        let served = served.to_lowercase();
        named.len() == served.len() && named[..6] == served[..6] && named[38..] == served[38..]
    })
}

const ENTRY_POINT_06: &str = "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789";

/// Whether a data request has the paymaster members of a stub.
fn has_stub_members(view: &RequestView<'_>) -> bool {
    view.is_data() && ["paymasterData", "paymasterAndData"].iter().any(|member| view.text(member).len() > 2)
}

/// Whether a call is for an account that is created with the operation.
pub(super) fn creates_account(view: &RequestView<'_>) -> bool {
    view.is_paymaster_call() && (view.text("factory").len() > 6 || view.text("initCode").len() > 2)
}

/// Whether the EntryPoint is named in lower case.
pub(super) fn is_in_lower_case(view: &RequestView<'_>) -> bool {
    let named = view.request["params"][1].as_str().unwrap_or_default();
    *named == named.to_lowercase()
}

/// How many of the three gas limits are not known yet.
pub(super) fn zero_limits(view: &RequestView<'_>) -> usize {
    GAS_LIMITS.into_iter().filter(|member| view.text(member) == "0x0").count()
}

pub(super) fn set_operation(request: &mut Value, member: &str, value: impl Into<Value>) {
    request["params"][0][member] = value.into();
}
