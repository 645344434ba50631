//! An exchange: the bytes that were sent and what came back for them.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

/// One complete HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// Header names (lower case) and values, in the order received.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Body,
}

impl Response {
    /// The first value of the header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Why an exchange has no complete response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// No connection could be made.
    #[error("no connection: {0}")]
    Connect(String),
    /// The total deadline of the exchange passed.
    #[error("no complete answer within {:.1} s (waiting for the {waiting_for})", .after.as_secs_f64())]
    Timeout {
        /// What the exchange was waiting for when the deadline passed.
        waiting_for: Stage,
        /// The deadline.
        after: Duration,
    },
    /// A part of the response is larger than its limit.
    #[error("{}", too_large(*.part, *.limit))]
    TooLarge {
        /// The part that is too large.
        part: Part,
        /// The limit: bytes, or a number of lines for [`Part::HeadLines`].
        limit: usize,
    },
    /// The connection ended before any response, or the bytes that came are not HTTP.
    #[error("broken HTTP response: {0}")]
    Broken(String),
    /// A response began, and its body is not what its head announced.
    #[error("incomplete HTTP response: {0}")]
    Cut(String),
}

/// What an exchange waits for. The text of each stage completes "waiting for the ...".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub enum Stage {
    /// The TCP connection, to the target or to a proxy.
    #[error("connection")]
    #[default]
    Connection,
    /// The tunnel through a proxy (CONNECT or SOCKS).
    #[error("proxy's answer to the request for a tunnel")]
    Tunnel,
    /// The TLS handshake with the target.
    #[error("TLS handshake")]
    TlsHandshake,
    /// The first byte of the response.
    #[error("response head")]
    Head,
    /// The rest of a response head that began.
    #[error("end of the response head")]
    HeadEnd,
    /// The final response, after interim ones.
    #[error("final response head: only interim responses (1xx) came")]
    FinalHead,
    /// A response in plain HTTP, where the first bytes are a TLS record.
    #[error("response head: what came is TLS: is it an https:// URL?")]
    HeadInsteadOfTls,
    /// The rest of the response body.
    #[error("response body")]
    Body,
}

/// A part of a response whose size is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Status line and header lines, in bytes.
    Head,
    /// The number of header lines.
    HeadLines,
    /// The body, in bytes.
    Body,
    /// The extensions of all chunks of a chunked body, in bytes.
    ChunkExtensions,
}

fn too_large(part: Part, limit: usize) -> String {
    let part = match part {
        Part::HeadLines => return format!("the response head has more than {limit} lines"),
        Part::Head => "head",
        Part::Body => "body",
        Part::ChunkExtensions => "chunk extensions",
    };
    format!("the response {part} is larger than {limit} bytes")
}

/// A header name in lower case, and its value.
pub type HeaderLine = (&'static str, &'static str);

/// The request headers of a published HTTP client. They replace the plain headers of a request: `accept`, `accept-encoding`,
/// `content-type` and `user-agent`. `host`, `content-length` and the headers that the user configures are sent as always.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderSet {
    /// The name of the client, such as `viem`.
    pub name: &'static str,
    /// Its header lines.
    pub lines: Cow<'static, [HeaderLine]>,
    /// Whether HTTP/1.1 has the names as `Content-Type`, on a connection of their own.
    pub in_title_case: bool,
    /// Whether the client writes a space behind each colon and comma of its JSON.
    pub spaces_json: bool,
}

impl HeaderSet {
    /// The headers of a client that sends their names in lower case, and JSON without spaces.
    pub const fn new(name: &'static str, lines: &'static [HeaderLine]) -> Self {
        Self { name, lines: Cow::Borrowed(lines), in_title_case: false, spaces_json: false }
    }

    /// Whether its connection has no further request: the client closes it, writes names in another way than others, or sends in chunks.
    pub fn ends_connection(&self) -> bool {
        let ends = |line: &HeaderLine| line.0 == "transfer-encoding" || *line == ("connection", "close");
        self.in_title_case || self.lines.iter().any(ends)
    }

    /// The name of a header as this client writes it.
    pub fn written(&self, name: &str) -> String {
        let title = |part: &str| part[..1].to_ascii_uppercase() + &part[1..];
        if self.in_title_case {
            name.split('-').map(title).collect::<Vec<_>>().join("-")
        } else {
            name.to_owned()
        }
    }

