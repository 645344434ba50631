//! `--rpc-url` with ERC-7677. The node of these tests answers `eth_call` as the reference server's contract does on a chain.

use alloy_primitives::{Address, B256, Bytes as Data, U256, hex};
use alloy_sol_types::{Revert, SolError, SolValue};
use paymaster_ethereum::{
    ContractKind, EntryPointVersion, Operation, PackedUserOperation, UserOperation, signer_call,
};

use crate::*;

/// What validation takes of gas.
const GAS: u64 = 20_000;
/// An address without code.
const NOWHERE: &str = "0x00000000000000000000000000000000000000ee";
/// A bundler for which the contract reverts as for everyone.
const BUNDLER: &str = "0x00000000000000000000000000000000000000b1";
const REASON: &str = "no such signature";

fn profile() -> String {
    to_profile("erc-7677", &Config::default(), &[]).unwrap()
}

/// A node of this chain, and the methods that it was asked.
fn node(chain: u64) -> (Server, Arc<Mutex<BTreeSet<String>>>) {
    node_after(chain, 0)
}

/// The same, after that many operations of every sender: the contract for 0.6 counts them.
fn node_after(chain: u64, operations: u64) -> (Server, Arc<Mutex<BTreeSet<String>>>) {
    let asked = Arc::new(Mutex::new(BTreeSet::new()));
    let methods = Arc::clone(&asked);
    let stated: toml::Value = toml::from_str(&profile()).unwrap();
    let signer: Address = stated["contract"]["signer"].as_str().unwrap().parse().unwrap();
    let server = Server::hooked(move |_, body, mut response| {
        let request: Value = serde_json::from_slice(body).unwrap();
        let method = request["method"].as_str().unwrap();
        methods.lock().unwrap().insert(method.to_owned());
        let params = &request["params"];
        let validated = |call: &Value| validated(call, chain, signer, U256::from(operations));
        let mut answer = if method == "eth_chainId" {
            json!({ "result": format!("{chain:#x}") })
        } else if EntryPointVersion::at(params[0]["to"].as_str().unwrap()).is_some() && params[2].is_null() {
            bundled(&params[0])
        } else if params[2].is_null() {
            validated(&params[0])
        } else {
            json!({ "result": format!("0x{:064x}", u8::from(succeeds(params, validated))) })
        };
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = request["id"].clone();
        *response.body_mut() = Full::new(Bytes::from(answer.to_string()));
        response
    });
    (server, asked)
}

/// What `handleOps` does for an operation whose paymaster reverts: for another bundler it has another reason.
fn bundled(call: &Value) -> Value {
    let is_known = call["from"].as_str().unwrap().eq_ignore_ascii_case(BUNDLER);
    let reason = format!("AA33 reverted: {}", if is_known { REASON } else { "bundler not allowed" });
    // FailedOp(uint256,string)
    let data = [hex!("220266b6").to_vec(), (U256::ZERO, reason).abi_encode_params()].concat();
    let data = hex::encode_prefixed(data);
    json!({ "error": { "code": 3, "message": "execution reverted", "data": data } })
}

/// Whether the call succeeds that the EntryPoint makes with its other code: the gas, the contract and the data are in the data of the outer call.
fn succeeds(params: &Value, validated: impl Fn(&Value) -> Value) -> bool {
    let entry_point = &params[0]["to"];
    assert!(params[2][entry_point.as_str().unwrap()]["code"].is_string(), "{params}");
    let data = hex::decode(params[0]["data"].as_str().unwrap()).unwrap();
    let contract = Address::from_slice(&data[44..64]).to_string();
    let inner = json!({ "from": entry_point, "to": contract, "data": hex::encode_prefixed(&data[64..]), "gas": "0x0" });
    U256::from_be_slice(&data[..32]) >= U256::from(GAS) && validated(&inner).get("error").is_none()
}

/// What `validatePaymasterUserOp` of the verifying paymaster does with a call of its EntryPoint, with enough gas.
fn validated(call: &Value, chain: u64, signer: Address, sender_nonce: U256) -> Value {
    if call["to"].as_str().unwrap().eq_ignore_ascii_case(NOWHERE) {
        return json!({ "result": "0x" });
    }
    let data = hex::decode(call["data"].as_str().unwrap()).unwrap();
    let reason = hex::encode_prefixed(Revert::from(REASON).abi_encode());
    let revert = || json!({ "error": { "code": 3, "message": "execution reverted", "data": reason } });
    if !call["gas"].is_string() {
        // The contract has verifyingSigner(), and no list of bundlers.
        let has_it = data == signer_call();
        return if has_it { json!({ "result": hex::encode_prefixed(signer.into_word()) }) } else { revert() };
    }
    let version = EntryPointVersion::at(call["from"].as_str().unwrap()).unwrap();
    let operation = operation(version, &data[4..]);
    let kind =
        if version == EntryPointVersion::V06 { ContractKind::Verifying06 } else { ContractKind::Verifying07 };
    let Ok(terms) = kind.read(&operation) else { return revert() };
    let Ok(recovered) = kind.signer(&operation, chain, sender_nonce) else { return revert() };
    let word = U256::from(terms.window.valid_after) << 208
        | U256::from(terms.window.valid_until) << 160
        | U256::from(recovered != signer);
    json!({ "result": hex::encode_prefixed((Data::new(), word).abi_encode_params()) })
}

