//! All that is known of the target when a case is built or an answer is judged.

use std::collections::BTreeMap;

use paymaster_schemas::{Mode, Pair};
use serde_json::Value;

use crate::{
    dialect::Dialect,
    profile::{Accepts, Profile, SmartAccount},
    request::Call,
    tables::keeps_to_the_tables,
};

/// Profile, dialect and what the target itself said about its tokens.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// What the user told us.
    pub profile: Profile,
    /// The dialect in use.
    pub dialect: Dialect,
    /// What is known of tokens, by lower-case address.
    tokens: BTreeMap<String, Support>,
    /// What holds for addresses that nobody said anything about.
    pub unlisted_tokens: Support,
    /// Whether a chain is asked what it makes of answers.
    pub on_chain: bool,
}

/// Whether a token is supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Support {
    /// Nobody said.
    #[default]
    Unknown,
    /// The profile says so, or the target quoted it.
    Supported,
    /// The profile says so, or the target said so.
    Unsupported,
}

/// What the profile says of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vouch {
    /// It is accepted, and sponsored in sponsored mode.
    Accepted,
    /// It is not sponsored; what token mode does with it is not said.
    Refused,
    /// Nobody said: a result or an error, both are lawful.
    Unknown,
}

/// The smart accounts that published clients send, for profiles that name none.
const PUBLISHED_ACCOUNTS: [(&str, &str); 2] = [("BICONOMY", "2.0.0"), ("INFINITISM", "1.0.0")];

impl Context {
    /// What the profile alone says.
    pub fn new(profile: Profile) -> Self {
        let mut tokens = BTreeMap::new();
        for token in &profile.tokens.supported {
            tokens.insert(token.address.to_ascii_lowercase(), Support::Supported);
        }
        for address in &profile.tokens.unsupported {
            tokens.insert(address.to_ascii_lowercase(), Support::Unsupported);
        }
        let dialect = Dialect::pinned(&profile.dialect);
        Self {
            profile,
            dialect,
            tokens,
            unlisted_tokens: Support::Unknown,
            on_chain: false,
        }
    }

    /// The same, and whether a chain is asked what it makes of answers.
    #[must_use]
    pub fn asking_a_chain(self, on_chain: bool) -> Self {
        Self { on_chain, ..self }
    }

    /// Notes what the target said of a token; what the profile says stands above it.
    pub fn learn_token(&mut self, address: &str, support: Support) {
        self.tokens.entry(address.to_ascii_lowercase()).or_insert(support);
    }

    /// Whether a token is supported, as far as is known. Letter case does not matter.
    pub fn support(&self, address: &str) -> Support {
        self.tokens
            .get(&address.to_ascii_lowercase())
            .copied()
            .unwrap_or(self.unlisted_tokens)
    }

    /// Every token of that standing, lower case, in order.
    pub fn tokens_that_are(&self, support: Support) -> impl Iterator<Item = &str> {
        self.tokens
            .iter()
            .filter(move |(_, known)| **known == support)
            .map(|(address, _)| address.as_str())
    }

    /// Smart accounts to send: those of the profile, else those that published clients send.
    pub fn accounts(&self) -> Vec<SmartAccount> {
        if !self.profile.accounts.is_empty() {
            return self.profile.accounts.clone();
        }
        PUBLISHED_ACCOUNTS
            .iter()
            .map(|(name, version)| SmartAccount {
                name: (*name).to_owned(),
                version: (*version).to_owned(),
            })
            .collect()
    }

    /// Whether a call keeps to the tables of sections 2.1 to 2.5, in the dialect of the target, and what the profile then says
    /// of its operation. Of a call that does not keep to the tables the profile says nothing: any answer in form is lawful.
    pub fn standing(&self, call: &Call) -> (bool, Vouch) {
        let operations = &self.profile.operations;
        let mut listed = operations.sponsorable.iter().chain(&operations.refused);
        let listed = listed.any(|known| same_operation(known, call.operation()));
        let tabled = keeps_to_the_tables(call, &self.dialect, listed);
        let vouch = if tabled {
            self.vouch(call.pair, call.operation(), call.account())
        } else {
            Vouch::Unknown
        };
        (tabled, vouch)
    }

    /// What the profile says of an operation, given the smart account that the request names.
    pub fn vouch(&self, pair: Pair, operation: &Value, account: Option<&str>) -> Vouch {
        let operations = &self.profile.operations;
        let sender = operation["sender"].as_str().unwrap_or_default();
        let refused = operations
            .refused_senders
            .iter()
            .any(|known| known.eq_ignore_ascii_case(sender))
            || operations
                .refused
                .iter()
                .any(|known| same_operation(known, operation));
        if refused {
            return if pair.mode == Mode::Sponsored {
                Vouch::Refused
            } else {
                Vouch::Unknown
            };
        }
        let known_account = self.profile.accounts.is_empty()
            || account.is_none_or(|name| self.profile.accounts.iter().any(|known| known.name == name));
        if operations
            .sponsorable
            .iter()
            .any(|known| same_operation(known, operation))
            && known_account
        {
            return Vouch::Accepted;
        }
        let short_enough = operations.max_call_data_bytes.is_none_or(|limit| {
            operation["callData"]
                .as_str()
                .is_none_or(|data| data.len().saturating_sub(2) / 2 <= limit)
        });
        if operations.accepts == Accepts::Any && short_enough && known_account {
            return Vouch::Accepted;
        }
        Vouch::Unknown
    }
}

/// Whether two operations are the same where it decides: sender, nonce, initCode and callData. Letter case does not matter,
/// nor do the gas and fee members, which a relation may leave out or write in another notation.
fn same_operation(known: &serde_json::Map<String, Value>, sent: &Value) -> bool {
    ["sender", "initCode", "callData"].iter().all(|member| {
        let left = known.get(*member).and_then(Value::as_str).unwrap_or("0x");
        let right = sent[*member].as_str().unwrap_or("0x");
        left.eq_ignore_ascii_case(right)
    }) && known
        .get("nonce")
        .is_none_or(|nonce| crate::json::number::amount(nonce) == crate::json::number::amount(&sent["nonce"]))
}
