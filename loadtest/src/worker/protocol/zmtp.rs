//! The part of ZMTP 3.0 (the protocol of ZeroMQ) that a worker of Locust needs: a DEALER without security (mechanism NULL).
//!
//! This is our own code, because the crate `zeromq` 0.7 cannot be used for a worker that must survive: its decoder reserves as much
//! memory as a frame announces (a header of nine bytes ends the process), its DEALER waits forever after the connection is lost, a PING
//! is an error, it closes without sending what it has queued, and it brings nine more crates. What a worker needs is on this page:
//! greeting, READY command, frames. Nothing here reads a socket or a clock.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Bytes of a greeting.
pub const GREETING: usize = 64;
/// Most bytes of a frame that is read. The messages of a master have a few kilobytes.
pub const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Another frame of the same message follows.
const MORE: u8 = 1;
/// The length has 8 bytes instead of 1.
const LONG: u8 = 2;
/// The frame is a command.
const COMMAND: u8 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A command such as READY: its name and its data.
    Command(Bytes, Bytes),
    /// A part of a message.
    Part {
        body: Bytes,
        /// Whether another part follows.
        more: bool,
    },
}

/// The error for a peer whose greeting does not begin as that of ZMTP 3.
pub const NO_ZMTP: &str = "it does not speak ZMTP 3: is it the port of a Locust master (5557 by default), and not that of its web page?";
/// The error for a first frame that is not READY.
const NO_READY: &str = "it sent no READY command";
/// The error for a command that has no name, or whose data ends too early.
const NO_COMMAND: &str = "a command cannot be read";

/// Our greeting: ZMTP 3.0, mechanism NULL.
pub fn greeting() -> [u8; GREETING] {
    let mut bytes = [0; GREETING];
    (bytes[0], bytes[9], bytes[10]) = (0xff, 0x7f, 3);
    bytes[12..16].copy_from_slice(b"NULL");
    bytes
}

/// Checks the greeting of the peer.
pub fn check_greeting(bytes: &[u8; GREETING]) -> Result<(), String> {
    if bytes[0] != 0xff || bytes[9] & 1 == 0 || bytes[10] < 3 {
        return Err(NO_ZMTP.to_owned());
    }
    let mechanism = bytes[12..32].split(|byte| *byte == 0).next().unwrap_or_default();
    if mechanism == b"NULL" {
        return Ok(());
    }
    let mechanism = escaped(mechanism);
    Err(format!("it wants the security mechanism {mechanism}, and Locust uses none (NULL)"))
}

/// Text of the peer that is safe to print.
fn escaped(text: &[u8]) -> String {
    String::from_utf8_lossy(text).escape_default().to_string()
}

/// The READY command of a DEALER. An identity has at most 255 bytes.
pub fn ready(identity: &str) -> Bytes {
    let mut data = BytesMut::new();
    for (name, value) in [("Socket-Type", "DEALER"), ("Identity", identity)] {
        put_short(&mut data, name.as_bytes());
        data.put_u32(u32::try_from(value.len()).unwrap_or_default());
        data.put_slice(value.as_bytes());
    }
    command(b"READY", &data)
}

/// The answer to a PING with this data: its context, which is what follows the two bytes of its time to live.
pub fn pong(ping: &[u8]) -> Bytes {
    command(b"PONG", &ping[ping.len().min(2)..])
}

/// A message of one frame.
pub fn message(body: &[u8]) -> Bytes {
    frame(0, body)
}

fn command(name: &[u8], data: &[u8]) -> Bytes {
    let mut body = BytesMut::new();
    put_short(&mut body, name);
    body.put_slice(data);
    frame(COMMAND, &body)
}

fn put_short(out: &mut BytesMut, bytes: &[u8]) {
    out.put_u8(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
    out.put_slice(bytes);
}

fn frame(flags: u8, body: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(body.len() + 9);
    if let Ok(length) = u8::try_from(body.len()) {
        out.put_u8(flags);
        out.put_u8(length);
    } else {
        out.put_u8(flags | LONG);
        out.put_u64(body.len() as u64);
    }
    out.put_slice(body);
    out.freeze()
}

/// Takes the next frame from received bytes; none if it is not complete. A frame that announces too many bytes is an error before
/// they arrive.
pub fn decode(received: &mut BytesMut) -> Result<Option<Frame>, String> {
    let Some(&flags) = received.first() else { return Ok(None) };
    if flags & !(MORE | LONG | COMMAND) != 0 || flags & (COMMAND | MORE) == COMMAND | MORE {
        return Err(format!("a frame has the reserved flags {flags:#04x}"));
    }
    let is_long = flags & LONG != 0;
    let head = if is_long { 9 } else { 2 };
    if received.len() < head {
        return Ok(None);
    }
    let mut length = &received[1..head];
    let length = if is_long { length.get_u64() } else { u64::from(length.get_u8()) };
    let size = usize::try_from(length).ok().filter(|size| *size <= MOST_BYTES);
    let size = size.ok_or_else(|| format!("a frame of {length} bytes is larger than {MOST_BYTES}"))?;
    if received.len() < head + size {
        return Ok(None);
    }
    received.advance(head);
    let mut body = received.split_to(size).freeze();
    if flags & COMMAND == 0 {
        return Ok(Some(Frame::Part { body, more: flags & MORE != 0 }));
    }
    let name = take_short(&mut body).ok_or(NO_COMMAND)?;
    Ok(Some(Frame::Command(name, body)))
}

fn take_short(bytes: &mut Bytes) -> Option<Bytes> {
    let length = usize::from(*bytes.first()?);
    (bytes.len() > length).then(|| {
        bytes.advance(1);
        bytes.split_to(length)
    })
}

/// Checks that the first frame of the peer is the READY command of a ROUTER.
pub fn check_ready(first: &Frame) -> Result<(), String> {
    let Frame::Command(name, data) = first else { return Err(NO_READY.to_owned()) };
    let mut data = data.clone();
    if &name[..] == b"ERROR" {
        let reason = escaped(&take_short(&mut data).unwrap_or_default());
        return Err(format!("it refused the connection: {reason}"));
    }
    if &name[..] != b"READY" {
        return Err(NO_READY.to_owned());
    }
    while !data.is_empty() {
        let name = take_short(&mut data).ok_or(NO_COMMAND)?;
        let length = data.try_get_u32().map_err(|_| NO_COMMAND)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= data.len());
        let value = data.split_to(length.ok_or(NO_COMMAND)?);
        if name.eq_ignore_ascii_case(b"Socket-Type") && &value[..] != b"ROUTER" {
            let kind = escaped(&value);
            return Err(format!("its socket is a {kind}, and that of a Locust master is a ROUTER"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
