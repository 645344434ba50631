//! Simulation of answers on a chain with EntryPoint v0.6: the operation that an answer completes, the calls that simulate it, and
//! how their results are read. No socket is opened here.

mod calls;
mod operation;
mod reading;

pub use calls::{hash_call, paymaster_call, simulation_call};
pub use operation::CompletedOperation;
pub use reading::{
    CallOutcome, NodeError, SimulationOutcome, read_hash, read_paymaster_call, read_simulation,
};
