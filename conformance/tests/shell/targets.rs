//! What targets do, and how a run ends.

use std::collections::HashMap;

use crate::*;

const SMALL: &[&str] = &["--cases", "12", "--allow-incomplete", "--no-shrink"];

fn small<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [url].iter().chain(SMALL).chain(more).copied().collect()
}

#[test]
fn without_a_url_the_embedded_server_conforms() {
    let folder = tempdir().unwrap();
    let (out, err) = ends(0, run(&folder, &[]));
    assert!(out.starts_with("CONFORMS; 1 rule does not apply  http://127.0.0.1:"), "{out}");
    assert_eq!(err, "");
    assert!(!out.contains('\u{1b}'), "colours in a pipe");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "files left behind");
}

#[test]
fn nobody_there_is_3_and_names_the_address() {
    let url = unreachable_url();
    let (out, _) = ends(3, alone(&[&url]));
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    assert!(out.starts_with("COULD NOT TEST"), "{out}");
    assert!(out.contains(address) && flat(&out).contains(": is it running on that port?"), "{out}");
    let (out, _) = ends(3, alone(&["http://no-such-host.invalid/"]));
    assert!(flat(&out).contains(": is the name of the host right?"), "{out}");
}

#[test]
fn a_server_that_never_answers_is_given_up_soon() {
    let url = raw(|stream| {
        thread::sleep(Duration::from_mins(1));
        drop(stream);
    });
    let begin = Instant::now();
    let (out, _) = ends(3, alone(&[&url, "--timeout", "200ms"]));
    assert!(flat(&out).contains("(waiting for the response head): --timeout gives it more time"), "{out}");
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_target_that_is_another_service_cannot_be_tested() {
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}"#;
    for (body, words, most) in [
        (
            "<!doctype html>\n<title>App</title>",
            "It answers HTTP 200, no JSON: expected value at line 1 column 1 (content type none)",
            100,
        ),
        (
            r#"{"status":"ok"}"#,
            "no answer is one of JSON-RPC: is this the URL of the service? It answers HTTP 200",
            100,
        ),
        (
            unknown,
            "the target knows neither method: is this the URL of the service? It answers error -32601 \"no such method\"",
            120,
        ),
    ] {
        let server = Server::hooked(move |_, _, _| Response::new(Full::new(Bytes::from(body))));
        let (out, _) = ends(3, alone(&[&server.url(), "--jobs", "1"]));
        let plain = flat(&out);
        assert!(plain.contains(words), "{out}");
        assert!(server.requests() < most, "{} requests", server.requests());
    }
}

#[test]
fn a_page_for_one_kind_of_request_is_a_violation() {
    let server = Server::hooked(|_, body, mut response| {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        if request["method"] == "pm_sponsorUserOperation" {
            *response.body_mut() = Full::new(Bytes::from("<!doctype html>"));
        }
        response
    });
    ends(1, alone(&small(&server.url(), &[])));
}

#[test]
fn a_slow_drip_meets_the_total_deadline() {
    let url = raw(|mut stream| {
        if read_request(&mut stream) {
            write(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
            // Each byte comes soon after the one before, so that only a total deadline ends this.
            while stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        }
    });
    let begin = Instant::now();
    let (out, _) = ends(3, alone(&[&url, "--timeout", "300ms"]));
    assert!(flat(&out).contains("waiting for the response body"), "{out}");
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn violations_are_1_with_a_finding_that_can_be_replayed() {
    let folder = tempdir().unwrap();
    let server = Server::nulling(&["feeQuotes"]);
    let url = server.url();
    let (out, _) = ends(1, run(&folder, &[&url, "--cases", "12", "--rule", "quote-result.*"]));
    assert!(out.starts_with("VIOLATIONS"), "{out}");
    has(&out, &["breaks     quote-result.feeQuotes (section 2.7, stated)", "reproduced 3/3"]);
    let file = "paymaster-replays/quote-result.feeQuotes-1.json";
    let (out, _) = ends(1, run(&folder, &["replay", file]));
    assert!(out.starts_with("STILL THERE  quote-result.feeQuotes"), "{out}");
    let sound = Server::sound();
    ends(0, run(&folder, &["replay", file, &sound.url()]));
    ends(3, run(&folder, &["replay", file, &unreachable_url()]));
}

#[test]
#[cfg(unix)]
fn the_curl_line_works_as_printed() {
    let server = Server::changing(|_, _, answer| {
        if answer.get("id").is_some_and(Value::is_number) {
            answer["id"] = Value::Null;
        }
    });
    let url = server.url();
    let (code, out, _) = alone(&[&url, "--cases", "4", "--rule", "answer.id", "--allow-incomplete", "-v"]);
    assert_eq!(code, 1, "{out}");
    let line = out.lines().find_map(|line| line.strip_prefix("  cURL ")).expect("a cURL line");
    let Ok(output) = std::process::Command::new("sh").args(["-c", line.trim()]).output() else { return };
    if output.status.code() == Some(127) {
        // No cURL on this machine: quoting is tested beside the code that does it.
        return;
    }
    let answer: Value = serde_json::from_slice(&output.stdout).expect("the answer of the server");
    assert_eq!(answer["id"], Value::Null);
    assert!(answer.get("result").is_some() || answer.get("error").is_some());
}

#[test]
fn a_warning_fails_only_a_strict_run() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| {
        if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
            result.remove("mode");
        }
    });
    let url = server.url();
    let (out, _) = ends(0, run(&folder, &small(&url, &[])));
    assert!(out.contains("WARNING 1  ") && out.contains(": interoperability.mode-member; -v"), "{out}");
    ends(1, run(&folder, &small(&url, &["--strict"])));
}

