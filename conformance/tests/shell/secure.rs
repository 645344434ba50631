//! A TLS server for tests: the reference server behind a certificate.

use hyper::{header::CONTENT_TYPE, server::conn::http2};
use hyper_util::rt::TokioExecutor;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use crate::*;

/// The file of a certificate in the folder of the tests' certificates.
pub(crate) fn certificate(name: &str) -> String {
    format!("{}/tests/shell/certificates/{name}.pem", env!("CARGO_MANIFEST_DIR"))
}

/// A TLS server that lives as long as the test.
pub(crate) struct Secure {
    address: SocketAddr,
    /// HTTP version and what names the host (`:authority` or Host) of each request.
    seen: Arc<Mutex<Vec<(Version, String)>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Secure {
    /// Shows that certificate and offers these protocols, on that address.
    pub(crate) fn on(address: &str, name: &str, alpn: &[&str]) -> Self {
        Self::serving(address, name, alpn, |body| body)
    }

    /// The same on 127.0.0.1, with answers that break a rule.
    #[cfg(unix)]
    pub(crate) fn broken(name: &str, alpn: &[&str]) -> Self {
        Self::serving("127.0.0.1:0", name, alpn, |body| body.replace("\"MODE\"", "\"NODE\""))
    }

    fn serving(address: &str, name: &str, alpn: &[&str], change: fn(String) -> String) -> Self {
        let chain = CertificateDer::pem_file_iter(certificate(name)).unwrap();
        let key = PrivateKeyDer::from_pem_file(certificate("TEST-KEY")).unwrap();
        let provider = Arc::new(rustls_graviola::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain.map(Result::unwrap).collect(), key)
            .unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let service = Arc::new(Service::new(&Config::default()).unwrap());
        let log = Arc::clone(&seen);
        runtime.spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, service, log) = (acceptor.clone(), Arc::clone(&service), Arc::clone(&log));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let answer = service_fn(move |request: Request<Incoming>| {
                        let (service, log) = (Arc::clone(&service), Arc::clone(&log));
                        async move {
                            let host = request.headers().get("host").map(HeaderValue::as_bytes);
                            let host = host.map(|host| String::from_utf8_lossy(host).into_owned());
                            let authority = request.uri().authority().map(ToString::to_string);
                            let named =
                                format!("{}{}", authority.unwrap_or_default(), host.unwrap_or_default());
                            log.lock().unwrap().push((request.version(), named));
                            let body = request.into_body().collect().await?.to_bytes();
                            let reply = service.handle_bytes(&body, 1_800_000_000);
                            let body = String::from_utf8(reply.body.unwrap_or_default()).unwrap();
                            let body = change(body);
                            let mut response = Response::new(Full::<Bytes>::from(body));
                            *response.status_mut() = StatusCode::from_u16(reply.status).unwrap();
                            let json = HeaderValue::from_static("application/json");
                            response.headers_mut().insert(CONTENT_TYPE, json);
                            Ok::<_, hyper::Error>(response)
                        }
                    });
                    let stream = TokioIo::new(stream);
                    let _ = if two {
                        http2::Builder::new(TokioExecutor::new()).serve_connection(stream, answer).await
                    } else {
                        http1::Builder::new().serve_connection(stream, answer).await
                    };
                });
            }
        });
        Self { address, seen, _runtime: runtime }
    }

    /// The same on 127.0.0.1.
    pub(crate) fn new(name: &str, alpn: &[&str]) -> Self {
        Self::on("127.0.0.1:0", name, alpn)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/", self.port())
    }

    pub(crate) fn seen(&self) -> Vec<(Version, String)> {
        self.seen.lock().unwrap().clone()
    }
}
