//! What the HTTP server needs of a service.

use std::future::Future;
use std::io;

use bytes::Bytes;
use hyper::body::Body;
use hyper::{HeaderMap, Response};

use crate::bounds::Bounds;

/// A service that [`run`](crate::run) serves: a [`Service`](crate::Service), or an [`InjectedService`](crate::InjectedService) around
/// one.
pub trait Respond: Send + Sync + 'static {
    /// The body of its responses.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static;

    /// The bounds on what clients send.
    fn bounds(&self) -> &Bounds;

    /// Responds to a POST request with these headers and this body. An error closes the connection without a response.
    fn respond(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> impl Future<Output = io::Result<Response<Self::Body>>> + Send;

    /// Whether closing a connection may have to reset it.
    fn resets_connections(&self) -> bool {
        false
    }
}
