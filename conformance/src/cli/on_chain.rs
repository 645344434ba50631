//! `--rpc-url` and `--entry-point`: the chain on which returned operations are simulated.

use alloy_primitives::Address;
use paymaster_schemas::Basis;

use crate::{
    cli::{args::ChainArgs, process::CommandError},
    report::text::curl,
    run::{Chain, ChainError},
};
use paymaster_client::{http::transport::Transport, network::target::Target, redact::Redactor};
use paymaster_engine::rules::Rule;
use paymaster_settings::settings::setup::{Setup, shown_url};

/// How the chain is reached.
pub(crate) struct ChainAccess {
    transport: Transport,
    entry_point: Option<Address>,
}

impl ChainArgs {
    /// How the chain is reached, where one is given.
    pub(crate) fn access(&self, setup: &Setup) -> Result<Option<ChainAccess>, CommandError> {
        let Some(url) = &self.rpc_url else {
            return Ok(None);
        };
        let transport = setup.transport_to(url).map_err(|cause| format!("--rpc-url: {cause}"))?;
        Ok(Some(ChainAccess { transport, entry_point: self.entry_point }))
    }

    /// Hides the secrets in the URL of the node, which may hold a key. Returns the options that name the same chain, quoted for a shell,
    /// with a variable in place of a secret URL; empty where no chain is given.
    pub(crate) fn hide(&self, redactor: &mut Redactor) -> String {
        let Some(url) = &self.rpc_url else {
            return String::new();
        };
        let public = Target::parse(url).is_ok_and(|target| shown_url(&target, redactor, &[]).1);
        let url =
            if public { paymaster_settings::output::shell::word(url) } else { curl::RPC_VARIABLE.to_owned() };
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

/// Connects to the chain, where one is given.
pub(crate) async fn connect(access: Option<ChainAccess>) -> Result<Option<Chain>, ChainError> {
    match access {
        Some(access) => Chain::connect(access.transport, access.entry_point).await.map(Some),
        None => Ok(None),
    }
}