/// One token is refused in one letter case wherever it is paid in: that is one thing to repair, and lists of tokens have no part in it.
#[test]
fn a_token_that_is_refused_in_one_letter_case_is_one_defect() {
    let folder = with_profile(own_profile());
    let server = Injected::fault("paying-in-tokens-judged-by-letter-case");
    let (out, _) = ends(1, run(&folder, &[&server.url, "--rule", "sponsor.*"]));
    assert_eq!(out.matches("DEFECT").count(), 1, "{out}");
    let text = flat(&out);
    has(&text, &["cause wrong with tokenInfo.feeTokenAddress", "(only the letter case differs)"]);
    lacks(&text, &["tokenList []"]);
}

#[test]
fn what_is_broken_once_and_not_again_is_flaky() {
    let spoiled = AtomicUsize::new(0);
    let server = Server::changing(move |number, request, answer| {
        let quote = request["params"][1]["mode"] == "ERC20" && answer.pointer("/result/feeQuotes").is_some();
        // Behind discovery, which is not judged.
        if number > 150 && quote && spoiled.fetch_add(1, Ordering::SeqCst) == 0 {
            answer["result"]["feeQuotes"] = Value::Null;
        }
    });
    let url = server.url();
    let (out, _) =
        ends(1, alone(&[&url, "--cases", "20", "--jobs", "1", "--rule", "quote-result.feeQuotes"]));
    has(&out, &["FLAKY DEFECT 1", "breaks     quote-result.feeQuotes", "reproduced 0/3"]);
}

#[test]
fn retry_after_is_honoured_and_not_judged() {
    let server = Server::hooked(|number, _, mut response| {
        let (status, pause) = match number {
            30 => (StatusCode::TOO_MANY_REQUESTS, "1"),
            40 => (StatusCode::SERVICE_UNAVAILABLE, "1"),
            _ => return response,
        };
        *response.status_mut() = status;
        response.headers_mut().insert("retry-after", pause.parse().unwrap());
        response
    });
    let url = server.url();
    let begin = Instant::now();
    ends(0, alone(&small(&url, &["--jobs", "1", "--strict"])));
    assert!(begin.elapsed() >= Duration::from_secs(2), "it did not wait");
}

#[test]
fn a_target_that_fails_at_first_is_wrong_and_keeps_its_dialect() {
    let folder = tempdir().unwrap();
    let server = Injected::fault("first-answers-fail");
    let arguments = [&server.url, "--cases", "12", "--allow-incomplete", "-o", "report.json"];
    let (out, _) = ends(1, run(&folder, &arguments));
    assert!(out.contains("FLAKY DEFECT 1"), "{out}");
    assert!(flat(&out).contains("cause seen in the first requests of the run only; none of "), "{out}");
    let report = json_of(&folder, "report.json");
    assert_eq!(report["dialect"]["amount-notation"], "decimal", "{}", report["dialect"]);
}

#[test]
fn a_rate_limit_is_learned_and_the_run_comes_to_its_end() {
    let folder = tempdir().unwrap();
    let window = Mutex::new((Instant::now(), 0));
    let server = Server::hooked(move |_, _, mut response| {
        let mut window = window.lock().unwrap();
        if window.0.elapsed() >= Duration::from_secs(1) {
            *window = (Instant::now(), 0);
        }
        window.1 += 1;
        if window.1 > 150 {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            response.headers_mut().insert("retry-after", "1".parse().unwrap());
        }
        response
    });
    let events = ["--jobs", "100", "-o", "ndjson=events.ndjson"];
    ends(0, run(&folder, &small(&server.url(), &events)));
    // Requests that are refused together make one pause. The limit is met at the start, and where it is tested later.
    let events = text_of(&folder, "events.ndjson");
    let pauses = events.lines().filter(|line| line.contains("\"event\":\"waiting\"")).count();
    assert!((1..50).contains(&pauses), "{pauses} pauses");
}

