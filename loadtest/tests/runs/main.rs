//! Runs the command as a user does: exit codes, reports, faults of the target, stalls, limits, signals.
#![expect(clippy::unwrap_used, reason = "a test stops where the command cannot be run")]

mod distributed;
mod docs;
mod environment;
mod figures;
mod metrics;
mod support;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use paymaster_fee_quote::SPECIFICATION;
use serde_json::Value;
use support::*;

#[test]
fn all_scenarios_against_the_embedded_server() {
    let (out, report) = loaded(0, &["--max-requests", "600", "--users", "4"]);
    assert!(
        out.starts_with("PASSED: every answer was right; no latency threshold was given, p50 was "),
        "{out}"
    );
    assert!(out.contains("  http://127.0.0.1:"), "{out}");
    assert!(!out.contains(|letter: char| letter.is_control() && letter != '\n'), "{out:?}");
    let labels: Vec<_> = report["labels"].as_object().unwrap().keys().cloned().collect();
    let mut expected: Vec<_> =
        SPECIFICATION.load.scenarios.iter().flat_map(|scenario| scenario.labels).collect();
    expected.sort();
    assert_eq!(labels.iter().collect::<Vec<_>>(), expected);
    assert_eq!(count(&report, "good"), 600);
    assert_eq!(report["derived"]["all"]["requests"], 600);
    // The weights: 3 for journeys, 1 for errors, 2 for each other scenario. 600 requests are 480 iterations, drawn by the seed.
    let times = |label: &str| report["labels"][label]["counts"]["good"].as_f64().unwrap();
    for (label, expected, deviation) in
        [("errors", 40.0, 6.0), ("quote-erc20", 80.0, 8.2), ("journey/sponsor", 120.0, 9.5)]
    {
        assert!((times(label) - expected).abs() < 4.0 * deviation, "{label}: {out}");
    }
}

#[test]
fn a_wrong_answer_in_25_fails_the_run_as_4_percent_with_rule_and_example() {
    let arguments = ["-s", "sponsor-sponsored", "--max-requests", "500", "--fault", "id-wrong-now-and-then"];
    let (out, report) = loaded(1, &arguments);
    let wrong = count(&report, "wrong");
    assert!((18..=22).contains(&wrong), "{wrong} of 500");
    assert_eq!(report["wrong"][0]["key"]["rule"], "answer.id");
    assert_eq!(report["wrong"][0]["example"]["actual"], "\"another\"");
    assert!(out.contains("DEFECT 1  answer.id in sponsor-sponsored"), "{out}");
    assert_eq!(count(&report, "transport") + count(&report, "rpc-error"), 0);

    loaded(0, &[&arguments[..], &["-t", "wrong-rate<5%", "-t", "error-rate<5%"]].concat());
    let (Finished { code, out, .. }, report) =
        load(&[&arguments[..], &["--judge", "none", "-t", "error-rate<5%"]].concat());
    assert_eq!((code, count(&report, "wrong")), (0, 0), "{out}");
    assert!(out.contains("0 of 500 answers judged"), "{out}");
}

#[test]
fn an_answer_that_breaks_two_rules_is_one_wrong_answer_and_counts_for_each() {
    let arguments = ["-s", "sponsor-sponsored", "--max-requests", "60", "-u", "1"];
    let faults = ["--fault", "id-of-previous", "--fault", "jsonrpc-number"];
    let (Finished { code, out, .. }, report) = load(&[&arguments[..], &faults].concat());
    assert_eq!((code, count(&report, "wrong")), (1, 60), "{out}");
    let of_rules: Vec<_> = report["wrong"].as_array().unwrap().iter().collect();
    let times = |rule: &str| -> u64 {
        let of_rule = of_rules.iter().filter(|wrong| wrong["key"]["rule"] == rule);
        of_rule.map(|wrong| wrong["times"].as_u64().unwrap()).sum()
    };
    assert_eq!(times("answer.jsonrpc"), 60, "{out}");
    assert!((59..=60).contains(&times("answer.id")), "{out}");
}

#[test]
fn answers_that_belong_to_another_request_are_caught() {
    let arguments = ["-s", "sponsor-erc20", "--max-requests", "200", "--fault", "id-of-previous"];
    let (_, report) = loaded(1, &arguments);
    assert!(count(&report, "wrong") >= 150, "{}", count(&report, "wrong"));
}

