//! Parses the params of a request into types. It accepts exactly what the schema documents accept.
//!
//! This is the fast path: one pass over the text, without copies. It does not explain what is wrong with a request;
//! [`crate::message::explain`] does, with the schemas. A property test checks that both accept the same requests.

mod amount;
pub(crate) mod members;
mod mode;
mod operation;

use paymaster_schemas::{Method, Mode};
use serde::Deserialize;

pub(crate) use amount::Amount;
pub use mode::pair_of;
pub(crate) use mode::{ModeObject, RawObject, SponsorshipInfo, TokenInfo, effective_mode};
pub(crate) use operation::{AddressText, Operation, OperationMembers};

/// Why a request is not parsed, as a fragment.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// Not a call of one of the two methods, or not in a known version of JSON-RPC.
    #[error("is not a request that this service serves")]
    NotACall,
    /// A member of the operation is missing, or is of another form.
    #[error("is not a partial user operation")]
    NotAnOperation,
    /// A member of the mode object is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// The text is not JSON, or a member has another type.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The params of a call of one of the two methods.
pub(crate) struct Request<'a> {
    pub(crate) operation: Operation<'a>,
    pub(crate) terms: Terms<'a>,
}

/// What is requested for the operation, with the members of the mode object that count for it.
pub(crate) enum Terms<'a> {
    /// A sponsorship: either method in SPONSORED mode.
    Sponsorship {
        info: SponsorshipInfo<'a>,
        /// How long it holds, in seconds; none takes the configured time.
        seconds: Option<u64>,
    },
    /// Fee quotes: `pm_getFeeQuoteOrData` in ERC20 mode.
    Quotes(TokenInfo<'a>),
    /// Data to pay in a token: `pm_sponsorUserOperation` in ERC20 mode.
    TokenPayment(TokenInfo<'a>),
}

impl<'a> Request<'a> {
    /// Checks the params of `method`.
    pub(crate) fn new(
        method: Method,
        operation: OperationMembers<'a>,
        mode: &ModeObject<'a>,
    ) -> Result<Self, RequestError> {
        let operation = Operation::new(operation).ok_or(RequestError::NotAnOperation)?;
        let has_token_info = mode.token_info.is_some_and(|info| !info.is_empty());
        let named = mode.mode.map(|name| name.0);
        let effective = effective_mode(method, named, has_token_info).ok_or(RequestError::Missing("mode"))?;
        let terms = match (method, effective) {
            (Method::GetFeeQuoteOrData, Mode::Sponsored) => Terms::Sponsorship {
                info: mode.sponsorship_info.ok_or(RequestError::Missing("sponsorshipInfo"))?.read()?,
                // The expiry applies to the other method (section 2.3).
                seconds: None,
            },
            (Method::SponsorUserOperation, Mode::Sponsored) => Terms::Sponsorship {
                info: read_or_default(mode.sponsorship_info)?,
                seconds: mode.expiry_duration.map(|seconds| seconds.0),
            },
            (Method::GetFeeQuoteOrData, Mode::Erc20) => {
                Terms::Quotes(mode.token_info.ok_or(RequestError::Missing("tokenInfo"))?.read()?)
            }
            (Method::SponsorUserOperation, Mode::Erc20) => {
                Terms::TokenPayment(read_or_default(mode.token_info)?)
            }
        };
        Ok(Self { operation, terms })
    }
}

fn read_or_default<'a, T: Deserialize<'a> + Default>(
    object: Option<RawObject<'a>>,
) -> Result<T, serde_json::Error> {
    object.map_or_else(|| Ok(T::default()), RawObject::read)
}
