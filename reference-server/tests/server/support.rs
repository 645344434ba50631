//! Shared by the tests: sample requests, a server on a free port, and a client that sends raw bytes.

use std::{net::Shutdown, thread::JoinHandle, time::Duration};

use paymaster_reference_server::{Respond, run};
use tokio::sync::oneshot;

use crate::*;

/// The Unix time of all tests, in seconds.
pub(crate) const NOW: u64 = 1_700_000_000;
/// A token of the default configuration, with 6 decimals.
pub(crate) const USDC: &str = "0xda5289fcaaf71d52a80a254da614a192b693e977";
/// A token of the default configuration, with 18 decimals.
pub(crate) const DAI: &str = "0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3";
/// A token that is not supported.
pub(crate) const UNKNOWN_TOKEN: &str = "0x00000000000000000000000000000000000000AA";
/// Longest wait of a test, far longer than any response takes.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// An operation with all its members.
pub(crate) fn operation() -> Value {
    json!({
        "sender": "0x1306b01bC3e4AD202612D3843387e94737673F53",
        "nonce": "0x2a",
        "initCode": "0x",
        "callData": "0xb61d27f6",
        "callGasLimit": "100000",
        "verificationGasLimit": "200000",
        "preVerificationGas": "50000",
        "maxFeePerGas": "20000000000",
        "maxPriorityFeePerGas": "1500000000",
    })
}

/// Sponsorship info that the default policy accepts.
pub(crate) fn sponsorship_info() -> Value {
    json!({ "webhookData": {}, "smartAccountInfo": { "name": "BICONOMY", "version": "2.0.0" } })
}

/// A request.
pub(crate) fn request(method: &str, operation: &Value, mode: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": [operation, mode] })
}

/// A `pm_getFeeQuoteOrData` request.
pub(crate) fn quote(mode: &Value) -> Value {
    request("pm_getFeeQuoteOrData", &operation(), mode)
}

/// A `pm_sponsorUserOperation` request.
pub(crate) fn sponsor(mode: &Value) -> Value {
    request("pm_sponsorUserOperation", &operation(), mode)
}

/// One valid request of each method and mode.
pub(crate) fn the_four_pairs() -> [Value; 4] {
    [
        quote(
            &json!({ "mode": "SPONSORED", "calculateGasLimits": true, "sponsorshipInfo": sponsorship_info() }),
        ),
        quote(
            &json!({ "mode": "ERC20", "tokenInfo": { "preferredToken": USDC, "tokenList": [DAI, UNKNOWN_TOKEN] } }),
        ),
        sponsor(&json!({
            "mode": "SPONSORED",
            "calculateGasLimits": true,
            "expiryDuration": 300,
            "sponsorshipInfo": sponsorship_info(),
        })),
        sponsor(
            &json!({ "mode": "ERC20", "calculateGasLimits": true, "tokenInfo": { "feeTokenAddress": USDC } }),
        ),
    ]
}

/// A service with the default configuration.
pub(crate) fn service() -> Service {
    Service::new(&Config::default()).expect("the default configuration is valid")
}

/// The response of `service` to the text; panics if there is none.
pub(crate) fn answer_with(service: &Service, text: &str) -> Value {
    let reply = service.handle_bytes(text.as_bytes(), NOW);
    let body = reply.body.expect("there is an answer");
    serde_json::from_slice(&body).expect("the answer is json")
}

/// The response of the default service to the request.
pub(crate) fn answer(request: &Value) -> Value {
    answer_with(&service(), &request.to_string())
}

/// The `result` in the response of the default service.
pub(crate) fn result(request: &Value) -> Value {
    let answer = answer(request);
    answer.get("result").cloned().unwrap_or_else(|| panic!("no result in {answer}"))
}

/// The error code in the response of the default service.
pub(crate) fn error_code(request: &Value) -> i64 {
    let answer = answer(request);
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error in {answer}"))
}

/// A server of its own on a free port, stopped when dropped.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(config: &Config) -> Self {
        Self::of(Service::new(config).expect("the configuration is valid"))
    }

    pub(crate) fn of(service: impl Respond) -> Self {
        let service = Arc::new(service);
        let (stop, stopped) = oneshot::channel();
        let (address_sender, address_receiver) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
                address_sender
                    .send(listener.local_addr().expect("a listener has an address"))
                    .expect("the test waits");
                run(listener, service, async {
                    let _ = stopped.await;
                })
                .await;
            });
        });
        Self {
            address: address_receiver.recv().expect("the server starts"),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Asks the server to stop, without waiting for it.
    pub(crate) fn ask_to_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Waits until the server has stopped.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server does not panic");
        }
    }

    pub(crate) fn connect(&self) -> Client {
        let stream = TcpStream::connect(self.address).expect("the server listens");
        stream.set_read_timeout(Some(READ_TIMEOUT)).expect("a timeout can be set");
        Client { stream, read: Vec::new() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ask_to_stop();
        // A second panic would hide that of a failed test.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A connection that sends and receives raw bytes.
pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

/// An HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The head in lower case, with its blank line.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is json")
    }
}

impl Client {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Sends bytes; false when the server has closed the connection.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).is_ok()
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) {
        self.send(post_bytes(path, body));
    }

    pub(crate) fn close_sending(&self) {
        // The server may have closed the connection already.
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next response; none when the connection was closed before it was whole.
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let head_end = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break end + 4;
            }
            if !self.read_more() {
                return None;
            }
        };
        let head = String::from_utf8_lossy(&self.read[..head_end]).to_lowercase();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().expect("a length is a number"));
        while self.read.len() < head_end + length {
            if !self.read_more() {
                return None;
            }
        }
        let rest = self.read.split_off(head_end + length);
        let body = self.read.split_off(head_end);
        self.read = rest;
        Some(Answer { status, head, body })
    }

    /// All bytes until the connection is closed or reset, and whether it was reset.
    pub(crate) fn read_to_end(mut self) -> (String, bool) {
        let mut buffer = [0; 4096];
        let reset = loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => break false,
                Ok(count) => self.read.extend_from_slice(&buffer[..count]),
                Err(error) => break error.kind() == std::io::ErrorKind::ConnectionReset,
            }
        };
        (String::from_utf8_lossy(&self.read).into_owned(), reset)
    }

    /// Whether the server closes the connection without further bytes.
    pub(crate) fn is_closed(&mut self) -> bool {
        self.read.is_empty() && !self.read_more()
    }

    /// Reads some bytes; false when the connection is closed or reset. Panics when neither happens in time.
    fn read_more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.read.extend_from_slice(&buffer[..count]);
                true
            }
            Err(error)
                if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) =>
            {
                panic!("the server neither answers nor closes")
            }
            Err(_) => false,
        }
    }
}

/// A whole POST request.
pub(crate) fn post_bytes(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window == pattern)
}