#[test]
fn thresholds_decide_the_exit_code() {
    for (threshold, expected) in [
        ("p99<60s", 0),
        ("rps>=1 for quote-erc20", 0),
        ("p50<1us", 1),
        ("rps>1000000", 1),
        ("p95<60s for errors", 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = command(folder.path())
            .args(["-s", "quote-erc20", "--max-requests", "50", "-t", threshold])
            .args(["-o", "junit.xml", "-o", "page.html", "-o", "summary.md", "-o", "csv=series"])
            .output()
            .unwrap();
        let Finished { code, out, err } = output.into();
        assert_eq!(code, expected, "{threshold}: {out}{err}");
        let junit = std::fs::read_to_string(folder.path().join("junit.xml")).unwrap();
        assert_eq!(junit.contains("<failure"), expected == 1, "{junit}");
        assert!(std::fs::read_to_string(folder.path().join("series")).unwrap().starts_with("time_s,"));
        assert!(folder.path().join("page.html").exists() && folder.path().join("summary.md").exists());
    }
}

#[test]
fn a_report_has_its_format_by_name_or_by_ending_and_missing_folders_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ["-s", "quote-erc20", "--max-requests", "20"];
    let reports = ["-o", "new/a/page.html", "-o", "junit=new/b/result", "-o", "json=-"];
    let (out, err) = ends(0, run(folder.path(), &[&limits[..], &reports].concat()));
    let read = |path: &str| std::fs::read_to_string(folder.path().join(path)).unwrap();
    assert!(read("new/a/page.html").contains("<html"));
    assert!(read("new/b/result").contains("<testsuite"));
    let report: Value = serde_json::from_str(&out).unwrap();
    assert!(report.is_object() && err.contains("PASSED"), "{err}");
}

#[test]
fn shards_are_merged_and_runs_compared() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(folder.path(), arguments);
    for name in ["a.json", "b.json"] {
        ends(0, run(&["-s", "quote-erc20", "--max-requests", "100", "-o", name]));
        // The embedded servers have different ports. The merge needs one target.
        let path = folder.path().join(name);
        let mut report: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        report["target"] = "http://one.example/".into();
        std::fs::write(&path, report.to_string()).unwrap();
    }
    let (out, _) = ends(0, run(&["merge", "a.json", "b.json", "-o", "both.json"]));
    assert!(out.contains("200 requests in"), "{out}");
    ends(1, run(&["merge", "a.json", "b.json", "-t", "rps<0.001"]));
    let Finished { code, out, .. } = run(&["compare", "a.json", "both.json"]);
    assert_eq!(code, 2, "{out}"); // 10 users and 20
    let Finished { code, out, .. } = run(&["compare", "a.json", "b.json"]);
    assert!(
        (code == 4 && out.starts_with("UNCLEAR")) || (code == 1 && out.starts_with("WORSE")),
        "{code}: {out}"
    );
    let Finished { code, err, .. } = run(&["merge", "a.json", "none.json"]);
    assert!(code == 2 && err.contains("none.json"), "{err}");
}

#[test]
fn errors_name_their_cause() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad.toml"), "[load]\nown-targets = true\n").unwrap();
    std::fs::write(folder.path().join("abort.toml"), "[load]\nabort-on = [\"p95\"]\n").unwrap();
    std::fs::write(folder.path().join("weights.toml"), "[load]\nweights = { nothing = 1 }\n").unwrap();
    std::fs::write(folder.path().join("limit.toml"), "[target]\nrequests-per-second = 5\n").unwrap();
    std::fs::write(
        folder.path().join("elsewhere.toml"),
        "[target]\nurl = \"http://127.0.0.1:1/\"\nheaders = [\"x-api-key: k3y-of-the-profile\"]\n",
    )
    .unwrap();
    let (_taken, refusing) = refusing();
    for (arguments, expected, word) in [
        (&["--config", "bad.toml"][..], 2, "own-target"),
        (&["--config", "abort.toml"], 2, "load.abort-on: threshold `p95`"),
        (&["--config", "weights.toml"], 2, "no scenario `nothing`"),
        (&["--config", "none.toml"], 2, "none.toml"),
        (&["-s", "jurney"], 2, "jurney"),
        (&["-o", "report.pdf"], 2, ".html"),
        (&["--compare", "none.json"], 2, "none.json"),
        (&["--fault", "no-such-fault"], 2, "no-such-fault"),
        (&["--warm-up", "10s", "--test-plan", "1,5s"], 2, "warm-up"),
        (&["http://192.0.2.1/"], 2, "--i-own-this-target"),
        (&["http://192.0.2.1/", "--rate", "6"], 2, "--i-own-this-target"),
        (&[&refusing], 3, "COULD NOT TEST: no connection: "),
        (&[&refusing, "--config", "elsewhere.toml"], 2, "target.headers (x-api-key) are not sent to"),
        (&["ftp://127.0.0.1/"], 2, "http"),
    ] {
        let output = command(folder.path()).args(arguments).output().unwrap();
        let Finished { code, out, err } = output.into();
        assert_eq!(code, expected, "{arguments:?}: {out}{err}");
        let shown = if code == 3 { &out } else { &err };
        assert!(shown.contains(word), "{arguments:?}: {out}{err}");
        assert!(!out.contains("PASSED"), "{out}");
    }
}

