//! Targets that limit how many requests they take, and runs that limit themselves.

use hyper::StatusCode;
use tempfile::tempdir;

use crate::{run, server::Server};

/// A server that answers so many requests, and then 429 with that Retry-After.
fn answering(most: usize, retry_after: &'static str) -> Server {
    Server::hooked(move |number, _, mut response| {
        if number >= most {
            *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
            response.headers_mut().insert("retry-after", retry_after.parse().unwrap());
        }
        response
    })
}

#[test]
fn a_target_that_answered_and_asks_to_wait_beyond_the_time_limit_leaves_a_run_incomplete() {
    let folder = tempdir().unwrap();
    let server = answering(800, "3600");
    let (code, out, err) = run(folder.path(), &[&server.url(), "--jobs", "1"]);
    assert_eq!(code, 4, "{out}{err}");
    assert!(out.starts_with("INCOMPLETE"), "{out}");
    let plain = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plain.contains(
            "cut short: the target limits how many requests it takes: it asked to wait 3600 s (Retry-After)"
        ),
        "{out}"
    );
    assert!(out.contains(" passed, "), "what was judged until then is reported: {out}");
    assert!(!out.contains("check that the target is running"), "{out}");
    assert!(plain.contains("fewer --cases"), "{out}");
    assert_eq!(server.requests(), 801);
}

#[test]
fn a_pause_in_which_the_time_limit_ends_leaves_a_run_incomplete() {
    let folder = tempdir().unwrap();
    let server = answering(100, "");
    let arguments = [&server.url(), "--jobs", "1", "--time-limit", "3s"];
    let (code, out, err) = run(folder.path(), &arguments);
    assert_eq!(code, 4, "{out}{err}");
    assert!(out.contains("the time limit of 3 s was reached"), "{out}");
}

#[test]
fn a_target_that_asks_to_wait_without_end_leaves_a_run_incomplete() {
    let folder = tempdir().unwrap();
    let (code, out, err) = run(folder.path(), &[&answering(300, "0").url(), "--jobs", "1"]);
    assert_eq!(code, 4, "{out}{err}");
    assert!(out.contains("answered 429 to each of 3 requests 8 times"), "{out}");
    let (code, out, err) = run(folder.path(), &[&answering(0, "0").url(), "--jobs", "1"]);
    assert_eq!(code, 3, "nothing was ever answered: {out}{err}");
}

#[test]
fn a_target_that_asks_to_wait_beyond_the_time_limit_at_once_is_given_up() {
    let folder = tempdir().unwrap();
    let (code, out, _) = run(folder.path(), &[&answering(0, "3600").url()]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("asked to wait 3600 s"), "{out}");
}

#[test]
fn a_run_at_a_known_rate_says_at_its_start_how_long_it_takes_and_what_fits() {
    let folder = tempdir().unwrap();
    let server = answering(usize::MAX, "");
    let url = server.url();
    for (more, words) in [
        (
            &["--rate", "20", "--time-limit", "1s"][..],
            ", and those that exercise every rule take longer than the time limit of 1 s: --time-limit ",
        ),
        (
            &["--rate", "20", "--time-limit", "2m", "--dry-run"],
            ": this run takes about 2 min, every rule first, then depth; --time-limit ",
        ),
    ] {
        let arguments = [&[url.as_str()], more].concat();
        let (_, out, err) = run(folder.path(), &arguments);
        let printed = format!("{err}{out}");
        assert!(printed.contains("t 20 requests a second, about 4"), "{printed}");
        assert!(printed.contains(words), "{printed}");
    }
    // What was printed at the start to fit does.
    let (code, out, err) =
        run(folder.path(), &[&url, "--rate", "2000", "--cases", "4", "--allow-incomplete"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(err.lines().count(), 1, "{err}");
    assert!(err.starts_with("at 2000 requests a second, about "), "{err}");
    assert!(!err.contains("longer"), "{err}");
}

#[test]
fn a_run_that_its_time_limit_ended_says_what_would_fit() {
    let folder = tempdir().unwrap();
    let server = answering(usize::MAX, "");
    let url = server.url();
    // Without an answer there is no rate to state. A loaded machine may not get to the first answer within the shortest limit.
    for seconds in ["2", "10", "60"] {
        let limit = format!("{seconds}s");
        let (code, out, err) = run(folder.path(), &[&url, "--rate", "20", "--time-limit", &limit]);
        assert_eq!(code, 4, "{out}{err}");
        let plain = out.split_whitespace().collect::<Vec<_>>().join(" ");
        if !plain.contains(&format!("the time limit of {seconds} s was reached: at ")) {
            continue;
        }
        assert!(plain.contains("requests a second, about "), "{out}");
        assert!(plain.contains("--time-limit "), "{out}");
        // The hundred requests that waited for their turn were not sent.
        let (sent, _) = plain.split_once(" requests in ").unwrap();
        let (_, sent) = sent.rsplit_once(' ').unwrap();
        assert!(sent.parse::<usize>().unwrap() < server.requests() + 50, "{out}");
        return;
    }
    panic!("no run states the rate that it reached");
}
