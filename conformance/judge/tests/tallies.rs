//! From judgements to verdicts: what is counted, in whatever order, and how it ends a run.

use std::time::Duration;

use bytes::Bytes;
use chrono::NaiveDate;
use paymaster_exchange::{Exchange, Failure, Response};
use paymaster_judge::{
    cases::{
        case::{Group, Member, Role},
        relations::CALLS,
        scope::Scope,
    },
    rules::{Rule, Violation, find_rule},
    session::{
        judge::{Judgement, read},
        tally::Tally,
    },
    target::{
        context::Context,
        profile::{Operations, Profile, Sponsors},
    },
    verdict::{
        conclusion::Verdict,
        finding::{Attempt, Finding},
        known::{EntryState, KnownFailure, KnownFailureKind, KnownFailureList},
        summary::RuleOutcome,
    },
};
use paymaster_schemas::{Method, Pair};

#[path = "common/sample.rs"]
mod sample;

const ID: &str = "answer.id";
const ROW: &str = "sponsored-result.callGasLimit";
const WATCHED_POINTER: &str = "/result/callGasLimit";

fn rule(id: &str) -> &'static Rule {
    find_rule(id).expect("it is one of ours")
}

fn request() -> serde_json::Value {
    sample::sponsor_request("pm_sponsorUserOperation")
}

fn group(number: usize, members: usize) -> Group {
    let body = Bytes::from(request().to_string());
    let member = |place: usize| Member {
        role: Role::Call,
        label: format!("member {place}"),
        body: body.clone(),
        sent_as: None,
    };
    Group {
        number,
        relation: &CALLS,
        pair: Some(Pair::SPONSOR_SPONSORED),
        base: request(),
        round: 0,
        first_id: 1,
        members: (0..members).map(member).collect(),
    }
}

fn answered(status: u16, headers: &[(&str, &str)], body: &str) -> Exchange {
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Exchange {
        request: Bytes::from(request().to_string()),
        outcome: Ok(Response {
            status,
            headers: headers.collect(),
            body: Bytes::from(body.to_owned()),
        }),
        took: Duration::ZERO,
        on_chain: None,
        received: None,
        sent_as: None,
    }
}

fn result() -> Exchange {
    answered(200, &[], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
}

const NO: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":""}}"#;

fn at(member: usize, pointer: &str) -> Violation {
    Violation {
        member,
        pointer: pointer.to_owned(),
        expected: String::new(),
        actual: format!("of member {member}"),
    }
}

fn judgement(id: &str, held: u64, violations: Vec<Violation>) -> Judgement {
    Judgement {
        rule: rule(id),
        held,
        violations,
    }
}

/// What one group adds.
fn added(
    tally: &mut Tally,
    number: usize,
    exchanges: &[Exchange],
    found: Vec<Judgement>,
) -> Vec<&'static str> {
    let group = group(number, exchanges.len());
    let context = Context::default();
    let views = read(&group, exchanges, &context);
    let new = tally.add(&group, exchanges, &views, found, &Context::default());
    new.into_iter().map(|new| new.rule.id).collect()
}

fn outcome(tally: &Tally, id: &str, known: &KnownFailureList, findings: &[Finding]) -> RuleOutcome {
    let (mut outcomes, _) = tally.outcomes(
        &[rule(id)],
        findings,
        &Context::default(),
        known,
        true,
        &Scope::default(),
    );
    outcomes.pop().expect("one rule was selected")
}

fn verdict(tally: &Tally, id: &str) -> Verdict {
    outcome(tally, id, &KnownFailureList::default(), &[]).verdict
}

#[test]
fn a_rule_passes_when_it_meets_its_quota_and_is_never_broken() {
    let quota = rule(ID).quota;
    let mut tally = Tally::default();
    assert_eq!(verdict(&tally, ID), Verdict::Inconclusive);
    assert_eq!(
        added(
            &mut tally,
            0,
            &[result()],
            vec![judgement(ID, quota - 1, Vec::new())]
        ),
        [""; 0]
    );
    assert_eq!(verdict(&tally, ID), Verdict::Inconclusive);
    added(&mut tally, 1, &[result()], vec![judgement(ID, 1, Vec::new())]);
    assert_eq!(verdict(&tally, ID), Verdict::Passed);
    assert_eq!(outcome(&tally, ID, &KnownFailureList::default(), &[]).held, quota);
    let broken = judgement(ID, 0, vec![at(0, "/id")]);
    assert_eq!(added(&mut tally, 2, &[result()], vec![broken]), [ID]);
    assert_eq!(verdict(&tally, ID), Verdict::Failed);
    assert_eq!(outcome(&tally, ID, &KnownFailureList::default(), &[]).broken, 1);
}

