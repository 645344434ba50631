//! What a rule says of a group: how often it held, which request of the group broke it, where in its answer, what had to be there and what was.

use std::time::Duration;

use bytes::Bytes;
use paymaster_conformance::{
    case::{Group, Ids, Seed},
    context::{Context, Support},
    exchange::{Exchange, Failure, Response},
    finding::Violation,
    judge::Judge,
    profile::{Accepts, Operations, Profile},
    relations::{STRING_IDS, find_relation},
    rules::{find_rule, rules},
};
use paymaster_schemas::Pair;
use serde_json::{Value, json};

#[path = "common/sample.rs"]
mod sample;

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"MODE":"SPONSORED","paymasterAndData":"0xab","preVerificationGas":"1","verificationGasLimit":1,"callGasLimit":1}}"#;

const NO: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;

fn group(relation: &str) -> Group {
    let known = find_relation(relation).expect("it is one of ours");
    let quotes = known.bases.iter().all(|base| base.pair == Pair::QUOTE_ERC20);
    group_of(
        relation,
        if quotes {
            Pair::QUOTE_ERC20
        } else {
            Pair::SPONSOR_SPONSORED
        },
    )
}

/// The same of that pair.
fn group_of(relation: &str, pair: Pair) -> Group {
    let relation = find_relation(relation).expect("it is one of ours");
    let mut base = sample::sponsor_request(pair.method.name());
    if pair == Pair::QUOTE_ERC20 {
        let token = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
        let info = json!({"preferredToken": token, "tokenList": [token]});
        base["params"][1] = json!({"mode": "ERC20", "calculateGasLimits": true, "tokenInfo": info});
    }
    let pair = Some(pair);
    let seed = Seed {
        pair,
        base: &base,
        twist: 0,
        context: &Context::default(),
    };
    let members = (relation.members)(&seed, &mut Ids::starting_at(1));
    Group {
        number: 0,
        relation,
        pair,
        members,
        base,
        twist: 0,
        first_id: 1,
    }
}

/// What the rule finds when every member is answered well, but the second.
fn found(relation: &str, id: &str, second: &Result<&str, Failure>) -> Vec<Violation> {
    let group = group(relation);
    let respond = |body: &str| {
        Ok(Response {
            status: 200,
            headers: Vec::new(),
            body: Bytes::from(body.to_owned()),
        })
    };
    let exchanges: Vec<Exchange> = group
        .members
        .iter()
        .enumerate()
        .map(|(place, member)| {
            let asked: Value = serde_json::from_slice(&member.body).expect("a member is JSON");
            let well = ANSWER.replace("\"id\":1", &format!("\"id\":{}", asked["id"]));
            Exchange {
                request: member.body.clone(),
                outcome: match (place, second) {
                    (1, Err(failure)) => Err(failure.clone()),
                    (1, &Ok(body)) => respond(&body.replace("\"id\":1", &format!("\"id\":{}", asked["id"]))),
                    _ => respond(&well),
                },
                took: Duration::ZERO,
                on_chain: None,
            }
        })
        .collect();
    let rule = find_rule(id).expect("it is one of ours");
    let judge = Judge::new(vec![rule]);
    assert_eq!(judge.rules()[0].id, id);
    let judgements = judge.group(&group, &exchanges, &Context::default());
    assert!(judgements.len() <= 1);
    judgements
        .into_iter()
        .flat_map(|judgement| judgement.violations)
        .collect()
}

#[track_caller]
fn says(relation: &str, id: &str, second: &Result<&str, Failure>, expected: [&str; 3]) {
    let found = found(relation, id, second);
    let [violation] = &found[..] else {
        panic!("{id} found {found:#?}");
    };
    assert_eq!(violation.member, 1);
    let Violation {
        pointer,
        expected: wanted,
        actual,
        ..
    } = violation;
    assert_eq!([pointer.as_str(), wanted, actual], expected);
}

