//! Faults of JSON-RPC: ids, errors and batches.

pub(super) mod batches;
pub(super) mod errors;
pub(super) mod ids;
