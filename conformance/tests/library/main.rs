//! Whole runs, recorded traffic and the public API, as another crate uses them.

mod arbitrary_bytes;
mod causes;
mod discovery;
mod kill_matrix;
mod listening;
mod pairs;
mod recorded;
mod rust_api;
mod scope;
