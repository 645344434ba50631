//! `[chain]` of the configuration.

use std::fmt;

use hyper::Uri;
use serde::{Deserialize, Serialize};

use crate::config::error::ConfigError;

/// The chain from which the nonces of sponsored senders are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainConfig {
    /// The `http://` URL of a node's JSON-RPC. Empty: no chain is used, and every nonce is 0.
    pub rpc_url: RpcUrl,
    /// Longest time for all lookups of one HTTP request, in milliseconds.
    pub timeout_ms: u64,
}

impl Default for ChainConfig {
    fn default() -> Self {
        Self {
            rpc_url: RpcUrl::default(),
            timeout_ms: 5_000,
        }
    }
}

/// The URL of a node's JSON-RPC, or an empty text. Its path often holds a key and is never printed.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct RpcUrl(String);

/// The parts of a node's URL.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// Host name or address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// The value of the Host header.
    pub(super) authority: String,
    /// Path and query.
    pub(super) path: String,
}

const HTTP_PORT: u16 = 80;

impl RpcUrl {
    /// Keeps `text`. [`Service::new`](crate::Service::new) checks that it is a URL.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The parts of the URL; none when it is empty.
    pub(super) fn endpoint(&self) -> Result<Option<Endpoint>, ConfigError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        // The message does not repeat the value, which may hold a key.
        let refuse = |found: &str| {
            ConfigError::value(
                "chain.rpc_url",
                "an http:// URL, such as http://127.0.0.1:8545",
                found,
            )
        };
        let uri: Uri = self.0.parse().map_err(|_| refuse("something else"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err(refuse("an https:// URL, which is not supported"));
            }
            _ => return Err(refuse("something else")),
        }
        let authority = uri.authority().ok_or_else(|| refuse("a URL without a host"))?;
        if authority.as_str().contains('@') {
            return Err(refuse("a URL with a user or password"));
        }
        let bracketed = authority.host();
        let host = bracketed.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(refuse("a URL without a host"));
        }
        Ok(Some(Endpoint {
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(HTTP_PORT),
            authority: authority.as_str().to_owned(),
            path: uri
                .path_and_query()
                .map_or("/", hyper::http::uri::PathAndQuery::as_str)
                .to_owned(),
        }))
    }

    /// The URL without its path and query.
    fn shown(&self) -> String {
        match self.endpoint() {
            Ok(None) => String::new(),
            Ok(Some(endpoint)) if endpoint.path == "/" => format!("http://{}", endpoint.authority),
            Ok(Some(endpoint)) => format!("http://{}/(redacted)", endpoint.authority),
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
    fn urls_are_parsed() {
        for (url, host, port, path) in [
            ("http://127.0.0.1:8545", "127.0.0.1", 8545, "/"),
            (
                "http://node.example/v3/key?a=b",
                "node.example",
                80,
                "/v3/key?a=b",
            ),
            ("http://[::1]:1/", "::1", 1, "/"),
        ] {
            let endpoint = RpcUrl::new(url).endpoint().unwrap().unwrap();
            assert_eq!(
                (endpoint.host.as_str(), endpoint.port, endpoint.path.as_str()),
                (host, port, path)
            );
        }
        assert!(RpcUrl::default().endpoint().unwrap().is_none());
    }

    #[test]
    fn unusable_urls_are_refused_without_repeating_them() {
        for url in [
            "127.0.0.1:8545",
            "https://node.example/SECRET",
            "http://user:SECRET@node.example/",
            "ws://node.example/SECRET",
            "http://no de/SECRET",
            "SECRET",
        ] {
            let error = RpcUrl::new(url).endpoint().unwrap_err().to_string();
            assert!(
                error.contains("chain.rpc_url") && error.contains("http://127.0.0.1:8545"),
                "{error}"
            );
            assert!(!error.contains("SECRET"), "{error}");
        }
    }

    #[test]
    fn a_key_in_the_path_is_not_shown() {
        let url = RpcUrl::new("http://node.example:1/v3/SECRET");
        assert_eq!(format!("{url:?}"), "http://node.example:1/(redacted)");
        assert_eq!(
            format!("{:?}", RpcUrl::new("http://127.0.0.1:8545")),
            "http://127.0.0.1:8545"
        );
    }
}
