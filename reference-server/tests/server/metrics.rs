//! `--metrics`: an OpenMetrics page with the requests by method, mode and outcome, and their latencies.

use std::collections::BTreeMap;

use crate::*;

/// The samples of a page, by name and labels in alphabetical order.
struct Samples(BTreeMap<(String, Vec<(String, String)>), f64>);

impl Samples {
    /// Parses OpenMetrics text, and checks what is true of every page: types are declared before, names end as the type
    /// demands, and the last line is the end.
    fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").expect("the page ends so");
        let mut types = BTreeMap::new();
        let mut samples = BTreeMap::new();
        for line in body.lines() {
            if let Some(declared) = line.strip_prefix("# TYPE ") {
                let (name, kind) = declared.split_once(' ').expect("a name and a type");
                assert_eq!(types.insert(name.to_owned(), kind.to_owned()), None, "{name}");
            } else if !line.starts_with("# HELP ") {
                let (name, labels, value) = sample(line);
                let suffix = types.iter().find_map(|(family, kind)| {
                    name.strip_prefix(family.as_str()).map(|suffix| (suffix, kind))
                });
                let (suffix, kind) = suffix.unwrap_or_else(|| panic!("no type of {name}"));
                match kind.as_str() {
                    "counter" => assert_eq!(suffix, "_total"),
                    "histogram" => assert!(["_bucket", "_count", "_sum"].contains(&suffix), "{name}"),
                    other => panic!("{other}"),
                }
                assert_eq!(samples.insert((name, labels), value), None, "{line}");
            }
        }
        Self(samples)
    }

    /// The value of the sample with exactly these labels; 0 when there is none.
    fn get(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let mut labels: Vec<_> =
            labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        labels.sort();
        self.0.get(&(format!("paymaster_server_{name}"), labels)).copied().unwrap_or_default()
    }

    fn requests(&self, method: &str, mode: &str, outcome: &str) -> f64 {
        self.get("requests_total", &[("method", method), ("mode", mode), ("outcome", outcome)])
    }

    /// The sum of all samples of that name.
    fn sum(&self, name: &str) -> f64 {
        let name = format!("paymaster_server_{name}");
        let samples = self.0.iter().filter(|((known, _), _)| *known == name);
        samples.map(|(_, value)| value).sum()
    }
}

/// The name, the labels and the value of a line such as `name{a="b",c="d"} 7`.
fn sample(line: &str) -> (String, Vec<(String, String)>, f64) {
    let (series, value) = line.rsplit_once(' ').expect("a value");
    let (name, labels) = series.split_once('{').expect("labels");
    let labels = labels.strip_suffix('}').expect("labels end");
    let mut labels: Vec<_> = labels
        .split(',')
        .map(|label| {
            let (name, value) = label.split_once("=\"").expect("a label");
            let value = value.strip_suffix('"').expect("a label ends");
            (name.to_owned(), value.to_owned())
        })
        .collect();
    labels.sort();
    (name.to_owned(), labels, value.parse().expect("a number"))
}

/// The head and the samples of the page of a server.
fn scrape(address: &str) -> (String, Samples) {
    let answer = exchange(address, "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a response");
    (head.to_owned(), Samples::parse(body))
}

fn start(arguments: &[&str]) -> (Running, String) {
    let mut server = Running::start(&[&["--metrics", "0", "--log", "off"], arguments].concat());
    let page = server.line("metrics are at http://");
    let address = page.strip_suffix("/metrics").expect("the path").to_owned();
    (server, address)
}

const QUOTE: &str = "pm_getFeeQuoteOrData";
const SPONSOR: &str = "pm_sponsorUserOperation";

