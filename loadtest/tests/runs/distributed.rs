//! What of a distributed run needs no Locust: usage errors, the locustfile, and `merge` as the locustfile calls it. `.ci/locust` has the
//! tests with a real master.

use std::io::{self, Read as _, Write as _};
use std::time::Instant;

use serde::Serialize;

use crate::*;

#[test]
fn errors_of_a_worker_name_their_cause() {
    let folder = tempfile::tempdir().unwrap();
    let (_taken, refusing) = refusing();
    let master = &["worker", "--master", "127.0.0.1:1"][..];
    for (arguments, expected, word) in [
        (&["worker", &refusing][..], 2, "--master"),
        (master, 2, "needs the URL"),
        (&[master, &["http://192.0.2.1/"]].concat(), 2, "--i-own-this-target"),
        (&[master, &[&refusing]].concat(), 3, "could not test"),
        (&[master, &[&refusing, "-o", "report.pdf"]].concat(), 2, ".html"),
        (&["locustfile", "--weight", "nothing=1"], 2, "no scenario"),
        (&["merge", "--check", "-t", "p95"], 2, "METRIC<VALUE"),
        (&["merge", "--check", "-o", "a.pdf"], 2, ".html"),
        (&["merge", "--files-from", "none.txt"], 2, "none.txt"),
        (&["merge"], 2, "required"),
    ] {
        let Finished { code, out, err } = run(folder.path(), arguments);
        assert_eq!(code, expected, "{arguments:?}: {out}{err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
        // An option that `worker` does not have.
        assert!(!err.contains("--rate"), "{arguments:?}: {err}");
    }
    assert_eq!(run(folder.path(), &["merge", "--check", "-t", "p95<1s"]).code, 0);
}

#[test]
fn a_worker_gives_up_when_there_is_no_master() {
    let url = serve(|_, id| sponsored(id));
    let folder = tempfile::tempdir().unwrap();
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let master = taken.local_addr().unwrap().to_string();
    let arguments = ["worker", "--master", &master, "--patience", "1s", &url];
    let (_, err) = ends(3, run(folder.path(), &arguments));
    assert!(err.contains("no Locust master at 127.0.0.1:") && err.contains("for 1 s"), "{err}");
}

/// The greeting of a Locust master, and its READY command.
const GREETING: [u8; 64] = {
    let mut bytes = [0; 64];
    (bytes[0], bytes[9], bytes[10]) = (0xff, 0x7f, 3);
    (bytes[12], bytes[13], bytes[14], bytes[15]) = (b'N', b'U', b'L', b'L');
    bytes
};
const READY: &[u8] = b"\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06ROUTER";
/// The head of a frame of 4 EiB.
const OVERSIZED: &[u8] = b"\x02\x40\0\0\0\0\0\0\0";

/// A message of a master, in its frame.
fn message(kind: &str, data: impl Serialize) -> Vec<u8> {
    let body = rmp_serde::to_vec_named(&(kind, data, "")).unwrap();
    let length = u8::try_from(body.len()).unwrap();
    [&[0, length][..], &body].concat()
}

fn ack() -> Vec<u8> {
    message("ack", BTreeMap::from([("index", 0)]))
}

/// Reads until the worker has sent these bytes once more; without them, until it closes the connection.
fn await_bytes(stream: &mut TcpStream, awaited: Option<&[u8]>) -> io::Result<()> {
    let (mut received, mut chunk) = (Vec::new(), [0; 8_192]);
    loop {
        let read = stream.read(&mut chunk)?;
        received.extend_from_slice(&chunk[..read]);
        let arrived =
            awaited.is_some_and(|awaited| received.windows(awaited.len()).any(|part| part == awaited));
        if arrived || read == 0 {
            return Ok(());
        }
    }
}

/// What a master does after the handshake. The connection ends when it returns.
type Script = fn(&mut TcpStream) -> io::Result<()>;

/// Starts a master that does this with each connection, and returns its address.
fn master(script: Script) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream
                .read_exact(&mut [0; 64])
                .and_then(|()| stream.write_all(&[&GREETING[..], READY].concat()))
                .and_then(|()| script(&mut stream));
        }
    });
    address
}

