//! What is read from a chain before a sponsorship is signed: the sponsorship paymaster's `senderNonce` of the sender, which
//! its hash covers.
//!
//! Answering is pure all the same. With a chain configured a body is gone through twice: once to note which senders' nonces
//! its answer would need ([`Wanted`]), and, when the client here has looked them up, once more with what is known
//! ([`Known`]). Without a chain every nonce is 0 ([`NoChain`]) and nothing is gone through twice.

mod client;
mod config;
mod reply;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use alloy_primitives::{Address, U256};

pub(crate) use self::client::Chain;
pub use self::config::{ChainConfig, RpcUrl};

/// What an answer depends on beside the request and the configuration.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    /// Unix time, in seconds.
    pub(crate) now: u64,
    /// What the chain says of senders.
    pub(crate) nonces: &'a dyn SenderNonces,
}

impl World<'_> {
    /// The world without a chain.
    pub(crate) const fn at(now: u64) -> Self {
        Self {
            now,
            nonces: &NoChain,
        }
    }
}

/// Tells what the sponsorship paymaster counts for a sender, or why that is not known.
pub(crate) trait SenderNonces: Send + Sync {
    /// The nonce of `sender`. The error is a fragment that reads on after the pointer to the sender.
    fn of(&self, sender: Address) -> Result<U256, String>;
}

/// No chain is configured. A contract counts 0 until it has sponsored a sender once.
pub(crate) struct NoChain;

impl SenderNonces for NoChain {
    fn of(&self, _: Address) -> Result<U256, String> {
        Ok(U256::ZERO)
    }
}

/// What was looked up.
#[derive(Debug, Default)]
pub(crate) struct Known(HashMap<Address, Result<U256, String>>);

impl SenderNonces for Known {
    fn of(&self, sender: Address) -> Result<U256, String> {
        self.0
            .get(&sender)
            .cloned()
            .unwrap_or_else(|| Err("was not looked up on the chain".to_owned()))
    }
}

/// Notes who is asked for, each sender once, in order.
#[derive(Debug, Default)]
pub(crate) struct Wanted(Mutex<Vec<Address>>);

impl SenderNonces for Wanted {
    fn of(&self, sender: Address) -> Result<U256, String> {
        let mut senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !senders.contains(&sender) {
            senders.push(sender);
        }
        Err("is being looked up".to_owned())
    }
}

impl Wanted {
    /// The senders that were asked for.
    pub(crate) fn senders(self) -> Vec<Address> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