#[test]
fn requests_are_counted_by_method_mode_and_outcome() {
    let (server, address) = start(&[]);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let (head, before) = scrape(&address);
    assert!(head.contains("content-type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(before.sum("requests_total").abs() < 0.5);

    let unsupported =
        sponsor(&json!({ "mode": "ERC20", "tokenInfo": { "feeTokenAddress": UNKNOWN_TOKEN } })).to_string();
    let [quote_sponsored, quote_tokens, sponsored, _] = the_four_pairs();
    for _ in 0..3 {
        server.post("/", &quote_tokens.to_string());
    }
    server.post("/", &unsupported);
    server.post("/", &json!([quote_sponsored, sponsored, sponsored]).to_string());
    server.post("/", &json!({ "id": 1, "jsonrpc": "2.0", "method": "A\"}\n" }).to_string());
    server.post("/", "{");
    server.send("GET", "/health", &[]);

    let (_, after) = scrape(&address);
    for (method, mode, outcome, count) in [
        (QUOTE, "ERC20", "result", 3.0),
        (QUOTE, "SPONSORED", "result", 1.0),
        (SPONSOR, "SPONSORED", "result", 2.0),
        (SPONSOR, "ERC20", "token-unsupported", 1.0),
        ("other", "none", "method-not-found", 1.0),
        ("none", "none", "parse-error", 1.0),
        ("none", "none", "health", 1.0),
    ] {
        let counted = after.requests(method, mode, outcome);
        assert!((counted - count).abs() < 0.5, "{method} {mode} {outcome}: {counted}");
    }
    assert!((after.sum("requests_total") - 10.0).abs() < 0.5);
}

#[test]
fn latencies_are_a_histogram_of_http_requests() {
    let (server, address) = start(&[]);
    let [_, quote, _, sponsor] = the_four_pairs();
    server.post("/", &quote.to_string());
    server.post("/", &quote.to_string());
    server.post("/", &json!([quote, sponsor]).to_string());
    let (_, page) = scrape(&address);
    for (method, mode, count) in [(QUOTE, "ERC20", 2.0), ("batch", "none", 1.0)] {
        let labels = [("method", method), ("mode", mode)];
        let counted = page.get("request_duration_seconds_count", &labels);
        assert!((counted - count).abs() < 0.5, "{method}: {counted}");
        let sum = page.get("request_duration_seconds_sum", &labels);
        assert!(sum > 0.0 && sum < 60.0, "{method}: {sum}");
        let buckets: BTreeMap<String, f64> = page
            .0
            .iter()
            .filter(|((name, of), _)| {
                name.ends_with("_bucket") && of.contains(&("method".into(), method.into()))
            })
            .map(|((_, of), value)| {
                let bound = of.iter().find(|(name, _)| name == "le").expect("a bound");
                (bound.1.clone(), *value)
            })
            .collect();
        assert_eq!(buckets.len(), 21);
        assert!((buckets["+Inf"] - count).abs() < 0.5);
        let mut by_bound: Vec<(f64, f64)> = buckets
            .iter()
            .map(|(bound, value)| (bound.trim_start_matches('+').parse().expect("a number"), *value))
            .collect();
        by_bound.sort_by(|left, right| left.0.total_cmp(&right.0));
        assert!(by_bound.is_sorted_by(|left, right| left.1 <= right.1), "{by_bound:?}");
    }
}

#[test]
fn a_fault_counts_as_what_was_sent() {
    let (server, address) = start(&["--fault", "answer-as-text"]);
    server.post("/", &the_four_pairs()[1].to_string());
    let (_, page) = scrape(&address);
    assert!((page.requests(QUOTE, "ERC20", "malformed") - 1.0).abs() < 0.5);
}

#[test]
fn the_page_has_one_path_and_one_method() {
    let (_server, address) = start(&[]);
    for (request, status) in [("GET / HTTP/1.1", "http/1.1 404"), ("POST /metrics HTTP/1.1", "http/1.1 405")]
    {
        let answer = exchange(&address, &format!("{request}\r\nhost: localhost\r\n\r\n"));
        assert!(answer.starts_with(status), "{answer}");
    }
}

#[test]
fn an_address_in_use_or_malformed_gives_exit_code_3() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for address in [port.as_str(), &format!(":{port}"), &format!("127.0.0.1:{port}"), "port"] {
        let error = failed(3, &run(&["--listen", "127.0.0.1:0", "--metrics", address]));
        assert!(error.starts_with("error: cannot listen on 127.0.0.1:"), "{error}");
    }
}
