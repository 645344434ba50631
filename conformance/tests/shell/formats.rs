//! `--report FORMAT=PATH`.

use crate::*;

/// Every format of the table.
fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

#[test]
fn every_format_is_written_at_once() {
    let folder = tempdir().unwrap();
    let (_, help, _) = run(&folder, &["--help"]);
    // A line may end between a name and its description.
    let help = flat(&help);
    let server = Server::sound();
    let url = server.url();
    let names = names();
    let asked: Vec<String> = names.iter().map(|name| format!("--report={name}=r.{name}")).collect();
    let mut arguments = vec![url.as_str(), "--cases", "8", "--allow-incomplete"];
    arguments.extend(asked.iter().map(String::as_str));
    ends(0, run(&folder, &arguments));
    let read = |name: &str| text_of(&folder, format!("r.{name}"));
    for name in &names {
        assert!(help.contains(&format!("{name} (")), "{name} is not in the help: {help}");
        assert!(!read(name).is_empty(), "{name}");
    }
    // What was sent and what was told are the same exchanges.
    let har: Value = serde_json::from_str(&read("har-all")).unwrap();
    let entries = har["log"]["entries"].as_array().unwrap().len();
    let lines = read("ndjson-all");
    let told = lines.lines().filter(|line| line.contains("\"event\":\"exchanged\"")).count();
    assert_eq!(entries, told);
    assert_eq!(server.requests(), told);
    assert!(!read("ndjson").contains("\"event\":\"exchanged\""));
}

#[test]
fn a_report_on_standard_output_stands_alone_there() {
    let server = Server::sound();
    let url = server.url();
    for format in ["json", "ndjson-all"] {
        let asked = format!("{format}=-");
        let (_, out, err) = alone(&[&url, "--cases", "4", "--report", &asked]);
        assert!(err.starts_with("INCOMPLETE: nothing broken in what was judged: "), "{err}");
        let mut values = serde_json::Deserializer::from_str(&out).into_iter::<Value>();
        assert!(values.all(|value| value.is_ok()), "{out}");
    }
}

#[test]
fn without_a_path_there_is_a_name() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    run(&folder, &[&server.url(), "--cases", "4", "--report", "har"]);
    assert!(folder.path().join("paymaster-report.har").exists());
}

#[test]
fn an_ending_is_a_format_and_missing_folders_are_made() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let url = server.url();
    let paths = ["new/a/report.html", "new/b/report.json", "new/c/x", "new/d/run.all.ndjson"];
    let mut arguments = vec![url.as_str(), "--cases", "4"];
    for path in ["new/a/report.html", "new/b/report.json", "junit=new/c/x", "new/d/run.all.ndjson"] {
        arguments.extend(["-o", path]);
    }
    let (_, out, err) = run(&folder, &arguments);
    assert!(err.is_empty(), "{out}{err}");
    let read = |path: &str| text_of(&folder, path);
    for (path, words) in paths.into_iter().zip(["<html", "\"format\"", "<testsuites", "\"exchange"]) {
        assert!(read(path).contains(words), "{path}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_before_the_run() {
    let server = Server::sound();
    let url = server.url();
    for (arguments, words) in [
        (&["--report", "jsn=x"][..], "did you mean `json`?"),
        (&["--report", "pdf=x"], "there are json, html"),
        (&["--report", "json="], "names no file"),
        (&["-o", "report.pdf"], "the ending names no report format; there are .json"),
        (&["--report", "json=x", "--report", "har=x"], "two reports"),
        (&["--report", "json=-", "--report", "har=-"], "two reports"),
    ] {
        let mut all = vec![url.as_str()];
        all.extend(arguments);
        let (code, _, err) = alone(&all);
        assert_eq!(code, 2, "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_file_that_cannot_be_written_is_told_early_and_costs_no_other_report() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let url = server.url();
    // A folder cannot be made where a file stands.
    fs::write(folder.path().join("no"), "").unwrap();
    for format in ["json", "ndjson", "har-all"] {
        let full = cfg!(target_os = "linux").then_some("/dev/full");
        for bad in ["no/such/folder/x", "."].into_iter().chain(full) {
            let asked = format!("{format}={bad}");
            let good = format!("{format}.xml");
            let line = format!("{url} --cases 4 --allow-incomplete --report {asked} --report junit={good}");
            let (code, out, err) = run(&folder, &words(&line));
            assert_eq!(code, 2, "{asked}: {out}{err}");
            assert!(out.starts_with("NOTHING BROKEN"), "{out}");
            assert!(err.contains("error: the ") && err.contains("could not be written"), "{asked}: {err}");
            assert!(folder.path().join(&good).exists(), "{asked}");
            let early = err.starts_with("warning: the ");
            assert_eq!(early, bad != "/dev/full", "{asked}: {err}");
        }
    }
}

#[test]
fn secrets_stand_in_no_format() {
    const SECRETS: [&str; 4] = ["path-secret-1", "query-secret-2", "header-secret-3", "cookie-secret-4"];
    let folder = tempdir().unwrap();
    // Says what it was asked with, in the head and in the body.
    let server = Server::hooked(|_, request, response| {
        let (mut head, body) = response.into_parts();
        let all = SECRETS[..3].join(" ");
        head.headers.insert("x-echo", all.parse().unwrap());
        head.headers.insert("set-cookie", "session=cookie-secret-4".parse().unwrap());
        let body = if request.len() % 2 == 0 { all.into() } else { body };
        Response::from_parts(head, body)
    });
    let url = format!("{}v1/path-secret-1?apikey=query-secret-2", server.url());
    let formats = names();
    let asked: Vec<String> = formats.iter().map(|name| format!("--report={name}=r.{name}")).collect();
    let mut arguments = vec![url.as_str(), "--cases", "6", "-H", "x-key: header-secret-3"];
    arguments.extend(asked.iter().map(String::as_str));
    ends(1, run(&folder, &arguments));
    for name in formats {
        let text = text_of(&folder, format!("r.{name}"));
        for secret in SECRETS {
            assert!(!text.contains(secret), "{secret} in {name}");
        }
        let echoed = ["har", "har-all", "ndjson-all"].contains(&name);
        assert_eq!(text.contains("x-echo"), echoed, "{name}");
    }
}