#[test]
fn an_exchange_rule_names_the_member_the_place_and_both_values() {
    let calls = STRING_IDS.id;
    let sent = group(calls).members[1].label.clone();
    assert_eq!(sent, "id \"\"");
    let other_id = ANSWER.replace("\"id\":1", "\"id\":2");
    says(calls, "answer.id", &Ok(&other_id), ["/id", "\"\"", "2"]);
    let no_id = ANSWER.replace("\"id\":1,", "");
    says(
        calls,
        "answer.id",
        &Ok(&no_id),
        ["/id", "\"\"", "the member is missing"],
    );
    let neither = r#"{"jsonrpc":"2.0","id":1}"#;
    says(
        calls,
        "answer.result-or-error",
        &Ok(neither),
        [
            "",
            "either result or error",
            "neither, in HTTP 200, {\"jsonrpc\":\"2.0\",\"id\":\"\"}",
        ],
    );
    says(
        calls,
        "answer.http-message",
        &Err(Failure::Cut("it ended".to_owned())),
        [
            "",
            "a complete HTTP response",
            &Failure::Cut("it ended".to_owned()).to_string(),
        ],
    );
}

/// How often the rule held and at which members it was broken, when the members are answered so, one after the other.
fn counts(relation: &str, id: &str, answers: &[&str]) -> (u64, Vec<usize>) {
    counts_in(&group(relation), id, answers)
}

fn counts_in(group: &Group, id: &str, answers: &[&str]) -> (u64, Vec<usize>) {
    counts_of(group, id, answers, &Context::default())
}

fn counts_of(group: &Group, id: &str, answers: &[&str], context: &Context) -> (u64, Vec<usize>) {
    let exchanges: Vec<Exchange> = group
        .members
        .iter()
        .zip(answers)
        .map(|(member, body)| Exchange {
            request: member.body.clone(),
            outcome: Ok(Response {
                status: 200,
                headers: Vec::new(),
                body: Bytes::from((*body).to_owned()),
            }),
            took: Duration::ZERO,
            on_chain: None,
        })
        .collect();
    assert_eq!(exchanges.len(), answers.len());
    let judge = Judge::new(vec![find_rule(id).expect("it is one of ours")]);
    let judgements = judge.group(group, &exchanges, context);
    judgements.first().map_or((0, Vec::new()), |judgement| {
        let broken = judgement.violations.iter().map(|violation| violation.member);
        (judgement.held, broken.collect())
    })
}

