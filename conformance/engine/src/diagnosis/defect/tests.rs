use std::time::Duration;

use paymaster_exchange::{Exchange, Response};
use paymaster_schemas::{Kind, kinds};
use serde_json::{Value, json};

use super::*;
use crate::cases::case::{Group, Member, Role};
use crate::diagnosis::cause::{Amount, Bounds, EarlierRequest, Writing, WrongAnswers};
use crate::diagnosis::difference::{Difference, Respect};
use crate::diagnosis::finding::{Attempt, KindShare, Sought};
use crate::diagnosis::sentence::Shown;
use crate::rules::requests::number_id;
use crate::rules::{Advice, Violation};
use crate::session::recorded::RECORDED;
use crate::specification::{Counted, SAMPLE};

/// A finding in an answer to a quote in sponsored mode.
fn finding(rule: &str, pointer: &str, cause: Option<Cause>) -> Finding {
    let rule = SAMPLE.find_rule(rule).unwrap();
    let group = Group {
        number: 0,
        relation: &RECORDED,
        pair: None,
        base: Value::Null,
        round: 0,
        is_depth: false,
        first_id: 1,
        members: Vec::new(),
    };
    Finding {
        rule,
        specification: &SAMPLE,
        basis: rule.basis(),
        pair: Some(kinds::QUOTE_SPONSORED),
        violation: Violation {
            member: 0,
            pointer: pointer.to_owned(),
            expected: String::new(),
            actual: String::new(),
        },
        group,
        exchanges: Vec::new(),
        times: 1,
        attempts: Vec::new(),
        shrink_requests: 0,
        could_be_smaller: false,
        cause,
        sought: Sought::Yes,
        of_sent_values: None,
        contrast: None,
        share: None,
    }
}

fn answered(mut finding: Finding, answer: &Value) -> Finding {
    let response = Response { status: 200, headers: Vec::new(), body: answer.to_string().into() };
    finding.exchanges = vec![Exchange::new("{}", Ok(response), Duration::ZERO)];
    finding
}

fn member(pointer: &str, failing: Value, passing: Value) -> Difference {
    let value = |value: Value| (!value.is_null()).then_some(value);
    Difference::new(pointer, value(failing), value(passing), &SAMPLE)
}

fn decides(pointer: &str, failing: Value, passing: Value) -> Cause {
    Cause::Members(vec![member(pointer, failing, passing)])
}

fn every(answers: WrongAnswers) -> Cause {
    Cause::Every { pair: Some(kinds::QUOTE_SPONSORED), answers }
}

/// How many defects two findings of different rules are, whatever their order.
fn count(one: Option<Cause>, two: Option<Cause>) -> usize {
    let pair = [finding("answer.object", "", one), finding("error.code", "/error/code", two)];
    count_of(&pair)
}

fn count_of(pair: &[Finding; 2]) -> usize {
    if kinship_of(pair, &[], 0).is_some() { 1 } else { 2 }
}

/// Why two findings are one defect, where the two rules judged so many requests and these broke them.
fn kinship_of(pair: &[Finding; 2], broken: &[Vec<u32>], requests: u32) -> Option<Kinship> {
    let [one, two] = pair.clone();
    let keys = pair.iter().map(Finding::key);
    let broken: Vec<_> = keys.zip(broken.iter().cloned()).collect();
    let outcomes = Outcomes::of_run(one.pair, &[one.rule, two.rule], requests, &broken);
    let found = defects(pair, &outcomes, |_| false);
    let reasons = |defects: &[Defect]| -> Vec<Kinship> {
        let links = defects.iter().flat_map(|defect| &defect.links);
        links.map(|link| link.kinship).collect()
    };
    let reason = reasons(&found);
    assert_eq!(found.len() + reason.len(), 2, "{found:?}");
    let turned = defects(&[two, one], &outcomes, |_| false);
    assert_eq!(reasons(&turned), reason, "the order of findings matters");
    reason.first().copied()
}

/// The answer to a quote in sponsored mode with these members of the result in place of the right ones.
fn result_with(members: &Value) -> Value {
    let mut answer = json!({"jsonrpc": "2.0", "id": 1, "result": {
        "MODE": "SPONSORED", "paymasterAndData": "0x", "preVerificationGas": "1", "verificationGasLimit": 1, "callGasLimit": 1,
    }});
    for (name, value) in members.as_object().unwrap() {
        answer["result"][name] = value.clone();
    }
    answer
}

