use serde_json::{Value, json};

use super::cause::{Cause, EarlierRequest, Writing};
use super::difference::{Difference, DifferenceKind, Respect, differences, with_all};
use super::fewest::Fewest;
use super::narrowing::Narrowing;
use super::sentence::{Shown, explanation, member_name};
use crate::specification::SAMPLE;

fn request(nonce: &Value) -> Value {
    json!({
        "id": 1,
        "params": [{ "sender": "0xAb", "nonce": nonce }, { "mode": "ERC20", "tokenInfo": { "tokenList": ["0x1"] } }],
    })
}

#[test]
fn objects_and_params_are_compared_member_by_member() {
    let failing = request(&json!("0"));
    let mut passing = request(&json!("7"));
    passing["params"][1]["tokenInfo"] = json!({ "preferredToken": "0x2", "tokenList": [] });
    let found = differences(&failing, &passing, &SAMPLE);
    let places: Vec<(&str, DifferenceKind)> =
        found.iter().map(|difference| (difference.pointer.as_str(), difference.kind())).collect();
    assert_eq!(
        places,
        [
            ("/params/0/nonce", DifferenceKind::Number),
            ("/params/1/tokenInfo/tokenList", DifferenceKind::List),
            ("/params/1/tokenInfo/preferredToken", DifferenceKind::Missing),
        ]
    );
    assert_eq!(with_all(&failing, &found), Some(passing));
    assert!(differences(&failing, &failing, &SAMPLE).is_empty());
    // Params of several types are compared one by one too; any other list as a whole.
    let params = |op: Value, context: Value| json!({ "params": [op, "0x1", context] });
    let (failing, passing) =
        (params(json!({ "a": 1 }), Value::Null), params(json!({ "a": 2 }), json!([1, "2"])));
    let found = differences(&failing, &passing, &SAMPLE);
    let places: Vec<&str> = found.iter().map(|difference| &*difference.pointer).collect();
    assert_eq!(places, ["/params/0/a", "/params/2"]);
}

#[test]
fn members_have_the_names_of_the_specification() {
    for (pointer, name) in [
        ("", "the body"),
        ("/id", "id"),
        ("/params/0", "the operation"),
        ("/params/1", "the terms"),
        ("/params/1/policy/name", "policy.name"),
        ("/params/7", "params.7"),
    ] {
        assert_eq!(member_name(pointer, &SAMPLE.places), name);
    }
}

#[test]
fn kinds_of_differences() {
    let kind = |pointer: &str, failing: Value, passing: Value| {
        difference(pointer, Some(failing), Some(passing)).kind()
    };
    let (nonce, data) = ("/params/0/nonce", "/params/0/callData");
    assert_eq!(kind(nonce, json!("16"), json!("0x10")), DifferenceKind::Notation);
    assert_eq!(kind(nonce, json!(16), json!("16")), DifferenceKind::Notation);
    assert_eq!(kind(nonce, json!("16"), json!("0x11")), DifferenceKind::Number);
    // Call data of digits is no number.
    assert_eq!(kind(data, json!("0x10"), json!("0x11")), DifferenceKind::Value);
    assert_eq!(kind(data, json!("0xAB"), json!("0xab")), DifferenceKind::LetterCase);
    assert_eq!(kind("/id", json!(1), json!("1")), DifferenceKind::Type);
    assert_eq!(kind("/id", json!(1), json!(2)), DifferenceKind::Number);
}

#[test]
fn the_fewest_changes_are_found() {
    for needed in [vec![3], vec![0, 15], vec![2, 7, 11], (0..16).collect()] {
        let mut fewest = Fewest::new((0..16).collect::<Vec<u32>>());
        let mut trials = 0;
        while let Some(trial) = fewest.next_trial() {
            trials += 1;
            if needed.iter().all(|change| trial.contains(change)) {
                fewest.was_enough(trial);
            }
        }
        assert_eq!(fewest.finish(), needed);
        // One of 16 takes a few trials, all of 16 the most.
        assert!(trials <= if needed.len() == 1 { 8 } else { 100 }, "{needed:?}: {trials}");
    }
}

/// The narrowed difference where the rule holds for these values.
fn narrowed(pointer: &str, failing: Value, passing: Value, holds: impl Fn(&Value) -> bool) -> (Value, Value) {
    let mut narrowing = Narrowing::new(difference(pointer, Some(failing), Some(passing)));
    let mut trials = 0;
    while let Some(value) = narrowing.next_value() {
        trials += 1;
        if holds(&value) {
            narrowing.held();
        } else {
            narrowing.broke();
        }
    }
    assert!(trials <= 80, "{trials} values were tried");
    let difference = narrowing.finish();
    (difference.failing.expect("there was one"), difference.passing.expect("there was one"))
}

