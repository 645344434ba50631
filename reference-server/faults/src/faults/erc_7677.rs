//! Faults that show by ERC-7677 alone, by what is wrong: a result, what is served, or what is signed.

pub(super) mod refusals;
pub(super) mod requests;
pub(super) mod results;
pub(super) mod signatures;

use serde_json::{Map, Value};

use crate::injection::set;

/// What nobody can read in data that are no data of the contract.
const UNREADABLE: &[&str] =
    &["data.*", "is-final.signature", "call.same-operation", "operation.stub-members", "result.address-once"];

/// Changes the hex digits of the paymaster's own data, behind its address.
pub(super) fn change_data(result: &mut Map<String, Value>, change: impl FnOnce(&str) -> String) {
    for (member, start) in [("paymasterAndData", 42), ("paymasterData", 2)] {
        if let Some((head, digits)) =
            result.get(member).and_then(Value::as_str).and_then(|text| text.split_at_checked(start))
        {
            let text = format!("{head}{}", change(digits));
            set(result, member, text);
            return;
        }
    }
}
