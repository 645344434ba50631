//! From judgements to verdicts: what is counted, in whatever order, and how it ends a run.

use helpers::{NO, *};
use paymaster_engine::cases::protocol::DISCOVERY;
use paymaster_engine::diagnosis::outcomes::{AnswerKind, RequestPlace};

use crate::*;

mod helpers;
mod known_failures;
mod unjudged;

#[test]
fn a_rule_passes_when_it_meets_its_quota_and_is_never_broken() {
    let quota = rule(ID).quota;
    let mut tally = empty();
    assert_eq!(verdict(&tally, ID), Verdict::Inconclusive);
    assert_eq!(added(&mut tally, 0, &[result()], vec![judgement(ID, quota - 1, Vec::new())]), [""; 0]);
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
fn an_answer_counts_once_however_many_of_its_members_are_wrong() {
    let mut tally = empty();
    let wrong = ["/result/feeQuotes/0/symbol", "/result/feeQuotes/1/symbol", "/result/feeQuotes/2/symbol"];
    let places = |member: usize| wrong.map(|pointer| at(member, pointer));
    let all = [places(0), places(1)].concat();
    let new = added(&mut tally, 0, &[result(), result()], vec![judgement(ID, 0, all)]);
    assert_eq!(new, [ID], "one place");
    assert_eq!(tally.seen()[0].1.times, 2, "two answers");
    assert_eq!(outcome(&tally, ID, &KnownFailureList::default(), &[]).broken, 2);
}

#[test]
fn a_rule_that_does_not_apply_needs_no_quota_and_can_be_broken() {
    let context = Context::new(Profile {
        operations: Operations { sponsors: Some(Sponsors::Any), ..Operations::default() },
        ..Profile::default()
    });
    let found = |tally: &Tally, refuses: &str| {
        let (outcomes, _) =
            tally.outcomes(&[rule(refuses)], &[], &context, &KnownFailureList::default(), true, false);
        outcomes[0].verdict
    };
    for refuses in ["sponsor.refused-gets-0x", "error.refusal-is-none"] {
        let mut tally = empty();
        assert_eq!(found(&tally, refuses), Verdict::NotApplicable);
        added(&mut tally, 0, &[result()], vec![judgement(refuses, 0, vec![at(0, "/result")])]);
        assert_eq!(found(&tally, refuses), Verdict::Failed);
    }
}

#[test]
fn a_broken_place_is_new_once_and_keeps_its_first_violation() {
    let mut tally = empty();
    let two = || vec![at(1, "/result/list/3/name"), at(0, "/result/list/12/name")];
    let exchanges = [result(), answered(200, &[], "first")];
    assert_eq!(added(&mut tally, 5, &exchanges, vec![judgement(ROW, 2, two())]), [ROW]);
    assert_eq!(
        added(&mut tally, 3, &exchanges, vec![judgement(ROW, 0, vec![at(1, "/result/list/0/name")])]),
        [""; 0]
    );
    assert_eq!(added(&mut tally, 4, &exchanges, vec![judgement(ID, 0, vec![at(0, "/id")])]), [ID]);
    let seen: Vec<(&str, usize, usize, u64)> = tally
        .seen()
        .into_iter()
        .map(|(key, seen)| (key.pointer.as_str(), seen.group.number, seen.violation.member, seen.times))
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
    assert_eq!((key.rule, key.pair), (ROW, Some(kinds::SPONSOR_SPONSORED)));
    assert_eq!(first.exchanges.len(), 2);
    assert_eq!(outcome(&tally, ROW, &KnownFailureList::default(), &[]).broken, 5);
    assert_eq!(outcome(&tally, ROW, &KnownFailureList::default(), &[]).held, 2);
}

#[test]
fn a_run_keeps_which_requests_each_rule_judged() {
    let mut tally = empty();
    let exchanges = [result(), answered(200, &[], NO), answered(502, &[], "")];
    let twice = || vec![at(1, "/id"), at(1, "/id"), at(2, "/jsonrpc")];
    added(&mut tally, 7, &exchanges, vec![judgement(ID, 1, twice())]);
    added(&mut tally, 4, &exchanges, vec![judgement(ID, 1, Vec::new())]);
    let outcomes = &tally.outcomes;
    let of_rule: Vec<_> = outcomes
        .of_rule(rule(ID))
        .map(|request| (request.place.group, request.place.member, request.answer, request.is_broken))
        .collect();
    let expected = [
        (4, 0, AnswerKind::Result, false),
        (7, 0, AnswerKind::Result, false),
        (7, 1, AnswerKind::Error, true),
        (7, 2, AnswerKind::Other, true),
    ];
    assert_eq!(of_rule, expected);
    let key = |rule: &Rule, pair| Key { rule: rule.id, pair, pointer: "/id".to_owned() };
    let pair = Some(kinds::SPONSOR_SPONSORED);
    let share = outcomes.share(rule(ID), &key(rule(ID), pair));
    assert_eq!((share.broken, share.judged, share.all), (1, 4, 4));
    assert_eq!(outcomes.share(rule(ROW), &key(rule(ROW), None)).judged, 0);
    let broken_at = |key: &Key| outcomes.of_key(key).into_iter().flatten().copied().collect::<Vec<_>>();
    assert_eq!(broken_at(&key(rule(ID), pair)), [RequestPlace { group: 7, member: 1 }]);
    let version = Key { pointer: "/jsonrpc".to_owned(), ..key(rule(ID), pair) };
    assert_eq!(broken_at(&version), [RequestPlace { group: 7, member: 2 }]);
    // Two violations at one place of one answer are one answer.
    assert_eq!(tally.seen()[0].1.times, 1);
    assert_eq!(outcomes.all, 6);
}

#[test]
fn what_discovery_breaks_counts_and_is_no_part_of_the_plan() {
    let mut tally = empty();
    let wrong = || vec![judgement(ID, 0, vec![at(0, "/id")])];
    let first = Group { relation: &DISCOVERY, ..group(0, 1) };
    assert_eq!(added_group(&mut tally, &first, &[result()], wrong()), [ID]);
    assert_eq!(outcome(&tally, ID, &KnownFailureList::default(), &[]).broken, 1);
    assert_eq!(tally.outcomes.all, 0, "requests that cannot be made again from the seed");
    // The request of the plan is shown, although it came later.
    added(&mut tally, 5, &[result()], wrong());
    let (_, seen) = tally.seen()[0];
    assert_eq!((seen.group.number, seen.times), (5, 2));
    let held = || vec![judgement(ROW, 1, Vec::new())];
    added_group(&mut tally, &first, &[result()], held());
    let examples = |tally: &Tally| tally.examples(rule(ROW), Some(kinds::SPONSOR_SPONSORED)).len();
    assert_eq!(examples(&tally), 0);
    added(&mut tally, 0, &[result()], held());
    assert_eq!(examples(&tally), 1);
}

#[test]
fn requests_are_counted_by_their_answers() {
    let mut tally = empty();
    let gone = Exchange { outcome: Err(Failure::Cut("gone".to_owned())), ..result() };
    let exchanges = [result(), result(), answered(200, &[], NO), gone, answered(502, &[], "<html>")];
    added(&mut tally, 0, &exchanges, Vec::new());
    let reached = tally.reached[kinds::SPONSOR_SPONSORED.name];
    assert_eq!((reached.results, reached.errors, reached.unreadable), (2, 1, 2));
    assert_eq!(tally.denied(), None, "the service itself answered some");
}

#[test]
fn a_run_is_denied_when_every_valid_request_was_refused() {
    let mut tally = empty();
    assert_eq!(tally.denied(), None);
    let away = |status, place| answered(status, &[("location", place)], "");
    let other = |status| away(status, "/no-redirect");
    let redirects = ["/there", "/elsewhere", "/elsewhere"].map(|place| away(307, place));
    let [first, second, third] = redirects;
    added(&mut tally, 0, &[other(401), first, other(401), second, third, other(413)], Vec::new());
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
        let mut inside = empty();
        added(&mut inside, 1, &[other(401)], Vec::new());
        assert!(inside.access.is_permanently_denied());
        added(&mut inside, 2, &answers, Vec::new());
        assert!(!inside.access.is_permanently_denied());
        let is_page = answers.len() == 1 && answers[0].outcome == page().outcome;
        assert_eq!(inside.denied().is_some(), is_page, "no answer is one of JSON-RPC");
    }
}