fn row(name: &str, cause: Option<Cause>, answer: &Value) -> Finding {
    let rule = format!("sponsored-result.{name}");
    answered(finding(&rule, &format!("/result/{name}"), cause), answer)
}

#[test]
fn a_length_is_one_cause_whether_it_was_counted_or_tried() {
    const LIST: &str = "/params/1/list";
    let tried = |failing, passing| {
        Some(Cause::Members(vec![Difference {
            respect: Respect::Length,
            ..member(LIST, json!(vec![1; failing]), json!(vec![1; passing]))
        }]))
    };
    let counted = |pointer, bounds| {
        let counted = Counted { pointer, what: "element" };
        Some(Cause::Amount(Amount { counted, bounds, broken: 5, held: 5 }))
    };
    for (failing, passing, pointer, bounds, expected) in [
        (3, 2, LIST, Bounds::AtLeast(3), 1),
        (2, 3, LIST, Bounds::AtMost(2), 1),
        (3, 2, LIST, Bounds::AtLeast(4), 2),
        (3, 2, LIST, Bounds::AtMost(3), 2),
        (3, 2, LIST, Bounds::Exactly(3), 2),
        (3, 2, "/params/1/other", Bounds::AtLeast(3), 2),
    ] {
        let found = count(counted(pointer, bounds), tried(failing, passing));
        assert_eq!(found, expected, "{failing} {passing} {pointer} {bounds:?}");
    }
    let values = decides(LIST, json!([1, 1, 1]), json!([1, 1]));
    assert_eq!(count(counted(LIST, Bounds::AtLeast(3)), Some(values)), 2);
}

#[test]
fn the_same_answers_that_are_wrong_where_others_are_right_are_one_defect() {
    let answer = result_with(&json!({"callGasLimit": "1", "preVerificationGas": 1}));
    let pair = || [row("callGasLimit", None, &answer), row("preVerificationGas", None, &answer)];
    let some = || vec![3, 5, 9];
    for (one, two, requests, expected) in [
        (some(), some(), 20, Some(Kinship::SameAnswers)),
        (some(), vec![4, 6], 20, None),
        // Both are wrong in every answer: that shows nothing.
        ((0..20).collect(), (0..20).collect(), 20, None),
        // One is wrong in every answer, and the other in some of them.
        ((0..20).collect(), some(), 20, None),
    ] {
        assert_eq!(
            kinship_of(&pair(), &[one.clone(), two.clone()], requests),
            expected,
            "{one:?} and {two:?}"
        );
    }
}

/// A rule that compares requests.
static COMPARES: Rule = number_id(1, Advice::Look("too few requests"));

#[test]
fn an_answer_that_is_compared_and_breaks_another_rule_because_of_earlier_requests_is_one_defect() {
    let answer = result_with(&json!({}));
    let compared = || Finding { rule: &COMPARES, ..finding("answer.object", "/result", None) };
    let wrong = |cause| row("callGasLimit", Some(cause), &answer);
    let earlier = || Cause::Earlier(EarlierRequest::Other);
    let attempt = || Attempt { exchanges: Vec::new(), violation: None };
    let now_and_then = || Finding { attempts: vec![attempt()], ..compared() };
    for (compared, wrong, of_other_rule, expected) in [
        (now_and_then(), wrong(earlier()), vec![0], Some(Kinship::NowAndThen)),
        // No answer of its group breaks the other rule.
        (now_and_then(), wrong(earlier()), vec![1], None),
        // It is seen each time, or the other one does not depend on other requests.
        (compared(), wrong(earlier()), vec![0], None),
        (now_and_then(), wrong(every(WrongAnswers::Results)), vec![0], None),
    ] {
        let broken = [vec![5], of_other_rule.clone()];
        assert_eq!(kinship_of(&[compared, wrong], &broken, 9), expected, "{of_other_rule:?}");
    }
}

