//! Operations for EntryPoint 0.6 to 0.9 as clients send them: JSON members, not packed. Packs and hashes them as each EntryPoint does.

use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256, address, hex, keccak256};
use alloy_sol_types::SolValue;
use serde_json::Value;

use crate::calls::{PackedUserOperation, UserOperation};

/// A version of EntryPoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display, strum::IntoStaticStr)]
pub enum EntryPointVersion {
    #[strum(serialize = "0.6")]
    V06,
    #[strum(serialize = "0.7")]
    V07,
    #[strum(serialize = "0.8")]
    V08,
    #[strum(serialize = "0.9")]
    V09,
}

impl EntryPointVersion {
    /// Every version, oldest first.
    pub const ALL: [Self; 4] = [Self::V06, Self::V07, Self::V08, Self::V09];

    /// The address at which this version is deployed on every public chain.
    pub const fn address(self) -> Address {
        match self {
            Self::V06 => address!("5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"),
            Self::V07 => address!("0000000071727De22E5E9d8BAf0edAc6f37da032"),
            Self::V08 => address!("4337084D9E255Ff0702461CF8895CE9E3b5Ff108"),
            Self::V09 => address!("433709009B8330FDa32311DF1C2AFA402eD8D009"),
        }
    }

    /// The version that is deployed at this address, in any letter case; none for another address.
    pub fn at(address: &str) -> Option<Self> {
        let address: Address = address.parse().ok()?;
        Self::ALL.into_iter().find(|version| version.address() == address)
    }

    /// Where the paymaster's own data begins in paymasterAndData, in bytes: behind its address and, since 0.7, its two gas limits.
    pub const fn paymaster_data_offset(self) -> usize {
        if matches!(self, Self::V06) { 20 } else { 52 }
    }
}

/// An operation, with initCode and paymasterAndData as its EntryPoint takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub version: EntryPointVersion,
    /// The members in the form of EntryPoint 0.6; fees are in wei, and the signature is empty if there is none.
    ///
    /// Since 0.7, initCode is factory (`0x7702` is padded with zeros to 20 bytes) and factoryData; paymasterAndData is paymaster, its two gas
    /// limits (16 bytes each) and paymasterData, in 0.9 with the suffix of a paymasterSignature.
    pub members: UserOperation,
    /// The contract to which the account delegates by EIP-7702: `eip7702Auth.address`.
    pub delegate: Option<Address>,
}

/// The factory that stands for an account that delegates by EIP-7702.
const DELEGATED: [u8; 2] = [0x77, 0x02];
/// The end of a paymasterAndData of EntryPoint 0.9 with a paymasterSignature: the signature, its length (2 bytes), these bytes.
const PAYMASTER_SIGNATURE_MAGIC: [u8; 8] = hex!("22e325a297439656");

