//! A JSON-RPC client for one question, over HTTP/1.1: a connection a question, within a total deadline, bounded in size.

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

use super::config::{ChainConfig, Place};
use super::{Known, reply};
use crate::config::ConfigError;

sol! {
    function senderNonce(address sender) external view returns (uint256);
}

/// Largest answer that is read, in bytes: a word and an envelope, or a wordy error.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// A chain, and the contract on it that is asked.
#[derive(Debug)]
pub(crate) struct Chain {
    place: Place,
    timeout: Duration,
    paymaster: Address,
}

/// Why a question has no answer.
enum Failure {
    /// Nobody is there: further questions would go the same way.
    Unreachable(String),
    /// This question was not answered as it must be.
    Unanswered(String),
}

impl Chain {
    /// The chain of the configuration, if there is one.
    pub(crate) fn new(config: &ChainConfig, paymaster: Address) -> Result<Option<Self>, ConfigError> {
        let place = config.rpc_url.place()?;
        Ok(place.map(|place| Self {
            place,
            timeout: Duration::from_millis(config.timeout_ms),
            paymaster,
        }))
    }

    /// Looks the nonces of these senders up, all of them within the configured time.
    pub(crate) async fn sender_nonces(&self, senders: Vec<Address>) -> Known {
        let deadline = Instant::now() + self.timeout;
        let mut known = HashMap::with_capacity(senders.len());
        let mut unreachable = None;
        for sender in senders {
            let nonce = match &unreachable {
                Some(why) => Err(String::clone(why)),
                None => match tokio::time::timeout_at(deadline, self.sender_nonce(sender)).await {
                    Ok(Ok(nonce)) => Ok(nonce),
                    Ok(Err(Failure::Unanswered(why))) => Err(self.explained(&why)),
                    Ok(Err(Failure::Unreachable(why))) => {
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
            known.insert(sender, nonce);
        }
        Known(known)
    }

    /// Reads on after a sender. Host and port are no secret; the path may be.
    fn explained(&self, why: &str) -> String {
        format!(
            "could not be looked up on the chain at {}: {why}",
            self.place.authority
        )
    }

    async fn sender_nonce(&self, sender: Address) -> Result<U256, Failure> {
        let data = hex::encode_prefixed(senderNonceCall { sender }.abi_encode());
        let question = serde_json::json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "eth_call",
            "params": [{ "to": self.paymaster.to_string(), "data": data }, "latest"],
        });
        let body = self.ask(question.to_string()).await?;
        reply::word(&body, self.paymaster).map_err(Failure::Unanswered)
    }

    /// Sends a body and gives that of the answer, whatever its status: nodes put errors behind any.
    async fn ask(&self, question: String) -> Result<Bytes, Failure> {
        let unreachable =
            |cause: &dyn std::fmt::Display| Failure::Unreachable(format!("no connection: {cause}"));
        let unanswered =
            |cause: &dyn std::fmt::Display| Failure::Unanswered(format!("no whole answer: {cause}"));
        let stream = TcpStream::connect((self.place.host.as_str(), self.place.port))
            .await
            .map_err(|cause| unreachable(&cause))?;
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|cause| unreachable(&cause))?;
        // Dropped at the end or at the deadline, and the connection with it.
        let mut tasks = JoinSet::new();
        tasks.spawn(connection);
        let request = Request::post(self.place.path.as_str())
            .header(HOST, self.place.authority.as_str())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(question)))
            .map_err(|cause| unanswered(&cause))?;
        let response = sender
            .send_request(request)
            .await
            .map_err(|cause| unanswered(&cause))?;
        let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES)
            .collect()
            .await
            .map_err(|cause| unanswered(&cause))?;
        Ok(body.to_bytes())
    }
}
