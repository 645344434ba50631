//! The bounds: what is too large, too slow or too much gets a clear answer or a closed connection, and others are served
//! meanwhile.

use paymaster_reference_server::{Bounds, Config};
use serde_json::json;

use crate::support::{Server, post_bytes, the_four_pairs};

/// Sends are small and times short, except those that a test is not about.
fn config(change: impl FnOnce(&mut Bounds)) -> Config {
    let mut config = Config::default();
    config.bounds.max_body_bytes = 4096;
    change(&mut config.bounds);
    config
}

/// Short enough for a test to wait for, in milliseconds.
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
    assert_eq!(
        client.answer().expect("an answer").status,
        200,
        "exactly at the bound"
    );
}

#[test]
fn a_body_that_is_announced_too_large_is_not_waited_for() {
    let server = Server::start(&config(|_| {}));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2000000000\r\n\r\n");
    assert_eq!(client.answer().expect("an answer").status, 413);
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 4097\r\n\r\n");
    assert_eq!(client.answer().expect("an answer, and no go-ahead").status, 413);
}

#[test]
fn endless_chunks_are_cut_off() {
    let server = Server::start(&config(|_| {}));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    let chunk = format!("400\r\n{}\r\n", " ".repeat(1024));
    // Sooner or later nothing more is taken; how soon depends on the system's buffers.
    let mut sent = 0_u32;
    while client.try_send(&chunk) {
        sent += 1;
        assert!(sent < 1_000_000, "the server reads for ever");
    }
    // The reset may have overtaken the answer.
    if let Some(answer) = client.answer() {
        assert_eq!(answer.status, 413);
    }
}

#[test]
fn a_head_above_the_bound_gets_431() {
    let server = Server::start(&config(|bounds| bounds.max_header_bytes = 1024));
    let mut client = server.connect();
    client.send(format!(
        "POST / HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n",
        "y".repeat(2000)
    ));
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
fn a_head_that_drips_is_closed() {
    let server = Server::start(&config(|bounds| bounds.header_timeout_ms = SHORT));
    let mut client = server.connect();
    client.send("POST / HTTP/1.1\r\n");
    let mut dripped = 0_u32;
    while client.try_send("x: y\r\n") {
        dripped += 1;
        assert!(dripped < 2000, "the server reads for ever");
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
    // After an answer too, provided that the request is sent before the connection counts as idle.
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
    // Never reading, until both sides' buffers are full and the server has waited long enough.
    while client.try_send(&call) {
        sent += 1;
        assert!(sent < 1_000_000, "the server keeps everything");
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
    // The server notices the end of the first one in its own time.
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