#[test]
fn two_members_that_decide_are_two_defects_although_the_same_answers_break_both_rules() {
    let answer = result_with(&json!({}));
    let nonce = || decides("/params/0/nonce", json!("0"), json!("1"));
    let pair = |cause| [row("callGasLimit", Some(nonce()), &answer), row("MODE", cause, &answer)];
    let both = [vec![3, 5, 9], vec![3, 5, 9]];
    let id = decides("/id", json!(0), json!(1));
    assert_eq!(kinship_of(&pair(Some(id)), &both, 20), None);
    assert_eq!(kinship_of(&pair(Some(nonce())), &both, 20), Some(Kinship::SameCause));
    let opposite = decides("/params/0/nonce", json!("1"), json!("0"));
    assert_eq!(kinship_of(&pair(Some(opposite)), &both, 20), None, "each is right where the other is wrong");
    // The request of the other finding does not have the value that decides.
    assert_eq!(kinship_of(&pair(None), &both, 20), None);
    // That value is an example where the answers are wrong at one place.
    let place = "/result/MODE";
    let at_place = |rule, cause| answered(finding(rule, place, cause), &answer);
    let pair =
        [at_place("sponsored-result.MODE", Some(nonce())), at_place("interoperability.mode-member", None)];
    assert_eq!(kinship_of(&pair, &both, 20), Some(Kinship::SameAnswers));
    assert_eq!(kinship_of(&pair, &[vec![3, 5, 9], vec![4, 6, 8]], 20), None);
}

#[test]
fn values_of_one_type_where_another_is_expected_are_one_defect() {
    let hex = result_with(
        &json!({"callGasLimit": "0x1", "verificationGasLimit": "0x1", "preVerificationGas": "0x1"}),
    );
    let all = || vec![(0..9).collect(), (0..9).collect()];
    let kinship =
        |names: [&str; 2], answer| kinship_of(&names.map(|name| row(name, None, answer)), &all(), 9);
    let limits = ["callGasLimit", "verificationGasLimit"];
    assert_eq!(kinship(limits, &hex), Some(Kinship::SameType));
    // A text is expected for the third one.
    assert_eq!(kinship(["callGasLimit", "preVerificationGas"], &hex), None);
    let other_types = result_with(&json!({"callGasLimit": "1", "verificationGasLimit": null}));
    assert_eq!(kinship(limits, &other_types), None);
    // Numbers of the right type are no wrong type.
    assert_eq!(kinship(limits, &result_with(&json!({}))), None);
}

#[test]
fn two_ids_that_are_wrong_in_two_ways_are_two_defects() {
    let null = json!({"jsonrpc": "2.0", "id": null, "result": {}});
    let object = json!({"jsonrpc": "2.0", "id": {}, "error": {"code": -32600, "message": "no"}});
    let id = |failing: Value, answer| {
        answered(finding("answer.id", "/id", Some(decides("/id", failing, json!(1)))), answer)
    };
    let zero = || id(json!(0), &null);
    let mut other = id(json!({}), &object);
    other.pair = None;
    assert_eq!(count_of(&[zero(), other]), 2);
    let mut of_other_mode = id(json!(0), &null);
    of_other_mode.pair = Some(kinds::QUOTE_ERC20);
    assert_eq!(kinship_of(&[zero(), of_other_mode], &[], 0), Some(Kinship::SameCause));
}

#[test]
fn what_is_inside_a_value_of_a_wrong_type_is_no_other_defect() {
    let all = || vec![(0..9).collect(), (0..9).collect()];
    let at = |rule, pointer, answer: &Value| {
        answered(finding(rule, pointer, Some(every(WrongAnswers::All))), answer)
    };
    let pair =
        |answer: &Value| [at("error.object", "/error", answer), at("error.code", "/error/data/code", answer)];
    let text = json!({"jsonrpc": "2.0", "id": 1, "result": null, "error": "no"});
    assert_eq!(kinship_of(&pair(&text), &all(), 9), Some(Kinship::SamePlace));
    let object = json!({"jsonrpc": "2.0", "id": 1, "error": {"message": "no"}});
    assert_eq!(kinship_of(&pair(&object), &all(), 9), None);
}

#[test]
fn an_error_where_a_result_is_expected_is_another_defect_than_that_it_is_a_text() {
    let text = json!({"jsonrpc": "2.0", "id": 1, "error": "no"});
    let at = |rule| answered(finding(rule, "/error", None), &text);
    // Where the whole answer is another one, no place in it is named.
    let place = |rule| sentence::headline(&at(rule), &BTreeSet::new()).contains(" at /error");
    assert_eq!(["answer.object", "error.object"].map(place), [false, true]);
    assert_eq!(count_of(&[at("answer.object"), at("error.object")]), 2);
    assert_eq!(count_of(&[at("answer.object"), at("answer.object")]), 1);
}

