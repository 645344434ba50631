//! Generation of requests from the schemas: valid ones, boundary values, ones that break exactly one keyword, simpler ones.
//!
//! The schemas are the one source. [`strategy()`] draws what they accept, [`mutate`] makes what they refuse, [`shrink`] makes
//! what they accept smaller, and [`source`] draws whole requests that suit a target.

pub mod boundary;
pub mod mutate;
mod operation;
mod random;
mod schema;
pub mod shrink;
pub mod source;
pub mod strategy;
pub(crate) mod tokens;

pub use mutate::{Mutation, mutations};
pub use random::{Drawn, drawn, runner};
pub use schema::Unsupported;
pub use shrink::simpler;
pub use source::Source;
pub use strategy::{Overrides, strategy};