impl Operation {
    /// Reads an operation. A later source overrides an earlier one, member by member (such as the members of a result those of the
    /// request); `null` counts as absent.
    ///
    /// # Errors
    /// The name of a member that is missing though every client sends it, or malformed, or too large for its EntryPoint.
    pub fn read(version: EntryPointVersion, sources: &[&Value]) -> Result<Self, &'static str> {
        let json = Members { version, sources };
        let optional_bytes = |name| json.bytes(name).map(Option::unwrap_or_default);
        let (init_code, paymaster_and_data) = if version == EntryPointVersion::V06 {
            (optional_bytes("initCode")?, optional_bytes("paymasterAndData")?)
        } else {
            (json.init_code()?, json.paymaster_and_data()?)
        };
        let members = UserOperation {
            sender: json.address("sender")?.ok_or("sender")?,
            nonce: json.quantity("nonce")?,
            initCode: init_code,
            callData: json.bytes("callData")?.ok_or("callData")?,
            callGasLimit: json.gas("callGasLimit")?,
            verificationGasLimit: json.gas("verificationGasLimit")?,
            preVerificationGas: json.quantity("preVerificationGas")?,
            maxFeePerGas: json.gas("maxFeePerGas")?,
            maxPriorityFeePerGas: json.gas("maxPriorityFeePerGas")?,
            paymasterAndData: paymaster_and_data,
            signature: optional_bytes("signature")?,
        };
        Ok(Self { version, members, delegate: json.delegate()? })
    }

    /// The contract that pays: the first 20 bytes of paymasterAndData; none when there are fewer.
    pub fn paymaster(&self) -> Option<Address> {
        self.members.paymasterAndData.get(..20).map(Address::from_slice)
    }

    /// The gas limits of the paymaster's validation and of its postOp; 0 in 0.6, which has none.
    pub fn paymaster_gas_limits(&self) -> [U256; 2] {
        let limits = self.members.paymasterAndData.get(20..self.version.paymaster_data_offset());
        match limits {
            Some(limits) if !limits.is_empty() => {
                [U256::from_be_slice(&limits[..16]), U256::from_be_slice(&limits[16..])]
            }
            _ => [U256::ZERO; 2],
        }
    }

    /// The form of EntryPoint 0.7 and later. Limits and fees must be below 2^128.
    pub fn packed(&self) -> PackedUserOperation {
        let pair = |high: U256, low: U256| B256::from((high << 128) | low);
        let members = self.members.clone();
        PackedUserOperation {
            sender: members.sender,
            nonce: members.nonce,
            initCode: members.initCode,
            callData: members.callData,
            accountGasLimits: pair(members.verificationGasLimit, members.callGasLimit),
            preVerificationGas: members.preVerificationGas,
            gasFees: pair(members.maxPriorityFeePerGas, members.maxFeePerGas),
            paymasterAndData: members.paymasterAndData,
            signature: members.signature,
        }
    }

    /// The hash that the account signs: `userOpHash` of the EntryPoint at this address.
    pub fn hash(&self, entry_point: Address, chain_id: u64) -> B256 {
        let chain_id = U256::from(chain_id);
        match self.version {
            EntryPointVersion::V06 => {
                let operation = (
                    self.members.sender,
                    self.members.nonce,
                    keccak256(&self.members.initCode),
                    keccak256(&self.members.callData),
                    self.members.callGasLimit,
                    self.members.verificationGasLimit,
                    self.members.preVerificationGas,
                    self.members.maxFeePerGas,
                    self.members.maxPriorityFeePerGas,
                    keccak256(&self.members.paymasterAndData),
                );
                keccak256((keccak256(operation.abi_encode()), entry_point, chain_id).abi_encode())
            }
            EntryPointVersion::V07 => {
                let operation = self.members_hashed(keccak256(&self.members.initCode));
                keccak256((keccak256(operation), entry_point, chain_id).abi_encode())
            }
            EntryPointVersion::V08 | EntryPointVersion::V09 => {
                let domain = (
                    keccak256(
                        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
                    ),
                    keccak256("ERC4337"),
                    keccak256("1"),
                    chain_id,
                    entry_point,
                );
                let kind = keccak256(
                    "PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,\
                     uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)",
                );
                let init_code =
                    self.delegated_init_code_hash().unwrap_or_else(|| keccak256(&self.members.initCode));
                let operation = [kind.to_vec(), self.members_hashed(init_code)].concat();
                let digests = [keccak256(domain.abi_encode()), keccak256(operation)].concat();
                keccak256([b"\x19\x01".as_slice(), &digests].concat())
            }
        }
    }

    /// The eight members of the packed form, with hashes of the long ones.
    fn members_hashed(&self, init_code_hash: B256) -> Vec<u8> {
        let packed = self.packed();
        let members = (
            packed.sender,
            packed.nonce,
            init_code_hash,
            keccak256(packed.callData),
            packed.accountGasLimits,
            packed.preVerificationGas,
            packed.gasFees,
            keccak256(self.hashed_paymaster_and_data()),
        );
        members.abi_encode()
    }

    /// This operation with the factory `0x7702` packed as two bytes instead of twenty, as some bundlers do: EntryPoint 0.8 accepts both. None
    /// for another factory, or with factoryData.
    pub fn with_short_factory(&self) -> Option<Self> {
        let is_padded = self.members.initCode[..] == Address::right_padding_from(&DELEGATED)[..];
        is_padded.then(|| {
            let mut short = self.clone();
            short.members.initCode = Bytes::from_static(&DELEGATED);
            short
        })
    }

    /// The hash of an initCode whose factory `0x7702` is replaced by the delegate. None for another factory, and when the delegate is
    /// unknown.
    pub(crate) fn delegated_init_code_hash(&self) -> Option<B256> {
        let factory = self.members.initCode.get(..20)?;
        if factory[..2] != DELEGATED || factory[2..].iter().any(|byte| *byte != 0) {
            return None;
        }
        Some(keccak256([self.delegate?.as_slice(), &self.members.initCode[20..]].concat()))
    }

    /// What of paymasterAndData the account signs: in 0.9, the magic bytes stand for a paymasterSignature with its length.
    fn hashed_paymaster_and_data(&self) -> Vec<u8> {
        let data = &self.members.paymasterAndData;
        let signed = || {
            let before_magic = data.strip_suffix(&PAYMASTER_SIGNATURE_MAGIC)?;
            let (before, length) = before_magic.split_last_chunk::<2>()?;
            let length = usize::from(u16::from_be_bytes(*length));
            let signed = before.len().checked_sub(length)?;
            let is_signed = self.version == EntryPointVersion::V09
                && length > 0
                && signed >= self.version.paymaster_data_offset();
            is_signed.then(|| [&before[..signed], &PAYMASTER_SIGNATURE_MAGIC].concat())
        };
        signed().unwrap_or_else(|| data.to_vec())
    }
}

