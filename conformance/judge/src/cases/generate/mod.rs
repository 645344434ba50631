//! Generates requests from the schemas: valid ones, boundary values, ones that break exactly one keyword, simpler ones.
//!
//! [`strategy()`] draws values that a schema accepts, [`mutate`] makes values that it rejects, [`shrink`] makes accepted values
//! smaller, [`requests()`] is the strategy of whole requests for a target, and [`source`] draws the requests of a run with it.

pub mod boundary;
pub mod mutate;
mod operation;
mod random;
pub mod requests;
mod schema;
pub mod shrink;
pub mod source;
pub mod strategy;
pub(crate) mod tokens;
mod wallet_values;

pub use mutate::{Mutation, mutations};
pub use random::{Drawn, drawn, runner};
pub use requests::{NoRequests, RequestEnvelope, RequestTree, Requests, requests};
pub use schema::Unsupported;
pub use shrink::simpler;
pub use source::Source;
pub use strategy::{Overrides, strategy};
