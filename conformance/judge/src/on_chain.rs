//! What a chain with EntryPoint v0.6 says of an answer: the operation that an answer completes, the calls that simulate it, and
//! how what they return is read. No socket is opened here.

mod calls;
mod operation;
mod reading;

pub use calls::{hash_call, own_check, simulation_call};
pub use operation::Completed;
pub use reading::{Called, First, NodeError, first_reading, hash_reading, own_reading};
