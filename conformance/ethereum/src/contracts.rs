//! What published paymaster contracts sign: how their data are laid out, the hash, and the account that signed it.

use alloy_primitives::{Address, B256, Bytes, U256, aliases::U48, eip191_hash_message, keccak256};
use alloy_sol_types::SolValue;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use paymaster_exchange::ContractFunctions;
use strum::{Display, EnumIter, EnumString, IntoEnumIterator};

use crate::operation::{EntryPointVersion, Operation};
use crate::window::Window;

/// A published paymaster contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumIter, EnumString)]
pub enum ContractKind {
    /// The VerifyingPaymaster of the reference implementation for EntryPoint 0.6.
    #[strum(serialize = "verifying-0.6")]
    Verifying06,
    /// The VerifyingPaymaster of the reference implementation for EntryPoint 0.7; contracts for later versions have the same layout.
    #[strum(serialize = "verifying-0.7")]
    Verifying07,
    /// Pimlico's SingletonPaymasterV6.
    #[strum(serialize = "singleton-0.6")]
    Singleton06,
    /// Pimlico's SingletonPaymasterV7.
    #[strum(serialize = "singleton-0.7")]
    Singleton07,
    /// Pimlico's SingletonPaymasterV8.
    #[strum(serialize = "singleton-0.8")]
    Singleton08,
    /// Coinbase's VerifyingPaymaster for EntryPoint 0.6, with three flags.
    #[strum(serialize = "coinbase-0.6")]
    Coinbase06,
    /// Coinbase's VerifyingPaymaster for EntryPoint 0.7, with three flags and both paymaster gas limits in what is signed.
    #[strum(serialize = "coinbase-0.7")]
    Coinbase07,
}

/// What a paymaster's data say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymasterTerms {
    pub window: Window,
    /// The token in which the sender pays; none if the paymaster sponsors.
    pub token: Option<Address>,
    /// Whether every bundler may send the operation; otherwise the contract has a list of bundlers.
    pub any_bundler: bool,
    /// r, s and v.
    pub signature: Bytes,
}

/// Why a contract refuses its data before it looks at the signer.
const TOO_SHORT: &str = "the data are too short for this contract";
/// Why a contract refuses a signature of the right form.
const UNRECOVERABLE: &str = "no account can be recovered from the signature";

impl ContractKind {
    /// Every contract.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// Whether the contract takes operations of this version.
    pub const fn serves(self, version: EntryPointVersion) -> bool {
        match self {
            Self::Verifying06 | Self::Singleton06 | Self::Coinbase06 => {
                matches!(version, EntryPointVersion::V06)
            }
            Self::Verifying07 => !matches!(version, EntryPointVersion::V06),
            Self::Singleton07 | Self::Coinbase07 => matches!(version, EntryPointVersion::V07),
            Self::Singleton08 => matches!(version, EntryPointVersion::V08),
        }
    }

    /// The functions that the contract has, by which it is told from others.
    pub const fn functions(self) -> ContractFunctions {
        let (verifying_signer, is_bundler_allowed) = match self {
            Self::Verifying06 | Self::Verifying07 => (true, false),
            Self::Singleton06 | Self::Singleton07 | Self::Singleton08 => (false, true),
            Self::Coinbase06 | Self::Coinbase07 => (true, true),
        };
        ContractFunctions { verifying_signer, is_bundler_allowed }
    }

