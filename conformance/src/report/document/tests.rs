use paymaster_engine::diagnosis::defect::Defect;
use paymaster_settings::output::document::terminal::WIDTH;

use super::{text, *};
use crate::report::sample::{self, Sample};

fn shown(sample: &Sample) -> String {
    terminal(&sample.report(), Extent::default(), Paint::default(), WIDTH)
}

#[test]
fn a_run_with_violations() {
    let sample = sample::violations();
    for (name, extent) in [
        ("violations", Extent::default()),
        ("violations_quiet", Extent { quiet: true, ..Extent::default() }),
        ("violations_verbose", Extent { verbose: true, ..Extent::default() }),
    ] {
        let text = terminal(&sample.report(), extent, Paint::default(), WIDTH);
        assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
        insta::assert_snapshot!(name, text);
    }
}

#[test]
fn a_defect_fits_a_screen_and_a_warning_three_lines() {
    let text = shown(&sample::violations());
    let blocks: Vec<&str> = text.split("\n\n").collect();
    for (head, most) in [("DEFECT", 50), ("FLAKY DEFECT", 50), ("WARNING", 3)] {
        let own: Vec<_> = blocks.iter().filter(|block| block.starts_with(head)).collect();
        assert!(!own.is_empty() && own.iter().all(|block| block.lines().count() <= most), "{text}");
    }
    let mut report = sample::violations().report();
    for exchange in report.findings.iter_mut().flat_map(|finding| &mut finding.exchanges) {
        if let Ok(response) = &mut exchange.answer {
            response.body.text = format!(r#"{{"result":{{"feeQuotes":"{}"}}}}"#, "a".repeat(70));
        }
    }
    for width in [72, WIDTH] {
        let text = terminal(&report, Extent::default(), Paint::default(), width);
        let is_whole = |line: &str| line.starts_with("  replay") || line.chars().count() <= width;
        assert!(text.lines().all(is_whole), "{text}");
    }
}

#[test]
fn what_profile_and_target_contradict_stands_below_the_headline() {
    let text = shown(&sample::contradicted());
    let top = text.split("DEFECT 1").next().unwrap();
    for part in [
        "Profile and target contradict each other. ",
        "- tokens.supported[1] (paymaster.toml, line 10): the profile states that the target",
        "cause: 12 answers refused it or listed it as unsupported, and none served it",
        "answer: HTTP 200",
    ] {
        assert!(top.contains(part), "{part}: {top}");
    }
    assert!(!text.contains("s3cr3t-key"), "{text}");
}

#[test]
fn a_run_with_known_failures() {
    let text = shown(&sample::known());
    insta::assert_snapshot!("known", text);
}

#[test]
fn recorded_traffic() {
    let text = shown(&sample::recorded());
    insta::assert_snapshot!("recorded", text);
}

#[test]
fn a_run_without_answers() {
    let text = shown(&sample::unanswered());
    insta::assert_snapshot!("unanswered", text);
}

#[test]
fn colours_change_no_text() {
    let sample = sample::violations();
    let plain = terminal(&sample.report(), Extent::default(), Paint::default(), WIDTH);
    let painted = terminal(&sample.report(), Extent::default(), Paint { colours: true }, WIDTH);
    let mut bare = String::new();
    let mut rest = painted.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        bare.push_str(before);
        rest = after.split_once('m').map_or("", |(_, behind)| behind);
    }
    bare.push_str(rest);
    assert_ne!(painted, plain);
    assert_eq!(bare, plain);
}

#[test]
fn markdown_of_a_run_with_violations() {
    let text = super::text(&sample::violations().report());
    assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
    insta::assert_snapshot!("markdown_violations", text);
}

#[test]
fn markdown_of_known_failures() {
    insta::assert_snapshot!("markdown_known", text(&sample::known().report()));
}

#[test]
fn markdown_of_contradictions() {
    let text = super::text(&sample::contradicted().report());
    let top = text.split("### What is broken").next().unwrap();
    assert!(!top.contains("s3cr3t-key"), "{top}");
    insta::assert_snapshot!("markdown_contradicted", top);
}

#[test]
fn markdown_of_recorded_traffic() {
    let text = super::text(&sample::recorded().report());
    assert!(text.contains("250 recorded exchanges") && !text.contains("seed"), "{text}");
}

#[test]
fn markdown_of_a_run_without_answers() {
    insta::assert_snapshot!("markdown_unanswered", text(&sample::unanswered().report()));
}

#[test]
fn markdown_quotes_texts_of_a_target() {
    let mut sample = sample::violations();
    "</details>| @somebody `x` [a](b)".clone_into(&mut sample.summary.findings[0].violation.actual);
    let text = super::text(&sample.report());
    assert!(text.contains("got </details>| @somebody `x` [a](b)``\n"), "{text}");
}

#[test]
fn it_fits_into_a_comment() {
    let mut sample = sample::violations();
    let finding = sample.summary.findings[0].clone();
    sample.summary.findings = vec![finding; 200];
    let defect = |number| Defect { findings: vec![number], links: Vec::new() };
    sample.summary.defects = (0..200).map(defect).collect();
    let text = super::text(&sample.report());
    assert!(text.len() <= LONGEST_COMMENT + 400, "{}", text.len());
    assert!(text.contains("more defects in the other reports"));
    assert!(text.contains("inconclusive: exercised too seldom"));
}

#[test]
fn rules_without_a_defect_are_named() {
    let mut sample = sample::violations();
    sample.summary.findings.clear();
    sample.summary.defects.clear();
    let text = super::text(&sample.report());
    assert!(
        text.contains("### What is broken") && text.contains("`answer.id` (section 2.10, stated)"),
        "{text}"
    );
}
