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

/// Why the nonce of a sender is not known, as a fragment that follows the pointer to the sender.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NonceError(String);

/// The nonces that sponsorships cover: the results of looking up senders on the chain. Without a chain, which is the default, every nonce
/// is 0, as in a contract that has not sponsored the sender yet.
#[derive(Debug, Default)]
pub struct SenderNonces(pub(crate) Option<HashMap<Address, Result<U256, NonceError>>>);

impl SenderNonces {
    /// The nonce of `sender`.
    pub(crate) fn of(&self, sender: Address) -> Result<U256, NonceError> {
        match &self.0 {
            None => Ok(U256::ZERO),
            Some(nonces) => nonces
                .get(&sender)
                .cloned()
                .unwrap_or_else(|| Err(NonceError("was not looked up on the chain".to_owned()))),
        }
    }
}