#[test]
fn answers_that_are_wrong_now_and_then_are_one_defect_where_they_are_the_same() {
    let flaky = |name| Finding {
        attempts: vec![Attempt { exchanges: Vec::new(), violation: None }],
        ..row(name, None, &result_with(&json!({})))
    };
    let mode = || row("MODE", Some(Cause::Concurrency), &result_with(&json!({})));
    let pair = || [flaky("callGasLimit"), mode()];
    let most = [vec![1, 2, 3], vec![1, 2, 3, 4, 5]];
    assert_eq!(kinship_of(&pair(), &most, 50), Some(Kinship::NowAndThen));
    assert_eq!(kinship_of(&pair(), &[vec![1, 2, 3], vec![3, 4, 5]], 50), None);
}

#[test]
fn findings_without_a_cause_are_one_defect_for_each_rule() {
    assert_eq!(count(None, None), 2);
    let same_rule = [finding("error.code", "/error/code", None), finding("error.code", "/error/code", None)];
    assert_eq!(count_of(&same_rule), 1);
}

#[test]
fn findings_with_one_deciding_member_are_one_defect() {
    let nonce = "/params/0/nonce";
    let token = |index| format!("/params/1/tokenInfo/tokenList/{index}");
    let text = |value: &str| json!(value);
    let large = || decides(nonce, text("1000000"), text("999999"));
    for (one, two, expected) in [
        (large(), large(), 1),
        // A value beyond the boundary fails for the same reason, one within it for another.
        (large(), decides(nonce, text("0x989680"), Value::Null), 1),
        (large(), decides(nonce, text("7"), Value::Null), 2),
        (large(), decides("/params/0/callGasLimit", text("1000000"), text("999999")), 2),
        // The index in a list does not matter.
        (decides(&token(0), text("0xAb"), text("0xab")), decides(&token(3), text("0xCd"), text("0xcd")), 1),
        (decides(nonce, Value::Null, text("1")), decides(nonce, text("16"), text("0x10")), 2),
        // What a service reads from the free part of webhookData is one thing.
        (
            decides("/params/1/sponsorshipInfo/webhookData/a", json!(1), json!(true)),
            decides("/params/1/sponsorshipInfo/webhookData/b/c", json!(2), json!(false)),
            1,
        ),
        // The operation as a whole says nothing about its members.
        (decides("/params/0", json!({}), json!({"nonce": "1"})), large(), 2),
    ] {
        assert_eq!(count(Some(one.clone()), Some(two.clone())), expected, "{one:?} and {two:?}");
    }
}

#[test]
fn requests_are_told_to_be_malformed_where_no_call_breaks_the_rule() {
    for (is_of_calls, subject) in [(false, "malformed requests"), (true, "requests")] {
        let mut finding = finding("error.code", "/id", None);
        finding.share = Some(KindShare { broken: 1, judged: 1, all: 1, is_of_calls });
        finding.group.members =
            vec![Member { role: Role::Malformed, label: String::new(), body: "[".into(), sent_as: None }];
        let headline = sentence::headline(&finding, &BTreeSet::from([None]));
        assert!(headline.starts_with(&format!("{subject}: ")), "{headline}");
    }
}

#[test]
fn what_only_batches_break_is_said_of_batches() {
    let mut finding = finding("error.code", "/0/result/paymasterAndData", None);
    finding.group.members =
        vec![Member { role: Role::Batch, label: String::new(), body: "[{}]".into(), sent_as: None }];
    let headline = |finding: &Finding| sentence::headline(finding, &BTreeSet::from([None]));
    assert!(headline(&finding).starts_with("batches: "), "{}", headline(&finding));
    finding.group.members[0].role = Role::Call;
    assert!(headline(&finding).starts_with("requests: "), "{}", headline(&finding));
}

/// One error for everything that is malformed is one defect, wherever the request is.
#[test]
fn forms_that_break_a_rule_at_one_place_are_one_defect() {
    let form = |pointer| Some(Cause::Form(vec![member(pointer, json!([]), json!({}))]));
    let of = |place, pointer| finding("error.code", place, form(pointer));
    let one = of("/error/message", "/params/0/sender");
    assert_eq!(count_of(&[one.clone(), of("/error/message", "/params/1/mode")]), 1);
    assert_eq!(count_of(&[one, of("/error/code", "/params/1/mode")]), 2);
}

