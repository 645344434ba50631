//! The params of ERC-7677: the operation in the form of its EntryPoint, the address of the EntryPoint, the chain id, and the context.

use alloy_primitives::{Address, address};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::value::RawValue;

use super::amount::{Amount, Quantity};
use super::members::object;
use super::operation::{AddressText, HexText, Operation};
use super::{NOT_A_CALL, RequestError};

/// A version of EntryPoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryPoint {
    /// 0.6: one member `paymasterAndData`, and no gas limits of the paymaster.
    #[serde(rename = "0.6")]
    V06,
    /// 0.7
    #[serde(rename = "0.7")]
    V07,
    /// 0.8
    #[serde(rename = "0.8")]
    V08,
    /// 0.9
    #[serde(rename = "0.9")]
    V09,
}

impl EntryPoint {
    /// Every version with its address, the same on every public chain.
    const ADDRESSES: [(Self, Address); 4] = [
        (Self::V06, address!("5FF137D4b0FDCD49DcA30c7CF57E578a026d2789")),
        (Self::V07, address!("0000000071727De22E5E9d8BAf0edAc6f37da032")),
        (Self::V08, address!("4337084D9E255Ff0702461CF8895CE9E3b5Ff108")),
        (Self::V09, address!("433709009B8330FDa32311DF1C2AFA402eD8D009")),
    ];

    /// Every version, oldest first.
    pub const ALL: [Self; 4] = [Self::V06, Self::V07, Self::V08, Self::V09];

    /// The version at an address; none when it is no EntryPoint that we know.
    pub fn at(address: Address) -> Option<Self> {
        Self::ADDRESSES.iter().find(|(_, known)| *known == address).map(|(version, _)| *version)
    }
}

/// The params of both methods.
#[derive(Debug)]
pub(crate) struct PaymasterParams<'a> {
    pub(crate) entry_point: EntryPoint,
    /// Since 0.7 its `init_code` is factory and factoryData; the factory `0x7702` is padded to 20 bytes.
    pub(crate) operation: Operation<'a>,
    /// Whether an operation of 0.7 or later has the member of 0.6 that it must not have.
    pub(crate) has_init_code: bool,
    pub(crate) verification_gas_limit: Option<Amount>,
    pub(crate) post_op_gas_limit: Option<Amount>,
    /// The code of a sender that delegates by EIP-7702.
    pub(crate) delegate: Option<Address>,
    pub(crate) chain_id: Amount,
    pub(crate) context: Context<'a>,
}

object! {
    struct Params<'a> {
        required {
            "params" => params: Vec<&'a RawValue>,
        }
    }
}

object! {
    /// The members of the context that this server reads.
    #[derive(Default)]
    pub(crate) struct Context<'a> {
        "token" => token: &'a RawValue,
    }
}

object! {
    /// An operation of EntryPoint 0.6.
    struct Operation06<'a> {
        required {
            "sender" => sender: AddressText<'a>,
            "nonce" => nonce: Quantity,
            "initCode" => init_code: HexText<'a>,
            "callData" => call_data: HexText<'a>,
            "callGasLimit" => call_gas_limit: Quantity,
            "verificationGasLimit" => verification_gas_limit: Quantity,
            "preVerificationGas" => pre_verification_gas: Quantity,
            "maxFeePerGas" => max_fee_per_gas: Quantity,
            "maxPriorityFeePerGas" => max_priority_fee_per_gas: Quantity,
        }
        "paymasterAndData" => _paymaster_and_data: HexText<'a>,
        "signature" => _signature: HexText<'a>,
    }
}

object! {
    /// An operation of EntryPoint 0.7 and later. A member of type `Option` may be null.
    struct Operation07<'a> {
        required {
            "sender" => sender: AddressText<'a>,
            "nonce" => nonce: Quantity,
            "callData" => call_data: HexText<'a>,
            "callGasLimit" => call_gas_limit: Quantity,
            "verificationGasLimit" => verification_gas_limit: Quantity,
            "preVerificationGas" => pre_verification_gas: Quantity,
            "maxFeePerGas" => max_fee_per_gas: Quantity,
            "maxPriorityFeePerGas" => max_priority_fee_per_gas: Quantity,
        }
        "initCode" => init_code: &'a RawValue,
        "factory" => factory: Option<Factory<'a>>,
        "factoryData" => factory_data: Option<HexText<'a>>,
        "paymaster" => _paymaster: Option<AddressText<'a>>,
        "paymasterData" => _paymaster_data: Option<HexText<'a>>,
        "paymasterVerificationGasLimit" => verification: Option<Quantity>,
        "paymasterPostOpGasLimit" => post_op: Option<Quantity>,
        "paymasterSignature" => _paymaster_signature: Option<HexText<'a>>,
        "signature" => _signature: HexText<'a>,
        "eip7702Auth" => authorization: Option<Authorization<'a>>,
    }
}

