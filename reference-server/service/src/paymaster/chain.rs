//! The sponsorship paymaster's `senderNonce` of each sender, which the hash of a sponsorship covers.
//!
//! With a chain configured, a body is parsed, the nonces of its sponsored senders are looked up by the client here, and
//! then the body is answered by pure functions. Without a chain every nonce is 0.

mod client;
mod config;
mod reply;

use std::collections::HashMap;

use alloy_primitives::{Address, U256};

use self::client::CallError;
pub(crate) use self::client::Chain;
pub use self::config::{ChainConfig, RpcUrl};

/// Why the nonce of a sender is not known, as a fragment that follows the pointer to the sender.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NonceError {
    /// Nothing was asked about this sender.
    #[error("was not looked up on the chain")]
    NotLookedUp,
    /// The chain did not return it. The text names the origin but not the path, which may hold a key.
    #[error("could not be looked up on the chain at {origin}: {cause}")]
    Chain {
        /// The origin of the node.
        origin: String,
        /// What went wrong.
        cause: CallError,
    },
}

/// The nonces that sponsorships cover: the results of looking up senders on the chain. Without a chain, which is the default, every nonce
/// is 0, as in a contract that has not sponsored the sender yet.
#[derive(Debug, Default)]
pub struct SenderNonces(pub(crate) Option<HashMap<Address, Result<U256, NonceError>>>);

impl SenderNonces {
    /// The nonce of `sender`.
    pub(crate) fn of(&self, sender: Address) -> Result<U256, NonceError> {
        match &self.0 {
            None => Ok(U256::ZERO),
            Some(nonces) => nonces.get(&sender).cloned().unwrap_or(Err(NonceError::NotLookedUp)),
        }
    }
}
