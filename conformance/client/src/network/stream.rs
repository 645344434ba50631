//! The byte stream below HTTP: TCP, TLS over TCP, or a pipe to a server in this process.

use tokio::io::{AsyncRead, AsyncWrite};

/// A stream of bytes in both directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A stream whose kind no longer matters.
pub type BoxedStream = Box<dyn Stream>;