/// The members of an operation in JSON.
struct Members<'a> {
    version: EntryPointVersion,
    sources: &'a [&'a Value],
}

impl Members<'_> {
    fn get(&self, name: &str) -> Option<&Value> {
        self.sources.iter().rev().filter_map(|source| source.get(name)).find(|value| !value.is_null())
    }

    fn bytes(&self, name: &'static str) -> Result<Option<Bytes>, &'static str> {
        self.get(name).map(|value| hex_bytes(value).ok_or(name)).transpose()
    }

    /// An address; none if it is absent or `0x`.
    fn address(&self, name: &'static str) -> Result<Option<Address>, &'static str> {
        let bytes = self.bytes(name)?.filter(|bytes| !bytes.is_empty());
        bytes.map(|bytes| Address::try_from(&bytes[..]).map_err(|_| name)).transpose()
    }

    fn quantity(&self, name: &'static str) -> Result<U256, &'static str> {
        let value = self.get(name).ok_or(name)?;
        quantity(value).ok_or(name)
    }

    /// A gas limit or a fee.
    fn gas(&self, name: &'static str) -> Result<U256, &'static str> {
        let value = self.quantity(name)?;
        let fits = self.version == EntryPointVersion::V06 || value <= U256::from(u128::MAX);
        // Since 0.7, limits and fees are packed into 16 bytes.
        if fits { Ok(value) } else { Err(name) }
    }

    /// A gas limit of the paymaster, as 16 bytes; 0 if it is absent.
    fn paymaster_gas(&self, name: &'static str) -> Result<FixedBytes<16>, &'static str> {
        let limit = if self.get(name).is_some() { self.gas(name)? } else { U256::ZERO };
        Ok(FixedBytes::from(limit.to::<u128>()))
    }

    fn init_code(&self) -> Result<Bytes, &'static str> {
        let factory = match self.bytes("factory")? {
            Some(factory) if factory[..] == DELEGATED => Address::right_padding_from(&factory),
            Some(factory) if !factory.is_empty() => Address::try_from(&factory[..]).map_err(|_| "factory")?,
            _ => return Ok(Bytes::new()),
        };
        let data = self.bytes("factoryData")?.unwrap_or_default();
        Ok([factory.as_slice(), &data].concat().into())
    }

    fn paymaster_and_data(&self) -> Result<Bytes, &'static str> {
        let Some(paymaster) = self.address("paymaster")? else { return Ok(Bytes::new()) };
        let mut data = paymaster.to_vec();
        data.extend(self.paymaster_gas("paymasterVerificationGasLimit")?);
        data.extend(self.paymaster_gas("paymasterPostOpGasLimit")?);
        data.extend(self.bytes("paymasterData")?.unwrap_or_default());
        if self.version == EntryPointVersion::V09
            && let Some(signature) = self.bytes("paymasterSignature")?.filter(|bytes| !bytes.is_empty())
        {
            let length = u16::try_from(signature.len()).map_err(|_| "paymasterSignature")?;
            data.extend_from_slice(&signature);
            data.extend_from_slice(&length.to_be_bytes());
            data.extend_from_slice(&PAYMASTER_SIGNATURE_MAGIC);
        }
        Ok(data.into())
    }

    fn delegate(&self) -> Result<Option<Address>, &'static str> {
        let Some(authorization) = self.get("eip7702Auth") else { return Ok(None) };
        let address = authorization["address"].as_str().and_then(|text| text.parse().ok());
        address.map(Some).ok_or("eip7702Auth")
    }
}

/// The bytes of `0x` and an even number of hex digits.
pub fn hex_bytes(value: &Value) -> Option<Bytes> {
    bytes_of(value.as_str()?).map(Bytes::from)
}

/// What [`hex_bytes`] gives for a text.
pub(crate) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    // The library alone would take a second prefix too.
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with("0x"));
    hex::decode(digits?).ok()
}

