//! The methods of ERC-7677: what they take, what they refuse, and what the data sign.

use alloy_primitives::{Address, B256, U256};
use alloy_sol_types::SolValue;
use paymaster_reference_server::Layout;

use crate::{signature::recovered, *};

const STUB: &str = "pm_getPaymasterStubData";
const DATA: &str = "pm_getPaymasterData";
const ENTRY_POINTS: [&str; 4] = [
    "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
    "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
    "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
    "0x433709009B8330FDa32311DF1C2AFA402eD8D009",
];

/// The operation of the published vectors.
fn operation(entry_point: &str) -> Value {
    let mut operation = json!({
        "sender": "0x1306b01bc3e4ad202612d3843387e94737673f53",
        "nonce": "0x1a2b3c0000000000000000",
        "callData": "0xb61d27f6",
        "callGasLimit": "0x186a0",
        "verificationGasLimit": "0x30d40",
        "preVerificationGas": "0xc350",
        "maxFeePerGas": "0xb2d05e00",
        "maxPriorityFeePerGas": "0x3b9aca00",
    });
    if entry_point == ENTRY_POINTS[0] {
        operation["initCode"] = json!("0x");
    }
    operation
}

fn with(mut value: Value, members: &Value) -> Value {
    for (name, member) in members.as_object().expect("members") {
        value[name] = member.clone();
    }
    value
}

fn request(method: &str, operation: &Value, entry_point: &str, context: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": [operation, entry_point, "0x7a69", context] })
}

fn singleton() -> Service {
    let mut config = Config::default();
    config.paymaster_data.layout = Layout::Singleton;
    Service::new(&config).expect("the configuration is valid")
}

fn code(service: &Service, request: &Value) -> i64 {
    let answer = answer_with(service, &request.to_string());
    assert!(answer.get("result").is_none(), "{answer}");
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error in {answer}"))
}

fn result_of(service: &Service, request: &Value) -> Value {
    let answer = answer_with(service, &request.to_string());
    answer.get("result").cloned().unwrap_or_else(|| panic!("no result in {answer} for {request}"))
}

/// The examples of a request document, as published clients send them.
fn examples(document: &str) -> Vec<Value> {
    let folder = format!("{}/../schemas/erc-7677/examples/{document}/valid", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).expect("the examples");
    let texts =
        entries.map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("a text"));
    texts.map(|text| serde_json::from_str(&text).expect("JSON")).collect()
}

#[test]
fn every_form_that_clients_send_is_served_with_a_valid_answer() {
    for service in [service(), singleton()] {
        for kind in ["stub", "data"] {
            for version in ["06", "07"] {
                let answers = validator_for(&format!("{kind}-answer-{version}")).expect("a document");
                for mut request in examples(&format!("{kind}-request-{version}")) {
                    if request["params"][3].get("token").is_some() {
                        request["params"][3]["token"] = json!(USDC);
                    }
                    let answer = answer_with(&service, &request.to_string());
                    let errors: Vec<String> =
                        answers.iter_errors(&answer).map(|error| error.to_string()).collect();
                    assert!(errors.is_empty(), "{errors:?} in {answer} for {request}");
                    assert_eq!(answer["id"], request["id"]);
                }
            }
        }
    }
}

#[test]
fn an_entry_point_is_known_in_any_letter_case_and_decides_the_members() {
    for entry_point in ENTRY_POINTS {
        for spelling in [entry_point.to_owned(), entry_point.to_lowercase()] {
            let result =
                result_of(&service(), &request(STUB, &operation(entry_point), &spelling, &Value::Null));
            let is_06 = entry_point == ENTRY_POINTS[0];
            assert_eq!(result.get("paymasterAndData").is_some(), is_06, "{result}");
            assert_eq!(result.get("paymasterPostOpGasLimit").is_some(), !is_06, "{result}");
            assert_eq!(result["isFinal"], false);
            assert!(
                result["sponsor"]["icon"].as_str().is_some_and(|icon| icon.starts_with("data:")),
                "{result}"
            );
        }
    }
}

