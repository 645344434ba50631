//! Sample requests of ERC-7677.

use serde_json::{Value, json};

use super::*;

const STUB: &str = "pm_getPaymasterStubData";
const DATA: &str = "pm_getPaymasterData";
pub(crate) const ENTRY_POINTS: [&str; 4] = [
    "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
    "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
    "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
    "0x433709009B8330FDa32311DF1C2AFA402eD8D009",
];

/// The bodies of sample requests of ERC-7677: what clients send, in both methods.
#[expect(clippy::too_many_lines, reason = "a list of requests")]
pub(crate) fn paymaster_bodies() -> Vec<Vec<u8>> {
    let [v06, v07, v08, v09] = ENTRY_POINTS;
    let dummy = json!(format!("0x{}", "ab".repeat(65)));
    let limits =
        [("paymasterVerificationGasLimit", json!("0xc350")), ("paymasterPostOpGasLimit", json!("0x7530"))];
    let stub_members = [("paymaster", json!(USDC)), ("paymasterData", json!("0x0102"))];
    let with_capitals = [("paymaster", json!(USDC_OTHER_LETTERS))];
    let zero_limits =
        ["callGasLimit", "verificationGasLimit", "preVerificationGas"].map(|member| (member, json!("0x0")));
    let zero_fees = ["maxFeePerGas", "maxPriorityFeePerGas"].map(|member| (member, json!("0x0")));
    let nulls = ["factory", "factoryData", "paymaster", "paymasterData"].map(|member| (member, Value::Null));
    let factory = [("factory", json!(USDC)), ("factoryData", json!("0x5fbfb9cf"))];
    let quantities = ["chainId", "nonce", "r", "s", "yParity"].map(|member| (member, json!("0x1")));
    let authorization = [("eip7702Auth", with(json!({ "address": USDC }), &quantities))];
    let delegated =
        [&authorization[..], &[("factory", json!("0x7702")), ("factoryData", json!("0x"))]].concat();
    let of_passkey = json!(format!("0x{}", "ab".repeat(195)));
    let paymaster_limits =
        ["paymasterVerificationGasLimit", "paymasterPostOpGasLimit"].map(|member| (member, json!("0x0")));
    let before_the_stub = with(operation_of(v06), &[("paymasterAndData", json!("0x"))]);
    let execute = format!("0xb61d27f6{}", "00".repeat(96));
    let batch_of_one = format!("0x34fcd5be{:064x}{:064x}", 32, 1);
    let empty = json!({});
    let later = |changes: &[(&str, Value)]| with(operation_of(v07), changes);
    let cases: Vec<(Value, &str, Value)> = ENTRY_POINTS
        .iter()
        .map(|entry_point| (operation_of(entry_point), *entry_point, empty.clone()))
        .chain([
            (later(&[("signature", dummy.clone())]), v07, Value::Null),
            (with(later(&factory), &[("signature", dummy)]), v07, json!({ "policyId": "p-1" })),
            (later(&zero_limits[..1]), v07, empty.clone()),
            (later(&[("signature", of_passkey)]), v07, empty.clone()),
            (before_the_stub, v06, empty.clone()),
            (later(&paymaster_limits), v07, empty.clone()),
            (with(later(&factory), &zero_limits), v07, empty.clone()),
            (later(&limits), v07, empty.clone()),
            (later(&limits[1..]), v07, empty.clone()),
            (later(&stub_members), v07, empty.clone()),
            (later(&stub_members), v07, Value::Null),
            (with(later(&stub_members), &authorization), v08, empty.clone()),
            (later(&[("paymasterSignature", json!("0x"))]), v09, empty.clone()),
            (later(&with_capitals), v07, empty.clone()),
            (later(&zero_limits), v07, empty.clone()),
            (later(&zero_fees), v07, empty.clone()),
            (later(&nulls), v07, empty.clone()),
            (later(&[("callGasLimit", json!("0x1c9c381"))]), v07, empty.clone()),
            (later(&factory), v07, empty.clone()),
            (later(&authorization), v07, empty.clone()),
            (later(&authorization), v08, empty.clone()),
            (later(&delegated), v08, empty.clone()),
            (later(&[("nonce", json!("0x1a2b3c0000000000000000"))]), v09, empty.clone()),
            (later(&[("callData", json!("0xDEADBEEF"))]), v07, empty.clone()),
            (later(&[("callData", json!("0xb61d27f6ab"))]), v07, empty.clone()),
            (later(&[("callData", json!(execute))]), v07, empty.clone()),
            (later(&[("callData", json!(batch_of_one))]), v07, empty.clone()),
            (later(&[("sender", PolicyConfig::DENIED_SENDER.into())]), v07, empty.clone()),
            (with(later(&factory), &[("sender", PolicyConfig::DENIED_SENDER.into())]), v07, empty.clone()),
            (
                with(later(&authorization), &[("sender", PolicyConfig::DENIED_SENDER.into())]),
                v08,
                empty.clone(),
            ),
            (later(&[("sender", PolicyConfig::DENIED_SENDER.into())]), v07, Value::Null),
            (later(&[("sender", json!(format!("0x0000{}", "ab".repeat(18))))]), v07, empty.clone()),
            (later(&[("callData", json!("0xb61d27f680218021"))]), v07, empty.clone()),
            (operation_of(v06), USDC_OTHER_LETTERS, empty.clone()),
            (later(&[]), "0x00000000717281dd1a1627478b0edac6f37da032", empty.clone()),
            (later(&[]), "0x0000000000000000000000000000000000000000", empty.clone()),
            (later(&[]), v06, empty.clone()),
            (later(&[("initCode", json!("0x"))]), v07, empty.clone()),
            (later(&[]), v07, json!({ "other": true })),
            (later(&[]), v07, json!({ "policyId": "p-1" })),
        ])
        .collect();
    let [lower, upper] = [v07.to_lowercase(), v07.to_uppercase().replacen('X', "x", 1)];
    let special = special_operations(&authorization[0].1).map(|operation| (operation, v08, empty.clone()));
    let calls = cases
        .into_iter()
        .chain(special)
        .chain([&lower, &upper].map(|named| (later(&[]), named.as_str(), empty.clone())));
    let mut requests: Vec<Value> = calls
        .enumerate()
        .flat_map(|(place, (operation, entry_point, context))| {
            [STUB, DATA]
                .map(|method| paymaster_request(&json!(place), method, &operation, entry_point, &context))
        })
        .collect();
    requests.extend(single_requests());
    let spaced = data_request().to_string().replace("\"method\":", "\"method\": ");
    let mut second = with_nonce("0xc");
    second["id"] = json!("3f2504e0-4f89-41d3-9a0c-0305e82c3302");
    let batch = json!([with_nonce("0xb"), second]).to_string();
    let mut denied = with_nonce("0xb");
    denied["params"][0]["sender"] = PolicyConfig::DENIED_SENDER.into();
    let partly_denied = json!([with_nonce("0xb"), denied]).to_string();
    let texts = requests.iter().map(Value::to_string).chain([spaced, batch, partly_denied]);
    texts.map(String::into_bytes).collect()
}

