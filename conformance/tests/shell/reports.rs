//! The reports.

use crate::*;

/// Breaks one stated and one warning rule.
fn wrong() -> Server {
    Server::changing(|_, request, answer| {
        if request["params"][1]["mode"] == "SPONSORED" && answer.get("result").is_some() {
            answer["result"]["callGasLimit"] = Value::from("many");
            answer["result"]["mode"] = Value::from("\u{1b}[31mred");
        }
    })
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|cause| panic!("{cause}: {text}"))
}

#[test]
fn the_json_report_is_valid_against_its_schema() {
    let folder = tempdir().unwrap();
    let server = wrong();
    for (url, expected) in [(server.url(), 1), (unreachable_url(), 3)] {
        let (out, _) = ends(expected, run(&folder, &[&url, "--cases", "8", "--report", "json=-"]));
        let report = json(&out);
        is_valid(&report);
        assert_eq!(report["exit_code"], expected);
    }
    let (_, out, _) = run(&folder, &[&server.url(), "--cases", "8", "--report", "json=-"]);
    let report = json(&out);
    let finding = &report["findings"][0];
    assert_eq!(finding["rule"], "sponsored-result.callGasLimit", "stated rules come first");
    assert_eq!(finding["reproduced"], 3);
    assert_eq!(finding["attempts"].as_array().map(Vec::len), Some(3));
    assert!(folder.path().join(finding["replay_file"].as_str().unwrap()).exists());
}

/// Two members with a value of the same wrong type are one thing to repair, and the report says why it takes them for one.
#[test]
fn findings_of_one_defect_name_what_links_them() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| {
        if answer["result"]["MODE"] == "SPONSORED" {
            for member in ["callGasLimit", "verificationGasLimit"] {
                answer["result"][member] = "0x1".into();
            }
        }
    });
    let line =
        format!("{} --cases 8 --rule sponsored-result.* --no-shrink --report json=r.json", server.url());
    ends(1, run(&folder, &words(&line)));
    let report = json_of(&folder, "r.json");
    is_valid(&report);
    assert_eq!(report["defects"].as_array().map(Vec::len), Some(1), "{report:#}");
    let links = report["defects"][0]["links"].as_array().unwrap();
    assert!(links.iter().any(|link| link["reason"] == "same-type"), "{links:#?}");
}

#[test]
fn findings_and_counts_are_the_same_whatever_the_concurrency() {
    let server = wrong();
    let report = |jobs: &str| {
        let (_, out, _) = alone(&[&server.url(), "--cases", "15", "--jobs", jobs, "--report", "json=-"]);
        let mut report = json(&out);
        report["took_ms"] = Value::Null;
        report
    };
    let alone = report("1");
    assert_eq!(alone, report("16"));
    assert!(alone["findings"].as_array().is_some_and(|findings| findings.len() > 1));
}

#[test]
fn another_seed_is_another_run() {
    let server = wrong();
    let request = |seed: &str| {
        let (_, out, _) =
            alone(&[&server.url(), "--cases", "4", "--seed", seed, "--report", "json=-", "--no-shrink"]);
        json(&out)["findings"][0]["requests"].clone()
    };
    assert_eq!(request("7"), request("7"));
    assert_ne!(request("7"), request("8"));
}

#[test]
fn junit_has_one_case_a_rule() {
    let folder = tempdir().unwrap();
    let server = wrong();
    ends(1, run(&folder, &[&server.url(), "--cases", "8", "--report", "junit=junit.xml"]));
    let xml = text_of(&folder, "junit.xml");
    let (_, rules, _) = run(&folder, &["rules", "--json"]);
    let rules = json(&rules);
    let mut judged = rules.as_array().unwrap().clone();
    let is_own = |rule: &Value| rule["id"].as_str().is_some_and(|id| SPECIFICATION.find_rule(id).is_some());
    judged.retain(|rule| rule["basis"] != "on-chain" && is_own(rule));
    assert_eq!(xml.matches("<testcase ").count(), judged.len());
    let case = |id: &str| {
        let from = xml.find(&format!("<testcase name=\"{id}\"")).unwrap();
        &xml[from..from + xml[from..].find("</testcase>").unwrap()]
    };
    assert!(case("sponsored-result.callGasLimit").contains("<failure "), "{xml}");
    assert!(case("interoperability.mode-member").contains("<skipped message=\"warning: "), "{xml}");
    assert!(case("error.refusal-is-none").contains("<skipped message=\"inconclusive: "), "{xml}");
    assert!(!xml.contains('\u{1b}'));
    let unreachable = unreachable_url();
    run(&folder, &[&unreachable, "--report", "junit=junit.xml"]);
    let xml = text_of(&folder, "junit.xml");
    assert!(xml.contains("<error message=\"no answer from"), "{xml}");
    assert!(!xml.contains("<failure"), "{xml}");
}

#[test]
fn a_report_that_cannot_be_written_loses_none_of_the_others() {
    let folder = tempdir().unwrap();
    // A file where a folder is needed.
    fs::write(folder.path().join("blocked"), "").unwrap();
    let sound = Server::sound();
    let reports = ["--report", "json=blocked/report.json", "--report", "junit=junit.xml"];
    let url = sound.url();
    let arguments = [&[&*url, "--cases", "8", "--allow-incomplete"], &reports[..]].concat();
    let (out, err) = ends(2, run(&folder, &arguments));
    assert!(err.contains("the JSON report could not be written: blocked"), "{err}");
    assert!(out.starts_with("NOTHING BROKEN"), "{out}");
    assert!(folder.path().join("junit.xml").exists());
}

/// Whatever the verdict: 1 would mean that every requested report has it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_2_with_the_verdict_and_leaves_the_earlier_report() {
    let server = Server::changing(|_, _, answer| answer["id"] = Value::from("seven"));
    for format in ["json", "har", "har-all"] {
        let folder = tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/full", folder.path().join("full")).unwrap();
        let full = format!("{format}=full");
        let arguments = [&server.url(), "--cases", "4", "--rule", "answer.id", "--report", &full];
        let (code, out, err) = run(&folder, &arguments);
        assert_eq!(code, 2, "{format}: {out}{err}");
        assert!(out.starts_with("VIOLATIONS"), "{out}");
        assert!(err.contains("could not be written: full: No space left"), "{err}");
        assert!(folder.path().join("full").is_symlink());
    }
}

#[test]
fn nothing_from_the_target_reaches_the_terminal_raw() {
    let server = wrong();
    let (_, out, _) = alone(&[&server.url(), "--cases", "8"]);
    assert!(!out.contains('\u{1b}'), "{out}");
    assert!(out.contains("\\u001b[31mred"), "{out}");
    let too_wide: Vec<&str> = out
        .lines()
        // Lines to paste are one line each.
        .filter(|line| !line.starts_with("  cURL") && !line.starts_with("  replay"))
        .filter(|line| line.chars().count() > 100)
        .collect();
    assert!(too_wide.is_empty(), "{too_wide:#?}");
}
