//! What the HTTP server needs of a service.

use std::future::Future;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use hyper::Response;
use hyper::body::Body;
use hyper::http::request::Parts;

use crate::config::{Bounds, Cors};

/// A service that [`run`](crate::run) serves: a [`Service`](crate::Service), or a layer around one.
pub trait Respond: Send + Sync + 'static {
    /// The body of its responses.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static;

    /// The bounds on what clients send.
    fn bounds(&self) -> &Bounds;

    /// The web pages that may read responses.
    fn cors(&self) -> &Cors;

    /// Responds to a POST request with this head and this body. An error closes the connection without a response.
    fn respond(
        &self,
        head: &Parts,
        body: &[u8],
        copy: &mut ResponseCopy,
    ) -> impl Future<Output = io::Result<Response<Self::Body>>> + Send;

    /// Whether closing a connection may have to reset it.
    fn resets_connections(&self) -> bool {
        false
    }
}

/// An extension of a response: when its connection is idle for too long, a response of status 408 precedes the end.
#[derive(Clone, Copy, Debug)]
pub struct AnnouncesTimeout;

/// An extension of a request: how long its connection was idle since the answer before it. The first request of a connection has none.
#[derive(Clone, Copy, Debug)]
pub struct IdleBefore(pub Duration);

/// A copy of the text of a response, for log and metrics. It stays empty unless one of them is on.
#[derive(Debug, Default)]
pub struct ResponseCopy {
    is_wanted: bool,
    text: Option<Vec<u8>>,
}

impl ResponseCopy {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, text: None }
    }

    /// Keeps the text, if a copy is wanted.
    pub fn keep(&mut self, text: Option<&[u8]>) {
        if self.is_wanted {
            self.text = text.map(<[u8]>::to_vec);
        }
    }

    /// The text; none when there is no body, or no copy is wanted.
    pub(crate) fn text(&self) -> Option<&[u8]> {
        self.text.as_deref()
    }
}
