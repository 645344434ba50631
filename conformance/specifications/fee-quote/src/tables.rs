//! Whether a request keeps to the tables of sections 2.1 to 2.5: every ordinary member is present, no other is, and all are
//! written in the dialect of the target.
//!
//! The schemas accept more, because published clients add and leave out members. A target may refuse requests beyond the tables,
//! so only requests that keep to them have an expectation.

use crate::call::CallParts;
use crate::target::{Amounts, Dialect};
use paymaster_engine::message::Call;
use paymaster_schemas::{Kind, Mode, kinds};
use serde_json::{Map, Value};

/// The members of an operation that are not gas limits.
pub(crate) const ORDINARY: [&str; 6] =
    ["sender", "nonce", "initCode", "callData", "maxFeePerGas", "maxPriorityFeePerGas"];
/// The gas limits of an operation.
pub(crate) const GAS: [&str; 3] = ["callGasLimit", "verificationGasLimit", "preVerificationGas"];
/// The fees of an operation.
pub(crate) const FEES: [&str; 2] = ["maxFeePerGas", "maxPriorityFeePerGas"];

/// Whether a call keeps to the tables. `listed` are the operations of the profile that match the call: amounts may be written as
/// they are there.
pub fn keeps_to_the_tables(call: &Call, dialect: &Dialect, listed: &[&Map<String, Value>]) -> bool {
    let has_members_of_row = |mode: &Map<String, Value>| {
        // The row of a quote in token mode (section 4.1) has mode and tokenInfo alone.
        exactly(mode, &mode_members(call.pair, dialect))
            || call.pair == kinds::QUOTE_ERC20 && exactly(mode, &["mode", "tokenInfo"])
    };
    has_plain_envelope_and_info(call, dialect)
        && operation(call, dialect, listed)
        && call.mode_object().as_object().is_some_and(has_members_of_row)
}

/// Whether envelope, mode and info object of a call are those of the tables, whatever else the call has.
pub fn has_plain_envelope_and_info(call: &Call, dialect: &Dialect) -> bool {
    call.valid
        && !call.has_fractional_id()
        && call.envelope["jsonrpc"] == dialect.jsonrpc_version.as_str()
        && call.mode_object().as_object().is_some_and(|mode| has_info(mode, &row(call.pair, dialect)))
}

fn operation(call: &Call, dialect: &Dialect, listed: &[&Map<String, Value>]) -> bool {
    let Some(operation) = call.operation().as_object() else { return false };
    let required = |name: &&str| !is_optional(name, call.pair);
    has(operation, &ORDINARY)
        && GAS.iter().filter(|name| required(name)).all(|name| operation.contains_key(*name))
        && operation.keys().all(|name| is_member(name))
        && operation.iter().all(|(name, value)| {
            in_notation(name, value, dialect.amount_notation)
                || listed.iter().any(|known| known.get(name) == Some(value))
        })
}

/// Whether section 2.2 makes a member of the operation optional for calls of that method and mode.
pub fn is_optional(name: &str, pair: Kind) -> bool {
    GAS.contains(&name) && pair == kinds::SPONSOR_ERC20
}

/// Whether section 2.2 lists a member of that name.
pub(crate) fn is_member(name: &str) -> bool {
    ORDINARY.contains(&name) || GAS.contains(&name)
}

/// Whether a member of an operation is written in that notation. Members other than amounts always are.
pub(crate) fn in_notation(name: &str, value: &Value, notation: Amounts) -> bool {
    let hex = is_hex(name, notation);
    !is_amount(name) || value.as_str().is_some_and(|text| text.starts_with("0x") == hex)
}

/// Whether a member of an operation of that name is an amount.
pub(crate) fn is_amount(name: &str) -> bool {
    name == "nonce" || GAS.contains(&name) || FEES.contains(&name)
}

/// Whether that notation writes the amount of that name in hex.
pub(crate) fn is_hex(name: &str, notation: Amounts) -> bool {
    match notation {
        Amounts::Decimal => false,
        Amounts::Hex => true,
        Amounts::Mixed => !GAS.contains(&name),
    }
}

/// The members of the mode object that the tables list for a pair.
pub(crate) fn mode_members(pair: Kind, dialect: &Dialect) -> Vec<&'static str> {
    [&["mode", "calculateGasLimits"], row(pair, dialect).members].concat()
}

/// What section 4 shows in the mode object of a pair.
struct Row<'a> {
    /// The name of the mode.
    mode: &'a str,
    /// The members beside `mode` and `calculateGasLimits`, the info object first.
    members: &'static [&'static str],
    /// The members of the info object.
    info: Vec<&'a str>,
}

