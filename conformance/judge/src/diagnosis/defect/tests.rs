use std::time::Duration;

use paymaster_exchange::{Exchange, Response};
use paymaster_schemas::Pair;
use serde_json::{Value, json};

use super::*;
use crate::{
    cases::{case::Group, discovery::DISCOVERY},
    diagnosis::{
        cause::{Contrast, EarlierRequest, WrongAnswers},
        difference::Difference,
    },
    rules::{Violation, find_rule},
};

/// A finding in an answer to a quote in sponsored mode.
fn finding(rule: &str, pointer: &str, cause: Option<Cause>) -> Finding {
    let rule = find_rule(rule).unwrap();
    let group = Group {
        number: 0,
        relation: &DISCOVERY,
        pair: None,
        base: Value::Null,
        round: 0,
        first_id: 1,
        members: Vec::new(),
    };
    Finding {
        rule,
        basis: rule.basis(),
        pair: Some(Pair::QUOTE_SPONSORED),
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
        contrast: None,
    }
}

fn answered(mut finding: Finding, answer: &Value) -> Finding {
    let response = Response {
        status: 200,
        headers: Vec::new(),
        body: answer.to_string().into(),
    };
    finding.exchanges = vec![Exchange::new("{}".into(), Ok(response), Duration::ZERO)];
    finding
}

fn member(pointer: &str, failing: Value, passing: Value) -> Difference {
    Difference {
        pointer: pointer.to_owned(),
        failing: (!failing.is_null()).then_some(failing),
        passing: (!passing.is_null()).then_some(passing),
    }
}

fn decides(pointer: &str, failing: Value, passing: Value) -> Cause {
    Cause::Members(vec![member(pointer, failing, passing)])
}

fn every(answers: WrongAnswers) -> Cause {
    Cause::Every {
        pair: Some(Pair::QUOTE_SPONSORED),
        answers,
    }
}

/// How many defects two findings of different rules are, whatever their order.
fn count(one: Option<Cause>, two: Option<Cause>) -> usize {
    let pair = [
        finding("answer.object", "", one),
        finding("error.code", "/error/code", two),
    ];
    count_of(&pair)
}

fn count_of(pair: &[Finding; 2]) -> usize {
    let [one, two] = pair.clone();
    let number = defects(pair, |_| false).len();
    assert_eq!(
        defects(&[two, one], |_| false).len(),
        number,
        "the order of findings matters"
    );
    number
}

#[test]
fn findings_without_a_cause_are_one_defect_for_each_rule() {
    assert_eq!(count(None, None), 2);
    let same_rule = [
        finding("error.code", "/error/code", None),
        finding("error.code", "/error", None),
    ];
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
        (
            large(),
            decides("/params/0/callGasLimit", text("1000000"), text("999999")),
            2,
        ),
        // The index in a list does not matter.
        (
            decides(&token(0), text("0xAb"), text("0xab")),
            decides(&token(3), text("0xCd"), text("0xcd")),
            1,
        ),
        (
            decides(nonce, Value::Null, text("1")),
            decides(nonce, text("16"), text("0x10")),
            2,
        ),
        // What a service reads from the free part of webhookData is one thing.
        (
            decides("/params/1/sponsorshipInfo/webhookData/a", json!(1), json!(true)),
            decides(
                "/params/1/sponsorshipInfo/webhookData/b/c",
                json!(2),
                json!(false),
            ),
            1,
        ),
        // The operation as a whole says nothing about its members.
        (decides("/params/0", json!({}), json!({"nonce": "1"})), large(), 2),
    ] {
        assert_eq!(
            count(Some(one.clone()), Some(two.clone())),
            expected,
            "{one:?} and {two:?}"
        );
    }
}

#[test]
fn causes_outside_the_request_are_compared_by_their_kind() {
    let headers = |lines: &[(&'static str, &'static str)]| Cause::Headers {
        client: "viem",
        lines: lines.to_vec(),
    };
    let earlier = Cause::Earlier;
    for (one, two, expected) in [
        (Cause::Concurrency, Cause::Concurrency, 1),
        (Cause::Concurrency, Cause::Writing, 2),
        (
            earlier(EarlierRequest::SameId),
            earlier(EarlierRequest::SameId),
            1,
        ),
        (
            earlier(EarlierRequest::SameId),
            earlier(EarlierRequest::SameSender),
            2,
        ),
        (
            headers(&[("accept", "*/*")]),
            headers(&[("accept", "text/html")]),
            1,
        ),
        (headers(&[("accept", "*/*")]), headers(&[("origin", "null")]), 2),
        // Only all lines together decide: any of them may be the one.
        (headers(&[("accept", "*/*")]), headers(&[]), 1),
    ] {
        assert_eq!(
            count(Some(one.clone()), Some(two.clone())),
            expected,
            "{one:?} and {two:?}"
        );
    }
}

#[test]
fn chance_joins_findings_in_one_part_of_the_answer() {
    let chance = || Some(Cause::Chance { broken: 4, sent: 100 });
    let at = |one: &str, two: &str| {
        count_of(&[
            finding("answer.object", one, chance()),
            finding("error.code", two, chance()),
        ])
    };
    assert_eq!(at("/error", "/error/code"), 1);
    assert_eq!(at("/error", "/errors"), 2);
    assert_eq!(at("/id", "/error/code"), 2);
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
fn a_right_result_of_the_same_pair_shows_another_cause() {
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no"}});
    let all = answered(
        finding("answer.object", "", Some(every(WrongAnswers::Results))),
        &error,
    );
    let mut one = answered(finding("error.code", "/error/code", None), &error);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "pm_getFeeQuoteOrData", "params": [{}, {"mode": "SPONSORED"}]});
    let mut group = one.group.clone();
    group.members = vec![crate::cases::case::Member {
        role: crate::cases::case::Role::Baseline,
        label: String::new(),
        body: request.to_string().into(),
        sent_as: None,
    }];
    let contrast = |answer: &Value| {
        let finding = answered(finding("error.code", "", None), answer);
        Some(Contrast {
            group: group.clone(),
            exchanges: finding.exchanges,
            member: 0,
        })
    };
    one.contrast = contrast(&error);
    assert_eq!(count_of(&[all.clone(), one.clone()]), 1);
    one.contrast = contrast(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(count_of(&[all, one]), 2);
}
