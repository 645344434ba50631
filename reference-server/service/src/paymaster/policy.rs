//! Decides which operations are sponsored.
//!
//! Section 4.2, rule 1: only the operation and the sponsorship info decide. So the decision has no other input: not the id,
//! the time, the expiry, or earlier requests.

use std::collections::HashSet;

use alloy_primitives::{Address, hex};

use crate::config::{ConfigError, config};
use crate::message::{Operation, SponsorshipInfo};

config! {
    /// The conditions under which an operation is not sponsored.
    pub struct PolicyConfig {
        /// Accounts that are never sponsored.
        pub denied_senders: Vec<String> = vec![Self::DENIED_SENDER.to_owned()],
        /// Account implementations that are sponsored (`smartAccountInfo.name`, letter case included); an empty list allows every
        /// name. A request without a name is allowed.
        pub account_names: Vec<String> = ["BICONOMY", "INFINITISM", "SAFE"].map(str::to_owned).to_vec(),
        /// Largest call data that is sponsored, in bytes.
        pub max_call_data_bytes: usize = 64 * 1024,
    }
}

impl PolicyConfig {
    /// An account that the default configuration does not sponsor, so that clients can try this case.
    pub const DENIED_SENDER: &str = "0x00000000000000000000000000000000deadbeef";
}

/// The policy with its addresses parsed.
pub(crate) struct Policy {
    denied_senders: HashSet<Address>,
    config: PolicyConfig,
}

impl Policy {
    pub(crate) fn new(config: &PolicyConfig) -> Result<Self, ConfigError> {
        let denied_senders = config
            .denied_senders
            .iter()
            .map(|text| configured_address("policy.denied_senders", text))
            .collect::<Result<_, _>>()?;
        Ok(Self { denied_senders, config: config.clone() })
    }

    /// Whether the operation is sponsored.
    pub(crate) fn sponsors(&self, operation: &Operation<'_>, info: &SponsorshipInfo<'_>) -> bool {
        let name = info.smart_account_info.as_ref().and_then(|info| info.name.as_ref());
        let allowed = &self.config.account_names;
        let name_allowed =
            allowed.is_empty() || name.is_none_or(|name| allowed.iter().any(|allowed| *allowed == name.0));
        name_allowed && self.allows(operation)
    }

    /// Whether an operation is sponsored of whose account no name is known.
    pub(crate) fn allows(&self, operation: &Operation<'_>) -> bool {
        operation.call_data.len() <= self.config.max_call_data_bytes
            && !self.denied_senders.contains(&operation.sender.address)
    }
}

/// Parses `0x` and 40 hex digits of any letter case.
pub(crate) fn parse_address(text: &str) -> Option<Address> {
    let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 40)?;
    let mut address = Address::ZERO;
    hex::decode_to_slice(digits, &mut address.0.0).ok()?;
    Some(address)
}

/// The address that the configuration has under this key.
pub(crate) fn configured_address(key: &str, text: &str) -> Result<Address, ConfigError> {
    parse_address(text).ok_or_else(|| ConfigError::value(key, "an address", text))
}
