use serde_json::{Value, json};

use super::{
    difference::{Difference, DifferenceKind, differences, with_all},
    fewest::Fewest,
    narrowing::Narrowing,
};

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
    let found = differences(&failing, &passing);
    let places: Vec<(&str, DifferenceKind)> = found
        .iter()
        .map(|difference| (difference.pointer.as_str(), difference.kind()))
        .collect();
    assert_eq!(
        places,
        [
            ("/params/0/nonce", DifferenceKind::Number),
            ("/params/1/tokenInfo/tokenList", DifferenceKind::List),
            ("/params/1/tokenInfo/preferredToken", DifferenceKind::Missing),
        ]
    );
    assert_eq!(with_all(&failing, &found), Some(passing));
    assert!(differences(&failing, &failing).is_empty());
}

#[test]
fn kinds_of_differences() {
    let kind = |pointer: &str, failing: Value, passing: Value| {
        let difference = Difference {
            pointer: pointer.to_owned(),
            failing: Some(failing),
            passing: Some(passing),
        };
        difference.kind()
    };
    let (nonce, data) = ("/params/0/nonce", "/params/0/callData");
    assert_eq!(kind(nonce, json!("16"), json!("0x10")), DifferenceKind::Notation);
    assert_eq!(kind(nonce, json!(16), json!("16")), DifferenceKind::Notation);
    assert_eq!(kind(nonce, json!("16"), json!("0x11")), DifferenceKind::Number);
    // Call data of digits is no number.
    assert_eq!(kind(data, json!("0x10"), json!("0x11")), DifferenceKind::Value);
    assert_eq!(
        kind(data, json!("0xAB"), json!("0xab")),
        DifferenceKind::LetterCase
    );
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
        assert!(
            trials <= if needed.len() == 1 { 8 } else { 100 },
            "{needed:?}: {trials}"
        );
    }
}

/// The narrowed difference where the rule holds for these values.
fn narrowed(pointer: &str, failing: Value, passing: Value, holds: impl Fn(&Value) -> bool) -> (Value, Value) {
    let mut narrowing = Narrowing::new(Difference {
        pointer: pointer.to_owned(),
        failing: Some(failing),
        passing: Some(passing),
    });
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
    (
        difference.failing.expect("there was one"),
        difference.passing.expect("there was one"),
    )
}

#[test]
fn numbers_are_narrowed_to_their_boundary() {
    use crate::json::number::amount;
    let at_most =
        |limit: u128| move |value: &Value| amount(value).is_some_and(|amount| amount <= limit.into());
    let nonce = "/params/0/nonce";
    for (failing, passing, limit, boundary) in [
        (
            "0x123456789abcdef012345",
            "5",
            (1 << 64) - 1,
            ("0x10000000000000000", "0xffffffffffffffff"),
        ),
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
    let is_lower = |value: &Value| {
        value
            .as_str()
            .is_some_and(|text| text == text.to_ascii_lowercase())
    };
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
    let narrowed = narrowed(
        "/params/1/tokenInfo/tokenList",
        list.clone(),
        json!(["0xd"]),
        holds,
    );
    assert_eq!(narrowed, (list, json!(["0xa", "0xc"])));
}
