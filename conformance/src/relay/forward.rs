//! Forwards one request to the upstream, within the limits of the relay.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{HOST, PROXY_AUTHORIZATION};
use hyper::http::request::Parts;
use hyper::{Request, Response, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::sync::mpsc;

use crate::relay::{Limits, RelayedExchange, headers};
use paymaster_client::diagnosis;
use paymaster_client::network::{BoxedStream, Connector, Protocol, Target};
use paymaster_exchange::{Failure, Part, Stage};

/// The server to which requests are forwarded.
pub(crate) struct Upstream {
    pub(crate) target: Target,
    /// What reaches it.
    pub(crate) connector: Connector,
    pub(crate) limits: Limits,
    /// Where each exchange is reported.
    pub(crate) relayed: mpsc::Sender<RelayedExchange>,
}

impl Upstream {
    /// Path and query of a forwarded request.
    pub(super) fn path(&self, of_wallet: &Uri) -> String {
        let target = &self.target;
        headers::path(target.path(), target.query(), of_wallet.path(), of_wallet.query())
    }

    /// Forwards a request and reads the whole answer.
    pub(super) async fn forward(&self, head: &Parts, body: Bytes) -> Result<Response<Bytes>, Failure> {
        let after = self.limits.timeout;
        let mut waiting_for = Stage::Connection;
        let attempt = self.attempt(head, body, &mut waiting_for);
        let answered = tokio::time::timeout(after, attempt).await;
        answered.unwrap_or(Err(Failure::Timeout { waiting_for, after }))
    }

    async fn attempt(
        &self,
        head: &Parts,
        body: Bytes,
        waiting_for: &mut Stage,
    ) -> Result<Response<Bytes>, Failure> {
        let connected = self.connector.connect(waiting_for).await;
        let connected = connected.map_err(|cause| Failure::Connect(cause.to_string()))?;
        *waiting_for = Stage::Head;
        let request = self.request(head, body, connected.protocol)?;
        let response = send(connected.stream, connected.protocol, request)
            .await
            .map_err(|cause| Failure::Broken(diagnosis::with_causes(&cause)))?;
        *waiting_for = Stage::Body;
        let limit = self.limits.body;
        let (head, body) = response.into_parts();
        let whole = Limited::new(body, limit).collect().await.map_err(|cause| {
            if cause.downcast_ref::<LengthLimitError>().is_some() {
                Failure::TooLarge { part: Part::Body, limit }
            } else {
                Failure::Cut(diagnosis::with_causes(cause.as_ref()))
            }
        })?;
        Ok(Response::from_parts(head, whole.to_bytes()))
    }

    fn request(
        &self,
        head: &Parts,
        body: Bytes,
        protocol: Protocol,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let path = self.path(&head.uri);
        let absolute = protocol == Protocol::Http2 || self.connector.forwards();
        let uri = if absolute {
            format!("{}://{}{path}", self.target.scheme(), self.target.address())
        } else {
            path
        };
        let request = Request::builder().method(&head.method).uri(uri).body(Full::new(body));
        let mut request =
            request.map_err(|cause| Failure::Connect(format!("the path cannot be forwarded: {cause}")))?;
        let mut headers = headers::of_request(&head.headers);
        if protocol == Protocol::Http1 {
            headers.insert(HOST, self.target.authority.clone());
        }
        if let Some(authorization) = self.connector.forward_authorization() {
            headers.insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        *request.headers_mut() = headers;
        Ok(request)
    }
}

/// How long the task of a connection may outlive its exchange.
const LINGER: Duration = Duration::from_mins(1);

async fn send(
    stream: BoxedStream,
    protocol: Protocol,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, hyper::Error> {
    let io = TokioIo::new(stream);
    // A task drives the connection until the answer is read; an error of the connection shows in the answer.
    match protocol {
        Protocol::Http1 => {
            let (mut sender, connection) = http1::handshake(io).await?;
            tokio::spawn(tokio::time::timeout(LINGER, connection));
            sender.send_request(request).await
        }
        Protocol::Http2 => {
            let (mut sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
            tokio::spawn(tokio::time::timeout(LINGER, connection));
            sender.send_request(request).await
        }
    }
}