    /// Reads the data of an operation's paymaster.
    ///
    /// # Errors
    /// When the contract would revert, with the reason.
    pub fn read(self, operation: &Operation) -> Result<PaymasterTerms, &'static str> {
        let offset = operation.version.paymaster_data_offset();
        let mut data = Fields(operation.members.paymasterAndData.get(offset..).ok_or(TOO_SHORT)?);
        let (window, token, any_bundler) = match self {
            Self::Verifying06 | Self::Verifying07 => (data.window(32)?, None, true),
            Self::Singleton06 | Self::Singleton07 | Self::Singleton08 => {
                let first = data.take(1)?[0];
                let (mode, any_bundler) = (first >> 1, first & 1 == 1);
                let (window, token) = match mode {
                    0 => (data.window(6)?, None),
                    1 => data.token_mode()?,
                    _ => return Err("the mode is unknown"),
                };
                (window, token, any_bundler)
            }
            Self::Coinbase06 | Self::Coinbase07 => {
                let window = data.window(6)?;
                data.take(16)?; // the sponsor's UUID
                let any_bundler = data.take(3)?[0] != 0;
                let token = Address::from_slice(data.take(20)?);
                data.take(20 + 32 + 6)?; // receiver, exchange rate, gas of postOp
                (window, (!token.is_zero()).then_some(token), any_bundler)
            }
        };
        Ok(PaymasterTerms { window, token, any_bundler, signature: Bytes::copy_from_slice(data.0) })
    }

    /// The hash that is signed, before the prefix of EIP-191. `sender_nonce` is the contract's own count of operations of the sender; only
    /// `verifying-0.6` has one.
    pub fn hash(
        self,
        operation: &Operation,
        terms: &PaymasterTerms,
        chain_id: u64,
        sender_nonce: U256,
    ) -> B256 {
        let chain_id = U256::from(chain_id);
        let paymaster = operation.paymaster().unwrap_or_default();
        let limits = [terms.window.valid_until, terms.window.valid_after].map(|limit| U48::from(limit));
        let (sender, nonce) = (operation.members.sender, operation.members.nonce);
        let init_code = keccak256(&operation.members.initCode);
        let call_data = keccak256(&operation.members.callData);
        let gas = (
            operation.members.callGasLimit,
            operation.members.verificationGasLimit,
            operation.members.preVerificationGas,
            operation.members.maxFeePerGas,
            operation.members.maxPriorityFeePerGas,
        );
        let packed = operation.packed();
        let (limits_of_gas, pre_verification_gas, fees) =
            (packed.accountGasLimits, packed.preVerificationGas, packed.gasFees);
        let all = &operation.members.paymasterAndData;
        let signed = &all[..all.len().saturating_sub(terms.signature.len())];
        let encoded = match self {
            Self::Verifying06 => {
                let beginning = Bytes::from(until_paymaster_and_data(operation));
                let [until, after] = limits;
                (beginning, chain_id, paymaster, sender_nonce, until, after).abi_encode_params()
            }
            Self::Verifying07 => {
                let paymaster_gas = U256::from_be_slice(signed.get(20..52).unwrap_or_default());
                let head = (sender, nonce, init_code, call_data, limits_of_gas, paymaster_gas);
                let tail = (pre_verification_gas, fees, chain_id, paymaster, limits);
                (head, tail).abi_encode()
            }
            Self::Singleton06 => {
                let hashed = (sender, nonce, gas, call_data, init_code, keccak256(signed));
                (keccak256(hashed.abi_encode()), chain_id).abi_encode()
            }
            Self::Singleton07 | Self::Singleton08 => {
                let head = (sender, nonce, limits_of_gas, pre_verification_gas, fees);
                let hashed = (head, init_code, call_data, keccak256(signed));
                let encoded = (keccak256(hashed.abi_encode()), chain_id).abi_encode();
                if self == Self::Singleton07 {
                    encoded
                } else {
                    let delegated = operation.delegated_init_code_hash().unwrap_or_default();
                    (keccak256(encoded), delegated).abi_encode()
                }
            }
            Self::Coinbase06 => {
                let head = (sender, nonce, init_code, call_data, gas, chain_id, paymaster).abi_encode();
                [head, coinbase_words(signed.get(20..).unwrap_or_default())].concat()
            }
            Self::Coinbase07 => {
                let head = (sender, nonce, init_code, call_data, limits_of_gas, pre_verification_gas, fees);
                let head = (head, chain_id, paymaster).abi_encode();
                let paymaster_gas = operation.paymaster_gas_limits().abi_encode();
                [head, coinbase_words(signed.get(52..).unwrap_or_default()), paymaster_gas].concat()
            }
        };
        keccak256(encoded)
    }

    /// The account that signed the data. Compare it with the signer that the contract accepts.
    ///
    /// # Errors
    /// When the contract would revert, with the reason.
    pub fn signer(
        self,
        operation: &Operation,
        chain_id: u64,
        sender_nonce: U256,
    ) -> Result<Address, &'static str> {
        let terms = self.read(operation)?;
        recovered(self.hash(operation, &terms, chain_id, sender_nonce), &terms.signature)
    }
}

