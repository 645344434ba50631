//! The typed fast path and the schema documents accept the same requests. The tests use valid requests and requests with
//! errors at any place.
//!
//! Requests with a member that occurs twice are not tested: the server refuses them, and a schema cannot see them.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::*;

/// Replacements for values, as JSON text, so that numbers keep their notation.
const REPLACEMENTS: &str = r#"
    null true false {} [] [{}] [null] {"a":{"b":[1]}} 0 -0 -0.0 1 1.0 1.5 -1 -0.1 1e3 1E+2 100e-2 15e-1 1e80
    -1e3 0e5 0.0e-7 18446744073709551616 9007199254740993.0
    115792089237316195423570985008687907853269984665640564039457584007913129639935
    115792089237316195423570985008687907853269984665640564039457584007913129639936 "" "0" "00" "12" "-1"
    "+1" "1.0" "\u00201" "1\n" "1e3" "0x" "0x0" "0xA" "0xab" "0xabc" "0X12" "0xg0" "x" "0x0x12"
    "0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "0x0000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "0x1ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
    "115792089237316195423570985008687907853269984665640564039457584007913129639935"
    "0115792089237316195423570985008687907853269984665640564039457584007913129639935"
    "115792089237316195423570985008687907853269984665640564039457584007913129639936"
    "999999999999999999999999999999999999999999999999999999999999999999999999999999"
    "0x00000000000000000000000000000000000000aA" "0x00000000000000000000000000000000000000aA0"
    "0xda5289fcaaf71d52a80a254da614a192b693e977" "00000000000000000000000000000000000000aaaa" "SPONSORED"
    "SPONSORSHIP" "ERC20" "erc20" "2.0" "2.0.0" "1.0.0" "1.2.3.4" "1..2" "1.2." "01.002.3" "٣.1.1" "v1.2.3"
    "pm_getFeeQuoteOrData" "pm_sponsorUserOperation" "é\u0000"
"#;

/// Names of members to add at any place: known and unknown ones.
const MEMBERS: &str = "sender nonce initCode callData callGasLimit signature paymasterAndData mode calculateGasLimits \
    expiryDuration sponsorshipInfo tokenInfo webhookData smartAccountInfo name version preferredToken \
    tokenList feeTokenAddress tokenAddress id jsonrpc method params unknown Sender";

