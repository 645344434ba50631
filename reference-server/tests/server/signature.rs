//! The signature of `paymasterAndData`: the tests build the hash word by word, without the code of the server, and recover the
//! signer from the response.

use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};

use crate::*;

/// The account of the well-known test key.
pub(crate) const TEST_ACCOUNT: &str = "f39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const SPONSORSHIP_PAYMASTER: &str = "00000f79b7faf42eebadba19acc07cd08af44789";
const TOKEN_PAYMASTER: &str = "00000f7365ca6c59a2c93719ad53d567ed49c14c";
const CHAIN_ID: u128 = 31337;

/// A 32-byte word of a number.
fn word(number: u128) -> Vec<u8> {
    [vec![0; 16], number.to_be_bytes().to_vec()].concat()
}

/// A 32-byte word of an address in hex digits.
fn address_word(digits: &str) -> Vec<u8> {
    [vec![0; 12], bytes(digits)].concat()
}

fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits).expect("hex digits")
}

/// The length word of some bytes, and the bytes padded to whole words.
fn counted(content: &[u8]) -> Vec<u8> {
    let padding = (32 - content.len() % 32) % 32;
    [word(content.len() as u128), content.to_vec(), vec![0; padding]].concat()
}

/// The operation values that a signature covers.
struct Signed<'a> {
    sender: &'a str,
    nonce: u128,
    init_code: &'a [u8],
    call_data: &'a [u8],
    /// The returned call, verification and pre-verification limits.
    gas: [u128; 3],
    fees: [u128; 2],
}

/// The ABI encoding of the operation up to the length of its `paymasterAndData`, which has this length.
fn pack(signed: &Signed<'_>, paymaster_and_data_length: usize) -> Vec<u8> {
    let init_code = counted(signed.init_code);
    let call_data = counted(signed.call_data);
    let init_code_at = 11 * 32;
    let call_data_at = init_code_at + init_code.len();
    let paymaster_and_data_at = call_data_at + call_data.len();
    let signature_at = paymaster_and_data_at + counted(&vec![0; paymaster_and_data_length]).len();
    [
        address_word(signed.sender),
        word(signed.nonce),
        word(init_code_at as u128),
        word(call_data_at as u128),
        word(signed.gas[0]),
        word(signed.gas[1]),
        word(signed.gas[2]),
        word(signed.fees[0]),
        word(signed.fees[1]),
        word(paymaster_and_data_at as u128),
        word(signature_at as u128),
        init_code,
        call_data,
    ]
    .concat()
}

/// The hash of the packed operation and the words after it.
fn hash(packed: &[u8], words: &[Vec<u8>]) -> [u8; 32] {
    let head_words = 1 + words.len() as u128;
    let encoded = [word(head_words * 32), words.concat(), counted(packed)].concat();
    keccak256(encoded).0
}

/// The account, in hex digits, that signed the EIP-191 form of `hash`.
pub(crate) fn recovered(hash: [u8; 32], signature: &[u8]) -> String {
    let digest = keccak256([b"\x19Ethereum Signed Message:\n32".as_slice(), &hash].concat());
    let v = signature[64];
    assert!(v == 27 || v == 28, "{v}");
    let recovery = RecoveryId::new(v == 28, false);
    let rs = Signature::from_slice(&signature[..64]).expect("r and s");
    let key = VerifyingKey::recover_from_prehash(digest.as_slice(), &rs, recovery).expect("a key");
    let point = key.to_sec1_point(false);
    hex::encode(&keccak256(&point.as_bytes()[1..])[12..])
}

fn number(value: &Value) -> u128 {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).parse().expect("a number")
}

/// The bytes of `paymasterAndData` and the returned gas limits.
fn signed_result(service: &Service, request: &Value) -> (Vec<u8>, [u128; 3]) {
    read_result(&answer_with(service, &request.to_string()))
}

fn read_result(answer: &Value) -> (Vec<u8>, [u128; 3]) {
    let result = &answer["result"];
    let data = result["paymasterAndData"].as_str().expect("a string").strip_prefix("0x").expect("0x");
    let gas =
        ["callGasLimit", "verificationGasLimit", "preVerificationGas"].map(|name| number(&result[name]));
    (bytes(data), gas)
}

/// The sample operation, and its signed values with these gas limits.
fn sample(gas: [u128; 3]) -> (Value, Signed<'static>) {
    let signed = Signed {
        sender: "1306b01bC3e4AD202612D3843387e94737673F53",
        nonce: 42,
        init_code: &[],
        call_data: &[0xb6, 0x1d, 0x27, 0xf6],
        gas,
        fees: [20_000_000_000, 1_500_000_000],
    };
    (operation(), signed)
}

/// The hash of a sponsorship.
fn sponsorship_hash(signed: &Signed<'_>, chain_id: u128, valid_until: u64) -> [u8; 32] {
    sponsorship_hash_after(signed, chain_id, 0, valid_until)
}

/// The hash of a sponsorship for a sender with this nonce.
fn sponsorship_hash_after(
    signed: &Signed<'_>,
    chain_id: u128,
    sender_nonce: u128,
    valid_until: u64,
) -> [u8; 32] {
    let words = [
        word(chain_id),
        address_word(SPONSORSHIP_PAYMASTER),
        word(sender_nonce),
        word(u128::from(valid_until)),
        word(0),
    ];
    hash(&pack(signed, 20 + 64 + 65), &words)
}

/// The account that signed the sponsorship in `answer`, for the sample operation with this sender and nonce.
pub(crate) fn recovered_sponsorship(sender: &str, sender_nonce: u128, answer: &Value) -> String {
    let (data, gas) = read_result(answer);
    let (_, sample) = sample(gas);
    let signed = Signed { sender: &sender[2..], ..sample };
    let valid_until = u64::from_be_bytes(data[44..52].try_into().expect("8 bytes"));
    let hash = sponsorship_hash_after(&signed, CHAIN_ID, sender_nonce, valid_until);
    recovered(hash, &data[84..])
}

