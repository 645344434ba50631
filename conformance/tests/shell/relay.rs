//! `proxy`: what passes through is unchanged, judged, and reported at the end.

use std::process::{Child, Command};

use crate::*;

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"pm_sponsorUserOperation","params":[{"sender":"0x00000000000000000000000000000000000000a1","nonce":"0x1","initCode":"0x","callData":"0x","callGasLimit":"1","verificationGasLimit":"1","preVerificationGas":"1","maxFeePerGas":"0x1","maxPriorityFeePerGas":"0x1"},{"mode":"SPONSORED","sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}]}"#;

/// A running proxy.
struct Proxy {
    child: Child,
    address: String,
    told: BufReader<std::process::ChildStderr>,
}

impl Proxy {
    fn start(folder: &Path, upstream: &str, more: &[&str]) -> Self {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("paymaster-conformance"))
            .current_dir(folder)
            .env_clear()
            .args(["proxy", "--listen", "127.0.0.1:0", "--upstream", upstream])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        told.read_line(&mut first).unwrap();
        let address = first
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split('/').next())
            .unwrap_or_else(|| panic!("{first}"))
            .to_owned();
        Self { child, address, told }
    }

    /// Sends a request and reads the whole answer: head and body.
    fn ask(&self, head: &str, body: &str) -> (String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{head}\r\nhost: wallet\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), body.to_owned())
    }

    fn call(&self) -> (String, String) {
        self.ask("POST / HTTP/1.1\r\ncontent-type: application/json", CALL)
    }

    /// Ends it as Ctrl-C does: exit code, standard output, the rest of standard error.
    fn end(mut self) -> (i32, String, String) {
        let id = self.child.id().to_string();
        let interrupted = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(interrupted.success());
        let (mut out, mut err) = (String::new(), String::new());
        let mut stdout = self.child.stdout.take().unwrap();
        stdout.read_to_string(&mut out).unwrap();
        self.told.read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code().unwrap(), out, err)
    }
}

#[test]
fn violations_are_told_once_as_they_pass_and_counted_at_the_end() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| answer["id"] = Value::from("seven"));
    let upstream = format!("{}api/upstream-key-1", server.url());
    let proxy =
        Proxy::start(folder.path(), &upstream, &["--report", "har-all=w.har", "--report", "json=r.json"]);
    for _ in 0..3 {
        let (head, body) = proxy.call();
        assert!(head.starts_with("http/1.1 200 ok"), "{head}");
        assert!(body.contains(r#""id":"seven""#), "{body}");
    }
    let (code, out, err) = proxy.end();
    assert_eq!(code, 1, "{out}{err}");
    assert_eq!(err.matches("FAILED answer.id").count(), 1, "{err}");
    assert!(err.contains("expected 7, got \"seven\""), "{err}");
    has(&out, &["3 recorded exchanges", "3 times in the run"]);
    for text in [&out, &err] {
        assert!(!text.contains("upstream-key-1"), "{text}");
    }
    let report = text_of(&folder, "r.json");
    assert!(!report.contains("upstream-key-1"), "{report}");
    // What passed is a recording too.
    let (out, _) = ends(1, run(&folder, &["judge", "w.har"]));
    assert!(out.contains("3 recorded exchanges"), "{out}");
}

#[test]
fn calls_of_the_other_specification_are_recorded_for_it() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, _| ());
    let proxy =
        Proxy::start(folder.path(), &server.url(), &["--report", "har-all=w.har", "--spec", "fee-quote"]);
    proxy.call();
    let stub = r#"{"jsonrpc":"2.0","id":1,"method":"pm_getPaymasterStubData","params":[{},"0x","0x1",{}]}"#;
    for body in [stub, stub, r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#] {
        proxy.ask("POST / HTTP/1.1\r\ncontent-type: application/json", body);
    }
    let (_, out, err) = proxy.end();
    let others = "a call of another specification: --spec judges those";
    assert!(out.contains("1 recorded exchange\n"), "{out}{err}");
    has(&flat(&out), &[&format!("left out: 2 exchanges: {others}")]);
    // Without --spec, a recording is judged by the specification that most of its calls are of.
    for (spec, name, judged, left_out) in [
        (&["--spec", "erc-7677"][..], "erc-7677", "2 recorded exchanges", "1 exchange"),
        (&[], "erc-7677", "2 recorded exchanges", "1 exchange"),
        (&["--spec", "fee-quote"], "fee-quote", "1 recorded exchange", "2 exchanges"),
    ] {
        let mut command = binary(&folder);
        command.env_remove("PAYMASTER_SPEC").args(["judge", "w.har", "-v"]).args(spec);
        let (_, out, err) = finish(&mut command);
        assert!(out.contains(&format!("{judged}\n")) && !out.contains("eth_chainId"), "{out}{err}");
        let others = format!("left out: {left_out}: {others}");
        has(&flat(&out), &[&format!("judged by {name}: "), &others]);
    }
}