#[test]
fn what_the_data_call_refuses_the_stub_call_refuses() {
    let [v06, v07, ..] = ENTRY_POINTS;
    let good = |entry_point| request(STUB, &operation(entry_point), entry_point, &json!({}));
    let changed = |pointer: &str, value: Value| {
        let mut request = good(v07);
        *request.pointer_mut(pointer).expect("a member") = value;
        request
    };
    let denied = changed("/params/0/sender", json!(PolicyConfig::DENIED_SENDER));
    let mut with_init_code = good(v07);
    with_init_code["params"][0]["initCode"] = json!("0x");
    let mut wrong_version = good(v07);
    wrong_version["params"][1] = json!(v06);
    let mut half_a_factory = good(v07);
    half_a_factory["params"][0]["factory"] = json!(USDC);
    let invalid = ErrorCode::InvalidParams;
    for (mut request, expected) in [
        (denied, ErrorCode::NotSponsored),
        (changed("/params/1", json!(USDC)), invalid),
        (changed("/params/2", json!("0x1")), invalid),
        (changed("/params/0/nonce", json!("7")), invalid),
        (changed("/params/0/nonce", json!("0x")), invalid),
        (changed("/params/0/nonce", Value::Null), invalid),
        (changed("/params/0/callGasLimit", json!(format!("0x1{}", "0".repeat(30)))), invalid),
        (changed("/params/3", json!("context")), invalid),
        (changed("/params", json!({})), invalid),
        (changed("/params", json!([])), invalid),
        (with_init_code, invalid),
        (wrong_version, invalid),
        (half_a_factory, invalid),
    ] {
        for method in [STUB, DATA] {
            request["method"] = json!(method);
            assert_eq!(code(&service(), &request), i64::from(expected.code()), "{request}");
        }
    }
    let unsupported = request(DATA, &operation(v07), v07, &json!({ "token": v06 }));
    assert_eq!(code(&singleton(), &unsupported), i64::from(ErrorCode::TokenUnsupported.code()));
    let no_address = request(STUB, &operation(v07), v07, &json!({ "token": "USDC" }));
    assert_eq!(code(&singleton(), &no_address), i64::from(invalid.code()));
    result_of(&service(), &unsupported);
    let mut config = Config::default();
    config.paymaster_data.entry_points.remove(0);
    let later_only = Service::new(&config).expect("a service");
    assert_eq!(code(&later_only, &good(v06)), i64::from(invalid.code()));
}

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().expect("a string")).expect("hex")
}

#[test]
fn the_stub_has_the_length_of_the_data_and_no_more_zero_bytes() {
    for (service, context) in
        [(service(), json!({})), (singleton(), json!({})), (singleton(), json!({ "token": DAI }))]
    {
        for entry_point in ENTRY_POINTS {
            let member = if entry_point == ENTRY_POINTS[0] { "paymasterAndData" } else { "paymasterData" };
            for nonce in 0..20 {
                let operation = with(operation(entry_point), &json!({ "nonce": format!("{nonce:#x}") }));
                let [stub, data] = [STUB, DATA].map(|method| {
                    bytes(&result_of(&service, &request(method, &operation, entry_point, &context))[member])
                });
                let zeros = |data: &[u8]| data.split(|byte| *byte == 0).count();
                assert_eq!(stub.len(), data.len());
                assert!(zeros(&stub) <= zeros(&data), "{} and {}", hex::encode(&stub), hex::encode(&data));
            }
        }
    }
}

/// The members of the vectors' operation as later EntryPoints pack them.
fn packed() -> (Address, U256, B256, B256, B256, U256, B256) {
    let sender = "0x1306b01bc3e4ad202612d3843387e94737673f53".parse().expect("an address");
    let nonce = U256::from(0x1a_2b3c) << 64;
    let pair = |high: u64, low: u64| B256::from((U256::from(high) << 128) | U256::from(low));
    let (gas, fees) = (pair(200_000, 100_000), pair(1_000_000_000, 3_000_000_000));
    (sender, nonce, keccak256([]), keccak256(hex!("b61d27f6")), gas, U256::from(50_000), fees)
}

