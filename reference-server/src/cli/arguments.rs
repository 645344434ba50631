//! The command line. Its flags override the configuration file.

use std::{error::Error, path::PathBuf};

use clap::Parser;
use paymaster_client::environment::{Environment, VariableError};
use paymaster_reference_server::{
    ChainConfig, Config, Fault, RpcUrl, Secret, UnknownName, Variant, find_fault, find_variant,
};

use crate::cli::pages::Pages;

/// A local paymaster: pm_getFeeQuoteOrData, pm_sponsorUserOperation, and the methods of ERC-7677 over HTTP, at any path.
///
/// `GET /health` shows that it runs. It is made for development: by default web pages of every origin can read its responses.
///
/// Flags override the configuration file, which overrides the defaults. Exit codes: 0 stopped by a signal, 2 wrong arguments
/// or configuration, 3 could not serve.
#[derive(Debug, Parser)]
#[command(name = "paymaster-reference-server", version, long_version = paymaster_version::BUILD)]
pub(crate) struct Arguments {
    /// TOML file with settings; all keys are optional
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Address and port to listen on; port 0 takes a free one, which is printed [default: 127.0.0.1:4338]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,

    /// Serve OpenMetrics at /metrics on this port; without an address, on 127.0.0.1 only [default: no metrics]
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    metrics: Option<String>,

    /// Origin of web pages that can read responses, such as http://localhost:5173; may be repeated. Replaces `cors.origins` of
    /// the configuration [default: *, every origin]
    #[arg(long, value_name = "ORIGIN")]
    cors_origin: Vec<String>,

    /// Private key to sign with, 0x and 64 hex digits; prefer the environment variable: other users can see arguments
    /// [env: PAYMASTER_SIGNING_KEY]
    #[arg(long, value_name = "HEX")]
    signing_key: Option<String>,

    /// Write zeros instead of signatures
    #[arg(long)]
    no_signing: bool,

    /// Id of the chain on which signatures are valid
    #[arg(long, value_name = "NUMBER")]
    chain_id: Option<u64>,

    /// Address of the paymaster contract for sponsored operations
    #[arg(long, value_name = "ADDRESS")]
    sponsorship_paymaster: Option<String>,

    #[command(flatten)]
    chain: ChainArguments,

    /// HTTP status of error responses: 200 or 400
    #[arg(long, value_name = "STATUS")]
    error_status: Option<u16>,

    /// Account that is not sponsored, in addition to those of the configuration; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    deny_sender: Vec<String>,

    #[command(flatten)]
    pub(crate) injections: Injections,

    /// What to log on standard error: off, error, warn, info (a line for each request) or debug (also the bodies) [env: RUST_LOG]
    /// [default: info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,

    /// Print the effective configuration as TOML and exit; a signing key other than the test key is left out
    #[arg(long)]
    pub(crate) print_config: bool,

    /// Print the profile with which paymaster-conformance judges a server of this configuration, and exit
    #[arg(
        long,
        conflicts_with = "print_config",
        value_name = "SPECIFICATION",
        num_args = 0..=1,
        default_missing_value = "fee-quote",
        value_parser = ["fee-quote", "erc-7677"]
    )]
    pub(crate) print_profile: Option<String>,

    #[command(flatten)]
    pub(crate) pages: Pages,
}

/// The chain to read nonces from.
#[derive(Debug, clap::Args)]
struct ChainArguments {
    /// http:// or https:// URL of a node's JSON-RPC, to read the nonce of each sender from the contract; prefer the environment
    /// variable when the URL holds a key [env: PAYMASTER_CHAIN_RPC]
    #[arg(long = "chain-rpc", value_name = "URL")]
    rpc: Option<String>,

    /// PEM file of certificates that are trusted for --chain-rpc instead of the platform's
    #[arg(long = "chain-cacert", value_name = "FILE")]
    cacert: Option<PathBuf>,

    /// Trust any certificate for --chain-rpc
    #[arg(long = "chain-insecure")]
    insecure: bool,
}

/// The value of a flag; without it, that of its variable.
fn given<'a>(
    flag: Option<&'a str>,
    name: &str,
    environment: &'a Environment,
) -> Result<Option<&'a str>, VariableError> {
    if let Some(value) = flag { Ok(Some(value)) } else { environment.get(name) }
}