/// A bound port without a listener, and its URL: it refuses connections.
fn refusing() -> (tokio::net::TcpSocket, String) {
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/", taken.local_addr().unwrap());
    (taken, url)
}

#[test]
fn a_load_that_cannot_begin_writes_its_reports_with_the_reason_as_headline() {
    let folder = tempfile::tempdir().unwrap();
    let (_taken, plain) = refusing();
    // No server of TLS: it closes every connection at once.
    let closing = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let tls = format!("https://{}/", closing.local_addr().unwrap());
    thread::spawn(move || closing.incoming().for_each(drop));
    ends(0, run(folder.path(), &["-s", "errors", "--max-requests", "20", "-o", "earlier.json"]));
    for url in [&plain, &tls] {
        let reports = ["-o", "a.html", "-o", "a.json", "-o", "a.md", "-o", "a.xml", "-o", "a.csv"];
        let more = ["-k", "-t", "p95<1s", "--compare", "earlier.json"];
        let (out, err) = ends(3, run(folder.path(), &[&[url.as_str()][..], &reports, &more].concat()));
        assert!(out.starts_with("COULD NOT TEST: ") && out.contains("nothing was measured"), "{out}");
        assert!(!err.contains("error: "), "{err}");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let report: Value = serde_json::from_str(&read("a.json")).unwrap();
        let cause = report["cut_short"].as_str().unwrap();
        assert_eq!((&report["verdict"], &report["target"]), (&"could-not-test".into(), &url.as_str().into()));
        assert!(flat(&out).starts_with(&flat(&format!("COULD NOT TEST: {cause}"))), "{cause}: {out}");
        assert!(read("a.html").contains("<span class=\"word\">COULD NOT TEST</span>"), "{url}");
        assert!(read("a.md").starts_with("## Load test: COULD NOT TEST: `"), "{url}");
        assert_eq!(read("a.xml").matches("<error").count(), 2, "{url}");
        assert_eq!(read("a.csv").lines().count(), 1, "{url}");
    }
}

/// More requests than discovery sends before the load.
const BEFORE: usize = 120;

#[test]
fn a_stall_of_the_target_shows_in_the_open_model() {
    let began = Instant::now();
    let stalled = std::sync::OnceLock::new();
    let url = serve(move |number, id| {
        // Shortly after the load begins, no request is answered for half a second.
        if number > BEFORE {
            let until = *stalled.get_or_init(|| Instant::now() + Duration::from_millis(500));
            thread::sleep(until.saturating_duration_since(Instant::now()));
        }
        sponsored(id)
    });
    let arguments =
        [url.as_str(), "-s", "sponsor-sponsored", "--rate", "100", "--duration", "2s", "--users", "8"];
    let (out, report) = loaded(1, &[&arguments[..], &["--threshold", "p99<100ms"]].concat());
    assert_eq!(report["derived"]["all"]["requests"], 200, "{out}");
    // A quarter of the arrivals is due in the stall. In the closed model, only 8 of 200 requests would show it.
    let latency = |name: &str| report["derived"]["all"]["latency-ms"][name].as_f64().unwrap();
    assert!(latency("p90") > 100.0 && latency("p99") > 300.0, "{out}");
    assert!(began.elapsed() >= Duration::from_secs(2));
    assert_eq!(report["model"]["arrivals_asked"], 200);
    assert_eq!(report["arrivals"]["due"], 200);
}

