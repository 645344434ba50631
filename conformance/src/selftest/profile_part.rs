//! How much of the target's profile a trial states. A lawful server must never be accused, whatever its profile leaves out.

use paymaster_reference_server::Statement;

use crate::selftest::Deviation;
use paymaster_fee_quote::target::profile::{Accepts, Operations, Profile, TokenLists};
use serde_json::{Map, json};

/// A part of the profile of the embedded reference server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfilePart {
    /// The whole profile.
    Whole,
    /// Nothing.
    Nothing,
    /// The lists of tokens.
    Tokens,
    /// The smart accounts.
    Accounts,
    /// That any operation is accepted.
    AcceptsAny,
    /// That listed operations alone are accepted, and one of them.
    OneOperation,
    /// One supported token.
    OneToken,
    /// Everything but the smart accounts.
    WithoutAccounts,
    /// What `init URL` finds.
    Found,
}

impl ProfilePart {
    /// Every part but the whole profile.
    pub const SPARSE: [Self; 8] = [
        Self::Nothing,
        Self::Tokens,
        Self::Accounts,
        Self::AcceptsAny,
        Self::OneOperation,
        Self::OneToken,
        Self::WithoutAccounts,
        Self::Found,
    ];

    /// The name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "the whole profile",
            Self::Nothing => "an empty profile",
            Self::Tokens => "tokens alone",
            Self::Accounts => "accounts alone",
            Self::AcceptsAny => "accepts = \"any\" alone",
            Self::OneOperation => "one listed operation",
            Self::OneToken => "one supported token",
            Self::WithoutAccounts => "everything but accounts",
            Self::Found => "what init finds",
        }
    }

    /// This part of a profile, without what is not true of the server.
    pub(super) fn of(self, whole: Profile, deviation: Deviation) -> Profile {
        let rest = Profile::default();
        match self {
            Self::Whole => whole,
            // What is found takes the place of this.
            Self::Nothing | Self::Found => rest,
            Self::Tokens => Profile { tokens: whole.tokens, ..rest },
            Self::Accounts => Profile { accounts: whole.accounts, ..rest },
            Self::AcceptsAny => Profile {
                operations: Operations { accepts: whole.operations.accepts, ..Operations::default() },
                ..rest
            },
            Self::OneOperation if !deviation.states(Statement::OneOperation) => rest,
            Self::OneOperation => Profile {
                operations: Operations {
                    accepts: Accepts::Listed,
                    sponsorable: vec![an_operation()],
                    ..Operations::default()
                },
                ..rest
            },
            Self::OneToken => Profile {
                tokens: TokenLists {
                    supported: whole.tokens.supported.into_iter().take(1).collect(),
                    ..TokenLists::default()
                },
                ..rest
            },
            Self::WithoutAccounts => Profile { accounts: Vec::new(), ..whole },
        }
    }
}

/// An ordinary operation that the reference server sponsors.
fn an_operation() -> Map<String, serde_json::Value> {
    let members = json!({
        "sender": "0x5b38da6a701c568545dcfcb03fcb875f56beddc4",
        "nonce": "7000",
        "callData": "0xb61d27f6",
    });
    members.as_object().cloned().unwrap_or_default()
}
