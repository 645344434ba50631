//! The lean connection beside the full client: the same bytes from the target give the same outcome, and the same bytes are sent.

use std::sync::{Arc, Mutex};

use hyper::header::{HeaderName, HeaderValue};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::http::Limits;
use crate::network::{Connector, Target};

/// What a target does with a request: it sends these bytes, and closes the connection or not.
type Action = (&'static [u8], bool);

/// Starts a target whose connections do these actions, one for each request. Gives its URL and the requests that it got.
async fn target(connections: Vec<Vec<Action>>) -> (String, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/path?query", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    tokio::spawn(async move {
        let mut open = Vec::new();
        for actions in connections {
            let (mut stream, _) = listener.accept().await.unwrap();
            for (bytes, closes) in actions {
                let Some(request) = request(&mut stream).await else { break };
                seen.lock().unwrap().push(request);
                // The client may have closed the connection.
                let _ = stream.write_all(bytes).await;
                if closes {
                    let _ = stream.shutdown().await;
                }
            }
            open.push(stream);
        }
        // The connections stay open until the test ends.
        std::future::pending::<()>().await;
    });
    (url, requests)
}

/// Reads a request.
async fn request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&request);
        let length = text.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next());
        let head = text.find("\r\n\r\n").map(|at| at + 4);
        if let (Some(head), Some(length)) = (head, length)
            && request.len() >= head + length.parse::<usize>().unwrap()
        {
            return Some(request);
        }
        (stream.read_buf(&mut request).await.ok()? > 0).then_some(())?;
    }
}

fn transport(url: &str) -> Transport {
    let limits = Limits { timeout: Duration::from_millis(300), body: 50_000 };
    let key = (HeaderName::from_static("x-api-key"), HeaderValue::from_static("k"));
    Transport::new(Target::parse(url).unwrap(), limits, &[key])
}

const BODY: &str = r#"{"id":1}"#;

async fn lean(url: &str, exchanges: usize) -> Vec<Exchange> {
    let (transport, mut connection, mut all) = (transport(url), LeanConnection::default(), Vec::new());
    for _ in 0..exchanges {
        let write = |out: &mut Vec<u8>| out.extend_from_slice(BODY.as_bytes());
        let reply = connection.exchange(&transport, Instant::now(), BODY.len(), write).await;
        all.push(match reply {
            Reply::Plain(plain) => plain.to_exchange(),
            Reply::Other(exchange) => exchange,
        });
    }
    all
}

