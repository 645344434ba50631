//! Known failures: a list that lets a run pass for what is on it, and for nothing else, and that cannot outlive it.

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::tempdir;

use crate::{rule_count, run, server::Server};

const RULE: &str = "sponsored-result.callGasLimit";

/// Breaks one member of sponsored results, under both methods.
fn wrong() -> Server {
    Server::changing(|_, _, answer| {
        if answer["result"]["MODE"] == "SPONSORED" {
            answer["result"]["callGasLimit"] = Value::from("many");
        }
    })
}

fn sound() -> Server {
    Server::hooked(|_, _, response| response)
}

/// Judges by the two rules that matter here.
fn check(folder: &Path, server: &Server, more: &[&str]) -> (i32, String, String) {
    let url = server.url();
    let mut arguments = vec![url.as_str(), "--cases", "20", "--rule", RULE, "--rule", "answer.id"];
    arguments.extend(more);
    run(folder, &arguments)
}

fn list(folder: &Path, text: &str) {
    fs::write(folder.join("known.toml"), text).unwrap();
}

fn entry(list: &str, more: &str) -> String {
    format!("[[{list}]]\nrule = \"{RULE}\"\nreason = \"r7\"\nowner = \"us\"\nexpires = 9999-12-31\n{more}\n")
}

const KNOWN: [&str; 2] = ["--known-failing", "known.toml"];

#[test]
fn what_is_listed_fails_no_run_and_what_is_not_does() {
    let folder = tempdir().unwrap();
    let server = wrong();
    let (code, ..) = check(folder.path(), &server, &[]);
    assert_eq!(code, 1);
    for listed in ["failing", "flaky"] {
        list(folder.path(), &entry(listed, ""));
        let (code, out, err) = check(folder.path(), &server, &KNOWN);
        assert_eq!(code, 0, "{out}{err}");
        assert!(
            out.starts_with(&format!(
                "NOTHING BROKEN in what was judged but for 1 known failure: 2 of {} rules",
                rule_count()
            )),
            "{out}"
        );
        assert!(out.contains("1 known failing"), "{out}");
        assert!(crate::flat(&out).contains("r7 (us, until 9999-12-31)"), "{out}");
    }
    // Known for one method only: the other one fails.
    list(folder.path(), &entry("failing", "method = \"pm_sponsorUserOperation\""));
    let (code, out, _) = check(folder.path(), &server, &KNOWN);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains(&format!("breaks     {RULE}")), "{out}");
    assert!(out.contains("pm_getFeeQuoteOrData in mode SPONSORED"), "{out}");
    assert!(!out.contains("sponsor-sponsored at"), "what is known is no failure: {out}");
}

#[test]
fn an_entry_that_outlived_its_failure_fails_the_run() {
    let folder = tempdir().unwrap();
    let (server, broken) = (sound(), wrong());
    list(folder.path(), &entry("failing", ""));
    let (code, out, _) = check(folder.path(), &server, &KNOWN);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.starts_with(&format!(
            "KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry passes now; 2 of {} rules judged",
            rule_count()
        )),
        "{out}"
    );
    assert!(crate::flat(&out).contains("unexpectedly passing: the rule held"), "{out}");
    list(folder.path(), &entry("flaky", ""));
    let (code, out, _) = check(folder.path(), &server, &KNOWN);
    assert_eq!(code, 0, "passing once proves nothing of a flaky one: {out}");
    list(folder.path(), &(entry("failing", "") + &entry("failing", "pointer = \"/result/other\"")));
    let (code, out, _) = check(folder.path(), &broken, &KNOWN);
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with("KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry matches nothing"), "{out}");
    assert!(out.contains("matches nothing"), "{out}");
    list(folder.path(), &entry("failing", "").replace("9999-12-31", "2020-01-31"));
    let (code, out, _) = check(folder.path(), &broken, &KNOWN);
    assert_eq!(code, 1, "{out}");
    assert!(
        out.starts_with(
            "VIOLATIONS: 1 defect, 1 rule broken; the known-failures list is out of date: 1 entry expired"
        ),
        "{out}"
    );
    assert!(crate::flat(&out).contains("expired on 2020-01-31"), "{out}");
    assert!(out.contains(&format!("breaks     {RULE}")), "{out}");
    let (code, out, _) = check(folder.path(), &server, &[&KNOWN[..], &["--report", "json=r.json"]].concat());
    assert_eq!(code, 1, "{out}");
    assert!(out.starts_with("KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry expired"), "{out}");
    let report: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    assert_eq!(report["conclusion"], "list-out-of-date");
    // Nothing is said of entries about rules that are not judged, or of a run that was cut short.
    let (code, out, _) = run(
        folder.path(),
        &[&server.url(), "--cases", "20", "--rule", "answer.id", "--known-failing", "known.toml"],
    );
    assert_eq!(code, 0, "{out}");
}