#[test]
fn the_mode_asked_for_is_compared_with_the_baseline() {
    let (relation, id) = ("both-infos", "sponsor.mode-mandatory-served");
    let foreign = ANSWER.replace("SPONSORED", "ERC20");
    let quotes = r#"{"jsonrpc":"2.0","id":1,"result":{"MODE":"SPONSORED","feeQuotes":[]}}"#;
    assert_eq!(counts(relation, id, &[ANSWER, ANSWER]), (1, Vec::new()));
    assert_eq!(counts(relation, id, &[ANSWER, &foreign]), (0, vec![1]));
    // Members that belong to the other mode may be refused; and where the baseline is wrong, the change is not the reason.
    assert_eq!(counts(relation, id, &[ANSWER, NO]), (0, Vec::new()));
    assert_eq!(counts(relation, id, &[&foreign, &foreign]), (0, Vec::new()));
    assert_eq!(counts(relation, id, &[&foreign, ANSWER]), (0, Vec::new()));
    assert_eq!(counts(relation, id, &[NO, &foreign]), (0, Vec::new()));
    // A quote shows its mode by its members; what sponsoring answers has the same members in both modes.
    assert_eq!(counts(relation, id, &[ANSWER, quotes]), (1, Vec::new()));
    let quote = group_of(relation, Pair::QUOTE_SPONSORED);
    assert_eq!(counts_in(&quote, id, &[ANSWER, ANSWER]), (1, Vec::new()));
    assert_eq!(counts_in(&quote, id, &[ANSWER, quotes]), (0, vec![1]));
    assert_eq!(counts_in(&quote, id, &[quotes, quotes]), (0, Vec::new()));
    let in_tokens = group_of(relation, Pair::QUOTE_ERC20);
    let of_tokens = r#"{"jsonrpc":"2.0","id":1,"result":{"mode":"ERC20","feeQuotes":[]}}"#;
    let bare = r#"{"jsonrpc":"2.0","id":1,"result":{"mode":"ERC20"}}"#;
    let unnamed = ANSWER.replace(r#""MODE":"SPONSORED","#, "");
    let both = unnamed.replace("\"result\":{", "\"result\":{\"feeQuotes\":[],");
    assert_eq!(
        counts_in(&in_tokens, id, &[of_tokens, of_tokens]),
        (1, Vec::new())
    );
    assert_eq!(counts_in(&in_tokens, id, &[of_tokens, &unnamed]), (0, vec![1]));
    assert_eq!(counts_in(&in_tokens, id, &[of_tokens, &both]), (1, Vec::new()));
    assert_eq!(counts_in(&in_tokens, id, &[of_tokens, bare]), (1, Vec::new()));
}

#[test]
fn a_call_gets_in_a_batch_what_it_gets_alone() {
    let id = "json-rpc.batch-elements";
    let group = group("batch-elements");
    let ids: Vec<Value> = {
        let batch: Value = serde_json::from_slice(&group.members[2].body).expect("it is JSON");
        let calls = batch.as_array().expect("it is a batch");
        calls.iter().map(|call| call["id"].clone()).collect()
    };
    assert_eq!(ids.len(), 3);
    let with_id = |answer: &str, id: &Value| answer.replace("\"id\":1", &format!("\"id\":{id}"));
    let says = |alone: [&str; 2], in_batch: [&str; 3]| {
        let answers: Vec<String> = in_batch
            .iter()
            .zip(&ids)
            .map(|(answer, id)| with_id(answer, id))
            .collect();
        counts_in(
            &group,
            id,
            &[alone[0], alone[1], &format!("[{}]", answers.join(","))],
        )
    };
    let foreign = ANSWER.replace("SPONSORED", "ERC20");
    let quotes = ANSWER.replace("\"result\":{", "\"result\":{\"feeQuotes\":[],");
    let other_data = ANSWER.replace("0xab", "0xcd");
    assert_eq!(says([ANSWER, NO], [ANSWER, NO, &other_data]), (3, Vec::new()));
    assert_eq!(says([ANSWER, NO], [NO, NO, ANSWER]), (2, vec![2]));
    assert_eq!(says([ANSWER, NO], [ANSWER, ANSWER, ANSWER]), (2, vec![2]));
    assert_eq!(says([ANSWER, NO], [&foreign, NO, &quotes]), (1, vec![2, 2]));
    // Where the call alone is answered wrong already, the batch is not the reason.
    assert_eq!(says([NO, ANSWER], [ANSWER, NO, NO]), (0, Vec::new()));
    assert_eq!(says([&foreign, NO], [&foreign, NO, ANSWER]), (1, Vec::new()));
    // What is no array, or lacks an answer, is for json-rpc.batch.
    assert_eq!(counts_in(&group, id, &[ANSWER, NO, NO]), (0, Vec::new()));
    assert_eq!(counts_in(&group, id, &[ANSWER, NO, "[]"]), (0, Vec::new()));
    let twice = format!("[{0},{0}]", with_id(NO, &ids[0]));
    assert_eq!(counts_in(&group, id, &[ANSWER, NO, &twice]), (0, Vec::new()));
}

#[test]
fn notation_changes_nothing_that_the_specification_fixes() {
    let (relation, id) = ("notation", "request.json-notation");
    let says = |answers: [&str; 3]| counts(relation, id, &answers);
    let refused = ANSWER.replace("0xab", "0x");
    let other_data = ANSWER.replace("0xab", "0xcd");
    let fine = (1, Vec::new());
    let changed = (0, vec![1]);
    let nothing = (0, Vec::new());
    assert_eq!(says([ANSWER, ANSWER, ANSWER]), fine);
    assert_eq!(
        says([ANSWER, &other_data, ANSWER]),
        fine,
        "a signature may differ each time"
    );
    assert_eq!(says([ANSWER, &refused, ANSWER]), changed);
    assert_eq!(says([ANSWER, NO, ANSWER]), changed);
    assert_eq!(says([NO, ANSWER, NO]), changed);
    assert_eq!(says([NO, NO, NO]), fine);
    // Where the same bytes get this once and that once, the notation is not the reason.
    assert_eq!(says([ANSWER, NO, NO]), nothing);
    assert_eq!(says([ANSWER, "{}", ANSWER]), nothing);
    assert_eq!(says(["{}", ANSWER, "{}"]), nothing);
    let quotes = |tokens: &str, others: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"feeQuotes":[{tokens}]{others}}}}}"#)
    };
    let one = r#"{"tokenAddress":"0xAB","maxGasFee":1}"#;
    let same = r#"{"maxGasFee":2,"tokenAddress":"0xab"}"#;
    let other = r#"{"tokenAddress":"0xcd","maxGasFee":1}"#;
    let listing = r#","unsupportedTokens":["0xEE"]"#;
    let quoted = quotes(one, listing);
    for (variant, expected) in [
        (quotes(same, r#","unsupportedTokens":["0xee"]"#), &fine),
        (quotes(other, listing), &changed),
        (quotes(&format!("{one},{other}"), listing), &changed),
        (quotes(one, ""), &changed),
        (quotes(one, r#","unsupportedTokens":["0xef"]"#), &changed),
        (ANSWER.to_owned(), &changed),
    ] {
        assert_eq!(says([&quoted, &variant, &quoted]), *expected, "{variant}");
    }
}

#[test]
fn a_quote_with_unsupported_tokens_is_owed_what_it_got_without_them() {
    let (relation, id) = ("unsupported-in-quote", "error.unsupported-quote-is-none");
    let quotes = r#"{"jsonrpc":"2.0","id":1,"result":{"MODE":"ERC20","feeQuotes":[]}}"#;
    assert_eq!(counts(relation, id, &[quotes, quotes, quotes]), (2, Vec::new()));
    assert_eq!(counts(relation, id, &[quotes, NO, quotes]), (1, vec![1]));
    assert_eq!(counts(relation, id, &[quotes, quotes, NO]), (1, vec![2]));
    assert_eq!(counts(relation, id, &[NO, NO, NO]), (0, Vec::new()));
}

#[test]
fn decisions_are_compared_with_the_baseline() {
    let (relation, id) = ("decision", "sponsor.decision-inputs");
    let refused = ANSWER.replace("0xab", "0x");
    let members = group(relation).members.len();
    assert!(members > 2);
    let all = |answer: &'static str| vec![answer; members];
    assert_eq!(
        counts(relation, id, &all(ANSWER)),
        (members as u64 - 1, Vec::new())
    );
    let mut one_refused = all(ANSWER);
    one_refused[2] = &refused;
    assert_eq!(counts(relation, id, &one_refused), (members as u64 - 2, vec![2]));
    let mut one_error = all(ANSWER);
    one_error[1] = NO;
    assert_eq!(counts(relation, id, &one_error), (members as u64 - 2, Vec::new()));
    let mut baseline_error = all(ANSWER);
    baseline_error[0] = NO;
    assert_eq!(counts(relation, id, &baseline_error), (0, Vec::new()));
    let all_refused = vec![refused.as_str(); members];
    assert_eq!(
        counts(relation, id, &all_refused),
        (members as u64 - 1, Vec::new())
    );
}

#[test]
fn a_change_of_the_request_is_owed_what_it_got_without() {
    let (relation, id) = (STRING_IDS.id, "request.id-string");
    assert_eq!(counts(relation, id, &[ANSWER, ANSWER]), (1, Vec::new()));
    assert_eq!(counts(relation, id, &[ANSWER, NO]), (0, vec![1]));
    assert_eq!(counts(relation, id, &[NO, ANSWER]), (1, Vec::new()));
    assert_eq!(counts(relation, id, &[NO, NO]), (0, Vec::new()));
    // What is no answer at all is for other rules.
    assert_eq!(counts(relation, id, &[ANSWER, "{}"]), (0, Vec::new()));
}

#[test]
fn a_fractional_id_may_be_refused_as_json_rpc_discourages_it() {
    let mut group = group(STRING_IDS.id);
    let text = String::from_utf8(group.members[1].body.to_vec()).expect("it is JSON");
    let fractional = text.replace("\"id\":\"\"", "\"id\":1.5");
    assert_ne!(text, fractional);
    group.members[1].body = Bytes::from(fractional);
    assert_eq!(
        counts_in(&group, "request.id-string", &[ANSWER, NO]),
        (0, Vec::new())
    );
}

#[test]
fn another_operation_is_owed_a_result_where_the_profile_vouches_for_it() {
    let id = "request.nonce-uint256";
    let group = group("nonces");
    assert_eq!(group.members.len(), 2);
    let accepting = |accepts| {
        Context::new(Profile {
            operations: Operations {
                accepts,
                ..Operations::default()
            },
            ..Profile::default()
        })
    };
    let vouched = accepting(Accepts::Any);
    let said = |answers: [&str; 2], context: &Context| counts_of(&group, id, &answers, context);
    assert_eq!(said([ANSWER, ANSWER], &vouched), (1, Vec::new()));
    assert_eq!(said([ANSWER, NO], &vouched), (0, vec![1]));
    assert_eq!(said([NO, NO], &vouched), (0, Vec::new()));
    let unknown = Context::default();
    assert_eq!(said([ANSWER, NO], &unknown), (0, Vec::new()));
    assert_eq!(said([ANSWER, ANSWER], &unknown), (1, Vec::new()));
}

#[test]
fn only_rules_that_were_exercised_have_something_to_say() {
    let group = group(STRING_IDS.id);
    let exchanges: Vec<Exchange> = group
        .members
        .iter()
        .map(|member| Exchange {
            request: member.body.clone(),
            outcome: Ok(Response {
                status: 200,
                headers: Vec::new(),
                body: Bytes::from_static(b"{}"),
            }),
            took: Duration::ZERO,
            on_chain: None,
        })
        .collect();
    let judgements = Judge::new(rules().collect()).group(&group, &exchanges, &Context::default());
    let held = |id: &str| {
        judgements
            .iter()
            .find(|judgement| judgement.rule.id == id)
            .map(|judgement| judgement.held)
    };
    assert_eq!(held("answer.json-text"), Some(2));
    assert_eq!(
        held("answer.result-or-error"),
        Some(0),
        "it was broken, and never held"
    );
    assert_eq!(held("error.code"), None, "there was no error");
    assert!(
        judgements
            .iter()
            .all(|judgement| judgement.held > 0 || !judgement.violations.is_empty())
    );
}

#[test]
fn a_row_names_its_member_and_a_long_value_is_cut() {
    let text = format!("\"{}\"", "9".repeat(500));
    let long = ANSWER.replace("\"callGasLimit\":1", &format!("\"callGasLimit\":{text}"));
    let found = found(STRING_IDS.id, "sponsored-result.callGasLimit", &Ok(&long));
    assert_eq!(found[0].pointer, "/result/callGasLimit");
    assert!(
        found[0].actual.ends_with("... (502 bytes)"),
        "{}",
        found[0].actual
    );
    assert!(found[0].actual.len() < 200);
}

#[test]
fn a_rule_of_tokens_names_them() {
    const USDC: &str = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
    const OTHER: &str = "0x6b175474e89094c44da98b954eedeac495271d0f";
    let group = group("unsupported-in-quote");
    let mut context = Context::default();
    context.learn_token(USDC, Support::Supported);
    let said = |id: &str, quoted: &[&str]| {
        let quotes: Vec<Value> = quoted
            .iter()
            .map(|token| json!({"tokenAddress": token}))
            .collect();
        let body = json!({"jsonrpc": "2.0", "id": 1, "result": {"feeQuotes": quotes}}).to_string();
        let exchange = Exchange {
            request: group.members[0].body.clone(),
            outcome: Ok(Response {
                status: 200,
                headers: Vec::new(),
                body: Bytes::from(body),
            }),
            took: Duration::ZERO,
            on_chain: None,
        };
        let judge = Judge::new(vec![find_rule(id).expect("it is one of ours")]);
        let judgements = judge.group(&group, &[exchange], &context);
        let violation = judgements[0].violations[0].clone();
        [violation.pointer, violation.expected, violation.actual]
    };
    assert_eq!(
        said("quote.tokens-quoted", &[]),
        [
            "/result/feeQuotes".to_owned(),
            format!("a quote for each supported token of the request, {USDC} included"),
            "quotes for none".to_owned(),
        ]
    );
    assert_eq!(
        said("quote.only-requested", &[USDC, OTHER]),
        [
            "/result/feeQuotes/1/tokenAddress".to_owned(),
            format!("a token of the request: {USDC}"),
            OTHER.to_owned(),
        ]
    );
}

#[test]
fn a_group_rule_names_the_change_and_what_came_of_it() {
    says(
        STRING_IDS.id,
        "request.id-string",
        &Ok(NO),
        [
            "/error",
            "a result, as without this change: id \"\"",
            "error -32602 \"no\"",
        ],
    );
    let refused = ANSWER.replace("0xab", "0x");
    let found = found("decision", "sponsor.decision-inputs", &Ok(&refused));
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].member, found[0].pointer.as_str()),
        (1, "/result/paymasterAndData")
    );
    assert_eq!(found[0].actual, "not sponsored (0x)");
    assert!(
        found[0]
            .expected
            .starts_with("sponsored, as without this change: "),
        "{}",
        found[0].expected
    );
}