#[test]
fn a_broken_threshold_of_abort_on_ends_the_load_with_a_report() {
    // Shortly after the load begins, every answer is wrong: another id, served at most 500 times a second for each user.
    let answer = |number: usize, id: &str| {
        thread::sleep(Duration::from_millis(2));
        if number > 2 * BEFORE { sponsored("7") } else { sponsored(id) }
    };
    let abort_on = ["-t", "error-rate<=100%", "-t", "wrong-rate<=100%", "--abort-on", "wrong-rate<50%"];
    for model in [&["-u", "4"][..], &["--rate", "300", "-u", "8"]] {
        let (url, began) = (serve(answer), Instant::now());
        let arguments = [&[&*url, "-s", "sponsor-sponsored", "-d", "10m"], model, &abort_on].concat();
        let (out, report) = loaded(1, &arguments);
        assert!(began.elapsed() < Duration::from_mins(1));
        let first = out.lines().next().unwrap();
        assert!(first.starts_with("FAILED: "), "{out}");
        assert!(first.contains(" answers were wrong (1 rule); 1 threshold missed  http://"), "{out}");
        assert!(out.contains("cut short: --abort-on 'wrong-rate<50%' was broken after "), "{out}");
        let of = |text: &str| {
            let mut results = report["thresholds"].as_array().unwrap().iter();
            results.find(|result| result["threshold"] == text).unwrap()["met"].clone()
        };
        assert_eq!((of("wrong-rate<50%"), of("wrong-rate<=100%")), (false.into(), true.into()));
        // Requests in flight were completed, and nothing was sent after them.
        assert_eq!(
            count(&report, "good") + count(&report, "wrong"),
            report["derived"]["all"]["requests"],
            "{out}"
        );
        if model[0] == "--rate" {
            let arrivals = &report["arrivals"];
            assert_eq!(report["derived"]["unanswered-arrivals"], 0, "{arrivals}");
            assert!(arrivals["unsent"].as_u64().unwrap() <= 10, "{arrivals}");
        }
    }
    // Below 100 requests nothing is decided before the end, where it is a threshold like others. The defaults stay.
    let few = words("-s quote-erc20 --max-requests 60 --abort-on p50<1us --abort-on error-rate<90%");
    let (Finished { code, out, .. }, report) = load(&few);
    assert_eq!((code, count(&report, "good")), (1, 60), "{out}");
    assert!(out.starts_with("FAILED: 1 threshold missed") && !out.contains("cut short"), "{out}");
    assert!(out.contains("error-rate (wrong or failed) <1%"), "{out}");
    assert!(out.contains("error-rate (wrong or failed) <90%"), "{out}");
}

#[test]
fn rate_limits_are_counted_separately_and_respected_when_requested() {
    let limiting = |number: usize, id: &str| {
        if number > BEFORE && number.is_multiple_of(3) {
            http("429 Too Many Requests", "retry-after: 1\r\n", "slow down")
        } else {
            sponsored(id)
        }
    };
    let url = serve(limiting);
    let arguments = [url.as_str(), "-s", "sponsor-sponsored", "--duration", "2s", "--users", "2"];
    let (out, report) = loaded(1, &arguments);
    let eager = count(&report, "rate-limited");
    assert!(eager > 3, "{out}");
    assert_eq!(count(&report, "wrong"), 0, "{out}");
    assert!(out.contains("--respect-retry-after"), "{out}");

    let url = serve(limiting);
    let line = format!("{url} -s sponsor-sponsored --duration 2s --users 2 --respect-retry-after");
    let (Finished { out, .. }, report) = load(&words(&line));
    let patient = count(&report, "rate-limited");
    assert!((1..=6).contains(&patient), "{patient}: {out}");
}

#[test]
fn a_target_that_refuses_every_request_could_not_be_tested() {
    let url = serve(|_, _| http("403 Forbidden", "", "no"));
    let (out, _) = loaded(3, &[&url, "--duration", "1s"]);
    assert!(out.starts_with("COULD NOT TEST: ") && flat(&out).contains("HTTP 403"), "{out}");
}

#[test]
fn a_target_that_answers_no_json_rpc_could_not_be_tested() {
    for (kind, body) in [("text/html", "<!doctype html>"), ("application/json", r#"{"status":"ok"}"#)] {
        let length = body.len();
        let url = serve(move |_, _| {
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}")
        });
        for specification in ["fee-quote", "erc-7677"] {
            let (out, _) = loaded(3, &[&url, "-d", "1s", "--spec", specification]);
            let said = "no answer is one of JSON-RPC: is this the URL of the service? It answers HTTP 200, ";
            let out = flat(&out);
            assert!(out.starts_with(&format!("COULD NOT TEST: {said}")), "{out}");
            assert!(out.contains(&format!("(content type {kind})")), "{out}");
        }
    }
}

#[test]
fn a_target_that_knows_neither_method_could_not_be_tested() {
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}"#;
    let url = serve(|_, _| http("200 OK", "", unknown));
    for specification in ["fee-quote", "erc-7677"] {
        let (out, _) = loaded(3, &[&url, "-d", "1s", "--spec", specification]);
        let said = "the target knows neither method: is this the URL of the service? It answers error -32601";
        assert!(flat(&out).starts_with(&format!("COULD NOT TEST: {said}")), "{specification}: {out}");
    }
}

