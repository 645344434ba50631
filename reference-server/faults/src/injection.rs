//! Fault injection: a layer around the service that changes requests and responses.
//!
//! [`faults`](crate::faults()) and [`variants`](crate::variants()) are tables of [`Injection`]s: a condition and a
//! behaviour. [`InjectedService`] applies them around a plain [`Service`](paymaster_service::Service), which does not know them.

#[macro_use]
mod behaviour;
mod body;
mod change;
mod compress;
mod memory;
mod request_view;
mod response;
#[cfg(test)]
pub(crate) mod samples;
mod service;
#[cfg(test)]
mod tests;

pub(crate) use behaviour::{Behaviour, Condition, Injection, MemberChange, SwappedPart, always};
pub(crate) use change::{
    NO_CONTRACT, SOME_DATA, change, change_data, change_strings, change_text, decimal_text, each_quote,
    has_quotes, in_error, in_hex, is_refusal, json, list, list_as_unsupported, quotes, refuse, refuse_result,
    remove, rename_address, replace, replace_refusal, result, retain, reverse_members, set, some_result,
    text_of, with_compact_signature,
};
pub(crate) use compress::{Coding, compress};
#[cfg(test)]
pub(crate) use request_view::Arrival;
pub(crate) use request_view::{ENTRY_POINT_07, GAS_LIMITS, PAYMASTER_LIMITS, RequestView};
pub(crate) use response::{Framing, WireResponse};
pub use service::InjectedService;
