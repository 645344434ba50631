//! Whole requests of this specification: [`requests()`] is the strategy for a target, and [`Source`] draws the requests of a run with it.

mod operation;
pub mod requests;
pub mod tokens;

pub use requests::{NoRequests, RequestEnvelope, RequestTree, Requests, Source, requests};
