//! The data of ERC-7677: the layouts and hashes of the published paymaster contracts for EntryPoint 0.6 to 0.9.
//!
//! | layout | data before the signature of 65 bytes |
//! |---|---|
//! | `verifying` | `abi.encode(uint48 validUntil, uint48 validAfter)` |
//! | `singleton`, sponsored | mode (1 byte), validUntil (6), validAfter (6) |
//! | `singleton`, paid in a token | mode (1), flags (1), validUntil (6), validAfter (6), token (20), gas of postOp (16), exchange rate (32), gas of the validation (16), treasury (20) |
//!
//! The singleton has no version for EntryPoint 0.9, so the data of 0.9 have the layout `verifying`.

use alloy_primitives::{B256, keccak256};
use alloy_sol_types::SolValue;
use serde::{Deserialize, Serialize};

use super::{
    Address, GasLimits, NonceError, SenderNonces, Signer, U48, U256, VALID_AFTER, configured_address, expiry,
    write_digits,
};
use crate::config::{ConfigError, config};
use crate::message::{EntryPoint, PaymasterParams};
use crate::paymaster::PricedToken;

/// How the data of ERC-7677 are laid out, and what is signed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// The VerifyingPaymaster of the reference implementation.
    #[default]
    Verifying,
    /// Pimlico's SingletonPaymaster, which also takes tokens: the member `token` of the context names one.
    Singleton,
}

config! {
    /// The settings of the methods of ERC-7677.
    pub struct PaymasterDataConfig {
        /// The versions of EntryPoint that are served.
        pub entry_points: Vec<EntryPoint> = EntryPoint::ALL.to_vec(),
        /// The layout of the data: `verifying` or `singleton`.
        pub layout: Layout = Layout::default(),
        /// The address of the paymaster contract for EntryPoint 0.7. That for 0.6 is `signing.sponsorship_paymaster`.
        pub paymaster_07: String = "0x00000f79b7faf42eebadba19acc07cd08af44707".to_owned(),
        /// The same for EntryPoint 0.8.
        pub paymaster_08: String = "0x00000f79b7faf42eebadba19acc07cd08af44708".to_owned(),
        /// The same for EntryPoint 0.9.
        pub paymaster_09: String = "0x00000f79b7faf42eebadba19acc07cd08af44709".to_owned(),
        /// Gas limit of the paymaster's validation, for requests that name none.
        pub verification_gas_limit: u64 = 100_000,
        /// Gas limit of the call of the paymaster after the operation, for requests that name none.
        pub post_op_gas_limit: u64 = 50_000,
        /// The name of the sponsor.
        pub sponsor_name: String = "Paymaster reference server".to_owned(),
        /// The picture of the sponsor: a data URI.
        pub sponsor_icon: String = Self::ICON.to_owned(),
    }
}

impl PaymasterDataConfig {
    const ICON: &str = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSI5NiIgaGVpZ2h0PSI5NiI+PGNpcmNsZSBjeD0iNDgiIGN5PSI0OCIgcj0iNDgiLz48L3N2Zz4=";
}

/// The same with its addresses parsed.
pub(crate) struct PaymasterData {
    entry_points: Vec<EntryPoint>,
    layout: Layout,
    /// For EntryPoint 0.7, 0.8 and 0.9.
    paymasters: [Address; 3],
    /// Gas limits for requests that name none: of the validation, and after the operation.
    pub(crate) gas_limits: [U256; 2],
    /// The sponsor as JSON text.
    pub(crate) sponsor: String,
}

/// Gas that the singleton charges for taking tokens after the operation.
const TOKEN_POST_OP_GAS: u128 = 40_000;
/// First byte of the singleton's data: the mode, and a bit that admits every bundler.
const SPONSORED_MODE: u8 = 0b01;
const TOKEN_MODE: u8 = 0b11;
/// The factory of a sender that delegates by EIP-7702.
const DELEGATED: [u8; 2] = [0x77, 0x02];