    /// The value of the header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&'static str> {
        let line = self.lines.iter().find(|(known, _)| *known == name);
        line.map(|(_, value)| *value)
    }
}

/// The plain request headers: those of a request that is not sent with a [`HeaderSet`]. `user-agent` and `host` are not listed.
pub static PLAIN_HEADERS: HeaderSet = HeaderSet::new(
    "plain",
    &[
        ("content-type", "application/json"),
        ("accept", "application/json"),
        // Without this line, every content coding is acceptable (RFC 9110, section 12.5.3).
        ("accept-encoding", "identity"),
    ],
);

/// The body of a request or a response, byte for byte. What a reader makes of it is kept with it and with later copies, so that it is read once.
#[derive(Clone, Default)]
pub struct Body {
    bytes: Bytes,
    read: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Body {
    /// Its bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// What the first reader made of the body; none where that has another type.
    pub fn read<T: Any + Send + Sync>(&self, reader: impl FnOnce(&[u8]) -> T) -> Option<&T> {
        self.read.get_or_init(|| Arc::new(reader(&self.bytes))).downcast_ref()
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self { bytes: bytes.into(), read: OnceLock::new() }
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.fmt(formatter)
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Body {}

/// The body of a request, and the response or the reason why there is none.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The body of the request.
    pub request: Body,
    /// The headers that replaced the plain ones; none where the request had the plain headers.
    pub sent_as: Option<Arc<HeaderSet>>,
    /// What came back.
    pub outcome: Result<Response, Failure>,
    /// From sending the request to the last byte of the response.
    pub took: Duration,
    /// When the response came; none where that is not known. Times in answers are compared with it.
    pub received: Option<SystemTime>,
    /// The result of simulating the paymasterAndData of the answer on a chain; none where no simulation ran.
    pub on_chain: Option<Simulation>,
    /// A value that only requests with this response had, as a comparison has shown: the response is no excuse. None where it may have another reason
    /// than the request.
    pub refused_value: Option<Arc<RefusedValue>>,
}

/// A value that requests had which a target refused, and those beside them that it served did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedValue {
    /// The name of the member that has it, and the value; none where any member may have it, or only requests of one kind are refused.
    pub member: Option<(&'static str, String)>,
}

/// Longest response body that is kept for reports, in bytes.
pub const KEPT: usize = 16 * 1024;

impl Exchange {
    /// An exchange with the plain request headers, and without a simulation on a chain.
    pub fn new(request: impl Into<Body>, outcome: Result<Response, Failure>, took: Duration) -> Self {
        let request = request.into();
        Self { request, sent_as: None, outcome, took, received: None, on_chain: None, refused_value: None }
    }

    /// A copy for reports, with at most [`KEPT`] bytes of the response body, so that a run needs little memory.
    #[must_use]
    pub fn with_short_body(&self) -> Self {
        let mut kept = self.clone();
        if let Ok(response) = &mut kept.outcome
            && response.body.len() > KEPT
        {
            response.body = Bytes::copy_from_slice(&response.body[..KEPT]).into();
        }
        kept
    }
}

/// The result of simulating on a chain what an answer returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Simulation {
    /// The paymaster's contract accepts it.
    Accepted,
    /// The paymaster's contract refuses it, in this way and for this reason.
    Refused(Refusal, String),
    /// Its validation fits its gas limit; nothing else was asked.
    WithinGas,
    /// The simulation has no clear result, for this reason; no rule is judged by it.
    Unclear(String),
}

/// Which functions a contract was seen to have. By them, the published paymaster contracts are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContractFunctions {
    /// `verifyingSigner()`.
    pub verifying_signer: bool,
    /// `isBundlerAllowed(address)`: without a flag in the data, the contract reverts for most bundlers.
    pub is_bundler_allowed: bool,
}

/// How a paymaster's contract refuses an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It finds its signature wrong.
    Signature,
    /// It reverts.
    Reverted(ContractFunctions),
    /// It reverts, and does so for the bundler that the profile names too.
    RevertedForBundler,
    /// The data are not valid at this time.
    NotInTime,
    /// Its validation takes more gas than its limit.
    OverGasLimit,
    /// There is no contract at its address.
    NotDeployed,
    /// For another reason.
    Other,
}