/// The hash of EntryPoint 0.7 for the operation of the vectors with this paymasterAndData.
fn operation_hash_07(paymaster_and_data: &[u8]) -> B256 {
    let (sender, nonce, init_code, call_data, gas, pre_verification, fees) = packed();
    let inner =
        (sender, nonce, init_code, call_data, gas, pre_verification, fees, keccak256(paymaster_and_data));
    let entry_point: Address = ENTRY_POINTS[1].parse().expect("an address");
    keccak256((keccak256(inner.abi_encode()), entry_point, U256::from(31_337)).abi_encode())
}

#[test]
fn the_operation_is_packed_as_the_published_vector() {
    let gas = [50_000_u128, 30_000].map(u128::to_be_bytes).concat();
    let data = [&[0x22; 20][..], &gas, &hex!("010203")].concat();
    let published = hex!("15ee72a16eee4681dec58438b11f7ff08544db15e02e593fc39590f350f4ecfd");
    assert_eq!(operation_hash_07(&data), B256::from(published));
}

#[test]
fn the_verifying_layout_is_signed_over_the_operation_and_the_limits_of_the_request() {
    let (sender, nonce, init_code, call_data, gas, pre_verification, fees) = packed();
    for (named, limits) in [(json!({}), [100_000_u64, 50_000]), (limits_of_the_request(), [0xc350, 0x7530])] {
        for entry_point in &ENTRY_POINTS[1..] {
            let operation = with(operation(entry_point), &named);
            let result = result_of(&service(), &request(DATA, &operation, entry_point, &json!({})));
            let returned = [&result["paymasterVerificationGasLimit"], &result["paymasterPostOpGasLimit"]];
            assert_eq!(returned, limits.map(|limit| json!(format!("{limit:#x}"))).each_ref());
            let paymaster = Address::from_slice(&bytes(&result["paymaster"]));
            let data = bytes(&result["paymasterData"]);
            assert_eq!(data.len(), 64 + 65);
            let limits = (U256::from(limits[0]) << 128) | U256::from(limits[1]);
            let (until, after) = (U256::from(NOW + 300), U256::ZERO);
            assert_eq!(data[..64], (until, after).abi_encode());
            let head = (sender, nonce, init_code, call_data, gas, limits, pre_verification, fees);
            let hash = keccak256((head, U256::from(31_337), paymaster, until, after).abi_encode());
            assert_eq!(recovered(hash.0, &data[64..]), TEST_ACCOUNT);
        }
    }
}

fn limits_of_the_request() -> Value {
    json!({ "paymasterVerificationGasLimit": "0xc350", "paymasterPostOpGasLimit": "0x7530" })
}

#[test]
fn the_singleton_layout_is_signed_over_its_own_data() {
    let (sender, nonce, init_code, call_data, gas, pre_verification, fees) = packed();
    for (context, length, mode) in [(json!({}), 13, 1), (json!({ "token": USDC }), 118, 3)] {
        for (place, entry_point) in ENTRY_POINTS[..3].iter().enumerate() {
            let operation =
                with(operation(entry_point), &if place == 0 { json!({}) } else { limits_of_the_request() });
            let result = result_of(&singleton(), &request(DATA, &operation, entry_point, &context));
            let whole = if place == 0 {
                bytes(&result["paymasterAndData"])
            } else {
                let gas = [0xc350_u128, 0x7530].map(u128::to_be_bytes).concat();
                [bytes(&result["paymaster"]), gas, bytes(&result["paymasterData"])].concat()
            };
            let start = if place == 0 { 20 } else { 52 };
            assert_eq!((whole.len(), whole[start]), (start + length + 65, mode));
            let (signed, signature) = whole.split_at(whole.len() - 65);
            let inner = if place == 0 {
                let gas = [100_000_u64, 200_000, 50_000, 3_000_000_000, 1_000_000_000].map(U256::from);
                (sender, nonce, gas, call_data, init_code, keccak256(signed)).abi_encode()
            } else {
                let head = (sender, nonce, gas, pre_verification, fees);
                (head, init_code, call_data, keccak256(signed)).abi_encode()
            };
            let hash = keccak256((keccak256(inner), U256::from(31_337)).abi_encode());
            let hash = if place == 2 { keccak256((hash, B256::ZERO).abi_encode()) } else { hash };
            assert_eq!(recovered(hash.0, signature), TEST_ACCOUNT);
        }
    }
}

