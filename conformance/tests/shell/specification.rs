//! `--spec`, `spec` in the configuration file, and the specification in what a run writes.

use crate::*;

#[test]
fn a_specification_is_chosen_by_its_name() {
    let folder = tempdir().unwrap();
    let file = |spec: &str| fs::write(folder.path().join("p.toml"), format!("spec = {spec:?}\n")).unwrap();
    file("fee-quote");
    for arguments in [&["--dry-run", "--spec", "fee-quote"][..], &["--dry-run", "--config", "p.toml"]] {
        let (code, out, err) = run(&folder, arguments);
        assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    }
    let (code, _, err) = run(&folder, &["--dry-run", "--spec", "fee-quotes"]);
    assert_eq!((code, err.contains("(did you mean `fee-quote`?)")), (2, true), "{err}");
    file("other");
    let (_, err) = ends(2, run(&folder, &["--dry-run", "--config", "p.toml"]));
    assert!(err.contains("p.toml: line 1, column 8: there is no specification `other`"), "{err}");
}

#[test]
fn what_is_of_another_specification_is_refused() {
    let folder = tempdir().unwrap();
    let server = Server::nulling(&["feeQuotes"]);
    let arguments = [&server.url(), "--cases", "4", "--rule", "quote-result.*", "--report", "json=own.json"];
    ends(1, run(&folder, &arguments));
    let read = |name: &str| -> Value { serde_json::from_str(&text_of(&folder, name)).unwrap() };
    let written = |name: &str, value: &Value| fs::write(folder.path().join(name), value.to_string()).unwrap();
    let mut report = read("own.json");
    assert_eq!(report["specification"]["name"], "fee-quote");
    report["specification"]["name"] = json!("other");
    written("other.json", &report);
    for arguments in
        [&["compare", "own.json", "other.json"][..], &["matrix", "own.json", "other.json", "-o", "m.html"]]
    {
        let (_, err) = ends(2, run(&folder, arguments));
        assert!(err.contains("one report is about fee-quote, another about other"), "{err}");
    }

    let replay = "paymaster-replays/quote-result.feeQuotes-1.json";
    let mut finding = read(replay);
    assert_eq!(finding["spec"], "fee-quote");
    finding["spec"] = json!("other");
    written("other.json", &finding);
    let (code, _, err) = run(&folder, &["replay", "other.json", &server.url()]);
    assert_eq!((code, err.contains("there is no specification `other`")), (2, true), "{err}");
}

#[test]
fn a_target_is_asked_which_specification_it_serves_and_the_requests_count() {
    let folder = tempdir().unwrap();
    let asked = |server: &Server, arguments: &[&str]| {
        let mut command = binary(&folder);
        finish(command.env_remove("PAYMASTER_SPEC").args([&[&*server.url()], arguments].concat()))
    };
    let both = Server::changing(|_, _, _| ());
    let (_, out, err) = asked(&both, &["--max-requests", "40"]);
    has(&err, &["judged by fee-quote; the target serves more: --spec erc-7677 judges that"]);
    assert!(out.contains("· 40 requests"), "{out}");
    assert!((30..=40).contains(&both.requests()), "{}", both.requests());

    let is_of_quotes = |request: &Value| request["method"] == "pm_getFeeQuoteOrData";
    let one = Server::changing(move |_, request, answer| {
        if is_of_quotes(request) {
            refuse(answer, -32_601, "unknown");
        }
    });
    let (_, out, err) = asked(&one, &["--max-requests", "40"]);
    let judged = "judged by erc-7677, which the target serves; where it serves fee-quote too, --spec fee-quote judges that";
    assert!(err.contains(judged), "{err}{out}");

    let alike = Server::changing(|_, _, answer| refuse(answer, -32_001, "no key"));
    let (_, err) = ends(2, asked(&alike, &[]));
    has(&err, &["a method that cannot exist included: \"no key\"", "--spec"]);
    // The status says that who asks is refused: the run says so.
    let refusing = raw(|mut stream| {
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Invalid API key"}}"#;
        let head = format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {}\r\n\r\n", error.len());
        while read_request(&mut stream) {
            write(&mut stream, (head.clone() + error).as_bytes());
        }
    });
    let mut command = binary(&folder);
    let (out, _) = ends(3, finish(command.env_remove("PAYMASTER_SPEC").arg(refusing)));
    has(&flat(&out), &["401", "Next - give the key that the target asks for"]);
}

/// Where every refusal asks for a policy, no other line of the profile helps first.
#[test]
fn no_other_line_is_missing_where_the_refusals_ask_for_one() {
    let folder = tempdir().unwrap();
    let missing = |message: &'static str| {
        let server = Server::changing(move |_, request, answer| {
            if request["params"][0].is_object() {
                refuse(answer, -32_001, message);
            }
        });
        let (out, _) = ends(4, run(&folder, &[&server.url(), "--spec", "erc-7677", "--cases", "4"]));
        (out.contains("Missing:"), flat(&out).contains("the words may ask for service.context"))
    };
    assert_eq!(missing("policyId missing or unknown"), (false, true));
    assert_eq!(missing("AA20 account not deployed"), (true, false));
}

#[test]
fn a_replay_file_says_by_which_specification_it_is_judged() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, request, answer| {
        if request["method"] == "pm_getPaymasterStubData" && answer["result"].is_object() {
            answer["result"]["isFinal"] = json!("no");
        }
    });
    let arguments = [&server.url(), "--spec", "erc-7677", "--rule", "is-final.boolean", "--cases", "4"];
    ends(1, run(&folder, &arguments));
    for files in ["paymaster-replays", "paymaster-replays/is-final.boolean-1.json"] {
        let (code, out, err) = run(&folder, &["replay", files, &server.url()]);
        assert_eq!((code, out.contains("STILL THERE")), (1, true), "{out}{err}");
    }
}
