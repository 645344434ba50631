//! Making connections: to the target or to a proxy before it, plain or through TLS.

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::header::HeaderValue;
use rustls::pki_types::ServerName;
use tokio::{
    io::DuplexStream,
    net::{TcpStream, lookup_host},
    task::JoinSet,
};
use tokio_rustls::TlsConnector;

use crate::{
    http_proxy::{Proxies, Proxy},
    stream::Stream,
    target::Target,
    tls::{self, Trust},
};

/// How long one address of a host may take before the next is tried beside it (RFC 8305, section 5).
const NEXT_ADDRESS_AFTER: Duration = Duration::from_millis(250);

/// The HTTP version of a connection: what the target chose in the TLS handshake, 1.1 without TLS.
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

/// An established connection.
#[derive(Debug)]
pub struct Dialled {
    /// The bytes.
    pub stream: Stream,
    /// What is to be spoken on it.
    pub protocol: Protocol,
}

/// What an exchange waits for, for the message when it does not come.
pub(crate) mod stage {
    pub(crate) const CONNECTION: &str = "connection";
    pub(crate) const TUNNEL: &str = "proxy's answer to CONNECT";
    pub(crate) const HANDSHAKE: &str = "TLS handshake";
    pub(crate) const HEAD: &str = "response head";
    pub(crate) const BODY: &str = "response body";
}

/// Makes a connection to a server in this process.
pub type Pipe = Arc<dyn Fn() -> io::Result<DuplexStream> + Send + Sync>;

/// Makes connections to one target.
#[derive(Clone)]
pub struct Dialler {
    host: String,
    port: u16,
    /// Host and port as a proxy is told.
    address: String,
    proxy: Option<Proxy>,
    security: Security,
    /// To a server in this process: nothing of the above is used then.
    pipe: Option<Pipe>,
}

#[derive(Clone)]
enum Security {
    None,
    Tls(TlsConnector, ServerName<'static>),
    /// An https:// target whose dialler was never told whom to trust.
    Unset,
}

impl fmt::Debug for Dialler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialler")
            .field("address", &self.address)
            .field("proxy", &self.proxy)
            .finish_non_exhaustive()
    }
}

impl Dialler {
    /// A dialler for a target. Whom to trust matters for https:// only. The error says what is wrong with the settings.
    pub fn new(target: &Target, trust: &Trust, proxies: &Proxies) -> Result<Self, String> {
        let security = if target.is_https() {
            let name = ServerName::try_from(target.host.clone())
                .map_err(|_| "the host of the URL is no name that a certificate can be for".to_owned())?;
            Security::Tls(trust.connector()?, name)
        } else {
            Security::None
        };
        Ok(Self {
            proxy: proxies.for_target(target)?,
            security,
            ..Self::direct(target)
        })
    }

    /// A dialler without a proxy for an http:// target: cannot fail.
    pub(crate) fn direct(target: &Target) -> Self {
        Self {
            host: target.host.clone(),
            port: target.port,
            address: target.address(),
            proxy: None,
            security: if target.is_https() {
                Security::Unset
            } else {
                Security::None
            },
            pipe: None,
        }
    }

    /// A dialler to a server in this process.
    pub fn piped(target: &Target, pipe: Pipe) -> Self {
        Self {
            pipe: Some(pipe),
            ..Self::direct(target)
        }
    }

    /// Makes a connection. The error is a fragment that says what failed.
    pub async fn dial(&self) -> Result<Dialled, String> {
        self.dial_telling(&mut "").await
    }

    /// Makes a connection and tells in `stage` what it waits for.
    pub(crate) async fn dial_telling(&self, stage: &mut &'static str) -> Result<Dialled, String> {
        *stage = stage::CONNECTION;
        if let Some(pipe) = &self.pipe {
            return Ok(Dialled {
                stream: Stream::Pipe(pipe().map_err(|cause| cause.to_string())?),
                protocol: Protocol::Http1,
            });
        }
        let mut stream = match &self.proxy {
            Some(proxy) => connect(&proxy.host, proxy.port)
                .await
                .map_err(|cause| format!("the proxy {proxy}: {cause}"))?,
            None => connect(&self.host, self.port)
                .await
                .map_err(|cause| cause.to_string())?,
        };
        // Small requests must not wait for Nagle; a failure to say so only costs time.
        let _ = stream.set_nodelay(true);
        let (connector, name) = match &self.security {
            Security::None => {
                return Ok(Dialled {
                    stream: Stream::Plain(stream),
                    protocol: Protocol::Http1,
                });
            }
            Security::Unset => return Err("TLS: nobody said whom to trust".to_owned()),
            Security::Tls(connector, name) => (connector, name),
        };
        if let Some(proxy) = &self.proxy {
            *stage = stage::TUNNEL;
            proxy.tunnel(&mut stream, &self.address).await?;
        }
        *stage = stage::HANDSHAKE;
        let stream = connector
            .connect(name.clone(), stream)
            .await
            .map_err(|cause| tls::trouble(&cause))?;
        let protocol = match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        };
        Ok(Dialled {
            stream: Stream::Tls(Box::new(stream)),
            protocol,
        })
    }

    /// Whether requests are handed to a proxy with their whole URL: http:// ones are, there is no tunnel for them.
    pub fn forwards(&self) -> bool {
        self.proxy.is_some() && matches!(self.security, Security::None)
    }

    /// The credentials that go with each request that is handed to a proxy.
    pub fn forward_authorization(&self) -> Option<&HeaderValue> {
        let proxy = self.proxy.as_ref().filter(|_| self.forwards())?;
        proxy.authorization.as_ref()
    }
}

/// Connects to the first address of a host that takes the connection; a silent one delays the next only a little.
async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut addresses = lookup_host((host, port)).await?.collect::<Vec<SocketAddr>>();
    addresses.dedup();
    if let [only] = addresses[..] {
        return TcpStream::connect(only).await;
    }
    let mut addresses = addresses.into_iter();
    let mut trying = JoinSet::new();
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    loop {
        let more = addresses.next().map(|address| {
            trying.spawn(TcpStream::connect(address));
        });
        if more.is_none() && trying.is_empty() {
            return Err(last);
        }
        let patience = more.map_or(Duration::MAX, |()| NEXT_ADDRESS_AFTER);
        while let Ok(Some(tried)) = tokio::time::timeout(patience, trying.join_next()).await {
            match tried {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(cause)) => last = cause,
                Err(cause) => last = io::Error::other(cause),
            }
            if more.is_some() {
                break;
            }
        }
    }
}