#[test]
fn a_rule_that_does_not_apply_needs_no_quota_and_can_be_broken() {
    let context = Context::new(Profile {
        operations: Operations {
            sponsors: Some(Sponsors::Any),
            ..Operations::default()
        },
        ..Profile::default()
    });
    let found = |tally: &Tally, refuses: &str| {
        let (outcomes, _) = tally.outcomes(
            &[rule(refuses)],
            &[],
            &context,
            &KnownFailureList::default(),
            true,
            &Scope::default(),
        );
        outcomes[0].verdict
    };
    for refuses in ["sponsor.refused-gets-0x", "error.refusal-is-none"] {
        let mut tally = Tally::default();
        assert_eq!(found(&tally, refuses), Verdict::NotApplicable);
        added(
            &mut tally,
            0,
            &[result()],
            vec![judgement(refuses, 0, vec![at(0, "/result")])],
        );
        assert_eq!(found(&tally, refuses), Verdict::Failed);
    }
}

#[test]
fn a_broken_place_is_new_once_and_keeps_its_first_violation() {
    let mut tally = Tally::default();
    let two = || vec![at(1, "/result/list/3/name"), at(0, "/result/list/12/name")];
    let exchanges = [result(), answered(200, &[], "first")];
    assert_eq!(
        added(&mut tally, 5, &exchanges, vec![judgement(ROW, 2, two())]),
        [ROW]
    );
    assert_eq!(
        added(
            &mut tally,
            3,
            &exchanges,
            vec![judgement(ROW, 0, vec![at(1, "/result/list/0/name")])]
        ),
        [""; 0]
    );
    assert_eq!(
        added(
            &mut tally,
            4,
            &exchanges,
            vec![judgement(ID, 0, vec![at(0, "/id")])]
        ),
        [ID]
    );
    let seen: Vec<(&str, usize, usize, u64)> = tally
        .seen()
        .into_iter()
        .map(|(key, seen)| {
            (
                key.pointer.as_str(),
                seen.group.number,
                seen.violation.member,
                seen.times,
            )
        })
        .collect();
    // Indices make no other place; the first in the order of the plan is shown.
    assert_eq!(seen, [("/result/list/*/name", 3, 1, 3), ("/id", 4, 0, 1)]);
    // What comes later, or again at the same place, only counts.
    for (number, pointer) in [(3, "/result/list/7/name"), (9, "/result/list/0/name")] {
        let found = vec![judgement(ROW, 0, vec![at(1, pointer)])];
        assert_eq!(added(&mut tally, number, &exchanges, found), [""; 0]);
    }
    let (_, first) = tally.seen()[0];
    assert_eq!((first.times, first.group.number), (5, 3));
    assert_eq!(first.violation.pointer, "/result/list/0/name");
    let (key, first) = tally.seen()[0];
    assert_eq!((key.rule, key.pair), (ROW, Some(Pair::SPONSOR_SPONSORED)));
    assert_eq!(first.exchanges.len(), 2);
    assert_eq!(outcome(&tally, ROW, &KnownFailureList::default(), &[]).broken, 5);
    assert_eq!(outcome(&tally, ROW, &KnownFailureList::default(), &[]).held, 2);
}

#[test]
fn requests_are_counted_by_their_answers() {
    let mut tally = Tally::default();
    let gone = Exchange {
        outcome: Err(Failure::Cut("gone".to_owned())),
        ..result()
    };
    let exchanges = [
        result(),
        result(),
        answered(200, &[], NO),
        gone,
        answered(502, &[], "<html>"),
    ];
    added(&mut tally, 0, &exchanges, Vec::new());
    let reached = tally.reached[Pair::SPONSOR_SPONSORED.name()];
    assert_eq!((reached.results, reached.errors, reached.unreadable), (2, 1, 2));
    assert_eq!(tally.denied(), None, "the service itself answered some");
}

#[test]
fn a_run_is_denied_when_every_valid_request_was_refused() {
    let mut tally = Tally::default();
    assert_eq!(tally.denied(), None);
    let away = |status, place| answered(status, &[("location", place)], "");
    let other = |status| away(status, "/no-redirect");
    let redirects = ["/there", "/elsewhere", "/elsewhere"].map(|place| away(307, place));
    let [first, second, third] = redirects;
    added(
        &mut tally,
        0,
        &[other(401), first, other(401), second, third, other(413)],
        Vec::new(),
    );
    assert!(!tally.access.is_permanently_denied(), "413 is about one request");
    let cause = tally.denied().expect("nothing was answered");
    assert!(
        cause.starts_with(
            "HTTP 307 or 401 or 413 for every valid request, most often 307, a redirect to /there: "
        ),
        "{cause}"
    );
    let error = || answered(200, &[], NO);
    let page = || answered(200, &[], "<html>");
    for answers in [
        vec![result()],
        vec![error()],
        vec![result(), error()],
        vec![page()],
        vec![answered(404, &[], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)],
    ] {
        let mut inside = Tally::default();
        added(&mut inside, 1, &[other(401)], Vec::new());
        assert!(inside.access.is_permanently_denied());
        added(&mut inside, 2, &answers, Vec::new());
        assert!(!inside.access.is_permanently_denied());
        assert_eq!(inside.denied(), None);
    }
}

