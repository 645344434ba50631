//! Simulates returned operations on a chain, with `eth_call` over the client's transport and within its limits.

use std::sync::Arc;

use alloy_primitives::Address;
use serde_json::{Value, json};

use paymaster_client::http::{PooledConnection, Transport};
use paymaster_engine::cases::{NodeFacts, NodeStep, SimulationOf};
use paymaster_exchange::{Body, Exchange, Simulation};

/// A node of a chain. Clones share one node.
#[derive(Clone, Debug)]
pub struct Chain(Arc<Node>);

#[derive(Debug)]
struct Node {
    transport: Transport,
    facts: NodeFacts,
}

impl Chain {
    /// The chain behind a transport. Checks that a contract is deployed at the address of the entry point, where one is given.
    ///
    /// # Errors
    ///
    /// When the node does not answer, or there is no contract. The message shows no path of the node's URL.
    pub async fn connect(transport: Transport, entry_point: Option<Address>) -> Result<Self, String> {
        let address = transport.target.address();
        let entry_point_text = entry_point.map(|address| address.to_string());
        let facts = NodeFacts { chain: 0, entry_point: entry_point_text, bundler: None };
        let mut node = Node { transport, facts };
        let failed = |cause: String| format!("the chain at {address}: {cause}");
        node.facts.chain = node.chain_id().await.map_err(failed)?;
        if let Some(entry_point) = entry_point {
            let params = json!([entry_point.to_string(), "latest"]);
            let code = node.value("eth_getCode", &params).await;
            if code.map_err(failed)?.as_str().is_none_or(|code| code.len() <= "0x".len()) {
                return Err(format!("the chain at {address} has no contract at {entry_point}"));
            }
        }
        Ok(Self(Arc::new(node)))
    }

    /// The same chain, where the target's operations are sent by this bundler.
    pub(crate) fn with_bundler(&self, bundler: Option<String>) -> Self {
        let Node { transport, facts } = &*self.0;
        Self(Arc::new(Node { transport: transport.clone(), facts: NodeFacts { bundler, ..facts.clone() } }))
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
                Err(cause) => return Some(Simulation::Unclear(cause)),
            }
        }
    }
}

impl Node {
    async fn chain_id(&self) -> Result<u64, String> {
        let value = self.value("eth_chainId", &json!([])).await?;
        let number = value.as_str().and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
        number.ok_or_else(|| "eth_chainId is answered with no number in hex".to_owned())
    }

    async fn value(&self, method: &str, params: &Value) -> Result<Value, String> {
        let body = self.request(&mut PooledConnection::default(), method, params).await?;
        let mut reply: Value =
            serde_json::from_slice(&body).map_err(|_| "the answer is not that of a JSON-RPC node")?;
        match reply["result"].take() {
            Value::Null => Err(format!("{method} was not answered: {}", reply["error"])),
            value => Ok(value),
        }
    }

    async fn request(
        &self,
        connection: &mut PooledConnection,
        method: &str,
        params: &Value,
    ) -> Result<Body, String> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let exchange = connection.exchange(&self.transport, body.to_string()).await;
        exchange.outcome.map(|response| response.body).map_err(|failure| failure.to_string())
    }
}