async fn full(url: &str, exchanges: usize) -> Vec<Exchange> {
    let (transport, mut connection, mut all) = (transport(url), PooledConnection::default(), Vec::new());
    for _ in 0..exchanges {
        all.push(connection.exchange(&transport, Bytes::from_static(BODY.as_bytes())).await);
    }
    all
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 2\r\n\r\n{}";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
const TIMED_OUT: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 4\r\n\r\nidle";
const OK_AND_TIMED_OUT: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.0 408 Request Time-out\r\n\r\n";
const OPEN: bool = false;
const CLOSES: bool = true;

#[tokio::test]
async fn both_clients_give_the_same_outcome_for_the_same_bytes() {
    let large: &'static [u8] =
        format!("HTTP/1.1 200 OK\r\ncontent-length: 40000\r\n\r\n{}", " ".repeat(40_000)).into_bytes().leak();
    let huge: &'static [u8] =
        format!("HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n{}", " ".repeat(60_000)).into_bytes().leak();
    let cases: Vec<Vec<Vec<Action>>> = vec![
        vec![vec![(OK, OPEN), (OK, OPEN), (OK, OPEN)]],
        // Idle connections that the target closes, with and without an announcement.
        vec![vec![(OK, CLOSES)], vec![(OK, OPEN), (OK, CLOSES)]],
        vec![vec![(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}", CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        // A request on a reused connection that ends without a response is sent again.
        vec![vec![(OK, OPEN), (b"", CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"", CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        // So is one that meets the announcement that the idle connection ends. On a new connection, it is the answer.
        vec![vec![(OK, OPEN), (TIMED_OUT, CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(OK, OPEN), (b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n", OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(CHUNKED, OPEN), (TIMED_OUT, CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(TIMED_OUT, CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(OK_AND_TIMED_OUT, CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(CHUNKED, OPEN), (OK, OPEN), (CHUNKED, OPEN)]],
        vec![vec![(OK, OPEN), (CHUNKED, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.1 200 OK\r\n\r\n{}", CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}", CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", OPEN), (OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.1 204 No Content\r\n\r\n", OPEN), (OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\nRetry-After: 2\r\ncontent-length: 0\r\n\r\n", OPEN), (OK, OPEN), (OK, OPEN)]],
        // Bytes behind the end, a body that is cut, a head that is cut, no HTTP.
        vec![vec![(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}more", OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", CLOSES)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(OK, OPEN), (b"HTTP/1.1 200 O", CLOSES)], vec![(OK, OPEN)]],
        vec![vec![(b"SSH-2.0-OpenSSH\r\n", OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"\x15\x03\x01\x00\x02\x02\x28", OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.1 200 OK\r\ncontent-length: 2, 3\r\n\r\n{}", OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        // Too large for the buffer, and for the limit.
        vec![vec![(large, OPEN), (OK, OPEN), (large, OPEN)]],
        vec![vec![(huge, OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        // Nothing, the beginning of a head, an interim response, and a part of a body, until the deadline.
        vec![vec![(b"", OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(b"HTTP/1.1 200", OPEN)], vec![(OK, OPEN), (OK, OPEN)]],
        vec![vec![(OK, OPEN), (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", OPEN)], vec![(OK, OPEN)]],
    ];
    for connections in cases {
        let (lean_url, lean_requests) = target(connections.clone()).await;
        let (full_url, full_requests) = target(connections.clone()).await;
        let (lean, full) = tokio::join!(lean(&lean_url, 3), full(&full_url, 3));
        for (lean, full) in lean.iter().zip(&full) {
            assert_eq!(lean.outcome, full.outcome, "{connections:?}");
            assert_eq!(lean.request, full.request);
        }
        let plain = |requests: &Mutex<Vec<Vec<u8>>>, url: &str| -> Vec<String> {
            let host = url.trim_start_matches("http://").trim_end_matches("/path?query");
            let requests = requests.lock().unwrap();
            let texts = requests.iter().map(|request| String::from_utf8_lossy(request).replace(host, "HOST"));
            texts.collect()
        };
        assert_eq!(plain(&lean_requests, &lean_url), plain(&full_requests, &full_url), "{connections:?}");
    }
}

/// Connections of a test that is the target itself. Each begins with these bytes of the target.
fn scripted(
    first: &'static [u8],
) -> (Transport, tokio::sync::mpsc::UnboundedReceiver<tokio::io::DuplexStream>) {
    let (sender, accepted) = tokio::sync::mpsc::unbounded_channel();
    let plain = transport("http://127.0.0.1:1/");
    let connector = Connector::in_process(
        &plain.target,
        Arc::new(move || {
            let (client, mut server) = tokio::io::duplex(4096);
            let written = pin!(server.write_all(first)).poll(&mut Context::from_waker(Waker::noop()));
            assert!(written.is_ready(), "the pipe has room");
            sender.send(server).map_err(std::io::Error::other)?;
            Ok(client)
        }),
    );
    (plain.with_connector(connector), accepted)
}

/// One exchange of a lean connection or of a full one, which the target answers over the connection that it accepts next.
macro_rules! exchange {
    ($is_lean:expr, $lean:expr, $full:expr, $transport:expr, $target:expr) => {{
        let ours = async {
            if !$is_lean {
                return $full.exchange(&$transport, Bytes::from_static(BODY.as_bytes())).await;
            }
            let write = |out: &mut Vec<u8>| out.extend_from_slice(BODY.as_bytes());
            let begins = Instant::now();
            match $lean.exchange(&$transport, begins, BODY.len(), write).await {
                Reply::Plain(plain) => plain.to_exchange(),
                Reply::Other(exchange) => exchange,
            }
        };
        let target = async {
            let mut stream = $target.recv().await.unwrap();
            let mut read = [0; 1024];
            assert!(stream.read(&mut read).await.unwrap() > 0);
            stream.write_all(OK).await.unwrap();
            stream
        };
        // Not needed unless the test fails: without a second connection the target waits for ever.
        let both = timeout(Duration::from_secs(30), async { tokio::join!(ours, target) });
        both.await.unwrap()
    }};
}

#[tokio::test]
async fn bytes_that_came_before_the_request_are_no_answer_to_it() {
    for is_lean in [false, true] {
        let (transport, mut target) = scripted(b"");
        let (mut lean, mut full) = (LeanConnection::default(), PooledConnection::default());
        let (first, mut idle) = exchange!(is_lean, lean, full, transport, target);
        assert_eq!(first.outcome.unwrap().status, 200);
        idle.write_all(TIMED_OUT).await.unwrap();
        let (second, _) = exchange!(is_lean, lean, full, transport, target);
        assert_eq!(second.outcome.unwrap().status, 200, "lean: {is_lean}");
    }
}

#[tokio::test]
async fn a_connection_that_begins_with_bytes_of_the_target_is_described() {
    let (transport, mut target) = scripted(TIMED_OUT);
    let exchange = PooledConnection::default().exchange(&transport, Bytes::new()).await;
    let text = exchange.outcome.unwrap_err().to_string();
    assert!(text.ends_with("an HTTP response with status 408 came before the request was sent"), "{text}");
    assert!(target.recv().await.is_some());
}

#[tokio::test]
async fn a_plain_target_needs_no_full_client_and_an_unusual_one_keeps_its_connection() {
    for (actions, is_plain) in [([(OK, OPEN), (OK, OPEN)], true), ([(CHUNKED, OPEN), (OK, OPEN)], false)] {
        let (url, _) = target(vec![actions.to_vec()]).await;
        let (transport, mut connection) = (transport(&url), LeanConnection::default());
        for _ in 0..2 {
            let write = |out: &mut Vec<u8>| out.extend_from_slice(BODY.as_bytes());
            let reply = connection.exchange(&transport, Instant::now(), BODY.len(), write).await;
            assert_eq!(matches!(reply, Reply::Plain(_)), is_plain, "{reply:?}");
        }
    }
}

#[tokio::test]
async fn an_exchange_that_began_late_ends_at_its_deadline() {
    // The first exchange sets the timer; the second one begins later and has its own deadline.
    let (url, _) = target(vec![vec![(OK, OPEN), (b"", OPEN)]]).await;
    let (transport, mut connection) = (transport(&url), LeanConnection::default());
    let write = |out: &mut Vec<u8>| out.extend_from_slice(BODY.as_bytes());
    let reply = connection.exchange(&transport, Instant::now(), BODY.len(), write).await;
    assert!(matches!(reply, Reply::Plain(_)), "{reply:?}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let started = Instant::now();
    let reply = connection.exchange(&transport, started, BODY.len(), write).await;
    assert!(started.elapsed() >= transport.limits.timeout, "{:?}", started.elapsed());
    let Reply::Other(exchange) = reply else { panic!("{reply:?}") };
    assert!(matches!(exchange.outcome, Err(Failure::Timeout { .. })), "{exchange:?}");
}

#[test]
fn headers_that_change_a_message_are_left_to_the_full_client() {
    let with = |name: &'static str| {
        let header = (HeaderName::from_static(name), HeaderValue::from_static("x"));
        Transport::new(Target::parse("http://127.0.0.1:1/").unwrap(), Limits::default(), &[header])
    };
    assert!(with("x-api-key").plain_head().is_some());
    for name in ["transfer-encoding", "content-length", "connection", "expect", "accept-encoding"] {
        assert_eq!(with(name).plain_head(), None, "{name}");
    }
}
