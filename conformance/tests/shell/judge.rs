//! Recorded traffic: what is read, what is said of it, what is left out.

use crate::*;

const RULE: &str = "sponsored-result.callGasLimit";

fn request() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 7, "method": "pm_sponsorUserOperation",
        "params": [
            {
                "sender": "0x00000000000000000000000000000000000000a1", "nonce": "0x1", "initCode": "0x", "callData": "0x",
                "maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x1", "signature": "0x", "paymasterAndData": "0x",
            },
            {"mode": "SPONSORED", "sponsorshipInfo": {}},
        ],
    })
}

/// One exchange whose answer echoes a wrong id.
fn entry(url: &str) -> Value {
    let result = json!({
        "MODE": "SPONSORED", "mode": "SPONSORED", "paymasterAndData": "0x", "preVerificationGas": "1", "verificationGasLimit": 1,
        "callGasLimit": 1,
    });
    let answer = json!({"jsonrpc": "2.0", "id": 8, "result": result, "note": "k3y-of-the-wallet"});
    json!({
        "request": {
            "method": "POST", "url": url,
            "headers": [{"name": "X-Api-Key", "value": "k3y-of-the-wallet"}],
            "postData": {"mimeType": "application/json", "text": request().to_string()},
        },
        "response": {
            "status": 200, "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"size": 1, "text": answer.to_string()},
        },
    })
}

fn har(entries: &[Value]) -> String {
    json!({"log": {"version": "1.2", "entries": entries}}).to_string()
}

#[test]
fn what_a_check_recorded_is_judged_again_with_the_same_verdict() {
    let folder = tempdir().unwrap();
    let server = Server::with_gas_in_words();
    let line = format!(
        "{} --cases 6 --rule {RULE} --report har-all=all.har --report ndjson-all=all.ndjson",
        server.url()
    );
    ends(1, run(&folder, &words(&line)));
    let sent = server.requests();
    for file in ["all.har", "all.ndjson"] {
        let (out, _) = ends(1, run(&folder, &["judge", file, "--report", "json=report.json"]));
        has(&out, &[&format!("breaks     {RULE}"), "recorded, not sent again"]);
        let report = json_of(&folder, "report.json");
        is_valid(&report);
        let judged = report["recorded"]["exchanges"].as_u64().unwrap();
        assert!(judged > 20, "{judged}");
        assert_eq!(report["target"], server.url());
    }
    assert_eq!(server.requests(), sent, "judging sends nothing");
    // What was found can be sent again.
    let replays = fs::read_dir(folder.path().join("paymaster-replays")).unwrap();
    let replay = replays.map(|file| file.unwrap().path()).next().unwrap();
    let (out, _) = ends(1, run(&folder, &["replay", &replay.display().to_string(), &server.url()]));
    assert!(out.starts_with("STILL THERE"), "{out}");
}

/// An exchange with this id and nonce. The answer to nonce 0 has two members of another type.
fn with_nonce(id: u64, nonce: &str) -> Value {
    let url = "https://paymaster.example/rpc";
    let mut sent = request();
    sent["id"] = id.into();
    sent["params"][0]["nonce"] = nonce.into();
    let gas = if nonce == "0x0" { json!("1") } else { json!(1) };
    let result = json!({
        "MODE": "SPONSORED", "mode": "SPONSORED", "paymasterAndData": "0x", "preVerificationGas": "1",
        "verificationGasLimit": gas, "callGasLimit": gas,
    });
    let mut recorded = entry(url);
    recorded["request"]["postData"]["text"] = sent.to_string().into();
    recorded["response"]["content"]["text"] =
        json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into();
    recorded
}

/// Nothing can be sent again: the cause is what differs from the nearest recorded request that passed, and the report says so.
#[test]
fn a_recorded_failure_is_compared_with_the_nearest_request_that_passed() {
    let folder = tempdir().unwrap();
    let mut far = with_nonce(5, "0x7");
    let text = far["request"]["postData"]["text"].as_str().unwrap();
    far["request"]["postData"]["text"] = text.replace("\"callData\":\"0x\"", "\"callData\":\"0x12\"").into();
    let entries = [far, with_nonce(6, "0x1"), with_nonce(7, "0x0"), with_nonce(8, "0x0")];
    fs::write(folder.path().join("w.har"), har(&entries)).unwrap();
    let arguments = ["judge", "w.har", "--report", "json=r.json"];
    let (out, _) = ends(1, run(&folder, &arguments));
    let text = flat(&out);
    assert!(
        text.contains(
            "cause differs from the nearest recorded request that passed, entry 2, in nonce (\"0x0\", there \"0x1\"), \
             a value that no request that passed has; nothing was sent again"
        ),
        "{out}"
    );
    assert!(text.contains("right entry 2: HTTP 200"), "{out}");
    let report = json_of(&folder, "r.json");
    let defects = report["defects"].as_array().unwrap();
    assert_eq!(defects.len(), 1, "{out}");
    assert_eq!(defects[0]["rules"].as_array().unwrap().len(), 2, "{out}");
    assert_eq!(defects[0]["cause"]["kind"], "recorded-difference");
    assert_eq!(defects[0]["cause"]["members"][0]["pointer"], "/params/0/nonce");

    // Without a request that passed, every recorded answer is wrong.
    fs::write(folder.path().join("w.har"), har(&entries[2..])).unwrap();
    let (_, out, _) = run(&folder, &arguments);
    has(&flat(&out), &["cause every answer of pm_sponsorUserOperation in mode SPONSORED"]);
}

