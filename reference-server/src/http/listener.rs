//! Where connections come from: a TCP port, or the same process.

use std::future::{Future, pending};
use std::io;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Accepts connections.
pub trait Listen {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next connection. Dropped before it is ready, it loses none.
    fn accept(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send;

    /// From here on, closing this connection is to reset it, where the kind of connection knows the difference.
    fn reset_when_closed(_: &Self::Stream) {}
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        let (stream, _) = Self::accept(self).await?;
        // Answers are written whole, so waiting for more to send would only delay them.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }

    fn reset_when_closed(stream: &TcpStream) {
        let _ = stream.set_zero_linger();
    }
}

/// Bytes that may be on their way in each direction.
const PIPE_BYTES: usize = 64 * 1024;

/// Accepts connections that are made in this process: HTTP over pipes, without the system's sockets.
#[derive(Debug)]
pub struct PipeListener(UnboundedReceiver<DuplexStream>);

/// Makes connections to a [`PipeListener`].
#[derive(Clone, Debug)]
pub struct PipeConnector(UnboundedSender<DuplexStream>);

/// A listener and what connects to it.
pub fn pipe() -> (PipeConnector, PipeListener) {
    let (sender, receiver) = unbounded_channel();
    (PipeConnector(sender), PipeListener(receiver))
}

impl PipeConnector {
    /// A new connection.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ConnectionRefused`] when nobody listens any more.
    pub fn connect(&self) -> io::Result<DuplexStream> {
        let (ours, theirs) = duplex(PIPE_BYTES);
        self.0
            .send(theirs)
            .map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        Ok(ours)
    }
}

impl Listen for PipeListener {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        match self.0.recv().await {
            Some(stream) => Ok(stream),
            // Every connector is gone: nobody will ever come.
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
        let mut stream = connector.connect().expect("somebody listens");
        let body = r#"{"jsonrpc":"2.0","id":7,"method":"none","params":[]}"#;
        let request = format!(
            "POST / HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).await.expect("it is read");
        let mut answer = String::new();
        stream
            .read_to_string(&mut answer)
            .await
            .expect("it ends when the server closes");
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains(r#""id":7"#),
            "{answer}"
        );
        shutdown.send(()).expect("it runs");
        serving.await.expect("it ends");
        let refused = connector.connect().expect_err("nobody listens");
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }
}
