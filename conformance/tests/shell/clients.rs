//! The request headers of published HTTP clients: they are sent as the table has them, and reports and replays keep them.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
};

use paymaster_engine::cases::clients::{CLIENTS, client_of_group};
use paymaster_reference_server::{Config, to_profile};
use serde_json::Value;
use tempfile::tempdir;

use crate::{
    run,
    server::{Injected, Server, raw, request_head, write},
};

/// The heads of all requests of a run.
fn heads(more: &[&str]) -> Vec<String> {
    let folder = tempdir().unwrap();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let url = raw(move |mut stream| {
        while let Some(head) = request_head(&mut stream) {
            kept.lock().unwrap().push(head);
            write(&mut stream, answer.as_bytes());
        }
    });
    let small = [url.as_str(), "--cases=20", "--no-shrink"];
    run(folder.path(), &[&small, more].concat());
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
        assert!(head.contains("\r\nuser-agent: mine\r\n"), "{head}");
        assert!(head.contains("\r\norigin: https://a.test\r\n"), "{head}");
        assert!(!head.contains("wallet.example\r\nsec"), "{head}");
    }
    assert!(heads.iter().any(|head| head.contains("sec-fetch-site: cross-site")));
}

#[test]
fn a_client_whose_headers_are_refused_is_named_and_a_replay_sends_its_headers() {
    let folder = tempdir().unwrap();
    let profile = to_profile("fee-quote", &Config::default(), &[]).unwrap();
    fs::write(folder.path().join("p.toml"), profile).unwrap();
    let server = Injected::fault("charset-refused");
    let (code, out, err) = run(
        folder.path(),
        &[
            &server.url,
            "--config=p.toml",
            "--cases=12",
            "--allow-incomplete",
            "-v",
            "--report=json=r.json",
            "--report=har=r.har",
        ],
    );
    assert_eq!(code, 0, "a warning: {out}{err}");
    assert!(out.contains("WARNING 1  ") && out.contains("breaks     request.headers"), "{out}");
    assert!(out.contains("the headers of retrofit"), "{out}");
    assert!(out.contains("-H 'content-type: application/json; charset=UTF-8'"), "{out}");
    let read = |name| {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
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
    let (code, out, err) = run(folder.path(), &["replay", file, &server.url]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.starts_with("STILL THERE"), "{out}");
    let sound = Injected::variant("gzip-unless-refused");
    let (code, out, err) = run(folder.path(), &["replay", file, &sound.url]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn how_a_client_writes_the_names_of_its_headers_may_decide() {
    let folder = tempdir().unwrap();
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
    let (_, out, err) = run(folder.path(), &[url.as_str(), "--rule=request.headers", "--allow-incomplete"]);
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("with the request headers of ethers, as it writes them"), "{out}{err}");
}

#[test]
fn shrinking_tries_the_plain_headers_first() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| {
        if answer.pointer("/result/callGasLimit").is_some() {
            answer["result"]["callGasLimit"] = Value::Null;
        }
    });
    // The first group of the plan breaks the rule; with this seed it has the headers of a client.
    let seed = (1..100).find(|seed| client_of_group(*seed, 0).is_some()).unwrap();
    let (url, seed) = (server.url(), format!("--seed={seed}"));
    for (more, has_client) in [("--no-shrink", true), ("--shrink-requests=1", false)] {
        let arguments = [
            url.as_str(),
            &seed,
            more,
            "--cases=4",
            "--rule=sponsored-result.callGasLimit",
            "--report=json=r.json",
        ];
        let (code, out, err) = run(folder.path(), &arguments);
        assert_eq!(code, 1, "{out}{err}");
        let report = fs::read_to_string(folder.path().join("r.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
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
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length";
            write(&mut stream, format!("{head}: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    })
}

#[test]
fn a_server_that_reads_no_chunks_is_told_of_chunks_and_of_nothing_else() {
    let folder = tempdir().unwrap();
    let sound = Injected::sound();
    let rules = ["request.headers", "answer.http-message", "sponsor.sponsored-result"]
        .map(|rule| format!("--rule={rule}"));
    let url = ignores_chunks(&sound);
    let arguments =
        [&[url.as_str(), "--allow-incomplete"][..], &rules.each_ref().map(String::as_str)[..]].concat();
    let (code, out, err) = run(folder.path(), &arguments);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("WARNING 1  requests with the request header transfer-encoding: chunked"), "{out}");
    assert!(!out.contains("WARNING 2") && !out.contains("DEFECT"), "{out}");
}
