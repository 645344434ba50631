//! Sources of connections: a TCP port, or this process.

use std::future::{Future, pending};
use std::io;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A source of connections.
pub trait Listen {
    /// The type of a connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Accepts the next connection. Dropping the future before it is ready loses no connection.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// Makes closing this connection reset it, if this kind of connection can be reset.
    fn reset_when_closed(_: &Self::Stream) {}
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = Self::accept(self).await?;
        // Responses are written whole, so that waiting for more data would only delay them.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    fn reset_when_closed(stream: &TcpStream) {
        let _ = stream.set_zero_linger();
    }
}

/// Capacity of a pipe in each direction, in bytes.
const PIPE_BYTES: usize = 64 * 1024;

/// Accepts connections from this process: HTTP over pipes instead of sockets.
#[derive(Debug)]
pub struct PipeListener(UnboundedReceiver<DuplexStream>);

/// Connects to a [`PipeListener`].
#[derive(Clone, Debug)]
pub struct PipeConnector(UnboundedSender<DuplexStream>);

/// A listener and its connector.
pub fn pipe() -> (PipeConnector, PipeListener) {
    let (sender, receiver) = unbounded_channel();
    (PipeConnector(sender), PipeListener(receiver))
}

impl PipeConnector {
    /// Opens a connection.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ConnectionRefused`] when the listener was dropped.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        let (client, server) = duplex(PIPE_BYTES);
        self.0.send(server).map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        Ok(client)
    }
}

impl Listen for PipeListener {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        match self.0.recv().await {
            Some(stream) => Ok(stream),
            // All connectors were dropped, so that no connection can follow.
            None => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::oneshot;

    use super::{io, pipe};
    use crate::{Config, Service, run};

    #[tokio::test]
    async fn a_pipe_is_served_like_a_port() {
        let (connector, listener) = pipe();
        let service = Service::new(&Config::default()).expect("the default configuration is valid");
        let (shutdown, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(run(listener, Arc::new(service), async {
            let _ = stopped.await;
        }));
        let mut stream = connector.connect().expect("the listener is running");
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"none","params":[]}"#;
        let request = format!(
            "POST / HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("the response ends when the server closes");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""id":7"#), "{answer}");
        shutdown.send(()).expect("the server is running");
        serving.await.expect("the server ends");
        let refused = connector.connect().expect_err("the listener was dropped");
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }
}
