//! The environment, mistyped commands and reports that cannot be written: none of them ends with 0.

use paymaster_settings::embedded::EMBEDDED_WARNING;

use crate::*;

#[test]
fn an_empty_variable_is_2_and_the_embedded_server_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    for (name, arguments) in [
        ("PAYMASTER_URL", &["--duration", "1s"][..]),
        ("PAYMASTER_CONFIG", &["http://127.0.0.1:1/", "--duration", "1s"]),
        ("PAYMASTER_URL", &["worker", "--master", "127.0.0.1:1"]),
    ] {
        let mut command = command(folder.path());
        let finished: Finished = command.env(name, " ").args(arguments).output().unwrap().into();
        assert_eq!(finished.code, 2, "{}{}", finished.out, finished.err);
        let named = format!("{name} is set, but empty");
        assert!(finished.err.contains(&named), "{}", finished.err);
    }
}

#[test]
fn a_comparison_says_that_the_embedded_server_was_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let load = run(folder.path(), &["--max-requests", "40", "--users", "2", "-o", "a.json"]);
    assert_eq!(load.code, 0, "{}{}", load.out, load.err);
    assert!(load.out.contains(EMBEDDED_WARNING), "{}", load.out);
    let compared = run(folder.path(), &["compare", "a.json", "a.json"]);
    let words = compared.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.matches(EMBEDDED_WARNING).count(), 2, "{}", compared.out);
}

#[test]
fn a_mistyped_command_is_2_with_the_right_one() {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(folder.path(), &["mrege", "a.json", "b.json"]);
    assert_eq!(finished.code, 2);
    assert!(finished.err.contains("there is no command `mrege` (did you mean `merge`?)"), "{}", finished.err);
}

#[cfg(target_os = "linux")]
#[test]
fn a_report_that_cannot_be_written_is_2_whatever_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--max-requests", "40", "--users", "2", "--fault", "id-null", "-o", "json=/dev/full"];
    let finished = run(folder.path(), &arguments);
    assert_eq!(finished.code, 2, "{}", finished.err);
    assert!(finished.out.starts_with("FAILED"), "{}", finished.out);
    assert!(finished.err.contains("a report could not be written"), "{}", finished.err);
}
