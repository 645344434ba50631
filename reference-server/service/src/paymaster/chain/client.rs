//! Asks the chain for nonces, through the HTTP client of the tools: http or https, bounded in time and size.

use std::collections::HashMap;
use std::time::Duration;

use alloy_primitives::{Address, U256, hex};
use alloy_sol_types::{SolCall, sol};
use bytes::Bytes;
use hyper::header::{HeaderValue, USER_AGENT};
use parking_lot::Mutex;
use paymaster_client::http::{Limits, PooledConnection, Transport};
use paymaster_exchange::Failure;
use tokio::time::Instant;

use super::config::ChainConfig;
use super::{NonceError, SenderNonces, reply};
use crate::config::ConfigError;

sol! {
    function senderNonce(address sender) external view returns (uint256);
}

/// Largest response that is read, in bytes: room for a 32-byte result or a long error.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;
/// Most connections that are kept for the next lookup.
const MOST_IDLE_CONNECTIONS: usize = 16;
/// Longest time that a connection is kept: one that died unnoticed would cost a lookup its whole deadline.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);
const PRODUCT: HeaderValue =
    HeaderValue::from_static(concat!("paymaster-reference-server/", env!("CARGO_PKG_VERSION")));

/// A chain and the sponsorship paymaster on it.
#[derive(Debug)]
pub(crate) struct Chain {
    transport: Transport,
    timeout: Duration,
    paymaster: Address,
    /// Connections for the next lookups, each with the end of its last one.
    idle: Mutex<Vec<(PooledConnection, Instant)>>,
}

/// Why a call has no result.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{cause}")]
pub(crate) struct CallError {
    cause: String,
    /// Whether the node cannot be reached in time, so that further calls are not tried.
    is_unreachable: bool,
}

impl Chain {
    /// The chain of the configuration, if one is configured.
    pub(crate) fn new(config: &ChainConfig, paymaster: Address) -> Result<Option<Self>, ConfigError> {
        let Some(target) = config.rpc_url.target()? else { return Ok(None) };
        let timeout = Duration::from_millis(config.timeout_ms);
        let limits = Limits { timeout, body: MAX_RESPONSE_BYTES };
        let connector = config.connector(&target)?;
        Ok(Some(Self {
            transport: Transport::new(target, limits, &[(USER_AGENT, PRODUCT)]).with_connector(connector),
            timeout,
            paymaster,
            idle: Mutex::default(),
        }))
    }

    /// Looks up the nonces of these senders, each distinct one once, all within the configured time.
    pub(crate) async fn sender_nonces(&self, senders: Vec<Address>) -> SenderNonces {
        let mut nonces = HashMap::with_capacity(senders.len());
        if senders.is_empty() {
            return SenderNonces(Some(nonces));
        }
        let deadline = Instant::now() + self.timeout;
        let mut connection = self.connection();
        let mut unreachable = None;
        for sender in senders {
            if nonces.contains_key(&sender) {
                continue;
            }
            let nonce = match &unreachable {
                Some(cause) => Err(CallError::clone(cause)),
                None => self.sender_nonce(&mut connection, sender, deadline).await,
            };
            if let Err(cause) = &nonce
                && cause.is_unreachable
            {
                unreachable = Some(cause.clone());
            }
            let nonce = nonce.map_err(|cause| {
                // The origin but not the path, which may hold a key.
                let origin = self.transport.target.origin();
                NonceError(format!("could not be looked up on the chain at {origin}: {cause}"))
            });
            if let Err(cause) = &nonce {
                tracing::warn!(%sender, why = %cause, "no nonce");
            }
            nonces.insert(sender, nonce);
        }
        if unreachable.is_none() {
            let mut idle = self.idle.lock();
            if idle.len() < MOST_IDLE_CONNECTIONS {
                idle.push((connection, Instant::now()));
            }
        }
        SenderNonces(Some(nonces))
    }

    /// The connection that was used last, or a new one that opens with its first request.
    fn connection(&self) -> PooledConnection {
        let mut idle = self.idle.lock();
        idle.retain(|(_, ended)| ended.elapsed() < IDLE_TIMEOUT);
        idle.pop().map_or_else(PooledConnection::default, |(connection, _)| connection)
    }

    async fn sender_nonce(
        &self,
        connection: &mut PooledConnection,
        sender: Address,
        deadline: Instant,
    ) -> Result<U256, CallError> {
        let data = hex::encode_prefixed(senderNonceCall { sender }.abi_encode());
        let request = serde_json::json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "eth_call",
            "params": [{ "to": self.paymaster.to_string(), "data": data }, "latest"],
        });
        let mut transport = self.transport.clone();
        transport.limits.timeout = deadline.saturating_duration_since(Instant::now());
        let exchange = connection.exchange(&transport, Bytes::from(request.to_string())).await;
        let (cause, is_unreachable) = match exchange.outcome {
            // Whatever its status: nodes report errors with any.
            Ok(response) => match reply::word(&response.body, self.paymaster) {
                Ok(nonce) => return Ok(nonce),
                Err(cause) => (cause, false),
            },
            Err(Failure::Connect(cause)) => {
                (format!("no connection: {}", super::config::with_our_flags(&cause)), true)
            }
            Err(Failure::Timeout { waiting_for, .. }) => {
                let timeout = self.timeout.as_millis();
                (format!("no answer within {timeout} ms (waiting for the {waiting_for})"), true)
            }
            Err(cause) => (cause.to_string(), false),
        };
        Err(CallError { cause, is_unreachable })
    }
}