#[test]
fn causes_outside_the_request_are_compared_by_their_kind() {
    let headers =
        |lines: &[(&'static str, &'static str)]| Cause::Headers { client: "viem", lines: lines.to_vec() };
    let earlier = Cause::Earlier;
    for (one, two, expected) in [
        (Cause::Concurrency, Cause::Concurrency, 1),
        (Cause::Concurrency, Cause::Writing(Writing::Order), 2),
        (
            earlier(EarlierRequest::Member("/id", SAMPLE.places)),
            earlier(EarlierRequest::Member("/id", SAMPLE.places)),
            1,
        ),
        (
            earlier(EarlierRequest::Member("/id", SAMPLE.places)),
            earlier(EarlierRequest::Member("/params/0/sender", SAMPLE.places)),
            2,
        ),
        (headers(&[("accept", "*/*")]), headers(&[("accept", "text/html")]), 1),
        (headers(&[("accept", "*/*")]), headers(&[("origin", "null")]), 2),
        // Only all lines together decide: any of them may be the one.
        (headers(&[("accept", "*/*")]), headers(&[]), 1),
    ] {
        assert_eq!(count(Some(one.clone()), Some(two.clone())), expected, "{one:?} and {two:?}");
    }
}

#[test]
fn chance_joins_findings_of_the_same_answers() {
    let chance = || Some(Cause::Chance { broken: 4, sent: 100 });
    let pair = [finding("answer.object", "/error", chance()), finding("error.code", "/error/code", chance())];
    assert_eq!(kinship_of(&pair, &[vec![3, 9], vec![3]], 50), Some(Kinship::NowAndThen));
    assert_eq!(kinship_of(&pair, &[vec![3, 9], vec![4]], 50), None);
}

#[test]
fn one_wrong_answer_to_every_request_is_one_defect() {
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no"}});
    let other = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}});
    let all = || finding("answer.object", "", Some(every(WrongAnswers::Results)));
    let one = |answer: &Value| answered(finding("error.code", "/error/code", None), answer);
    assert_eq!(count_of(&[answered(all(), &error), one(&error)]), 1);
    assert_eq!(count_of(&[answered(all(), &error), one(&other)]), 2);
    // Nothing is known of answers that were not kept.
    assert_eq!(count_of(&[all(), one(&error)]), 2);
    let in_errors = finding("answer.object", "", Some(every(WrongAnswers::Errors)));
    assert_eq!(count_of(&[answered(in_errors, &error), one(&error)]), 2);
}

#[test]
fn results_of_one_other_shape_are_one_defect_for_every_kind() {
    let shape = |result: Value| json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let all = |rule, pair, result| {
        let cause = Cause::Every { pair: Some(pair), answers: WrongAnswers::All };
        answered(Finding { pair: Some(pair), ..finding(rule, "/result", Some(cause)) }, &shape(result))
    };
    let pair = |one, two| {
        count_of(&[
            all("answer.object", kinds::QUOTE_SPONSORED, one),
            all("error.object", kinds::SPONSOR_SPONSORED, two),
        ])
    };
    assert_eq!(pair(json!({}), json!({})), 1);
    assert_eq!(pair(json!({}), json!([])), 2);
}

#[test]
fn what_every_answer_has_wrong_beside_another_thing_is_another_defect() {
    let right = result_with(&json!({}));
    let all = |rule, pointer, answer: &Value| {
        answered(finding(rule, pointer, Some(every(WrongAnswers::Results))), answer)
    };
    let pair = |answer: &Value| {
        count_of(&[all("answer.object", "/result", answer), all("error.object", "/result/other", answer)])
    };
    assert_eq!(pair(&right), 2, "the result has the right shape");
    assert_eq!(pair(&json!({"jsonrpc": "2.0", "id": 1, "result": []})), 1);

    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no"}});
    let of_bodies = |rule, pointer| {
        let cause = Cause::Every { pair: None, answers: WrongAnswers::All };
        answered(Finding { pair: None, ..finding(rule, pointer, Some(cause)) }, &error)
    };
    let pair = |pointer| count_of(&[of_bodies("answer.object", pointer), of_bodies("error.object", pointer)]);
    assert_eq!(pair(""), 2, "a batch and a notification");
    assert_eq!(pair("/error/code"), 1, "one error for everything that is malformed");
}

