//! Test cases: related requests, the plan of a run, and the relations of JSON-RPC.

pub mod case;
pub mod clients;
pub mod edit;
pub mod plan;
pub mod protocol;
pub mod scope;

pub use {case::*, clients::*, edit::*, plan::*, protocol::*, scope::*};
