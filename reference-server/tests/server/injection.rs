//! Injected behaviours on the wire: faults and variants of HTTP, and swapped responses.

use paymaster_reference_server::variants;

use crate::*;

fn sponsored() -> String {
    the_four_pairs()[2].to_string()
}

fn faulty(name: &str) -> Server {
    Server::of(InjectedService::from(service()).with_faults([find_fault(name).expect("the fault exists")]))
}

fn varied(name: &str) -> Server {
    Server::of(
        InjectedService::from(service()).with_variants([find_variant(name).expect("the variant exists")]),
    )
}

/// All bytes that a server sends for a token-mode sponsor request, and whether it then resets the connection.
fn response(server: &Server) -> (String, bool) {
    let mut client = server.connect();
    client.post("/", &the_four_pairs()[3].to_string());
    client.close_sending();
    client.read_to_end()
}

/// The length of the body according to the head, and the length received.
fn announced_and_received(response: &str) -> (usize, usize) {
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    (length.parse().expect("a number"), body.len())
}

#[test]
fn responses_end_early() {
    let (whole, reset) = response(&Server::of(service()));
    let (length, sent) = announced_and_received(&whole);
    assert!(!reset && sent == length);

    let (text, reset) = response(&faulty("length-too-long"));
    assert_eq!((announced_and_received(&text), reset), ((length + 10, length), false));

    let (text, reset) = response(&faulty("half-of-message"));
    assert_eq!((announced_and_received(&text), reset), ((length, length / 2), false));

    let (text, reset) = response(&faulty("chunks-without-end"));
    assert!(text.contains("transfer-encoding: chunked") && !reset, "{text}");
    assert!(!text.ends_with("0\r\n\r\n"), "{text}");

    let (_, reset) = response(&faulty("reset-in-the-middle"));
    assert!(reset);
}

#[test]
fn a_connection_is_closed_instead_of_the_25th_answer() {
    let server = faulty("closed-without-answer");
    let mut client = server.connect();
    for _ in 0..24 {
        client.post("/", &sponsored());
        assert!(client.answer().is_some());
    }
    client.post("/", &sponsored());
    assert!(client.answer().is_none());
    let mut again = server.connect();
    again.post("/", &sponsored());
    assert!(again.answer().is_some(), "the next request is served");
}

#[test]
fn rare_framing_is_valid() {
    let expected = {
        let server = Server::of(service());
        let mut client = server.connect();
        client.post("/", r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#);
        client.answer().expect("an answer").json()
    };
    let send = |name: &str| {
        let server = varied(name);
        let mut client = server.connect();
        client.post("/", r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#);
        client.close_sending();
        let (text, reset) = client.read_to_end();
        assert!(!reset, "{name}");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        (head.to_owned(), body.to_owned())
    };
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("json");

    let (head, body) = send("close-delimited");
    assert!(head.starts_with("HTTP/1.0 200") && head.contains("connection: close"), "{head}");
    assert!(!head.contains("content-length") && !head.contains("chunked"), "{head}");
    assert_eq!(json(&body), expected);

    let (head, body) = send("closed-after-answer");
    assert!(head.contains("connection: close"), "{head}");
    assert_eq!(json(&body), expected);

    let (head, body) = send("chunked");
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    let lines = body.split("\r\n").collect::<Vec<_>>();
    assert_eq!(lines[0], "40", "chunks of 64 bytes");
    assert!(body.ends_with("0\r\n\r\n"), "{body}");
    let joined: String = lines.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(json(&joined), expected);

    let (_, body) = send("body-in-two-parts");
    assert_eq!(json(&body), expected);
}

/// Each variant serves several requests over one connection, or over a new one when it closes the connection.
#[test]
fn variants_keep_serving() {
    for variant in variants() {
        let server = varied(variant.name);
        let mut client = server.connect();
        let mut answers = 0;
        for _ in 0..3 {
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#;
            if !client.try_send(post_bytes("/", body)) {
                client = server.connect();
                client.send(post_bytes("/", body));
            }
            match client.answer() {
                Some(answer) => {
                    answers += 1;
                    if answer.head.contains("connection: close") || answer.head.contains("chunked") {
                        client = server.connect();
                    }
                }
                None => client = server.connect(),
            }
        }
        assert!(answers > 0, "{}", variant.name);
    }
}

#[test]
fn responses_are_swapped_and_a_single_one_does_not_hang() {
    let server = faulty("answers-cross");
    let request = |id: u64| {
        let mut request = the_four_pairs()[2].clone();
        request["id"] = id.into();
        request.to_string()
    };
    let mut single = server.connect();
    single.post("/", &request(1));
    assert_eq!(single.answer().expect("an answer").json()["id"], 1);

    // Whether the two are swapped depends on timing; `injection::memory` tests that. Each gets one of the two responses.
    for _ in 0..20 {
        let (mut one, mut two) = (server.connect(), server.connect());
        one.post("/", &request(10));
        two.post("/", &request(20));
        let ids = [&mut one, &mut two].map(|client| {
            let answer = client.answer().expect("an answer").json();
            answer["id"].as_u64().expect("a number")
        });
        assert!(ids == [10, 20] || ids == [20, 10], "{ids:?}");
    }
}
