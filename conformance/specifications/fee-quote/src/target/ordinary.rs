//! Ordinary sizes. Section 8 of the specification shows no limits, so a target may set some; what wallets really send must be served
//! where the profile promises a result. A larger request may be refused, unless `[limits]` of the profile promises more.

use crate::tables::GAS;
use num_bigint::BigUint;
use paymaster_engine::json::number::{LARGEST_EXACT_INTEGER, amount, is_exact_integer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Wei in a gwei.
const GWEI: u64 = 1_000_000_000;
/// The longest ordinary callData and initCode, in bytes.
pub const CALL_DATA_BYTES: u64 = 4_096;
/// The most addresses in an ordinary `tokenList`.
pub const TOKEN_LIST_LENGTH: u64 = 10;
/// The shortest ordinary duration of a sponsorship, in seconds.
const SHORTEST_EXPIRY: u128 = 60;
/// How deep the content of ordinary webhookData is nested, itself included.
const WEBHOOK_DATA_DEPTH: usize = 4;

/// `[limits]` of the profile: sizes that the target serves where they differ from the ordinary ones of [`BOUNDS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct SizeLimits {
    /// The longest callData, in bytes. A limit above 4096 is one for initCode too.
    pub call_data_bytes: Option<u64>,
    /// The most addresses in `tokenList`.
    pub token_list_length: Option<u64>,
    /// The longest string id, in characters of any script.
    pub id_length: Option<u64>,
    /// The highest gas limit.
    pub gas_limit: Option<u64>,
    /// The highest `maxFeePerGas`, in gwei.
    pub max_fee_gwei: Option<u64>,
    /// The longest `expiryDuration`, in seconds.
    pub expiry_seconds: Option<u64>,
    /// The longest `webhookData`, in bytes of its JSON text. With this limit, its content does not decide on sponsorship.
    pub webhook_data_bytes: Option<u64>,
}

/// The parts of a request that have a size.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The id; null when it does not matter.
    pub id: &'a Value,
    /// The partial user operation.
    pub operation: &'a Value,
    /// The mode object.
    pub mode_object: &'a Value,
}

/// How large one part of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// In the unit of the bound.
    Of(u128),
    /// Of a kind that wallets do not send, whatever its size.
    Unusual,
}

/// One row of the table of ordinary sizes.
#[derive(Debug)]
pub struct Bound {
    /// A request beyond the bound, for people; `{}` stands for the largest ordinary size: `call data of more than {} bytes`.
    pub beyond: &'static str,
    /// The largest ordinary size.
    pub most: u64,
    /// Why this size, for readers of the documentation.
    pub reason: &'static str,
    /// The limit of the profile; none where no profile can promise more.
    limit: fn(&SizeLimits) -> Option<u64>,
    size: fn(&Parts<'_>) -> Size,
}

impl Bound {
    /// A request beyond this bound, for people: `call data of more than 4096 bytes`. `limits` take precedence over the table.
    pub fn in_words(&self, limits: &SizeLimits) -> String {
        let most = (self.limit)(limits).unwrap_or(self.most);
        self.beyond.replace("{}", &most.to_string())
    }
}

impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.beyond == other.beyond
    }
}

