//! The verdict says what it rests on: how much was judged, what is known to fail, what does not apply.

use crate::*;

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Writes the profile of the reference server as `p.toml`.
fn profile(folder: &Path) {
    fs::write(folder.join("p.toml"), own_profile()).unwrap();
}

/// The verdict as every report has it.
fn told(folder: &Path) -> Vec<(&'static str, String)> {
    let json = |name| serde_json::from_str::<Value>(&read(folder, name)).unwrap();
    let last = read(folder, "r.ndjson").lines().last().unwrap().to_owned();
    let between = |name, from: &str, to: &str| {
        let text = read(folder, name);
        let rest = text.split_once(from).unwrap().1;
        rest.split_once(to).unwrap().0.to_owned()
    };
    let plain = |value: &Value| value.as_str().unwrap().to_owned();
    let run = &json("r.sarif")["runs"][0];
    let har = json("r.har")["log"]["comment"].take();
    vec![
        ("json", plain(&json("r.json")["verdict"])),
        ("ndjson", plain(&serde_json::from_str::<Value>(&last).unwrap()["verdict"])),
        ("sarif", plain(&run["properties"]["verdict"])),
        ("exit code", plain(&run["invocations"][0]["exitCodeDescription"])),
        ("junit", between("r.junit", "name=\"verdict\" value=\"", "\"")),
        ("markdown", between("r.markdown", "## Paymaster conformance: ", "\n")),
        ("title", between("r.html", "<title>", " · ")),
        ("har", plain(&har).split_once(" · ").unwrap().0.to_owned()),
    ]
}

/// Runs with every report; gives the exit code and the report for people.
fn report(folder: &Path, server: &Server, more: &[&str]) -> (i32, String) {
    let formats = ["json", "ndjson", "sarif", "junit", "markdown", "html", "har"];
    let asked = formats.map(|format| format!("--report={format}=r.{format}"));
    let url = server.url();
    let mut arguments = vec![url.as_str(), "--cases", "12", "--no-shrink"];
    arguments.extend(asked.iter().map(String::as_str).chain(more.iter().copied()));
    let (code, out, err) = run(folder, &arguments);
    is_valid(&json_of(folder, "r.json"));
    let line = flat(&out);
    for (name, verdict) in told(folder) {
        // Markdown quotes what a target answers.
        let verdict = verdict.replace('`', "").to_lowercase();
        assert!(line.to_lowercase().starts_with(&verdict), "{name}: {verdict}: {out}{err}");
    }
    (code, out)
}

#[test]
fn what_could_not_be_judged_is_counted_in_every_verdict() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let (code, out) = report(folder.path(), &server, &["--allow-incomplete"]);
    assert_eq!(code, 0, "{out}");
    let json: Value = serde_json::from_str(&text_of(&folder, "r.json")).unwrap();
    let rules = json["rules"].as_array().unwrap();
    let of = |verdict: &str| rules.iter().filter(|rule| rule["verdict"] == verdict).count();
    let (passed, open) = (of("passed"), of("inconclusive"));
    assert!(open > 0 && passed + open + of("not-applicable") == rules.len(), "{passed} {open}");
    let all = rule_count();
    let expected =
        format!("NOTHING BROKEN in what was judged: {passed} of {all} rules; 1 rule does not apply http");
    assert!(flat(&out).starts_with(&expected), "{out}");
    assert_eq!(json["conclusion"], "nothing-broken");
    let (code, out) = report(folder.path(), &server, &[]);
    assert_eq!(code, 4, "{out}");
    let expected = format!(
        "INCOMPLETE: nothing broken in what was judged: {passed} of {all} rules; 1 rule does not apply"
    );
    assert!(out.starts_with(&expected), "{out}");
}

#[test]
fn known_failures_are_part_of_the_verdict_and_of_the_badge() {
    let folder = tempdir().unwrap();
    profile(folder.path());
    let list = "[[failing]]\nrule = \"sponsored-result.callGasLimit\"\nreason = \"r7\"\nowner = \"us\"\nexpires = 9999-12-31\n";
    fs::write(folder.path().join("known.toml"), list).unwrap();
    let server = Server::with_gas_in_words();
    let more = ["--config", "p.toml", "--known-failing", "known.toml", "--cases", "250"];
    let url = server.url();
    let mut arguments = vec![url.as_str(), "--report", "json=r.json"];
    arguments.extend(more);
    let (out, _) = ends(0, run(&folder, &arguments));
    assert!(out.starts_with("CONFORMS but for 1 known failure; 1 rule does not apply  http://"), "{out}");
    run(&folder, &["matrix", "r.json", "-o", "m.html"]);
    assert!(
        text_of(&folder, "r.svg").contains(">conforms but for 1 known failure; 1 rule does not apply</text>")
    );
    assert!(text_of(&folder, "m.html").contains("conforms but for 1 known failure"));
}