#[test]
fn an_answer_that_lacks_a_member_of_the_other_specification_is_wrong() {
    let arguments = ["--spec", "erc-7677", "--fault", "stub-post-op-gas-missing", "--max-requests", "60"];
    let (out, report) = loaded(1, &arguments);
    assert!(count(&report, "wrong") > 0, "{out}");
    assert!(out.contains("DEFECT 1  stub.post-op-gas-07 in "), "{out}");
}

#[test]
fn the_journeys_of_each_specification_are_served_to_their_end() {
    for specification in ["fee-quote", "erc-7677"] {
        let asked = ["--spec", specification, "--scenario", "journey", "--max-requests", "40"];
        let (Finished { code, out, err }, _) = load(&asked);
        assert_eq!(code, 0, "{specification}: {out}{err}");
        assert!(out.contains("all 40 answers judged, 0 wrong"), "{specification}: {out}");
    }
}

#[test]
fn a_target_whose_answers_resemble_json_rpc_is_judged() {
    for fault in ["byte-order-mark", "answer-in-array"] {
        let (Finished { code, out, err }, _) = load(&["--max-requests", "40", "--fault", fault]);
        assert_eq!(code, 1, "{fault}: {out}{err}");
        assert!(out.contains(" answers were wrong (1 rule); 2 thresholds missed"), "{fault}: {out}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_a_report() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let (sender, measuring) = std::sync::mpsc::channel();
        // After discovery and the beginning of the load.
        let url = serve(move |number, id| {
            if number == 2 * BEFORE {
                let _ = sender.send(());
            }
            sponsored(id)
        });
        let child = command(folder.path())
            .args([&url, "-s", "sponsor-sponsored", "-o", "report.json"])
            .args(["--duration", "10m", "--users", "2"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        measuring.recv_timeout(Duration::from_mins(1)).unwrap();
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let Finished { code, out, err } = child.wait_with_output().unwrap().into();
        assert_eq!(code, 4, "{signal}: {out}{err}");
        let first = out.lines().next().unwrap();
        assert!(
            first.starts_with("INCOMPLETE: interrupted after ") && first.contains(" of 600 s  http://"),
            "{out}"
        );
        assert!(folder.path().join("report.json").exists());
    }
}

/// Sends Ctrl-C to a process.
#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(unix)]
#[test]
fn every_further_interrupt_leaves_the_report_and_the_exit_code_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, held) = std::sync::mpsc::channel();
    // From a request in the load on, none is answered.
    let url = serve(move |number, id| {
        if number >= 2 * BEFORE {
            let _ = sender.send(());
            thread::sleep(Duration::from_hours(1));
        }
        sponsored(id)
    });
    let mut child = command(folder.path())
        .args([&url, "-s", "sponsor-sponsored", "-o", "report.json"])
        .args(["--duration", "10m", "--users", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    held.recv_timeout(Duration::from_mins(1)).unwrap();
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
    }
    let (out, _) = ends(4, child.wait_with_output().unwrap().into());
    assert!(out.starts_with("INCOMPLETE: interrupted after "), "{out}");
    assert!(folder.path().join("report.json").exists());
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_wait_for_prometheus_with_the_exit_code_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path())
        .args(["-s", "quote-erc20", "--max-requests", "20"])
        .args(["--metrics", "0", "--metrics-wait", "10m"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut verdict = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut verdict).unwrap();
    assert!(verdict.starts_with("PASSED"), "{verdict}");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn users_follow_a_test_plan_and_the_warm_up_is_left_out() {
    let arguments = ["-s", "quote-sponsored", "--test-plan", "1,1s;3,1s;0,0s", "--warm-up", "1s"];
    let (out, report) = loaded(0, &arguments);
    assert!(report["warm_up"]["good"].as_u64().unwrap() > 0, "{out}");
    assert_eq!(report["model"]["users"], 3);
    assert!(count(&report, "good") > 0);
}

#[test]
fn goose_writes_its_report_when_requested() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path())
        .args(["-s", "quote-erc20", "--max-requests", "120", "--goose-report", "goose.json"])
        .output()
        .unwrap();
    ends(0, output.into());
    let report = std::fs::read_to_string(folder.path().join("goose.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let requests = report["raw_metrics"]["requests"].to_string() + &report.to_string();
    assert!(requests.contains("quote-erc20"), "{requests}");
}
