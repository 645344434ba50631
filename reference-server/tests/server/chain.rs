//! With a chain configured, a sponsorship covers the nonce of the contract. A chain that does not answer causes an error that
//! names the reason.

use std::sync::Mutex;

use paymaster_reference_server::RpcUrl;

use crate::*;

/// A node that answers every request with `answer`, and the requests that it received.
struct Node {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Value>>>,
}

impl Node {
    fn start(answer: impl Fn(&Value) -> Option<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a well-formed request");
        let address = listener.local_addr().expect("a well-formed request");
        let received = Arc::new(Mutex::new(Vec::new()));
        let store = Arc::clone(&received);
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                let request = read_body(&stream);
                store.lock().expect("no test has panicked").push(request.clone());
                match answer(&request) {
                    Some(text) => reply(&stream, &text),
                    // The connection stays open without a response.
                    None => silent.push(stream),
                }
            }
        });
        Self { address, received }
    }

    /// A node whose contract returns the nonces of [`last_digit`].
    fn counting() -> Self {
        Self::start(|request| Some(last_digit(request)))
    }

    fn url(&self) -> RpcUrl {
        RpcUrl::new(format!("http://{}/v3/a-key", self.address))
    }

    fn received(&self) -> Vec<Value> {
        self.received.lock().expect("no test has panicked").clone()
    }
}

fn read_body(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a well-formed request");
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a well-formed request");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a well-formed request");
    serde_json::from_slice(&body).expect("a well-formed request")
}

fn reply(mut stream: &TcpStream, text: &str) {
    // The server may have closed the connection during a long response.
    let _ = write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len());
}

/// The nonce of a sender is the last digit of its address.
fn last_digit(request: &Value) -> String {
    let data = request["params"][0]["data"].as_str().expect("a well-formed request");
    let digit = data.chars().last().expect("a well-formed request");
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": format!("0x{}{digit}", "0".repeat(63)) })
        .to_string()
}

fn config(url: RpcUrl) -> Config {
    let mut config = Config::default();
    config.chain.rpc_url = url;
    config
}

fn ask(config: &Config, body: &Value) -> Value {
    let server = Server::start(config);
    let mut client = server.connect();
    client.post("/", &body.to_string());
    client.answer().expect("an answer").json()
}

fn sponsored() -> Value {
    sponsor(&json!({ "mode": "SPONSORED", "sponsorshipInfo": sponsorship_info() }))
}

fn of_sender(sender: &str) -> Value {
    let mut request = sponsored();
    request["params"][0]["sender"] = json!(sender);
    request
}

/// Senders whose nonces on the node's chain are 7 and 9.
const SEVEN: &str = "0x1306b01bC3e4AD202612D3843387e94737673F57";
const NINE: &str = "0x1306b01bC3e4AD202612D3843387e94737673F59";

#[test]
fn the_hash_covers_the_nonce_of_the_contract() {
    let node = Node::counting();
    let answer = ask(&config(node.url()), &of_sender(SEVEN));
    assert_eq!(recovered_sponsorship(SEVEN, 7, &answer), TEST_ACCOUNT);
    assert_ne!(recovered_sponsorship(SEVEN, 0, &answer), TEST_ACCOUNT);
    let [question] = &node.received()[..] else { panic!("{:?}", node.received()) };
    assert_eq!(question["method"], "eth_call");
    assert_eq!(question["params"][1], "latest");
    let to = question["params"][0]["to"].as_str().unwrap();
    assert!(to.eq_ignore_ascii_case(&SigningConfig::default().sponsorship_paymaster));
    // The first four bytes of keccak256("senderNonce(address)").
    let data = question["params"][0]["data"].as_str().unwrap();
    assert!(data.starts_with("0x9c90b443"), "{data}");
}

#[test]
fn each_sender_of_a_batch_is_looked_up_once() {
    let node = Node::counting();
    let batch = json!([of_sender(SEVEN), of_sender(NINE), of_sender(SEVEN)]);
    let answers = ask(&config(node.url()), &batch);
    for (index, (sender, nonce)) in [(SEVEN, 7), (NINE, 9), (SEVEN, 7)].into_iter().enumerate() {
        assert_eq!(recovered_sponsorship(sender, nonce, &answers[index]), TEST_ACCOUNT);
    }
    assert_eq!(node.received().len(), 2);
}

#[test]
fn nonces_are_looked_up_for_sponsorships_only() {
    let node = Node::counting();
    let config = config(node.url());
    let token = json!({ "mode": "ERC20", "tokenInfo": { "feeTokenAddress": USDC } });
    assert!(ask(&config, &sponsor(&token))["result"].is_object());
    let refused = of_sender(PolicyConfig::DENIED_SENDER);
    assert_eq!(ask(&config, &refused)["result"]["paymasterAndData"], "0x");
    assert_eq!(node.received(), Vec::<Value>::new());
    let quote = json!({ "mode": "SPONSORED", "sponsorshipInfo": sponsorship_info() });
    let quote = request("pm_getFeeQuoteOrData", &operation(), &quote);
    assert_ne!(ask(&config, &quote)["result"]["paymasterAndData"], "0x");
    assert_eq!(node.received().len(), 1);
}

#[test]
fn a_chain_that_does_not_answer_causes_an_error_with_the_reason() {
    // The socket is bound until the test ends and does not listen: connections are refused, and no server gets this port.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let refusing = RpcUrl::new(format!("http://{}/a-key", taken.local_addr().unwrap()));
    let answer_within = |node: &Node, timeout_ms: u64| {
        let mut config = config(node.url());
        config.chain.timeout_ms = timeout_ms;
        ask(&config, &sponsored())
    };
    let patient = 5_000;
    for (answer, word) in [
        (ask(&config(refusing), &sponsored()), "no connection"),
        (answer_within(&Node::start(|_| None), 100), "no answer within 100 ms"),
        (answer_within(&Node::start(|_| Some("x".repeat(100_000))), patient), "larger than 65536 bytes"),
        (answer_within(&Node::start(|_| Some("{".to_owned())), patient), "not that of a JSON-RPC node"),
        (
            answer_within(&Node::start(|_| Some(r#"{"id":1,"result":"0x"}"#.to_owned())), patient),
            "no VerifyingPaymaster is deployed",
        ),
    ] {
        let error = &answer["error"];
        assert_eq!(error["code"], -32003, "{answer}");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("chain not available: /params/0/sender could not be looked up"),
            "{message}"
        );
        assert!(message.contains(word) && !message.contains("a-key"), "{message}");
        assert!(answer.get("result").is_none());
    }
}

#[test]
fn handle_bytes_looks_nothing_up_and_signs_nothing() {
    let node = Node::counting();
    let service = Service::new(&config(node.url())).unwrap();
    let reply = service.handle_bytes(sponsored().to_string().as_bytes(), 0);
    let answer: Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
    assert_eq!(answer["error"]["code"], -32003, "{answer}");
    assert!(node.received().is_empty());
}

#[test]
fn a_faulty_server_looks_nonces_up_too() {
    let node = Node::counting();
    let fault = find_fault("mode-member-missing").unwrap();
    let server =
        Server::of(InjectedService::from(Service::new(&config(node.url())).unwrap()).with_faults([fault]));
    let mut client = server.connect();
    client.post("/", &of_sender(NINE).to_string());
    let answer = client.answer().expect("an answer").json();
    assert_eq!(recovered_sponsorship(NINE, 9, &answer), TEST_ACCOUNT);
}
