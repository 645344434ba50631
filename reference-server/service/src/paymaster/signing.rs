//! Writes `paymasterAndData`: its layout, the hash that is signed, and the signature.
//!
//! The layout of a sponsorship is that of the eth-infinitism VerifyingPaymaster for EntryPoint v0.6:
//!
//! | bytes | content |
//! |---|---|
//! | 20 | the sponsorship paymaster |
//! | 64 | `abi.encode(uint48 validUntil, uint48 validAfter)` |
//! | 65 | signature: r, s, v (27 or 28) |
//!
//! Its hash is `keccak256(abi.encode(pack(op), chainId, paymaster, senderNonce, validUntil, validAfter))`, signed in the form
//! of EIP-191. `pack(op)` is the operation's ABI encoding up to, and without, the length of `paymasterAndData`: the eleven
//! head words, then `initCode` and `callData`. The head holds the offset of the signature, so the hash depends on the length
//! of `paymasterAndData`, which is always the one above. `senderNonce` is a counter of
//! the contract for each sender. It is read from the chain if one is configured. Otherwise it is 0, its value until the
//! contract has sponsored that sender once.
//!
//! The layout in token mode is our own, because section 2.9 shows none. It covers token, rate and expiry:
//!
//! | bytes | content |
//! |---|---|
//! | 20 | the token paymaster |
//! | 128 | `abi.encode(address token, uint256 exchangeRate, uint48 validUntil, uint48 validAfter)` |
//! | 65 | signature |
//!
//! Its hash is `keccak256(abi.encode(pack(op), chainId, paymaster, 0, token, exchangeRate, validUntil, validAfter))`.

mod paymaster_data;

pub use paymaster_data::{Layout, PaymasterDataConfig};
pub(crate) use paymaster_data::{Offer, PaymasterData};

use alloy_primitives::aliases::U48;
use alloy_primitives::{Address, B256, Bytes, U256, eip191_hash_message, hex, keccak256};
use alloy_sol_types::SolValue;
use k256::ecdsa::SigningKey;

use crate::config::{ConfigError, Secret, TEST_KEY, config};
use crate::message::Operation;
use crate::paymaster::{GasLimits, NonceError, PricedToken, SenderNonces, configured_address};

config! {
    /// The key, chain and contracts of signatures.
    pub struct SigningConfig {
        /// Whether to sign; if not, the 65 bytes of the signature are zero.
        pub enabled: bool = true,
        /// The private key: `0x` and 64 hex digits. The default is a well-known TEST KEY.
        pub key: Secret = Secret::new(Self::TEST_KEY),
        /// The id of the chain on which signatures are valid.
        pub chain_id: u64 = 31337,
        /// The address of the paymaster contract for sponsored operations.
        pub sponsorship_paymaster: String = "0x00000f79b7faf42eebadba19acc07cd08af44789".to_owned(),
        /// The address of the paymaster contract for operations paid in tokens: the `paymasterAddress` of quotes.
        pub token_paymaster: String = "0x00000f7365ca6c59a2c93719ad53d567ed49c14c".to_owned(),
        /// How long a result is valid, in seconds. `expiryDuration` overrides it in SPONSORED mode.
        pub valid_seconds: u64 = 300,
    }
}

impl SigningConfig {
    /// TEST KEY, known to everyone: the first account of the Anvil and Hardhat development chains. Never fund it on a real
    /// chain.
    pub const TEST_KEY: &str = TEST_KEY;
}

/// Length of a signature, in bytes.
const SIGNATURE_BYTES: usize = 65;
/// Added to the recovery id, by a convention older than EIP-155.
const V_OFFSET: u8 = 27;
/// The sender's nonce in token mode: no contract of this layout exists that could count.
const TOKEN_NONCE: U256 = U256::ZERO;
/// Results are valid from the start.
const VALID_AFTER: U48 = U48::ZERO;