#[test]
fn answers_of_a_gateway_leave_a_run_incomplete() {
    let server = Server::hooked(|number, _, mut response| {
        if number % 40 == 39 {
            *response.status_mut() = StatusCode::BAD_GATEWAY;
            *response.body_mut() = Full::from("<html>");
        }
        response
    });
    let arguments = [server.url(), "--cases".to_owned(), "12".to_owned(), "--no-shrink".to_owned()];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (out, _) = ends(4, alone(&arguments));
    assert!(out.contains("HTTP 502, and no answer of the service"), "{out}");
    let out = flat(&out);
    let (_, example) = out.split_once("; for example").expect("a request that was not judged");
    assert!(example.contains(r#"{"jsonrpc":"#), "{out}");
}

#[test]
fn a_timeout_that_is_not_seen_again_breaks_nothing_and_leaves_the_run_incomplete() {
    let late = Mutex::new(Vec::<Vec<u8>>::new());
    let server = Server::hooked(move |number, body, mut response| {
        let mut late = late.lock().unwrap();
        if number > 300 && late.len() < 8 && !late.iter().any(|known| known == body) {
            late.push(body.to_vec());
            response.extensions_mut().insert(Unanswered);
        }
        response
    });
    let (out, _) = ends(4, alone(&[&server.url(), "--cases", "12", "--timeout", "1s"]));
    assert!(flat(&out).contains("no answer in time, and an answer when sent again"), "{out}");
    assert!(!out.contains("answer.http-message"), "{out}");
}

#[test]
fn an_error_that_is_not_seen_again_breaks_nothing_and_leaves_the_run_incomplete() {
    let folder = with_profile("[operations]\naccepts = \"any\"\n");
    let failed = AtomicUsize::new(0);
    let server = Server::changing(move |_, request, answer| {
        let quotes = request["method"] == "pm_getFeeQuoteOrData" && answer.get("result").is_some();
        if quotes && failed.fetch_add(1, Ordering::SeqCst) == 40 {
            refuse(answer, -32_603, "no provider");
        }
    });
    let (out, _) = ends(4, run(&folder, &[&server.url(), "--cases", "12"]));
    assert!(flat(&out).contains("1 group: error -32603 no provider, and not when sent again"), "{out}");
}

#[test]
fn a_target_that_fails_for_good_does_not_pass_as_one_whose_budget_is_spent() {
    let folder = tempdir().unwrap();
    let profile = "[service]\nentry-points = [\"0.7\"]\nchain-id = 31337\n[operations]\naccepts = \"any\"\n";
    fs::write(folder.path().join("paymaster.toml"), profile).unwrap();
    for keeps_malformed in [false, true] {
        let errors = AtomicUsize::new(0);
        let server = Server::changing(move |_, _, answer| {
            let is_malformed = answer["error"]["code"].as_i64().is_some_and(|code| code <= -32600);
            let failed = errors.fetch_add(usize::from(answer.get("error").is_some()), Ordering::SeqCst);
            if failed > 60 && !(keeps_malformed && is_malformed) {
                refuse(answer, -32_603, "no connection is left");
            }
        });
        let (out, _) = ends(4, run(&folder, &[&server.url(), "--spec", "erc-7677", "--jobs", "1"]));
        assert_eq!(flat(&out).contains("nearly all malformed calls got -32603"), !keeps_malformed, "{out}");
        assert_eq!(flat(&out).contains("a budget, or a failure?"), keeps_malformed, "{out}");
    }
}

#[test]
fn an_error_that_is_kept_from_a_refused_request_is_no_matter_of_its_sender() {
    let folder = tempdir().unwrap();
    let profile = "[operations]\naccepts = \"any\"\nsponsors = \"any\"\n";
    fs::write(folder.path().join("paymaster.toml"), profile).unwrap();
    let kept = Mutex::new(HashMap::<String, Value>::new());
    let server = Server::changing(move |_, request, answer| {
        let (operation, mode) = (&request["params"][0], &request["params"][1]);
        let pays = request["method"] == "pm_sponsorUserOperation" && mode["mode"] == "ERC20";
        let Some(sender) = operation["sender"].as_str().filter(|_| pays) else { return };
        let mut kept = kept.lock().unwrap();
        if answer.get("error").is_some() && mode["tokenInfo"]["feeTokenAddress"].is_string() {
            kept.insert(sender.to_lowercase(), answer["error"].clone());
        } else if let Some(error) = kept.get(&sender.to_lowercase()) {
            *answer = json!({ "jsonrpc": answer["jsonrpc"], "id": answer["id"], "error": error });
        }
    });
    let (out, _) = ends(1, run(&folder, &[&server.url()]));
    let cause = "cause only after a request with the same sender; right when sent alone";
    assert!(flat(&out).contains(cause), "{out}");
}

#[test]
fn a_request_that_is_never_answered_is_a_defect_and_the_others_are_judged() {
    let folder = tempdir().unwrap();
    let is_token = |request: &Value| request["params"][3]["token"].is_string();
    let server = Server::hooked(move |_, body, mut response| {
        if serde_json::from_slice(body).is_ok_and(|request: Value| is_token(&request)) {
            response.extensions_mut().insert(Unanswered);
        }
        response
    });
    let profile = "[service]\nentry-points = [\"0.7\"]\nchain-id = 31337\n";
    fs::write(folder.path().join("paymaster.toml"), profile).unwrap();
    // Each smaller request that is tried is waited for.
    let limits = ["--cases", "12", "--timeout", "1s", "--shrink-requests", "4"];
    let (out, _) = ends(1, run(&folder, &[&[&server.url(), "--spec", "erc-7677"], &limits[..]].concat()));
    assert!(out.contains("1 defect, 1 rule broken"), "{out}");
    assert!(out.contains("answer.http-message") && out.contains("\"token\""), "the request is shown: {out}");
    assert!(out.contains("reproduced 3/3") && !out.contains("stopped answering"), "{out}");
}

/// A server that does this with a request with a token in its context, unless that one `is_answered`, and with every request from then on;
/// the first of them is told of.
fn ends_at_a_token<E: Clone + Send + Sync + 'static>(
    extension: E,
    is_answered: bool,
) -> (Server, mpsc::Receiver<()>) {
    let (end, ended) = mpsc::channel();
    let is_over = AtomicBool::default();
    let server = Server::hooked(move |_, body, mut response| {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let ends = request["params"][3]["token"].is_string();
        if is_over.fetch_or(ends, Ordering::Relaxed) || ends && !is_answered {
            response.extensions_mut().insert(extension.clone());
            // Nobody may wait for it.
            let _ = end.send(());
        }
        response
    });
    (server, ended)
}

const OF_A_LATER_ENTRY_POINT: &str = "[service]\nentry-points = [\"0.7\"]\nchain-id = 31337\n";

#[test]
fn a_target_that_a_request_ends_names_the_request() {
    let folder = tempdir().unwrap();
    let (server, _) = ends_at_a_token(Closed, false);
    fs::write(folder.path().join("paymaster.toml"), OF_A_LATER_ENTRY_POINT).unwrap();
    let (_, out, _) = run(&folder, &[&server.url(), "--spec", "erc-7677", "--cases", "12", "--jobs", "1"]);
    let last = "and the first without an answer of stub-and-data (the stub request)";
    assert!(flat(&out).contains(last), "{out}");
}

#[test]
fn a_target_that_ends_at_a_request_is_a_defect_that_shows_it() {
    // One that answers the request that ends it, and ends at the next one, shows both.
    for (is_answered, jobs, words) in [
        (false, "4", "in flight then got no answer"),
        (true, "1", "answered right before, with a value that none before had"),
    ] {
        let folder = tempdir().unwrap();
        // Nothing is answered until it is gone.
        let (server, ended) = ends_at_a_token(Unanswered, is_answered);
        fs::write(folder.path().join("paymaster.toml"), OF_A_LATER_ENTRY_POINT).unwrap();
        let url = server.url();
        let arguments = [&url, "--spec", "erc-7677", "--jobs", jobs, "--timeout", "4m"].map(str::to_owned);
        let running = thread::spawn(move || run(&folder, &arguments.each_ref().map(String::as_str)));
        ended.recv().unwrap();
        drop(server);
        let (out, _) = ends(1, running.join().unwrap());
        assert!(out.contains("1 defect, 1 rule broken") && out.contains("answer.http-message"), "{out}");
        // Another new request may have been in flight too.
        let told = flat(&out);
        assert!(told.contains(words), "{out}");
        assert!(told.contains("an unsupported token in the context"), "the request is named: {out}");
    }
}

#[test]
fn a_batch_whose_connection_is_closed_is_warned_of() {
    let server = Server::hooked(|_, body, mut response| {
        if serde_json::from_slice(body).is_ok_and(|batch: Vec<Value>| (1..=3).contains(&batch.len())) {
            response.extensions_mut().insert(Closed);
        }
        response
    });
    let (out, _) = ends(0, alone(&[&server.url(), "--rule", "json-rpc.batch", "-v"]));
    assert!(out.contains("WARNING 1") && out.contains("breaks     json-rpc.batch"), "{out}");
}

#[test]
fn too_short_a_content_length_is_a_broken_message() {
    let url = raw(|mut stream| {
        while read_request(&mut stream) {
            let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#;
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{error}surplus", error.len());
            write(&mut stream, answer.as_bytes());
        }
    });
    let (code, out, _) = alone(&[&url, "--timeout", "2s"]);
    assert_eq!(code, 1, "a target that answers so does answer: {out}");
    has(&out, &["breaks     answer.http-message", "Content-Length too small"]);
}

#[test]
fn an_answer_larger_than_we_read_is_neither_broken_nor_a_pass() {
    let folder = tempdir().unwrap();
    let server = Server::hooked(|number, _, response| {
        if number % 50 == 0 {
            // White space around a JSON text is lawful, however much of it there is.
            return response.map(|_| Full::new(Bytes::from(vec![b' '; 2 << 20])));
        }
        response
    });
    let url = server.url();
    let judged = [&url, "--cases", "12", "--rule", "answer.json-text"];
    let (out, _) = ends(4, run(&folder, &judged));
    assert!(out.contains("larger than 1048576 bytes: more than we read"), "{out}");
    ends(0, run(&folder, &small(&url, &["--rule", "answer.json-text"])));
}

#[test]
fn connections_that_close_after_each_answer_are_reopened() {
    let server = Server::hooked(|_, _, mut response| {
        response.headers_mut().insert("connection", "close".parse().unwrap());
        response
    });
    let url = server.url();
    ends(0, alone(&small(&url, &["--strict"])));
}

#[test]
fn redirects_are_answers() {
    let elsewhere = Server::sound();
    let location = elsewhere.url();
    let server = Server::hooked(move |_, _, mut response| {
        *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
        response.headers_mut().insert("location", location.parse().unwrap());
        response
    });
    let url = server.url();
    alone(&small(&url, &["--max-requests", "50"]));
    // A group that does not fit into the rest of the budget ends the run.
    assert!((40..=50).contains(&server.requests()), "{}", server.requests());
    assert_eq!(elsewhere.requests(), 0);
}

#[test]
fn the_request_budget_is_kept() {
    let server = Server::sound();
    let url = server.url();
    let (out, _) = ends(4, alone(&[&url, "--max-requests", "100"]));
    assert!(out.contains("budget of 100 requests"), "{out}");
    assert!(server.requests() <= 100, "{}", server.requests());
}

/// A server that refuses every request with that status. An empty body stands for a JSON-RPC error that echoes the id.
fn refusing(status: u16, body: &'static str) -> Server {
    Server::hooked(move |_, request, mut response| {
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        let error = || {
            let request: Value = serde_json::from_slice(request).unwrap_or_default();
            json!({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32001, "message": "no key"}})
        };
        *response.body_mut() = match body {
            "" => Full::from(error().to_string()),
            body => Full::from(body),
        };
        response
    })
}

