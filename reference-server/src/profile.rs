//! The profile of a server for `paymaster-conformance`: what the harness needs to know to judge it.

use serde::Serialize;

use crate::config::{Config, ConfigError};

/// Addresses that are no tokens of the default configuration.
const UNSUPPORTED: [&str; 3] = [
    "0x1111111111111111111111111111111111111111",
    "0x2222222222222222222222222222222222222222",
    "0xFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFf",
];
/// The versions that published clients send with the account names of the default configuration.
const VERSIONS: [(&str, &str); 3] = [("BICONOMY", "2.0.0"), ("INFINITISM", "1.0.0"), ("SAFE", "1.4.1")];
/// The version for other account names.
const OTHER_VERSION: &str = "1.0.0";

#[derive(Serialize)]
struct Profile<'a> {
    tokens: Tokens<'a>,
    operations: Operations<'a>,
    accounts: Vec<Account<'a>>,
}

#[derive(Serialize)]
struct Tokens<'a> {
    unsupported: Vec<&'a str>,
    supported: Vec<SupportedToken<'a>>,
}

#[derive(Serialize)]
struct SupportedToken<'a> {
    address: &'a str,
    symbol: &'a str,
    decimals: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Operations<'a> {
    accepts: &'static str,
    sponsors: &'static str,
    refused_senders: &'a [String],
    max_call_data_bytes: usize,
}

#[derive(Serialize)]
struct Account<'a> {
    name: &'a str,
    version: &'a str,
}

impl Config {
    /// The `paymaster.toml` with which `paymaster-conformance` judges a server of this configuration.
    pub fn to_profile(&self) -> Result<String, ConfigError> {
        let is_supported = |address: &str| {
            let mut tokens = self.tokens.iter();
            tokens.any(|token| token.address.eq_ignore_ascii_case(address))
        };
        let version = |name: &str| {
            let known = VERSIONS.iter().find(|(known, _)| *known == name);
            known.map_or(OTHER_VERSION, |(_, version)| *version)
        };
        let profile = Profile {
            tokens: Tokens {
                unsupported: UNSUPPORTED
                    .into_iter()
                    .filter(|address| !is_supported(address))
                    .collect(),
                supported: self
                    .tokens
                    .iter()
                    .map(|token| SupportedToken {
                        address: &token.address,
                        symbol: &token.symbol,
                        decimals: token.decimals,
                    })
                    .collect(),
            },
            operations: Operations {
                accepts: "any",
                sponsors: "any",
                refused_senders: &self.policy.denied_senders,
                max_call_data_bytes: self.policy.max_call_data_bytes,
            },
            accounts: self
                .policy
                .account_names
                .iter()
                .map(|name| Account {
                    name,
                    version: version(name),
                })
                .collect(),
        };
        let text = toml::to_string(&profile).map_err(ConfigError::Write)?;
        Ok(format!(
            "# What paymaster-reference-server supports, for paymaster-conformance.\n{text}"
        ))
    }
}
