//! Simulation of answers on a chain with EntryPoint v0.6: the operation that an answer completes, the calls that simulate it, and
//! how their results are read. No socket is opened here.

mod calls;
mod operation;
mod reading;

pub use calls::{hash_call, own_check, simulation_call};
pub use operation::Completed;
pub use reading::{Called, First, NodeError, first_reading, hash_reading, own_reading};