fn operation(version: EntryPointVersion, params: &[u8]) -> Operation {
    let half = |word: B256, place: usize| U256::from_be_slice(&word[16 * place..16 * (place + 1)]);
    if version == EntryPointVersion::V06 {
        let (members, _, _) = <(UserOperation, B256, U256)>::abi_decode_params(params).unwrap();
        return Operation { version, members, delegate: None };
    }
    let (sent, _, _) = <(PackedUserOperation, B256, U256)>::abi_decode_params(params).unwrap();
    let members = UserOperation {
        sender: sent.sender,
        nonce: sent.nonce,
        initCode: sent.initCode,
        callData: sent.callData,
        callGasLimit: half(sent.accountGasLimits, 1),
        verificationGasLimit: half(sent.accountGasLimits, 0),
        preVerificationGas: sent.preVerificationGas,
        maxFeePerGas: half(sent.gasFees, 1),
        maxPriorityFeePerGas: half(sent.gasFees, 0),
        paymasterAndData: sent.paymasterAndData,
        signature: sent.signature,
    };
    Operation { version, members, delegate: None }
}

const RULES: [&str; 4] = ["data.accepted", "stub.simulates", "is-final.accepted", "stub.verification-gas"];

/// A run of the rules that need a chain, with this profile: exit code and report.
fn judged(url: &str, node: &Server, profile: &str) -> (i32, String) {
    judged_by(&RULES, url, node, profile)
}

/// A run of these rules, or of all where none is named.
fn judged_by(rules: &[&str], url: &str, node: &Server, profile: &str) -> (i32, String) {
    let folder = with_profile(profile);
    let rpc = node.url();
    let mut arguments =
        vec![url, "--spec", "erc-7677", "--rpc-url", &rpc, "--cases", "24", "--no-shrink", "-v"];
    arguments.extend(rules.iter().flat_map(|rule| ["--rule", rule]));
    let (code, out, err) = run(&folder, &arguments);
    (code, format!("{}{err}", flat(&out)))
}

fn chain_id() -> u64 {
    let stated: toml::Value = toml::from_str(&profile()).unwrap();
    stated["service"]["chain-id"].as_integer().unwrap().try_into().unwrap()
}

#[test]
fn a_right_service_is_accepted_on_its_chain_and_the_node_gets_calls_only() {
    let (node, asked) = node(chain_id());
    let server = Injected::sound();
    let (code, out) = judged(&server.url, &node, &profile());
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("4 rules: 3 passed, 1 not applicable"), "{out}");
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked, ["eth_call", "eth_chainId"].map(str::to_owned).into());
}

#[test]
fn what_the_contract_refuses_is_broken() {
    let (node, _) = node(chain_id());
    for (fault, rule, words) in [
        ("signed-for-zero-limits", "data.accepted", "AA34"),
        ("constant-limits-signed", "data.accepted", "AA34"),
        ("own-estimate-signed", "data.accepted", "AA34"),
        ("gas-limits-swapped", "data.accepted", "AA34"),
        ("fees-swapped", "data.accepted", "AA34"),
        ("factory-not-signed", "data.accepted", "AA34"),
        ("nonce-cut", "data.accepted", "AA34"),
        ("call-of-the-stub-signed", "data.accepted", "AA34"),
        ("signature-of-another-digest", "data.accepted", "AA34"),
        ("data-expired", "data.accepted", "AA34"),
        ("stub-called-final", "is-final.accepted", "AA34"),
        ("final-for-zero-limits", "is-final.accepted", "AA34"),
    ] {
        let (code, out) = judged(&Injected::fault(fault).url, &node, &profile());
        assert_eq!(code, 1, "{fault}: {out}");
        let is_broken = |rule: &str| out.contains(&format!("breaks {rule} "));
        assert!(is_broken(rule) && out.contains(words), "{fault}: {out}");
        assert!(RULES.iter().all(|other| *other == rule || !is_broken(other)), "{fault}: {out}");
    }
}

/// Changes a result.
type Change = fn(&mut Value);

/// Changes the stubs of the reference server.
fn stubs(change: Change) -> Server {
    Server::changing(move |_, request, answer| {
        if request["method"] == "pm_getPaymasterStubData" && answer["result"].is_object() {
            change(&mut answer["result"]);
        }
    })
}

/// Replaces digits from the end of the paymaster's data.
fn end_with(result: &mut Value, end: &str) {
    for member in ["paymasterData", "paymasterAndData"] {
        if let Some(data) = result[member].as_str() {
            result[member] = format!("{}{end}", &data[..data.len() - end.len()]).into();
        }
    }
}

/// Data that end before their times.
fn end_before_the_times(result: &mut Value) {
    for (member, end) in [("paymasterData", 42), ("paymasterAndData", 82)] {
        if let Some(data) = result[member].as_str() {
            result[member] = data[..end].into();
        }
    }
}

