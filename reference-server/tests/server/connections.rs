//! HTTP: any path, POST only, keep-alive, pipelining, chunks, half-closed connections, graceful shutdown.

use crate::*;

fn call(id: u64) -> String {
    let mut request = the_four_pairs()[0].clone();
    request["id"] = json!(id);
    request.to_string()
}

/// A server of its own, and a client.
fn connected() -> (Server, Client) {
    let server = Server::start(&Config::default());
    let client = server.connect();
    (server, client)
}

#[test]
fn any_path_is_served() {
    let (_server, mut client) = connected();
    for path in ["/", "/api/v1/80001/secret-key.part", "/a/b?c=d", "*"] {
        client.post(path, &call(7));
        let answer = client.answer().expect("an answer");
        assert_eq!(answer.status, 200);
        assert!(answer.head.contains("content-type: application/json\r\n"), "{}", answer.head);
        assert_eq!(answer.json()["id"], json!(7));
        assert!(answer.json().get("result").is_some());
    }
}

#[test]
fn only_post_is_served() {
    let server = Server::start(&Config::default());
    for method in ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"] {
        let mut client = server.connect();
        client.send(format!("{method} /x HTTP/1.1\r\nhost: a\r\n\r\n"));
        let answer = client.answer().expect("an answer");
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.head.contains("allow: post\r\n"), "{}", answer.head);
        assert_eq!(answer.json()["error"]["code"], json!(-32010));
    }
}

#[test]
fn a_notification_gets_204_without_a_body() {
    let (_server, mut client) = connected();
    client.post("/", r#"{"jsonrpc":"2.0","method":"x"}"#);
    client.post("/", &call(2));
    let answer = client.answer().expect("an answer");
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    assert!(!answer.head.contains("content-type"), "{}", answer.head);
    assert_eq!(client.answer().expect("the next answer").json()["id"], json!(2));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let (_server, mut client) = connected();
    let requests: String = (0..50).map(|id| post_bytes("/", &call(id))).collect();
    client.send(requests);
    for id in 0..50 {
        assert_eq!(client.answer().expect("an answer").json()["id"], json!(id));
    }
}

#[test]
fn an_answer_does_not_wait_for_the_rest_of_the_next_request() {
    let (_server, mut client) = connected();
    let next = post_bytes("/", &call(2));
    let (begun, rest) = next.split_at(30);
    client.send(format!("{}{begun}", post_bytes("/", &call(1))));
    assert_eq!(client.answer().expect("an answer").json()["id"], json!(1));
    client.send(rest);
    assert_eq!(client.answer().expect("an answer").json()["id"], json!(2));
}

#[test]
fn chunked_and_split_bodies_are_assembled() {
    let (_server, mut client) = connected();
    let body = call(3);
    client.send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    for chunk in body.as_bytes().chunks(13) {
        client.send(format!("{:x}\r\n", chunk.len()));
        client.send(chunk);
        client.send("\r\n");
    }
    client.send("0\r\nx-trailer: 1\r\n\r\n");
    assert_eq!(client.answer().expect("an answer").json()["id"], json!(3));
    let whole = post_bytes("/", &call(4));
    for piece in whole.as_bytes().chunks(100) {
        client.send(piece);
    }
    assert_eq!(client.answer().expect("an answer").json()["id"], json!(4));
}

#[test]
fn a_client_that_closes_its_sending_half_gets_its_answer() {
    let (_server, mut client) = connected();
    client.post("/", &call(5));
    client.close_sending();
    assert_eq!(client.answer().expect("an answer").json()["id"], json!(5));
    assert!(client.is_closed());
}

#[test]
fn a_body_that_is_cut_off_is_not_answered_with_a_result() {
    let (_server, mut client) = connected();
    client.send(&post_bytes("/", &call(6))[..200]);
    client.close_sending();
    if let Some(answer) = client.answer() {
        assert_eq!(answer.status, 400);
        assert_eq!(answer.json()["error"]["code"], json!(-32012));
    }
    assert!(client.is_closed());
}

#[test]
fn a_client_that_expects_100_continue_gets_it() {
    let (_server, mut client) = connected();
    let request = post_bytes("/", &call(8)).replacen("\r\n", "\r\nexpect: 100-continue\r\n", 1);
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    client.send(format!("{head}\r\n\r\n"));
    assert_eq!(client.answer().expect("100 Continue").status, 100);
    client.send(body);
    assert_eq!(client.answer().expect("an answer").json()["id"], json!(8));
}

#[test]
fn an_http_1_0_client_is_answered_and_its_connection_closed() {
    let (_server, mut client) = connected();
    client.send(post_bytes("/", &call(9)).replace("HTTP/1.1", "HTTP/1.0"));
    assert_eq!(client.answer().expect("an answer").json()["id"], json!(9));
    assert!(client.is_closed());
}

#[test]
fn garbage_does_not_disturb_others() {
    let server = Server::start(&Config::default());
    let mut other = server.connect();
    let large: Vec<u8> =
        (0..100_000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    for garbage in [
        b"\r\n\r\n\r\n\0\0\0".as_slice(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"POST / HTTP/9.9\r\n\r\n",
        &large,
    ] {
        let mut client = server.connect();
        client.try_send(garbage);
        client.close_sending();
        if let Some(answer) = client.answer() {
            assert!((400..500).contains(&answer.status), "{answer:?}");
        }
        other.post("/", &call(1));
        assert_eq!(other.answer().expect("an answer").status, 200);
    }
}

#[test]
fn malformed_bodies_get_a_parse_error() {
    let (_server, mut client) = connected();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    for body in ["", "{", "\u{0}", "[[[", &deep, &"{\"a\":".repeat(50_000)] {
        client.post("/", body);
        let answer = client.answer().expect("an answer");
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["error"]["code"], json!(-32700));
        assert_eq!(answer.json()["id"], Value::Null);
    }
}

#[test]
fn requests_in_flight_are_answered_when_the_server_stops() {
    let mut server = Server::start(&Config::default());
    let mut idle = server.connect();
    idle.post("/", &call(1));
    idle.answer().expect("an answer");
    let mut in_flight = server.connect();
    // 100 Continue shows that the server has read the head.
    let request = post_bytes("/", &call(2)).replacen("\r\n", "\r\nexpect: 100-continue\r\n", 1);
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    in_flight.send(format!("{head}\r\n\r\n"));
    assert_eq!(in_flight.answer().expect("100 Continue").status, 100);
    server.ask_to_stop();
    assert!(idle.is_closed(), "an idle connection ends at once");
    in_flight.send(body);
    let answer = in_flight.answer().expect("an answer");
    assert_eq!(answer.json()["id"], json!(2));
    assert!(answer.head.contains("connection: close"), "{}", answer.head);
    assert!(in_flight.is_closed());
    server.join();
}

#[test]
fn a_request_that_never_ends_does_not_hold_up_the_stop() {
    let mut config = Config::default();
    config.bounds.drain_timeout_ms = 100;
    let mut server = Server::start(&config);
    let mut stuck = server.connect();
    stuck.send("POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 10\r\n\r\n");
    assert_eq!(stuck.answer().expect("100 Continue").status, 100);
    server.ask_to_stop();
    server.join();
    assert!(stuck.is_closed());
}