#[test]
fn numbers_are_narrowed_to_their_boundary() {
    use crate::json::number::amount;
    let at_most =
        |limit: u128| move |value: &Value| amount(value).is_some_and(|amount| amount <= limit.into());
    let nonce = "/params/0/nonce";
    for (failing, passing, limit, boundary) in [
        ("0x123456789abcdef012345", "5", (1 << 64) - 1, ("0x10000000000000000", "0xffffffffffffffff")),
        ("9999999", "5", 999_999, ("1000000", "999999")),
    ] {
        let narrowed = narrowed(nonce, json!(failing), json!(passing), at_most(limit));
        assert_eq!(narrowed, (json!(boundary.0), json!(boundary.1)));
    }
    let is_not_zero = |value: &Value| amount(value).is_some_and(|amount| amount != 0_u8.into());
    let narrowed = narrowed(nonce, json!("0"), json!("7000"), is_not_zero);
    assert_eq!(narrowed, (json!("0"), json!("1")));
}

#[test]
fn texts_are_narrowed_to_letter_case_and_notation() {
    let is_lower = |value: &Value| value.as_str().is_some_and(|text| text == text.to_ascii_lowercase());
    let narrowed_sender = narrowed("/params/0/sender", json!("0xAbC1"), json!("0xdef2"), is_lower);
    assert_eq!(narrowed_sender, (json!("0xAbC1"), json!("0xabc1")));
    let is_hex = |value: &Value| value.as_str().is_some_and(|text| text.starts_with("0x"));
    let narrowed_nonce = narrowed("/params/0/nonce", json!("16"), json!("0x99"), is_hex);
    assert_eq!(narrowed_nonce, (json!("16"), json!("0x10")));
}

#[test]
fn lists_are_narrowed_to_an_element() {
    let holds = |value: &Value| !value.as_array().is_some_and(|list| list.contains(&json!("0xb")));
    let list = json!(["0xa", "0xb", "0xc"]);
    let narrowed = narrowed("/params/1/tokenInfo/tokenList", list.clone(), json!(["0xd"]), holds);
    assert_eq!(narrowed, (list, json!(["0xa", "0xc"])));
}

#[test]
fn a_bound_is_told_by_its_length_or_amount() {
    let told = |respect, failing: Value, passing: Value| {
        let difference =
            Difference { respect, ..difference("/params/0/callData", Some(failing), Some(passing)) };
        explanation(&Cause::Members(vec![difference]), Shown::Wrong)
    };
    assert_eq!(
        told(Respect::Length, json!("0xabcdef"), json!("0xabcd")),
        "wrong with 3 bytes or more in callData, right with 2 bytes or fewer in callData"
    );
    assert_eq!(
        told(Respect::Length, json!("ab"), json!("")),
        "wrong with 2 characters or more in callData, right with 0 characters in callData"
    );
    assert_eq!(
        told(Respect::Amount, json!("7"), json!("8")),
        "wrong with callData \"7\" or less, right with callData \"8\" or more"
    );
    assert_eq!(
        told(Respect::Amount, json!(0), json!(1)),
        "wrong with callData 0, right with callData 1 or more"
    );
}

#[test]
fn narrowing_ends_where_an_answer_shows_nothing() {
    for (failing, passing) in [
        (json!("0x".to_owned() + &"ab".repeat(1_000)), json!("0x")),
        (json!([1, 2, 3, 4, 5]), json!([1])),
        (json!("1000000000"), json!("1")),
    ] {
        let mut narrowing = Narrowing::new(difference("/params/0/nonce", Some(failing), Some(passing)));
        let tried = std::iter::from_fn(|| narrowing.next_value()).take(100).count();
        assert!(tried < 30, "{tried}");
    }
}

#[test]
fn lists_are_narrowed_to_a_length() {
    let of = |length: u8| Value::from((0..length).collect::<Vec<u8>>());
    let holds = |value: &Value| value.as_array().is_some_and(|list| list.len() <= 5);
    let (failing, passing) = narrowed("/params/1/tokenInfo/tokenList", of(20), json!(["0xd"]), holds);
    assert_eq!((&failing, &passing), (&of(6), &of(5)));
    let difference = Difference {
        respect: Respect::Length,
        ..difference("/params/1/tokenInfo/tokenList", Some(failing), Some(passing))
    };
    let with = |length| json!({ "params": [{}, { "tokenInfo": { "tokenList": of(length) } }] });
    let sides = [3, 5, 6, 9].map(|length| difference.side(&with(length)));
    assert_eq!(sides, [Some(false), Some(false), Some(true), Some(true)]);
    assert_eq!(
        explanation(&Cause::Members(vec![difference]), Shown::Wrong),
        "wrong with 6 elements or more in tokenInfo.tokenList, right with 5 elements or fewer in tokenInfo.tokenList"
    );
}

fn difference(pointer: &str, failing: Option<Value>, passing: Option<Value>) -> Difference {
    Difference::new(pointer, failing, passing, &SAMPLE)
}