object! {
    /// An authorization of EIP-7702. Clients send it before it is signed, with made-up r and s.
    struct Authorization<'a> {
        required {
            "address" => address: AddressText<'a>,
            "chainId" => _chain_id: Quantity,
            "nonce" => _nonce: Quantity,
            "r" => _r: Quantity,
            "s" => _s: Quantity,
            "yParity" => _y_parity: Quantity,
        }
    }
}

/// The address of a factory, or `0x7702`.
#[derive(Debug)]
struct Factory<'a>(HexText<'a>);

impl<'de: 'a, 'a> Deserialize<'de> for Factory<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = HexText::deserialize(deserializer)?;
        if text.len() == Address::len_bytes() || text.digits() == "7702" {
            Ok(Self(text))
        } else {
            Err(D::Error::custom("not an address"))
        }
    }
}

impl<'a> PaymasterParams<'a> {
    /// Parses the params in the text of a request, whose place in the text is part of an error.
    pub(crate) fn read(text: &'a str) -> Result<Self, RequestError> {
        let members: Params<'_> = serde_json::from_str(text)?;
        let (operation, entry_point, chain_id, context) = match *members.params {
            [operation, entry_point, chain_id] => (operation, entry_point, chain_id, None),
            [operation, entry_point, chain_id, context] => (operation, entry_point, chain_id, Some(context)),
            _ => return Err(NOT_A_CALL.into()),
        };
        let entry_point: AddressText<'_> = serde_json::from_str(entry_point.get())?;
        let chain_id = serde_json::from_str::<Quantity>(chain_id.get())?;
        let context = match context {
            Some(context) => serde_json::from_str::<Option<Context<'_>>>(context.get())?,
            None => None,
        };
        let entry_point = EntryPoint::at(entry_point.address)
            .ok_or("/params/1 is the address of no EntryPoint that this service serves")?;
        let read = if entry_point == EntryPoint::V06 { Self::read_06 } else { Self::read_07 };
        let params = read(operation.get(), entry_point)?;
        Ok(Self { chain_id: chain_id.0, context: context.unwrap_or_default(), ..params })
    }

    fn read_06(text: &'a str, entry_point: EntryPoint) -> Result<Self, RequestError> {
        let members: Operation06<'_> = serde_json::from_str(text)?;
        let operation = Operation {
            sender: members.sender,
            nonce: members.nonce.0,
            init_code: Some(members.init_code),
            call_data: members.call_data,
            call_gas_limit: Some(members.call_gas_limit.0),
            verification_gas_limit: Some(members.verification_gas_limit.0),
            pre_verification_gas: Some(members.pre_verification_gas.0),
            max_fee_per_gas: members.max_fee_per_gas.0,
            max_priority_fee_per_gas: members.max_priority_fee_per_gas.0,
        };
        Ok(Self::of(entry_point, operation))
    }

    fn read_07(text: &'a str, entry_point: EntryPoint) -> Result<Self, RequestError> {
        let members: Operation07<'_> = serde_json::from_str(text)?;
        if members.factory.is_some() != members.factory_data.is_some() {
            return Err("has one of factory and factoryData without the other".into());
        }
        let factory_data = members.factory_data.flatten();
        let factory = members.factory.flatten();
        let operation = Operation {
            sender: members.sender,
            nonce: members.nonce.0,
            init_code: factory
                .map(|Factory(factory)| factory.padded(Address::len_bytes()).followed_by(factory_data)),
            call_data: members.call_data,
            call_gas_limit: Some(members.call_gas_limit.0),
            verification_gas_limit: Some(members.verification_gas_limit.0),
            pre_verification_gas: Some(members.pre_verification_gas.0),
            max_fee_per_gas: members.max_fee_per_gas.0,
            max_priority_fee_per_gas: members.max_priority_fee_per_gas.0,
        };
        Ok(Self {
            has_init_code: members.init_code.is_some_and(|member| member.get() != "null"),
            verification_gas_limit: members.verification.flatten().map(|limit| limit.0),
            post_op_gas_limit: members.post_op.flatten().map(|limit| limit.0),
            delegate: members.authorization.flatten().map(|authorization| authorization.address.address),
            ..Self::of(entry_point, operation)
        })
    }

    fn of(entry_point: EntryPoint, operation: Operation<'a>) -> Self {
        Self {
            entry_point,
            operation,
            has_init_code: false,
            verification_gas_limit: None,
            post_op_gas_limit: None,
            delegate: None,
            chain_id: Amount::default(),
            context: Context::default(),
        }
    }
}

impl Context<'_> {
    /// The token in which the sender pays; an error when it is no address.
    pub(crate) fn token(&self) -> Result<Option<Address>, serde_json::Error> {
        let text = self
            .token
            .map(|token| serde_json::from_str::<Option<AddressText<'_>>>(token.get()))
            .transpose()?;
        Ok(text.flatten().map(|text| text.address))
    }
}
