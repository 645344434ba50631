//! One exchange with the upstream, within a total deadline and bounded in size.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    HeaderMap, Request, Response, Uri,
    body::Incoming,
    client::conn::{http1, http2},
    header::{HOST, PROXY_AUTHORIZATION},
};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::relay::{Bounds, heads};
use paymaster_client::{
    connector::{Connector, Protocol},
    diagnosis,
    stream::BoxedStream,
    target::Target,
};
use paymaster_exchange::{Failure, Part, Stage};

/// Where requests are passed on to.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    target: Arc<Target>,
    connector: Arc<Connector>,
    pub(super) bounds: Bounds,
}

/// The head of a request of the wallet.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: hyper::Method,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
}

impl Upstream {
    /// An upstream that is reached by that connector.
    pub(crate) fn new(target: Target, connector: Connector, bounds: Bounds) -> Self {
        Self {
            target: Arc::new(target),
            connector: Arc::new(connector),
            bounds,
        }
    }

    /// Passes a request on and reads the whole answer.
    pub(super) async fn ask(&self, asked: &Asked, body: Bytes) -> Result<(HeaderMap, u16, Bytes), Failure> {
        let after = self.bounds.timeout;
        let mut waiting_for = Stage::Connection;
        let attempt = self.attempt(asked, body, &mut waiting_for);
        let answered = tokio::time::timeout(after, attempt).await;
        answered.unwrap_or(Err(Failure::Timeout { waiting_for, after }))
    }

    async fn attempt(
        &self,
        asked: &Asked,
        body: Bytes,
        waiting_for: &mut Stage,
    ) -> Result<(HeaderMap, u16, Bytes), Failure> {
        let connected = self.connector.connect(waiting_for).await;
        let connected = connected.map_err(|cause| Failure::Connect(cause.to_string()))?;
        *waiting_for = Stage::Head;
        let request = self.request(asked, body, connected.protocol)?;
        let response = send(connected.stream, connected.protocol, request)
            .await
            .map_err(|cause| Failure::Broken(diagnosis::with_causes(&cause)))?;
        *waiting_for = Stage::Body;
        let limit = self.bounds.body;
        let (head, body) = response.into_parts();
        let whole = Limited::new(body, limit).collect().await.map_err(|cause| {
            if cause.downcast_ref::<LengthLimitError>().is_some() {
                Failure::TooLarge {
                    part: Part::Body,
                    limit,
                }
            } else {
                Failure::Cut(diagnosis::with_causes(cause.as_ref()))
            }
        })?;
        Ok((head.headers, head.status.as_u16(), whole.to_bytes()))
    }

    fn request(
        &self,
        asked: &Asked,
        body: Bytes,
        protocol: Protocol,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let path = heads::path(
            self.target.path(),
            self.target.query(),
            asked.uri.path(),
            asked.uri.query(),
        );
        let whole = protocol == Protocol::Http2 || self.connector.forwards();
        let text = if whole {
            format!("{}://{}{path}", self.target.scheme(), self.target.address())
        } else {
            path
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = asked.method.clone();
        *request.uri_mut() = text
            .parse()
            .map_err(|cause| Failure::Connect(format!("the path cannot be passed on: {cause}")))?;
        let mut headers = heads::of_request(&asked.headers);
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
    // The connection moves by itself until the answer is read; what ends it badly shows in the answer.
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
