//! Listed rules, and rules that no attempt reproduces.

use paymaster_engine::diagnosis::finding::{Attempt, KindShare, Sought};
use paymaster_engine::diagnosis::sentence::cause_of;
use paymaster_engine::session::tally::FirstViolation;
use paymaster_engine::verdict::known::EntryState;

use super::*;

fn entry(pointer: Option<&str>, method: Option<&'static str>) -> KnownFailure {
    KnownFailure {
        kind: KnownFailureKind::Failing,
        rule: ROW,
        method,
        selected: None,
        pointer: pointer.map(str::to_owned),
        reason: "ticket 7".to_owned(),
        owner: "the team".to_owned(),
        expires: NaiveDate::from_ymd_opt(2026, 12, 31).expect("a day"),
    }
}

fn first_violation() -> FirstViolation {
    let violation = at(0, WATCHED_POINTER);
    FirstViolation { rule: rule(ROW), violation, group: group(0, 1), exchanges: vec![result()], times: 1 }
}

fn list(entries: Vec<KnownFailure>) -> KnownFailureList {
    KnownFailureList { entries, today: NaiveDate::from_ymd_opt(2026, 11, 21).expect("a day") }
}

#[test]
fn a_rule_is_known_failing_when_every_place_of_it_is_known() {
    let mut tally = empty();
    added(&mut tally, 0, &[result()], vec![judgement(ROW, 50, vec![at(0, WATCHED_POINTER)])]);
    let known = list(vec![entry(Some(WATCHED_POINTER), None)]);
    let one = outcome(&tally, ROW, &known, &[]);
    assert_eq!((one.verdict, one.reason.as_deref()), (Verdict::KnownFailing, Some("ticket 7")));
    let of_the_other = list(vec![entry(None, Some(kinds::QUOTE_ERC20.method))]);
    assert_eq!(outcome(&tally, ROW, &of_the_other, &[]).verdict, Verdict::Failed);
    added(&mut tally, 1, &[result()], vec![judgement(ROW, 0, vec![at(0, "/result")])]);
    assert_eq!(outcome(&tally, ROW, &known, &[]).verdict, Verdict::Failed);
}

#[test]
fn a_listed_rule_that_passes_is_unexpectedly_passing() {
    let mut tally = empty();
    added(&mut tally, 0, &[result()], vec![judgement(ROW, 50, Vec::new()), judgement(ID, 50, Vec::new())]);
    let known = list(vec![entry(None, None)]);
    let (outcomes, states) =
        tally.outcomes(&[rule(ROW), rule(ID)], &[], &Context::default(), &known, true, false);
    assert_eq!(outcomes[0].verdict, Verdict::UnexpectedlyPassing);
    assert!(outcomes[0].reason.as_deref().is_some_and(|reason| reason.contains("delete")));
    assert_eq!(outcomes[1].verdict, Verdict::Passed);
    assert_eq!(states[0].state, EntryState::UnexpectedlyPassing);
    // What another rule broke does not matter.
    added(&mut tally, 1, &[result()], vec![judgement(ID, 0, vec![at(0, "/id")])]);
    let (_, states) = tally.outcomes(&[rule(ROW), rule(ID)], &[], &Context::default(), &known, true, false);
    assert_eq!(states[0].state, EntryState::UnexpectedlyPassing);
    // One that was broken elsewhere matches nothing; one that was not exercised neither.
    let mut elsewhere = empty();
    added(&mut elsewhere, 0, &[result()], vec![judgement(ROW, 50, vec![at(0, "/result")])]);
    for tally in [elsewhere, empty()] {
        let known = list(vec![entry(Some(WATCHED_POINTER), None)]);
        let (_, states) =
            tally.outcomes(&[rule(ROW), rule(ID)], &[], &Context::default(), &known, true, false);
        assert_eq!(states[0].state, EntryState::MatchesNothing);
    }
}

#[test]
fn a_rule_is_flaky_when_no_attempt_reproduces_it() {
    let mut tally = empty();
    added(&mut tally, 0, &[result()], vec![judgement(ROW, 50, vec![at(0, WATCHED_POINTER)])]);
    let key = Key::of(rule(ROW), Some(kinds::SPONSOR_SPONSORED), &at(0, WATCHED_POINTER));
    let finding = |shown: &[bool], pointer: &str| Finding {
        violation: at(0, pointer),
        attempts: shown
            .iter()
            .map(|shown| Attempt { exchanges: vec![result()], violation: shown.then(|| at(0, pointer)) })
            .collect(),
        ..first_violation().finding(&key, &SPECIFICATION)
    };
    let found =
        |findings: &[Finding], known: &KnownFailureList| outcome(&tally, ROW, known, findings).verdict;
    let nothing = KnownFailureList::default();
    let never = || finding(&[false, false], WATCHED_POINTER);
    assert_eq!(found(&[never()], &nothing), Verdict::Flaky);
    assert_eq!(found(&[finding(&[false, true], WATCHED_POINTER)], &nothing), Verdict::Failed);
    assert_eq!(found(&[finding(&[], WATCHED_POINTER)], &nothing), Verdict::Failed, "nothing was re-sent");
    assert_eq!(found(&[never(), finding(&[true], "/result")], &nothing), Verdict::Failed);
    // Known failures do not cover other places, and findings of another rule do not count.
    let known = list(vec![entry(Some("/result"), None)]);
    assert_eq!(found(&[never(), finding(&[true], "/result")], &known), Verdict::Flaky);
    let others = Finding { rule: rule(ID), ..finding(&[true], WATCHED_POINTER) };
    assert_eq!(found(&[never(), others], &nothing), Verdict::Flaky);
}

#[test]
fn a_cause_that_was_not_looked_for_is_not_called_not_found() {
    let first = first_violation();
    let finding = first.finding(&Key::of(first.rule, None, &first.violation), &SPECIFICATION);
    let share = Some(KindShare { broken: 2, judged: 5, all: 5, is_of_calls: true });
    let told = |sought: Sought| cause_of(&Finding { sought, share, ..finding.clone() }, &BTreeSet::new());
    let shown = "2 of 5 requests of this kind show it";
    assert_eq!(told(Sought::Yes).as_deref(), Some(&*format!("no cause found; {shown}")));
    assert_eq!(told(Sought::No).as_deref(), Some(&*format!("no cause was looked for; {shown}")));
}
