//! Calls outside the plan: to compare with those of the run, and to ask a target once more.

use std::sync::Arc;

use paymaster_engine::cases::{Group, Plan};
use paymaster_engine::knowledge::Knowledge;
use serde_json::Value;

/// Ordinary calls of every kind, as a plan with so many cases has them. With another seed than that of the run, they are not the calls of
/// its plan. A plan is not `Send`: it is made on a thread of its own.
pub(crate) async fn drawn_calls(context: &Arc<dyn Knowledge>, seed: u64, cases: u32) -> Vec<Group> {
    let context = Arc::clone(context);
    let drawing = tokio::task::spawn_blocking(move || {
        Plan::of(&[context.specification().calls], &*context, seed, cases).collect()
    });
    drawing.await.unwrap_or_default()
}

/// These calls, and before them the first one of each kind with the other version of JSON-RPC.
pub(crate) fn with_other_versions(drawn: Vec<Group>) -> Vec<Group> {
    let first_of_pair = drawn.iter().filter(|group| group.round == 0);
    let mut calls: Vec<Group> = first_of_pair.filter_map(with_other_version).collect();
    calls.extend(drawn);
    calls
}

/// The same call with the other version of JSON-RPC: most requests of a run have one of them.
fn with_other_version(group: &Group) -> Option<Group> {
    let mut changed = group.clone();
    let member = changed.members.first_mut()?;
    let mut request: Value = serde_json::from_slice(&member.body).ok()?;
    let other = if request["jsonrpc"] == "2.0" { "2.0.0" } else { "2.0" };
    request["jsonrpc"] = other.into();
    member.body = request.to_string().into();
    Some(changed)
}
