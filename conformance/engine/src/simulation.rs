//! What a node of a chain is asked about an answer, by a specification.

use paymaster_exchange::{Exchange, Simulation};
use serde_json::Value;

/// The requests to a node that simulate what an exchange returned; none where it returned nothing to simulate. The text is the address
/// of the entry point.
pub type SimulationOf = fn(&Exchange, &str) -> Option<Box<dyn Simulate>>;

/// Requests to a node, one after the other: any sender can drive them.
pub trait Simulate: Send {
    /// Takes the body of the node's answer (none at first) and returns what is asked next, or what is known in the end.
    fn next(&mut self, answer: Option<&[u8]>) -> NodeStep;
}

/// The next step of a simulation.
#[derive(Debug)]
pub enum NodeStep {
    /// A call of this method with these params.
    Ask(&'static str, Value),
    /// The outcome.
    Known(Simulation),
}
