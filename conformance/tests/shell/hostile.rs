//! Hostile and broken targets: each is named for what it is, soon, in little memory, and the reports are written.

use std::process::Command;

use crate::*;

/// What a run against a hostile target leaves.
struct Ordeal {
    code: i32,
    /// The terminal report on one line.
    told: String,
    report: Value,
    /// Most memory resident, in KiB; none where the system does not tell.
    peak: Option<u64>,
}

/// The deadline of an exchange that ends without it, however slow this machine is.
const FAR: &[&str] = &["--timeout", "4m"];

/// The deadline of an exchange that ends by it. Few exchanges run at a time, so that each gets as far as its target lets it.
const NEAR: &[&str] = &["--timeout", "2s", "--jobs", "4"];

/// Runs the binary with its default settings and these.
fn meet(url: &str, more: &[&str]) -> Ordeal {
    let folder = tempdir().unwrap();
    let path = assert_cmd::cargo::cargo_bin("paymaster-conformance");
    let mut child = Command::new(path)
        .current_dir(folder.path())
        .env_clear()
        .envs(system_root())
        .args([url, "--report", "json=report.json"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let reading = thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    let mut peak = None;
    let status = loop {
        peak = resident(child.id()).or(peak);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let out = reading.join().unwrap();
    let report = fs::read_to_string(folder.path().join("report.json"))
        .unwrap_or_else(|cause| panic!("no report was written: {cause}\n{out}"));
    Ordeal {
        code: status.code().unwrap(),
        told: flat(&out),
        report: serde_json::from_str(&report).unwrap(),
        peak,
    }
}

/// The most memory that a process had resident so far, in KiB.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Most memory that a run against any of these may have resident: several bodies of the largest size that is read, at the same time.
const MOST_KIB: u64 = 96 * 1024;

/// Checks a run against a target whose exchanges end without a deadline.
fn endure(name: &str, url: &str, code: i32, said: &str) {
    check(name, &meet(url, FAR), code, said);
}

/// Checks a run against a target whose exchanges end by their deadline.
fn outlast(name: &str, url: &str, said: &str) {
    check(name, &meet(url, NEAR), 3, said);
}

/// Checks what holds for every run: exit code, message, report and memory.
fn check(name: &str, ordeal: &Ordeal, code: i32, said: &str) {
    let told = &ordeal.told;
    assert_eq!(ordeal.code, code, "{name}: {told}");
    assert!(told.contains(said), "{name} is not named `{said}`: {told}");
    assert_eq!(ordeal.report["exit_code"], code, "{name}");
    let report = ordeal.report.to_string();
    assert!(report.contains(said), "{name} is not named in the report: {report}");
    assert!(!told.contains("the time limit"), "{name} is not given up soon: {told}");
    if let Some(peak) = ordeal.peak {
        assert!(peak <= MOST_KIB, "{name}: {peak} KiB resident");
    }
}

/// Writes the same again and again, as long as anybody reads.
fn flood(stream: &mut TcpStream, chunk: &[u8]) {
    while stream.write_all(chunk).is_ok() {}
}

/// Writes a byte now and then, as long as anybody reads: only a total deadline ends this.
fn drip(stream: &mut TcpStream) {
    while stream.write_all(b"x").is_ok() {
        thread::sleep(Duration::from_millis(20));
    }
}

fn answer(stream: &mut TcpStream, headers: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n"
    );
    write(stream, head.as_bytes());
    write(stream, body);
}

/// The runs wait for what does not come: all of them at the same time.
fn outlast_all(targets: &[(&str, &str, &str)]) {
    thread::scope(|scope| {
        for (name, url, said) in targets {
            scope.spawn(|| outlast(name, url, said));
        }
    });
}

#[test]
fn silence_and_slowness_meet_the_total_deadline() {
    let silent = raw(|stream| {
        thread::sleep(Duration::from_mins(1));
        drop(stream);
    });
    let stalling = serving(|stream| {
        write(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{");
        thread::sleep(Duration::from_mins(1));
    });
    let dripping = serving(|stream| {
        write(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        drip(stream);
    });
    let dripping_headers = serving(|stream| {
        write(stream, b"HTTP/1.1 200 OK\r\nx: ");
        drip(stream);
    });
    outlast_all(&[
        ("silence", &silent, "no complete answer within 2.0 s (waiting for the response head)"),
        ("a stall", &stalling, "(waiting for the response body)"),
        ("a drip", &dripping, "(waiting for the response body)"),
        ("a drip of headers", &dripping_headers, "(waiting for the end of the response head)"),
    ]);
}

#[test]
fn interim_responses_without_end_are_no_answer() {
    let interim = serving(|stream| flood(stream, &b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100)));
    let slow = serving(|stream| {
        while stream.write_all(b"HTTP/1.1 102 Processing\r\n\r\n").is_ok() {
            thread::sleep(Duration::from_millis(10));
        }
    });
    let said = "only interim responses (1xx) came";
    outlast_all(&[("1xx", &interim, said), ("slow 1xx", &slow, said)]);
}

#[test]
fn bodies_without_end_are_not_read_whole() {
    const SAID: &str = "the response body is larger than 1048576 bytes";
    let endless = serving(|stream| {
        write(stream, b"HTTP/1.1 200 OK\r\n\r\n");
        flood(stream, &[b' '; 1 << 14]);
    });
    endure("an endless body", &endless, 3, SAID);
    let chunked = serving(|stream| {
        write(stream, b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        let mut chunk = b"4000\r\n".to_vec();
        chunk.extend([b' '; 1 << 14]);
        chunk.extend(b"\r\n");
        flood(stream, &chunk);
    });
    endure("an endless chunked body", &chunked, 3, SAID);
    let long = serving(|stream| {
        write(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 2147483648\r\n\r\n");
        flood(stream, &[b' '; 1 << 14]);
    });
    endure("2 GB", &long, 3, SAID);
}

#[test]
fn heads_without_end_are_not_read_whole() {
    let fat = serving(|stream| {
        write(stream, b"HTTP/1.1 200 OK\r\n");
        let header = format!("x-header: {}\r\n", "a".repeat(100_000));
        for _ in 0..100 {
            write(stream, header.as_bytes());
        }
        write(stream, b"content-length: 2\r\n\r\n{}");
    });
    endure("10 MB of headers", &fat, 3, "the response head is larger than 32768 bytes");
    let many = serving(|stream| {
        let headers: Vec<String> = (0..500).map(|number| format!("x-{number}: a\r\n")).collect();
        answer(stream, &headers.concat(), b"{}");
    });
    endure("500 headers", &many, 3, "the response head has more than 128 lines");
}

#[test]
fn what_is_no_json_to_be_read_is_named() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let nested = serving(move |stream| answer(stream, "", deep.as_bytes()));
    endure("JSON 100,000 deep", &nested, 3, "nested deeper than 127 levels");
    // The first bytes of a gzip stream: what it would become does not matter, since nobody decodes it. It does not
    // say that it is JSON, which is judged.
    let bomb = serving(|stream| {
        let start = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xEC, 0xC1];
        write(stream, b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 12\r\n\r\n");
        write(stream, &start);
    });
    endure("a gzip bomb", &bomb, 3, "a content coding that was not requested (Content-Encoding: gzip)");
}

#[test]
fn connections_that_end_early_are_two_defects() {
    let resetting = raw(|mut stream| {
        // What is left unread makes the system reset the connection.
        let mut byte = [0];
        let _ = stream.read(&mut byte);
    });
    endure("a reset", &resetting, 3, "reset");
    let closing = raw(|mut stream| {
        read_request(&mut stream);
    });
    endure("a close", &closing, 3, "the connection was closed before an answer came");
    let cutting = raw(|mut stream| {
        read_request(&mut stream);
        write(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-le");
    });
    endure("a cut head", &cutting, 3, "closed in the middle of the response head");
    let cutting = raw(|mut stream| {
        read_request(&mut stream);
        write(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{");
    });
    endure("a cut body", &cutting, 1, "end of file before message length reached");
}

#[test]
fn redirects_are_named_and_not_followed() {
    let itself = serving(|stream| {
        write(stream, b"HTTP/1.1 307 Temporary Redirect\r\nlocation: /loop\r\ncontent-length: 0\r\n\r\n");
    });
    endure("a loop", &itself, 3, "HTTP 307 for every valid request, a redirect to /loop");
    let elsewhere = Server::sound();
    let place = elsewhere.url();
    let head = format!("HTTP/1.1 301 Moved Permanently\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n");
    let moved = serving(move |stream| write(stream, head.as_bytes()));
    endure("another place", &moved, 3, &format!("a redirect to {place}"));
    assert_eq!(elsewhere.requests(), 0);
}

#[test]
fn other_protocols_are_named() {
    let tls = serving(|stream| write(stream, &[0x15, 3, 1, 0, 2, 2, 0x46]));
    endure("a TLS alert", &tls, 3, "what came is TLS: is it an https:// URL?");
    let ssh = raw(|mut stream| {
        write(&mut stream, b"SSH-2.0-OpenSSH_9.6\r\n");
        read_request(&mut stream);
    });
    endure("SSH", &ssh, 3, "broken HTTP response");
}

#[test]
fn down_at_the_start_is_told_from_death_in_the_middle() {
    endure("unreachable", &unreachable_url(), 3, "no answer from 127.0.0.1:");
    let server = Server::sound();
    let url = server.url();
    let dying = thread::spawn(move || meet(&url, &["--rate", "300", "--timeout", "4m"]));
    while server.requests() < 300 {
        assert!(!dying.is_finished(), "it ended before the target died");
        thread::sleep(Duration::from_millis(5));
    }
    drop(server);
    let ordeal = dying.join().unwrap();
    let told = &ordeal.told;
    // Whether a request was in flight is chance.
    let is_cut = told.contains("in flight then got no answer");
    assert_eq!(ordeal.code, if is_cut { 1 } else { 3 }, "{told}");
    assert!(told.contains("the target stopped answering from 127.0.0.1:"), "{told}");
    assert!(!told.contains("no answer from"), "{told}");
    assert!(told.contains(" passed, "), "what was judged until then is told: {told}");
}
