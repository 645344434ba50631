//! Generates values from the schemas: valid ones, boundary values, ones that break exactly one keyword, simpler ones.
//!
//! [`strategy()`] draws values that a schema accepts, [`mutate`] makes values that it rejects, [`shrink`] makes accepted values smaller.

pub mod boundary;
pub mod mutate;
pub mod random;
pub(crate) mod schema;
pub mod shrink;
pub mod strategy;

use schema::KEYWORDS;
pub(crate) use schema::Place;
pub use schema::Unsupported;
pub use {boundary::*, mutate::*, random::*, shrink::*, strategy::*};
