//! Parses the params of a request into types. It accepts exactly what the schema documents accept.
//!
//! This is the fast path: one pass over the text, without copies. It does not explain what is wrong with a request;
//! [`crate::explain`] does, with the schemas. A property test checks that both accept the same requests.

mod amount;
pub(crate) mod members;
mod mode;
mod operation;

use paymaster_schemas::{Method, Mode};
use serde::Deserialize;

pub(crate) use amount::Amount;
pub(crate) use mode::{ModeObject, RawObject, SponsorshipInfo, TokenInfo, effective_mode, pair_of};
pub(crate) use operation::{AddressText, Operation, OperationMembers};

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
    /// Checks the params of `method`. The error is a fragment.
    pub(crate) fn new(
        method: Method,
        operation: OperationMembers<'a>,
        mode: &ModeObject<'a>,
    ) -> Result<Self, String> {
        let operation = Operation::new(operation).ok_or("is not a partial user operation")?;
        let has_token_info = mode.token_info.is_some_and(|info| !info.is_empty());
        let named = mode.mode.map(|name| name.0);
        let effective = effective_mode(method, named, has_token_info).ok_or("mode is missing")?;
        let terms = match (method, effective) {
            (Method::GetFeeQuoteOrData, Mode::Sponsored) => Terms::Sponsorship {
                info: mode
                    .sponsorship_info
                    .ok_or("sponsorshipInfo is missing")?
                    .read()?,
                // The expiry applies to the other method (section 2.3).
                seconds: None,
            },
            (Method::SponsorUserOperation, Mode::Sponsored) => Terms::Sponsorship {
                info: read_or_default(mode.sponsorship_info)?,
                seconds: mode.expiry_duration.map(|seconds| seconds.0),
            },
            (Method::GetFeeQuoteOrData, Mode::Erc20) => {
                Terms::Quotes(mode.token_info.ok_or("tokenInfo is missing")?.read()?)
            }
            (Method::SponsorUserOperation, Mode::Erc20) => {
                Terms::TokenPayment(read_or_default(mode.token_info)?)
            }
        };
        Ok(Self { operation, terms })
    }
}

fn read_or_default<'a, T: Deserialize<'a> + Default>(object: Option<RawObject<'a>>) -> Result<T, String> {
    object.map_or_else(|| Ok(T::default()), RawObject::read)
}
