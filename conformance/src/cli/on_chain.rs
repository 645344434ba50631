//! `--rpc-url` and `--entry-point`: the chain that is asked what it makes of answers.

use alloy_primitives::Address;
use clap::Args;
use paymaster_schemas::Basis;

use crate::{report::curl, run::Chain};
use paymaster_cli::setup::Setup;
use paymaster_client::{redact::Redactor, target::Target, transport::Transport};
use paymaster_judge::rules::Rule;

#[derive(Debug, Default, Args)]
pub(crate) struct ChainArgs {
    /// Simulate returned operations on the target's chain: the URL of a node's JSON-RPC.
    #[arg(long, value_name = "URL", requires = "entry_point")]
    pub(crate) rpc_url: Option<String>,
    /// EntryPoint v0.6 on that chain.
    #[arg(long, value_name = "ADDRESS", requires = "rpc_url")]
    pub(crate) entry_point: Option<Address>,
}

impl ChainArgs {
    /// The way to the chain, when one is given, and where EntryPoint is there.
    pub(crate) fn way(&self, setup: &Setup) -> Result<Option<(Transport, Address)>, String> {
        match (&self.rpc_url, self.entry_point) {
            (Some(url), Some(entry_point)) => {
                let transport = setup.transport_to(url);
                let transport = transport.map_err(|cause| format!("--rpc-url: {cause}"))?;
                Ok(Some((transport, entry_point)))
            }
            _ => Ok(None),
        }
    }

    /// Hides what is secret in the URL of the node: vendors put the key there too. Gives the options that ask the same chain again, ready
    /// for a shell, with a variable where the URL is secret; empty where no chain is given.
    pub(crate) fn hide(&self, redactor: &mut Redactor) -> String {
        let (Some(url), Some(entry_point)) = (&self.rpc_url, self.entry_point) else {
            return String::new();
        };
        let public = Target::parse(url).is_ok_and(|target| {
            let query = target.query().map_or(String::new(), |query| format!("?{query}"));
            let shown = redactor.hide_path(target.path(), target.query(), target.is_loopback(), &[]);
            shown == format!("{}{query}", target.path())
        });
        let url = if public {
            paymaster_cli::shell::word(url)
        } else {
            curl::RPC_VARIABLE.to_owned()
        };
        format!(" --rpc-url {url} --entry-point {entry_point}")
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

/// Connects to the chain, when there is one.
pub(crate) async fn connect(way: Option<(Transport, Address)>) -> Result<Option<Chain>, String> {
    match way {
        Some((transport, entry_point)) => Chain::connect(transport, entry_point).await.map(Some),
        None => Ok(None),
    }
}
