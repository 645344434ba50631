//! `--rule` and `--fail-fast` send fewer requests, and so does a run with a budget of time.

use crate::*;

#[test]
fn a_rule_sends_what_it_needs_and_discovery() {
    let count = |arguments: &[&str]| {
        let server = Server::sound();
        let (code, out, err) = alone(&[&[server.url().as_str()], arguments].concat());
        assert!([0, 4].contains(&code), "{out}{err}");
        server.requests()
    };
    let nothing_more = count(&["--rule", "on-chain.accepted", "--rule", "json-rpc.parse-error"]);
    assert!(nothing_more < 200, "{nothing_more}");
    let one = count(&["--rule", "request.nonce-uint256"]);
    assert!((nothing_more..400).contains(&one), "{one}");
}

#[test]
fn a_quick_run_judges_every_rule_and_finds_what_every_answer_shows() {
    let folder = tempdir().unwrap();
    let (out, _) = ends(0, run(&folder, &["--quick", "--idle", "10ms"]));
    let all = rule_count();
    assert!(out.contains(&format!("{all} rules: {all} passed")), "{out}");
    let server = Injected::fault("fee-premium-number");
    let (out, _) = ends(1, run(&folder, &[&server.url, "--quick"]));
    has(&flat(&out), &["cause every answer of pm_getFeeQuoteOrData in mode ERC20"]);
    ends(2, run(&folder, &["--quick", "--cases", "10"]));
}

#[test]
fn fail_fast_ends_at_the_first_confirmed_violation() {
    let folder = tempdir().unwrap();
    let wrong = |from: usize| {
        Server::changing(move |number, _, answer| {
            if number >= from {
                answer["id"] = "seven".into();
            }
        })
    };
    let server = wrong(150);
    let options = ["--fail-fast", "--no-shrink", "--jobs", "4"];
    let (out, _) = ends(1, run(&folder, &[&[server.url().as_str()], &options[..]].concat()));
    assert!(out.contains("breaks     answer.id"), "{out}");
    assert!(flat(&out).contains("cut short: --fail-fast ends the run"), "{out}");
    assert!(server.requests() < 300, "{}", server.requests());
    // A violation that is not seen again does not end it, and neither does a warning.
    let once = Server::changing(|number, _, answer| {
        if number == 150 {
            answer["id"] = "seven".into();
        }
    });
    run(&folder, &[once.url().as_str(), "--fail-fast", "--cases", "10"]);
    assert!(once.requests() > 1_000, "{}", once.requests());
}

/// The stop ends the plan and not the search: the first defect has its cause, and few requests were sent.
#[test]
fn fail_fast_names_the_cause_of_the_defect() {
    let server = Injected::fault("sponsored-call-string-when-deploying");
    let (out, _) = ends(1, alone(&[&server.url, "--fail-fast"]));
    has(&flat(&out), &["cause wrong with 1 byte or more in initCode", "cut short: --fail-fast ends the run"]);
}

#[test]
fn a_rule_that_every_answer_exercises_sends_few_requests_of_every_kind() {
    let folder = tempdir().unwrap();
    for (fault, rule) in [("id-null-in-errors", "answer.id"), ("half-of-message", "answer.http-message")] {
        let server = Injected::fault(fault);
        let arguments = [server.url.as_str(), "--rule", rule, "--no-shrink", "--report", "json=r.json"];
        let (code, out, err) = run(&folder, &arguments);
        assert_eq!(code, 1, "{fault}: {out}{err}");
        let report: Value = serde_json::from_slice(&fs::read(folder.path().join("r.json")).unwrap()).unwrap();
        let requests = report["requests"].as_u64().unwrap();
        // With a few for limits that a target may state in its own words: every error breaks a rule.
        assert!(requests < 1_500, "{fault}: {requests}");
    }
}

#[test]
fn a_long_run_is_a_quick_one_unless_its_time_is_stated() {
    for (more, quick) in [
        (&[][..], true),
        (&["--quick"], true),
        (&["--time-limit", "5m"], false),
        (&["--cases", "250"], false),
    ] {
        let (_, out, _) = alone(&[&["--dry-run", "--rate", "20"], more].concat());
        let text = flat(&out);
        assert_eq!(text.contains("this run takes at most 60 s, every rule first"), quick, "{text}");
    }
}
