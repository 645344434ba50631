//! What specifications need of Ethereum, without a socket: the operation that an answer completes, the calls that simulate it with EntryPoint
//! v0.6, and how their results are read.

mod calls;
mod reading;

pub use calls::{CompletedOperation, UserOperation, hash_call, paymaster_call, simulation_call};
pub use reading::{
    CallOutcome, NodeError, SimulationOutcome, read_hash, read_paymaster_call, read_simulation,
};
