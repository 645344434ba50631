use proptest::prelude::*;

use super::*;

fn decode_all(bytes: &[u8]) -> Result<Vec<Frame>, String> {
    let mut received = BytesMut::from(bytes);
    let mut frames = Vec::new();
    while let Some(frame) = decode(&mut received)? {
        frames.push(frame);
    }
    Ok(frames)
}

#[test]
fn the_bytes_are_those_of_libzmq() {
    // What libzmq 4.3 expects of a DEALER with the identity `a` (ZMTP 3.0, sections 2.2, 2.4 and 3).
    let own = greeting();
    assert_eq!(own[..12], [0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 3, 0]);
    assert_eq!(&own[12..17], b"NULL\0");
    assert!(own[32..].iter().all(|byte| *byte == 0));
    assert_eq!(&ready("a")[..], b"\x04\x2a\x05READY\x0bSocket-Type\0\0\0\x06DEALER\x08Identity\0\0\0\x01a");
    assert_eq!(&message(b"hi")[..], b"\0\x02hi");
    let long = message(&[7; 300]);
    assert_eq!(&long[..9], b"\x02\0\0\0\0\0\0\x01\x2c");
}

#[test]
fn a_peer_that_is_no_master_is_refused() {
    let mut libzmq = greeting();
    (libzmq[8], libzmq[11]) = (1, 1);
    assert_eq!(check_greeting(&libzmq), Ok(()));
    let mut http = [b' '; GREETING];
    http[..5].copy_from_slice(b"HTTP/");
    assert_eq!(check_greeting(&http), Err(NO_ZMTP.to_owned()));
    let mut curve = greeting();
    curve[12..17].copy_from_slice(b"CURVE");
    let refusal = check_greeting(&curve).unwrap_err();
    assert!(refusal.contains("mechanism CURVE,"), "{refusal}");

    let first = |bytes: &[u8]| check_ready(&decode_all(bytes).unwrap()[0]);
    let router = command(b"READY", b"\x0bSocket-Type\0\0\0\x06ROUTER\x08Identity\0\0\0\0");
    assert_eq!(first(&router), Ok(()));
    for (frame, refusal) in [
        (ready("x"), "its socket is a DEALER, and that of a Locust master is a ROUTER"),
        (command(b"ERROR", b"\x02no"), "it refused the connection: no"),
        (message(b"READY"), NO_READY),
    ] {
        assert_eq!(first(&frame), Err(refusal.to_owned()));
    }
    for cut in [&b"\x0bSocket"[..], b"\x01a\0\0\0\x09b", b"\x01a\0\0"] {
        assert_eq!(first(&command(b"READY", cut)), Err(NO_COMMAND.to_owned()), "{cut:?}");
    }
}

#[test]
fn a_frame_that_announces_too_much_is_refused_before_it_arrives() {
    let mut bytes = vec![LONG];
    bytes.extend(u64::MAX.to_be_bytes());
    let refusal = decode_all(&bytes).unwrap_err();
    assert_eq!(refusal, "a frame of 18446744073709551615 bytes is larger than 4194304");
    let mut bytes = vec![LONG];
    bytes.extend((MOST_BYTES as u64 + 1).to_be_bytes());
    assert!(decode_all(&bytes).is_err());
    bytes[8] -= 1;
    assert_eq!(decode_all(&bytes), Ok(Vec::new()));
    for (bytes, refusal) in [
        (&[8, 0][..], "a frame has the reserved flags 0x08"),
        (&[COMMAND | MORE, 0], "a frame has the reserved flags 0x05"),
        (&[COMMAND, 0], NO_COMMAND),
        (&[COMMAND, 2, 9, 1], NO_COMMAND),
    ] {
        assert_eq!(decode_all(bytes), Err(refusal.to_owned()));
    }
}

#[test]
fn a_ping_is_answered_with_its_context() {
    let ping = command(b"PING", b"\x00\x10context");
    let Frame::Command(name, data) = &decode_all(&ping).unwrap()[0] else {
        panic!("not a command");
    };
    assert_eq!(&name[..], b"PING");
    assert_eq!(pong(data), command(b"PONG", b"context"));
    assert_eq!(pong(b"\x01"), command(b"PONG", b""));
}

proptest! {
    /// However the bytes of frames are cut into packets, the same frames come out.
    #[test]
    fn frames_survive_any_packets(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 0..6),
        cuts in prop::collection::vec(1_usize..400, 1..40),
    ) {
        let bytes: Vec<u8> = bodies.iter().flat_map(|body| message(body)).collect();
        let (mut received, mut rest, mut frames) = (BytesMut::new(), &bytes[..], Vec::new());
        for cut in cuts.iter().cycle() {
            let (packet, later) = rest.split_at((*cut).min(rest.len()));
            received.extend_from_slice(packet);
            rest = later;
            while let Some(frame) = decode(&mut received).unwrap() {
                frames.push(frame);
            }
            if rest.is_empty() {
                break;
            }
        }
        let expected: Vec<Frame> = bodies
            .into_iter()
            .map(|body| Frame::Part { body: body.into(), more: false })
            .collect();
        prop_assert_eq!(frames, expected);
    }

    /// Whatever arrives, the decoder returns frames or an error, and never takes more than it got.
    #[test]
    fn no_bytes_make_the_decoder_fail(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut received = BytesMut::from(&bytes[..]);
        for _ in 0..=bytes.len() {
            let before = received.len();
            match decode(&mut received) {
                Ok(Some(frame)) => {
                    prop_assert!(received.len() < before);
                    let _ = check_ready(&frame);
                }
                Ok(None) => {
                    prop_assert_eq!(received.len(), before);
                    break;
                }
                Err(_) => break,
            }
        }
        prop_assert!(received.capacity() <= 4 * (bytes.len() + 64));
    }

    /// A valid frame with one changed byte gives a frame or an error.
    #[test]
    fn a_changed_byte_is_no_crash(place in 0_usize..64, byte in any::<u8>()) {
        let mut bytes = ready("host_0123456789abcdef").to_vec();
        let place = place % bytes.len();
        bytes[place] = byte;
        if let Ok(frames) = decode_all(&bytes) {
            for frame in &frames {
                let _ = check_ready(frame);
            }
        }
    }
}