/// Runs a worker with this master. A worker that does not end is killed after a time that is far longer than it may take.
fn worker(folder: &Path, master: &str, arguments: &[&str]) -> Finished {
    let url = serve(|_, id| sponsored(id));
    let mut command = command(folder);
    command.args(["worker", "--master", master, &url]).args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(2);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one run, step by step")]
fn no_master_keeps_a_worker_longer_than_its_patience() {
    let scripts: [(Script, &str); 8] = [
        // It never acknowledges the worker.
        (|stream| await_bytes(stream, None), "does not acknowledge this worker"),
        (
            |stream| {
                stream.write_all(b"\0\x7fhalf a frame")?;
                await_bytes(stream, None)
            },
            "does not acknowledge this worker",
        ),
        (
            |stream| loop {
                stream.write_all(&message("no-message", 0))?;
                thread::sleep(Duration::from_millis(1));
            },
            "does not acknowledge this worker",
        ),
        (
            |stream| {
                stream.write_all(OVERSIZED)?;
                await_bytes(stream, None)
            },
            "larger than",
        ),
        // It acknowledges the worker, and does not serve it.
        (
            |stream| {
                stream.write_all(&[&ack()[..], OVERSIZED].concat())?;
                await_bytes(stream, None)
            },
            "larger than",
        ),
        (
            |stream| {
                stream.write_all(&[ack(), message("reconnect", 0)].concat())?;
                await_bytes(stream, None)
            },
            "connect anew",
        ),
        (|stream| stream.write_all(&ack()), ""),
        // 10 s without a heartbeat.
        (
            |stream| {
                stream.write_all(&ack())?;
                loop {
                    stream.write_all(&message("no-message", 0))?;
                    thread::sleep(Duration::from_millis(10));
                }
            },
            "no heartbeat",
        ),
    ];
    thread::scope(|scope| {
        for (place, (script, cause)) in scripts.into_iter().enumerate() {
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                let master = master(script);
                let Finished { code, err, .. } = worker(folder.path(), &master, &["--patience", "1s"]);
                assert_eq!(code, 3, "{place}: {err}");
                let last = format!("no Locust master at {master} for 1 s: ");
                assert!(err.contains(&last), "{place}: {err}");
                // On a machine that is too slow, not even the handshake is complete in time.
                assert!(err.contains(cause) || err.contains("no answer within"), "{place}: {err}");
            });
        }
    });
}

#[test]
fn each_run_of_a_worker_has_a_report_of_its_own() {
    #[derive(Serialize)]
    struct Spawn {
        timestamp: f64,
        user_classes_count: BTreeMap<&'static str, u64>,
    }
    let master = master(|stream| {
        let spawn = |timestamp| {
            let user_classes_count = BTreeMap::from([("errors", 1)]);
            message("spawn", Spawn { timestamp, user_classes_count })
        };
        stream.write_all(&[ack(), spawn(1.0)].concat())?;
        await_bytes(stream, Some(b"\xa5stats"))?;
        stream.write_all(&message("stop", 0))?;
        await_bytes(stream, Some(b"client_ready"))?;
        stream.write_all(&spawn(2.0))?;
        await_bytes(stream, Some(b"\xa5stats"))?;
        stream.write_all(&message("quit", 0))?;
        await_bytes(stream, None)
    });
    let folder = tempfile::tempdir().unwrap();
    ends(0, worker(folder.path(), &master, &["-o", "own.json", "-o", "md/own.md"]));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let report = |name: &str| -> Value { serde_json::from_str(&read(name)).unwrap() };
    let (first, second) = (report("own.json"), report("own-2.json"));
    assert_ne!(first, second);
    for report in [first, second] {
        assert_eq!(report["workers"][0]["complete"], true, "{report}");
        assert_eq!(report["workers"][0]["setup"]["--judge"], "100%", "{report}");
    }
    assert_ne!(read("md/own.md"), read("md/own-2.md"));
}

#[test]
fn the_locustfile_has_a_class_for_each_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let Finished { code, out, .. } = run(folder.path(), &["locustfile"]);
    assert_eq!(code, 0);
    assert!(out.contains("\"journey\": 3"), "{out}");
    let arguments = ["locustfile", "--weight", "errors=4", "-o", "locustfile.py"];
    assert_eq!(run(folder.path(), &arguments).code, 0);
    let text = std::fs::read_to_string(folder.path().join("locustfile.py")).unwrap();
    assert!(text.contains("SCENARIOS = {\"errors\": 4}\n"), "{text}");
}

#[test]
fn a_worker_without_figures_leaves_a_merge_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| run(folder.path(), arguments);
    ends(0, run(&["-s", "errors", "--max-requests", "50", "-o", "a.json"]));
    std::fs::write(folder.path().join("files.txt"), "a.json\na.json\n").unwrap();
    let (out, _) = ends(0, run(&["merge", "--files-from", "files.txt"]));
    assert!(out.contains("100 requests in"), "{out}");
    let (out, _) = ends(4, run(&["merge", "a.json", "--missing", "host_1", "-o", "merged.json"]));
    assert!(out.contains("worker host_1 sent no figures"), "{out}");
    let merged = std::fs::read_to_string(folder.path().join("merged.json")).unwrap();
    let merged: Value = serde_json::from_str(&merged).unwrap();
    assert_eq!(merged["workers"][0]["name"], "host_1");
}

#[test]
fn random_arrivals_are_those_of_the_seed() {
    // The machine of the test may be slow.
    let arguments =
        words("-s errors --rate 200 --arrivals poisson --duration 1s --threshold reached-rate>=1%");
    let due = |seed: &str| {
        let (out, report) = loaded(0, &[&arguments[..], &["--seed", seed]].concat());
        assert!(out.contains("at random (Poisson)"), "{out}");
        report["arrivals"]["due"].as_u64().unwrap()
    };
    let (first, again, other) = (due("1"), due("1"), due("2"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(first.abs_diff(200) < 60 && other.abs_diff(200) < 60, "{first} {other}");
}
