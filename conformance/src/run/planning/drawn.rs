//! Calls outside the plan: to compare with those of the run, and to ask a target once more.

use std::sync::Arc;

use paymaster_engine::{
    cases::{case::Group, plan::Plan},
    knowledge::Knowledge,
};
use serde_json::Value;

/// How many calls of each method and mode are drawn, for comparing with: a run that ended early knows few that were right.
const DRAWN_CALLS: u32 = 6;

/// Calls of every method and mode, first one each with the other version of JSON-RPC. With another seed than that of the run, they are
/// not the calls of its plan. A plan is not `Send`: it is made on a thread of its own.
pub(crate) async fn drawn_calls(context: &Arc<dyn Knowledge>, seed: u64) -> Vec<Group> {
    let context = Arc::clone(context);
    let drawing = tokio::task::spawn_blocking(move || {
        let drawn: Vec<Group> =
            Plan::of(&[context.specification().calls], &*context, seed, DRAWN_CALLS).collect();
        let first_of_pair = drawn.iter().filter(|group| group.round == 0);
        let mut calls: Vec<Group> = first_of_pair.filter_map(with_other_version).collect();
        calls.extend(drawn);
        calls
    });
    drawing.await.unwrap_or_default()
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
