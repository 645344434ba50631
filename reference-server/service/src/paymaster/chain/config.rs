//! `[chain]` of the configuration.

use std::fmt;
use std::path::PathBuf;

use paymaster_client::network::{Connector, Proxies, Target, Trust, UrlError};
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, config};

config! {
    /// The chain from which the nonces of sponsored senders are read.
    pub struct ChainConfig {
        /// The `http://` or `https://` URL of a node's JSON-RPC. Empty: no chain is used, and every nonce is 0.
        pub rpc_url: RpcUrl = RpcUrl::default(),
        /// Longest time for all lookups of one HTTP request, in milliseconds.
        pub timeout_ms: u64 = 5_000,
        /// A PEM file of certificates that are trusted instead of the platform's. Empty: those of the platform.
        pub cacert: PathBuf = PathBuf::new(),
        /// Trust any certificate.
        pub insecure: bool = false,
    }
}

impl ChainConfig {
    /// Makes connections to the node. No proxy is used, whatever the environment names.
    pub(super) fn connector(&self, target: &Target) -> Result<Connector, ConfigError> {
        let trust = Trust {
            cacert: Some(self.cacert.clone()).filter(|path| !path.as_os_str().is_empty()),
            insecure: self.insecure,
        };
        Connector::new(target, &trust, &Proxies::default())
            .map_err(|cause| with_our_flags(&format!("the chain cannot be asked: {cause}")))
            .map_err(ConfigError)
    }
}

/// A message of the HTTP client with the names that its flags have here.
pub(super) fn with_our_flags(message: &str) -> String {
    message.replace("--cacert", "--chain-cacert").replace("--insecure", "--chain-insecure")
}

/// The URL of a node's JSON-RPC, or an empty text. Its path often holds a key and is never printed.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RpcUrl(String);

impl RpcUrl {
    /// Keeps `text`. [`Service::new`](crate::Service::new) checks that it is a URL.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The URL in parts; none when it is empty.
    pub(super) fn target(&self) -> Result<Option<Target>, ConfigError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        Target::parse(&self.0).map(Some).map_err(|error| {
            let wanted = "an http:// or https:// URL, such as http://127.0.0.1:8545";
            // The message does not repeat the value, which may hold a key.
            let found = match error {
                UrlError::UserInfo => "a URL with a user or password",
                UrlError::NoHost => "a URL without a host",
                _ => "something else",
            };
            ConfigError::value("chain.rpc_url", wanted, found)
        })
    }

    /// The URL without its path and query.
    fn shown(&self) -> String {
        match self.target() {
            Ok(None) => String::new(),
            Ok(Some(target)) => {
                let authority = String::from_utf8_lossy(target.authority.as_bytes());
                let is_root = target.path() == "/" && target.query().is_none();
                let rest = if is_root { "" } else { "/(redacted)" };
                format!("{}://{authority}{rest}", target.scheme())
            }
            Err(_) => "(redacted)".to_owned(),
        }
    }
}

impl fmt::Debug for RpcUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown())
    }
}

impl Serialize for RpcUrl {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_url_is_no_chain() {
        assert!(RpcUrl::default().target().unwrap().is_none());
    }

    #[test]
    fn unusable_urls_are_refused_without_repeating_them() {
        for url in [
            "127.0.0.1:8545",
            "http://user:SECRET@node.example/",
            "ws://node.example/SECRET",
            "http://no de/SECRET",
            "https:///SECRET",
            "SECRET",
        ] {
            let error = RpcUrl::new(url).target().unwrap_err().to_string();
            assert!(error.contains("chain.rpc_url") && error.contains("http://127.0.0.1:8545"), "{error}");
            assert!(!error.contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn a_key_in_the_path_is_not_shown() {
        for (url, shown) in [
            ("http://node.example:1/v3/SECRET", "http://node.example:1/(redacted)"),
            ("https://node.example/?key=SECRET", "https://node.example/(redacted)"),
            ("http://127.0.0.1:8545", "http://127.0.0.1:8545"),
        ] {
            assert_eq!(format!("{:?}", RpcUrl::new(url)), shown);
        }
    }
}
