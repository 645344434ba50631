//! Faults that refuse what clients send.

use paymaster_service::EntryPoint;
use serde_json::Value;

use crate::faults::Fault;
use crate::injection::{Behaviour, RequestView, refuse, text_of};

/// What a refusal breaks too where the profile promises results.
const PROMISED: &[&str] =
    &["stub.sponsorable-is-served", "data.sponsorable-is-served", "operation.*", "call.*"];

/// A fault that refuses what is served otherwise, of which the condition follows.
const fn refused(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    Fault::new(clause, name, about).injects(Behaviour::Refuse).also(PROMISED)
}

pub(in crate::faults) const FAULTS: &[Fault] = &[
    refused("endpoint.stub-and-data", "stub-method-unknown", "does not serve pm_getPaymasterStubData")
        .on_answer(|_, answer| refuse(answer, -32601, "method not found"))
        .when(|view| view.is_stub())
        .also(&["stub.sponsorable-is-served", "json-rpc.*"]),
    refused("stub.sponsorable-is-served", "sponsorable-stub-refused", "refuses every stub request")
        .when(|view| view.is_stub())
        .also(&["endpoint.stub-and-data"]),
    refused(
        "stub.sponsorable-is-served",
        "large-stub-refused",
        "refuses stubs with more than 2,048 bytes of call data",
    )
    .when(|view| view.is_stub() && view.byte_count("callData") > 2_048),
    refused(
        "stub-request.zero-fees",
        "zero-priority-fee-refused",
        "refuses stubs with a priority fee of 0x0 alone",
    )
    .when(|view| {
        view.is_stub() && view.text("maxPriorityFeePerGas") == "0x0" && view.text("maxFeePerGas") != "0x0"
    }),
    refused(
        "stub-request.zero-limits",
        "some-zero-limits-refused",
        "refuses stubs with some gas limits of 0x0",
    )
    .when(|view| view.is_stub() && (1..3).contains(&zero_limits(view))),
    refused(
        "operation.stub-members",
        "paymaster-in-lower-case-refused",
        "refuses its own address in lower case",
    )
    .when(|view| {
        let paymaster = view.text("paymaster");
        view.is_data() && !paymaster.is_empty() && *paymaster == paymaster.to_ascii_lowercase()
    }),
    refused(
        "operation.null-members",
        "null-paymaster-limit-refused",
        "reads null as a gas limit of the paymaster",
    )
    .when(|view| {
        let limit = view.operation().get("paymasterVerificationGasLimit");
        view.is_data() && limit.is_some_and(Value::is_null)
    }),
    refused(
        "operation.factory",
        "placeholder-of-new-account-refused",
        "verifies the signature of an account that does not exist yet",
    )
    .when(|view| creates_account(view) && view.text("signature").len() > 2),
    refused(
        "endpoint.stub-and-data",
        "spaced-method-unknown",
        "finds the method by its text, without a space",
    )
    .on_answer(|_, answer| refuse(answer, -32601, "method not found"))
    .when(|view| view.raw.windows(11).any(|part| part == b"\"method\": \""))
    .also(&["request.headers", "json-rpc.*"]),
    refused("data.sponsorable-is-served", "sponsorable-data-refused", "refuses every data request")
        .when(|view| view.is_data())
        .also(&["endpoint.stub-and-data"]),
    refused(
        "call.letter-case",
        "chain-id-in-capitals-refused",
        "refuses hex digits in upper case in the chain id",
    )
    .when(|view| {
        let chain_id = text_of(&view.request["params"][2]);
        view.is_paymaster_call() && chain_id.bytes().any(|digit| digit.is_ascii_uppercase())
    }),
    refused("call.letter-case", "upper-case-refused", "refuses hex digits in upper case in the call data")
        .when(|view| {
            view.is_paymaster_call()
                && view.text("callData").bytes().any(|letter| letter.is_ascii_uppercase())
        }),
    refused("operation.unsigned", "unsigned-operation-refused", "refuses an operation without a signature")
        .when(|view| view.is_paymaster_call() && view.operation().get("signature").is_none()),
    refused("operation.dummy-signature", "dummy-signature-refused", "refuses an operation with a signature")
        .when(|view| view.is_paymaster_call() && view.text("signature").len() > 2),
    refused(
        "operation.stub-members",
        "stub-members-refused",
        "refuses the paymaster members of the stub in a data request",
    )
    .when(|view| {
        view.is_data()
            && ["paymasterData", "paymasterAndData"].iter().any(|member| view.text(member).len() > 2)
    }),
    refused(
        "operation.dummy-signature",
        "long-signature-refused",
        "refuses a signature of another length than 65 bytes",
    )
    .when(|view| view.is_paymaster_call() && ![0, 132].contains(&view.text("signature").len())),
    refused(
        "operation.stub-members",
        "empty-paymaster-data-refused",
        "refuses paymasterAndData 0x in a stub request",
    )
    .when(|view| view.is_stub() && view.text("paymasterAndData") == "0x"),
    refused(
        "operation.stub-members",
        "zero-paymaster-limits-refused",
        "refuses 0x0 for the gas limits of the paymaster in a stub request",
    )
    .when(|view| view.is_stub() && view.text("paymasterVerificationGasLimit") == "0x0"),
    refused(
        "operation.factory",
        "factory-with-zero-limits-refused",
        "refuses gas limits of zero for an operation that creates its account",
    )
    .when(|view| creates_account(view) && view.text("callGasLimit") == "0x0"),
    refused("operation.null-members", "null-members-refused", "refuses members that are null").when(|view| {
        view.is_paymaster_call()
            && view.operation().as_object().is_some_and(|members| members.values().any(Value::is_null))
    }),
    refused("operation.factory", "factory-refused", "refuses operations that create their account")
        .when(creates_account),
    refused("operation.eip-7702", "authorization-refused", "refuses eip7702Auth")
        .when(|view| view.is_paymaster_call() && view.operation()["eip7702Auth"].is_object()),
    refused(
        "operation.eip-7702",
        "authorization-parity-zero-refused",
        "refuses an eip7702Auth with yParity 0x0",
    )
    .when(|view| view.is_paymaster_call() && view.operation()["eip7702Auth"]["yParity"] == "0x0"),
    refused(
        "operation.eip-7702",
        "authorization-for-every-chain-refused",
        "refuses an eip7702Auth with chainId 0x0",
    )
    .when(|view| view.is_paymaster_call() && view.operation()["eip7702Auth"]["chainId"] == "0x0"),
    refused("operation.eip-7702", "delegated-factory-refused", "refuses the factory 0x7702")
        .when(|view| view.is_paymaster_call() && view.text("factory") == "0x7702"),
    refused("operation.nonce", "nonce-of-64-bits", "refuses a nonce of more than 64 bits")
        .when(|view| view.is_paymaster_call() && view.text("nonce").len() > 18),
    refused(
        "stub-request.zero-limits",
        "zero-limits-refused",
        "refuses gas limits of zero in a stub request",
    )
    .when(|view| view.is_stub() && view.text("callGasLimit") == "0x0"),
    refused("stub-request.zero-fees", "zero-fees-divided-by", "fails when both fees are zero")
        .on_answer(|_, answer| refuse(answer, -32603, "internal error"))
        .when(|view| view.is_stub() && view.text("maxFeePerGas") == "0x0"),
    refused("context.null", "context-null-fails", "fails when the context is null")
        .on_answer(|_, answer| refuse(answer, -32603, "internal error"))
        .when(|view| view.is_paymaster_call() && view.request["params"].get(3).is_some_and(Value::is_null)),
    refused(
        "data-request.without-stub",
        "data-without-stub-refused",
        "refuses data without an earlier stub of the same operation",
    )
    .when(|view| {
        let operation = ["sender", "nonce", "callData"].map(|member| view.text(member)).join(" ");
        if view.is_stub() {
            view.memory.previous(&operation, &Value::Bool(true));
        }
        view.is_data() && view.memory.first(operation, &Value::Bool(false)) == false
    })
    .depends_on_others(),
    refused(
        "entry-point.letter-case",
        "entry-point-lower-case-refused",
        "does not know an EntryPoint in lower case",
    )
    .when(|view| {
        let address = view.request["params"][1].as_str().unwrap_or_default();
        view.is_paymaster_call() && *address == address.to_lowercase()
    }),
    Fault::new(
        "entry-point.unknown-refused",
        "unknown-entry-point-served",
        "serves an EntryPoint that it does not know",
    )
    .on_request(|view, request| {
        request["params"][1] =
            if view.operation().get("initCode").is_some() { ENTRY_POINT_06 } else { ENTRY_POINT_07 }.into();
    })
    .when(|view| {
        view.is_paymaster_call() && view.request["params"].get(1).is_some() && view.entry_point().is_none()
    }),
    Fault::new(
        "entry-point.unknown-refused",
        "entry-point-by-its-ends",
        "tells EntryPoints by the first and last four digits of their addresses",
    )
    .on_request(|view, request| request["params"][1] = same_ends(view).into())
    .when(|view| view.is_paymaster_call() && view.entry_point().is_none() && same_ends(view).is_some()),
    Fault::new(
        "entry-point.other-operation",
        "later-operation-served-as-06",
        "serves an operation without initCode for EntryPoint 0.6",
    )
    .on_request(|_, request| set_operation(request, "initCode", "0x".into()))
    .when(|view| view.entry_point() == Some(EntryPoint::V06) && view.operation().get("initCode").is_none())
    .also(&["json-rpc.invalid-params"]),
    Fault::new(
        "answer.json-text",
        "html-for-stubs-of-08",
        "answers a stub request of 0.8 with the page of a gateway",
    )
    .on_http(|_, response| {
        response.replace(200, "text/html", "<html><body>ok</body></html>");
    })
    .when(|view| view.is_stub() && view.entry_point() == Some(EntryPoint::V08))
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
const ENTRY_POINT_07: &str = "0x0000000071727De22E5E9d8BAf0edAc6f37da032";

/// Whether a call is for an account that is created with the operation.
pub(super) fn creates_account(view: &RequestView<'_>) -> bool {
    view.is_paymaster_call() && (view.text("factory").len() > 6 || view.text("initCode").len() > 2)
}

/// How many of the three gas limits are not known yet.
pub(super) fn zero_limits(view: &RequestView<'_>) -> usize {
    let limits = ["callGasLimit", "verificationGasLimit", "preVerificationGas"];
    limits.into_iter().filter(|member| view.text(member) == "0x0").count()
}

pub(super) fn set_operation(request: &mut Value, member: &str, value: Value) {
    request["params"][0][member] = value;
}
