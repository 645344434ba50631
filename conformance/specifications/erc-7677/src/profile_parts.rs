//! The parts of a whole profile with which the selftest runs every lawful variant.

use std::sync::Arc;

use paymaster_engine::{knowledge::Knowledge, specification::ProfilePart};
use serde_json::json;

use crate::profile::{Accepts, Listed, Profile};
use crate::target::Target;

/// Every part but the empty profile and the whole one.
pub(crate) static PARTS: &[ProfilePart] = &[
    ProfilePart::new("entry-points alone", |whole| {
        stating(|rest| rest.service.entry_points.clone_from(&of(whole).service.entry_points))
    }),
    ProfilePart::new("chain-id alone", |whole| {
        stating(|rest| rest.service.chain_id = of(whole).service.chain_id)
    }),
    ProfilePart::new("context alone", |whole| {
        stating(|rest| rest.service.context.clone_from(&of(whole).service.context))
    }),
    ProfilePart::new("one listed operation", |whole| {
        stating(|rest| {
            let version = of(whole).service.entry_points.last().cloned();
            rest.operations.accepts = Accepts::Listed;
            rest.operations.sponsorable = vec![an_operation(version.unwrap_or_else(|| "0.7".to_owned()))];
        })
    })
    .adding_operation(),
    ProfilePart::new("refused alone", |whole| {
        stating(|rest| rest.operations.refused.clone_from(&of(whole).operations.refused))
    }),
    ProfilePart::new("contract alone", |whole| stating(|rest| rest.contract.clone_from(&of(whole).contract))),
    ProfilePart::new("everything but the chain", |whole| {
        let mut rest = of(whole).clone();
        rest.service.chain_id = None;
        rest.into()
    }),
];

fn of(whole: &dyn Knowledge) -> &Profile {
    &Target::of(whole).profile
}

/// A profile that states nothing but this.
fn stating(state: impl FnOnce(&mut Profile)) -> Arc<dyn Knowledge> {
    let mut rest = Profile::default();
    state(&mut rest);
    rest.into()
}

/// An ordinary operation that the reference server sponsors.
fn an_operation(version: String) -> Listed {
    let operation = json!({
        "sender": "0x5b38da6a701c568545dcfcb03fcb875f56beddc4",
        "nonce": "0x1b58",
        "callData": "0xb61d27f6",
    });
    let operation = operation.as_object().cloned().unwrap_or_default();
    Listed { entry_point: Some(version), operation, sender: None }
}
