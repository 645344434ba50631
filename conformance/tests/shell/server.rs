//! Servers for tests: the reference server behind a hook that can spoil requests and answers, and raw sockets.

use std::sync::LazyLock;

use paymaster_reference_server::{InjectedService, find_fault, find_variant};
use paymaster_settings::Embedded;
use tokio::net::TcpSocket;

use crate::*;

/// What a hook sees and may change: the number of the request, its body, and the answer of the reference server, which has the headers of the
/// request and [`IdleFor`] as extensions.
pub(crate) type Hook = dyn Fn(usize, &[u8], Response<Full<Bytes>>) -> Response<Full<Bytes>> + Send + Sync;

/// Put into the extensions of a response by a hook: the request is never answered.
#[derive(Clone)]
pub(crate) struct Unanswered;

/// The same: the connection is closed without an answer.
#[derive(Clone)]
pub(crate) struct Closed;

/// What the connection of a request had before it.
#[derive(Clone, Copy)]
pub(crate) struct OnConnection {
    /// How long it was idle; zero on a new connection.
    pub(crate) idle: Duration,
    /// How many requests came over it.
    pub(crate) earlier: usize,
    /// How many connections were opened before it.
    pub(crate) number: usize,
}

/// A server that answers until it is dropped. Its port stays taken: connections are refused from then on.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
    _runtime: tokio::runtime::Runtime,
}

impl Server {
    /// The reference server behind a hook.
    pub(crate) fn hooked(
        hook: impl Fn(usize, &[u8], Response<Full<Bytes>>) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let taken = bound("127.0.0.1:0".parse().unwrap());
        let address = taken.local_addr().unwrap();
        // Until this process ends, so that no other server gets the port of this one.
        std::mem::forget(taken);
        let listener = {
            let _within = runtime.enter();
            bound(address).listen(1024).unwrap()
        };
        let requests = Arc::new(AtomicUsize::new(0));
        let hook: Arc<Hook> = Arc::new(hook);
        let service = Arc::new(Service::new(&Config::default()).unwrap());
        let counter = Arc::clone(&requests);
        runtime.spawn(async move {
            let mut number = 0;
            while let Ok((stream, _)) = listener.accept().await {
                number += 1;
                let (hook, service, counter) =
                    (Arc::clone(&hook), Arc::clone(&service), Arc::clone(&counter));
                tokio::spawn(async move {
                    let answered: Arc<Mutex<(usize, Option<Instant>)>> = Arc::default();
                    let answer = service_fn(move |request| {
                        let (hook, service, counter) =
                            (Arc::clone(&hook), Arc::clone(&service), Arc::clone(&counter));
                        let answered = Arc::clone(&answered);
                        async move {
                            let (earlier, at) = *answered.lock().unwrap();
                            let idle = at.map_or(Duration::ZERO, |at| at.elapsed());
                            let before = OnConnection { idle, earlier, number: number - 1 };
                            let response = answer(request, before, hook, service, counter).await;
                            *answered.lock().unwrap() = (earlier + 1, Some(Instant::now()));
                            response
                        }
                    });
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
                });
            }
        });
        Self { address, requests, _runtime: runtime }
    }

    /// The reference server whose answers are changed, where they are objects.
    pub(crate) fn changing(change: impl Fn(usize, &Value, &mut Value) + Send + Sync + 'static) -> Self {
        Self::hooked(move |number, request, response| {
            let (head, body) = response.into_parts();
            let body = whole(body);
            let request = serde_json::from_slice(request).unwrap_or_default();
            let mut answer = serde_json::from_slice(&body).unwrap_or_default();
            if !Value::is_object(&answer) {
                return Response::from_parts(head, Full::new(body));
            }
            change(number, &request, &mut answer);
            Response::from_parts(head, Full::new(answer.to_string().into()))
        })
    }

    /// The reference server as it is.
    pub(crate) fn sound() -> Self {
        Self::hooked(|_, _, response| response)
    }

