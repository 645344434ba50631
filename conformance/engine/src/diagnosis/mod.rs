//! Diagnosis: what makes the difference between a request that breaks a rule and one that does not. A broken rule with the requests that show
//! it is a [`finding`].
//!
//! A [`cause`] names the members of the request that decide, or says what else does. Findings with the same cause are one
//! [`defect`]. This module is pure: the runner sends the requests that it proposes.

pub mod cause;
pub mod defect;
pub mod difference;
pub mod fewest;
pub mod finding;
pub mod narrowing;
pub mod outcomes;
pub mod same;
pub mod sentence;
mod way;

#[cfg(test)]
mod tests;

pub use {cause::*, defect::*, difference::*, fewest::*, finding::*, narrowing::*, outcomes::*, sentence::*};
