//! Test cases: generated requests, related requests, the plan of a run, discovery.

pub mod case;
pub mod clients;
pub mod discovery;
pub mod generate;
pub mod plan;
pub mod relations;
pub mod scope;
pub mod survey;
