//! Simulates returned operations on a chain, with `eth_call` over the client's transport and within its limits.

use std::sync::Arc;

use alloy_primitives::Address;
use bytes::Bytes;
use serde_json::{Value, json};

use paymaster_client::http::transport::{PooledConnection, Transport};
use paymaster_engine::simulation::{NodeFacts, NodeStep, SimulationOf};
use paymaster_exchange::{Exchange, Failure, Simulation};

/// A node of a chain. Clones share one node.
#[derive(Clone, Debug)]
pub struct Chain(Arc<Node>);

#[derive(Debug)]
struct Node {
    transport: Transport,
    facts: NodeFacts,
}

/// Why a chain cannot be used. The message shows no path of the node's URL.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The node at this host and port did not answer as a JSON-RPC node does.
    #[error("the chain at {address}: {cause}")]
    Node {
        /// Host and port.
        address: String,
        /// What went wrong.
        #[source]
        cause: NodeError,
    },
    /// There is no contract at the address of the entry point.
    #[error("the chain at {address} has no contract at {entry_point}")]
    NoEntryPoint {
        /// Host and port of the node.
        address: String,
        /// The address that was given for the entry point.
        entry_point: Address,
    },
}

/// Why a call to a node has no result.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// There was no HTTP response.
    #[error("{0}")]
    Unanswered(Failure),
    /// The response is not what a JSON-RPC node returns; the text says how.
    #[error("{0}")]
    Unreadable(String),
    /// The node returned an error object, or null, for this method.
    #[error("{method} was not answered: {error}")]
    Refused {
        /// The method.
        method: String,
        /// The error object, as JSON.
        error: Value,
    },
}

impl Chain {
    /// The chain behind a transport. Checks that a contract is deployed at the address of the entry point, where one is given.
    ///
    /// # Errors
    ///
    /// When the node does not answer, or there is no contract.
    pub async fn connect(transport: Transport, entry_point: Option<Address>) -> Result<Self, ChainError> {
        let address = transport.target.address();
        let facts = NodeFacts { chain: 0, entry_point: entry_point.map(|address| address.to_string()) };
        let mut node = Node { transport, facts };
        let failed = |cause| ChainError::Node { address: address.clone(), cause };
        node.facts.chain = node.chain_id().await.map_err(failed)?;
        if let Some(entry_point) = entry_point {
            let params = json!([entry_point.to_string(), "latest"]);
            let code = node.value("eth_getCode", &params).await;
            if code.map_err(failed)?.as_str().is_none_or(|code| code.len() <= "0x".len()) {
                return Err(ChainError::NoEntryPoint { address, entry_point });
            }
        }
        Ok(Self(Arc::new(node)))
    }

    /// Simulates what an exchange returned; none where it returned nothing to simulate.
    pub(crate) async fn simulate(&self, exchange: &Exchange, of: SimulationOf) -> Option<Simulation> {
        let mut simulation = of(exchange, &self.0.facts)?;
        let connection = &mut PooledConnection::default();
        let mut answer = None;
        loop {
            let (method, params) = match simulation.next(answer.as_deref()) {
                NodeStep::Known(outcome) => return Some(outcome),
                NodeStep::Ask(method, params) => (method, params),
            };
            match self.0.request(connection, method, &params).await {
                Ok(body) => answer = Some(body),
                Err(cause) => return Some(Simulation::Unclear(cause.to_string())),
            }
        }
    }
}

impl Node {
    async fn chain_id(&self) -> Result<u64, NodeError> {
        let value = self.value("eth_chainId", &json!([])).await?;
        let number = value.as_str().and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
        number
            .ok_or_else(|| NodeError::Unreadable("eth_chainId is answered with no number in hex".to_owned()))
    }

    async fn value(&self, method: &str, params: &Value) -> Result<Value, NodeError> {
        let body = self.request(&mut PooledConnection::default(), method, params).await?;
        let mut reply: Value = serde_json::from_slice(&body)
            .map_err(|_| NodeError::Unreadable("the answer is not that of a JSON-RPC node".to_owned()))?;
        match reply["result"].take() {
            Value::Null => {
                Err(NodeError::Refused { method: method.to_owned(), error: reply["error"].take() })
            }
            value => Ok(value),
        }
    }

    async fn request(
        &self,
        connection: &mut PooledConnection,
        method: &str,
        params: &Value,
    ) -> Result<Bytes, NodeError> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let exchange = connection.exchange(&self.transport, body.to_string()).await;
        exchange.outcome.map(|response| response.body).map_err(NodeError::Unanswered)
    }
}