#[test]
fn a_run_refused_by_status_is_denied_whatever_the_bodies_are() {
    for (status, words) in [(401, "the key"), (403, "the headers"), (404, "the path")] {
        for body in ["", "<html>", "no key", r#"{"message":"Forbidden"}"#, NO] {
            let mut tally = Tally::default();
            let broken = vec![judgement(ROW, 1, vec![at(0, "/result/callGasLimit")])];
            added(&mut tally, 0, &[answered(status, &[], body)], broken);
            let cause = tally.denied().expect("it was refused");
            assert!(cause.starts_with(&format!("HTTP {status} for every valid request: ")));
            assert!(cause.contains(words), "{cause}");
            assert_eq!(verdict(&tally, ROW), Verdict::Inconclusive);
            assert!(tally.seen().is_empty());
        }
    }
    // Other statuses are answers of the service, and judged.
    let mut tally = Tally::default();
    added(&mut tally, 0, &[answered(400, &[], NO)], Vec::new());
    assert_eq!(tally.denied(), None);
}

#[test]
fn tallies_add_up_in_any_order() {
    let part = |number: usize| {
        let mut tally = Tally::default();
        let away = answered(503, &[("location", "x")], "");
        let found = vec![
            judgement(ROW, number as u64 + 1, vec![at(0, WATCHED_POINTER)]),
            judgement(ID, 4, Vec::new()),
        ];
        added(
            &mut tally,
            number,
            &[result(), away, answered(200, &[], NO)],
            found,
        );
        let watched = tally.observations.entry("mode-member").or_default();
        *watched.entry("MODE".to_owned()).or_default() += number as u64 + 1;
        tally
    };
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
        let mut whole = Tally::default();
        for number in order {
            whole.merge(part(number));
        }
        let row = outcome(&whole, ROW, &KnownFailureList::default(), &[]);
        assert_eq!((row.held, row.broken, row.verdict), (6, 3, Verdict::Failed));
        assert_eq!(
            (
                verdict(&whole, ID),
                outcome(&whole, ID, &KnownFailureList::default(), &[]).held
            ),
            (Verdict::Passed, 12)
        );
        let (_, first) = whole.seen()[0];
        assert_eq!((first.group.number, first.times), (0, 3));
        let reached = whole.reached[Pair::SPONSOR_SPONSORED.name()];
        assert_eq!((reached.results, reached.errors, reached.unreadable), (3, 3, 3));
        assert_eq!(whole.observations["mode-member"]["MODE"], 6);
    }
}

/// The groups of the examples of a rule that held for these groups, in this order.
fn examples_after(numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut tally = Tally::default();
    for number in numbers {
        let held = judgement("answer.object", 1, Vec::new());
        added(&mut tally, number, &[result()], vec![held]);
    }
    let examples = tally.examples_of(rule("answer.object"));
    examples.iter().map(|example| example.group.number).collect()
}

#[test]
fn the_first_examples_of_the_plan_are_kept_in_whatever_order_groups_are_judged() {
    let first = examples_after(0..20);
    assert_eq!(first, [0, 1, 2, 3, 4, 5]);
    assert_eq!(examples_after((0..20).rev()), first);
    assert_eq!(examples_after((0..20).map(|number| number * 7 % 20)), first);
}

fn entry(pointer: Option<&str>, method: Option<Method>) -> KnownFailure {
    KnownFailure {
        kind: KnownFailureKind::Failing,
        rule: ROW,
        method,
        mode: None,
        pointer: pointer.map(str::to_owned),
        reason: "ticket 7".to_owned(),
        owner: "the team".to_owned(),
        expires: NaiveDate::from_ymd_opt(2026, 12, 31).expect("a day"),
    }
}

fn list(entries: Vec<KnownFailure>) -> KnownFailureList {
    KnownFailureList {
        entries,
        today: NaiveDate::from_ymd_opt(2026, 11, 21).expect("a day"),
    }
}

