//! Rules, relations, requests and knowledge of the specification, without a socket.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod applicability;
mod common;
mod comparisons;
mod discovery;
mod first_draws;
mod in_process;
mod mutations;
mod on_chain;
mod plan;
mod policies;
mod refused_clients;
mod requests;
mod shrinking;
mod source;
mod strategies;
mod tallies;
mod verdicts;
mod wording;