#[test]
fn traffic_passes_unchanged() {
    let folder = tempdir().unwrap();
    // The wallet sends its own headers; those of the profile are for requests of ours.
    fs::write(
        folder.path().join("paymaster.toml"),
        "[target]\nheaders = [\"x-of-profile: k3y-of-the-profile\"]\n",
    )
    .unwrap();
    let (sender, seen) = mpsc::channel();
    let upstream = raw(move |mut stream| {
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        // A request without a body ends with its head; the others end with their body's last letter.
        while !(bytes.ends_with(b"\r\n\r\n") || bytes.ends_with(b"!")) {
            match stream.read(&mut buffer) {
                Ok(read) if read > 0 => bytes.extend_from_slice(&buffer[..read]),
                _ => return,
            }
        }
        sender.send(String::from_utf8(bytes).unwrap()).unwrap();
        write(
            &mut stream,
            b"HTTP/1.1 207 Odd\r\nX-Own: yes\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\
              Transfer-Encoding: chunked\r\n\r\n3\r\n{ }\r\n0\r\n\r\n",
        );
    });
    let proxy = Proxy::start(folder.path(), &format!("{upstream}base?k=v"), &[]);
    let (head, body) = proxy.ask(
        "PUT /some/path?a=b HTTP/1.1\r\nX-Api-Key: k\r\nAccept-Encoding: br\r\nOrigin: http://page",
        "two words!",
    );
    let sent = seen.recv().unwrap();
    assert!(sent.starts_with("PUT /base/some/path?k=v&a=b HTTP/1.1\r\n"), "{sent}");
    assert!(sent.ends_with("\r\n\r\ntwo words!"), "{sent}");
    let lower = sent.to_ascii_lowercase();
    assert!(lower.contains("x-api-key: k\r\n") && lower.contains("origin: http://page\r\n"), "{sent}");
    assert!(
        !lower.contains("accept-encoding")
            && !lower.contains("host: wallet")
            && !lower.contains("x-of-profile"),
        "{sent}"
    );
    assert!(head.starts_with("http/1.1 207"), "{head}");
    has(&head, &["set-cookie: a=1", "set-cookie: b=2", "x-own: yes"]);
    lacks(&head, &["x-hop"]);
    assert_eq!(body, "{ }");
    // A preflight request is passed on like any other.
    proxy.ask("OPTIONS / HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\nOrigin: http://page", "");
    let sent = seen.recv().unwrap();
    assert!(sent.starts_with("OPTIONS /base?k=v HTTP/1.1\r\n"), "{sent}");
    let (code, out, err) = proxy.end();
    assert_eq!(code, 3, "nothing was there to judge: {out}{err}");
    assert!(out.contains("left out: 2 exchanges: not a POST request"), "{out}");
}

#[test]
fn an_upstream_may_speak_tls_and_http_2() {
    let folder = tempdir().unwrap();
    let ca = certificate("test-ca");
    for (offered, version) in [("h2", Version::HTTP_2), ("http/1.1", Version::HTTP_11)] {
        let server = Secure::new("sound", &[offered]);
        let proxy = Proxy::start(folder.path(), &server.url("localhost"), &["--cacert", &ca]);
        let (head, body) = proxy.call();
        assert!(head.starts_with("http/1.1 200"), "{offered}: {head}");
        assert!(body.contains("paymasterAndData"), "{body}");
        assert_eq!(server.seen(), [(version, format!("localhost:{}", server.port()))], "{offered}");
        let (code, out, err) = proxy.end();
        assert_eq!(code, 4, "one exchange shows too little: {out}{err}");
        // Who is not trusted is not asked.
        let proxy = Proxy::start(folder.path(), &server.url("localhost"), &[]);
        let (head, body) = proxy.call();
        assert!(head.starts_with("http/1.1 502"), "{offered}: {head}");
        assert!(body.contains("unknown issuer"), "{body}");
        assert_eq!(server.seen().len(), 1);
        proxy.end();
    }
}