/// Replaces a setting by the value of its flag, where that is given.
fn set<T: Clone>(setting: &mut T, flag: Option<&T>) {
    if let Some(value) = flag {
        setting.clone_from(value);
    }
}

/// The faults and variants to serve with.
#[derive(Debug, clap::Args)]
pub(crate) struct Injections {
    /// Fault to inject, one of --list-faults; may be repeated
    #[arg(long, value_name = "NAME")]
    fault: Vec<String>,

    /// Lawful variant to inject, one of --list-variants; may be repeated
    #[arg(long, value_name = "NAME")]
    variant: Vec<String>,

    /// List the faults, each with the clause that it breaks, and exit
    #[arg(long)]
    pub(crate) list_faults: bool,

    /// List the lawful variants and exit
    #[arg(long)]
    pub(crate) list_variants: bool,
}

impl Arguments {
    /// The configuration with the environment and the flags applied.
    pub(crate) fn configuration(&self, environment: &Environment) -> Result<Config, Box<dyn Error>> {
        let mut config = if let Some(path) = &self.config { Config::load(path)? } else { Config::default() };
        set(&mut config.listen, self.listen.as_ref());
        set(&mut config.metrics, self.metrics.as_ref());
        if !self.cors_origin.is_empty() {
            config.cors.origins.clone_from(&self.cors_origin);
        }
        if let Some(key) = given(self.signing_key.as_deref(), "PAYMASTER_SIGNING_KEY", environment)? {
            config.signing.key = Secret::new(key);
        }
        if self.no_signing {
            config.signing.enabled = false;
        }
        set(&mut config.signing.chain_id, self.chain_id.as_ref());
        set(&mut config.signing.sponsorship_paymaster, self.sponsorship_paymaster.as_ref());
        self.chain.apply(&mut config.chain, environment)?;
        set(&mut config.error_status, self.error_status.as_ref());
        config.policy.denied_senders.extend_from_slice(&self.deny_sender);
        Ok(config)
    }

    /// What to log: the flag, or the variable; none where the default applies.
    pub(crate) fn log<'a>(&'a self, environment: &'a Environment) -> Result<Option<&'a str>, VariableError> {
        given(self.log.as_deref(), "RUST_LOG", environment)
    }

    /// The arguments that change the profile of the server.
    pub(crate) fn of_profile(&self) -> Vec<String> {
        let config = self.config.iter().map(|path| ("--config", path.display().to_string()));
        let senders = self.deny_sender.iter().map(|sender| ("--deny-sender", sender.clone()));
        // The profile leaves out what is not true of a variant.
        let variants = self.injections.variant.iter();
        let variants = variants.map(|name| ("--variant", name.clone()));
        config.chain(senders).chain(variants).flat_map(|(flag, value)| [flag.to_owned(), value]).collect()
    }
}

impl ChainArguments {
    fn apply(&self, config: &mut ChainConfig, environment: &Environment) -> Result<(), VariableError> {
        if let Some(url) = given(self.rpc.as_deref(), "PAYMASTER_CHAIN_RPC", environment)? {
            config.rpc_url = RpcUrl::new(url);
        }
        set(&mut config.cacert, self.cacert.as_ref());
        config.insecure |= self.insecure;
        Ok(())
    }
}

impl Injections {
    /// The faults to inject.
    pub(crate) fn faults(&self) -> Result<Vec<&'static Fault>, UnknownName> {
        self.fault.iter().map(|name| find_fault(name)).collect()
    }

    /// The variants to inject.
    pub(crate) fn variants(&self) -> Result<Vec<&'static Variant>, UnknownName> {
        self.variant.iter().map(|name| find_variant(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn flags_override_the_file() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(
            &mut file,
            b"listen = \"127.0.0.1:1\"\nerror_status = 400\n[signing]\nchain_id = 5\n",
        )
        .unwrap();
        let path = file.path().display().to_string();
        let arguments =
            Arguments::parse_from(["server", "--config", &path, "--listen", "127.0.0.1:2", "--no-signing"]);
        let config = arguments.configuration(&Environment::default()).unwrap();
        assert_eq!(config.listen, "127.0.0.1:2");
        assert_eq!(config.error_status, 400);
        assert_eq!(config.signing.chain_id, 5);
        assert!(!config.signing.enabled);
        assert_eq!(config.bounds, Config::default().bounds);
    }
}
