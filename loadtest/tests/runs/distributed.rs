//! What of a distributed run needs no Locust: usage errors, the locustfile, and `merge` as the locustfile calls it. `.ci/locust` has the
//! tests with a real master.

use serde_json::Value;

use crate::support::{Finished, load, run};

#[test]
fn errors_of_a_worker_name_their_cause() {
    let folder = tempfile::tempdir().unwrap();
    // A bound port without a listener refuses connections.
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let refusing = format!("http://{}/", taken.local_addr().unwrap());
    let master = &["worker", "--master", "127.0.0.1:1"][..];
    for (arguments, expected, word) in [
        (&["worker", &refusing][..], 2, "--master"),
        (master, 2, "needs the URL"),
        (
            &[master, &["http://192.0.2.1/"]].concat(),
            2,
            "--i-own-this-target",
        ),
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
    }
    assert_eq!(run(folder.path(), &["merge", "--check", "-t", "p95<1s"]).code, 0);
}

#[test]
fn a_worker_gives_up_when_there_is_no_master() {
    let url = crate::support::serve(|_, id| crate::support::sponsored(id));
    let folder = tempfile::tempdir().unwrap();
    let taken = tokio::net::TcpSocket::new_v4().unwrap();
    taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let master = taken.local_addr().unwrap().to_string();
    let arguments = ["worker", "--master", &master, "--patience", "1s", &url];
    let Finished { code, err, .. } = run(folder.path(), &arguments);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("no Locust master at 127.0.0.1:") && err.contains("for 1 s"),
        "{err}"
    );
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
    let Finished { code, .. } = run(&["-s", "errors", "--max-requests", "50", "-o", "a.json"]);
    assert_eq!(code, 0);
    std::fs::write(folder.path().join("files.txt"), "a.json\na.json\n").unwrap();
    let Finished { code, out, .. } = run(&["merge", "--files-from", "files.txt"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("100 requests in"), "{out}");
    let Finished { code, out, .. } = run(&["merge", "a.json", "--missing", "host_1", "-o", "merged.json"]);
    assert_eq!(code, 4, "{out}");
    assert!(out.contains("worker host_1 sent no figures"), "{out}");
    let merged = std::fs::read_to_string(folder.path().join("merged.json")).unwrap();
    let merged: Value = serde_json::from_str(&merged).unwrap();
    assert_eq!(merged["workers"][0]["name"], "host_1");
}

#[test]
fn random_arrivals_are_those_of_the_seed() {
    let arguments = [
        "-s",
        "errors",
        "--rate",
        "200",
        "--arrivals",
        "poisson",
        "--duration",
        "1s",
    ];
    let due = |seed: &str| {
        let (Finished { code, out, err }, report) = load(&[&arguments[..], &["--seed", seed]].concat());
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("at random (Poisson)"), "{out}");
        report["arrivals"]["due"].as_u64().unwrap()
    };
    let (first, again, other) = (due("1"), due("1"), due("2"));
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert!(
        first.abs_diff(200) < 60 && other.abs_diff(200) < 60,
        "{first} {other}"
    );
}
