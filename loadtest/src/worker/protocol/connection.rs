//! The connection of a worker to its master: a DEALER over TCP.

use std::{io, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};

use super::zmtp::{self, Frame, GREETING, ZmtpError};

/// How long the master may take to accept a connection, and to read what a worker sends.
const PATIENCE: Duration = Duration::from_secs(5);
/// A master that sends no message of Locust for this long is lost.
pub const SILENCE: Duration = Duration::from_secs(10);

/// Why there is no connection, or no longer one.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// The socket failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The peer closed the connection.
    #[error("it closed the connection")]
    Closed,
    /// The peer neither answers nor reads.
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Timeout,
    /// The peer completes the handshake and never answers `client_ready`.
    #[error("it accepts the connection and does not acknowledge this worker: is it a Locust master?")]
    Unacknowledged,
    /// An acknowledged worker gets no message for too long.
    #[error("it sent no heartbeat for {} s", SILENCE.as_secs())]
    Silent,
    /// The master wants a new connection.
    #[error("it asked to connect anew")]
    Reconnect,
    /// The peer sent something that cannot be read.
    #[error(transparent)]
    Zmtp(#[from] ZmtpError),
}

/// What arrives from the master.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::worker) enum Incoming {
    /// A message of one frame.
    Message(Bytes),
    /// A PING with this context, which must be answered.
    Ping(Bytes),
    /// A frame that a worker ignores: an unknown command, or a part of a message of several frames, which Locust never sends.
    Ignored,
}

/// A connection to a master.
#[derive(Debug)]
pub(in crate::worker) struct Connection {
    reader: OwnedReadHalf,
    writer: OwnedWriteHalf,
    received: BytesMut,
    /// Whether the last frame announced that another part of its message follows.
    in_message: bool,
}

impl Connection {
    /// Connects to `HOST:PORT` under this identity.
    pub(in crate::worker) async fn open(address: &str, identity: &str) -> Result<Self, ConnectionError> {
        timeout(PATIENCE, Self::handshake(address, identity)).await.map_err(|_| ConnectionError::Timeout)?
    }

    async fn handshake(address: &str, identity: &str) -> Result<Self, ConnectionError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (reader, writer) = stream.into_split();
        let mut connection = Self { reader, writer, received: BytesMut::new(), in_message: false };
        connection.writer.write_all(&zmtp::greeting()).await?;
        while connection.received.len() < GREETING {
            connection.read().await?;
            // Something that is not ZMTP may be shorter than a greeting, and then wait for us.
            if connection.received.first() != Some(&0xff) {
                return Err(ZmtpError::Greeting.into());
            }
        }
        let mut greeting = [0; GREETING];
        greeting.copy_from_slice(&connection.received.split_to(GREETING));
        zmtp::check_greeting(&greeting)?;
        connection.writer.write_all(&zmtp::ready(identity)).await?;
        let first = connection.frame().await?;
        zmtp::check_ready(&first)?;
        Ok(connection)
    }

    /// Sends a frame.
    pub(in crate::worker) async fn send(&mut self, frame: &[u8]) -> Result<(), ConnectionError> {
        let sent = timeout(PATIENCE, self.writer.write_all(frame)).await;
        Ok(sent.map_err(|_| ConnectionError::Timeout)??)
    }

    /// What arrives next. It can be cancelled and called again without loss.
    pub(in crate::worker) async fn receive(&mut self) -> Result<Incoming, ConnectionError> {
        let frame = self.frame().await?;
        Ok(match frame {
            Frame::Command(name, data) if &name[..] == b"PING" => Incoming::Ping(zmtp::ping_context(&data)),
            Frame::Command(..) => Incoming::Ignored,
            Frame::Part { body, more } => {
                let is_alone = !self.in_message && !more;
                self.in_message = more;
                if is_alone { Incoming::Message(body) } else { Incoming::Ignored }
            }
        })
    }

    async fn frame(&mut self) -> Result<Frame, ConnectionError> {
        loop {
            if let Some(frame) = zmtp::decode(&mut self.received)? {
                return Ok(frame);
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> Result<(), ConnectionError> {
        if self.reader.read_buf(&mut self.received).await? == 0 {
            return Err(ConnectionError::Closed);
        }
        Ok(())
    }
}
