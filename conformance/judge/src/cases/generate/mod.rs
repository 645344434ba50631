//! Generation of requests from the schemas: valid ones, boundary values, ones that break exactly one keyword, simpler ones.
//!
//! The schemas are the one source. [`strategy()`] draws what they accept, [`mutate`] makes what they refuse, [`shrink`] makes
//! what they accept smaller, [`requests()`] is the strategy of whole requests that suit a target, and [`source`] draws a run's requests
//! with it.

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

pub use mutate::{Mutation, mutations};
pub use random::{Drawn, drawn, runner};
pub use requests::{NoRequests, RequestEnvelope, RequestTree, Requests, requests};
pub use schema::Unsupported;
pub use shrink::simpler;
pub use source::Source;
pub use strategy::{Overrides, strategy};