/// Requests that come in one method only, with other ids, params and chains.
fn single_requests() -> Vec<Value> {
    let [v06, v07, ..] = ENTRY_POINTS;
    let empty = json!({});
    let plain = data_request();
    let with_params = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut request = plain.clone();
        request["params"].as_array_mut().into_iter().for_each(change);
        request
    };
    let mut requests = vec![
        // No stub request comes before them, and both are in flight at once.
        with_nonce("0x9"),
        with_nonce("0xa"),
        paymaster_request(
            &json!("3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
            STUB,
            &operation_of(v07),
            v07,
            &empty,
        ),
        paymaster_request(&json!(105), STUB, &operation_of(v06), v06, &empty),
        paymaster_request(
            &json!("call-104"),
            DATA,
            &with(operation_of(v07), &[("sender", PolicyConfig::DENIED_SENDER.into())]),
            v07,
            &empty,
        ),
        with_params(&|params| params.truncate(3)),
        with_params(&|params| params.push(json!("fifth"))),
        with_params(&|params| params[0]["nonce"] = json!(7)),
        plain.clone(),
        json!({ "method": DATA, "params": plain["params"], "jsonrpc": "2.0", "id": 104 }),
        json!({ "jsonrpc": "2.0", "id": 101, "method": "eth_chainId", "params": [] }),
        paymaster_request(&json!(102), DATA, &operation_of(v07), v07, &json!({ "token": UNSUPPORTED })),
    ];
    let chains = ["0x1", "0x7A69", "31337"];
    requests.extend(chains.map(|chain| with_params(&|params| params[2] = json!(chain))));
    requests
}

