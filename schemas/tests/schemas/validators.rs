//! The validators compile, see only the embedded documents, and keep big numbers whole.

use paymaster_schemas::{documents, member_validator, resolved, validator_for};
use serde_json::Value;

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("test text is JSON")
}

#[test]
fn every_document_and_member_compiles() {
    for document in documents() {
        assert!(validator_for(document.name).is_some(), "{}", document.name);
        let properties = resolved(document.name).and_then(|schema| schema["properties"].as_object());
        for member in properties.into_iter().flat_map(serde_json::Map::keys) {
            let validator = member_validator(document.name, member);
            assert!(validator.is_some(), "{} {member}", document.name);
        }
    }
}

#[test]
fn unknown_names_have_no_validator() {
    assert!(validator_for("fee-quotes").is_none());
    assert!(member_validator("fee-quote", "mode").is_none());
    assert!(member_validator("fee-quotes", "symbol").is_none());
}

/// Document, member, value as JSON text, whether the schema takes it.
const NUMBERS: &[(&str, &str, &str, bool)] = &[
    ("fee-quote", "exchangeRate", "232808808808808800000", true),
    ("fee-quote", "exchangeRate", "232808808808808800000.0", true),
    ("fee-quote", "exchangeRate", "2.328088088088088e20", true),
    ("fee-quote", "exchangeRate", "232808808808808800000.5", false),
    ("fee-quote", "exchangeRate", "-232808808808808800000", false),
    ("fee-quote", "exchangeRate", "1e400", true),
    ("fee-quote", "exchangeRate", "1e-400", false),
    ("fee-quote", "maxGasFee", "1e-400", true),
    ("fee-quote", "decimal", "18.0", true),
    ("fee-quote", "decimal", "1.8e1", true),
    ("fee-quote", "decimal", "256", false),
    ("sponsored-result", "callGasLimit", "1e21", true),
    ("sponsored-result", "callGasLimit", "-0", true),
    (
        "user-operation",
        "nonce",
        "115792089237316195423570985008687907853269984665640564039457584007913129639935",
        true,
    ),
    (
        "user-operation",
        "nonce",
        "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        false,
    ),
    ("user-operation", "nonce", "1e77", true),
    ("user-operation", "nonce", "1.2e77", false),
    ("user-operation", "nonce", "1e78", false),
    ("user-operation", "nonce", "-1", false),
    ("user-operation", "nonce", "1.0", true),
    ("user-operation", "nonce", "1.5", false),
    ("user-operation", "nonce", "0.99999999999999999999999999", false),
    ("user-operation", "nonce", "9007199254740993.00000000000000000000000001", false),
];

#[test]
fn numbers_are_judged_exactly() {
    for &(document, member, text, taken) in NUMBERS {
        let validator = member_validator(document, member).expect("a member");
        assert_eq!(validator.is_valid(&parse(text)), taken, "{document} {member} {text}");
    }
}

#[test]
fn amounts_in_strings_end_at_the_last_uint256() {
    let last = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let validator = validator_for("amount").expect("a document");
    let takes = |text: &str| validator.is_valid(&Value::from(text));
    assert!(takes(last));
    assert!(takes(&format!("000{last}")));
    assert!(takes(&"9".repeat(77)));
    assert!(takes(&format!("0x{}", "f".repeat(64))));
    assert!(takes(&format!("0x000{}", "F".repeat(64))));
    assert!(!takes(&format!("0x1{}", "0".repeat(64))));
    assert!(!takes(&format!("{last}0")));
    assert!(!takes(""));
    assert!(!takes("0x"));
    // At each place: the digits so far, one higher, and then zeros is too much; one lower, and then nines is not.
    for (place, digit) in last.bytes().enumerate() {
        let rest = last.len() - place - 1;
        if digit < b'9' {
            let above = format!("{}{}{}", &last[..place], digit - b'0' + 1, "0".repeat(rest));
            assert!(!takes(&above), "{above}");
        }
        if digit > b'0' {
            let below = format!("{}{}{}", &last[..place], digit - b'0' - 1, "9".repeat(rest));
            assert!(takes(&below), "{below}");
        }
    }
}

#[test]
fn documents_compile_in_the_default_regex_engine_too() {
    // Whoever takes our documents elsewhere has another engine than ours; this one refuses patterns that nest too deep.
    for document in documents() {
        let schema = resolved(document.name).expect("a document");
        let patterns: Vec<&Value> = schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::values)
            .chain([schema])
            .filter_map(|subschema| subschema.get("pattern"))
            .collect();
        for pattern in patterns {
            let alone = serde_json::json!({ "pattern": pattern });
            assert!(jsonschema::draft202012::new(&alone).is_ok(), "{}: {pattern}", document.name);
        }
    }
}

#[test]
fn hostile_numbers_get_a_verdict() {
    // Exponents and digits that no arithmetic could hold: answers come from strangers.
    let long = "7".repeat(1 << 20);
    for (text, integer_from_zero) in [
        ("1e999999999", true),
        ("1e99999999999999999999", true),
        ("-1e999999999", false),
        ("1e-999999999", false),
        (&long, true),
        (&format!("0.{long}"), false),
    ] {
        let value = parse(text);
        let start = &text[..text.len().min(24)];
        for (document, member) in [("fee-quote", "exchangeRate"), ("sponsored-result", "callGasLimit")] {
            let validator = member_validator(document, member).expect("a member");
            assert_eq!(validator.is_valid(&value), integer_from_zero, "{document} {member} {start}");
        }
        let nonce = member_validator("user-operation", "nonce").expect("a member");
        assert!(!nonce.is_valid(&value), "nonce {start}");
    }
}
