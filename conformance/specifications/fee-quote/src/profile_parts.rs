//! The parts of a whole profile with which the selftest runs every lawful variant.

use std::sync::Arc;

use paymaster_engine::{knowledge::Knowledge, specification::ProfilePart};
use serde_json::{Map, Value, json};

use crate::target::{
    context::Context,
    profile::{Accepts, Operations, Profile, TokenLists},
};

/// Every part but the empty profile.
pub(crate) static PARTS: &[ProfilePart] = &[
    part("tokens alone", |whole| stating(|rest| rest.tokens = of(whole).tokens.clone())),
    part("accounts alone", |whole| stating(|rest| rest.accounts.clone_from(&of(whole).accounts))),
    part("accepts = \"any\" alone", |whole| {
        stating(|rest| rest.operations.accepts = of(whole).operations.accepts)
    }),
    ProfilePart {
        adds_operation: true,
        ..part("one listed operation", |_| {
            stating(|rest| {
                rest.operations = Operations {
                    accepts: Accepts::Listed,
                    sponsorable: vec![an_operation()],
                    ..Operations::default()
                };
            })
        })
    },
    part("one supported token", |whole| {
        let supported = of(whole).tokens.supported.iter().take(1).cloned().collect();
        stating(|rest| rest.tokens = TokenLists { supported, ..TokenLists::default() })
    }),
    part("everything but accounts", |whole| Profile { accounts: Vec::new(), ..of(whole).clone() }.into()),
];

const fn part(name: &'static str, of: fn(&dyn Knowledge) -> Arc<dyn Knowledge>) -> ProfilePart {
    ProfilePart { name, adds_operation: false, of }
}

fn of(whole: &dyn Knowledge) -> &Profile {
    &Context::of(whole).profile
}

/// A profile that states nothing but this.
fn stating(state: impl FnOnce(&mut Profile)) -> Arc<dyn Knowledge> {
    let mut rest = Profile::default();
    state(&mut rest);
    rest.into()
}

/// An ordinary operation that the reference server sponsors.
fn an_operation() -> Map<String, Value> {
    let members = json!({
        "sender": "0x5b38da6a701c568545dcfcb03fcb875f56beddc4",
        "nonce": "7000",
        "callData": "0xb61d27f6",
    });
    members.as_object().cloned().unwrap_or_default()
}