fn sponsored(operation: &Value, seconds: &Value) -> Value {
    request("pm_sponsorUserOperation", operation, &json!({ "mode": "SPONSORED", "expiryDuration": seconds }))
}

#[test]
fn a_sponsorship_recovers_to_the_configured_key() {
    let (operation, _) = sample([0; 3]);
    let (data, gas) = signed_result(&service(), &sponsored(&operation, &json!(300)));
    let (_, signed) = sample(gas);
    assert_eq!(gas, [100_000, 200_000, 50_000]);
    assert_eq!(data.len(), 20 + 64 + 65);
    assert_eq!(data[..20], bytes(SPONSORSHIP_PAYMASTER));
    assert_eq!(data[20..52], word(u128::from(NOW) + 300));
    assert_eq!(data[52..84], word(0));
    let hash = sponsorship_hash(&signed, CHAIN_ID, NOW + 300);
    assert_eq!(recovered(hash, &data[84..]), TEST_ACCOUNT);
}

#[test]
fn the_hash_covers_init_code_long_data_and_estimated_limits() {
    let init_code: Vec<u8> = (0..=99).collect();
    let call_data: Vec<u8> = (0..=255).cycle().take(1024).collect();
    let mut operation = operation();
    operation["initCode"] = json!(hex::encode_prefixed(&init_code));
    operation["callData"] = json!(hex::encode_prefixed(&call_data));
    operation["nonce"] = json!("0xffffffffffffffffffffffffffffffff");
    for name in ["callGasLimit", "verificationGasLimit", "preVerificationGas"] {
        operation.as_object_mut().unwrap().remove(name);
    }
    let (data, gas) = signed_result(&service(), &sponsored(&operation, &json!(10)));
    let (_, sample) = sample(gas);
    let signed = Signed { nonce: u128::MAX, init_code: &init_code, call_data: &call_data, ..sample };
    assert_eq!(recovered(sponsorship_hash(&signed, CHAIN_ID, NOW + 10), &data[84..]), TEST_ACCOUNT);
    // The contract would reject the signature for a limit other than the returned one.
    let other = Signed { gas: [gas[0] + 1, gas[1], gas[2]], ..signed };
    assert_ne!(recovered(sponsorship_hash(&other, CHAIN_ID, NOW + 10), &data[84..]), TEST_ACCOUNT);
}

#[test]
fn chain_and_key_are_the_configured_ones() {
    let mut config = Config::default();
    config.signing.chain_id = 137;
    // The account of the private key 1 is well known.
    config.signing.key = paymaster_reference_server::Secret::new(format!("0x{:064x}", 1));
    let service = Service::new(&config).unwrap();
    let (operation, _) = sample([0; 3]);
    let (data, gas) = signed_result(&service, &sponsored(&operation, &json!(1)));
    let hash = sponsorship_hash(&sample(gas).1, 137, NOW + 1);
    assert_eq!(recovered(hash, &data[84..]), "7e5f4552091a69125d5dfcb7b8c2659029395bdf");
    assert_eq!(service.signer_address().to_lowercase(), "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf");
}

#[test]
fn the_expiry_is_rounded_down_and_has_a_default() {
    let (operation, _) = sample([0; 3]);
    let valid_until = |seconds: Option<Value>| {
        let mut request = sponsored(&operation, &json!(0));
        match seconds {
            Some(seconds) => request["params"][1]["expiryDuration"] = seconds,
            None => {
                request["params"][1].as_object_mut().unwrap().remove("expiryDuration");
            }
        }
        let (data, _) = signed_result(&service(), &request);
        u128::from_be_bytes(data[36..52].try_into().unwrap())
    };
    let now = u128::from(NOW);
    assert_eq!(valid_until(None), now + 300);
    assert_eq!(valid_until(Some(json!(0))), now);
    assert_eq!(valid_until(Some(json!(2.9))), now + 2);
    assert_eq!(valid_until(Some(serde_json::from_str("1e30").unwrap())), (1 << 48) - 1);
}

#[test]
fn a_token_payment_covers_token_rate_and_expiry() {
    let (operation, _) = sample([0; 3]);
    let mode = json!({ "mode": "ERC20", "tokenInfo": { "feeTokenAddress": USDC } });
    let (data, gas) = signed_result(&service(), &request("pm_sponsorUserOperation", &operation, &mode));
    let (_, signed) = sample(gas);
    let terms =
        [address_word(&USDC[2..]), word(1_831_520_000_000_000_000_000), word(u128::from(NOW) + 300), word(0)];
    assert_eq!(data.len(), 20 + 128 + 65);
    assert_eq!(data[..20], bytes(TOKEN_PAYMASTER));
    assert_eq!(data[20..148], terms.concat());
    let packed = pack(&signed, 20 + 128 + 65);
    let head = [word(CHAIN_ID), address_word(TOKEN_PAYMASTER), word(0)];
    assert_eq!(recovered(hash(&packed, &[&head[..], &terms].concat()), &data[148..]), TEST_ACCOUNT);
}

#[test]
fn without_signing_only_the_signature_is_zero() {
    let mut config = Config::default();
    config.signing.enabled = false;
    let service = Service::new(&config).unwrap();
    let (operation, _) = sample([0; 3]);
    let (data, _) = signed_result(&service, &sponsored(&operation, &json!(300)));
    assert_eq!(data[..20], bytes(SPONSORSHIP_PAYMASTER));
    assert_eq!(data[20..52], word(u128::from(NOW) + 300));
    assert_eq!(data[84..], [0; 65]);
}
