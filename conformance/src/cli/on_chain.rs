//! `--rpc-url` and `--entry-point`: the chain that is asked what it makes of answers.

use alloy_primitives::Address;
use clap::Args;
use paymaster_schemas::Basis;

use crate::{
    rules::Rule,
    run::{Chain, Limits},
};

#[derive(Default, Debug, Args)]
pub(crate) struct ChainArgs {
    /// Simulate returned operations on the target's chain: the URL of a node's JSON-RPC.
    #[arg(long, value_name = "URL", requires = "entry_point")]
    pub(crate) rpc_url: Option<String>,
    /// EntryPoint v0.6 on that chain.
    #[arg(long, value_name = "ADDRESS", requires = "rpc_url")]
    pub(crate) entry_point: Option<Address>,
}

impl ChainArgs {
    /// Connects to the chain, when one is given.
    pub(crate) async fn connect(&self, limits: Limits) -> Result<Option<Chain>, String> {
        match (&self.rpc_url, self.entry_point) {
            (Some(url), Some(entry_point)) => Chain::connect(url, entry_point, limits).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Leaves the rules about a chain out when none is given.
    pub(crate) fn applicable(&self, mut rules: Vec<&'static Rule>) -> Result<Vec<&'static Rule>, String> {
        if self.rpc_url.is_none() {
            rules.retain(|rule| rule.basis() != Basis::OnChain);
        }
        if rules.is_empty() {
            return Err("the rules about a chain need one: give --rpc-url and --entry-point".to_owned());
        }
        Ok(rules)
    }
}