#[test]
fn an_upstream_that_is_not_there_is_told_and_not_judged() {
    let folder = tempdir().unwrap();
    let proxy = Proxy::start(folder.path(), &unreachable_url(), &[]);
    let (head, body) = proxy.call();
    assert!(head.starts_with("http/1.1 502"), "{head}");
    assert!(head.contains("x-paymaster-conformance-proxy:"), "{head}");
    let error: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(error["id"], 7);
    assert!(error["error"]["message"].as_str().unwrap().contains("no connection"), "{error}");
    let (code, out, err) = proxy.end();
    assert_eq!(code, 3, "{out}{err}");
    assert!(out.contains("left out: 1 exchange: the upstream was not reached"), "{out}");
    assert!(!err.contains("FAILED"), "{err}");
}

#[test]
fn an_upstream_that_breaks_off_has_broken_a_rule() {
    let folder = tempdir().unwrap();
    let upstream = raw(|mut stream| {
        read_request(&mut stream);
        write(&mut stream, b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"json");
    });
    let proxy = Proxy::start(folder.path(), &upstream, &[]);
    let (head, _) = proxy.call();
    assert!(head.starts_with("http/1.1 502"), "{head}");
    let (code, out, err) = proxy.end();
    assert_eq!(code, 1, "{out}{err}");
    assert!(err.contains("FAILED answer.http-message"), "{err}");
}

#[test]
fn what_it_cannot_do_it_says_at_once() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (arguments, words) in [
        (vec!["proxy"], "give --upstream URL"),
        (vec!["proxy", "--upstream", "h/key-to-hide"], "--upstream: the URL has no scheme"),
        (
            vec!["proxy", "--upstream", "http://127.0.0.1:1/", "--listen", &address],
            "give another address with --listen",
        ),
    ] {
        let (_, err) = ends(2, alone(&arguments));
        assert!(err.contains(words) && !err.contains("key-to-hide"), "{err}");
    }
}

/// The headers and the path with which a wallet sends every canary.
fn canaries_of_a_wallet() -> (String, Vec<(&'static str, String)>) {
    use secrets::{COOKIE, ENVIRONMENT, HEADER, PATH, PROXY, QUERY, WORD};
    let headers = vec![
        ("x-key", HEADER.to_owned()),
        ("cookie", format!("session={COOKIE}; theme=dark")),
        ("x-env", format!("Bearer {ENVIRONMENT}")),
        ("x-other", PROXY.to_owned()),
        ("authorization", "Basic OmNhbmFyeS1iYXNpYy1NbjExMjIz".to_owned()),
    ];
    (format!("/api/v2/{PATH}/{WORD}?chain=137&apikey={QUERY}"), headers)
}

#[test]
fn no_artefact_has_a_secret_of_the_wallet_that_the_target_echoes() {
    let folder = tempdir().unwrap();
    let server = secrets::echoing();
    let options = secrets::formats();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let proxy = Proxy::start(folder.path(), &server.url(), &options);
    let (path, headers) = canaries_of_a_wallet();
    let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let lines = lines.join("\r\n");
    for _ in 0..14 {
        proxy.ask(&format!("POST {path} HTTP/1.1\r\ncontent-type: application/json\r\n{lines}"), CALL);
    }
    let (code, out, err) = proxy.end();
    assert_eq!(code, 1, "{out}{err}");
    secrets::search(&secrets::artefacts(folder.path(), (out, err)));
}

#[test]
fn no_artefact_has_a_secret_of_a_recording_that_its_answers_echo() {
    let folder = tempdir().unwrap();
    let (path, headers) = canaries_of_a_wallet();
    let headers: Vec<Value> =
        headers.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let echo = secrets::canaries().join(" ");
    let answers = [
        json!({"jsonrpc": "2.0", "id": 7, "error": {"code": "c", "message": echo}}),
        json!({"jsonrpc": "2.0", "id": echo, "result": {"paymasterAndData": echo}}),
    ];
    let entries = answers.iter().map(|answer| json!({
        "request": {
            "method": "POST", "url": format!("https://paymaster.example{path}"),
            "headers": headers, "postData": {"text": CALL},
        },
        "response": {"status": 200, "headers": [{"name": "location", "value": path}], "content": {"text": answer.to_string()}},
    }));
    let har = json!({"log": {"version": "1.2", "entries": entries.collect::<Vec<_>>()}});
    let input = tempdir().unwrap();
    let file = input.path().join("w.har");
    fs::write(&file, har.to_string()).unwrap();
    let options = secrets::formats();
    let mut arguments = vec!["judge", file.to_str().unwrap()];
    arguments.extend(options.iter().map(String::as_str));
    let (out, err) = ends(1, run(&folder, &arguments));
    secrets::search(&secrets::artefacts(folder.path(), (out, err)));
}
