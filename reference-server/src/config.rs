//! The configuration: a TOML file in which every key is optional.

mod unknown_keys;

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::chain::{ChainConfig, RpcUrl};
use crate::policy::PolicyConfig;
use crate::signing::SigningConfig;
use crate::tokens::Token;

/// The settings of a server. [`Config::default`] is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address and port to listen on; port 0 takes a free one.
    pub listen: String,
    /// HTTP status of an error response to a single request: 200, which is usual for JSON-RPC over HTTP, or 400. One published
    /// client shows the message of an error with status 400; others hide it. The status of a batch is always 200.
    pub error_status: u16,
    /// How long a quote is valid, in seconds.
    pub quote_valid_seconds: u64,
    /// Which operations are sponsored.
    pub policy: PolicyConfig,
    /// How results are signed.
    pub signing: SigningConfig,
    /// The chain from which the nonces of sponsored senders are read.
    pub chain: ChainConfig,
    /// The bounds on what clients send.
    pub bounds: Bounds,
    /// The supported tokens.
    pub tokens: Vec<Token>,
}

impl Config {
    /// Loads a TOML file. See [`Config::from_toml`].
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Read {
            path: path.display().to_string(),
            source,
        })?;
        Self::from_toml(&text)
    }

    /// Parses TOML text. Missing keys have their default; an unknown key is an error that suggests the most similar known
    /// key.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let at = |error: toml::de::Error| ConfigError::toml(text, &error);
        let table: toml::Table = toml::from_str(text).map_err(at)?;
        unknown_keys::refuse(&table)?;
        toml::from_str(text).map_err(at)
    }

    /// The configuration as TOML text for [`Config::from_toml`]. A signing key other than the test key is redacted.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        toml::to_string(self).map_err(ConfigError::Write)
    }

    /// Checks the values that no other file checks.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if !matches!(self.error_status, 200 | 400) {
            return Err(ConfigError::value(
                "error_status",
                "200 or 400",
                &self.error_status.to_string(),
            ));
        }
        let uses_chain = self.chain.rpc_url != RpcUrl::default();
        if uses_chain && !(1..self.bounds.total_timeout_ms).contains(&self.chain.timeout_ms) {
            return Err(ConfigError::value(
                "chain.timeout_ms",
                "at least 1 and less than bounds.total_timeout_ms",
                &self.chain.timeout_ms.to_string(),
            ));
        }
        self.bounds
            .problem()
            .map_or(Ok(()), |problem| Err(ConfigError::Bounds(problem)))
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:4337".to_owned(),
            error_status: 200,
            quote_valid_seconds: 60,
            policy: PolicyConfig::default(),
            signing: SigningConfig::default(),
            chain: ChainConfig::default(),
            bounds: Bounds::default(),
            tokens: Token::defaults(),
        }
    }
}

/// A secret text. It is never printed, unless it is the public test key.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

/// The text that is printed instead of a secret.
const REDACTED: &str = "(redacted)";

impl Secret {
    /// Keeps `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    fn shown(&self) -> &str {
        if self.0 == SigningConfig::TEST_KEY {
            &self.0
        } else {
            REDACTED
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.shown())
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}

/// Why a configuration is not valid.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The text is not TOML, or a value has the wrong type. The error does not hold the line, which may contain a key.
    Toml {
        /// The line number, from 1.
        line: usize,
        /// The part of the line before `=`; empty when it has none.
        key: String,
        /// What is wrong with the text.
        problem: String,
    },
    /// A key does not exist.
    UnknownKey {
        /// The key with its tables, such as `bounds.max_depth`.
        key: String,
        /// The most similar known key of the same table, when one is similar enough.
        nearest: Option<String>,
    },
    /// A value is not valid for its key.
    Value {
        /// The key.
        key: String,
        /// What the value must be.
        wanted: String,
        /// The value that was found.
        found: String,
    },
    /// A bound is out of its range; holds the message.
    Bounds(String),
    /// The configuration cannot be written as TOML.
    Write(toml::ser::Error),
}

impl ConfigError {
    fn toml(text: &str, error: &toml::de::Error) -> Self {
        let before = error
            .span()
            .and_then(|span| text.get(..span.start))
            .unwrap_or_default();
        let index = before.matches('\n').count();
        let key = text.lines().nth(index).and_then(|line| line.split_once('='));
        Self::Toml {
            line: index + 1,
            key: key.map(|(key, _)| key.trim().to_owned()).unwrap_or_default(),
            problem: error.message().replace('\n', ", "),
        }
    }

    pub(crate) fn value(key: &str, wanted: &str, found: &str) -> Self {
        Self::Value {
            key: key.to_owned(),
            wanted: wanted.to_owned(),
            found: found.to_owned(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, .. } => write!(formatter, "cannot read {path}"),
            Self::Toml { line, key, problem } if key.is_empty() => {
                write!(formatter, "invalid toml at line {line}: {problem}")
            }
            Self::Toml { line, key, problem } => {
                write!(formatter, "invalid toml at line {line}, `{key}`: {problem}")
            }
            Self::UnknownKey {
                key,
                nearest: Some(nearest),
            } => {
                write!(formatter, "unknown key `{key}`: did you mean `{nearest}`?")
            }
            Self::UnknownKey { key, nearest: None } => write!(formatter, "unknown key `{key}`"),
            Self::Value { key, wanted, found } => {
                write!(formatter, "`{key}` must be {wanted}, not {found:?}")
            }
            Self::Bounds(problem) => formatter.write_str(problem),
            Self::Write(error) => write!(formatter, "cannot write as toml: {error}"),
        }
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_the_default() {
        assert_eq!(Config::from_toml("").unwrap(), Config::default());
    }

    #[test]
    fn the_default_can_be_written_and_parsed_again() {
        let printed = Config::default().to_toml().unwrap();
        assert_eq!(Config::from_toml(&printed).unwrap(), Config::default());
    }

    #[test]
    fn a_value_of_the_wrong_type_is_refused_where_it_is() {
        let error = Config::from_toml("[bounds]\nmax_depth = \"deep\"\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2") && error.contains("max_depth"), "{error}");
        let error = Config::from_toml("listen = ").unwrap_err().to_string();
        assert!(error.starts_with("invalid toml at line 1, `listen`"), "{error}");
        let error = Config::from_toml("\n[signing]\nkey = \"0xSECRET")
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("invalid toml at line 3, `key`"), "{error}");
        assert!(!error.contains("SECRET"), "{error}");
    }

    #[test]
    fn a_real_key_is_not_shown_and_the_test_key_is() {
        let mut config = Config::default();
        assert!(config.to_toml().unwrap().contains(SigningConfig::TEST_KEY));
        let real = format!("0x{}", "5a".repeat(32));
        config.signing.key = Secret::new(real.clone());
        assert!(!config.to_toml().unwrap().contains(&real));
        assert!(!format!("{config:?}").contains(&real));
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        for (toml, named) in [
            ("error_status = 500", "error_status"),
            ("[bounds]\nmax_depth = 1000", "bounds.max_depth"),
            ("[bounds]\nmax_connections = 0", "bounds.max_connections"),
            (
                "[chain]\nrpc_url = 'http://h'\ntimeout_ms = 0",
                "chain.timeout_ms",
            ),
            (
                "[chain]\nrpc_url = 'http://h'\ntimeout_ms = 30000",
                "chain.timeout_ms",
            ),
        ] {
            let error = Config::from_toml(toml).unwrap().check().unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
