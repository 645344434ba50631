//! `--rpc-url` and `--entry-point`: the chain on which returned operations are simulated.

use paymaster_schemas::Basis;

use crate::{
    cli::{CommandError, args::ChainArgs},
    run::Chain,
};
use paymaster_client::{http::transport::Transport, network::target::Target, redact::Redactor};
use paymaster_engine::rules::Rule;
use paymaster_settings::{
    Setup,
    output::{curl::RPC_VARIABLE, shell},
    shown_url,
};

impl ChainArgs {
    /// A transport to the node, where one is given.
    pub(crate) fn transport(&self, setup: &Setup) -> Result<Option<Transport>, CommandError> {
        let transport = self.rpc_url.as_ref().map(|url| setup.transport_to(url)).transpose();
        Ok(transport.map_err(|cause| format!("--rpc-url: {cause}"))?)
    }

    /// Connects to the chain, where one is given.
    pub(crate) async fn connect(&self, transport: Option<Transport>) -> Result<Option<Chain>, String> {
        match transport {
            Some(transport) => Chain::connect(transport, self.entry_point).await.map(Some),
            None => Ok(None),
        }
    }

    /// Hides the secrets in the URL of the node, which may hold a key. Returns the options that name the same chain, quoted for a shell,
    /// with a variable in place of a secret URL; empty where no chain is given.
    pub(crate) fn hide(&self, redactor: &mut Redactor) -> String {
        let Some(url) = &self.rpc_url else { return String::new() };
        let public = Target::parse(url).is_ok_and(|target| shown_url(&target, redactor, &[]).1);
        let url = if public { shell::word(url) } else { RPC_VARIABLE.to_owned() };
        let entry_point = self.entry_point.map(|address| format!(" --entry-point {address}"));
        format!(" --rpc-url {url}{}", entry_point.unwrap_or_default())
    }

    /// Removes the rules that need a chain where none is given; an error where no other rule is left.
    pub(crate) fn applicable(
        &self,
        mut rules: Vec<&'static Rule>,
    ) -> Result<Vec<&'static Rule>, CommandError> {
        if self.rpc_url.is_none() {
            rules.retain(|rule| rule.basis() != Basis::OnChain);
        }
        if rules.is_empty() {
            return Err("the selected rules need a chain: give --rpc-url".into());
        }
        Ok(rules)
    }
}