/// An amount in hex (`0x` and at least one digit), as a decimal string or as a JSON number. At most 256 bits.
pub(crate) fn quantity(value: &Value) -> Option<U256> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let (digits, radix) = text.strip_prefix("0x").map_or((text.as_str(), 10), |digits| (digits, 16));
    // U256 alone would accept underscores.
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| U256::from_str_radix(digits, radix.into()).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bytes_have_one_prefix_and_whole_bytes() {
        assert_eq!(hex_bytes(&json!("0x0aFf")), Some(vec![0x0a, 0xff].into()));
        assert_eq!(hex_bytes(&json!("0x")), Some(Bytes::new()));
        for wrong in ["0x0x0aff", "0x0xff", "0X0aff", "0aff", "", "0x0af", "0x 0", "0xgg"] {
            assert_eq!(hex_bytes(&json!(wrong)), None, "{wrong}");
        }
    }

    const CHAIN: u64 = 31_337;

    /// The operation whose hashes the deployed contracts of each version computed.
    fn members(version: EntryPointVersion) -> Value {
        let mut members = json!({
            "sender": "0x1306b01bc3e4ad202612d3843387e94737673f53",
            "nonce": "0x1a2b3c0000000000000000",
            "callData": "0xb61d27f6",
            "callGasLimit": "0x186a0",
            "verificationGasLimit": "200000",
            "preVerificationGas": 50_000,
            "maxFeePerGas": "0xb2d05e00",
            "maxPriorityFeePerGas": "0x3b9aca00",
            "signature": "0x",
        });
        let paymaster = "0x2222222222222222222222222222222222222222";
        if version == EntryPointVersion::V06 {
            members["initCode"] = json!("0x");
            members["paymasterAndData"] = json!(format!("{paymaster}010203"));
        } else {
            members["factory"] = Value::Null;
            members["paymaster"] = json!(paymaster);
            members["paymasterVerificationGasLimit"] = json!("0xc350");
            members["paymasterPostOpGasLimit"] = json!("0x7530");
            members["paymasterData"] = json!("0x010203");
        }
        members
    }

    fn hash(version: EntryPointVersion, sources: &[&Value]) -> String {
        Operation::read(version, sources).unwrap().hash(version.address(), CHAIN).to_string()
    }

    #[test]
    fn every_version_hashes_as_its_contract_does() {
        for (version, expected) in EntryPointVersion::ALL.into_iter().zip([
            "0x53988151576b9d354a54bc8e0074b2a5a344901d94708fa6297789545c6c69ee",
            "0x15ee72a16eee4681dec58438b11f7ff08544db15e02e593fc39590f350f4ecfd",
            "0x2c19c8e06570f098e8042f18ff049fc5529f68bb3730262392ef0d46f63af34c",
            "0x2aefe6f687abead0503a0a33d71e9ecc25a34e7b6d3343826d8a7ec2a185ed86",
        ]) {
            assert_eq!(hash(version, &[&members(version)]), expected, "{version}");
        }
    }

    #[test]
    fn paymaster_and_data_is_packed_as_its_contract_takes_it() {
        let limits = "0000000000000000000000000000c35000000000000000000000000000007530";
        for version in EntryPointVersion::ALL {
            let operation = Operation::read(version, &[&members(version)]).unwrap();
            let limits = if version == EntryPointVersion::V06 { "" } else { limits };
            let expected = format!("0x2222222222222222222222222222222222222222{limits}010203");
            assert_eq!(operation.members.paymasterAndData.to_string(), expected);
            assert_eq!(operation.packed().paymasterAndData, operation.members.paymasterAndData);
            assert_eq!(operation.paymaster(), Some(Address::repeat_byte(0x22)));
            let gas = if version == EntryPointVersion::V06 { [0, 0] } else { [50_000, 30_000] };
            assert_eq!(operation.paymaster_gas_limits(), gas.map(U256::from));
        }
    }

    #[test]
    fn the_hash_of_0_9_leaves_the_paymaster_signature_out() {
        let sent = members(EntryPointVersion::V09);
        let expected = "0x6c25947ff8e9847ef64ebdb422844c3ee42c0f7036a9045137ed82232989cc2d";
        for byte in ["ab", "cd"] {
            let signature = json!({ "paymasterSignature": format!("0x{}", byte.repeat(65)) });
            assert_eq!(hash(EntryPointVersion::V09, &[&sent, &signature]), expected);
        }
        let without = json!({ "paymasterSignature": "0x" });
        assert_eq!(hash(EntryPointVersion::V09, &[&sent, &without]), hash(EntryPointVersion::V09, &[&sent]));
    }

    #[test]
    fn a_suffix_without_a_signature_and_one_before_0_9_are_plain_data() {
        let suffix = |length: usize| {
            let signature = "ab".repeat(length);
            json!({ "paymasterData": format!("0x010203{signature}{length:04x}22e325a297439656") })
        };
        let hash = |version, length| hash(version, &[&members(version), &suffix(length)]);
        assert_eq!(
            hash(EntryPointVersion::V09, 0),
            "0x3202b3dabe17204ffda1fcd720b1862e0ed63eead8eb0290bbb2b3749519667c"
        );
        assert_eq!(
            hash(EntryPointVersion::V08, 65),
            "0x0110caf86085f64d6770b797525720eec235c0bb16d6a930d966756d9c248a28"
        );
    }

    #[test]
    fn the_factory_of_eip_7702_alone_may_be_two_bytes() {
        let short = |data: &str| {
            let own = json!({ "factory": "0x7702", "factoryData": data });
            let operation =
                Operation::read(EntryPointVersion::V08, &[&members(EntryPointVersion::V08), &own]);
            operation.unwrap().with_short_factory().map(|operation| operation.members.initCode)
        };
        assert_eq!(short("0x"), Some(Bytes::from_static(&DELEGATED)));
        assert_eq!(short("0x01"), None, "the data begin behind 20 bytes");
    }

    #[test]
    fn the_delegate_replaces_the_factory_of_eip_7702_before_hashing() {
        let short = json!({ "factory": "0x7702", "factoryData": "0x0102" });
        let padded = json!({ "factory": format!("0x7702{}", "0".repeat(36)), "factoryData": "0x0102" });
        let delegate = "0xe6Cae83BdE06E4c305530e199D7217f42808555B";
        let authorization = json!({ "eip7702Auth": { "address": delegate, "chainId": "0x7a69" } });
        let as_factory = json!({ "factory": delegate, "factoryData": "0x0102" });
        for (version, expected) in [
            (EntryPointVersion::V08, "0x92d5a8fa80a3ae1a80b9311628724efc26334043459ff83bf50df48336dfb872"),
            (EntryPointVersion::V09, "0x6d3dffee599c7dac72697b0bf04efc9c9cdebcbce38a7bd96be7cf0c6d542ec2"),
        ] {
            let sent = members(version);
            assert_eq!(hash(version, &[&sent, &as_factory]), expected);
            assert_eq!(hash(version, &[&sent, &short, &authorization]), expected);
            assert_eq!(hash(version, &[&sent, &padded, &authorization]), expected);
            assert_ne!(hash(version, &[&sent, &short]), expected, "the delegate is unknown");
        }
        let version = EntryPointVersion::V07;
        let sent = members(version);
        assert_ne!(
            hash(version, &[&sent, &short, &authorization]),
            hash(version, &[&sent, &as_factory]),
            "0.7 knows no EIP-7702"
        );
    }

    #[test]
    fn malformed_members_are_named() {
        let read = |version, change: Value| Operation::read(version, &[&members(version), &change]).err();
        let [v06, v07] = [EntryPointVersion::V06, EntryPointVersion::V07];
        assert_eq!(read(v07, json!({ "nonce": "0x" })), Some("nonce"));
        assert_eq!(read(v07, json!({ "nonce": "1_0" })), Some("nonce"));
        assert_eq!(read(v07, json!({ "nonce": 1.5 })), Some("nonce"));
        assert_eq!(read(v07, json!({ "callData": "0x1" })), Some("callData"));
        assert_eq!(read(v07, json!({ "factory": "0x7703" })), Some("factory"));
        assert_eq!(read(v07, json!({ "factory": "0x" })), None);
        let large = json!({ "callGasLimit": format!("0x1{}", "0".repeat(32)) });
        assert_eq!(read(v07, large.clone()), Some("callGasLimit"));
        assert_eq!(read(v06, large), None);
        let missing = Operation::read(v06, &[&json!({ "sender": members(v06)["sender"] })]);
        assert_eq!(missing, Err("nonce"));
    }

    #[test]
    fn an_entry_point_is_found_in_any_letter_case() {
        for version in EntryPointVersion::ALL {
            let address = version.address().to_string();
            let upper = format!("0x{}", address[2..].to_uppercase());
            for spelled in [address.clone(), address.to_lowercase(), upper] {
                assert_eq!(EntryPointVersion::at(&spelled), Some(version));
            }
        }
        assert_eq!(EntryPointVersion::at("0x2222222222222222222222222222222222222222"), None);
    }
}
