//! Relations about HTTP and JSON-RPC: headers, envelopes, batches and malformed bodies.

pub(super) mod batches;
pub(super) mod envelope;
pub(super) mod headers;
pub(super) mod malformed;