/// Writes and signs `paymasterAndData`.
pub(crate) struct Signer {
    key: Option<SigningKey>,
    /// The address that the signatures recover to.
    pub(crate) address: Address,
    /// The id of the chain on which signatures are valid.
    pub(crate) chain_id: U256,
    pub(crate) sponsorship_paymaster: Address,
    token_paymaster: Address,
    valid_seconds: u64,
    /// A well-formed signature of nothing, without a zero byte, so that it costs as much gas as any other.
    stub_signature: [u8; SIGNATURE_BYTES],
}

impl Signer {
    pub(crate) fn new(config: &SigningConfig) -> Result<Self, ConfigError> {
        let key = parse_key(config.key.reveal()).ok_or_else(|| {
            // The message does not repeat the value, which may be a real key with a typing error.
            ConfigError::value(
                "signing.key",
                "a secp256k1 private key, 0x and 64 hex digits",
                "something else",
            )
        })?;
        Ok(Self {
            address: address_of(&key),
            stub_signature: stub_signature(&key),
            key: config.enabled.then_some(key),
            chain_id: U256::from(config.chain_id),
            sponsorship_paymaster: configured_address(
                "signing.sponsorship_paymaster",
                &config.sponsorship_paymaster,
            )?,
            token_paymaster: configured_address("signing.token_paymaster", &config.token_paymaster)?,
            valid_seconds: config.valid_seconds,
        })
    }

    /// Whether signatures are made; otherwise their bytes are zero.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.key.is_some()
    }

    /// The nonce that a sponsorship of `sender` covers; 0 when signing is off.
    pub(crate) fn sender_nonce(&self, nonces: &SenderNonces, sender: Address) -> Result<U256, NonceError> {
        if self.is_enabled() { nonces.of(sender) } else { Ok(U256::ZERO) }
    }

    /// Appends the hex of a sponsorship that is valid for `seconds` from `now`, or for the configured time.
    pub(crate) fn write_sponsorship(
        &self,
        out: &mut Vec<u8>,
        operation: &Operation<'_>,
        gas: &GasLimits,
        sender_nonce: U256,
        now: u64,
        seconds: Option<u64>,
    ) {
        let valid_until = expiry(now, seconds.unwrap_or(self.valid_seconds));
        let terms = (valid_until, VALID_AFTER).abi_encode_params();
        let paymaster = self.sponsorship_paymaster;
        let signature =
            self.sign(|| self.sponsorship_hash(operation, gas, &terms, sender_nonce, valid_until));
        write_hex(out, &[paymaster.as_slice(), &terms, &signature]);
    }

    /// What the VerifyingPaymaster for EntryPoint 0.6 signs.
    fn sponsorship_hash(
        &self,
        operation: &Operation<'_>,
        gas: &GasLimits,
        terms: &[u8],
        sender_nonce: U256,
        valid_until: U48,
    ) -> B256 {
        let packed = pack(operation, gas, paymaster_and_data_length(terms));
        let paymaster = self.sponsorship_paymaster;
        let head = (packed, self.chain_id, paymaster, sender_nonce, valid_until, VALID_AFTER);
        keccak256(head.abi_encode_params())
    }

    /// Appends the hex of a payment in `token`, which is valid for the configured time.
    pub(crate) fn write_token_payment(
        &self,
        out: &mut Vec<u8>,
        operation: &Operation<'_>,
        gas: &GasLimits,
        now: u64,
        token: &PricedToken,
    ) {
        let valid_until = expiry(now, self.valid_seconds);
        let rate = token.exchange_rate;
        let terms = (token.address, rate, valid_until, VALID_AFTER).abi_encode_params();
        let paymaster = self.token_paymaster;
        let signature = self.sign(|| {
            let packed = pack(operation, gas, paymaster_and_data_length(&terms));
            let head = (
                packed,
                self.chain_id,
                paymaster,
                TOKEN_NONCE,
                token.address,
                rate,
                valid_until,
                VALID_AFTER,
            );
            keccak256(head.abi_encode_params())
        });
        write_hex(out, &[paymaster.as_slice(), &terms, &signature]);
    }

    /// Signs the hash in the form of EIP-191. When signing is off it returns zeros and does not compute the hash.
    fn sign(&self, hash: impl FnOnce() -> B256) -> [u8; SIGNATURE_BYTES] {
        self.key.as_ref().map_or([0; SIGNATURE_BYTES], |key| signature(key, eip191_hash_message(hash())))
    }
}