fn row(pair: Kind, dialect: &Dialect) -> Row<'_> {
    let sponsored = |members| Row {
        mode: &dialect.sponsored_name,
        members,
        info: vec!["webhookData", "smartAccountInfo"],
    };
    let in_tokens = |info| Row { mode: Mode::Erc20.into_str(), members: &["tokenInfo"], info };
    match pair {
        kinds::QUOTE_SPONSORED => sponsored(&["sponsorshipInfo"]),
        kinds::SPONSOR_SPONSORED => sponsored(&["sponsorshipInfo", "expiryDuration"]),
        kinds::QUOTE_ERC20 => in_tokens(vec!["preferredToken", "tokenList"]),
        _ => in_tokens(vec![dialect.fee_token_member.as_str()]),
    }
}

fn has_info(mode: &Map<String, Value>, row: &Row<'_>) -> bool {
    mode.get("mode").is_some_and(|value| value == row.mode)
        && mode
            .get(row.members[0])
            .and_then(Value::as_object)
            .is_some_and(|object| exactly(object, &row.info))
        && mode.get("sponsorshipInfo").is_none_or(|info| {
            info["smartAccountInfo"].as_object().is_some_and(|account| exactly(account, &["name", "version"]))
        })
}

fn has(object: &Map<String, Value>, names: &[&str]) -> bool {
    names.iter().all(|name| object.contains_key(*name))
}

fn exactly(object: &Map<String, Value>, names: &[&str]) -> bool {
    object.len() == names.len() && has(object, names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SPECIFICATION;
    use crate::base::Tokens;
    use crate::{
        generate::Source,
        target::{
            context::Context,
            profile::{Profile, Token, TokenLists},
        },
    };
    use paymaster_engine::{cases::case::Base, message::request::ParsedRequest};

    #[test]
    fn amounts_must_be_in_the_notation_of_the_dialect() {
        let hex = |name| in_notation(name, &Value::from("0x7"), Amounts::Hex);
        let decimal = |name| in_notation(name, &Value::from("7"), Amounts::Decimal);
        for name in ["nonce", "callGasLimit", "maxFeePerGas"] {
            assert!(hex(name) && decimal(name), "{name}");
            assert!(!in_notation(name, &Value::from("7"), Amounts::Hex), "{name}");
            assert!(!in_notation(name, &Value::from("0x7"), Amounts::Decimal), "{name}");
            assert!(!in_notation(name, &Value::from(7), Amounts::Decimal), "{name}");
            let in_hex = in_notation(name, &Value::from("0x7"), Amounts::Mixed);
            assert_eq!(in_hex, name != "callGasLimit", "{name}");
            assert_ne!(in_hex, in_notation(name, &Value::from("7"), Amounts::Mixed), "{name}");
        }
        assert!(in_notation("callData", &Value::from("0x7"), Amounts::Decimal));
    }

    #[test]
    fn drawn_requests_keep_to_the_tables_until_a_member_is_added_or_removed() {
        let token = Token { address: format!("0x{}", "ab".repeat(20)), symbol: None, decimals: None };
        let tokens = TokenLists { supported: vec![token], unsupported: Vec::new(), complete: false };
        let context = Context::new(Profile { tokens, ..Profile::default() });
        let mut source = Source::new(1, &context);
        let keeps = |request: &Value| match ParsedRequest::of(request.to_string().as_bytes(), &SPECIFICATION)
        {
            ParsedRequest::Call(call) => keeps_to_the_tables(&call, &context.dialect, &[]),
            _ => false,
        };
        for pair in kinds::ALL {
            let request = source.base(&Tokens::Supported.in_base(Base::accepted(pair))).unwrap();
            assert!(keeps(&request), "{request}");
            for place in ["/params/0", "/params/1"] {
                let mut more = request.clone();
                more.pointer_mut(place).unwrap()["signature"] = "0x".into();
                assert!(!keeps(&more), "{more}");
                for name in request.pointer(place).unwrap().as_object().unwrap().keys() {
                    let mut fewer = request.clone();
                    fewer.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(name);
                    let may_go = match pair {
                        kinds::SPONSOR_ERC20 => GAS.contains(&name.as_str()),
                        kinds::QUOTE_ERC20 => name == "calculateGasLimits",
                        _ => false,
                    };
                    assert_eq!(keeps(&fewer), may_go, "{fewer}");
                }
            }
            let mut other = request.clone();
            other["params"][0]["nonce"] = "0x1".into();
            assert!(!keeps(&other), "{other}");
        }
    }
}