#[test]
fn a_cause_states_which_requests_break_the_rule() {
    let (nonce, list) = ("/params/0/nonce", "/params/1/tokenInfo/tokenList");
    let cause = Cause::Members(vec![difference(nonce, Some(json!("0")), Some(json!("1")))]);
    let states = |nonce: Value| cause.states(&request(&nonce));
    assert_eq!([states(json!("0")), states(json!("1")), states(json!("7"))], [Some(true), Some(false), None]);
    // One element of a list decides, whatever else is in the list.
    let element = Cause::Members(vec![difference(list, Some(json!(["0x1"])), Some(json!([])))]);
    let with_list = |tokens: Value| {
        let mut request = request(&json!("1"));
        request["params"][1]["tokenInfo"]["tokenList"] = tokens;
        element.states(&request)
    };
    assert_eq!(with_list(json!(["0x2", "0x1"])), Some(true));
    assert_eq!(with_list(json!(["0x2"])), Some(false));
    // Two amounts that are equal decide, whatever they are.
    let respect = Respect::EqualTo("/params/0/tip".to_owned());
    let values = difference(nonce, Some(json!("1")), Some(json!("2")));
    let equal = Cause::Members(vec![Difference { respect, ..values }]);
    let both = |tip: Value| equal.states(&json!({ "params": [{ "nonce": "7", "tip": tip }] }));
    assert_eq!([both(json!("0x7")), both(json!("8"))], [Some(true), Some(false)]);
    assert_eq!(
        explanation(&equal, Shown::Wrong),
        "wrong with nonce equal to tip, right with nonce other than tip"
    );
    // Where a rule compares requests, either of the two may be wrong.
    assert_eq!(
        explanation(&equal, Shown::Otherwise),
        "answered otherwise with nonce equal to tip than with nonce other than tip"
    );
    assert_eq!(
        explanation(&equal, Shown::Alike),
        "answered alike with nonce equal to tip and with nonce other than tip"
    );
    let put = equal.members()[0].with_failing(&json!({ "params": [{ "nonce": "7", "tip": "9" }] }));
    assert_eq!(put, Some(json!({ "params": [{ "nonce": "9", "tip": "9" }] })));
    // One passing value is enough for the rule to hold; all failing ones are needed to break it.
    let Cause::Members(mut both) = cause.clone() else { unreachable!("it names members") };
    both.push(difference("/id", Some(json!(1)), None));
    let both = Cause::Form(both);
    assert_eq!(both.states(&request(&json!("0"))), Some(true));
    assert_eq!(both.states(&request(&json!("1"))), Some(false));
    assert_eq!(both.states(&request(&json!("7"))), None);
    assert_eq!(Cause::Concurrency.states(&request(&json!("0"))), None);
}

#[test]
fn the_smallest_members_that_differ_are_named() {
    let (failing, passing) = (json!({ "a": 1, "b": { "c": 2 } }), json!({ "a": 1, "b": {} }));
    let inside = difference("/params/1/tokenInfo", Some(failing.clone()), Some(passing)).inside();
    assert_eq!(inside, [difference("/params/1/tokenInfo/b/c", Some(json!(2)), None)]);
    let whole = difference("/params/1/tokenInfo", Some(failing), None);
    assert_eq!(whole.clone().inside(), [whole]);
}

/// Long values that differ near their ends: the part that differs is shown, with the length.
#[test]
fn the_part_of_a_long_value_that_differs_is_visible() {
    let data = |end: &str| json!(format!("0x{}{end}", "ab".repeat(100)));
    let cause =
        Cause::Members(vec![difference("/params/0/callData", Some(data("cafe")), Some(data("beef")))]);
    let text = explanation(&cause, Shown::Wrong);
    assert!(text.contains("cafe\"") && text.contains("beef\""), "{text}");
    assert!(text.len() < 260, "{text}");
}

#[test]
fn a_cause_outside_the_members_says_no_more_than_was_tried() {
    let earlier = Cause::Earlier(EarlierRequest::Member("/id", SAMPLE.places));
    for (cause, shown, expected) in [
        (earlier.clone(), Shown::Wrong, "only after a request with the same id; right when sent alone"),
        // Of two requests, it is not known which one is right.
        (
            earlier,
            Shown::Otherwise,
            "answered otherwise after a request with the same id than when sent alone",
        ),
        (
            Cause::Writing(Writing::Order),
            Shown::Wrong,
            "wrong as written here, right with the same values in another order of members",
        ),
        (
            Cause::Writing(Writing::WhiteSpace),
            Shown::Wrong,
            "wrong as written here, right with the same values without white space",
        ),
        (
            Cause::Writing(Writing::Escapes),
            Shown::Otherwise,
            "wrong as written here, right with the same values without escapes",
        ),
    ] {
        assert_eq!(explanation(&cause, shown), expected);
    }
}
