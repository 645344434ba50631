//! The request headers of published HTTP clients: they are sent as the table has them, and reports and replays keep them.

use paymaster_engine::cases::clients::{CLIENTS, client_of_group};

use crate::*;

/// The heads of all requests of a run.
fn heads(more: &[&str]) -> Vec<String> {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    let answer = http("200 OK", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#);
    let url = raw(move |mut stream| {
        while let Some(head) = request_head(&mut stream) {
            kept.lock().unwrap().push(head);
            write(&mut stream, answer.as_bytes());
        }
    });
    let small = [url.as_str(), "--cases=20", "--no-shrink"];
    alone(&[&small, more].concat());
    let heads = heads.lock().unwrap();
    heads.clone()
}

#[test]
fn the_headers_of_every_client_are_sent_as_they_are() {
    let heads = heads(&[]);
    let mut plain = heads.len();
    for client in &*CLIENTS {
        let has = |head: &&String| {
            let all = client.lines.iter();
            let mut all = all.map(|(name, value)| format!("\r\n{}: {value}\r\n", client.written(name)));
            // Beside them: the request line, host, content-length unless the body is empty, and the empty line.
            let (lines, own) = (head.matches("\r\n").count(), client.lines.len());
            all.all(|line| head.contains(&line)) && (own + 3..=own + 4).contains(&lines)
        };
        let times = heads.iter().filter(has).count();
        assert!(times > 0, "{} in none of {} requests", client.name, heads.len());
        plain -= times;
    }
    let tool = |head: &&String| head.contains("\r\nuser-agent: paymaster-conformance/");
    assert_eq!(heads.iter().filter(tool).count(), plain);
    assert!(plain > heads.len() / 2, "{plain} of {}", heads.len());
}

#[test]
fn the_headers_of_the_user_take_precedence() {
    let heads = heads(&["-H", "User-Agent: mine", "-H", "origin: https://a.test"]);
    for head in heads.iter().map(|head| head.to_ascii_lowercase()) {
        assert_eq!(head.matches("user-agent:").count(), 1, "{head}");
        has(&head, &["\r\nuser-agent: mine\r\n", "\r\norigin: https://a.test\r\n"]);
        lacks(&head, &["wallet.example\r\nsec"]);
    }
    assert!(heads.iter().any(|head| head.contains("sec-fetch-site: cross-site")));
}

#[test]
fn a_client_whose_headers_are_refused_is_named_and_a_replay_sends_its_headers() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("p.toml"), own_profile()).unwrap();
    let server = Injected::fault("charset-refused");
    let (code, out, err) = run(
        &folder,
        &words(&format!(
            "{} --config=p.toml --cases=12 --allow-incomplete -v --report=json=r.json --report=har=r.har",
            server.url
        )),
    );
    assert_eq!(code, 0, "a warning: {out}{err}");
    assert!(out.contains("WARNING 1  ") && out.contains("breaks     request.headers"), "{out}");
    assert!(out.contains("the headers of retrofit"), "{out}");
    assert!(out.contains("-H 'content-type: application/json; charset=UTF-8'"), "{out}");
    let read = |name| {
        let text = text_of(&folder, name);
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let report = read("r.json");
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "request.headers", "{finding}");
    assert_eq!(finding["requests"][0].get("client"), None);
    assert_eq!(finding["requests"][1]["client"], "retrofit");
    let charset = r#"{"name":"content-type","value":"application/json; charset=UTF-8"}"#;
    assert!(finding["requests"][1]["headers"].to_string().contains(charset));
    let refused = &report["observations"]["behaviour.refused-headers"];
    assert!(refused["web3j: HTTP 415"].as_u64() > Some(1), "{refused}");
    let entries = read("r.har")["log"]["entries"].take();
    assert!(entries[1]["request"]["headers"].to_string().contains(charset));
    let file = "paymaster-replays/request.headers-1.json";
    let (out, _) = ends(1, run(&folder, &["replay", file, &server.url]));
    assert!(out.starts_with("STILL THERE"), "{out}");
    let sound = Injected::variant("gzip-unless-refused");
    ends(0, run(&folder, &["replay", file, &sound.url]));
}

#[test]
fn how_a_client_writes_the_names_of_its_headers_may_decide() {
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"MODE":"SPONSORED","mode":"SPONSORED","paymasterAndData":"0x"}}"#;
    let url = raw(move |mut stream| {
        while let Some(head) = request_head(&mut stream) {
            // As in a raw list of headers, whose names are looked up in lower case alone.
            let (status, body) = if head.contains("\r\ncontent-type: ") {
                ("200 OK", result)
            } else {
                ("415 Unsupported", "")
            };
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            write(&mut stream, answer.as_bytes());
        }
    });
    let (_, out, err) = alone(&[url.as_str(), "--rule=request.headers", "--allow-incomplete", "-v"]);
    let words = flat(&out);
    assert!(words.contains("with the request headers of ethers, as it writes them"), "{out}{err}");
}

#[test]
fn shrinking_tries_the_plain_headers_first() {
    let folder = tempdir().unwrap();
    let server = Server::nulling(&["callGasLimit"]);
    // The first group of the plan breaks the rule; with this seed it has the headers of a client.
    let seed = (1..100).find(|seed| client_of_group(*seed, 0).is_some()).unwrap();
    let (url, seed) = (server.url(), format!("--seed={seed}"));
    for (more, has_client) in [("--no-shrink", true), ("--shrink-requests=1", false)] {
        let line = format!("{url} {seed} {more} --cases=4 --rule=sponsored-result.callGasLimit -o r.json");
        ends(1, run(&folder, &words(&line)));
        let report = json_of(&folder, "r.json");
        let client = report["findings"][0]["requests"][0].get("client");
        assert_eq!(client.is_some(), has_client, "{more}: {client:?}");
    }
}

/// The reference server behind one that knows content-length alone: it takes chunks for its next request, and answers that too.
fn ignores_chunks(sound: &Injected) -> String {
    let address = sound.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    raw(move |mut stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                if reader.read_line(&mut head).unwrap_or_default() == 0 {
                    return;
                }
            }
            let head = head.to_ascii_lowercase();
            let mut lines = head.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            let mut body = vec![0; length.parse().unwrap()];
            let mut upstream = TcpStream::connect(&address).unwrap();
            let (mut answer, own) = (String::new(), "POST / HTTP/1.1\r\nhost: a\r\nconnection: close");
            if reader.read_exact(&mut body).is_err()
                || write!(
                    upstream,
                    "{own}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
                )
                .is_err()
                || upstream.write_all(&body).is_err()
                || upstream.read_to_string(&mut answer).is_err()
            {
                return;
            }
            let (_, body) = answer.split_once("\r\n\r\n").unwrap();
            write(&mut stream, http("200 OK", body).as_bytes());
        }
    })
}

#[test]
fn a_server_that_reads_no_chunks_is_told_of_chunks_and_of_nothing_else() {
    let sound = Injected::sound();
    let rules = ["request.headers", "answer.http-message", "sponsor.sponsored-result"]
        .map(|rule| format!("--rule={rule}"));
    let url = ignores_chunks(&sound);
    let arguments =
        [&[url.as_str(), "--allow-incomplete"][..], &rules.each_ref().map(String::as_str)[..]].concat();
    let (out, _) = ends(0, alone(&arguments));
    assert!(out.contains("WARNING 1  requests with the request header transfer-encoding: chunked"), "{out}");
    assert!(!out.contains("WARNING 2") && !out.contains("DEFECT"), "{out}");
}
