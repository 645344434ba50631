//! Serves a service of this process over pipes in memory.

use std::{
    error::Error,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{
    Request, Response,
    body::{Body, Incoming},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{DuplexStream, duplex},
    task::JoinSet,
};

use paymaster_client::network::connector::InProcess;

/// Bytes that are buffered in each direction of a connection.
const PIPE_BYTES: usize = 64 * 1024;

type Serving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The connections to a service of this process.
pub(super) struct Connections {
    serve: Arc<dyn Fn(DuplexStream) -> Serving + Send + Sync>,
    open: Arc<Mutex<JoinSet<()>>>,
}

impl Connections {
    /// No connections yet, to that service.
    pub(super) fn to<S, B>(service: S) -> Self
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let service = Arc::new(service);
        let serve = move |stream| -> Serving {
            let service = Arc::clone(&service);
            Box::pin(async move {
                // The suite sees a connection that fails as a response that breaks off, and judges it.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            })
        };
        Self { serve: Arc::new(serve), open: Arc::default() }
    }

    /// Makes connections. It is called within a Tokio runtime.
    pub(super) fn opener(&self) -> InProcess {
        let (serve, open) = (Arc::clone(&self.serve), Arc::clone(&self.open));
        Arc::new(move || {
            let (ours, theirs) = duplex(PIPE_BYTES);
            let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
            while open.try_join_next().is_some() {}
            open.spawn(serve(theirs));
            Ok(ours)
        })
    }

    /// Ends every connection, with the calls of the service that are still running.
    pub(super) fn close(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}

/// The service that calls `service` with the whole body of a request.
pub(super) fn with_whole_body<S, F, B>(
    service: S,
) -> impl Service<
    Request<Incoming>,
    Response = Response<B>,
    Error = hyper::Error,
    Future = impl Future<Output = Result<Response<B>, hyper::Error>> + Send + 'static,
> + Send
+ Sync
+ 'static
where
    S: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body + Send + 'static,
{
    let service = Arc::new(service);
    service_fn(move |request: Request<Incoming>| {
        let service = Arc::clone(&service);
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok(service(Request::from_parts(head, body)).await)
        }
    })
}