#[test]
fn a_stub_that_reverts_or_whose_paymaster_is_missing_is_broken() {
    let (node, _) = node(chain_id());
    let changes: [(Change, &str, &str); 4] = [
        // A v that no signature has.
        (|result| end_with(result, "05"), "stub.simulates", "AA33"),
        (end_before_the_times, "stub.simulates", "AA33"),
        (
            |result| {
                if result["paymaster"].is_string() {
                    result["paymaster"] = NOWHERE.into();
                }
            },
            "stub.simulates",
            "no code",
        ),
        (
            |result| {
                if result["paymasterVerificationGasLimit"].is_string() {
                    result["paymasterVerificationGasLimit"] = "0x3e8".into();
                }
            },
            "stub.verification-gas",
            "AA36",
        ),
    ];
    for (change, rule, words) in changes {
        let (code, out) = judged(&stubs(change).url(), &node, &profile());
        assert_eq!(code, 1, "{out}");
        assert!(out.contains(&format!("breaks {rule} ")) && out.contains(words), "{rule}: {out}");
    }
}

#[test]
fn a_count_of_operations_and_a_suffix_of_0_9_that_are_wrong_are_broken() {
    let (after, _) = node_after(chain_id(), 1);
    let (code, out) = judged(&Injected::sound().url, &after, &profile());
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("breaks data.accepted ") && out.contains("EntryPoint 0.6"), "{out}");

    // A paymasterSignature whose length is not the one that its suffix states.
    let server = Server::changing(|_, request, answer| {
        let version = request["params"][1].as_str().and_then(EntryPointVersion::at);
        if request["method"] == "pm_getPaymasterData"
            && version == Some(EntryPointVersion::V09)
            && let Some(data) = answer["result"]["paymasterData"].as_str()
        {
            answer["result"]["paymasterData"] = format!("{data}aabb000522e325a297439656").into();
        }
    });
    let (own, _) = node(chain_id());
    let (code, out) = judged(&server.url(), &own, &profile());
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("breaks data.accepted ") && out.contains("AA33"), "{out}");
}

#[test]
fn a_revert_counts_where_a_bundler_of_the_profile_gets_it_too_for_the_same_reason() {
    let (own, _) = node(chain_id());
    let reverting = stubs(|result| end_with(result, "05"));
    let profile = profile();
    let (nameless, _) = profile.split_once("[contract]").unwrap();
    let with = |bundler: &str| format!("{nameless}[contract]\nbundler = \"{bundler}\"\n");
    let (code, out) = judged(&reverting.url(), &own, &with(BUNDLER));
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("breaks stub.simulates ") && out.contains(REASON), "{out}");
    let token = with(BUNDLER).replacen("[service]", "[service]\ncontext = { token = \"USDC\" }", 1);
    assert!(token.contains("USDC"), "{token}");
    for accuses_nobody in [with(NOWHERE), token] {
        let (_, out) = judged(&reverting.url(), &own, &accuses_nobody);
        assert!(!out.contains("breaks stub.simulates"), "{out}");
        assert!(out.contains("a revert that may have another reason"), "{out}");
    }
}

#[test]
fn what_may_have_another_reason_accuses_nobody() {
    let reverting: Change = |result| end_with(result, "05");
    let (own, _) = node(chain_id());
    // A contract that the profile does not name.
    let profile = profile();
    let (nameless, _) = profile.split_once("[contract]").unwrap();
    let (_, out) = judged(&stubs(reverting).url(), &own, nameless);
    assert!(!out.contains("breaks stub.simulates"), "{out}");
    let (_, observed) = out.split_once("observed.node (").unwrap();
    assert!(observed.contains("): a revert that may have another reason"), "{out}");
    // A contract that has other functions than the kind that the profile names.
    let mut wrong: toml::Table = toml::from_str(&profile).unwrap();
    wrong["contract"]["kind"] = toml::toml! { "0.6" = "coinbase-0.6"
    "0.7" = "coinbase-0.7" }
    .into();
    let (_, out) = judged(&stubs(end_before_the_times).url(), &own, &toml::to_string(&wrong).unwrap());
    assert!(!out.contains("breaks stub.simulates"), "{out}");
    // A signer that the contract does not have: the contract decides, whatever relation an answer is of.
    wrong["contract"]["kind"] = toml::from_str::<toml::Table>(&profile).unwrap()["contract"]["kind"].clone();
    wrong["contract"]["signer"] = NOWHERE.into();
    let (code, out) = judged_by(&[], &Injected::sound().url, &own, &toml::to_string(&wrong).unwrap());
    assert_eq!(code, 0, "{out}");
    has(&out, &["not signed as the profile says: correct contract.kind and contract.signer"]);
    lacks(&out, &["breaks data.signature"]);
    // A node of another chain.
    let (other, _) = node(chain_id() + 1);
    let (code, out) = judged(&Injected::fault("fees-swapped").url, &other, &profile);
    assert_eq!(code, 0, "{out}");
    has(&out, &[&format!("the node is of chain {}", chain_id() + 1), "3 inconclusive"]);
}
