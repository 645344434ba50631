//! The configuration: a TOML file in which every key is optional.

/// Declares a table of the configuration: its keys with their defaults.
macro_rules! config {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$key_meta:meta])* pub $key:ident: $type:ty = $default:expr, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $( $(#[$key_meta])* pub $key: $type, )+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: $default, )+ }
            }
        }
    };
}
pub(crate) use config;

pub(crate) mod bounds;
pub(crate) mod cors;
pub(crate) mod error;
pub(crate) mod secret;

pub use {bounds::*, cors::*, error::*, secret::*};

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::observation::metrics::metrics_address;
use crate::paymaster::{ChainConfig, PaymasterDataConfig, PolicyConfig, RpcUrl, SigningConfig, Token};

/// The most bytes of a configuration file: a device such as `/dev/zero` has no end.
const LONGEST: u64 = 16 * 1024 * 1024;

config! {
    /// The settings of a server. [`Config::default`] is complete.
    pub struct Config {
        /// Address and port to listen on; port 0 takes a free one.
        // Not 4337, where `paymaster-conformance proxy` listens: both run at once when a wallet is judged.
        pub listen: String = "127.0.0.1:4338".to_owned(),
        /// Address and port of the OpenMetrics page, such as `127.0.0.1:9464`; a port alone is one of 127.0.0.1. Empty: no page.
        pub metrics: String = String::new(),
        /// HTTP status of an error response to a single request: 200, which is usual for JSON-RPC over HTTP, or 400. One published
        /// client shows the message of an error with status 400; others hide it. The status of a batch is always 200.
        pub error_status: u16 = 200,
        /// How long a quote is valid, in seconds.
        pub quote_valid_seconds: u64 = 60,
        /// Which web pages may call the server.
        pub cors: CorsConfig = CorsConfig::default(),
        /// Which operations are sponsored.
        pub policy: PolicyConfig = PolicyConfig::default(),
        /// How results are signed.
        pub signing: SigningConfig = SigningConfig::default(),
        /// The methods of ERC-7677.
        pub paymaster_data: PaymasterDataConfig = PaymasterDataConfig::default(),
        /// The chain from which the nonces of sponsored senders are read.
        pub chain: ChainConfig = ChainConfig::default(),
        /// The bounds on what clients send.
        pub bounds: Bounds = Bounds::default(),
        /// The supported tokens.
        pub tokens: Vec<Token> = Token::defaults(),
    }
}

impl Config {
    /// Loads a TOML file. See [`Config::from_toml`].
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
        let read = read.and_then(|bytes| match bytes as u64 {
            0..=LONGEST => Ok(()),
            _ => Err(io::ErrorKind::FileTooLarge.into()),
        });
        read.map_err(|cause| ConfigError(format!("cannot read {}: {cause}", path.display())))?;
        Self::from_toml(&text).map_err(|cause| ConfigError(format!("{}: {cause}", path.display())))
    }

    /// Parses TOML text. Missing keys have their default; an unknown key is an error that suggests the most similar known
    /// key.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError::toml(text, &error))
    }

    /// The configuration as TOML text for [`Config::from_toml`]. A signing key other than the test key is redacted.
    pub fn to_toml(&self) -> Result<String, ConfigError> {
        Ok(toml::to_string(self)?)
    }

    /// Address and port of the OpenMetrics page; none when there is no page.
    pub fn metrics_address(&self) -> Option<String> {
        (!self.metrics.is_empty()).then(|| metrics_address(&self.metrics))
    }

    /// Checks the values that no other file checks.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if !matches!(self.error_status, 200 | 400) {
            return Err(ConfigError::value("error_status", "200 or 400", &self.error_status.to_string()));
        }
        let uses_chain = self.chain.rpc_url != RpcUrl::default();
        if uses_chain && !(1..self.bounds.total_timeout_ms).contains(&self.chain.timeout_ms) {
            return Err(ConfigError::value(
                "chain.timeout_ms",
                "at least 1 and less than bounds.total_timeout_ms",
                &self.chain.timeout_ms.to_string(),
            ));
        }
        self.bounds.problem().map_or(Ok(()), |problem| Err(ConfigError(problem)))
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
        for (toml, place) in [
            ("[bounds]\nmax_depth = \"deep\"\n", "line 2, column 13: "),
            ("listen = ", "line 1, column "),
            ("\n[signing]\nkey = \"0xSECRET", "line 3, column "),
        ] {
            let error = Config::from_toml(toml).unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
            assert!(!error.contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_one() {
        for (toml, place, suggestion) in [
            ("lisen = 1", "line 1, column 1: unknown field `lisen`", " (did you mean `listen`?)"),
            (
                "[bounds]\nmax_body_byte = 1",
                "line 2, column 1: unknown field `max_body_byte`",
                " (did you mean `max_body_bytes`?)",
            ),
            (
                "[[tokens]]\nsymbol = \"A\"\ndecimal = 1",
                "line 3, column 1: unknown field `decimal`",
                " (did you mean `decimals`?)",
            ),
            ("[signing]\nkeys = 1", "line 2, column 1: unknown field `keys`", " (did you mean `key`?)"),
            ("zzz = 1", "line 1, column 1: unknown field `zzz`", "`"),
        ] {
            let error = Config::from_toml(toml).unwrap_err().to_string();
            assert!(error.starts_with(place) && error.ends_with(suggestion), "{error}");
        }
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
            ("[chain]\nrpc_url = 'http://h'\ntimeout_ms = 0", "chain.timeout_ms"),
            ("[chain]\nrpc_url = 'http://h'\ntimeout_ms = 30000", "chain.timeout_ms"),
        ] {
            let error = Config::from_toml(toml).unwrap().check().unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