/// The ABI encoding of an operation of 0.6 up to, and without, the length of its paymasterAndData. It holds the offset of the signature,
/// so it depends on the length of paymasterAndData.
fn until_paymaster_and_data(operation: &Operation) -> Vec<u8> {
    const PLACE_OF_OFFSET: usize = 9 * 32;
    let mut encoded = operation.members.abi_encode().split_off(32);
    let offset = U256::from_be_slice(&encoded[PLACE_OF_OFFSET..PLACE_OF_OFFSET + 32]);
    encoded.truncate(offset.to());
    encoded
}

/// The ten fields of Coinbase's data as words.
fn coinbase_words(data: &[u8]) -> Vec<u8> {
    let mut data = Fields(data);
    let word = |length| {
        let value = U256::from_be_slice(data.take(length).unwrap_or_default());
        // A field of one byte is a flag.
        if length == 1 { U256::from(!value.is_zero()) } else { value }.to_be_bytes::<32>()
    };
    [6, 6, 16, 1, 1, 1, 20, 20, 32, 6].map(word).concat()
}

/// The account that signed a hash in the form of EIP-191. As the contracts do, it refuses a v other than 27 and 28, and a large s. A compact
/// signature has v in the highest bit of s (EIP-2098).
fn recovered(hash: B256, signature: &[u8]) -> Result<Address, &'static str> {
    let mut rs = [0; 64];
    let v = match signature.split_at_checked(64) {
        Some((first, rest @ ([] | [_]))) => {
            rs.copy_from_slice(first);
            rest.first().copied().unwrap_or_else(|| {
                let v = 27 + (rs[32] >> 7);
                rs[32] &= 0x7f;
                v
            })
        }
        _ => return Err("the signature has neither 64 nor 65 bytes"),
    };
    let is_odd = match v {
        27 => false,
        28 => true,
        _ => return Err("v of the signature is neither 27 nor 28"),
    };
    let rs = Signature::from_slice(&rs).map_err(|_| UNRECOVERABLE)?;
    if rs.normalize_s() != rs {
        return Err("s of the signature is above half the order of the curve, which contracts refuse");
    }
    let digest = eip191_hash_message(hash);
    let key = VerifyingKey::recover_from_prehash(digest.as_slice(), &rs, RecoveryId::new(is_odd, false))
        .map_err(|_| UNRECOVERABLE)?;
    Ok(Address::from_raw_public_key(&key.to_sec1_point(false).as_bytes()[1..]))
}

