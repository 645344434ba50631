//! Judges exchanges with a paymaster service. A pure library: it uses no clock, socket, environment, file or output.

pub mod cases;
pub mod diagnosis;
pub mod json;
pub mod knowledge;
pub mod message;
pub mod on_chain;
pub mod rules;
pub mod session;
pub mod target;
pub mod verdict;
