//! Tunnels through proxies: HTTP CONNECT and SOCKS5, both by hyper-util.

use std::error::Error;
use std::future::{Ready, ready};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::Uri;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::rt::TokioIo;
use tokio::net::lookup_host;
use tower_service::Service;

use crate::diagnosis::with_causes;
use crate::http::{Tap, TappedStream};
use crate::network::{BoxedStream, ConnectError, Proxy, ProxyKind, Target};

/// Makes a tunnel to the target over a connection to the proxy.
pub(crate) async fn open(
    stream: BoxedStream,
    proxy: &Proxy,
    target: &Target,
) -> Result<BoxedStream, ConnectError> {
    let failed = |cause: &(dyn Error + 'static)| failure(proxy, cause);
    let address = match &proxy.kind {
        ProxyKind::Socks5 { resolves_here: true, .. } => resolved(target).await?,
        _ => target.address(),
    };
    let destination: Uri = address.parse().map_err(|cause| failed(&cause))?;
    let tap = Arc::new(Tap::default());
    tap.begin();
    let connected = Connected(Some(TokioIo::new(tap.on(stream))));
    let tunnelled = match &proxy.kind {
        ProxyKind::Http { authorization } => {
            let mut tunnel = Tunnel::new(proxy.uri(), connected);
            if let Some(authorization) = authorization {
                tunnel = tunnel.with_auth(authorization.clone());
            }
            let answered = tunnel.call(destination).await;
            answered.map_err(|cause| refusal(&cause, proxy, &address, &tap.beginning()))?
        }
        ProxyKind::Socks5 { credentials, .. } => {
            let mut tunnel = SocksV5::new(proxy.uri(), connected);
            if let Some((user, password)) = credentials {
                tunnel = tunnel.with_auth(user.clone(), password.clone());
            }
            let answered = tunnel.call(destination).await;
            answered.map_err(|cause| failed(&cause))?
        }
    };
    Ok(tunnelled.into_inner().into_inner())
}

/// The first address of the target's host. hyper-util can look it up too (`local_dns`), but blocks the thread meanwhile.
async fn resolved(target: &Target) -> Result<String, ConnectError> {
    let host = target.host();
    let unresolved = |cause: io::Error| ConnectError::of(format!("the address of {host}: {cause}"));
    let mut addresses = lookup_host((host, target.port)).await.map_err(unresolved)?;
    match addresses.next() {
        Some(address) => Ok(address.to_string()),
        None => Err(unresolved(io::ErrorKind::NotFound.into())),
    }
}

/// The connection ended, or the proxy reported an error.
fn failure(proxy: &Proxy, cause: &(dyn Error + 'static)) -> ConnectError {
    ConnectError::of(format!("the proxy {proxy}: {}", with_causes(cause)))
}

/// Why a proxy made no tunnel, by the beginning of its answer to CONNECT: hyper-util does not report the status.
fn refusal(cause: &(dyn Error + 'static), proxy: &Proxy, address: &str, beginning: &[u8]) -> ConnectError {
    let text = String::from_utf8_lossy(beginning);
    let mut words = text.split([' ', '\r']);
    let (version, status) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    ConnectError::of(match status {
        _ if text.is_empty() => return failure(proxy, cause),
        _ if !version.starts_with("HTTP/1.") => format!("the proxy {proxy} does not speak HTTP/1.1"),
        "407" => format!(
            "the proxy {proxy} wants a user and a password (407): write them into its URL, as http://user:password@host:port"
        ),
        "" | "200" => return failure(proxy, cause),
        status => format!("the proxy {proxy} refused a tunnel to {address} (status {status})"),
    })
}

/// A connection to the proxy that is there already: hyper-util's tunnels want a service that makes it. Ours is made before, so that a
/// deadline names what it interrupts: the connection or the tunnel.
struct Connected(Option<TokioIo<TappedStream>>);

impl Service<Uri> for Connected {
    type Response = TokioIo<TappedStream>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().ok_or_else(|| io::Error::other("the connection is in use")))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::network::Proxies;

    fn proxy(url: &str, target: &Target) -> Proxy {
        let proxies = Proxies::of(&[("all_proxy", url)].into_iter().collect()).unwrap();
        proxies.for_target(target).unwrap().unwrap()
    }

    /// What comes of an answer to CONNECT.
    async fn answered(answer: &'static [u8]) -> Result<Vec<u8>, String> {
        let target = Target::parse("https://a.test/").unwrap();
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let answering = tokio::spawn(async move {
            let mut request = vec![0; 1024];
            let length = theirs.read(&mut request).await.unwrap();
            theirs.write_all(answer).await.unwrap();
            request.truncate(length);
            request
        });
        let opened = open(Box::new(ours), &proxy("http://p:81", &target), &target).await;
        let request = answering.await.unwrap();
        opened.map(|_| request).map_err(|cause| cause.to_string())
    }

    #[tokio::test]
    async fn a_proxy_is_asked_for_a_tunnel_to_host_and_port() {
        let request = answered(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
        assert!(request.starts_with(b"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n"));
    }

    #[tokio::test]
    async fn a_refused_tunnel_is_named_by_its_status() {
        for (answer, message) in [
            (&b"HTTP/1.1 403 Forbidden\r\n\r\n"[..], "refused a tunnel to a.test:443 (status 403)"),
            (b"HTTP/1.0 407\r\n\r\n", "wants a user and a password (407)"),
            (b"SSH-2.0-OpenSSH_9\r\n", "the proxy p:81 does not speak HTTP/1.1"),
            (b"", "the proxy p:81: tunnel error: unexpected end of file"),
        ] {
            let refusal = answered(answer).await.unwrap_err();
            assert!(refusal.contains(message), "{refusal}");
        }
    }
}
