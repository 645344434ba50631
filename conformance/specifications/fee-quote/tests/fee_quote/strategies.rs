//! Everything that a strategy draws is what its schema accepts.

use paymaster_engine::generate::{boundary, drawn};

use crate::*;

const DRAWS: usize = 400;

fn draw(strategy: &impl Strategy<Value = Value>, runner: &mut TestRunner) -> Value {
    strategy.new_tree(runner).unwrap().current()
}

#[test]
fn every_document_accepts_what_is_drawn_from_it() {
    for document in FEE_QUOTE.documents() {
        let strategy = strategy(document.name, &Overrides::new()).unwrap();
        let validator = validator_for(document.name).unwrap();
        let mut runner = runner(7);
        for _ in 0..DRAWS {
            let value = draw(&strategy, &mut runner);
            if let Err(error) = validator.validate(&value) {
                panic!("{}: {error} at {}", document.name, error.instance_path());
            }
        }
    }
}

#[test]
fn optional_members_are_sometimes_present() {
    let strategy = strategy("mode-object", &Overrides::new()).unwrap();
    let mut runner = runner(3);
    let drawn: Vec<Value> = (0..DRAWS).map(|_| draw(&strategy, &mut runner)).collect();
    for member in ["mode", "calculateGasLimits", "expiryDuration", "sponsorshipInfo", "tokenInfo"] {
        let there = drawn.iter().filter(|value| value.get(member).is_some()).count();
        assert!((DRAWS / 4..DRAWS * 3 / 4).contains(&there), "{member}: {there} of {DRAWS}");
    }
}

#[test]
fn both_branches_of_a_choice_are_drawn() {
    let strategy = strategy("response-envelope", &Overrides::new()).unwrap();
    let mut runner = runner(3);
    let drawn: Vec<Value> = (0..DRAWS).map(|_| draw(&strategy, &mut runner)).collect();
    let with = |member: &str| drawn.iter().filter(|value| value.get(member).is_some()).count();
    assert!(with("result") > DRAWS / 4 && with("error") > DRAWS / 4);
    assert_eq!(with("result") + with("error"), DRAWS);
}

#[test]
fn boundary_values_are_mixed_in() {
    let strategy = strategy("amount", &Overrides::new()).unwrap();
    let mut runner = runner(3);
    let drawn: Vec<String> = (0..4_000).map(|_| draw(&strategy, &mut runner).to_string()).collect();
    let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let hex = format!("\"0x{}\"", "f".repeat(64));
    for edge in [largest.to_owned(), format!("\"{largest}\""), hex, "\"0x0\"".to_owned()] {
        assert!(drawn.contains(&edge), "{edge}");
    }
}

#[test]
fn every_awkward_string_and_length_is_drawn() {
    let all = |document: &str| {
        let strategy = strategy(document, &Overrides::new()).unwrap();
        let mut runner = runner(3);
        (0..6_000).map(|_| draw(&strategy, &mut runner)).collect::<Vec<_>>()
    };
    let messages = all("error-object");
    for text in boundary::strings() {
        assert!(messages.iter().any(|error| error["message"] == **text), "{text:?}");
    }
    let bytes = all("hex-bytes");
    let length = |value: &Value| (value.as_str().unwrap().len() - 2) / 2;
    for wanted in boundary::BYTE_LENGTHS {
        assert!(bytes.iter().any(|value| length(value) == wanted), "{wanted}");
    }
}

#[test]
fn overrides_decide_value_and_presence() {
    let overrides = Overrides::new()
        .value("/params/0", drawn(|_| json!({ "sender": "not checked" })))
        .always("/params/1/tokenInfo/tokenList")
        .value("/params/1/tokenInfo/tokenList/*", drawn(|_| json!("0x01")))
        .never("/params/1/tokenInfo/preferredToken");
    let strategy = strategy("quote-erc20-request", &overrides).unwrap();
    let mut runner = runner(3);
    let mut items = 0;
    for _ in 0..DRAWS {
        let value = draw(&strategy, &mut runner);
        assert_eq!(value["params"][0], json!({ "sender": "not checked" }));
        let info = &value["params"][1]["tokenInfo"];
        assert!(info.get("preferredToken").is_none());
        for item in info["tokenList"].as_array().unwrap() {
            assert_eq!(item, "0x01");
            items += 1;
        }
    }
    assert!(items > 0);
}

#[test]
fn a_required_member_cannot_be_excluded() {
    let error = strategy("user-operation", &Overrides::new().never("/sender")).unwrap_err();
    assert!(error.to_string().contains("contradiction"), "{error}");
    assert!(strategy("no-such-document", &Overrides::new()).is_err());
}

#[test]
fn the_same_seed_draws_the_same() {
    let strategy = strategy("quote-erc20-request", &Overrides::new()).unwrap();
    let draws = |seed| {
        let mut runner = runner(seed);
        (0..20).map(|_| draw(&strategy, &mut runner)).collect::<Vec<_>>()
    };
    assert_eq!(draws(1), draws(1));
    assert_ne!(draws(1), draws(2));
}