#[test]
fn a_delegated_sender_is_signed_with_its_code() {
    let authorization = json!({ "address": DAI, "chainId": "0x7a69", "nonce": "0x0", "r": "0x1", "s": "0x1", "yParity": "0x0" });
    let members = json!({ "factory": "0x7702", "factoryData": "0xabcd", "eip7702Auth": authorization });
    let operation = with(with(operation(ENTRY_POINTS[2]), &members), &limits_of_the_request());
    let result = result_of(&singleton(), &request(DATA, &operation, ENTRY_POINTS[2], &json!({})));
    let (sender, nonce, _, call_data, gas, pre_verification, fees) = packed();
    let init_code = [&hex!("7702")[..], &[0; 18], &hex!("abcd")].concat();
    let limits = [0xc350_u128, 0x7530].map(u128::to_be_bytes).concat();
    let whole = [bytes(&result["paymaster"]), limits, bytes(&result["paymasterData"])].concat();
    let (signed, signature) = whole.split_at(whole.len() - 65);
    let head = (sender, nonce, gas, pre_verification, fees);
    let inner = (head, keccak256(init_code), call_data, keccak256(signed)).abi_encode();
    let hash = keccak256((keccak256(inner), U256::from(31_337)).abi_encode());
    let code = [&hex::decode(DAI).expect("hex")[..], &hex!("abcd")].concat();
    let hash = keccak256((hash, keccak256(code)).abi_encode());
    assert_eq!(recovered(hash.0, signature), TEST_ACCOUNT);
}

#[test]
fn data_of_0_6_are_those_of_the_first_specification() {
    let operation = operation(ENTRY_POINTS[0]);
    let ours = result_of(&service(), &request(DATA, &operation, ENTRY_POINTS[0], &json!({})));
    let mode = json!({ "mode": "SPONSORED", "calculateGasLimits": true });
    let theirs = result(&support::request("pm_sponsorUserOperation", &operation, &mode));
    assert_eq!(ours["paymasterAndData"], theirs["paymasterAndData"]);
}

/// The JSON pointers of every value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| pointers(member, &format!("{at}/{name}"), found));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| pointers(item, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

#[test]
fn what_the_documents_refuse_the_server_refuses() {
    let replacements =
        [Value::Null, json!(7), json!("x"), json!("0x"), json!("0x1"), json!("0x123"), json!({}), json!([])];
    let mut refused = 0;
    for document in ["stub-request-06", "stub-request-07", "data-request-06", "data-request-07"] {
        let validator = validator_for(document).expect("a document");
        for request in examples(document) {
            let mut places = Vec::new();
            pointers(&request, "", &mut places);
            for (place, replacement) in
                places[1..].iter().flat_map(|place| replacements.iter().map(move |it| (place, it)))
            {
                let mut changed = request.clone();
                *changed.pointer_mut(place).expect("it was found") = replacement.clone();
                if !validator.is_valid(&changed) {
                    refused += 1;
                    let answer = answer_with(&service(), &changed.to_string());
                    assert!(answer.get("error").is_some(), "{place}: {replacement}: {answer}");
                }
            }
        }
    }
    assert!(refused > 1_000, "only {refused}");
}

#[test]
fn the_profile_states_what_is_served() {
    let mut config = Config::default();
    let profile = to_profile("erc-7677", &config, &[]).expect("a profile");
    for line in [
        r#"entry-points = ["0.6", "0.7", "0.8", "0.9"]"#,
        "chain-id = 31337",
        r#"accepts = "any""#,
        r#"sender = "0x00000000000000000000000000000000deadbeef""#,
        r#""0.8" = "verifying-0.7""#,
        &format!("signer = \"{}\"", service().signer_address()),
    ] {
        assert!(profile.contains(line), "{line} is missing in {profile}");
    }
    config.paymaster_data.layout = Layout::Singleton;
    config.paymaster_data.entry_points.pop();
    let profile = to_profile("erc-7677", &config, &[find_variant("context-required").expect("a variant")])
        .expect("a profile");
    assert!(profile.contains(r#""0.8" = "singleton-0.8""#) && !profile.contains("0.9"), "{profile}");
    assert!(profile.contains("policyId") && profile.contains(r#"accepts = "unknown""#), "{profile}");
}
