//! The pages that people read: README, ARCHITECTURE, CONTRIBUTING and `docs/`. Every link and every path leads somewhere, and the
//! screen in the README is what the binary prints.

use std::path::PathBuf;

use paymaster_schemas::sections::anchor;

use crate::*;

/// Longest line of the README's screen. Longer lines are cut.
const WIDTH: usize = 110;

/// The line of the README before the screen.
const COMMAND_LINE: &str = "$ paymaster-conformance http://127.0.0.1:3000/\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    pages.push(root().join("docs/ci/README.md"));
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        pages.push(root().join(name));
    }
    pages.retain(|page| page.extension().is_some_and(|suffix| suffix == "md"));
    pages
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(&line.trim_start_matches('#').trim().replace('`', ""))).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://") && !link.contains(' ')) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", page.display());
            if !heading.is_empty() {
                let there = fs::read_to_string(&target).unwrap();
                assert!(anchors(&there).contains(heading), "{}: {link}", page.display());
            }
        }
    }
}

/// The pictures are made by `docs/pictures/make`. They are part of every clone, so they are few and small, and each is in a page.
#[test]
fn every_picture_is_small_and_in_a_page() {
    let folder = root().join("docs/pictures");
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let (pictures, others): (Vec<_>, Vec<_>) =
        files.partition(|path| path.extension().is_some_and(|suffix| suffix == "png"));
    assert_eq!(others, [folder.join("make")]);
    assert!((1..=6).contains(&pictures.len()), "{pictures:?}");
    let texts: Vec<String> = pages().iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    for path in pictures {
        let name = path.file_name().unwrap().to_str().unwrap();
        let bytes = fs::metadata(&path).unwrap().len();
        assert!(bytes < 150_000, "{name}: {bytes} bytes");
        let embedded = format!("pictures/{name})");
        assert!(texts.iter().any(|text| text.contains(&embedded)), "{name} is in no page");
    }
}

/// A path in backticks begins with the name of a crate's folder, and has no placeholder.
#[test]
fn every_path_in_the_pages_for_contributors_exists() {
    let mut checked = 0;
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/how-to-add-a-rule.md"] {
        let text = fs::read_to_string(root().join(name)).unwrap();
        for path in text.split('`').skip(1).step_by(2) {
            let is_path = ["schemas/", "conformance/", "reference-server/", "loadtest/"]
                .iter()
                .any(|folder| path.starts_with(folder));
            if is_path && !path.contains([' ', '*', '{']) {
                checked += 1;
                assert!(root().join(path).exists(), "{name}: {path}");
            }
        }
    }
    assert!(checked > 40, "{checked}");
}

/// As for snapshots, `INSTA_UPDATE=always` writes the screen that is missing.
#[test]
fn the_screen_in_the_readme_is_what_the_binary_prints() {
    let server = Server::changing(|_, _, answer| {
        let quotes = answer.pointer_mut("/result/feeQuotes").and_then(Value::as_array_mut);
        for quote in quotes.into_iter().flatten() {
            quote["decimal"] = Value::from(quote["decimal"].to_string());
        }
    });
    let (out, _) = ends(1, alone(&[&server.url()]));
    let screen = normalized(&out.replace(&server.url(), "http://127.0.0.1:3000/"));
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    if readme.contains(&screen) {
        return;
    }
    assert_eq!(
        std::env::var("INSTA_UPDATE").as_deref(),
        Ok("always"),
        "README.md must have this screen; INSTA_UPDATE=always writes it:\n{screen}"
    );
    let (before, rest) = readme.split_once(COMMAND_LINE).unwrap();
    let (_, after) = rest.split_once("\n```\n").unwrap();
    fs::write(&path, format!("{before}{COMMAND_LINE}{screen}\n```\n{after}")).unwrap();
}

/// The verdict and the finding, without what differs from run to run: the duration, the number of requests, and times.
fn normalized(out: &str) -> String {
    let finding = out.split("\nNext").next().unwrap().trim_end();
    let lines = finding.lines().map(|line| {
        let mut line = after(line, " · ", " requests in ", "3542");
        line = after(&line, " requests in ", " s", "3.1");
        line = after(&line, "\"validUntil\":", ",", "1795335304");
        line = after(&line, "seen       ", " times", "1437");
        if line.chars().count() > WIDTH {
            line = line.chars().take(WIDTH - 4).collect::<String>() + " ...";
        }
        line
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The line with another text between two marks; the line itself without them.
fn after(line: &str, start: &str, end: &str, text: &str) -> String {
    let Some((head, rest)) = line.split_once(start) else { return line.to_owned() };
    match rest.split_once(end) {
        Some((_, tail)) => format!("{head}{start}{text}{end}{tail}"),
        None => line.to_owned(),
    }
}
