//! The texts of violations: the request of the group, the place in its answer, the expected and the actual value.

use std::fs;
use std::path::{Path, PathBuf};

use paymaster_schemas::documents;

use crate::{common::group::group, *};

/// The place of the only variant in a group, else that of the second member.
fn place_of_variant(group: &Group) -> usize {
    group.members.iter().position(|member| member.role == Role::Variant).unwrap_or(1)
}

/// The violations of the rule when every member but the variant gets a correct answer.
fn found(relation: &str, id: &str, of_variant: &Result<&str, Failure>) -> Vec<Violation> {
    let group = group(relation);
    let variant = place_of_variant(&group);
    let exchanges: Vec<Exchange> = group
        .members
        .iter()
        .enumerate()
        .map(|(place, member)| {
            let requested: Value = serde_json::from_slice(&member.body).expect("a member is JSON");
            let body = match of_variant {
                Err(failure) if place == variant => {
                    return Exchange::new(member.body.clone(), Err(failure.clone()), Duration::ZERO);
                }
                &Ok(body) if place == variant => body,
                _ => ANSWER,
            };
            let answer = body.replace("\"id\":1", &format!("\"id\":{}", requested["id"]));
            exchanged(member.body.clone(), 200, answer)
        })
        .collect();
    let rule = SPECIFICATION.find_rule(id).expect("it is one of ours");
    let judge = Judge::new(vec![rule]);
    assert_eq!(judge.rules[0].id, id);
    let judgements = judge.group(&group, &exchanges, &Context::default());
    assert!(judgements.len() <= 1);
    judgements.into_iter().flat_map(|judgement| judgement.report.violations).collect()
}

#[track_caller]
fn assert_violation(relation: &str, id: &str, of_variant: &Result<&str, Failure>, expected: [&str; 3]) {
    let found = found(relation, id, of_variant);
    let [violation] = &found[..] else {
        panic!("{id} found {found:#?}");
    };
    assert_eq!(violation.member, place_of_variant(&group(relation)));
    let Violation { pointer, expected: wanted, actual, .. } = violation;
    assert_eq!([pointer.as_str(), wanted, actual], expected);
}

#[test]
fn an_exchange_rule_names_the_member_the_place_and_both_values() {
    let calls = STRING_IDS.id;
    let group = group(calls);
    let sent = &group.members[place_of_variant(&group)].label;
    assert_eq!(sent, "id \"\"");
    let other_id = ANSWER.replace("\"id\":1", "\"id\":2");
    assert_violation(calls, "answer.id", &Ok(&other_id), ["/id", "\"\"", "2"]);
    let no_id = ANSWER.replace("\"id\":1,", "");
    assert_violation(calls, "answer.id", &Ok(&no_id), ["/id", "\"\"", "no such member"]);
    let neither = r#"{"jsonrpc":"2.0","id":1}"#;
    assert_violation(
        calls,
        "answer.result-or-error",
        &Ok(neither),
        ["", "either result or error", "neither, in HTTP 200, {\"jsonrpc\":\"2.0\",\"id\":\"\"}"],
    );
    assert_violation(
        calls,
        "answer.http-message",
        &Err(Failure::Cut("it ended".to_owned())),
        ["", "a complete HTTP response", &Failure::Cut("it ended".to_owned()).to_string()],
    );
}

#[test]
fn only_exercised_rules_are_reported() {
    let group = group(STRING_IDS.id);
    let exchanges: Vec<Exchange> =
        group.members.iter().map(|member| exchanged(member.body.clone(), 200, "{}")).collect();
    let judgements =
        Judge::new(SPECIFICATION.rules().collect()).group(&group, &exchanges, &Context::default());
    let held = |id: &str| {
        judgements.iter().find(|judgement| judgement.rule.id == id).map(|judgement| judgement.report.held)
    };
    assert_eq!(held("answer.json-text"), Some(2));
    assert_eq!(held("answer.result-or-error"), Some(0), "it was broken, and never held");
    assert_eq!(held("error.code"), None, "there was no error");
    assert!(
        judgements
            .iter()
            .all(|judgement| judgement.report.held > 0 || !judgement.report.violations.is_empty())
    );
}

