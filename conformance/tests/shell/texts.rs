//! What a person reads, word for word: the commands whose text no report's snapshot holds.

use crate::*;

const RULE: &str = "sponsored-result.callGasLimit";

/// Exit code and both outputs, in one text.
fn told(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, err) = run(folder, arguments);
    format!("$ paymaster-conformance {}\n{out}{err}exit code {code}\n", arguments.join(" "))
}

#[test]
fn rules_are_explained() {
    let folder = tempdir().unwrap();
    let mut text = String::new();
    for id in ["quote-result.feeQuotes", "sponsor.decision-inputs", "dialect.amount-notation", "answer.di"] {
        text += &told(folder.path(), &["explain", id]);
        text.push('\n');
    }
    insta::assert_snapshot!("explain", text);
}

#[test]
fn a_dry_run_says_what_would_be_sent() {
    let folder = tempdir().unwrap();
    insta::assert_snapshot!("dry_run", told(folder.path(), &["--dry-run", "--cases", "4"]));
}

#[test]
fn a_file_is_written_once() {
    let folder = tempdir().unwrap();
    let text = told(folder.path(), &["init"]) + &told(folder.path(), &["init"]);
    insta::assert_snapshot!("init", text);
}

#[test]
fn a_finding_is_replayed() {
    let folder = tempdir().unwrap();
    let server = Server::with_gas_in_words();
    let sound = Server::sound();
    run(&folder, &[&server.url(), "--cases", "4", "--rule", RULE, "--replay-dir", "r"]);
    let file = format!("r/{RULE}-1.json");
    let mut text = told(folder.path(), &["replay", &file, &server.url()]).replace(&server.url(), "URL");
    text += &told(folder.path(), &["replay", &file, &sound.url()]).replace(&sound.url(), "URL");
    text += &told(folder.path(), &["replay", "gone.json"]);
    insta::assert_snapshot!("replay", text);
}

#[test]
fn known_failures_are_written() {
    let folder = tempdir().unwrap();
    let server = Server::with_gas_in_words();
    let new = ["--update-known-failing", "--reason", "release 7", "--expires", "2027-01-31"];
    let url = server.url();
    let (_, _, err) = run(&folder, &[&[&*url, "--cases", "4", "--rule", RULE], &new[..]].concat());
    let list = text_of(&folder, "known-failing.toml");
    insta::assert_snapshot!("known_failing", format!("{err}\n{list}"));
}

#[test]
fn every_shell_gets_a_script_and_every_command_a_page() {
    let folder = tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (out, _) = ends(0, run(&folder, &["completions", shell]));
        assert!(out.contains("paymaster-conformance") && out.contains("known-failing"), "{shell}");
    }
    let (_, err) = ends(2, run(&folder, &["completions", "cmd"]));
    assert!(err.contains("possible values"), "{err}");
    ends(0, run(&folder, &["man", "man"]));
    for page in ["paymaster-conformance.1", "paymaster-conformance-judge.1"] {
        let text = fs::read_to_string(folder.path().join("man").join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}
