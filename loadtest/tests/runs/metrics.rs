//! `--metrics`: the page during a run and at its end, where its numbers are those of the JSON report.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr};
use std::sync::Barrier;

use crate::*;

/// A running command with a page of metrics.
struct Running {
    child: Child,
    err: BufReader<ChildStderr>,
    address: String,
}

impl Running {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = command(folder)
            .args(arguments)
            .args(["--metrics", "0", "--metrics-wait", "60s"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        err.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("metrics: http://").expect(&line);
        let address = address.strip_suffix("/metrics").unwrap().to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        Self { child, err, address }
    }

    /// The page, if the port is still open.
    fn page(&self) -> Option<Page> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
        Some(Page::parse(body))
    }

    /// Waits for a page with this property.
    fn wait_for(&self, property: impl Fn(&Page) -> bool) -> Page {
        loop {
            let page = self.page().expect("the run goes on");
            if property(&page) {
                return page;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Reads the page until the command ends. Gives the last page and the exit code.
    fn finish(mut self) -> (Page, i32) {
        let mut last = None;
        while let Some(page) = self.page() {
            last = Some(page);
        }
        let mut rest = String::new();
        self.err.read_to_string(&mut rest).unwrap();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        (last.expect(&rest), code)
    }
}

/// The samples of a page, by name and labels as they are written: `name{label="value"}`.
#[derive(Debug)]
struct Page(BTreeMap<String, f64>);

impl Page {
    /// Parses OpenMetrics text, and checks that every sample belongs to a declared type and none is there twice.
    fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("the page is complete");
        let (mut types, mut samples) = (BTreeMap::new(), BTreeMap::new());
        for line in body.lines() {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declared.split_once(' ').unwrap();
                assert_eq!(types.insert(name, kind), None, "{line}");
            } else if !line.starts_with("# ") {
                let (series, value) = line.rsplit_once(' ').unwrap();
                let name = series.split('{').next().unwrap();
                let is_declared = types.iter().any(|(family, kind)| {
                    let suffix = name.strip_prefix(family);
                    suffix.is_some_and(|suffix| match *kind {
                        "counter" => suffix == "_total",
                        "gauge" => suffix.is_empty(),
                        _ => ["_bucket", "_count", "_sum"].contains(&suffix),
                    })
                });
                assert!(is_declared, "{line}");
                let name = series.strip_prefix("paymaster_load_").expect(line);
                assert_eq!(samples.insert(name.to_owned(), value.parse().unwrap()), None, "{line}");
            }
        }
        Self(samples)
    }

    /// The value of a sample; 0 without one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts: checked to be whole"
    )]
    fn count(&self, series: &str) -> u64 {
        let value = self.0.get(series).copied().unwrap_or_default();
        assert!(value >= 0.0 && value.fract() == 0.0, "{series} {value}");
        value as u64
    }

    /// The sum of the samples of a name.
    fn sum(&self, name: &str) -> f64 {
        let samples = self.0.iter().filter(|(series, _)| series.starts_with(&format!("{name}{{")));
        samples.map(|(_, value)| value).sum()
    }
}

/// Compares every number of the page with the JSON report.
fn compare(page: &Page, report: &Value) {
    for (label, of) in report["labels"].as_object().unwrap() {
        let mut timed = 0;
        for (outcome, times) in of["counts"].as_object().unwrap() {
            let series = format!("requests_total{{scenario=\"{label}\",outcome=\"{outcome}\"}}");
            assert_eq!(page.count(&series), times.as_u64().unwrap(), "{series}");
            if ["good", "wrong", "rpc-error", "timeout"].contains(&outcome.as_str()) {
                timed += times.as_u64().unwrap();
            }
        }
        let of_label = format!("scenario=\"{label}\"");
        let judged = page.count(&format!("judged_answers_total{{{of_label}}}"));
        assert_eq!(judged, of["judged"].as_u64().unwrap());
        for series in [
            format!("request_duration_seconds_count{{{of_label}}}"),
            format!("request_duration_seconds_bucket{{le=\"+Inf\",{of_label}}}"),
        ] {
            assert_eq!(page.count(&series), timed, "{series} of {:?}", page.0.keys());
        }
        let sum = page.0[&format!("request_duration_seconds_sum{{{of_label}}}")];
        assert!((sum > 0.0) == (timed > 0), "{label}: {sum}");
    }
    for (outcome, times) in report["warm_up"].as_object().unwrap() {
        let series = format!("warm_up_requests_total{{outcome=\"{outcome}\"}}");
        assert_eq!(page.count(&series), times.as_u64().unwrap(), "{series}");
    }
    let mut wrong = BTreeMap::new();
    for kind in report["wrong"].as_array().unwrap() {
        let (rule, label) = (&kind["key"]["rule"], &kind["key"]["label"]);
        let series = format!("wrong_answers_total{{rule={rule},scenario={label}}}");
        *wrong.entry(series).or_insert(0) += kind["times"].as_u64().unwrap();
    }
    for (series, times) in wrong {
        assert_eq!(page.count(&series), times, "{series}");
    }
    for (series, member) in [
        ("arrivals_due_total", "due"),
        ("arrivals_served_total{began=\"in-time\"}", "in_time"),
        ("arrivals_served_total{began=\"late\"}", "late"),
        ("arrivals_late_total{cause=\"no-free-connection\"}", "waited"),
        ("arrivals_late_total{cause=\"slow-generator\"}", "delayed"),
        ("arrivals_dropped_total{cause=\"no-free-connection\"}", "unsent"),
        ("arrivals_dropped_total{cause=\"pause\"}", "held_back"),
    ] {
        assert_eq!(page.count(series), report["arrivals"][member].as_u64().unwrap(), "{series}");
    }
    let cpu = report["generators"][0]["cpu_seconds"].as_f64().unwrap_or_default();
    assert!((page.0["generator_cpu_seconds_total"] - cpu).abs() < 1e-9);
    assert_eq!(page.count("running") + page.count("users") + page.count("arrivals_waiting"), 0);
}

