//! Faults in the reading of requests, and in the decision about them.

use serde_json::json;

use crate::injection::Behaviour;

pub(super) mod caches;
pub(super) mod client_forms;
pub(super) mod decision;
pub(super) mod methods;
pub(super) mod operations;
pub(super) mod refusals;
pub(super) mod tokens;
pub(super) mod wallets;

/// Serves the first supported token instead of the token of the request.
const SERVE_FIRST_TOKEN: Behaviour = Behaviour::Request(|view, request| {
    request["params"][1]["tokenInfo"] = json!({ "feeTokenAddress": view.tokens.first() });
});