#[test]
fn a_spelling_that_is_refused_is_no_part_of_what_is_wrong_in_every_answer() {
    let all = || finding("answer.object", "/result/MODE", Some(every(WrongAnswers::All)));
    let of_method = |pointer: &str, failing: &str| {
        finding("answer.object", pointer, Some(decides("/method", json!(failing), json!("pm_x"))))
    };
    assert_eq!(count_of(&[all(), of_method("/result", "pm_y")]), 1);
    assert_eq!(count_of(&[all(), of_method("/result", "PM_X")]), 2);
    // That a request gets an error is about no place of the answer.
    assert_eq!(count_of(&[all(), of_method("", "pm_y")]), 2);
}

#[test]
fn what_is_wrong_in_every_answer_is_shown_first() {
    let all = finding("answer.object", "/result/MODE", Some(every(WrongAnswers::All)));
    let of_method =
        finding("answer.object", "/result", Some(decides("/method", json!("pm_y"), json!("pm_x"))));
    let found = defects(&[of_method, all], &Outcomes::default(), |_| false);
    assert_eq!(found[0].findings, [1, 0]);
}

#[test]
fn one_thing_that_two_kinds_hold_whole_and_as_a_part_is_one_defect() {
    let of_kind =
        |pair, pointer: &str, cause| Finding { pair: Some(pair), ..finding("answer.object", pointer, cause) };
    let pair = |places: [&str; 2], causes: [Option<Cause>; 2]| {
        let [one, two] = causes;
        [of_kind(kinds::QUOTE_SPONSORED, places[0], one), of_kind(kinds::QUOTE_ERC20, places[1], two)]
    };
    let all = |pair| Some(Cause::Every { pair: Some(pair), answers: WrongAnswers::All });
    let every = || [all(kinds::QUOTE_SPONSORED), all(kinds::QUOTE_ERC20)];
    let holds = |pointer: &str| Some(decides(pointer, json!(format!("0x{}", pointer.len())), Value::Null));
    assert_eq!(
        kinship_of(&pair(["/result/whole", "/result/part"], every()), &[], 0),
        Some(Kinship::SameCause)
    );
    assert_eq!(kinship_of(&pair(["/result/whole", "/result/other"], every()), &[], 0), None);
    let headline = |places| {
        let defect = Defect { findings: vec![0, 1], links: Vec::new() };
        defect.headline(&pair(places, every()))
    };
    let of_both = headline(["/result/whole", "/result/part"]);
    assert!(of_both.starts_with("pm_getFeeQuoteOrData (every"), "{of_both}");
    let of_one = headline(["/result/whole", "/result/other"]);
    assert!(of_one.starts_with("pm_getFeeQuoteOrData in mode SPONSORED (every"), "{of_one}");
    assert_eq!(
        kinship_of(&pair(["/result/whole", "/result/part"], [None, None]), &[], 0),
        Some(Kinship::SamePlace)
    );
    let of_request = |one, two| kinship_of(&pair(["/result", "/result"], [holds(one), two]), &[], 0);
    assert_eq!(of_request("/params/0/whole", holds("/params/0/part")), Some(Kinship::SameCause));
    let other = decides("/params/0/nonce", json!("0x13"), Value::Null);
    assert_eq!(of_request("/params/0/whole", Some(other)), None);
    // One is wrong without it, and the other with it.
    let without = decides("/params/0/part", Value::Null, json!("0x12"));
    assert_eq!(of_request("/params/0/whole", Some(without)), None);
}

/// The id of an answer is no part of its result, whatever shape that has; and a kind of call of which another place is wrong is not named.
#[test]
fn what_is_wrong_beside_a_result_of_another_shape_is_another_defect() {
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "odd": true } });
    let pair = ["/result/MODE", "/id"].map(|pointer| {
        let rule = if pointer == "/id" { "answer.id" } else { "sponsored-result.MODE" };
        answered(finding(rule, pointer, Some(every(WrongAnswers::All))), &answer)
    });
    let all = || (0..20).collect();
    assert_eq!(kinship_of(&pair, &[all(), all()], 20), None);

    let of = |pair, pointer| Finding {
        pair: Some(pair),
        ..finding("answer.object", pointer, Some(every(WrongAnswers::All)))
    };
    let findings =
        [of(kinds::QUOTE_ERC20, "/result/MODE"), of(kinds::SPONSOR_ERC20, "/result/paymasterAndData")];
    let defect = Defect { findings: vec![0, 1], links: Vec::new() };
    let headline = defect.headline(&findings);
    assert!(headline.starts_with("pm_getFeeQuoteOrData in mode ERC20 (every"), "{headline}");
}