fn signature(key: &SigningKey, digest: B256) -> [u8; SIGNATURE_BYTES] {
    let mut signature = [0; SIGNATURE_BYTES];
    let (rs, recovery) = key.sign_prehash_recoverable(digest.as_slice());
    signature[..64].copy_from_slice(&rs.to_bytes());
    signature[64] = V_OFFSET + u8::from(recovery.is_y_odd());
    signature
}

/// The first signature without a zero byte. A contract recovers some account from it, and no signer.
fn stub_signature(key: &SigningKey) -> [u8; SIGNATURE_BYTES] {
    let mut digest = keccak256("stub");
    loop {
        let signature = signature(key, digest);
        if !signature.contains(&0) {
            return signature;
        }
        digest = keccak256(digest);
    }
}

/// The moment when an answer of `now` ceases to hold, as much of it as a uint48 can say.
fn expiry(now: u64, seconds: u64) -> U48 {
    U48::from(now.saturating_add(seconds).min((1 << 48) - 1))
}

/// The length of `paymasterAndData` with these terms.
const fn paymaster_and_data_length(terms: &[u8]) -> usize {
    Address::len_bytes() + terms.len() + SIGNATURE_BYTES
}

/// The operation's ABI encoding up to, and without, the length of its `paymasterAndData`.
fn pack(operation: &Operation<'_>, gas: &GasLimits, paymaster_and_data_length: usize) -> Bytes {
    const HEAD_WORDS: usize = 11;
    let init_code = Bytes::from(operation.init_code().decode());
    let call_data = Bytes::from(operation.call_data.decode());
    let padded = |bytes: &Bytes| 32 + bytes.len().next_multiple_of(32);
    let end = 32 * HEAD_WORDS + padded(&init_code) + padded(&call_data);
    let mut encoded = (
        operation.sender.address,
        operation.nonce.0,
        init_code,
        call_data,
        gas.call,
        gas.verification,
        gas.pre_verification,
        operation.max_fee_per_gas.0,
        operation.max_priority_fee_per_gas.0,
        // Only the length counts: it decides where the signature would begin.
        Bytes::from(vec![0; paymaster_and_data_length]),
        Bytes::new(),
    )
        .abi_encode_params();
    encoded.truncate(end);
    Bytes::from(encoded)
}

/// Appends `0x` and the hex of the parts, one after another.
fn write_hex(out: &mut Vec<u8>, parts: &[&[u8]]) {
    out.extend_from_slice(b"0x");
    write_digits(out, parts);
}

/// Appends the hex of the parts, one after another.
pub(crate) fn write_digits(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        let start = out.len();
        out.resize(start + 2 * part.len(), b'0');
        // Cannot fail: the slice has the right length.
        let _ = hex::encode_to_slice(part, &mut out[start..]);
    }
}

/// Parses `0x` and 64 hex digits of a private key.
fn parse_key(text: &str) -> Option<SigningKey> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 64)?;
    let mut bytes = [0; 32];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    SigningKey::from_slice(&bytes).ok()
}

/// The address of the account of a key.
fn address_of(key: &SigningKey) -> Address {
    let point = key.verifying_key().to_sec1_point(false);
    // The first byte marks an uncompressed point.
    let digest = keccak256(&point.as_bytes()[1..]);
    Address::from_slice(&digest[12..])
}