impl PaymasterData {
    pub(crate) fn new(config: &PaymasterDataConfig) -> Result<Self, ConfigError> {
        let paymasters = [
            configured_address("paymaster_data.paymaster_07", &config.paymaster_07)?,
            configured_address("paymaster_data.paymaster_08", &config.paymaster_08)?,
            configured_address("paymaster_data.paymaster_09", &config.paymaster_09)?,
        ];
        if !config.sponsor_icon.starts_with("data:") {
            return Err(ConfigError::value(
                "paymaster_data.sponsor_icon",
                "a data URI",
                &config.sponsor_icon,
            ));
        }
        let sponsor = serde_json::json!({ "name": config.sponsor_name, "icon": config.sponsor_icon });
        Ok(Self {
            entry_points: config.entry_points.clone(),
            layout: config.layout,
            paymasters,
            gas_limits: [config.verification_gas_limit, config.post_op_gas_limit].map(U256::from),
            sponsor: sponsor.to_string(),
        })
    }

    /// Whether operations of this version are served.
    pub(crate) fn serves(&self, entry_point: EntryPoint) -> bool {
        self.entry_points.contains(&entry_point)
    }

    /// The layout of the data for this version.
    pub(crate) fn layout(&self, entry_point: EntryPoint) -> Layout {
        if entry_point == EntryPoint::V09 { Layout::Verifying } else { self.layout }
    }
}

/// What the data of one answer are made of.
pub(crate) struct Offer<'a> {
    pub(crate) params: &'a PaymasterParams<'a>,
    pub(crate) paymaster: Address,
    pub(crate) layout: Layout,
    /// Of the paymaster: of its validation, and after the operation.
    pub(crate) gas_limits: [U256; 2],
    pub(crate) token: Option<&'a PricedToken>,
}

impl Signer {
    /// The contract that pays operations of this version.
    pub(crate) fn paymaster(&self, settings: &PaymasterData, entry_point: EntryPoint) -> Address {
        let [v07, v08, v09] = settings.paymasters;
        match entry_point {
            EntryPoint::V06 => self.sponsorship_paymaster,
            EntryPoint::V07 => v07,
            EntryPoint::V08 => v08,
            EntryPoint::V09 => v09,
        }
    }

    /// Appends the hex digits of data that cost as much gas as the final ones: no byte is zero that may be another.
    pub(crate) fn write_stub_data(&self, out: &mut Vec<u8>, offer: &Offer<'_>) {
        write_digits(out, &[&offer.terms(U48::MAX), &self.stub_signature]);
    }

    /// Appends the hex digits of data that are signed over the operation.
    pub(crate) fn write_paymaster_data(
        &self,
        out: &mut Vec<u8>,
        offer: &Offer<'_>,
        nonces: &SenderNonces,
        now: u64,
    ) -> Result<(), NonceError> {
        let valid_until = expiry(now, self.valid_seconds);
        let terms = offer.terms(valid_until);
        let is_06 = offer.params.entry_point == EntryPoint::V06;
        let signature = match offer.layout {
            Layout::Verifying if is_06 => {
                let operation = &offer.params.operation;
                let nonce = self.sender_nonce(nonces, operation.sender.address)?;
                let gas = GasLimits::of(operation);
                self.sign(|| self.sponsorship_hash(operation, &gas, &terms, nonce, valid_until))
            }
            Layout::Verifying => self.sign(|| offer.verifying_hash(self.chain_id, valid_until)),
            Layout::Singleton if is_06 => self.sign(|| offer.singleton_hash_06(self.chain_id, &terms)),
            Layout::Singleton => self.sign(|| offer.singleton_hash(self.chain_id, &terms)),
        };
        write_digits(out, &[&terms, &signature]);
        Ok(())
    }
}

