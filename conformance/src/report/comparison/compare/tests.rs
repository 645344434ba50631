use crate::report::{comparison::compare::*, sample};
use paymaster_engine::verdict::conclusion::Verdict;
use paymaster_settings::output::document::terminal::Lines;

fn recorded(change: impl FnOnce(&mut Report)) -> Report {
    let mut run = sample::violations().report();
    change(&mut run);
    run
}

fn set(run: &mut Report, rule: &str, verdict: Verdict) {
    let rule = run.rules.iter_mut().find(|known| known.id == rule).unwrap();
    rule.verdict = verdict;
}

fn names(targets: bool) -> SideNames {
    SideNames { before: "a.json".to_owned(), after: "b.json".to_owned(), targets }
}

fn shown(comparison: &Comparison<'_>, targets: bool) -> String {
    Lines::default().document(&document(comparison, &names(targets)))
}

/// A run in which everything that can happen between two runs has happened.
fn changed() -> Report {
    recorded(|run| {
        set(run, "answer.id", Verdict::Passed);
        set(run, "quote-result.MODE", Verdict::Failed);
        set(run, "sponsor.refused-gets-0x", Verdict::Passed);
        set(run, "interoperability.mode-member", Verdict::Inconclusive);
        run.findings.retain(|finding| finding.rule == "quote-result.feeQuotes");
        let mut other = run.findings[0].clone();
        "/result/feeQuotes/3/symbol".clone_into(&mut other.pointer);
        let mut mode = run.findings[0].clone();
        "quote-result.MODE".clone_into(&mut mode.rule);
        "/result/MODE".clone_into(&mut mode.pointer);
        "\u{1b}[31mred".clone_into(&mut mode.actual);
        run.findings.extend([other, mode]);
        run.dialect.insert("mode-member".to_owned(), "mode".into());
        let status = run.observations.get_mut("behaviour.error-status").unwrap();
        status.remove("HTTP 400");
        status.insert("HTTP 500".to_owned(), 1);
        run.seed = 2;
    })
}

#[test]
fn every_change_is_shown() {
    let (before, after) = (recorded(|_| {}), changed());
    let comparison = compare(&before, &after);
    let text = shown(&comparison, false);
    assert!(!text.contains('\u{1b}'));
    assert_eq!(comparison.exit_code(false), exit::VIOLATIONS);
    insta::assert_snapshot!("runs", text);
    let back = compare(&after, &before);
    insta::assert_snapshot!("targets", shown(&back, true));
}

#[test]
fn a_run_compared_with_itself_is_alike() {
    let run = recorded(|_| {});
    let comparison = compare(&run, &run);
    assert!(comparison.changes.iter().all(|change| change.kind == ChangeKind::Still));
    assert_eq!(comparison.exit_code(false), exit::CONFORMS, "what was broken before is nothing new");
    let text = shown(&comparison, false);
    assert!(text.starts_with("ALIKE  a.json -> b.json"), "{text}");
}

#[test]
fn exit_codes() {
    let before = recorded(|_| {});
    let code = |change: &dyn Fn(&mut Report)| {
        let after = recorded(change);
        compare(&before, &after).exit_code(false)
    };
    assert_eq!(code(&|run| set(run, "answer.id", Verdict::Passed)), exit::CONFORMS);
    assert_eq!(code(&|run| set(run, "quote-result.MODE", Verdict::Flaky)), exit::VIOLATIONS);
    assert_eq!(code(&|run| set(run, "quote-result.MODE", Verdict::Inconclusive)), exit::INCOMPLETE);
    assert_eq!(
        code(&|run| set(run, "answer.id", Verdict::Inconclusive)),
        exit::INCOMPLETE,
        "not judged is not fixed"
    );
    assert_eq!(code(&|run| run.conclusion = Conclusion::CouldNotTest), exit::COULD_NOT_TEST);
    assert_eq!(
        code(&|run| {
            let mut other = run.findings[0].clone();
            "/elsewhere".clone_into(&mut other.pointer);
            run.findings.push(other);
        }),
        exit::VIOLATIONS
    );
    assert_eq!(
        code(&|run| run.findings[0].pointer.push_str("/7")),
        exit::VIOLATIONS,
        "another place of the same rule"
    );
    let lost = recorded(|run| set(run, "quote-result.MODE", Verdict::Inconclusive));
    assert_eq!(compare(&before, &lost).exit_code(true), exit::CONFORMS);
}

#[test]
fn a_new_warning_fails_only_a_strict_comparison() {
    let before = recorded(|run| set(run, "interoperability.mode-member", Verdict::Passed));
    let after = recorded(|_| {});
    assert_eq!(compare(&before, &after).exit_code(false), exit::CONFORMS);
    let strict = recorded(|run| run.strict = true);
    assert_eq!(compare(&before, &strict).exit_code(false), exit::VIOLATIONS);
}

#[test]
fn more_places_than_a_report_holds_are_not_called_new() {
    let crowded = recorded(|run| {
        let finding = run.findings[0].clone();
        run.findings = (0..FINDINGS_PER_RULE)
            .map(|number| {
                let mut finding = finding.clone();
                finding.pointer = format!("/result/m{number}");
                finding
            })
            .collect();
    });
    let after = recorded(|_| {});
    let comparison = compare(&crowded, &after);
    assert_eq!(comparison.count(ChangeKind::NewPointer), 0);
}
