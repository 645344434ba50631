//! Targets that refuse requests while too many are in flight, and targets that only look so.

use hyper::body::Bytes;

use crate::*;

/// A run with 32 jobs: exit code, reports for people, and the observations of the JSON report.
fn observed(url: &str, more: &[&str]) -> (i32, String, Value) {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("p.toml"), own_profile()).unwrap();
    let arguments = [url, "--config=p.toml", "--cases=4", "--allow-incomplete", "--report=json=r.json"];
    let more = if more.contains(&"--jobs") { more.to_vec() } else { [&["--jobs", "32"], more].concat() };
    let (code, out, err) = run(&folder, &[&arguments[..], &more].concat());
    let report = text_of(&folder, "r.json");
    let mut report: Value = serde_json::from_str(&report).unwrap();
    let observations = report["observations"]["behaviour.requests-in-flight"].take();
    (code, format!("{out}{err}"), observations)
}

#[test]
fn a_target_that_takes_few_requests_at_a_time_breaks_nothing_and_its_limit_is_reported() {
    for (variant, sign) in [
        // The kill matrix has the other variants of overload.
        ("busy-above-four", "the error \"server busy\""),
        ("closed-above-four", "no answer, and the connection is closed"),
    ] {
        let (code, printed, observations) = observed(&Injected::variant(variant).url, &[]);
        assert_eq!(code, 0, "{variant}: {printed}");
        let note = format!("note: {sign} while other requests were in flight");
        assert!(printed.contains(&note), "{variant}: {printed}");
        let observations = observations.as_object().unwrap();
        let (observation, _) = observations.iter().next().unwrap();
        let (jobs, words) = observation.split_once(' ').unwrap();
        assert!(["1", "2", "4", "8", "16"].contains(&jobs), "{observation}");
        assert!(words.ends_with(&format!("at a time; with more, {sign}")), "{observation}");
    }
}

#[test]
fn a_restart_that_closes_what_is_in_flight_accuses_nobody_and_is_reported() {
    // One more than are in flight: requests on reused connections are sent again at once, and one of them meets a closed connection again.
    for (closed, jobs) in [(9, "8"), (12, "8"), (3, "1")] {
        let server = Server::hooked(move |number, _, mut response| {
            if (300..300 + closed).contains(&number) {
                response.extensions_mut().insert(Closed);
            }
            response
        });
        let (code, printed, _) = observed(&server.url(), &["--jobs", jobs]);
        assert_eq!(code, 0, "{closed}, {jobs}: {printed}");
        assert!(
            printed.contains("the target may have been away once: it closed several"),
            "{closed}, {jobs}: {printed}"
        );
    }
}

#[test]
fn a_target_that_is_busy_without_other_requests_fails() {
    let (code, printed, observations) = observed(&Injected::fault("busy-for-large-calls").url, &[]);
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("sponsor.sponsored-result"), "{printed}");
    assert_eq!(observations, Value::Null, "{printed}");
}

/// A server that answers some requests with an error of a rate limit, under HTTP 200, by their number and body.
fn limiting(is_limited: impl Fn(usize, &Value) -> bool + Send + Sync + 'static) -> Server {
    Server::hooked(move |number, body, response| {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        if !is_limited(number, &request) {
            return response;
        }
        let error = json!({ "code": -32005, "message": "request limit exceeded" });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
        Response::new(Full::new(Bytes::from(answer.to_string())))
    })
}

#[test]
fn a_rate_limit_in_a_json_rpc_error_is_waited_for_and_breaks_nothing() {
    // Twelve in a row: more than are sent without a pause to look whether the error is one of overload.
    let server = limiting(|number, _| (300..312).contains(&number));
    let (code, printed, _) = observed(&server.url(), &["--strict"]);
    assert_eq!(code, 0, "{printed}");
    assert!(printed.contains("CONFORMS") && !printed.contains("WARNING"), "{printed}");
}

#[test]
fn an_error_of_a_rate_limit_that_no_pause_ends_is_judged() {
    let server = limiting(|_, request| {
        request["method"] == "pm_sponsorUserOperation" && request["params"][1]["mode"] == "ERC20"
    });
    let (code, printed, _) = observed(&server.url(), &["--rule=sponsor.erc20-result"]);
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("request limit exceeded"), "{printed}");
}

/// A server that closes each connection at once that is opened while `most` are open.
fn with_connections(most: usize) -> String {
    let (server, open) = (Server::sound(), AtomicUsize::new(0));
    raw(move |mut stream| {
        if open.fetch_add(1, Ordering::SeqCst) < most {
            let address = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
            let mut service = TcpStream::connect(address).unwrap();
            let (mut requests, mut to_service) = (stream.try_clone().unwrap(), service.try_clone().unwrap());
            thread::spawn(move || {
                // One end closed the connection, which is no matter of the other direction.
                let _ = std::io::copy(&mut requests, &mut to_service);
                let _ = to_service.shutdown(std::net::Shutdown::Write);
            });
            let _ = std::io::copy(&mut service, &mut stream);
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        open.fetch_sub(1, Ordering::SeqCst);
    })
}

/// Clients that end their connection after each request have one of their own, beside those of the other requests in flight.
#[test]
fn a_target_that_takes_as_many_connections_as_requests_are_in_flight_is_not_accused() {
    let folder = tempdir().unwrap();
    let url = with_connections(8);
    ends(0, run(&folder, &[&url, "--allow-incomplete"]));
}
