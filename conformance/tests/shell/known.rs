//! Known failures: a list that lets a run pass for what is on it, and for nothing else, and that cannot outlive it.

use crate::*;

const RULE: &str = "sponsored-result.callGasLimit";

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
    let server = Server::with_gas_in_words();
    ends(1, check(folder.path(), &server, &[]));
    for listed in ["failing", "flaky"] {
        list(folder.path(), &entry(listed, ""));
        let (out, _) = ends(0, check(folder.path(), &server, &KNOWN));
        assert!(
            out.starts_with(&format!(
                "NOTHING BROKEN in what was judged but for 1 known failure: 2 of {} rules",
                rule_count()
            )),
            "{out}"
        );
        assert!(out.contains("1 known failing"), "{out}");
        assert!(flat(&out).contains("r7 (us, until 9999-12-31)"), "{out}");
    }
    // Known for one method only: the other one fails.
    list(folder.path(), &entry("failing", "method = \"pm_sponsorUserOperation\""));
    let (out, _) = ends(1, check(folder.path(), &server, &KNOWN));
    has(&out, &[&format!("breaks     {RULE}"), "pm_getFeeQuoteOrData in mode SPONSORED"]);
    assert!(!out.contains("sponsor-sponsored at"), "what is known is no failure: {out}");
}

#[test]
fn an_entry_that_outlived_its_failure_fails_the_run() {
    let folder = tempdir().unwrap();
    let (server, broken) = (Server::sound(), Server::with_gas_in_words());
    list(folder.path(), &entry("failing", ""));
    let (out, _) = ends(1, check(folder.path(), &server, &KNOWN));
    assert!(
        out.starts_with(&format!(
            "KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry passes now; 2 of {} rules judged",
            rule_count()
        )),
        "{out}"
    );
    assert!(flat(&out).contains("unexpectedly passing: the rule held"), "{out}");
    list(folder.path(), &entry("flaky", ""));
    let (code, out, _) = check(folder.path(), &server, &KNOWN);
    assert_eq!(code, 0, "passing once proves nothing of a flaky one: {out}");
    list(folder.path(), &(entry("failing", "") + &entry("failing", "pointer = \"/result/other\"")));
    let (out, _) = ends(1, check(folder.path(), &broken, &KNOWN));
    assert!(out.starts_with("KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry matches nothing"), "{out}");
    assert!(out.contains("matches nothing"), "{out}");
    list(folder.path(), &entry("failing", "").replace("9999-12-31", "2020-01-31"));
    let (out, _) = ends(1, check(folder.path(), &broken, &KNOWN));
    assert!(
        out.starts_with(
            "VIOLATIONS: 1 defect, 1 rule broken; the known-failures list is out of date: 1 entry expired"
        ),
        "{out}"
    );
    assert!(flat(&out).contains("expired on 2020-01-31"), "{out}");
    assert!(out.contains(&format!("breaks     {RULE}")), "{out}");
    let (out, _) =
        ends(1, check(folder.path(), &server, &[&KNOWN[..], &["--report", "json=r.json"]].concat()));
    assert!(out.starts_with("KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry expired"), "{out}");
    let report = json_of(&folder, "r.json");
    assert_eq!(report["conclusion"], "list-out-of-date");
    // Nothing is said of entries about rules that are not judged, or of a run that was cut short.
    let arguments = [&server.url(), "--cases", "20", "--rule", "answer.id", "--known-failing", "known.toml"];
    ends(0, run(&folder, &arguments));
}

#[test]
fn what_failed_is_written_with_its_reason_and_the_rest_of_the_file_is_kept() {
    let folder = tempdir().unwrap();
    let server = Server::with_gas_in_words();
    let mine = "# ours\n\n[[flaky]] # keep me\nrule = \"answer.id\"\nreason = \"a proxy\"\nowner = \"us\"\nexpires = 9999-12-31\n# the end";
    list(folder.path(), mine);
    let told = ["--reason", "release 7", "--owner", "quotes team"];
    let update = [&KNOWN[..], &["--update-known-failing"], &told].concat();
    let (code, _, err) = check(folder.path(), &server, &update);
    assert_eq!(code, 1, "a run that failed has failed: {err}");
    assert!(err.contains("known.toml: wrote 2 entries"), "{err}");
    let text = text_of(&folder, "known.toml");
    assert!(text.starts_with(mine), "{text}");
    assert_eq!(text.matches("reason = \"release 7\"").count(), 2, "{text}");
    ends(0, check(folder.path(), &server, &KNOWN));
    let (_, _, err) = check(folder.path(), &server, &update);
    assert!(err.contains("nothing to write"), "{err}");
    assert_eq!(text_of(&folder, "known.toml"), text);
}

#[test]
fn a_reason_that_nobody_gave_is_refused_until_someone_does() {
    let folder = tempdir().unwrap();
    let server = Server::with_gas_in_words();
    let (_, _, err) = check(folder.path(), &server, &["--update-known-failing"]);
    assert!(err.contains("2 entries still without explanation"), "{err}");
    let (_, err) = ends(2, check(folder.path(), &server, &["--known-failing", "known-failing.toml"]));
    has(&err, &["known-failing.toml: line ", "the reason is missing"]);
    let (_, err) = ends(2, check(folder.path(), &server, &["--known-failing", "none.toml"]));
    assert!(err.contains("none.toml: "), "{err}");
}

#[test]
fn the_configuration_names_a_list_beside_it_and_the_json_report_tells_it() {
    let folder = tempdir().unwrap();
    let server = Server::with_gas_in_words();
    fs::create_dir(folder.path().join("ci")).unwrap();
    fs::write(folder.path().join("ci/p.toml"), "[run]\nknown-failing = \"list.toml\"\n").unwrap();
    fs::write(folder.path().join("ci/list.toml"), entry("failing", "")).unwrap();
    let (out, _) = ends(0, check(folder.path(), &server, &["--config", "ci/p.toml", "--report", "json=-"]));
    let report: Value = serde_json::from_str(&out).unwrap();
    is_valid(&report);
    assert_eq!(report["known_failures"][0]["state"], "still-failing");
    assert_eq!(report["findings"][0]["verdict"], "known-failing");
    let rules = report["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == RULE).unwrap();
    assert_eq!(rule["verdict"], "known-failing");
}
