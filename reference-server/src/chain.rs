//! The sponsorship paymaster's `senderNonce` of each sender, which the hash of a sponsorship covers.
//!
//! With a chain configured, a body is parsed, the nonces of its sponsored senders are looked up by the client here, and
//! then the body is answered by pure functions. Without a chain every nonce is 0.

mod client;
mod config;
mod reply;

use std::collections::HashMap;

use alloy_primitives::{Address, U256};

pub(crate) use self::client::Chain;
pub use self::config::{ChainConfig, RpcUrl};

/// The nonces that sponsorships cover.
#[derive(Debug)]
pub(crate) enum SenderNonces {
    /// No chain is configured: every nonce is 0, as in a contract that has not sponsored the sender yet.
    Zero,
    /// The results of looking up senders on the chain.
    LookedUp(HashMap<Address, Result<U256, String>>),
}

impl SenderNonces {
    /// The nonce of `sender`. The error is a fragment that follows the pointer to the sender.
    pub(crate) fn of(&self, sender: Address) -> Result<U256, String> {
        match self {
            Self::Zero => Ok(U256::ZERO),
            Self::LookedUp(nonces) => nonces
                .get(&sender)
                .cloned()
                .unwrap_or_else(|| Err("was not looked up on the chain".to_owned())),
        }
    }
}