/// Data that are read from the front.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (field, rest) = self.0.split_at_checked(length).ok_or(TOO_SHORT)?;
        self.0 = rest;
        Ok(field)
    }

    /// validUntil and validAfter, in so many bytes each.
    fn window(&mut self, length: usize) -> Result<Window, &'static str> {
        let mut limit = || {
            let limit = U256::from_be_slice(self.take(length)?);
            let fits = limit < (U256::ONE << 48);
            if fits { Ok(limit.to()) } else { Err("the time limits do not fit into 48 bits") }
        };
        let valid_until = limit()?;
        Ok(Window { valid_until, valid_after: limit()? })
    }

    /// The fields of Pimlico's token mode behind the mode.
    fn token_mode(&mut self) -> Result<(Window, Option<Address>), &'static str> {
        let flags = self.take(1)?[0];
        let window = self.window(6)?;
        let token = Address::from_slice(self.take(20)?);
        self.take(16 + 32 + 16 + 20)?; // gas of postOp, exchange rate, gas of validation, treasury
        for (flag, length) in [(4, 16), (1, 16), (2, 20)] {
            if flags & flag != 0 {
                self.take(length)?; // what is paid before, a constant fee, its recipient
            }
        }
        Ok((window, Some(token)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::hex;
    use k256::ecdsa::SigningKey;
    use serde_json::{Value, json};

    const CHAIN: u64 = 31_337;
    const SENDER_NONCE: U256 = U256::from_limbs([7, 0, 0, 0]);
    const WINDOW: Window = Window { valid_after: 1_700_000_000, valid_until: 1_700_000_300 };
    /// TEST KEY, known to everyone: the first account of development chains.
    const TEST_KEY: [u8; 32] = hex!("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
    const TEST_ACCOUNT: Address = alloy_primitives::address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
    const PAYMASTER: &str = "0x2222222222222222222222222222222222222222";

    const VERIFYING: &str = "000000000000000000000000000000000000000000000000000000006553f22c\
                             000000000000000000000000000000000000000000000000000000006553f100";
    const SINGLETON: &str = "0100006553f22c00006553f100";
    const SINGLETON_TOKEN: &str = "020400006553f22c00006553f1003333333333333333333333333333333333333333\
        000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000020\
        00000000000000000000000000000030444444444444444444444444444444444444444400000000000000000000000000000040";
    const COINBASE: &str = "00006553f22c00006553f100000000000000000000000000000000770100013333333333333333333333333333333333333333\
        44444444444444444444444444444444444444440000000000000000000000000000000000000000000000000000000000000020000000000009";

    /// Contract, version, data without signature, and the hash as another implementation of the ABI computes it.
    const EXPECTED: [(ContractKind, EntryPointVersion, &str, &str); 10] = {
        use ContractKind::{
            Coinbase06, Coinbase07, Singleton06, Singleton07, Singleton08, Verifying06, Verifying07,
        };
        use EntryPointVersion::{V06, V07, V08};
        [
            (
                Verifying06,
                V06,
                VERIFYING,
                "0xca793f1c128c8266e969c24277cf00785fb0aa0e6a40d533fbe72a7a58fb1a4a",
            ),
            (
                Verifying07,
                V07,
                VERIFYING,
                "0xa093744ce8509273839f058b5d3e96bcbe52160535f821f4d91f7c6066a243bd",
            ),
            (
                Singleton06,
                V06,
                SINGLETON,
                "0xfa778af7fd69a73043f8d039bed3de15eadc4a796e829403686a329c93950d04",
            ),
            (
                Singleton07,
                V07,
                SINGLETON,
                "0xe249c31c3299891e8cc26948bdf6baaa5afc9e0eec898d6920329b4d7b252296",
            ),
            (
                Singleton08,
                V08,
                SINGLETON,
                "0x4fa5311f51e44f8292cd0e55c55573868a0916f33998d0edfd751d55148fc533",
            ),
            (
                Singleton06,
                V06,
                SINGLETON_TOKEN,
                "0xa492b9c32e3dfba7f555208a090025bac88201e118c273ef79a86bb54f22141d",
            ),
            (
                Singleton07,
                V07,
                SINGLETON_TOKEN,
                "0xa4535ef91192e86126b8c4ec5d8030eb01f475f38d6f903cab9f9bdf011f9cc8",
            ),
            (
                Singleton08,
                V08,
                SINGLETON_TOKEN,
                "0x76101243b4652c4c8241ca46a30dd3892694bd25f295417f178c2efd3a1407dc",
            ),
            (Coinbase06, V06, COINBASE, "0x2a5565b1760230ff35dd38b1212b6dd8a451e02bf08a02ce1bf81214403830b6"),
            (Coinbase07, V07, COINBASE, "0xf21374117e613ef6cb555a44fbd4e9a7b4a29889983a32c043381408ae9ccea7"),
        ]
    };

    fn members(data: &str) -> Value {
        json!({
            "sender": "0x1306b01bc3e4ad202612d3843387e94737673f53",
            "nonce": "0x1a2b3c0000000000000000",
            "callData": "0xb61d27f6",
            "callGasLimit": 100_000,
            "verificationGasLimit": 200_000,
            "preVerificationGas": 50_000,
            "maxFeePerGas": "3000000000",
            "maxPriorityFeePerGas": "1000000000",
            "paymasterAndData": format!("{PAYMASTER}{data}"),
            "paymaster": PAYMASTER,
            "paymasterVerificationGasLimit": 50_000,
            "paymasterPostOpGasLimit": 30_000,
            "paymasterData": format!("0x{data}"),
        })
    }

    /// Signs a hash in the form of EIP-191 with the test key; 65 bytes in hex.
    fn sign(hash: B256) -> String {
        let key = SigningKey::from_slice(&TEST_KEY).unwrap();
        let (rs, recovery) = key.sign_prehash_recoverable(eip191_hash_message(hash).as_slice());
        format!("{}{:02x}", hex::encode(rs.to_bytes()), 27 + u8::from(recovery.is_y_odd()))
    }

    #[test]
    fn the_hash_of_every_contract_is_known() {
        for (kind, version, data, expected) in EXPECTED {
            let data = format!("{data}{}", "00".repeat(65));
            let operation = Operation::read(version, &[&members(&data)]).unwrap();
            let terms = kind.read(&operation).unwrap();
            assert_eq!(terms.window, WINDOW, "{kind}");
            let hash = kind.hash(&operation, &terms, CHAIN, SENDER_NONCE);
            assert_eq!(hash.to_string(), expected, "{kind} {data}");
        }
    }

    #[test]
    fn a_signature_holds_for_one_operation_one_chain_and_one_paymaster() {
        for (kind, version, data, hash) in EXPECTED {
            let sent = members(&format!("{data}{}", sign(hash.parse().unwrap())));
            let signer = |change: Value, chain_id| {
                let operation = Operation::read(version, &[&sent, &change]).unwrap();
                kind.signer(&operation, chain_id, SENDER_NONCE)
            };
            assert_eq!(signer(json!({}), CHAIN), Ok(TEST_ACCOUNT), "{kind}");
            assert_eq!(signer(json!({ "signature": "0x01" }), CHAIN), Ok(TEST_ACCOUNT), "{kind}");
            assert_ne!(signer(json!({}), CHAIN + 1), Ok(TEST_ACCOUNT), "{kind}");
            let mut changed = vec![
                "callGasLimit",
                "verificationGasLimit",
                "preVerificationGas",
                "maxFeePerGas",
                "maxPriorityFeePerGas",
                "nonce",
            ];
            if version == EntryPointVersion::V06 {
                assert_ne!(signer(json!({ "initCode": "0x01" }), CHAIN), Ok(TEST_ACCOUNT), "{kind}");
            } else {
                changed.extend(["paymasterVerificationGasLimit", "paymasterPostOpGasLimit"]);
            }
            for member in changed {
                assert_ne!(signer(json!({ member: "0x1234" }), CHAIN), Ok(TEST_ACCOUNT), "{kind}: {member}");
            }
            assert_ne!(signer(json!({ "callData": "0x" }), CHAIN), Ok(TEST_ACCOUNT), "{kind}");
            let other = PAYMASTER.replace("22", "23");
            let data = sent["paymasterData"].as_str().unwrap();
            let other = json!({ "paymaster": other, "paymasterAndData": format!("{other}{}", &data[2..]) });
            assert_ne!(signer(other, CHAIN), Ok(TEST_ACCOUNT), "{kind}");
        }
    }

    #[test]
    fn the_count_of_the_contract_is_signed_by_verifying_0_6_only() {
        for (kind, version, data, hash) in EXPECTED {
            let sent = members(&format!("{data}{}", sign(hash.parse().unwrap())));
            let operation = Operation::read(version, &[&sent]).unwrap();
            let is_right = kind.signer(&operation, CHAIN, U256::ZERO) == Ok(TEST_ACCOUNT);
            assert_eq!(is_right, kind != ContractKind::Verifying06, "{kind}");
        }
    }

    #[test]
    fn singleton_0_8_signs_the_delegate() {
        let kind = ContractKind::Singleton08;
        let version = EntryPointVersion::V08;
        let hash_of = |delegate: &str| {
            let sent = members(&format!("{SINGLETON}{}", "00".repeat(65)));
            let change = json!({ "factory": "0x7702", "eip7702Auth": { "address": delegate } });
            let operation = Operation::read(version, &[&sent, &change]).unwrap();
            kind.hash(&operation, &kind.read(&operation).unwrap(), CHAIN, U256::ZERO)
        };
        assert_ne!(hash_of(PAYMASTER), hash_of("0xe6Cae83BdE06E4c305530e199D7217f42808555B"));
    }

    #[test]
    fn modes_tokens_and_bundlers_are_read() {
        let read = |kind: ContractKind, data: &str| {
            let data = format!("{data}{}", "00".repeat(65));
            kind.read(&Operation::read(EntryPointVersion::V07, &[&members(&data)]).unwrap()).unwrap()
        };
        let token = Some(Address::repeat_byte(0x33));
        let found = |terms: PaymasterTerms| (terms.token, terms.any_bundler);
        assert_eq!(found(read(ContractKind::Verifying07, VERIFYING)), (None, true));
        assert_eq!(found(read(ContractKind::Singleton07, SINGLETON)), (None, true));
        assert_eq!(found(read(ContractKind::Singleton07, SINGLETON_TOKEN)), (token, false));
        assert_eq!(found(read(ContractKind::Coinbase07, COINBASE)), (token, true));
    }

    #[test]
    fn data_that_a_contract_refuses_are_errors() {
        let signer = |kind: ContractKind, data: &str| {
            let operation = Operation::read(EntryPointVersion::V07, &[&members(data)]).unwrap();
            kind.signer(&operation, CHAIN, U256::ZERO).err()
        };
        let [verifying, singleton] = [ContractKind::Verifying07, ContractKind::Singleton07];
        assert_eq!(signer(verifying, "00"), Some(TOO_SHORT));
        assert_eq!(signer(singleton, ""), Some(TOO_SHORT));
        assert_eq!(signer(verifying, &"11".repeat(129)), Some("the time limits do not fit into 48 bits"));
        assert_eq!(signer(singleton, &"05".repeat(78)), Some("the mode is unknown"));
        assert_eq!(signer(verifying, VERIFYING), Some("the signature has neither 64 nor 65 bytes"));
        let hash = B256::repeat_byte(1);
        let good = hex::decode(sign(hash)).unwrap();
        assert_eq!(recovered(hash, &good), Ok(TEST_ACCOUNT));
        let mut compact = good[..64].to_vec();
        compact[32] |= (good[64] - 27) << 7;
        assert_eq!(recovered(hash, &compact), Ok(TEST_ACCOUNT));
        assert_eq!(recovered(hash, &good[..63]), Err("the signature has neither 64 nor 65 bytes"));
        let mut with_small_v = good.clone();
        with_small_v[64] -= 27;
        assert_eq!(recovered(hash, &with_small_v), Err("v of the signature is neither 27 nor 28"));
        let large =
            U256::from_be_slice(&hex!("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"));
        let mut with_large_s = good;
        let s = large - U256::from_be_slice(&with_large_s[32..64]);
        with_large_s[32..64].copy_from_slice(&s.to_be_bytes::<32>());
        with_large_s[64] = 55 - with_large_s[64];
        assert_eq!(
            recovered(hash, &with_large_s),
            Err("s of the signature is above half the order of the curve, which contracts refuse")
        );
    }

    #[test]
    fn contracts_are_found_by_their_names() {
        for kind in ContractKind::all() {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(kind.serves(EntryPointVersion::V06), kind.to_string().ends_with("0.6"));
        }
        assert!("other".parse::<ContractKind>().is_err());
    }
}
