//! Web pages of allowed origins can call the server, others cannot; `GET /health` answers.

use crate::*;

const PAGE: &str = "http://localhost:5173";
const OTHER: &str = "http://localhost:5174";

/// The response to the question of a browser whether a page of `origin` may send a POST request with a key.
fn preflight(server: &Running, origin: &str) -> String {
    server.send(
        "OPTIONS",
        "/api/key",
        &[
            &format!("origin: {origin}"),
            "access-control-request-method: POST",
            "access-control-request-headers: content-type,x-api-key",
        ],
    )
}

fn post_from(server: &Running, origin: &str) -> String {
    let body = the_four_pairs()[3].to_string();
    let length = body.len();
    exchange(
        &server.address,
        &format!(
            "POST /api/key HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\ncontent-length: {length}\r\n\r\n{body}"
        ),
    )
}

#[test]
fn by_default_pages_of_every_origin_can_call_it() {
    let server = Running::start(&[]);
    for origin in [PAGE, OTHER, "null"] {
        let answer = preflight(&server, origin);
        for expected in [
            "http/1.1 204",
            "access-control-allow-origin: *\r\n",
            "access-control-allow-methods: post, get\r\n",
            "access-control-allow-headers: content-type,x-api-key\r\n",
        ] {
            assert!(answer.contains(expected), "{expected}: {answer}");
        }
        let answer = post_from(&server, origin);
        assert!(answer.contains("access-control-allow-origin: *\r\n"), "{answer}");
        assert!(answer.contains("\"result\":{"), "{answer}");
    }
}

#[test]
fn only_listed_origins_can_call_it() {
    let server = Running::start(&["--cors-origin", PAGE, "--cors-origin", "null"]);
    for origin in [PAGE, "null"] {
        let allowed = format!("access-control-allow-origin: {origin}\r\n");
        for answer in [preflight(&server, origin), post_from(&server, origin)] {
            assert!(answer.contains(&allowed) && answer.contains("vary: origin\r\n"), "{answer}");
        }
    }
    let refused = preflight(&server, OTHER);
    assert!(refused.starts_with("http/1.1 403"), "{refused}");
    assert!(refused.contains(OTHER) && refused.contains("cors.origins"), "{refused}");
    for answer in [refused, post_from(&server, OTHER)] {
        assert!(!answer.contains("access-control-allow"), "{answer}");
        assert!(answer.contains("vary: origin\r\n"), "{answer}");
    }
}

#[test]
fn what_no_page_sends_is_answered_as_before() {
    let server = Running::start(&[]);
    let answer = server.post("/", &the_four_pairs()[3].to_string());
    assert!(!answer.contains("access-control") && !answer.contains("vary"), "{answer}");
    // Without both headers it is no preflight request.
    for headers in [&[][..], &["origin: http://a.example"], &["access-control-request-method: POST"]] {
        let answer = server.send("OPTIONS", "/", headers);
        assert!(answer.starts_with("http/1.1 405") && answer.contains("allow: post\r\n"), "{answer}");
    }
}

#[test]
fn health_is_shown_by_get_at_its_path_alone() {
    let server = Running::start(&[]);
    for path in ["/health", "/health?now"] {
        let answer = server.send("GET", path, &[]);
        assert!(answer.starts_with("http/1.1 200"), "{answer}");
        assert!(answer.ends_with(r#"{"status":"ok"}"#), "{answer}");
    }
    for (method, path, allow) in
        [("GET", "/", "post"), ("GET", "/key/health", "post"), ("PUT", "/health", "get, post")]
    {
        let answer = server.send(method, path, &[]);
        assert!(answer.starts_with("http/1.1 405"), "{answer}");
        assert!(answer.contains(&format!("allow: {allow}\r\n")), "{answer}");
    }
    let answer = server.post("/health", &the_four_pairs()[3].to_string());
    assert!(answer.contains("\"result\":{"), "{answer}");
}