#[test]
fn a_part_of_the_rules_gets_a_verdict_of_its_own_and_no_badge() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    fs::write(folder.path().join("r.svg"), "the badge of an earlier run").unwrap();
    let (code, out) = report(folder.path(), &server, &["--rule", "answer.id"]);
    assert_eq!(code, 0, "{out}");
    let all = rule_count();
    assert!(out.starts_with(&format!("NOTHING BROKEN in what was judged: 1 of {all} rules  ")), "{out}");
    let (out, _) = ends(0, run(&folder, &["matrix", "r.json", "-o", "m.html"]));
    has(&out, &[&format!("no badge for r: 1 of {all} rules judged, since --rule left out {}", all - 1)]);
    assert!(!folder.path().join("r.svg").exists(), "the old badge is left: {out}");
    let page = text_of(&folder, "m.html");
    assert!(page.contains(&format!("nothing broken in what was judged: 1 of {all} rules")), "{page}");
    assert!(!page.contains("<svg class=\"badge\""), "{page}");
    // Of a run over all rules, the badge says how far it came.
    let (code, out) = report(folder.path(), &server, &["--allow-incomplete"]);
    assert_eq!(code, 0, "{out}");
    run(&folder, &["matrix", "r.json", "-o", "m.html"]);
    let badge = text_of(&folder, "r.svg");
    has(&badge, &[">incomplete: ", &format!(" of {all} rules judged</text>")]);
}

#[test]
fn a_run_without_any_result_does_not_pass() {
    let folder = tempdir().unwrap();
    let refusing = Server::changing(|_, _, answer| refuse_result(answer, -32_000, "no"));
    for more in [
        &["--allow-incomplete"][..],
        &["--allow-incomplete", "--rule", "answer.id"],
        &["--allow-incomplete", "--rule", "quote-result.feeQuotes"],
        &["--rule", "answer.id"],
    ] {
        let (code, out) = report(folder.path(), &refusing, more);
        assert_eq!(code, 4, "{more:?}: {out}");
        let expected = "INCOMPLETE: no request got a result; nothing broken in what was judged: ";
        assert!(out.starts_with(expected), "{more:?}: {out}");
        assert!(flat(&out).contains("a run without any result does not pass"), "{out}");
    }
    // No answer is one of the service: nothing can be said of the rule.
    let page = Server::hooked(|_, _, response| response.map(|_| Full::from("<html>")));
    let (code, out) =
        report(folder.path(), &page, &["--allow-incomplete", "--rule", "quote-result.feeQuotes"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.contains("no answer is one of JSON-RPC"), "{out}");
}

#[test]
fn rules_that_do_not_apply_are_named_with_the_reason() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("p.toml"), "[operations]\naccepts = \"listed\"\n").unwrap();
    let server = Server::sound();
    let (code, out) = report(folder.path(), &server, &["--config", "p.toml", "--allow-incomplete", "-v"]);
    assert_eq!(code, 0, "{out}");
    let json: Value = serde_json::from_str(&text_of(&folder, "r.json")).unwrap();
    let rules = json["rules"].as_array().unwrap();
    let unmet: Vec<&str> = rules
        .iter()
        .filter(|rule| rule["verdict"] == "not-applicable")
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert!(unmet.len() >= 3, "{unmet:?}");
    let reason = "the profile says that only listed operations are accepted";
    let text = flat(&out);
    let (_, named) = text.split_once(" not applicable to this target ").unwrap();
    assert!(named.contains(&format!(" -> {reason}")), "{out}");
    for rule in &unmet {
        assert!(named.contains(rule), "{rule}: {out}");
    }
    has(&text, &[&format!(" of {} rules; {} rules do not apply http", rule_count(), unmet.len())]);
    let markdown = text_of(&folder, "r.markdown");
    assert!(markdown.contains(reason), "{markdown}");
}
