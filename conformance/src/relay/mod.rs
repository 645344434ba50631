//! The relay behind `proxy`: takes a wallet's requests, asks the upstream in its place, hands the answers back as they came, and
//! tells of each exchange.
//!
//! It changes two things only: hop-by-hop headers end here, as they must (RFC 9110, section 7.6.1), and Accept-Encoding is not
//! passed on, so that answers come uncompressed and can be judged.

mod forward;
mod heads;
mod ours;
mod serve;

use std::time::{Duration, SystemTime};

pub(crate) use forward::Upstream;
pub(crate) use serve::serve;

use paymaster_exchange::Exchange;

/// What the relay is willing to wait for and to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Total time of an exchange with the upstream.
    pub timeout: Duration,
    /// Longest body of a request or an answer, in bytes.
    pub body: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            body: 8 * 1024 * 1024,
        }
    }
}

/// An exchange that passed through.
#[derive(Debug)]
pub(crate) struct Passed {
    /// The HTTP method of the request.
    pub method: String,
    /// What was sent and what came back.
    pub exchange: Exchange,
    /// Header values of the request that may stand in no output.
    pub secrets: Vec<String>,
    /// When it ended.
    pub ended: SystemTime,
}
