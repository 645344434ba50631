//! The operation that an answer completes, for its simulation on a chain with EntryPoint v0.6.

use crate::{SPECIFICATION, call::CallParts};
use alloy_primitives::{Bytes, U256, hex};
use paymaster_engine::{
    json::number::amount,
    message::{answer::Answer, request::ParsedRequest},
};
use paymaster_schemas::Mode;
use serde_json::Value;

use paymaster_ethereum::{CompletedOperation, UserOperation};
use paymaster_exchange::Exchange;

/// A well-formed signature of no account: accounts that check it report a wrong signature instead of reverting.
const DUMMY_SIGNATURE: [u8; 65] = {
    let mut signature = [0xff; 65];
    let mut place = 16;
    while place < 33 {
        signature[place] = 0;
        place += 1;
    }
    signature[32] = 0x07;
    place = 33;
    while place < 64 {
        signature[place] = 0xaa;
        place += 1;
    }
    signature[64] = 0x1c;
    signature
};

/// The operation of an exchange whose result carries a paymasterAndData, `0x` alone excepted.
pub fn completed(exchange: &Exchange) -> Option<CompletedOperation> {
    let kind = ParsedRequest::of(&exchange.request, &SPECIFICATION);
    let call = kind.valid_call()?;
    let answer = Answer::of(exchange);
    let result = answer.result()?;
    let sent = call.operation();
    let paymaster_and_data = bytes(result.get("paymasterAndData")?)?;
    if paymaster_and_data.is_empty() {
        return None;
    }
    let bytes_of = |member: &str| sent.get(member).map_or(Some(Bytes::new()), bytes);
    let signature = bytes_of("signature")
        .filter(|signature| !signature.is_empty())
        .unwrap_or_else(|| Bytes::from(DUMMY_SIGNATURE));
    Some(CompletedOperation {
        operation: UserOperation {
            sender: sent.get("sender")?.as_str()?.parse().ok()?,
            nonce: uint(sent.get("nonce")?)?,
            initCode: bytes_of("initCode")?,
            callData: bytes_of("callData")?,
            callGasLimit: uint(result.get("callGasLimit")?)?,
            verificationGasLimit: uint(result.get("verificationGasLimit")?)?,
            preVerificationGas: uint(result.get("preVerificationGas")?)?,
            maxFeePerGas: uint(sent.get("maxFeePerGas")?)?,
            maxPriorityFeePerGas: uint(sent.get("maxPriorityFeePerGas")?)?,
            paymasterAndData: paymaster_and_data,
            signature,
        },
        pays_in_tokens: Mode::of(call.pair) == Mode::Erc20,
    })
}

fn bytes(value: &Value) -> Option<Bytes> {
    hex::decode(value.as_str()?.strip_prefix("0x")?).ok().map(Bytes::from)
}

fn uint(value: &Value) -> Option<U256> {
    U256::try_from_be_slice(&amount(value)?.to_bytes_be())
}
