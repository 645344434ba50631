//! The bounds: a client that sends too much or too slowly gets a clear error or a closed connection, while others are served.

use paymaster_reference_server::Bounds;

use crate::*;

/// A configuration with a small bound on bodies, and with the changes of a test.
fn config(change: impl FnOnce(&mut Bounds)) -> Config {
    let mut config = Config::default();
    config.bounds.max_body_bytes = 4096;
    change(&mut config.bounds);
    config
}

/// A timeout that a test can wait for, in milliseconds.
const SHORT: u64 = 100;

fn call() -> String {
    the_four_pairs()[0].to_string()
}

#[test]
fn a_body_above_the_bound_gets_413() {
    let server = Server::start(&config(|_| {}));
    for length in [4097, 4096 * 8] {
        let mut client = server.connect();
        client.post("/", &" ".repeat(length));
        let answer = client.answer().expect("an answer");
        assert_eq!(answer.status, 413);
        assert_eq!(answer.json()["error"]["code"], json!(-32011));
        assert!(client.is_closed());
    }
    let mut client = server.connect();
    let call = call();
    client.post("/", &format!("{call}{}", " ".repeat(4096 - call.len())));
    assert_eq!(client.answer().expect("an answer").status, 200, "exactly at the bound");
}

#[test]
fn a_body_whose_announced_length_is_too_large_is_not_read() {
    let server = Server::start(&config(|_| {}));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000000000\r\n\r\n");
    assert_eq!(client.answer().expect("an answer").status, 413);
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 4097\r\n\r\n");
    assert_eq!(client.answer().expect("an error, and no 100 Continue").status, 413);
}

#[test]
fn endless_chunks_are_cut_off() {
    let server = Server::start(&config(|_| {}));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    let chunk = format!("400\r\n{}\r\n", " ".repeat(1024));
    // The server stops reading at some point, which depends on the buffers of the system.
    let mut sent = 0_u32;
    while client.try_send(&chunk) {
        sent += 1;
        assert!(sent < 1_000_000, "the server never stops reading");
    }
    // The connection may have been reset before the response was read.
    if let Some(answer) = client.answer() {
        assert_eq!(answer.status, 413);
    }
}

#[test]
fn a_head_above_the_bound_gets_431() {
    let server = Server::start(&config(|bounds| bounds.max_header_bytes = 1024));
    let mut client = server.connect();
    client.send(format!("POST / HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n", "y".repeat(2000)));
    assert_eq!(client.answer().expect("an answer").status, 431);
    assert!(client.is_closed());
    let mut client = server.connect();
    let many = "h: \r\n".repeat(200);
    client.try_send(format!("POST / HTTP/1.1\r\n{many}\r\n"));
    assert!(client.answer().is_none_or(|answer| answer.status == 431));
}

#[test]
fn a_head_that_never_ends_is_closed() {
    let server = Server::start(&config(|bounds| bounds.header_timeout_ms = SHORT));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\n");
    assert!(client.is_closed());
}

#[test]
fn a_slow_head_is_closed() {
    let server = Server::start(&config(|bounds| bounds.header_timeout_ms = SHORT));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\n");
    let mut sent = 0_u32;
    while client.try_send("x: y\r\n") {
        sent += 1;
        assert!(sent < 2000, "the server never stops reading");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(client.answer().is_none_or(|answer| answer.status == 431));
}

#[test]
fn a_body_that_never_comes_gets_408() {
    let server = Server::start(&config(|bounds| bounds.body_timeout_ms = SHORT));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{");
    let answer = client.answer().expect("an answer");
    assert_eq!(answer.status, 408);
    assert_eq!(answer.json()["error"]["code"], json!(-32012));
    assert!(client.is_closed());
}

#[test]
fn a_request_is_bounded_as_a_whole() {
    let server = Server::start(&config(|bounds| bounds.total_timeout_ms = SHORT));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{");
    assert!(client.is_closed());
}

#[test]
fn an_idle_connection_is_closed() {
    let server = Server::start(&config(|bounds| bounds.idle_timeout_ms = SHORT));
    assert!(server.connect().is_closed());
    // Also after a response, if the request is sent before the idle timeout.
    let answered = (0..100).any(|_| {
        let mut client = server.connect();
        let sent = client.try_send(post_bytes("/", &call()));
        let answered = sent && client.answer().is_some_and(|answer| answer.status == 200);
        assert!(client.is_closed());
        answered
    });
    assert!(answered);
}

#[test]
fn a_client_that_does_not_read_its_answers_is_closed() {
    let server = Server::start(&config(|bounds| bounds.idle_timeout_ms = SHORT));
    let mut client = server.connect();
    let call = post_bytes("/", &call());
    let mut sent = 0_u32;
    // Without reading, until the buffers of both sides are full and the idle timeout is over.
    while client.try_send(&call) {
        sent += 1;
        assert!(sent < 1_000_000, "the server buffers without bound");
    }
}

#[test]
fn connections_above_the_bound_get_503_and_room_is_made_again() {
    let server = Server::start(&config(|bounds| bounds.max_connections = 2));
    let mut first = server.connect();
    let mut second = server.connect();
    for client in [&mut first, &mut second] {
        client.post("/", &call());
        assert_eq!(client.answer().expect("an answer").status, 200);
    }
    let mut third = server.connect();
    let answer = third.answer().expect("an answer");
    assert_eq!(answer.status, 503);
    assert!(answer.head.contains("retry-after: 1\r\n"), "{}", answer.head);
    assert_eq!(answer.json()["error"]["code"], json!(-32013));
    first.close_sending();
    assert!(first.is_closed());
    // The server needs some time to notice the end of the first connection.
    let room = (0..1000).any(|_| {
        let mut client = server.connect();
        client.try_send(post_bytes("/", &call()))
            && client.answer().is_some_and(|answer| answer.status == 200)
    });
    assert!(room);
}

#[test]
fn stuck_clients_do_not_hold_up_others() {
    let server = Server::start(&config(|_| {}));
    let stuck: Vec<_> = (0..100)
        .map(|number| {
            let mut client = server.connect();
            let request = post_bytes("/", &call());
            client.send(&request[..number * 4]);
            client
        })
        .collect();
    let mut client = server.connect();
    for _ in 0..20 {
        client.post("/", &call());
        assert_eq!(client.answer().expect("an answer").status, 200);
    }
    drop(stuck);
}
