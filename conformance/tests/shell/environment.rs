//! Environment variables: one that is set and empty never means that something else is judged.

use std::ffi::OsString;

use paymaster_settings::{EMBEDDED_WARNING, settings::environment::variables};

use crate::*;

#[test]
fn an_empty_variable_of_the_tools_is_2_and_named() {
    let folder = tempdir().unwrap();
    fs::write(
        folder.path().join("headers.toml"),
        "[target]\nurl = \"http://127.0.0.1:1/\"\nheaders = [\"x-key: ${PAYMASTER_KEY}\"]\n",
    )
    .unwrap();
    let own = variables().map(|(name, _)| name);
    let own: Vec<String> = own.filter(|name| name.starts_with("PAYMASTER_")).collect();
    assert!(own.len() > 5);
    for blank in ["", " \t"] {
        for (name, arguments) in own.iter().map(|name| (name.as_str(), &["--dry-run"][..])).chain([
            ("PAYMASTER_URL", &["proxy", "--listen", "127.0.0.1:0"][..]),
            ("PAYMASTER_CONFIG", &["judge", "gone.har"][..]),
            ("PAYMASTER_KEY", &["judge", "gone.har", "--config", "headers.toml"][..]),
            ("PAYMASTER_KEY", &["--config", "headers.toml"][..]),
        ]) {
            let (code, out, err) = finish(binary(&folder).env(name, blank).args(arguments));
            assert_eq!(code, 2, "{name} {arguments:?}: {out}{err}");
            assert!(err.contains(&format!("{name} is set, but empty")), "{arguments:?}: {err}");
            assert!(out.is_empty(), "{out}");
        }
    }
}

#[test]
fn other_variables_count_as_not_set_when_they_are_empty() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let mut command = binary(&folder);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "no_proxy", "NO_COLOR", "SSL_CERT_FILE", "TERM"] {
        command.env(name, "");
    }
    ends(0, finish(command.args([&server.url(), "--cases", "4", "--allow-incomplete"])));
}

#[test]
fn a_variable_that_an_argument_overrides_is_not_looked_at() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("p.toml"), "").unwrap();
    let mut command = binary(&folder);
    for name in ["URL", "CONFIG", "CASES", "SEED", "JOBS", "RATE", "TIMEOUT", "TIME_LIMIT"] {
        command.env(format!("PAYMASTER_{name}"), "");
    }
    command.args(["http://127.0.0.1:1/", "--config", "p.toml", "--cases", "4", "--seed", "1", "--jobs", "1"]);
    let (out, _) =
        ends(0, finish(command.args(["--rate", "9", "--timeout", "1s", "--time-limit", "9s", "--dry-run"])));
    assert!(!out.contains(EMBEDDED_WARNING), "{out}");
}

#[cfg(unix)]
#[test]
fn a_value_that_is_not_utf_8_is_2_and_not_shown() {
    use std::os::unix::ffi::OsStringExt;
    let folder = tempdir().unwrap();
    let url = "http://127.0.0.1:1/";
    for (name, arguments) in [
        ("PAYMASTER_URL", &[][..]),
        ("PAYMASTER_HEADERS", &[url]),
        ("http_proxy", &[url]),
        ("ALL_PROXY", &[url]),
        ("KEY", &[url, "-H", "x-key: ${KEY}"]),
        ("SSL_CERT_FILE", &["https://127.0.0.1:1/"]),
        ("SSL_CERT_DIR", &["https://127.0.0.1:1/"]),
    ] {
        let value = OsString::from_vec(b"s3cret\xff".to_vec());
        let (code, out, err) = finish(binary(&folder).env(name, value).args(arguments));
        assert_eq!(code, 2, "{name}: {out}{err}");
        assert!(err.contains(&format!("{name} is not UTF-8")), "{err}");
        assert!(!err.contains("s3cret") && out.is_empty(), "{out}{err}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn certificates_from_a_device_without_end_are_2() {
    let folder = tempdir().unwrap();
    let mut command = binary(&folder);
    command.env("SSL_CERT_FILE", "/dev/zero").arg("https://127.0.0.1:1/");
    let (_, err) = ends(2, finish(&mut command));
    assert!(err.contains("SSL_CERT_FILE /dev/zero: "), "{err}");
}

/// A file of a run against the embedded server is replayed against such a server, which is no service of the user.
#[test]
fn a_replay_against_the_embedded_server_says_so() {
    let folder = tempdir().unwrap();
    let rule = "sponsored-result.callGasLimit";
    let wrong = Server::with_gas_in_words();
    ends(1, run(&folder, &[&wrong.url(), "--cases", "4", "--rule", rule]));
    let mut file = json_of(&folder, format!("paymaster-replays/{rule}-1.json"));
    file["target"] = "embedded".into();
    fs::write(folder.path().join("embedded.json"), file.to_string()).unwrap();
    let (out, _) = ends(0, run(&folder, &["replay", "embedded.json"]));
    assert!(out.starts_with(&format!("warning: {EMBEDDED_WARNING}\nFIXED  {rule}")), "{out}");
    // A URL on the command line names another target.
    let sound = Server::sound();
    let (out, _) = ends(0, run(&folder, &["replay", "embedded.json", &sound.url()]));
    assert!(!out.contains(EMBEDDED_WARNING), "{out}");
}

#[test]
fn the_embedded_server_is_the_target_only_where_nothing_names_one_and_every_report_says_so() {
    let folder = tempdir().unwrap();
    let small = ["--cases", "4", "--allow-incomplete", "--report", "json=r.json"];
    let (out, _) = ends(0, run(&folder, &small));
    assert!(flat(&out).contains(EMBEDDED_WARNING), "{out}");
    let report = text_of(&folder, "r.json");
    assert!(report.contains("\"embedded\": true"), "{report}");
    let (out, _) = ends(0, run(&folder, &["--dry-run"]));
    assert!(out.contains(EMBEDDED_WARNING), "{out}");
    // What reads the report.
    let (_, out, err) = run(&folder, &["compare", "r.json", "r.json"]);
    assert_eq!(flat(&out).matches(EMBEDDED_WARNING).count(), 2, "{out}{err}");
    let (out, _) = ends(0, run(&folder, &["matrix", "r.json", "-o", "new/m.html"]));
    assert!(out.contains(&format!("no badge for r: {EMBEDDED_WARNING}")), "{out}");
    let page = text_of(&folder, "new/m.html");
    assert!(page.contains(EMBEDDED_WARNING), "{page}");
    // The profile names a URL, and an empty one is no URL.
    for url in ["http://127.0.0.1:1/", ""] {
        fs::write(folder.path().join("paymaster.toml"), format!("[target]\nurl = \"{url}\"\n")).unwrap();
        let (code, out, err) = run(&folder, &small);
        assert_eq!(code, if url.is_empty() { 2 } else { 3 }, "{out}{err}");
        assert!(!flat(&out).contains(EMBEDDED_WARNING), "{out}");
    }
}
