//! `compare` and `matrix`.

use serde_json::Value;
use tempfile::tempdir;

use crate::{
    run,
    server::{Server, unreachable_url},
};

fn sound() -> Server {
    Server::hooked(|_, _, response| response)
}

fn wrong() -> Server {
    Server::changing(|_, _, answer| {
        if answer["result"]["callGasLimit"].is_number() {
            answer["result"]["callGasLimit"] = Value::from("many");
        }
    })
}

#[test]
fn two_runs_are_compared_by_their_reports() {
    let folder = tempdir().unwrap();
    let (good, bad) = (sound(), wrong());
    for (server, file) in [(&good, "good.json"), (&bad, "bad.json")] {
        run(folder.path(), &[&server.url(), "--cases", "8", "--report", &format!("json={file}")]);
    }
    for (before, after, expected, headline) in [
        ("good.json", "bad.json", 1, "WORSE"),
        ("bad.json", "good.json", 0, "BETTER"),
        ("good.json", "good.json", 0, "ALIKE"),
        ("bad.json", "bad.json", 0, "ALIKE"),
    ] {
        let (code, out, err) = run(folder.path(), &["compare", before, after]);
        assert_eq!(code, expected, "{before} {after}: {out}{err}");
        assert!(out.starts_with(headline), "{before} {after}: {out}");
    }
    let (_, out, _) = run(folder.path(), &["compare", "good.json", "bad.json"]);
    assert!(out.contains("sponsored-result.callGasLimit  passed -> failed"), "{out}");
    for (file, start) in [("page.html", "<!DOCTYPE html>"), ("text.md", "## Comparison: WORSE")] {
        run(folder.path(), &["compare", "good.json", "bad.json", "-o", file]);
        let page = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(page.starts_with(start) && page.contains("callGasLimit"), "{page}");
    }
    let (code, _, err) = run(folder.path(), &["compare", "good.json", "none.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("none.json: "), "{err}");
}

#[test]
fn two_targets_are_compared_with_the_same_seed() {
    let folder = tempdir().unwrap();
    let (good, bad) = (sound(), wrong());
    let arguments = ["compare", &good.url(), &bad.url(), "--cases", "8", "--seed", "5"];
    let (code, out, err) = run(folder.path(), &arguments);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("Fails at the second only\n  - sponsored-result.callGasLimit"), "{out}");
    assert!(!out.contains("the seeds differ"), "{out}");
    let (code, out, _) =
        run(folder.path(), &["compare", &good.url(), &good.url(), "--cases", "8", "--rule", "answer.*"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.starts_with("ALIKE"), "{out}");
    let (code, out, _) = run(folder.path(), &["compare", &good.url(), &unreachable_url(), "--cases", "8"]);
    assert_eq!(code, 3, "{out}");
    assert!(out.starts_with("COULD NOT COMPARE"), "{out}");
}

#[test]
fn nothing_is_sent_when_a_side_is_wrong() {
    let folder = tempdir().unwrap();
    let server = sound();
    std::fs::write(folder.path().join("no.json"), "{}").unwrap();
    for other in ["no.json", "http://host:99999/"] {
        let (code, _, err) = run(folder.path(), &["compare", &server.url(), other]);
        assert_eq!(code, 2, "{err}");
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_matrix_is_a_page_and_a_badge_for_each() {
    let folder = tempdir().unwrap();
    let (good, bad) = (sound(), wrong());
    for (server, file) in [(&good, "good.json"), (&bad, "bad.json")] {
        run(folder.path(), &[&server.url(), "--cases", "8", "--report", &format!("json={file}")]);
    }
    let (code, out, err) =
        run(folder.path(), &["matrix", "good.json", "bad.json", "-o", "page.html", "--badges", "badges"]);
    assert_eq!(code, 0, "{out}{err}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("page.html").contains("sponsored-result.callGasLimit"));
    assert!(read("badges/bad.svg").contains("2 broken"));
    assert!(read("badges/good.svg").starts_with("<svg"));
    let (code, out, _) = run(folder.path(), &["matrix", "good.json", "bad.json", "-o", "page.md"]);
    assert_eq!((code, out.as_str()), (0, "wrote page.md\n"));
    let page = read("page.md");
    assert!(
        page.contains("| clause | good | bad |") && page.contains("| `sponsored-result.callGasLimit`: "),
        "{page}"
    );
    assert!(
        page.contains("| passed | broken |") && page.contains("other clauses, all of them agree"),
        "{page}"
    );
    std::fs::write(folder.path().join("no.json"), "{}").unwrap();
    let (code, _, err) = run(folder.path(), &["matrix", "no.json", "none.json", "-o", "none.html"]);
    assert_eq!(code, 2);
    assert!(err.contains("no.json: this is not a report") && err.contains("none.json: "), "{err}");
    assert!(!folder.path().join("none.html").exists());
}
