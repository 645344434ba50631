//! `--chain-rpc` with https: nonces come over TLS, and a node that is not trusted causes an error that names the remedy.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::*;

/// A certificate of the tests of paymaster-conformance; its README says how they were made.
fn certificate(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../conformance/tests/shell/certificates");
    format!("{folder}/{name}.pem")
}

/// A node behind TLS. The nonce of every sender is 7.
struct SecureNode {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
    _runtime: tokio::runtime::Runtime,
}

impl SecureNode {
    /// Shows that certificate and offers these protocols.
    fn start(name: &str, alpn: &[&str]) -> Self {
        Self::try_start(name, alpn).expect("the node starts")
    }

    fn try_start(name: &str, alpn: &[&str]) -> Result<Self, Box<dyn Error>> {
        let chain = CertificateDer::pem_file_iter(certificate(name))?;
        let key = PrivateKeyDer::from_pem_file(certificate("TEST-KEY"))?;
        let provider = Arc::new(rustls_graviola::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(chain.collect::<Result<_, _>>()?, key)?;
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let connections = Arc::new(AtomicUsize::new(0));
        let requests = Arc::new(AtomicUsize::new(0));
        let (counter, answered) = (Arc::clone(&connections), Arc::clone(&requests));
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                counter.fetch_add(1, Ordering::SeqCst);
                let answered = Arc::clone(&answered);
                let serve = service_fn(move |request| {
                    answered.fetch_add(1, Ordering::SeqCst);
                    seven(request)
                });
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                tokio::spawn(async move {
                    let stream = TokioIo::new(stream);
                    let _ = if is_http2 {
                        http2::Builder::new(TokioExecutor::new()).serve_connection(stream, serve).await
                    } else {
                        http1::Builder::new().serve_connection(stream, serve).await
                    };
                });
            }
        });
        Ok(Self { address, connections, requests, _runtime: runtime })
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/v3/CANARY", self.address.port())
    }
}

async fn seven(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let request: Value = serde_json::from_slice(&body).expect("a JSON-RPC request");
    assert_eq!(request["method"], "eth_call");
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": format!("0x{}7", "0".repeat(63)) });
    Ok(Response::new(Full::from(answer.to_string())))
}

const SENDER: &str = "0x1306b01bC3e4AD202612D3843387e94737673F57";

/// The server's answer to a request for a sponsorship.
fn sponsored(server: &Running) -> Value {
    let mut request = sponsor(&json!({ "mode": "SPONSORED", "sponsorshipInfo": sponsorship_info() }));
    request["params"][0]["sender"] = json!(SENDER);
    let answer = server.post("/", &request.to_string());
    let (_, body) = answer.split_once("\r\n\r\n").expect("a response");
    serde_json::from_str(body).expect("json")
}

#[test]
fn nonces_are_read_over_tls_on_one_connection() {
    for alpn in [&["h2", "http/1.1"][..], &["http/1.1"], &[]] {
        let node = SecureNode::start("sound", alpn);
        let server = Running::start(&["--chain-rpc", &node.url(), "--chain-cacert", &certificate("test-ca")]);
        for _ in 0..3 {
            let answer = sponsored(&server);
            assert_eq!(recovered_sponsorship(SENDER, 7, &answer), TEST_ACCOUNT, "{answer}");
        }
        assert_eq!(node.requests.load(Ordering::SeqCst), 3, "{alpn:?}");
        assert_eq!(node.connections.load(Ordering::SeqCst), 1, "{alpn:?}");
        let stopped = server.stop("TERM");
        let origin = format!("https://localhost:{}/(redacted)", node.address.port());
        assert!(stopped.printed.contains(&origin), "{}", stopped.printed);
        assert!(!stopped.printed.contains("CANARY") && !stopped.log.contains("CANARY"));
    }
}

#[test]
fn a_node_that_is_not_trusted_causes_an_error_with_the_remedy() {
    for (shown, trusted, expected) in [
        ("sound", "elsewhere", "--chain-cacert FILE"),
        ("expired", "test-ca", "has expired"),
        ("elsewhere", "test-ca", "for another host name"),
    ] {
        let node = SecureNode::start(shown, &[]);
        let url = node.url();
        let trust = certificate(trusted);
        let server = Running::start(&["--chain-rpc", &url, "--chain-cacert", &trust]);
        let answer = sponsored(&server);
        assert_eq!(answer["error"]["code"], -32003, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected) && message.contains("--chain-insecure"), "{message}");
        assert!(!message.contains("CANARY") && !message.contains(" --cacert"), "{message}");
        assert_eq!(node.requests.load(Ordering::SeqCst), 0);

        let server = Running::start(&["--chain-rpc", &url, "--chain-insecure"]);
        let answer = sponsored(&server);
        assert_eq!(recovered_sponsorship(SENDER, 7, &answer), TEST_ACCOUNT, "{answer}");
    }
}

#[test]
fn a_file_without_certificates_is_refused_at_the_start() {
    let key = certificate("TEST-KEY");
    for file in ["/nonexistent/ca.pem", key.as_str()] {
        let error = failed(2, &run(&["--chain-rpc", "https://localhost/CANARY", "--chain-cacert", file]));
        let says_it = error.contains("the chain cannot be asked: --chain-cacert ");
        assert!(says_it && !error.contains("CANARY"), "{error}");
    }
}