#[test]
fn what_failed_is_written_with_its_reason_and_the_rest_of_the_file_is_kept() {
    let folder = tempdir().unwrap();
    let server = wrong();
    let mine = "# ours\n\n[[flaky]] # keep me\nrule = \"answer.id\"\nreason = \"a proxy\"\nowner = \"us\"\nexpires = 9999-12-31\n# the end";
    list(folder.path(), mine);
    let update = [
        "--known-failing",
        "known.toml",
        "--update-known-failing",
        "--reason",
        "release 7",
        "--owner",
        "quotes team",
    ];
    let (code, _, err) = check(folder.path(), &server, &update);
    assert_eq!(code, 1, "a run that failed has failed: {err}");
    assert!(err.contains("known.toml: wrote 2 entries"), "{err}");
    let text = fs::read_to_string(folder.path().join("known.toml")).unwrap();
    assert!(text.starts_with(mine), "{text}");
    assert_eq!(text.matches("reason = \"release 7\"").count(), 2, "{text}");
    let (code, out, err) = check(folder.path(), &server, &KNOWN);
    assert_eq!(code, 0, "{out}{err}");
    let (_, _, err) = check(folder.path(), &server, &update);
    assert!(err.contains("nothing to write"), "{err}");
    assert_eq!(fs::read_to_string(folder.path().join("known.toml")).unwrap(), text);
}

#[test]
fn a_reason_that_nobody_gave_is_refused_until_someone_does() {
    let folder = tempdir().unwrap();
    let server = wrong();
    let (_, _, err) = check(folder.path(), &server, &["--update-known-failing"]);
    assert!(err.contains("2 entries still without explanation"), "{err}");
    let (code, _, err) = check(folder.path(), &server, &["--known-failing", "known-failing.toml"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("known-failing.toml: line "), "{err}");
    assert!(err.contains("the reason is missing"), "{err}");
    let (code, _, err) = check(folder.path(), &server, &["--known-failing", "none.toml"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("none.toml: "), "{err}");
}

#[test]
fn the_configuration_names_a_list_beside_it_and_the_json_report_tells_it() {
    let folder = tempdir().unwrap();
    let server = wrong();
    fs::create_dir(folder.path().join("ci")).unwrap();
    fs::write(folder.path().join("ci/p.toml"), "[run]\nknown-failing = \"list.toml\"\n").unwrap();
    fs::write(folder.path().join("ci/list.toml"), entry("failing", "")).unwrap();
    let (code, out, err) = check(folder.path(), &server, &["--config", "ci/p.toml", "--report", "json=-"]);
    assert_eq!(code, 0, "{err}");
    let report: Value = serde_json::from_str(&out).unwrap();
    let schema = serde_json::from_str(include_str!("../../report.schema.json")).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    assert!(validator.is_valid(&report), "{out}");
    assert_eq!(report["known_failures"][0]["state"], "still-failing");
    assert_eq!(report["findings"][0]["verdict"], "known-failing");
    let rules = report["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == RULE).unwrap();
    assert_eq!(rule["verdict"], "known-failing");
}