/// The table of ordinary sizes.
pub static BOUNDS: &[Bound] = &[
    Bound {
        beyond: "call data of more than {} bytes",
        most: CALL_DATA_BYTES,
        reason: "a batch of a dozen token transfers takes about 2 KiB",
        limit: |limits| limits.call_data_bytes,
        size: |parts| bytes(&parts.operation["callData"]),
    },
    Bound {
        beyond: "init code of more than {} bytes",
        most: CALL_DATA_BYTES,
        reason: "the factories of published accounts take less than 1 KiB",
        limit: |limits| limits.call_data_bytes.map(|bytes| bytes.max(CALL_DATA_BYTES)),
        size: |parts| bytes(&parts.operation["initCode"]),
    },
    Bound {
        beyond: "a list of more than {} tokens",
        most: TOKEN_LIST_LENGTH,
        reason: "wallets request the tokens that their user holds",
        limit: |limits| limits.token_list_length,
        size: |parts| Size::Of(listed(parts).count() as u128),
    },
    Bound {
        beyond: "a token that is in the list more than once",
        most: 1,
        reason: "no published client repeats a token",
        limit: |_| None,
        size: repeated_tokens,
    },
    Bound {
        beyond: "a string id of more than {} characters, or not in printable ASCII",
        most: 64,
        reason: "clients send counters, times and UUIDs",
        limit: |limits| limits.id_length,
        size: id_length,
    },
    Bound {
        beyond: "a number id above {}, or with a fraction",
        most: LARGEST_EXACT_INTEGER,
        reason: "JSON parsers with 64-bit floating-point numbers round larger integers",
        limit: |_| None,
        size: number_id,
    },
    Bound {
        beyond: "a gas limit of 0, or above {}",
        most: 30_000_000,
        reason: "the gas limit of a block",
        limit: |limits| limits.gas_limit,
        size: |parts| {
            let limits = GAS.iter().filter_map(|name| amount(parts.operation.get(*name)?));
            limits.map(positive).max_by_key(order).unwrap_or(Size::Of(0))
        },
    },
    Bound {
        beyond: "maxFeePerGas of 0, or above {} gwei",
        most: 10_000,
        reason: "far above the highest fees that chains have had",
        limit: |limits| limits.max_fee_gwei,
        size: |parts| {
            amount(&parts.operation["maxFeePerGas"]).map_or(Size::Of(0), |fee| match positive(fee) {
                Size::Of(wei) => Size::Of(wei.div_ceil(u128::from(GWEI))),
                Size::Unusual => Size::Unusual,
            })
        },
    },
    Bound {
        beyond: "maxPriorityFeePerGas above maxFeePerGas",
        most: 1,
        reason: "every chain refuses a priority fee above the maximum fee",
        limit: |_| None,
        size: |parts| {
            let fee = |name: &str| amount(&parts.operation[name]);
            match (fee("maxPriorityFeePerGas"), fee("maxFeePerGas")) {
                (Some(priority), Some(most)) if priority > most => Size::Unusual,
                _ => Size::Of(1),
            }
        },
    },
    Bound {
        beyond: "expiryDuration below 60 seconds, or above {}",
        most: 3_600,
        reason: "wallets send operations within minutes",
        limit: |limits| limits.expiry_seconds,
        size: |parts| match parts.mode_object.get("expiryDuration") {
            None => Size::Of(0),
            Some(duration) => amount(duration)
                .and_then(|seconds| u128::try_from(seconds).ok())
                .filter(|seconds| *seconds >= SHORTEST_EXPIRY)
                .map_or(Size::Unusual, Size::Of),
        },
    },
    Bound {
        beyond: "webhookData of more than {} bytes, or nested deeper than 4",
        most: 256,
        reason: "webhook data carries a few references, such as an order number; services store it in small fields",
        limit: |limits| limits.webhook_data_bytes,
        size: |parts| match &parts.mode_object["sponsorshipInfo"]["webhookData"] {
            Value::Object(data) if data.is_empty() => Size::Of(2),
            Value::Null => Size::Of(0),
            data if depth(data) > WEBHOOK_DATA_DEPTH => Size::Unusual,
            data => Size::Of(data.to_string().len() as u128),
        },
    },
];

/// The first bound that a request exceeds; none when it is of ordinary size. `limits` take precedence over the table.
pub fn exceeded(parts: &Parts<'_>, limits: &SizeLimits) -> Option<&'static Bound> {
    BOUNDS.iter().find(|bound| {
        let promised = (bound.limit)(limits);
        match (bound.size)(parts) {
            Size::Of(size) => size > u128::from(promised.unwrap_or(bound.most)),
            // A promise covers what is unusual too: ids of other scripts, deep webhook data.
            Size::Unusual => promised.is_none(),
        }
    })
}

fn order(size: &Size) -> u128 {
    match size {
        Size::Of(size) => *size,
        Size::Unusual => u128::MAX,
    }
}

/// An amount that is at least 1. Zero is a request for an estimate.
fn positive(amount: BigUint) -> Size {
    if amount.bits() == 0 {
        return Size::Unusual;
    }
    Size::Of(u128::try_from(amount).unwrap_or(u128::MAX))
}

/// The bytes of a hex string.
fn bytes(data: &Value) -> Size {
    Size::Of(data.as_str().map_or(0, |data| data.len().saturating_sub(2) / 2) as u128)
}

fn listed<'a>(parts: &Parts<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let list = parts.mode_object["tokenInfo"]["tokenList"].as_array();
    list.into_iter().flatten().filter_map(Value::as_str)
}

fn repeated_tokens(parts: &Parts<'_>) -> Size {
    let tokens: Vec<&str> = listed(parts).collect();
    let is_repeated = |(place, token): (usize, &&str)| {
        let mut earlier = tokens[..place].iter();
        earlier.any(|other| other.eq_ignore_ascii_case(token))
    };
    if tokens.iter().enumerate().any(is_repeated) { Size::Unusual } else { Size::Of(1) }
}

fn id_length(parts: &Parts<'_>) -> Size {
    match parts.id.as_str() {
        Some(id) if id.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => Size::Of(id.len() as u128),
        Some(_) => Size::Unusual,
        None => Size::Of(0),
    }
}

fn number_id(parts: &Parts<'_>) -> Size {
    if parts.id.is_number() && !is_exact_integer(parts.id) { Size::Unusual } else { Size::Of(0) }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or_default(),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}