impl Offer<'_> {
    /// The data before the signature.
    fn terms(&self, valid_until: U48) -> Vec<u8> {
        if self.layout == Layout::Verifying {
            return (valid_until, VALID_AFTER).abi_encode_params();
        }
        let window = [valid_until, VALID_AFTER].map(|time| time.to_be_bytes::<6>()).concat();
        match self.token {
            None => [&[SPONSORED_MODE], &window[..]].concat(),
            Some(token) => [
                &[TOKEN_MODE, 0],
                &window[..],
                token.address.as_slice(),
                &TOKEN_POST_OP_GAS.to_be_bytes(),
                &token.exchange_rate.to_be_bytes::<32>(),
                &self.gas_limits[0].to_be_bytes::<32>()[16..],
                // The contract keeps the tokens.
                self.paymaster.as_slice(),
            ]
            .concat(),
        }
    }

    /// What the VerifyingPaymaster for EntryPoint 0.7 and later signs.
    fn verifying_hash(&self, chain_id: U256, valid_until: U48) -> B256 {
        let operation = &self.params.operation;
        let members = (
            operation.sender.address,
            operation.nonce.0,
            keccak256(operation.init_code().decode()),
            keccak256(operation.call_data.decode()),
            self.account_gas_limits(),
            self.paymaster_gas_limits(),
            GasLimits::of(operation).pre_verification,
            self.fees(),
            chain_id,
            self.paymaster,
            valid_until,
            VALID_AFTER,
        );
        keccak256(members.abi_encode())
    }

    /// What the SingletonPaymaster for EntryPoint 0.6 signs.
    fn singleton_hash_06(&self, chain_id: U256, terms: &[u8]) -> B256 {
        let operation = &self.params.operation;
        let gas = GasLimits::of(operation);
        let members = (
            operation.sender.address,
            operation.nonce.0,
            gas.call,
            gas.verification,
            gas.pre_verification,
            operation.max_fee_per_gas.0,
            operation.max_priority_fee_per_gas.0,
            keccak256(operation.call_data.decode()),
            keccak256(operation.init_code().decode()),
            keccak256([self.paymaster.as_slice(), terms].concat()),
        );
        keccak256((keccak256(members.abi_encode()), chain_id).abi_encode())
    }

    /// What the SingletonPaymaster for EntryPoint 0.7 and 0.8 signs.
    fn singleton_hash(&self, chain_id: U256, terms: &[u8]) -> B256 {
        let operation = &self.params.operation;
        let data = [self.paymaster.as_slice(), self.paymaster_gas_limits().as_slice(), terms].concat();
        let members = (
            operation.sender.address,
            operation.nonce.0,
            self.account_gas_limits(),
            GasLimits::of(operation).pre_verification,
            self.fees(),
            keccak256(operation.init_code().decode()),
            keccak256(operation.call_data.decode()),
            keccak256(data),
        );
        let hash = keccak256((keccak256(members.abi_encode()), chain_id).abi_encode());
        if self.params.entry_point == EntryPoint::V07 {
            return hash;
        }
        keccak256((hash, self.delegated_init_code().unwrap_or_default()).abi_encode())
    }

    /// The hash of an initCode whose factory is `0x7702`, with the sender's code in its place.
    fn delegated_init_code(&self) -> Option<B256> {
        let init_code = self.params.operation.init_code().decode();
        let (factory, rest) = init_code.split_at_checked(Address::len_bytes())?;
        if factory != Address::right_padding_from(&DELEGATED).as_slice() {
            return None;
        }
        Some(keccak256([self.params.delegate?.as_slice(), rest].concat()))
    }

    fn account_gas_limits(&self) -> B256 {
        let gas = GasLimits::of(&self.params.operation);
        pair(gas.verification, gas.call)
    }

    fn paymaster_gas_limits(&self) -> B256 {
        let [verification, post_op] = self.gas_limits;
        pair(verification, post_op)
    }

    fn fees(&self) -> B256 {
        let operation = &self.params.operation;
        pair(operation.max_priority_fee_per_gas.0, operation.max_fee_per_gas.0)
    }
}

/// Two numbers of 16 bytes each in one word.
fn pair(high: U256, low: U256) -> B256 {
    B256::from((high << 128) | low)
}
