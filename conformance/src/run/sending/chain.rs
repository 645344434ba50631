//! Simulates returned operations on a chain, with `eth_call` over the client's transport and within its limits.

use std::{fmt, sync::Arc};

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
#[derive(Debug)]
pub enum ChainError {
    /// The node at this host and port did not answer as a JSON-RPC node does.
    Node {
        /// Host and port.
        address: String,
        /// What went wrong.
        cause: NodeError,
    },
    /// There is no contract at the address of the entry point.
    NoEntryPoint {
        /// Host and port of the node.
        address: String,
        /// The address that was given for the entry point.
        entry_point: Address,
    },
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node { address, cause } => write!(f, "the chain at {address}: {cause}"),
            Self::NoEntryPoint { address, entry_point } => {
                write!(f, "the chain at {address} has no contract at {entry_point}")
            }
        }
    }
}

impl std::error::Error for ChainError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Node { cause, .. } => Some(cause),
            Self::NoEntryPoint { .. } => None,
        }
    }
}

/// Why a call to a node has no result.
#[derive(Debug)]
pub enum NodeError {
    /// There was no HTTP response.
    Unanswered(Failure),
    /// The response is not what a JSON-RPC node returns; the text says how.
    Unreadable(String),
    /// The node returned an error object, or null, for this method.
    Refused {
        /// The method.
        method: String,
        /// The error object, as JSON.
        error: Value,
    },
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered(failure) => write!(f, "{failure}"),
            Self::Unreadable(cause) => f.write_str(cause),
            Self::Refused { method, error } => write!(f, "{method} was not answered: {error}"),
        }
    }
}

impl std::error::Error for NodeError {}

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
            let code = node.value(&mut PooledConnection::default(), "eth_getCode", &params).await;
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
        let value = self.value(&mut PooledConnection::default(), "eth_chainId", &json!([])).await?;
        let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
        digits
            .and_then(|digits| u64::from_str_radix(digits, 16).ok())
            .ok_or_else(|| NodeError::Unreadable("eth_chainId is answered with no number in hex".to_owned()))
    }

    async fn value(
        &self,
        connection: &mut PooledConnection,
        method: &str,
        params: &Value,
    ) -> Result<Value, NodeError> {
        let body = self.request(connection, method, params).await?;
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
