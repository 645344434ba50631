//! Connections to one target: directly or through a proxy, plain or with TLS.

use std::{fmt, io, sync::Arc, time::Duration};

use hyper::{Uri, header::HeaderValue};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::ServerName;
use tokio::io::DuplexStream;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::diagnosis::causes;
use crate::network::{BoxedStream, Proxies, Proxy, ProxyKind, Target, Trust, handshake_text, tunnel};
use paymaster_exchange::{Failure, Stage};

/// How long the addresses of one IP version may take before those of the other are tried beside them (RFC 8305, section 5).
const OTHER_IP_VERSION_AFTER: Duration = Duration::from_millis(250);

/// The HTTP version of a connection: what the target chose in the TLS handshake, HTTP/1.1 without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http1 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
        })
    }
}

/// An established connection, before the first byte of HTTP.
pub struct Connected {
    /// The bytes to and from the target.
    pub stream: BoxedStream,
    /// The HTTP version to speak.
    pub protocol: Protocol,
}

/// Why a connection cannot be made, or was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(String);

impl ConnectError {
    /// With the text of a cause.
    pub(crate) fn of(cause: impl fmt::Display) -> Self {
        Self(cause.to_string())
    }
}

impl From<ConnectError> for Failure {
    fn from(ConnectError(cause): ConnectError) -> Self {
        Self::Connect(cause)
    }
}

/// Makes a connection to a server in this process.
pub type InProcess = Arc<dyn Fn() -> io::Result<DuplexStream> + Send + Sync>;

/// Makes connections to one target.
#[derive(Clone)]
pub struct Connector {
    target: Target,
    tcp: HttpConnector,
    proxy: Option<Proxy>,
    /// TLS, and the name that the certificate is for. None for http://, and where [`Trust`] is not given.
    tls: Option<(TlsConnector, ServerName<'static>)>,
    /// The server in this process; TCP, proxy and TLS are not used then.
    in_process: Option<InProcess>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("address", &self.target.address())
            .field("proxy", &self.proxy)
            .finish_non_exhaustive()
    }
}

impl Connector {
    /// A connector for a target. `trust` matters for https:// only.
    pub fn new(target: &Target, trust: &Trust, proxies: &Proxies) -> Result<Self, ConnectError> {
        let mut connector = Self::direct(target);
        if target.is_https {
            let no_name =
                |_| ConnectError::of("the host of the URL is no name that a certificate can be for");
            let name = ServerName::try_from(target.host.clone()).map_err(no_name)?;
            connector.tls = Some((trust.connector()?, name));
        }
        connector.proxy = proxies.for_target(target)?;
        Ok(connector)
    }

    /// A connector without a proxy for an http:// target.
    pub(crate) fn direct(target: &Target) -> Self {
        let mut tcp = HttpConnector::new();
        // A small request must not wait for the acknowledgement of the one before (Nagle's algorithm).
        tcp.set_nodelay(true);
        tcp.set_happy_eyeballs_timeout(Some(OTHER_IP_VERSION_AFTER));
        Self { target: target.clone(), tcp, proxy: None, tls: None, in_process: None }
    }

    pub fn in_process(target: &Target, server: InProcess) -> Self {
        Self { in_process: Some(server), ..Self::direct(target) }
    }

    /// Whether the server is in this process or on this machine.
    pub fn stays_on_this_machine(&self) -> bool {
        self.in_process.is_some() || self.target.is_loopback()
    }

    /// Makes a connection. `stage` always names what it waits for, for the caller whose deadline interrupts it.
    pub async fn connect(&self, stage: &mut Stage) -> Result<Connected, ConnectError> {
        *stage = Stage::Connection;
        let plain = |stream| Connected { stream, protocol: Protocol::Http1 };
        if let Some(server) = &self.in_process {
            return Ok(plain(Box::new(server().map_err(ConnectError::of)?)));
        }
        let mut stream = if let Some(proxy) = &self.proxy {
            let connected = self.tcp(proxy.uri()).await;
            connected.map_err(|cause| ConnectError(format!("the proxy {proxy}: {cause}")))?
        } else {
            let uri = Uri::try_from(format!("http://{}/", self.target.address()));
            self.tcp(uri.map_err(ConnectError::of)?).await.map_err(ConnectError)?
        };
        if let Some(proxy) = self.proxy.as_ref().filter(|_| !self.forwards()) {
            *stage = Stage::Tunnel;
            stream = tunnel::open(stream, proxy, &self.target).await?;
        }
        if !self.target.is_https {
            return Ok(plain(stream));
        }
        let unset = || ConnectError::of("TLS: no trusted certificates are set");
        let (connector, name) = self.tls.as_ref().ok_or_else(unset)?;
        *stage = Stage::TlsHandshake;
        // hyper-rustls' connector makes this same call, but hides when TCP ends and TLS begins: the deadline must name which it was.
        let stream = connector
            .connect(name.clone(), stream)
            .await
            .map_err(|cause| ConnectError(handshake_text(&cause)))?;
        let protocol = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        };
        Ok(Connected { stream: Box::new(stream), protocol })
    }

    /// A TCP connection; the error is what lies at the bottom of that of hyper-util, and what to look at.
    async fn tcp(&self, uri: Uri) -> Result<BoxedStream, String> {
        let stream = self.tcp.clone().call(uri).await.map_err(|error| {
            let cause = causes(&error).last().unwrap_or(&error);
            let kind = cause.downcast_ref().map(io::Error::kind);
            let advice = match kind {
                Some(io::ErrorKind::ConnectionRefused) => ": is it running on that port?",
                // hyper-util tells this by its text alone.
                _ if error.to_string() == "dns error" => ": is the name of the host right?",
                _ => "",
            };
            format!("{cause}{advice}")
        })?;
        Ok(Box::new(stream.into_inner()))
    }

    /// Whether requests are handed to an HTTP proxy with their whole URL. That is so for http:// targets; for https:// targets, and
    /// with a SOCKS proxy, there is a tunnel.
    pub fn forwards(&self) -> bool {
        matches!(&self.proxy, Some(Proxy { kind: ProxyKind::Http { .. }, .. })) && !self.target.is_https
    }

    /// The Proxy-Authorization of each request that is handed to a proxy with its whole URL.
    pub fn forward_authorization(&self) -> Option<&HeaderValue> {
        match &self.proxy.as_ref()?.kind {
            ProxyKind::Http { authorization } if self.forwards() => authorization.as_ref(),
            _ => None,
        }
    }
}