#[test]
fn a_browsers_recording_is_judged_and_tells_no_secret() {
    let folder = tempdir().unwrap();
    let url = "https://paymaster.example/api/s3cret-segment";
    let mut other = entry(url);
    other["request"]["postData"]["text"] = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#.into();
    let mut preflight = entry(url);
    preflight["request"]["method"] = "OPTIONS".into();
    fs::write(folder.path().join("w.har"), har(&[preflight, entry(url), other])).unwrap();
    let (out, _) = ends(1, run(&folder, &["judge", "w.har"]));
    assert!(out.contains("https://paymaster.example/***"), "{out}");
    assert!(out.contains("1 recorded exchange\n"), "{out}");
    assert!(out.contains("left out: 1 exchange: not a POST request"), "{out}");
    assert!(out.contains("left out: 1 exchange: no call of a method of a specification"), "{out}");
    assert!(out.contains("recorded   entry 2"), "{out}");
    for secret in ["s3cret-segment", "k3y-of-the-wallet"] {
        assert!(!out.contains(secret), "{secret}: {out}");
    }
    // One exchange shows too little for a pass.
    ends(4, run(&folder, &["judge", "w.har", "--rule", "answer.jsonrpc"]));
    ends(0, run(&folder, &["judge", "w.har", "--rule", "answer.jsonrpc", "--allow-incomplete"]));
}

#[test]
fn one_endpoint_is_judged_at_a_time() {
    let folder = tempdir().unwrap();
    let (one, two) = ("https://h/key-number-one", "https://h/key-number-two");
    let text = har(&[entry(one), entry(two), entry(two)]);
    let judge = |more: &[&str]| {
        let mut command = binary(&folder);
        command.args(["judge", "-"]).args(more).write_stdin(text.clone());
        finish(&mut command)
    };
    let (_, err) = ends(2, judge(&[]));
    assert!(err.contains("choose one with --endpoint"), "{err}");
    assert!(
        err.contains("1  https://h/***  1 exchange\n") && err.contains("2  https://h/***  2 exchanges"),
        "{err}"
    );
    for choice in ["2", "number-two"] {
        let (out, _) = ends(1, judge(&["--endpoint", choice]));
        has(&out, &["2 recorded exchanges", "left out: 1 exchange: a call to another endpoint"]);
    }
    let (_, err) = ends(2, judge(&["--endpoint", "3"]));
    assert!(err.contains("no endpoint has this number"), "{err}");
}

#[test]
fn lines_without_headers_say_nothing_of_headers() {
    let folder = tempdir().unwrap();
    let line = json!({
        "request": {"body": request()},
        "response": {"status": 200, "body": {"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}}},
    });
    fs::write(folder.path().join("t.ndjson"), format!("{line}\n")).unwrap();
    let (code, out, err) = run(&folder, &["judge", "t.ndjson", "--rule", "http.content-type", "--strict"]);
    assert_eq!(code, 4, "an error is no result: {out}{err}");
    assert!(out.contains("http.content-type 0/10"), "{out}");
}

#[test]
fn what_is_no_recording_is_refused_with_its_place() {
    let folder = tempdir().unwrap();
    for (text, words) in [
        ("", "the recording is empty"),
        ("no json", "line 1: not an exchange"),
        ("{\"log\": {\"entries\": [{}]}}", "entry 1: log.entries[0]"),
        ("{\"format\": \"paymaster-replay/v1\"}", "line 1: not an exchange"),
    ] {
        fs::write(folder.path().join("r"), text).unwrap();
        let (code, _, err) = run(&folder, &["judge", "r"]);
        assert_eq!(code, 2, "{text}");
        assert!(err.starts_with("error: r: "), "{err}");
        assert!(err.contains(words), "{err}");
    }
    fs::write(folder.path().join("r"), [0xff, 0xfe]).unwrap();
    let (_, _, err) = run(&folder, &["judge", "r"]);
    assert!(err.contains("not UTF-8 from byte 0 on"), "{err}");
    let (_, err) = ends(2, run(&folder, &["judge", "gone.har"]));
    assert!(err.starts_with("error: gone.har: "), "{err}");
    fs::write(folder.path().join("r"), har(&[])).unwrap();
    let (out, _) = ends(3, run(&folder, &["judge", "r"]));
    assert!(out.contains("there was no exchange to judge"), "{out}");
}
