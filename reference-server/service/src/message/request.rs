//! Parses the params of a request into types. It accepts exactly what the schema documents accept.
//!
//! This is the fast path: one pass over the text for the method, and one for the params, without copies. It does not explain what is wrong
//! with a request; [`crate::message::explain()`] does, with the schemas. A property test checks that both accept the same requests.

mod amount;
pub(crate) mod members;
mod mode;
mod operation;
mod paymaster_params;

pub(crate) use amount::Amount;
use members::object;
pub use mode::pair_of;
pub(crate) use mode::{ModeObject, RawObject, SponsorshipInfo, TokenInfo};
pub(crate) use operation::{AddressText, Operation};
pub use paymaster_params::EntryPoint;
pub(crate) use paymaster_params::PaymasterParams;

/// Why a request is not parsed, as a fragment: the error of the JSON parser, or a text of ours.
pub(crate) type RequestError = Box<dyn std::error::Error>;

/// Not a call of one of the methods, or not in a known version of JSON-RPC.
pub(crate) const NOT_A_CALL: &str = "is not a request that this service serves";

object! {
    /// The member of a request whose form depends on the method.
    pub(crate) struct RequestParams<'a> {
        required {
            "params" => params: (Operation<'a>, ModeObject<'a>),
        }
    }
}

/// The params in the text of a request, whose place in the text is part of an error.
pub(crate) fn params(text: &str) -> Result<(Operation<'_>, ModeObject<'_>), RequestError> {
    Ok(serde_json::from_str::<RequestParams<'_>>(text)?.params)
}