#[test]
fn a_row_names_its_member_and_a_long_value_is_cut() {
    let text = format!("\"{}\"", "9".repeat(500));
    let long = ANSWER.replace("\"callGasLimit\":1", &format!("\"callGasLimit\":{text}"));
    let found = found(STRING_IDS.id, "sponsored-result.callGasLimit", &Ok(&long));
    assert_eq!(found[0].pointer, "/result/callGasLimit");
    assert!(found[0].actual.ends_with("... (502 bytes)"), "{}", found[0].actual);
    assert!(found[0].actual.len() < 200);
}

const USDC: &str = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
const DAI: &str = "0x6b175474e89094c44da98b954eedeac495271d0f";

/// Pointer, expected and actual value of the violation, for an answer with those quotes and unsupported tokens to a quote for
/// `preferred` and `listed`.
fn tokens_violation(
    context: &Context,
    id: &str,
    [preferred, listed]: [&str; 2],
    quoted: &[&str],
    unsupported: &[&str],
) -> [String; 3] {
    let group = group("unsupported-in-quote");
    let mut request: Value = serde_json::from_slice(&group.members[0].body).expect("a member is JSON");
    request["params"][1]["tokenInfo"] = json!({"preferredToken": preferred, "tokenList": [listed]});
    let quotes: Vec<Value> = quoted.iter().map(|token| json!({"tokenAddress": token})).collect();
    let answered = json!({"feeQuotes": quotes, "unsupportedTokens": unsupported});
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": answered});
    let exchange = exchanged(request.to_string(), 200, answer.to_string());
    let judge = Judge::new(vec![SPECIFICATION.find_rule(id).expect("it is one of ours")]);
    let judgements = judge.group(&group, &[exchange], context);
    let violation = judgements[0].report.violations[0].clone();
    [violation.pointer, violation.expected, violation.actual]
}

#[test]
fn violations_about_tokens_name_the_tokens() {
    let mut context = Context::default();
    context.learn_token(USDC, Support::Supported);
    assert_eq!(
        tokens_violation(&context, "quote.tokens-quoted", [USDC, USDC], &[], &[]),
        [
            "/result/feeQuotes".to_owned(),
            format!("a quote for each supported token of the request, {USDC} included"),
            "quotes for none".to_owned(),
        ]
    );
    assert_eq!(
        tokens_violation(&context, "quote.only-requested", [USDC, USDC], &[USDC, DAI], &[]),
        [
            "/result/feeQuotes/1/tokenAddress".to_owned(),
            format!("a token of the request: {USDC}"),
            DAI.to_owned(),
        ]
    );
}

#[test]
fn a_violation_of_the_reading_names_the_reading() {
    let mut context = Context::default();
    context.learn_token(USDC, Support::Supported);
    context.learn_token(DAI, Support::Supported);
    for (reading, beyond, why) in [
        (QuotedTokens::List, USDC, "the listed tokens alone"),
        (QuotedTokens::Preferred, DAI, "the preferred token alone"),
    ] {
        context.dialect.quoted_tokens = reading;
        assert_eq!(
            tokens_violation(&context, "quote.tokens-quoted", [USDC, DAI], &[USDC, DAI], &[]),
            [
                "/result/feeQuotes".to_owned(),
                format!("no quote for {beyond}: the target quotes {why}"),
                format!("quotes for {USDC}, {DAI}"),
            ]
        );
    }
}

