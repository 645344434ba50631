//! The relay behind `proxy`: forwards a wallet's requests to the upstream, returns the answers unchanged, and reports each exchange.
//!
//! Two things are changed: hop-by-hop headers are removed, as RFC 9110, section 7.6.1 requires, and Accept-Encoding is removed, so that
//! answers are uncompressed and can be judged.

mod forward;
mod headers;
mod serve;

use std::time::{Duration, SystemTime};

pub(crate) use forward::Upstream;
pub(crate) use serve::serve;

use paymaster_exchange::Exchange;

/// The limits of the relay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The timeout of an exchange with the upstream, body included. Default: 30 s.
    pub timeout: Duration,
    /// The longest body of a request or an answer, in bytes. Default: 8 MiB.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(30), body: 8 * 1024 * 1024 }
    }
}

/// An exchange that the relay forwarded.
#[derive(Debug)]
pub(crate) struct RelayedExchange {
    /// The HTTP method of the request.
    pub method: String,
    /// The request and the response.
    pub exchange: Exchange,
    /// Path and query of the forwarded request: those of the upstream and those of the wallet.
    pub path: String,
    /// Header values of the request that must not appear in any output.
    pub secrets: Vec<String>,
    /// When it ended.
    pub ended: SystemTime,
}
