//! The parts of a whole profile with which the selftest runs every lawful variant.

use std::sync::Arc;

use paymaster_engine::{knowledge::Knowledge, specification::ProfilePart};
use serde_json::{Map, Value, json};

use crate::target::{Accepts, Context, Operations, Profile, TokenLists};

/// Every part but the empty profile.
pub(crate) static PARTS: &[ProfilePart] = &[
    ProfilePart::new("tokens alone", |whole| stating(|rest| rest.tokens = of(whole).tokens.clone())),
    ProfilePart::new("accounts alone", |whole| stating(|rest| rest.accounts.clone_from(&of(whole).accounts))),
    ProfilePart::new("accepts = \"any\" alone", |whole| {
        stating(|rest| rest.operations.accepts = of(whole).operations.accepts)
    }),
    ProfilePart::new("one listed operation", |_| {
        stating(|rest| {
            rest.operations = Operations {
                accepts: Accepts::Listed,
                sponsorable: vec![an_operation()],
                ..Operations::default()
            };
        })
    })
    .adding_operation(),
    ProfilePart::new("one supported token", |whole| {
        let supported = of(whole).tokens.supported.iter().take(1).cloned().collect();
        stating(|rest| rest.tokens = TokenLists { supported, ..TokenLists::default() })
    }),
    ProfilePart::new("everything but accounts", |whole| {
        Profile { accounts: Vec::new(), ..of(whole).clone() }.into()
    }),
];

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