#[test]
fn a_rule_is_known_failing_when_every_place_of_it_is_known() {
    let mut tally = Tally::default();
    added(
        &mut tally,
        0,
        &[result()],
        vec![judgement(ROW, 50, vec![at(0, WATCHED_POINTER)])],
    );
    let known = list(vec![entry(Some(WATCHED_POINTER), None)]);
    let one = outcome(&tally, ROW, &known, &[]);
    assert_eq!(
        (one.verdict, one.reason.as_deref()),
        (Verdict::KnownFailing, Some("ticket 7"))
    );
    let of_the_other = list(vec![entry(None, Some(Method::GetFeeQuoteOrData))]);
    assert_eq!(outcome(&tally, ROW, &of_the_other, &[]).verdict, Verdict::Failed);
    added(
        &mut tally,
        1,
        &[result()],
        vec![judgement(ROW, 0, vec![at(0, "/result")])],
    );
    assert_eq!(outcome(&tally, ROW, &known, &[]).verdict, Verdict::Failed);
}

#[test]
fn a_listed_rule_that_passes_is_unexpectedly_passing() {
    let mut tally = Tally::default();
    added(
        &mut tally,
        0,
        &[result()],
        vec![judgement(ROW, 50, Vec::new()), judgement(ID, 50, Vec::new())],
    );
    let known = list(vec![entry(None, None)]);
    let (outcomes, states) = tally.outcomes(
        &[rule(ROW), rule(ID)],
        &[],
        &Context::default(),
        &known,
        true,
        &Scope::default(),
    );
    assert_eq!(outcomes[0].verdict, Verdict::UnexpectedlyPassing);
    assert!(
        outcomes[0]
            .reason
            .as_deref()
            .is_some_and(|reason| reason.contains("delete"))
    );
    assert_eq!(outcomes[1].verdict, Verdict::Passed);
    assert_eq!(states[0].state, EntryState::UnexpectedlyPassing);
    // What another rule broke does not matter.
    added(
        &mut tally,
        1,
        &[result()],
        vec![judgement(ID, 0, vec![at(0, "/id")])],
    );
    let (_, states) = tally.outcomes(
        &[rule(ROW), rule(ID)],
        &[],
        &Context::default(),
        &known,
        true,
        &Scope::default(),
    );
    assert_eq!(states[0].state, EntryState::UnexpectedlyPassing);
    // One that was broken elsewhere matches nothing; one that was not exercised neither.
    let mut elsewhere = Tally::default();
    added(
        &mut elsewhere,
        0,
        &[result()],
        vec![judgement(ROW, 50, vec![at(0, "/result")])],
    );
    for tally in [elsewhere, Tally::default()] {
        let known = list(vec![entry(Some(WATCHED_POINTER), None)]);
        let (_, states) = tally.outcomes(
            &[rule(ROW), rule(ID)],
            &[],
            &Context::default(),
            &known,
            true,
            &Scope::default(),
        );
        assert_eq!(states[0].state, EntryState::MatchesNothing);
    }
}

#[test]
fn a_rule_is_flaky_when_no_attempt_reproduces_it() {
    let mut tally = Tally::default();
    added(
        &mut tally,
        0,
        &[result()],
        vec![judgement(ROW, 50, vec![at(0, WATCHED_POINTER)])],
    );
    let finding = |shown: &[bool], pointer: &str| Finding {
        rule: rule(ROW),
        basis: rule(ROW).basis(),
        pair: Some(Pair::SPONSOR_SPONSORED),
        violation: at(0, pointer),
        group: group(0, 1),
        exchanges: vec![result()],
        times: 1,
        attempts: shown
            .iter()
            .map(|shown| Attempt {
                exchanges: vec![result()],
                violation: shown.then(|| at(0, pointer)),
            })
            .collect(),
        shrink_requests: 0,
        could_be_smaller: false,
        cause: None,
        contrast: None,
    };
    let found =
        |findings: &[Finding], known: &KnownFailureList| outcome(&tally, ROW, known, findings).verdict;
    let nothing = KnownFailureList::default();
    let never = || finding(&[false, false], WATCHED_POINTER);
    assert_eq!(found(&[never()], &nothing), Verdict::Flaky);
    assert_eq!(
        found(&[finding(&[false, true], WATCHED_POINTER)], &nothing),
        Verdict::Failed
    );
    assert_eq!(
        found(&[finding(&[], WATCHED_POINTER)], &nothing),
        Verdict::Failed,
        "nothing was re-sent"
    );
    assert_eq!(
        found(&[never(), finding(&[true], "/result")], &nothing),
        Verdict::Failed
    );
    // Known failures do not cover other places, and findings of another rule do not count.
    let known = list(vec![entry(Some("/result"), None)]);
    assert_eq!(
        found(&[never(), finding(&[true], "/result")], &known),
        Verdict::Flaky
    );
    let others = Finding {
        rule: rule(ID),
        ..finding(&[true], WATCHED_POINTER)
    };
    assert_eq!(found(&[never(), others], &nothing), Verdict::Flaky);
}