fn report(folder: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("a.json")).unwrap()).unwrap()
}

#[test]
fn the_final_page_has_the_numbers_of_the_report() {
    for (arguments, expected) in [
        (&["--max-requests", "400", "--fault", "id-wrong-now-and-then"][..], 1),
        // Judged in part, in the open model and with a warm-up.
        (
            &[
                "--rate",
                "300",
                "-d",
                "1s",
                "--warm-up",
                "300ms",
                "--judge",
                "10%",
                // The machine of the test may be slow.
                "--threshold",
                "reached-rate>=1%",
            ],
            0,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let running = Running::start(folder.path(), &[arguments, &["-o", "a.json"]].concat());
        let (page, code) = running.finish();
        assert_eq!(code, expected, "{page:?}");
        let report = report(folder.path());
        compare(&page, &report);
        assert!(page.sum("requests_total") > 200.0, "{page:?}");
        assert_eq!(page.sum("wrong_answers_total") > 0.0, expected == 1);
        assert_eq!(page.sum("warm_up_requests_total") > 0.0, expected == 0);
        assert_eq!(page.count("arrivals_due_total") > 0, expected == 0);
    }
}

#[test]
fn late_and_dropped_arrivals_are_those_of_the_report() {
    // The target answers two requests of the load and then asks for a pause that is longer than the run.
    let served = AtomicUsize::new(0);
    let url = serve(move |_, id| {
        if id.len() < 13 || served.fetch_add(1, Ordering::SeqCst) < 2 {
            thread::sleep(Duration::from_millis(20));
            return sponsored(id);
        }
        http("503 Service Unavailable", "retry-after: 60\r\n", "busy")
    });
    let folder = tempfile::tempdir().unwrap();
    let arguments = [url.as_str(), "-s", "sponsor-sponsored", "--rate", "200", "-d", "1s", "-u", "1"];
    let more = ["--respect-retry-after", "-o", "a.json"];
    let (page, _) = Running::start(folder.path(), &[&arguments[..], &more].concat()).finish();
    compare(&page, &report(folder.path()));
    assert!(page.count("arrivals_dropped_total{cause=\"pause\"}") > 100, "{page:?}");
    assert!(page.count("arrivals_late_total{cause=\"no-free-connection\"}") > 0, "{page:?}");
}

#[test]
fn a_page_in_the_middle_of_a_run_shows_what_happened_so_far() {
    let (users, answered) = (3, 5);
    let gate = Arc::new(Barrier::new(users + 1));
    let (sent, closed) = (AtomicUsize::new(0), Arc::clone(&gate));
    let url = serve(move |_, id| {
        // Each user waits once, with its first request after the answered ones.
        let number = if id.len() < 13 { 0 } else { sent.fetch_add(1, Ordering::SeqCst) };
        if (answered..answered + users).contains(&number) {
            closed.wait();
        }
        sponsored(id)
    });
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(
        folder.path(),
        &[&url, "-s", "sponsor-sponsored", "-u", "3", "--max-requests", "20", "-o", "a.json"],
    );
    let good = "requests_total{scenario=\"sponsor-sponsored\",outcome=\"good\"}";
    let page = running.wait_for(|page| page.count(good) == answered as u64 && page.count("busy_users") == 3);
    assert_eq!((page.count("running"), page.count("users")), (1, 3), "{page:?}");
    assert!(page.count("generator_cores") > 0);
    gate.wait();
    let (page, code) = running.finish();
    assert_eq!((code, page.count(good)), (0, 20));
    compare(&page, &report(folder.path()));
}

#[test]
fn a_port_that_cannot_be_used_ends_the_command_before_the_load() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let url = serve(move |_, id| {
        counted.fetch_add(1, Ordering::SeqCst);
        sponsored(id)
    });
    for address in [port.as_str(), &format!("127.0.0.1:{port}"), "port", "127.0.0.1:99999"] {
        for command in [&["run", &url][..], &["worker", "--master", "127.0.0.1:1", &url]] {
            let arguments = [command, &["--metrics", address]].concat();
            let (_, err) = ends(2, run(folder.path(), &arguments));
            assert!(err.contains("cannot listen on 127.0.0.1:") && err.contains("--metrics"), "{err}");
        }
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    ends(2, run(folder.path(), &["--metrics-wait", "1s"]));
}