#[test]
fn what_is_said_of_every_answer_names_the_kinds_that_it_is_said_of() {
    let of = |pairs: &[(Kind, WrongAnswers)]| {
        let findings: Vec<_> = pairs
            .iter()
            .map(|(pair, answers)| {
                let cause = Cause::Every { pair: Some(*pair), answers: *answers };
                Finding { pair: Some(*pair), ..finding("answer.object", "", Some(cause)) }
            })
            .collect();
        let [defect] = &*defects(&findings, &Outcomes::default(), |_| false) else {
            panic!("one defect");
        };
        defect.headline(&findings).split(" (every").next().unwrap_or_default().to_owned()
    };
    let headline =
        |pairs: &[Kind]| of(&pairs.iter().map(|pair| (*pair, WrongAnswers::All)).collect::<Vec<_>>());
    let quote = "pm_getFeeQuoteOrData";
    assert_eq!(headline(&[kinds::QUOTE_ERC20]), format!("{quote} in mode ERC20"));
    assert_eq!(headline(&[kinds::QUOTE_ERC20, kinds::QUOTE_SPONSORED]), quote);
    assert_eq!(headline(&[kinds::QUOTE_ERC20, kinds::SPONSOR_ERC20]), "requests in mode ERC20");
    assert_eq!(headline(&[kinds::QUOTE_ERC20, kinds::SPONSOR_SPONSORED]), "2 of 4 kinds of calls");
    assert_eq!(headline(&kinds::ALL), "requests");
    // What every answer shows, every request that must get a result shows too; not the reverse.
    let (all, owed) = (WrongAnswers::All, WrongAnswers::ToOwedRequests);
    let of_both = |first, second| of(&[(kinds::QUOTE_ERC20, first), (kinds::QUOTE_SPONSORED, second)]);
    assert_eq!(of_both(owed, all), quote);
    assert_eq!(of_both(all, owed), format!("{quote} in mode ERC20"));
    let of_method = finding("answer.object", "", Some(decides("/method", json!("pm_a"), json!("pm_b"))));
    let told = sentence::headline(&of_method, &BTreeSet::from([of_method.pair]));
    assert!(told.starts_with("requests with method \"pm_a\": "), "{told}");
    // A batch has no kind, and says nothing of the other methods.
    let by_chance =
        Finding { cause: Some(Cause::Chance { broken: 1, sent: 3 }), ..finding("answer.object", "", None) };
    for (others, subject) in
        [(vec![], "requests"), (vec![Some(kinds::QUOTE_ERC20)], "pm_getFeeQuoteOrData in mode ERC20")]
    {
        let pairs = others.into_iter().chain([None]).collect();
        let told = sentence::headline(&by_chance, &pairs);
        assert!(told.starts_with(&format!("{subject} in 1 of 3 tries")), "{told}");
    }
}

/// A rule that compares requests judges few answers, and one about single answers all of them.
#[test]
fn a_rule_about_single_answers_is_shown_before_one_that_compares() {
    let cause = || Some(every(WrongAnswers::All));
    let compared = Finding { rule: &COMPARES, ..finding("answer.object", "/result", cause()) };
    let members = Some(Cause::Members(vec![member("/params/0/nonce", json!("0"), json!("1"))]));
    let single = finding("answer.object", "/result", members);
    let none = finding("answer.object", "/result", None);
    assert!(rank(&single, 1) < rank(&compared, 0));
    assert!(rank(&compared, 0) < rank(&none, 1), "a cause is more than none");
}

#[test]
fn answers_are_alike_where_the_passing_values_got_the_same() {
    let requests = |baseline: &str| {
        let exchange = |nonce: &str| {
            let response = Response { status: 200, headers: Vec::new(), body: r#"{"result":7}"#.into() };
            let request = json!({ "params": [{ "nonce": nonce }] }).to_string();
            Exchange::new(request, Ok(response), Duration::ZERO)
        };
        let cause = Cause::Members(vec![member("/params/0/nonce", json!("0"), json!("1"))]);
        let mut finding = Finding { rule: &COMPARES, ..finding("answer.object", "/result", Some(cause)) };
        finding.exchanges = vec![exchange(baseline), exchange("0")];
        finding.violation.member = 1;
        Shown::by(&finding)
    };
    assert_eq!(requests("1"), Shown::Alike);
    assert_eq!(requests("5"), Shown::Otherwise, "the answer for 1 is another one");
}
