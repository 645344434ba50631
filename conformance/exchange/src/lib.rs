//! An exchange: the bytes that were sent and what came back for them.

use std::{fmt, time::Duration};

use bytes::Bytes;

/// One complete HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// Header names (lower case) and values, in the order received.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Bytes,
}

impl Response {
    /// The first value of the header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Why an exchange has no complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No connection could be made.
    Connect(String),
    /// The total deadline of the exchange passed.
    Timeout {
        /// What was being waited for, as `connection`, `TLS handshake`, `response head`, `response body`.
        waiting_for: &'static str,
        /// The deadline.
        after: Duration,
    },
    /// The response is larger than we are willing to read.
    TooLarge {
        /// What is too large: `body`, `head`, or [`Failure::HEAD_LINES`].
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// The connection ended before any response, or what came is not HTTP.
    Broken(String),
    /// A response began, and its body is not what its head announced.
    Cut(String),
}

impl Failure {
    /// What is too large when a head has too many lines; the limit is then their number.
    pub const HEAD_LINES: &str = "head lines";
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(cause) => write!(f, "no connection: {cause}"),
            Self::Timeout { waiting_for, after } => {
                write!(
                    f,
                    "no complete answer within {:.1} s (waiting for the {waiting_for})",
                    after.as_secs_f64()
                )
            }
            Self::TooLarge {
                what: Self::HEAD_LINES,
                limit,
            } => write!(f, "the response head has more than {limit} lines"),
            Self::TooLarge { what, limit } => write!(f, "the response {what} is larger than {limit} bytes"),
            Self::Broken(cause) => write!(f, "broken HTTP response: {cause}"),
            Self::Cut(cause) => write!(f, "incomplete HTTP response: {cause}"),
        }
    }
}

/// The bytes of a request, and the response or the reason why there is none.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The body of the request, byte for byte.
    pub request: Bytes,
    /// What came back.
    pub outcome: Result<Response, Failure>,
    /// From sending the request to the last byte of the response.
    pub took: Duration,
    /// What a chain says of the answer, where it was asked.
    pub on_chain: Option<Simulation>,
}

/// Longest response body that is kept for reports.
pub const KEPT: usize = 16 * 1024;

impl Exchange {
    /// An exchange of which no chain was asked anything.
    pub fn new(request: Bytes, outcome: Result<Response, Failure>, took: Duration) -> Self {
        Self {
            request,
            outcome,
            took,
            on_chain: None,
        }
    }

    /// The exchange as it is kept for reports: of a long body only the beginning, so that a run stays small.
    #[must_use]
    pub fn keepsake(&self) -> Self {
        let mut kept = self.clone();
        if let Ok(response) = &mut kept.outcome
            && response.body.len() > KEPT
        {
            response.body = Bytes::copy_from_slice(&response.body[..KEPT]);
        }
        kept
    }
}

/// What a chain says of the paymasterAndData of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulation {
    /// The paymaster's contract accepts it.
    Accepted,
    /// It does not, for this reason.
    Refused(String),
    /// The chain does not tell, for this reason: nothing is judged.
    Unclear(String),
}