#[test]
fn behind_a_wrong_key_or_path_nothing_could_be_tested_whatever_the_body_is() {
    for (status, words) in
        [(401, "check the key"), (403, "check the key and the headers"), (404, "check the path")]
    {
        for body in ["no key", "<html>no</html>", r#"{"message":"Forbidden"}"#, "[]", ""] {
            let server = refusing(status, body);
            let url = server.url();
            let (code, out, err) = alone(&[&url]);
            assert_eq!(code, 3, "{status} {body}: {out}{err}");
            assert!(out.starts_with("COULD NOT TEST"), "{out}");
            has(&out, &[&format!("HTTP {status} for every valid request: "), words]);
            lacks(&out, &["DEFECT", "WARNING"]);
            assert!(server.requests() < 100, "{} requests", server.requests());
        }
    }
}

#[test]
fn recorded_refusals_could_not_be_tested_either() {
    let folder = tempdir().unwrap();
    let server = refusing(403, r#"{"message":"Forbidden"}"#);
    run(&folder, &[&server.url(), "--report", "ndjson-all=all.ndjson"]);
    let (out, _) = ends(3, run(&folder, &["judge", "all.ndjson"]));
    assert!(out.starts_with("COULD NOT TEST"), "{out}");
    has(&out, &["HTTP 403 for every valid request: ", "record calls with the key, the headers and the path"]);
    lacks(&out, &["DEFECT", "WARNING"]);
}
