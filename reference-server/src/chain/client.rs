//! A JSON-RPC client for one call over HTTP/1.1: a connection for each call, a total deadline, and a bound on the response.

use std::collections::HashMap;
use std::time::Duration;

use alloy_primitives::{Address, U256, hex};
use alloy_sol_types::{SolCall, sol};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::config::{ChainConfig, Endpoint};
use super::{SenderNonces, reply};
use crate::config::error::ConfigError;

sol! {
    function senderNonce(address sender) external view returns (uint256);
}

/// Largest response that is read, in bytes: room for a 32-byte result or a long error.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// A chain and the sponsorship paymaster on it.
#[derive(Debug)]
pub(crate) struct Chain {
    endpoint: Endpoint,
    timeout: Duration,
    paymaster: Address,
}

/// Why a call has no result.
enum CallError {
    /// The node cannot be reached: further calls are not tried.
    Unreachable(String),
    /// The node did not return a usable response to this call.
    Unanswered(String),
}

impl Chain {
    /// The chain of the configuration, if one is configured.
    pub(crate) fn new(config: &ChainConfig, paymaster: Address) -> Result<Option<Self>, ConfigError> {
        let endpoint = config.rpc_url.endpoint()?;
        Ok(endpoint.map(|endpoint| Self {
            endpoint,
            timeout: Duration::from_millis(config.timeout_ms),
            paymaster,
        }))
    }

    /// Looks up the nonces of these senders, each distinct one once, all within the configured time.
    pub(crate) async fn sender_nonces(&self, senders: Vec<Address>) -> SenderNonces {
        let deadline = Instant::now() + self.timeout;
        let mut nonces = HashMap::with_capacity(senders.len());
        let mut unreachable = None;
        for sender in senders {
            if nonces.contains_key(&sender) {
                continue;
            }
            let nonce = match &unreachable {
                Some(why) => Err(String::clone(why)),
                None => match tokio::time::timeout_at(deadline, self.sender_nonce(sender)).await {
                    Ok(Ok(nonce)) => Ok(nonce),
                    Ok(Err(CallError::Unanswered(why))) => Err(self.explained(&why)),
                    Ok(Err(CallError::Unreachable(why))) => {
                        Err(unreachable.insert(self.explained(&why)).clone())
                    }
                    Err(_) => {
                        let why = format!("no answer within {} ms", self.timeout.as_millis());
                        Err(unreachable.insert(self.explained(&why)).clone())
                    }
                },
            };
            if let Err(why) = &nonce {
                tracing::warn!(%sender, why, "no nonce");
            }
            nonces.insert(sender, nonce);
        }
        SenderNonces::LookedUp(nonces)
    }

    /// A fragment that follows the pointer to the sender. It names host and port but not the path, which may hold a key.
    fn explained(&self, why: &str) -> String {
        format!(
            "could not be looked up on the chain at {}: {why}",
            self.endpoint.authority
        )
    }

    async fn sender_nonce(&self, sender: Address) -> Result<U256, CallError> {
        let data = hex::encode_prefixed(senderNonceCall { sender }.abi_encode());
        let request = serde_json::json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "eth_call",
            "params": [{ "to": self.paymaster.to_string(), "data": data }, "latest"],
        });
        let body = self.post(request.to_string()).await?;
        reply::word(&body, self.paymaster).map_err(CallError::Unanswered)
    }

    /// Posts a body and returns that of the response, whatever its status: nodes report errors with any status.
    async fn post(&self, request: String) -> Result<Bytes, CallError> {
        let unreachable =
            |cause: &dyn std::fmt::Display| CallError::Unreachable(format!("no connection: {cause}"));
        let unanswered =
            |cause: &dyn std::fmt::Display| CallError::Unanswered(format!("no whole answer: {cause}"));
        let stream = TcpStream::connect((self.endpoint.host.as_str(), self.endpoint.port))
            .await
            .map_err(|cause| unreachable(&cause))?;
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|cause| unreachable(&cause))?;
        // Dropping the set at the end or at the deadline closes the connection.
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        let request = Request::post(self.endpoint.path.as_str())
            .header(HOST, self.endpoint.authority.as_str())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(request)))
            .map_err(|cause| unanswered(&cause))?;
        let response = sender
            .send_request(request)
            .await
            .map_err(|cause| unanswered(&cause))?;
        let body = Limited::new(response.into_body(), MAX_RESPONSE_BYTES)
            .collect()
            .await
            .map_err(|cause| unanswered(&cause))?;
        Ok(body.to_bytes())
    }
}
