//! Rules about the form of responses: HTTP, JSON-RPC, errors and batches.

pub(super) mod answer_form;
pub(super) mod batches;
pub(super) mod errors;
pub(super) mod interoperability;
pub(super) mod json_rpc;
