//! Parses the params of a request into types. It accepts exactly what the schema documents accept.
//!
//! This is the fast path: one pass over the text for the method, and one for the params, without copies. It does not explain what is wrong
//! with a request; [`crate::message::explain`] does, with the schemas. A property test checks that both accept the same requests.

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

/// Why a request is not parsed, as a fragment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// Not a call of one of the methods, or not in a known version of JSON-RPC.
    #[error("is not a request that this service serves")]
    NotACall,
    /// The EntryPoint is none that we know.
    #[error("/params/1 is the address of no EntryPoint that this service serves")]
    UnknownEntryPoint,
    /// The operation has one of factory and factoryData without the other.
    #[error("has one of factory and factoryData without the other")]
    HalfFactory,
    /// A member of the mode object is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// The text is not JSON, or a member has another type.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

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
