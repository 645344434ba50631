//! The typed reading of a request's params: what it accepts is what the schema documents accept.
//!
//! This is the fast path: one pass over the text, nothing copied. It does not say what is wrong with a request that it
//! refuses; [`crate::explain`] does, with the schemas. A property test holds the two to the same verdict.

mod amount;
pub(crate) mod members;
mod mode;
mod operation;

pub(crate) use amount::Amount;
pub(crate) use mode::{Mode, ModeObject, RawObject, SponsorshipInfo, TokenInfo};
pub(crate) use operation::{AddressText, Operation, OperationMembers};