fn data_request() -> Value {
    let [_, v07, ..] = ENTRY_POINTS;
    paymaster_request(&json!(100), DATA, &operation_of(v07), v07, &json!({}))
}

fn with_nonce(nonce: &str) -> Value {
    let [_, v07, ..] = ENTRY_POINTS;
    let operation = with(operation_of(v07), &[("nonce", json!(nonce))]);
    paymaster_request(&json!(103), DATA, &operation, v07, &json!({}))
}

/// Operations of 0.8 with values that a service may treat as special.
fn special_operations(authorization: &Value) -> [Value; 17] {
    let zeros = ["chainId", "yParity"].map(|member| (member, json!("0x0")));
    let [_, _, v08, _] = ENTRY_POINTS;
    [
        ("eip7702Auth", with(authorization.clone(), &zeros)),
        ("factoryData", json!(format!("0x{}", "5a".repeat(1_100)))),
        ("factoryData", json!(format!("0x1688f0b9{}", "00".repeat(96)))),
        ("factoryData", json!("0x")),
        ("paymasterVerificationGasLimit", Value::Null),
        ("paymasterVerificationGasLimit", json!("0x30d40")),
        ("nonce", json!("0x0")),
        ("callData", json!("0x")),
        ("callData", json!(format!("0x{}", "5a".repeat(3_000)))),
        ("callGasLimit", json!("0xea61")),
        ("preVerificationGas", json!("0x12a05f201")),
        ("verificationGasLimit", json!("0x162010")),
        ("verificationGasLimit", json!("0xc350")),
        ("maxPriorityFeePerGas", json!("0x9502f9000")),
        ("maxPriorityFeePerGas", json!("0x77359400")),
        ("maxPriorityFeePerGas", json!("0x0")),
        ("sender", json!(PolicyConfig::DENIED_SENDER.replace("deadbeef", "DeaDBeef"))),
    ]
    .map(|(member, value)| {
        let factory = (member == "factoryData").then(|| ("factory", json!(USDC)));
        with(with(operation_of(v08), factory.as_slice()), &[(member, value)])
    })
}

fn paymaster_request(
    id: &Value,
    method: &str,
    operation: &Value,
    entry_point: &str,
    context: &Value,
) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": [operation, entry_point, "0x7a69", context] })
}

fn operation_of(entry_point: &str) -> Value {
    let mut operation = json!({
        "sender": "0x00000000000000000000000000000000000000ab",
        "nonce": "0x7",
        "callData": "0xdeadbeef",
        "callGasLimit": "0xea60",
        "verificationGasLimit": "0x1d4c0",
        "preVerificationGas": "0xafc8",
        "maxFeePerGas": "0x77359400",
        "maxPriorityFeePerGas": "0x3b9aca00",
    });
    if entry_point == ENTRY_POINTS[0] {
        operation["initCode"] = json!("0x");
    }
    operation
}
