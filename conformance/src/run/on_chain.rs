//! Asking a chain what it makes of an answer: eth_calls over our own transport, within its bounds.

use std::sync::Arc;

use alloy_primitives::{Address, hex};
use bytes::Bytes;
use serde_json::{Value, json};

use paymaster_client::transport::{PooledConnection, Transport};
use paymaster_exchange::{Exchange, Simulation};
use paymaster_judge::on_chain::{
    Called, Completed, First, first_reading, hash_call, hash_reading, own_check, own_reading, simulation_call,
};

/// A node of a chain, and EntryPoint v0.6 there. Cloned, it is the same.
#[derive(Clone, Debug)]
pub struct Chain(Arc<Node>);

#[derive(Debug)]
struct Node {
    transport: Transport,
    entry_point: Address,
}

impl Chain {
    /// The chain at the other end of a transport, once it is seen to have a contract where the entry point is said to be. The error says
    /// what is wrong and shows no path of the URL.
    pub async fn connect(transport: Transport, entry_point: Address) -> Result<Self, String> {
        let address = transport.target.address();
        let node = Node {
            transport,
            entry_point,
        };
        let asked = json!([entry_point.to_string(), "latest"]);
        let code = node
            .value(&mut PooledConnection::default(), "eth_getCode", &asked)
            .await;
        match code.map_err(|cause| format!("the chain at {address}: {cause}"))? {
            Value::String(code) if code.len() > "0x".len() => Ok(Self(Arc::new(node))),
            _ => Err(format!("the chain at {address} has no contract at {entry_point}")),
        }
    }

    /// What the chain says of an exchange; none where there is no paymasterAndData to put before it.
    pub(crate) async fn simulate(&self, exchange: &Exchange) -> Option<Simulation> {
        let completed = Completed::of(exchange)?;
        let simulated = self.0.simulate(&completed).await;
        Some(simulated.unwrap_or_else(Simulation::Unclear))
    }
}

impl Node {
    async fn simulate(&self, completed: &Completed) -> Result<Simulation, String> {
        let line = &mut PooledConnection::default();
        let now = self.time(line).await?;
        let called = self
            .call(line, None, self.entry_point, &simulation_call(completed))
            .await?;
        let why = match first_reading(&called, completed.mode, now) {
            First::Told(simulation) => return Ok(simulation),
            First::AskThePaymaster(why) => why,
        };
        let Some(paymaster) = completed.paymaster() else {
            return Ok(Simulation::Refused(
                "AA93 invalid paymasterAndData: it is shorter than an address".to_owned(),
            ));
        };
        let called = self
            .call(line, None, self.entry_point, &hash_call(completed))
            .await?;
        let hash = hash_reading(&called).ok_or(why)?;
        let check = own_check(completed, hash);
        let called = self.call(line, Some(self.entry_point), paymaster, &check).await?;
        Ok(own_reading(&called, completed.mode, now))
    }

    /// The time of the last block, in Unix seconds.
    async fn time(&self, line: &mut PooledConnection) -> Result<u64, String> {
        let block = self
            .value(line, "eth_getBlockByNumber", &json!(["latest", false]))
            .await?;
        block["timestamp"]
            .as_str()
            .and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok())
            .ok_or_else(|| "the node tells no time".to_owned())
    }

    async fn call(
        &self,
        line: &mut PooledConnection,
        from: Option<Address>,
        to: Address,
        data: &[u8],
    ) -> Result<Called, String> {
        let mut call = json!({ "to": to.to_string(), "data": hex::encode_prefixed(data) });
        if let Some(from) = from {
            call["from"] = json!(from.to_string());
        }
        let body = self.ask(line, "eth_call", &json!([call, "latest"])).await?;
        Called::read(&body).map_err(|cause| cause.to_string())
    }

    async fn value(
        &self,
        line: &mut PooledConnection,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        let body = self.ask(line, method, params).await?;
        let mut reply: Value = serde_json::from_slice(&body)
            .map_err(|_| "the answer is not that of a JSON-RPC node".to_owned())?;
        match reply["result"].take() {
            Value::Null => Err(format!("{method} was not answered: {}", reply["error"])),
            value => Ok(value),
        }
    }

    async fn ask(&self, line: &mut PooledConnection, method: &str, params: &Value) -> Result<Bytes, String> {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let asked = line.exchange(&self.transport, question.to_string().into()).await;
        match asked.outcome {
            Ok(response) => Ok(response.body),
            Err(failure) => Err(failure.to_string()),
        }
    }
}
