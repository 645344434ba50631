//! What a chain with EntryPoint v0.6 says of an answer: the operation that an answer completes, the calls that simulate it, and
//! how what they return is read. No socket is opened here.

mod calls;
mod operation;
mod reading;

pub use calls::{hash_call, own_check, simulation_call};
pub use operation::Completed;
pub use reading::{Called, First, first_reading, hash_reading, own_reading};

/// What a chain says of the paymasterAndData of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulation {
    /// The paymaster's contract accepts it.
    Accepted,
    /// It does not, for this reason.
    Refused(String),
    /// The chain does not tell, for this reason: nothing is judged.
    Unclear(String),
}
