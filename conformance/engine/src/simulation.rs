//! What a node of a chain is asked about an answer, by a specification.

use paymaster_exchange::{Exchange, Simulation};
use serde_json::Value;

/// The requests to a node that simulate what an exchange returned; none where it returned nothing to simulate.
pub type SimulationOf = fn(&Exchange, &NodeFacts) -> Option<Box<dyn Simulate>>;

/// What is known of a node before it is asked to simulate.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    /// Its chain.
    pub chain: u64,
    /// The address of the contract that takes operations, where the user gives one.
    pub entry_point: Option<String>,
    /// The address of a bundler of the target, where the profile names one.
    pub bundler: Option<String>,
}

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