/// One change to a request.
#[derive(Debug, Clone)]
enum Edit {
    Replace(Index, &'static str),
    Remove(Index),
    Add(Index, &'static str, &'static str),
    Append(Index, &'static str),
    /// Changes one letter of a string.
    Letter(Index, Index, char),
    /// Cuts or lengthens a string at its end.
    Length(Index, bool),
}

fn edit() -> impl Strategy<Value = Edit> {
    let replacement = || select(REPLACEMENTS.split_whitespace().collect::<Vec<_>>());
    // An empty name too.
    let names: Vec<&str> = MEMBERS.split(' ').chain([""]).collect();
    prop_oneof![
        4 => (any::<Index>(), replacement()).prop_map(|(place, value)| Edit::Replace(place, value)),
        2 => any::<Index>().prop_map(Edit::Remove),
        2 => (any::<Index>(), select(names), replacement()).prop_map(|(place, name, value)| Edit::Add(place, name, value)),
        1 => (any::<Index>(), replacement()).prop_map(|(place, value)| Edit::Append(place, value)),
        1 => (any::<Index>(), any::<Index>(), select(vec!['0', 'x', 'G', 'f', '.', ' ', 'é', '\0']))
            .prop_map(|(place, letter, new)| Edit::Letter(place, letter, new)),
        1 => (any::<Index>(), any::<bool>()).prop_map(|(place, longer)| Edit::Length(place, longer)),
    ]
}

/// The JSON pointers of every value in `value`.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                pointers(member, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

fn apply(request: &mut Value, edit: &Edit) {
    let mut found = Vec::new();
    pointers(request, "", &mut found);
    let (Edit::Replace(place, _)
    | Edit::Remove(place)
    | Edit::Add(place, ..)
    | Edit::Append(place, _)
    | Edit::Letter(place, ..)
    | Edit::Length(place, _)) = edit;
    let pointer = place.get(&found).clone();
    if let Edit::Remove(_) = edit {
        let Some((parent, name)) = pointer.rsplit_once('/') else { return };
        match request.pointer_mut(parent) {
            Some(Value::Object(members)) => {
                members.remove(name);
            }
            Some(Value::Array(items)) => {
                items.remove(name.parse().expect("an index"));
            }
            _ => {}
        }
        return;
    }
    let parsed = |text: &str| serde_json::from_str::<Value>(text).expect("the replacements are json");
    let Some(target) = request.pointer_mut(&pointer) else { return };
    match (edit, target) {
        (Edit::Replace(_, value), target) => *target = parsed(value),
        (Edit::Add(_, name, value), Value::Object(members)) => {
            members.insert((*name).to_owned(), parsed(value));
        }
        (Edit::Append(_, value), Value::Array(items)) => items.push(parsed(value)),
        (Edit::Letter(_, letter, new), Value::String(text)) if !text.is_empty() => {
            let mut letters: Vec<char> = text.chars().collect();
            let index = letter.index(letters.len());
            letters[index] = *new;
            *text = letters.into_iter().collect();
        }
        (Edit::Length(_, longer), Value::String(text)) => {
            if *longer {
                text.push('0');
            } else {
                text.pop();
            }
        }
        _ => {}
    }
}

/// Whether the schema of the effective mode accepts the request.
fn schema_accepts(request: &Value) -> bool {
    let mut request = request.clone();
    let is_quote = request["method"] == json!("pm_getFeeQuoteOrData");
    if is_quote && let Some(mode) = request.pointer_mut("/params/1").and_then(Value::as_object_mut) {
        // A quote request may omit the mode, which the schemas require.
        let has_tokens =
            mode.get("tokenInfo").and_then(Value::as_object).is_some_and(|info| !info.is_empty());
        mode.entry("mode").or_insert_with(|| json!(if has_tokens { "ERC20" } else { "SPONSORED" }));
    }
    let message = match (is_quote, request.pointer("/params/1/mode") == Some(&json!("ERC20"))) {
        (true, true) => "quote-erc20-request",
        (true, false) => "quote-sponsored-request",
        (false, true) => "sponsor-erc20-request",
        (false, false) => "sponsor-sponsored-request",
    };
    validator_for(message).is_some_and(|validator| validator.is_valid(&request))
}

/// Whether the server accepts the request as well formed. An unsupported token does not count as malformed.
fn server_accepts(text: &str) -> bool {
    let reply = service().handle_bytes(text.as_bytes(), NOW);
    let Some(body) = reply.body else { return false };
    let answer: Value = serde_json::from_slice(&body).expect("the answer is json");
    match answer.get("error") {
        None => true,
        Some(error) => error["code"] == json!(ErrorCode::TokenUnsupported.code()),
    }
}

/// The text of the request with some letters of its strings written as escapes, which changes nothing.
fn with_escapes(text: &str, every: usize) -> String {
    let mut out = String::new();
    let mut in_string = false;
    let mut letters = text.chars().enumerate();
    while let Some((index, letter)) = letters.next() {
        match letter {
            '"' => in_string = !in_string,
            '\\' => {
                out.push(letter);
                let (_, kind) = letters.next().expect("an escape has a kind");
                out.push(kind);
                let digits = if kind == 'u' { 4 } else { 0 };
                out.extend(letters.by_ref().take(digits).map(|(_, digit)| digit));
                continue;
            }
            _ if in_string && index % every == 0 && u32::from(letter) < 0x1_0000 => {
                write!(out, "\\u{:04x}", u32::from(letter)).expect("a string can be written to");
                continue;
            }
            _ => {}
        }
        out.push(letter);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn typed_path_and_schemas_agree(
        pair in 0_usize..4,
        edits in prop::collection::vec(edit(), 0..4),
        every in 1_usize..40,
    ) {
        let mut request = the_four_pairs()[pair].clone();
        for edit in &edits {
            apply(&mut request, edit);
        }
        let text = request.to_string();
        let expected = schema_accepts(&request);
        // The schema documents are about single requests, not about batches.
        prop_assume!(!request.is_array());
        prop_assert_eq!(server_accepts(&text), expected, "{}", text);
        let escaped = with_escapes(&text, every);
        prop_assert_eq!(server_accepts(&escaped), expected, "{}", escaped);
    }
}

/// Tests every replacement at every place of every pair, without randomness.
#[test]
fn typed_path_and_schemas_agree_on_every_single_replacement() {
    let mut accepted = 0;
    let mut refused = 0;
    for pair in the_four_pairs() {
        let mut found = Vec::new();
        pointers(&pair, "", &mut found);
        for pointer in found.iter().filter(|pointer| !pointer.is_empty()) {
            for replacement in REPLACEMENTS.split_whitespace() {
                let mut request = pair.clone();
                *request.pointer_mut(pointer).expect("it was found") =
                    serde_json::from_str(replacement).expect("the replacements are json");
                let expected = schema_accepts(&request);
                assert_eq!(server_accepts(&request.to_string()), expected, "{pointer}: {replacement}");
                if expected {
                    accepted += 1;
                } else {
                    refused += 1;
                }
            }
        }
    }
    assert!(accepted > 500 && refused > 500, "both verdicts occur: {accepted} and {refused}");
}

#[test]
fn the_samples_are_valid() {
    for request in the_four_pairs() {
        assert!(schema_accepts(&request) && server_accepts(&request.to_string()), "{request}");
    }
    let mut unsupported = the_four_pairs()[3].clone();
    unsupported["params"][1]["tokenInfo"]["feeTokenAddress"] = json!(UNKNOWN_TOKEN);
    assert!(schema_accepts(&unsupported) && server_accepts(&unsupported.to_string()));
}
