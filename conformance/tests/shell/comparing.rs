//! `compare` and `matrix`.

use crate::*;

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
    let (good, bad) = (Server::sound(), wrong());
    for (server, file) in [(&good, "good.json"), (&bad, "bad.json")] {
        run(&folder, &[&server.url(), "--cases", "8", "--report", &format!("json={file}")]);
    }
    for (before, after, expected, headline) in [
        ("good.json", "bad.json", 1, "WORSE"),
        ("bad.json", "good.json", 0, "BETTER"),
        ("good.json", "good.json", 0, "ALIKE"),
        ("bad.json", "bad.json", 0, "ALIKE"),
    ] {
        let (code, out, err) = run(&folder, &["compare", before, after]);
        assert_eq!(code, expected, "{before} {after}: {out}{err}");
        assert!(out.starts_with(headline), "{before} {after}: {out}");
    }
    let (_, out, _) = run(&folder, &["compare", "good.json", "bad.json"]);
    assert!(out.contains("sponsored-result.callGasLimit  passed -> failed"), "{out}");
    for (file, start) in [("page.html", "<!DOCTYPE html>"), ("text.md", "## Comparison: WORSE")] {
        run(&folder, &["compare", "good.json", "bad.json", "-o", file]);
        let page = text_of(&folder, file);
        assert!(page.starts_with(start) && page.contains("callGasLimit"), "{page}");
    }
    let (_, err) = ends(2, run(&folder, &["compare", "good.json", "none.json"]));
    assert!(err.contains("none.json: "), "{err}");
}

#[test]
fn two_targets_are_compared_with_the_same_seed() {
    let folder = tempdir().unwrap();
    let (good, bad) = (Server::sound(), wrong());
    let arguments = ["compare", &good.url(), &bad.url(), "--cases", "8", "--seed", "5"];
    let (out, _) = ends(1, run(&folder, &arguments));
    assert!(out.contains("Fails at the second only\n  - sponsored-result.callGasLimit"), "{out}");
    assert!(!out.contains("the seeds differ"), "{out}");
    let (out, _) =
        ends(0, run(&folder, &["compare", &good.url(), &good.url(), "--cases", "8", "--rule", "answer.*"]));
    assert!(out.starts_with("ALIKE"), "{out}");
    let (out, _) = ends(3, run(&folder, &["compare", &good.url(), &unreachable_url(), "--cases", "8"]));
    assert!(out.starts_with("COULD NOT COMPARE"), "{out}");
}

#[test]
fn nothing_is_sent_when_a_side_is_wrong() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    fs::write(folder.path().join("no.json"), "{}").unwrap();
    for other in ["no.json", "http://host:99999/"] {
        ends(2, run(&folder, &["compare", &server.url(), other]));
    }
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_matrix_is_a_page_and_a_badge_for_each() {
    let folder = tempdir().unwrap();
    let (good, bad) = (Server::sound(), wrong());
    for (server, file) in [(&good, "good.json"), (&bad, "bad.json")] {
        run(&folder, &[&server.url(), "--cases", "8", "--report", &format!("json={file}")]);
    }
    ends(0, run(&folder, &["matrix", "good.json", "bad.json", "-o", "page.html", "--badges", "badges"]));
    let read = |name: &str| text_of(&folder, name);
    assert!(read("page.html").contains("sponsored-result.callGasLimit"));
    assert!(read("badges/bad.svg").contains("2 broken"));
    assert!(read("badges/good.svg").starts_with("<svg"));
    let (code, out, _) = run(&folder, &["matrix", "good.json", "bad.json", "-o", "page.md"]);
    assert_eq!((code, out.as_str()), (0, "wrote page.md\n"));
    let page = read("page.md");
    has(
        &page,
        &[
            "| clause | good | bad |",
            "| `sponsored-result.callGasLimit`: ",
            "| passed | broken |",
            "other clauses, all of them agree",
        ],
    );
    fs::write(folder.path().join("no.json"), "{}").unwrap();
    let (_, err) = ends(2, run(&folder, &["matrix", "no.json", "none.json", "-o", "none.html"]));
    assert!(err.contains("no.json: this is not a report") && err.contains("none.json: "), "{err}");
    assert!(!folder.path().join("none.html").exists());
}
