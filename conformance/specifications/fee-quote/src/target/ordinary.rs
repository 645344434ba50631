//! Ordinary sizes. Section 8 of the specification shows no limits, so a target may set some; what wallets really send must be served
//! where the profile promises a result. A larger request may be refused, unless `[limits]` of the profile promises more.

use crate::relations::{MODE, OPERATION, SPONSORSHIP_INFO};
use crate::tables::GAS;
use alloy_primitives::hex;
use num_bigint::BigUint;
use paymaster_engine::cases::set;
use paymaster_engine::json::{LARGEST_EXACT_INTEGER, amount, is_exact_integer};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

/// The size of a part; none where it is unusual whatever its size.
type Size = Option<u128>;

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
    /// Gives a request that size, in the unit of the bound; the last argument writes an amount as the target reads it. None where a size
    /// is not enough, or another relation sends such requests.
    resize: Option<Resize>,
}

/// Writes an amount of the operation, by the name of its member, in the notation of the target.
pub(crate) type WriteAmount<'a> = &'a dyn Fn(&str, BigUint) -> Value;

type Resize = fn(&mut Value, u64, WriteAmount<'_>);

impl Bound {
    const fn new(beyond: &'static str, most: u64, size: fn(&Parts<'_>) -> Size) -> Self {
        Self { beyond, most, reason: "", limit: |_| None, size, resize: None }
    }

    const fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    const fn promised_by(self, limit: fn(&SizeLimits) -> Option<u64>) -> Self {
        Self { limit, ..self }
    }

    const fn resized_by(self, resize: Resize) -> Self {
        Self { resize: Some(resize), ..self }
    }

    /// The largest size that the target must serve.
    pub(crate) fn promised(&self, limits: &SizeLimits) -> u64 {
        (self.limit)(limits).unwrap_or(self.most)
    }

    /// The request with this size of the part that the bound is about; none where it has no such part, or the bound has no size.
    pub(crate) fn resized(&self, request: &Value, size: u64, write: WriteAmount<'_>) -> Option<Value> {
        let mut resized = request.clone();
        (self.resize?)(&mut resized, size, write);
        (resized != *request).then_some(resized)
    }

    /// A request beyond this bound, for people: `call data of more than 4096 bytes`. `limits` take precedence over the table.
    pub fn in_words(&self, limits: &SizeLimits) -> String {
        let most = self.promised(limits);
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
    Bound::new("call data of more than {} bytes", CALL_DATA_BYTES, |parts| {
        Some(bytes(&parts.operation["callData"]))
    })
    .because("a batch of a dozen token transfers takes about 2 KiB")
    .promised_by(|limits| limits.call_data_bytes)
    .resized_by(|request, size, _| set(request, OPERATION, "callData", json!(hex(count(size), 0)))),
    Bound::new("init code of more than {} bytes", CALL_DATA_BYTES, |parts| {
        Some(bytes(&parts.operation["initCode"]))
    })
    .because("the factories of published accounts take less than 1 KiB")
    .promised_by(|limits| limits.call_data_bytes.map(|bytes| bytes.max(CALL_DATA_BYTES)))
    .resized_by(|request, size, _| set(request, OPERATION, "initCode", json!(hex(count(size), 0)))),
    // The relation `long-token-list` sends requests beyond it.
    Bound::new("a list of more than {} tokens", TOKEN_LIST_LENGTH, |parts| {
        Some(listed(parts).count() as u128)
    })
    .because("wallets request the tokens that their user holds")
    .promised_by(|limits| limits.token_list_length),
    Bound::new("a token that is in the list more than once", 1, repeated_tokens)
        .because("no published client repeats a token"),
    Bound::new("a string id of more than {} characters, or not in printable ASCII", 64, id_length)
        .because("clients send counters, times and UUIDs")
        .promised_by(|limits| limits.id_length)
        .resized_by(|request, size, _| {
            request["id"] = json!("id-".chars().cycle().take(count(size)).collect::<String>());
        }),
    Bound::new("a number id above {}, or with a fraction", LARGEST_EXACT_INTEGER, number_id)
        .because("JSON parsers with 64-bit floating-point numbers round larger integers")
        .resized_by(|request, size, _| request["id"] = json!(size)),
    Bound::new("a gas limit of 0, or above {}", 30_000_000, |parts| {
        let limits = GAS.iter().filter_map(|name| amount(parts.operation.get(*name)?));
        Some(limits.map(positive).max().unwrap_or(0))
    })
    .because("the gas limit of a block")
    .promised_by(|limits| limits.gas_limit)
    .resized_by(|request, size, write| {
        set(request, OPERATION, "callGasLimit", write("callGasLimit", size.into()));
    }),
    Bound::new("maxFeePerGas of 0, or above {} gwei", 10_000, |parts| {
        amount(&parts.operation["maxFeePerGas"])
            .map_or(Some(0), |fee| Some(positive(fee).div_ceil(u128::from(GWEI))))
    })
    .because("far above the highest fees that chains have had")
    .promised_by(|limits| limits.max_fee_gwei)
    .resized_by(|request, size, write| {
        let fee = BigUint::from(size) * GWEI;
        set(request, OPERATION, "maxFeePerGas", write("maxFeePerGas", fee));
    }),
    Bound::new("maxPriorityFeePerGas above maxFeePerGas", 1, |parts| {
        let fee = |name: &str| amount(&parts.operation[name]);
        match (fee("maxPriorityFeePerGas"), fee("maxFeePerGas")) {
            (Some(priority), Some(most)) if priority > most => None,
            _ => Some(1),
        }
    })
    .because("every chain refuses a priority fee above the maximum fee"),
    Bound::new("expiryDuration below 60 seconds, or above {}", 3_600, |parts| {
        match parts.mode_object.get("expiryDuration") {
            None => Some(0),
            Some(duration) => {
                let seconds = u128::try_from(amount(duration)?).ok()?;
                Some(if seconds >= SHORTEST_EXPIRY { seconds } else { TOO_SMALL })
            }
        }
    })
    .because("wallets send operations within minutes")
    .promised_by(|limits| limits.expiry_seconds)
    .resized_by(|request, size, _| {
        if request["params"][1].get("expiryDuration").is_some() {
            set(request, MODE, "expiryDuration", json!(size));
        }
    }),
    Bound::new("webhookData of more than {} bytes, or nested deeper than 4", 256, |parts| {
        match &parts.mode_object["sponsorshipInfo"]["webhookData"] {
            Value::Object(data) if data.is_empty() => Some(2),
            Value::Null => Some(0),
            data if depth(data) > WEBHOOK_DATA_DEPTH => None,
            data => Some(data.to_string().len() as u128),
        }
    })
    .because(
        "webhook data carries a few references, such as an order number; services store it in small fields",
    )
    .promised_by(|limits| limits.webhook_data_bytes)
    .resized_by(|request, size, _| {
        let letters = count(size).saturating_sub(r#"{"note":""}"#.len());
        set(request, SPONSORSHIP_INFO, "webhookData", json!({ "note": "n".repeat(letters) }));
    }),
];

/// The first bound that a request exceeds; none when it is of ordinary size. `limits` take precedence over the table.
pub fn exceeded(parts: &Parts<'_>, limits: &SizeLimits) -> Option<&'static Bound> {
    BOUNDS.iter().find(|bound| {
        let promised = (bound.limit)(limits);
        match (bound.size)(parts) {
            Some(size) => size > u128::from(promised.unwrap_or(bound.most)),
            // A promise covers what is unusual too: ids of other scripts, deep webhook data.
            None => promised.is_none(),
        }
    })
}

/// A number of bytes or letters. A promise of more is exercised with so many.
fn count(size: u64) -> usize {
    const MOST: usize = 128 * 1024;
    usize::try_from(size).unwrap_or(MOST).min(MOST)
}

/// That many bytes of varied content, which differs by the last byte of the salt.
pub(crate) fn hex(bytes: usize, salt: u32) -> String {
    let varied = |place: u8| place.wrapping_mul(31).wrapping_add(salt.to_le_bytes()[0]);
    hex::encode_prefixed((0..=u8::MAX).cycle().map(varied).take(bytes).collect::<Vec<u8>>())
}

/// The size of what is too small to be ordinary: no limit of a profile promises it.
const TOO_SMALL: u128 = u128::MAX;

/// An amount that is at least 1. Zero is a request for an estimate.
fn positive(amount: BigUint) -> u128 {
    if amount.bits() > 0 { u128::try_from(amount).unwrap_or(u128::MAX) } else { TOO_SMALL }
}

/// The bytes of a hex string.
fn bytes(data: &Value) -> u128 {
    data.as_str().map_or(0, |data| data.len().saturating_sub(2) / 2) as u128
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
    (!tokens.iter().enumerate().any(is_repeated)).then_some(1)
}

fn id_length(parts: &Parts<'_>) -> Size {
    match parts.id.as_str() {
        Some(id) if id.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => Some(id.len() as u128),
        Some(_) => None,
        None => Some(0),
    }
}

fn number_id(parts: &Parts<'_>) -> Size {
    if parts.id.is_number() && !is_exact_integer(parts.id) { None } else { Some(0) }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or_default(),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_just_inside_a_bound_is_ordinary_and_one_just_beyond_is_not() {
        let request = json!({"id": 1, "params": [
            {"callData": "0x", "callGasLimit": "1", "maxFeePerGas": "1", "maxPriorityFeePerGas": "1"},
            {"expiryDuration": 60, "sponsorshipInfo": {"webhookData": {}}},
        ]});
        let write = |_: &str, amount: BigUint| json!(amount.to_string());
        let promised =
            SizeLimits { call_data_bytes: Some(5_000), id_length: Some(70), ..SizeLimits::default() };
        for limits in [SizeLimits::default(), promised] {
            for bound in BOUNDS.iter().filter(|bound| bound.resize.is_some()) {
                let exceeded = |size: u64| {
                    let request = bound.resized(&request, size, &write).unwrap();
                    let (operation, mode_object) = (&request["params"][0], &request["params"][1]);
                    exceeded(&Parts { id: &request["id"], operation, mode_object }, &limits)
                };
                let most = bound.promised(&limits);
                assert_eq!(exceeded(most), None, "{}", bound.beyond);
                assert_eq!(exceeded(most / 2 + 1), None, "{}", bound.beyond);
                assert_eq!(exceeded(most + 1), Some(bound), "{}", bound.beyond);
            }
        }
    }

    #[test]
    fn what_is_too_small_to_be_ordinary_is_promised_by_no_limit() {
        let limits = SizeLimits {
            expiry_seconds: Some(86_400),
            gas_limit: Some(60_000_000),
            max_fee_gwei: Some(20_000),
            ..SizeLimits::default()
        };
        let beyond = |name: &str, value: u64| {
            let mut operation = json!({ "callGasLimit": "1", "maxFeePerGas": "1" });
            let mut mode_object = json!({ "expiryDuration": 60 });
            let place = if name == "expiryDuration" { &mut mode_object } else { &mut operation };
            place[name] = json!(value);
            exceeded(&Parts { id: &json!(1), operation: &operation, mode_object: &mode_object }, &limits)
        };
        for (name, least) in [("expiryDuration", 60), ("callGasLimit", 1), ("maxFeePerGas", 1)] {
            assert_eq!(beyond(name, least), None, "{name}");
            assert!(beyond(name, least - 1).is_some(), "{name}");
        }
    }
}
