//! Targets that refuse requests while too many are in flight, and targets that only look so.

use std::fs;

use paymaster_cli::embedded::profile_of;
use serde_json::Value;
use tempfile::tempdir;

use crate::{run, server::Injected};

/// A run with 32 jobs: exit code, reports for people, and the observations of the JSON report.
fn observed(server: &Injected) -> (i32, String, Value) {
    let folder = tempdir().unwrap();
    let profile = profile_of(&paymaster_reference_server::Config::default());
    fs::write(folder.path().join("p.toml"), toml::to_string(&profile).unwrap()).unwrap();
    let (code, out, err) = run(
        folder.path(),
        &[
            &server.url,
            "--config=p.toml",
            "--jobs=32",
            "--cases=4",
            "--allow-incomplete",
            "--report=json=r.json",
        ],
    );
    let report = fs::read_to_string(folder.path().join("r.json")).unwrap();
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
        let (code, printed, observations) = observed(&Injected::variant(variant));
        assert_eq!(code, 0, "{variant}: {printed}");
        let note = format!("note: {sign} while other requests were in flight");
        assert!(printed.contains(&note), "{variant}: {printed}");
        let observations = observations.as_object().unwrap();
        let (observation, _) = observations.iter().next().unwrap();
        let (jobs, words) = observation.split_once(' ').unwrap();
        assert!(["1", "2", "4", "8", "16"].contains(&jobs), "{observation}");
        assert!(
            words.ends_with(&format!("at a time; with more, {sign}")),
            "{observation}"
        );
    }
}

#[test]
fn a_target_that_is_busy_without_other_requests_fails() {
    let (code, printed, observations) = observed(&Injected::fault("busy-for-large-calls"));
    assert_eq!(code, 1, "{printed}");
    assert!(printed.contains("sponsor.sponsored-result"), "{printed}");
    assert_eq!(observations, Value::Null, "{printed}");
}
