//! The connection of a worker to its master: a DEALER over TCP.

use std::{error::Error, time::Duration};

use bytes::BytesMut;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::zmtp::{self, Frame, GREETING};

/// How long the master may take to accept a connection, and to read what a worker sends.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why there is no connection, or no longer one.
pub(crate) type ConnectionError = Box<dyn Error + Send + Sync>;

/// A connection to a master.
#[derive(Debug)]
pub(crate) struct Connection {
    reader: OwnedReadHalf,
    writer: OwnedWriteHalf,
    received: BytesMut,
}

impl Connection {
    /// Connects to `HOST:PORT` under this identity.
    pub(crate) async fn open(address: &str, identity: &str) -> Result<Self, ConnectionError> {
        timeout(PATIENCE, Self::handshake(address, identity)).await.unwrap_or_else(|_| Err(no_answer()))
    }

    async fn handshake(address: &str, identity: &str) -> Result<Self, ConnectionError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (reader, writer) = stream.into_split();
        let mut connection = Self { reader, writer, received: BytesMut::new() };
        connection.writer.write_all(&zmtp::greeting()).await?;
        while connection.received.len() < GREETING {
            connection.read().await?;
            // Something that is not ZMTP may be shorter than a greeting, and then wait for us.
            if connection.received.first() != Some(&0xff) {
                return Err(zmtp::NO_ZMTP.into());
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
    pub(crate) async fn send(&mut self, frame: &[u8]) -> Result<(), ConnectionError> {
        let sent = timeout(PATIENCE, self.writer.write_all(frame)).await;
        Ok(sent.map_err(|_| no_answer())??)
    }

    /// The frame that arrives next. It can be cancelled and called again without loss.
    pub(crate) async fn frame(&mut self) -> Result<Frame, ConnectionError> {
        loop {
            if let Some(frame) = zmtp::decode(&mut self.received)? {
                return Ok(frame);
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> Result<(), ConnectionError> {
        if self.reader.read_buf(&mut self.received).await? == 0 {
            return Err("it closed the connection".into());
        }
        Ok(())
    }
}

fn no_answer() -> ConnectionError {
    format!("no answer within {} s", PATIENCE.as_secs()).into()
}
