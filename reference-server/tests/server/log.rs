//! The log: a line for each request at level info, the bodies at level debug, and no secrets.

use crate::*;

/// The log of a server that gets these bodies.
fn log_of(arguments: &[&str], bodies: &[String]) -> String {
    let server = Running::start(arguments);
    for body in bodies {
        server.post("/", body);
    }
    server.stop("TERM").log
}

/// The fields of the lines about requests, without the time: `batch method mode outcome status`.
fn requests(log: &str) -> Vec<String> {
    let lines = log.lines().filter_map(|line| line.split_once(" INFO request ").map(|(_, fields)| fields));
    lines
        .map(|fields| {
            let (fields, ms) = fields.rsplit_once(" ms=").expect("a time comes last");
            assert!(ms.parse::<f64>().is_ok_and(|ms| ms >= 0.0), "{ms}");
            fields.to_owned()
        })
        .collect()
}

#[test]
fn each_request_has_a_line_with_method_mode_outcome_and_status() {
    let mut denied = sponsor(&json!({ "mode": "SPONSORED", "sponsorshipInfo": sponsorship_info() }));
    denied["params"][0]["sender"] = json!(PolicyConfig::DENIED_SENDER);
    let unsupported = sponsor(&json!({ "mode": "ERC20", "tokenInfo": { "feeTokenAddress": UNKNOWN_TOKEN } }));
    let notification = json!({ "jsonrpc": "2.0", "method": "eth_chainId" });
    let mut bodies: Vec<String> = the_four_pairs().iter().map(Value::to_string).collect();
    bodies.extend([
        denied.to_string(),
        unsupported.to_string(),
        quote(&json!({ "mode": "sponsored" })).to_string(),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "two\nlines" }).to_string(),
        "{".to_owned(),
        json!([the_four_pairs()[0], notification, 7]).to_string(),
    ]);
    let log = log_of(&[], &bodies);
    let expected = [
        "method=pm_getFeeQuoteOrData mode=SPONSORED outcome=result status=200",
        "method=pm_getFeeQuoteOrData mode=ERC20 outcome=result status=200",
        "method=pm_sponsorUserOperation mode=SPONSORED outcome=result status=200",
        "method=pm_sponsorUserOperation mode=ERC20 outcome=result status=200",
        "method=pm_sponsorUserOperation mode=SPONSORED outcome=not-sponsored status=200",
        "method=pm_sponsorUserOperation mode=ERC20 outcome=token-unsupported status=200",
        "method=pm_getFeeQuoteOrData mode=none outcome=invalid-params status=200",
        r#"method="two\nlines" mode=none outcome=method-not-found status=200"#,
        "method=none mode=none outcome=parse-error status=200",
        "batch=1/3 method=pm_getFeeQuoteOrData mode=SPONSORED outcome=result status=200",
        r#"batch=2/3 method="eth_chainId" mode=none outcome=no-response status=200"#,
        "batch=3/3 method=none mode=none outcome=invalid-request status=200",
    ];
    assert_eq!(requests(&log), expected);
    assert!(!log.contains("body"), "bodies are for level debug: {log}");
}

#[test]
fn what_is_no_json_rpc_has_a_line_too() {
    let server = Running::start(&["--cors-origin", "http://a.example"]);
    server.send("GET", "/health", &[]);
    server.send("DELETE", "/CANARY", &[]);
    for origin in ["http://a.example", "http://b.example"] {
        let headers = [&*format!("origin: {origin}"), "access-control-request-method: POST"];
        server.send("OPTIONS", "/CANARY", &headers);
    }
    let large = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999\r\n\r\n";
    exchange(&server.address, large);
    let expected = [
        "method=GET mode=none outcome=health status=200",
        "method=DELETE mode=none outcome=http-method-not-allowed status=405",
        "method=OPTIONS mode=none outcome=preflight status=204",
        "method=OPTIONS mode=none outcome=origin-not-allowed status=403",
        "method=POST mode=none outcome=body-too-large status=413",
    ];
    assert_eq!(requests(&server.stop("TERM").log), expected);
}

#[test]
fn a_fault_is_logged_as_what_was_sent() {
    let quote = the_four_pairs()[1].to_string();
    for (fault, expected) in [
        ("answer-as-text", "outcome=malformed status=200"),
        ("quote-method-unknown", "outcome=method-not-found status=200"),
    ] {
        let log = log_of(&["--fault", fault], std::slice::from_ref(&quote));
        let lines = requests(&log);
        assert!(lines.len() == 1 && lines[0].ends_with(expected), "{fault}: {log}");
    }
}

#[test]
fn bodies_are_logged_at_level_debug_on_one_line_each() {
    let request = serde_json::to_string_pretty(&the_four_pairs()[3]).unwrap();
    let log = log_of(&["--log", "debug"], &[request]);
    let body = |start: &str| -> Value {
        let line = log.lines().find_map(|line| line.split_once(start));
        let (_, body) = line.unwrap_or_else(|| panic!("no {start} in {log}"));
        serde_json::from_str(body).expect("the body can be used again")
    };
    assert_eq!(body(" request body "), the_four_pairs()[3]);
    assert_eq!(body(" response body ")["id"], 1);
}

#[test]
fn long_bodies_are_cut() {
    let long = format!("\"{}\"", "x".repeat(100_000));
    let log = log_of(&["--log", "debug"], &[long]);
    assert!(log.contains("... (100002 bytes)"), "{}", &log[..500]);
    assert!(log.len() < 40_000);
}

#[test]
fn the_level_is_that_of_the_flag_or_of_the_environment() {
    let body = [the_four_pairs()[3].to_string()];
    for level in ["off", "error", "warn", "info,paymaster_reference_server=warn"] {
        assert_eq!(log_of(&["--log", level], &body), "", "{level}");
    }
    let silent = command().env("RUST_LOG", "off").args(["--listen", "no port"]).output();
    failed(3, &silent.expect("the command runs"));
}

#[test]
fn no_level_shows_the_path_or_a_header() {
    let server = Running::start(&["--log", "trace"]);
    for body in [the_four_pairs()[0].to_string(), "{".to_owned(), "{}".to_owned()] {
        server.post("/api/v2/137/CANARY.key?also=CANARY", &body);
    }
    server.send("GET", "/CANARY", &["x-api-key: CANARY", "origin: http://a.example"]);
    let log = server.stop("TERM").log;
    assert_eq!(requests(&log).len(), 4, "{log}");
    assert!(!log.contains("CANARY"), "{log}");
}