    /// The reference server with results that have null in place of these members.
    pub(crate) fn nulling(members: &'static [&'static str]) -> Self {
        Self::changing(move |_, _, answer| {
            for member in members {
                if let Some(value) = answer.pointer_mut(&format!("/result/{member}")) {
                    *value = Value::Null;
                }
            }
        })
    }

    /// The reference server with a text as the gas limit of every sponsored result.
    pub(crate) fn with_gas_in_words() -> Self {
        Self::changing(|_, _, answer| {
            if answer["result"]["MODE"] == "SPONSORED" {
                answer["result"]["callGasLimit"] = "many".into();
            }
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// The bytes of a body that is all there.
pub(crate) fn whole(body: Full<Bytes>) -> Bytes {
    let mut collecting = std::pin::pin!(body.collect());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match Future::poll(collecting.as_mut(), &mut context) {
        std::task::Poll::Ready(Ok(collected)) => collected.to_bytes(),
        _ => unreachable!("a full body never waits"),
    }
}

async fn answer(
    request: Request<Incoming>,
    before: OnConnection,
    hook: Arc<Hook>,
    service: Arc<Service>,
    counter: Arc<AtomicUsize>,
) -> Result<Response<Full<Bytes>>, std::io::Error> {
    let number = counter.fetch_add(1, Ordering::SeqCst);
    let headers = request.headers().clone();
    let body =
        request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let reply = service.handle_bytes(&body, 1_800_000_000);
    let mut response = Response::new(Full::new(reply.body.unwrap_or_default().into()));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap();
    response.extensions_mut().insert(headers);
    response.extensions_mut().insert(before);
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    let response = hook(number, &body, response);
    if response.extensions().get::<Unanswered>().is_some() {
        std::future::pending::<()>().await;
    }
    if response.extensions().get::<Closed>().is_some() {
        return Err(std::io::ErrorKind::ConnectionAborted.into());
    }
    Ok(response)
}

/// The reference server with a fault or a variant, until it is dropped.
pub(crate) struct Injected {
    pub(crate) url: String,
    _runtime: tokio::runtime::Runtime,
}

impl Injected {
    /// The server without a fault.
    pub(crate) fn sound() -> Self {
        Self::serve(|service| service)
    }

    /// The server with this fault.
    pub(crate) fn fault(name: &str) -> Self {
        Self::serve(|service| service.with_faults([find_fault(name).unwrap()]))
    }

    /// The server with this variant.
    pub(crate) fn variant(name: &str) -> Self {
        Self::serve(|service| service.with_variants([find_variant(name).unwrap()]))
    }

    fn serve(inject: impl FnOnce(InjectedService) -> InjectedService) -> Self {
        let config = Config::default();
        let service = inject(Service::new(&config).unwrap().into());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let embedded = runtime.block_on(Embedded::serve(&config, service)).unwrap();
        let url = embedded.url.clone();
        // It serves until the runtime ends.
        runtime.spawn(async move {
            std::future::pending::<()>().await;
            drop(embedded);
        });
        Self { url, _runtime: runtime }
    }
}

/// A raw server: each connection is handed to `serve` in a thread of its own.
pub(crate) fn raw(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
    format!("http://{address}/")
}

/// An error in place of an answer.
pub(crate) fn refuse(answer: &mut Value, code: i64, message: &str) {
    let error = json!({"code": code, "message": message});
    *answer = json!({"jsonrpc": answer["jsonrpc"], "id": answer["id"], "error": error});
}

/// An error in place of a result; an error stays as it is.
pub(crate) fn refuse_result(answer: &mut Value, code: i64, message: &str) {
    if answer.get("result").is_some() {
        refuse(answer, code, message);
    }
}

/// An HTTP response with JSON.
pub(crate) fn http(status: &str, body: &str) -> String {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}");
    format!("{head}\r\n\r\n{body}")
}

/// A raw server that answers everything with this status and body.
pub(crate) fn always(status: &str, body: &str) -> String {
    let answer = http(status, body);
    serving(move |stream| write(stream, answer.as_bytes()))
}

/// A raw server that reads requests and does the same for each.
pub(crate) fn serving(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> String {
    raw(move |mut stream| {
        while read_request(&mut stream) {
            answer(&mut stream);
        }
    })
}

/// Reads one request of a raw connection; false at its end.
pub(crate) fn read_request(stream: &mut TcpStream) -> bool {
    request_head(stream).is_some()
}

/// The same; gives the head of the request.
pub(crate) fn request_head(stream: &mut TcpStream) -> Option<String> {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !seen.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => seen.push(byte[0]),
            _ => return None,
        }
    }
    let head = String::from_utf8_lossy(&seen).into_owned();
    let lower = head.to_ascii_lowercase();
    if lower.contains("\r\ntransfer-encoding: chunked\r\n") {
        let mut body = Vec::new();
        while !body.ends_with(b"\r\n0\r\n\r\n") {
            stream.read_exact(&mut byte).ok()?;
            body.push(byte[0]);
        }
        return Some(head);
    }
    let length = lower
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|length| length.trim().parse().ok())
        .unwrap_or(0);
    stream.read_exact(&mut vec![0; length]).ok()?;
    Some(head)
}

/// Writes bytes; a closed connection does not matter.
pub(crate) fn write(stream: &mut TcpStream, bytes: &[u8]) {
    let _ = stream.write_all(bytes);
}

/// A socket that has this address and does not listen. Several of these can share an address.
fn bound(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    #[cfg(unix)]
    socket.set_reuseport(true).unwrap();
    #[cfg(windows)]
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

/// A URL at which connections are refused: its port is taken for as long as this process runs, and nothing listens there.
pub(crate) fn unreachable_url() -> String {
    static TAKEN: LazyLock<TcpSocket> = LazyLock::new(|| bound("127.0.0.1:0".parse().unwrap()));
    format!("http://{}/", TAKEN.local_addr().unwrap())
}

#[test]
fn a_port_at_which_nothing_listens_any_more_stays_taken() {
    let server = Server::hooked(|_, _, response| response);
    let url = server.url();
    drop(server);
    for url in [url, unreachable_url()] {
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
        let taken = TcpListener::bind(address).unwrap_err();
        assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    }
}
