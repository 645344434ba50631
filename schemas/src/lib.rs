//! The paymaster specification as data: JSON Schemas, clauses, readings and names.

pub mod clauses;
pub mod names;
pub mod readings;

pub use clauses::{Basis, Clause, clauses, find_clause};
pub use names::{Method, Mode, Pair};
pub use readings::{READINGS, Reading, find_reading};