#[test]
fn a_run_refused_by_status_is_denied_whatever_the_bodies_are() {
    for (status, words) in [(401, "the key"), (403, "the headers"), (404, "the path")] {
        for body in ["", "<html>", "no key", r#"{"message":"Forbidden"}"#, NO] {
            let mut tally = empty();
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
    let mut tally = empty();
    added(&mut tally, 0, &[answered(400, &[], NO)], Vec::new());
    assert_eq!(tally.denied(), None);
}

#[test]
fn tallies_add_up_in_any_order() {
    let part = |number: usize| {
        let mut tally = empty();
        let away = answered(503, &[("location", "x")], "");
        let found = vec![
            judgement(ROW, number as u64 + 1, vec![at(0, WATCHED_POINTER)]),
            judgement(ID, 4, Vec::new()),
        ];
        added(&mut tally, number, &[result(), away, answered(200, &[], NO)], found);
        let watched = tally.observations.entry("mode-member").or_default();
        *watched.entry("MODE".to_owned()).or_default() += number as u64 + 1;
        tally
    };
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]] {
        let mut whole = empty();
        for number in order {
            whole.merge(part(number));
        }
        let row = outcome(&whole, ROW, &KnownFailureList::default(), &[]);
        assert_eq!((row.held, row.broken, row.verdict), (6, 3, Verdict::Failed));
        assert_eq!(
            (verdict(&whole, ID), outcome(&whole, ID, &KnownFailureList::default(), &[]).held),
            (Verdict::Passed, 12)
        );
        let (_, first) = whole.seen()[0];
        assert_eq!((first.group.number, first.times), (0, 3));
        let reached = whole.reached[kinds::SPONSOR_SPONSORED.name];
        assert_eq!((reached.results, reached.errors, reached.unreadable), (3, 3, 3));
        assert_eq!(whole.observations["mode-member"]["MODE"], 6);
    }
}

/// The groups of the examples of a rule that held for these groups, in this order.
fn examples_after(numbers: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut tally = empty();
    for number in numbers {
        let held = judgement("answer.object", 1, Vec::new());
        added(&mut tally, number, &[result()], vec![held]);
    }
    let examples = tally.examples(rule("answer.object"), Some(kinds::SPONSOR_SPONSORED));
    examples.iter().map(|example| example.group.number).collect()
}

#[test]
fn the_first_examples_of_the_plan_are_kept_in_whatever_order_groups_are_judged() {
    let first = examples_after(0..20);
    assert_eq!(first, [0, 1, 2, 3, 4, 5]);
    assert_eq!(examples_after((0..20).rev()), first);
    assert_eq!(examples_after((0..20).map(|number| number * 7 % 20)), first);
}
