//! The step of `action.yml` that judges: inputs become arguments and never shell code, and an empty URL is no green.
#![cfg(unix)]

use std::process::Command;

use crate::*;

/// Runs the step: exit code, output, what it handed on.
fn step(folder: &Path, inputs: &[(&str, &str)]) -> (i32, String, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/action-run");
    let mut command = Command::new("bash");
    command
        .arg(script)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PAYMASTER_CONFORMANCE", assert_cmd::cargo::cargo_bin("paymaster-conformance"))
        .env("GITHUB_STEP_SUMMARY", folder.join("summary.md"))
        .env("GITHUB_OUTPUT", folder.join("output"));
    for (name, value) in inputs {
        command.env(name, value);
    }
    let output = command.output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        fs::read_to_string(folder.join("output")).unwrap_or_default(),
    )
}

#[test]
fn inputs_become_arguments_and_the_verdict_stands_in_the_summary() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, answer| answer["id"] = Value::from("seven"));
    let (code, said, handed) = step(
        folder.path(),
        &[
            ("INPUT_URL", &server.url()),
            ("INPUT_REPORTS", "\n  junit=a b.xml  \njson=r.json\n"),
            ("INPUT_ARGS", "--cases 4 --rule answer.id --replay-dir $(touch${IFS}owned)*"),
        ],
    );
    assert_eq!(code, 1, "{said}");
    assert_eq!(handed, "exit-code=1\n");
    let summary = text_of(&folder, "summary.md");
    assert!(summary.contains("answer.id"), "{summary}");
    let errors = said.lines().filter(|line| line.starts_with("::error "));
    let errors: Vec<&str> = errors.collect();
    assert!(!errors.is_empty(), "{said}");
    for line in errors {
        assert!(line.starts_with("::error title=Paymaster defect "), "{line}");
        assert!(line.contains("%0Abreaks 1 rule: answer.id"), "{line}");
    }
    assert!(said.contains("::notice title=Paymaster conformance::violations: "), "{said}");
    assert!(folder.path().join("a b.xml").exists() && folder.path().join("r.json").exists());
    assert!(!folder.path().join("owned").exists(), "an input was run as code");
}

#[test]
fn findings_are_uploaded_where_the_repository_has_a_profile() {
    let server = Server::changing(|_, _, answer| answer["id"] = Value::from("seven"));
    for has_profile in [false, true] {
        let folder = tempdir().unwrap();
        if has_profile {
            fs::write(folder.path().join("paymaster.toml"), "# ours\n[target]\n").unwrap();
        }
        let (code, said, handed) = step(
            folder.path(),
            &[
                ("INPUT_URL", &server.url()),
                ("INPUT_UPLOAD_SARIF", "true"),
                ("INPUT_ARGS", "--cases 4 --rule answer.id"),
                ("RUNNER_TEMP", folder.path().to_str().unwrap()),
            ],
        );
        assert_eq!(code, 1, "{said}");
        assert_eq!(handed.contains("sarif="), has_profile, "{said}{handed}");
        assert_eq!(said.contains(",file=paymaster.toml,line=2::"), has_profile, "{said}");
        assert_eq!(said.contains("::warning::the findings are not uploaded"), !has_profile, "{said}");
    }
}

#[test]
fn quotes_keep_an_argument_together_and_headers_are_sent() {
    let folder = tempdir().unwrap();
    let server = Server::changing(|_, _, _| {});
    let (code, text, _) = step(
        folder.path(),
        &[
            ("INPUT_URL", &server.url()),
            ("INPUT_HEADERS", "x-one: 1\nx-two: 2"),
            ("INPUT_ARGS", "--cases 4 --allow-incomplete\n--report 'har-all=all of it.har'"),
        ],
    );
    assert_eq!(code, 0, "{text}");
    let archive = text_of(&folder, "all of it.har");
    assert!(archive.contains("x-one") && archive.contains("x-two"), "{archive}");
}

#[test]
fn a_backslash_is_a_letter_and_a_quoted_part_joins_the_word() {
    let folder = tempdir().unwrap();
    let (code, text, _) = step(
        folder.path(),
        &[
            ("INPUT_URL", "embedded"),
            ("INPUT_ARGS", r#"--dry-run --replay-dir a\b --config 'c:\no "such" file\'.toml"#),
        ],
    );
    assert_eq!(code, 2, "{text}");
    assert!(text.contains(r#"c:\no "such" file\.toml"#), "{text}");
}

#[test]
fn true_in_any_letter_case_is_true_and_another_word_is_an_error() {
    let server = Server::changing(|_, _, answer| answer["id"] = Value::from("seven"));
    for (value, expected) in [("True", 1), ("TRUE", 1), ("False", 1), ("", 1), ("yes", 2)] {
        let folder = tempdir().unwrap();
        let (code, text, _) = step(
            folder.path(),
            &[
                ("INPUT_URL", &server.url()),
                ("INPUT_STRICT", value),
                ("INPUT_ARGS", "--cases 4 --rule answer.id --report json=r.json"),
            ],
        );
        assert_eq!(code, expected, "{value}: {text}");
        let report = fs::read_to_string(folder.path().join("r.json")).unwrap_or_default();
        let strict = value.eq_ignore_ascii_case("true");
        assert_eq!(report.contains("\"strict\": true"), strict, "{value}");
        assert_eq!(text.contains("`strict` is neither true nor false: yes"), value == "yes", "{text}");
    }
}

#[test]
fn an_open_quote_is_an_error() {
    let folder = tempdir().unwrap();
    let (code, text, _) =
        step(folder.path(), &[("INPUT_URL", "embedded"), ("INPUT_ARGS", "--report 'html=a")]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("::error::the input `args` has a quote"), "{text}");
}

#[test]
fn an_empty_url_is_an_error() {
    let folder = tempdir().unwrap();
    for empty in ["", " \n"] {
        let (code, said, _) = step(folder.path(), &[("INPUT_URL", empty)]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("::error::the input `url` is empty"), "{said}");
    }
}