#[test]
fn a_violation_gives_the_reason_why_a_token_must_not_be_listed() {
    const OTHER: &str = "0x1111111111111111111111111111111111111111";
    let mut context = Context::default();
    context.learn_token(USDC, Support::Supported);
    for (quoted, listed, why) in [
        (&[USDC][..], OTHER, "which the request does not name"),
        (&[USDC], USDC, "which the same answer quotes"),
        (&[DAI], DAI, "which the same answer quotes"),
        (&[], USDC, "which is supported"),
    ] {
        let rule = "quote.unsupported-only-unsupported";
        assert_eq!(
            tokens_violation(&context, rule, [USDC, DAI], quoted, &[listed]),
            [
                "/result/unsupportedTokens/0".to_owned(),
                "only tokens of the request that are not supported".to_owned(),
                format!("{listed}, {why}"),
            ]
        );
    }
}

#[test]
fn a_group_rule_names_the_change_and_what_came_of_it() {
    assert_violation(
        STRING_IDS.id,
        "request.id-string",
        &Ok(NO),
        ["/error", "a result, which the unchanged request gets (the change: id \"\")", "error -32602 \"no\""],
    );
    let refused = ANSWER.replace("0xab", "0x");
    let found = found("decision", "sponsor.decision-inputs", &Ok(&refused));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].member, found[0].pointer.as_str()), (1, "/result/paymasterAndData"));
    assert_eq!(found[0].actual, "not sponsored (0x)");
    assert!(
        found[0].expected.starts_with("sponsored, as the unchanged request is (the change: "),
        "{}",
        found[0].expected
    );
}

/// Every member name, method and value of a schema that the specification names, JSON-RPC's aside.
fn names(schema: &Value, all: &mut BTreeSet<String>) {
    const OF_JSON_RPC: [&str; 11] =
        ["jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data", "2.0", "2.0.0"];
    let mut add = |name: &str| {
        if !OF_JSON_RPC.contains(&name) {
            all.insert(name.to_owned());
        }
    };
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) => members.keys().for_each(|name| add(name)),
            ("const", Value::String(text)) => add(text),
            ("enum", Value::Array(values)) => values.iter().filter_map(Value::as_str).for_each(&mut add),
            _ => {}
        }
    }
    let parts = schema.as_object().into_iter().flatten().map(|(_, part)| part);
    parts.chain(schema.as_array().into_iter().flatten()).for_each(|part| names(part, all));
}

/// The source files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let of = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(of).filter(|path| !path.ends_with("tests.rs")).collect()
}

#[test]
fn the_engine_names_no_member_method_or_value_of_a_request_or_result() {
    let mut all = BTreeSet::new();
    // Of every specification.
    for document in documents() {
        names(resolved(document.name).unwrap(), &mut all);
    }
    assert!(all.contains("paymasterAndData") && all.contains("ERC20") && all.contains("isFinal"), "{all:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../engine/src");
    let files = sources(&folder);
    assert!(files.len() > 50, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        // Tests, and the specification that they use, may name what they like.
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let code = code.split("#[cfg(test)]\n#[expect").next().unwrap_or_default();
        for line in code.lines().map(|line| line.split("//").next().unwrap_or_default()) {
            for (place, part) in line.split('"').enumerate() {
                // Of a text each step of a pointer. Of code each identifier: words of everyday language are no names there.
                let is_text = place % 2 == 1;
                let words: Vec<&str> = if is_text {
                    part.split('/').collect()
                } else {
                    part.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect()
                };
                let is_named = |word: &&str| {
                    let camel = word.split('_').enumerate().map(|(place, part)| match part.get(..1) {
                        Some(first) if place > 0 => first.to_ascii_uppercase() + &part[1..],
                        _ => part.to_owned(),
                    });
                    let is_special = |name: &String| {
                        name.contains(|letter: char| letter.is_ascii_uppercase())
                            || ["sender", "nonce"].contains(&name.as_str())
                    };
                    let name = if is_text { (*word).to_owned() } else { camel.collect() };
                    all.contains(&name) && (is_text || is_special(&name))
                };
                let named: Vec<&&str> = words.iter().filter(|word| is_named(word)).collect();
                assert!(named.is_empty(), "{}: {named:?} in {line}", file.display());
            }
        }
    }
}
