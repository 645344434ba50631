//! Rules that compare the answers of a group: how often they held, and which requests broke them.

use paymaster_engine::cases::protocol::IDLE_CONNECTION;
use paymaster_fee_quote::target::ordinary::BOUNDS;

use crate::common::group::{find_relation, group, group_of};
use crate::*;

/// How often the rule held and at which members it was broken, when the members are answered so, one after the other.
fn counts(relation: &str, id: &str, answers: &[&str]) -> (u64, Vec<usize>) {
    counts_in(&group(relation), id, answers)
}

fn counts_in(group: &Group, id: &str, answers: &[&str]) -> (u64, Vec<usize>) {
    counts_of(group, id, answers, &Context::default())
}

fn counts_of(group: &Group, id: &str, answers: &[&str], context: &Context) -> (u64, Vec<usize>) {
    assert!(answers.len() <= group.members.len());
    let answered = group.members.iter().zip(answers);
    let exchanges = answered.map(|(member, body)| exchanged(member.body.clone(), 200, (*body).to_owned()));
    judged_of(group, id, &exchanges.collect::<Vec<_>>(), context)
}

fn judged_of(group: &Group, id: &str, exchanges: &[Exchange], context: &Context) -> (u64, Vec<usize>) {
    let judge = Judge::new(vec![SPECIFICATION.find_rule(id).expect("it is one of ours")]);
    let judgements = judge.group(group, exchanges, context);
    judgements.first().map_or((0, Vec::new()), |judgement| {
        let broken = judgement.report.violations.iter().map(|violation| violation.member);
        (judgement.report.held, broken.collect())
    })
}

#[test]
fn the_mode_of_a_result_is_judged_when_the_baseline_has_the_right_mode() {
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
    let quote = group_of(relation, kinds::QUOTE_SPONSORED);
    assert_eq!(counts_in(&quote, id, &[ANSWER, ANSWER]), (1, Vec::new()));
    assert_eq!(counts_in(&quote, id, &[ANSWER, quotes]), (0, vec![1]));
    assert_eq!(counts_in(&quote, id, &[quotes, quotes]), (0, Vec::new()));
    let in_tokens = group_of(relation, kinds::QUOTE_ERC20);
    let of_tokens = r#"{"jsonrpc":"2.0","id":1,"result":{"mode":"ERC20","feeQuotes":[]}}"#;
    let bare = r#"{"jsonrpc":"2.0","id":1,"result":{"mode":"ERC20"}}"#;
    let unnamed = ANSWER.replace(r#""MODE":"SPONSORED","#, "");
    let both = unnamed.replace("\"result\":{", "\"result\":{\"feeQuotes\":[],");
    assert_eq!(counts_in(&in_tokens, id, &[of_tokens, of_tokens]), (1, Vec::new()));
    assert_eq!(counts_in(&in_tokens, id, &[of_tokens, &unnamed]), (0, vec![1]));
    assert_eq!(counts_in(&in_tokens, id, &[of_tokens, &both]), (1, Vec::new()));
    assert_eq!(counts_in(&in_tokens, id, &[of_tokens, bare]), (1, Vec::new()));
}

#[test]
fn a_call_gets_in_a_batch_what_it_gets_alone() {
    let id = "json-rpc.batch-elements";
    let group = group("batch-elements");
    let ids: Vec<Value> = {
        let batch: Value = serde_json::from_slice(&group.members[0].body).expect("it is JSON");
        let calls = batch.as_array().expect("it is a batch");
        calls.iter().map(|call| call["id"].clone()).collect()
    };
    assert_eq!(ids.len(), 3);
    let with_id = |answer: &str, id: &Value| answer.replace("\"id\":1", &format!("\"id\":{id}"));
    let outcome = |alone: [&str; 2], in_batch: [&str; 3]| {
        let answers: Vec<String> =
            in_batch.iter().zip(&ids).map(|(answer, id)| with_id(answer, id)).collect();
        counts_in(&group, id, &[&format!("[{}]", answers.join(",")), alone[0], alone[1]])
    };
    let foreign = ANSWER.replace("SPONSORED", "ERC20");
    let quotes = ANSWER.replace("\"result\":{", "\"result\":{\"feeQuotes\":[],");
    let other_data = ANSWER.replace("0xab", "0xcd");
    assert_eq!(outcome([ANSWER, NO], [ANSWER, NO, &other_data]), (3, Vec::new()));
    assert_eq!(outcome([ANSWER, NO], [NO, NO, ANSWER]), (2, vec![0]));
    assert_eq!(outcome([ANSWER, NO], [ANSWER, ANSWER, ANSWER]), (2, vec![0]));
    // An error in a batch keeps the rules of single errors, as the error alone does.
    let with_result = NO.replace("\"error\":", "\"result\":null,\"error\":");
    assert_eq!(outcome([ANSWER, NO], [ANSWER, &with_result, ANSWER]), (2, vec![0]));
    assert_eq!(outcome([ANSWER, &with_result], [ANSWER, &with_result, ANSWER]), (3, Vec::new()));
    // A member of the other mode may be there, and empty.
    assert_eq!(outcome([ANSWER, NO], [&foreign, NO, &quotes]), (2, vec![0]));
    // Where the call alone is answered wrong already, the batch is not the reason.
    assert_eq!(outcome([NO, ANSWER], [ANSWER, NO, NO]), (0, Vec::new()));
    assert_eq!(outcome([&foreign, NO], [&foreign, NO, ANSWER]), (1, Vec::new()));
    // A service may refuse what was sent too often.
    assert_eq!(outcome([NO, NO], [ANSWER, NO, NO]), (1, Vec::new()));
    // What is no array, or lacks an answer, is for json-rpc.batch.
    assert_eq!(counts_in(&group, id, &[NO, ANSWER, NO]), (0, Vec::new()));
    assert_eq!(counts_in(&group, id, &["[]", ANSWER, NO]), (0, Vec::new()));
    let twice = format!("[{0},{0}]", with_id(NO, &ids[0]));
    assert_eq!(counts_in(&group, id, &[&twice, ANSWER, NO]), (0, Vec::new()));
}

#[test]
fn pieces_of_4096_bytes_cut_a_letter_of_one_of_two_long_bodies() {
    let bodies = group("behaviour-probes").members.into_iter().rev().take(2);
    let texts = bodies.map(|member| String::from_utf8(member.body.to_vec()).expect("it is JSON"));
    assert!(texts.filter(|text| !text.is_char_boundary(3 * 4_096)).count() > 0);
}

#[test]
fn notation_changes_nothing_that_the_specification_fixes() {
    let (relation, id) = ("notation", "request.json-notation");
    let outcome = |answers: [&str; 3]| counts(relation, id, &answers);
    let refused = ANSWER.replace("0xab", "0x");
    let other_data = ANSWER.replace("0xab", "0xcd");
    let fine = (1, Vec::new());
    let changed = (0, vec![1]);
    let nothing = (0, Vec::new());
    assert_eq!(outcome([ANSWER, ANSWER, ANSWER]), fine);
    assert_eq!(outcome([ANSWER, &other_data, ANSWER]), fine, "a signature may differ each time");
    assert_eq!(outcome([ANSWER, &refused, ANSWER]), changed);
    assert_eq!(outcome([ANSWER, NO, ANSWER]), changed);
    assert_eq!(outcome([NO, ANSWER, NO]), changed);
    assert_eq!(outcome([NO, NO, NO]), fine);
    // Where the same bytes get this once and that once, the notation is not the reason.
    assert_eq!(outcome([ANSWER, NO, NO]), nothing);
    assert_eq!(outcome([ANSWER, "{}", ANSWER]), nothing);
    assert_eq!(outcome(["{}", ANSWER, "{}"]), nothing);
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
        assert_eq!(outcome([&quoted, &variant, &quoted]), *expected, "{variant}");
    }
}

#[test]
fn a_quote_with_unsupported_tokens_needs_a_result_when_it_gets_one_without_them() {
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
    assert_eq!(counts(relation, id, &all(ANSWER)), (members as u64 - 1, Vec::new()));
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
    assert_eq!(counts(relation, id, &all_refused), (members as u64 - 1, Vec::new()));
}

#[test]
fn data_with_a_signature_differs_between_operations() {
    let judged = |data: [&str; 3]| {
        let answers = data.map(|data| ANSWER.replace("SPONSORED", "ERC20").replace("0xab", data));
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        let group = group_of("token-data", kinds::SPONSOR_ERC20);
        counts_in(&group, "plausibility.token-data-differs", &answers)
    };
    let paymaster = format!("0x{}", "57".repeat(20));
    let signed = |byte: &str| format!("{paymaster}{}", byte.repeat(65));
    let (one, other) = (signed("ab"), signed("cd"));
    assert_eq!(judged([&one, &one, &one]), (0, vec![2]));
    assert_eq!(judged([&one, &one.replace("ab", "AB"), &one]), (0, vec![2]));
    assert_eq!(judged([&one, &one, &other]), (1, vec![]));
    // The address alone, the address and a token, and no signature at all.
    let with_a_token = format!("{paymaster}{}", "27".repeat(20));
    for unsigned in [&paymaster, &with_a_token, &signed("00")] {
        assert_eq!(judged([unsigned, unsigned, unsigned]), (1, vec![]), "{unsigned}");
    }
    let group = group_of("token-data", kinds::SPONSOR_ERC20);
    let some = counts_in(&group, "plausibility.token-data-differs", &[ANSWER, NO, ANSWER]);
    assert_eq!(some, (0, vec![]), "one operation has no result");
}

#[test]
fn data_with_a_signature_differs_between_tokens() {
    let token = |address: &str| Token { address: address.to_owned(), ..Token::default() };
    let supported =
        ["0x2791Bca1f2de4661ed88a30c99a7a9449aa84174", "0x6b175474e89094c44da98b954eedeac495271d0f"];
    let two = Context::new(Profile {
        tokens: TokenLists { supported: supported.map(token).into(), ..TokenLists::default() },
        ..Profile::default()
    });
    let relation = find_relation("token-data");
    let group = group_of("token-data", kinds::SPONSOR_ERC20);
    let input = BuildInput { pair: kinds::SPONSOR_ERC20, base: &group.base, round: 0, context: &two };
    let group = Group { members: (relation.members)(&input, &mut Ids::starting_at(1)), ..group };
    let other: Value = serde_json::from_slice(&group.members[1].body).expect("it is JSON");
    assert_eq!(other["params"][1]["tokenInfo"]["feeTokenAddress"], supported[1]);
    let judged = |rule: &str, data: [&str; 3]| {
        let answers = data.map(|data| ANSWER.replace("SPONSORED", "ERC20").replace("0xab", data));
        counts_of(&group, rule, &answers.each_ref().map(String::as_str), &two)
    };
    let signed = |byte: &str| format!("0x{}{}", "57".repeat(20), byte.repeat(65));
    let (one, other, short) = (signed("ab"), signed("cd"), format!("0x{}", "57".repeat(20)));
    let of_token = "plausibility.token-data-of-token";
    assert_eq!(judged(of_token, [&one, &one, &other]), (0, vec![1]));
    assert_eq!(judged(of_token, [&one, &other, &one]), (1, vec![]));
    assert_eq!(judged(of_token, [&short, &short, &short]), (1, vec![]));
    // The other token makes no difference between operations.
    assert_eq!(judged("plausibility.token-data-differs", [&one, &other, &one]), (0, vec![2]));
    assert_eq!(judged("plausibility.token-data-differs", [&one, &one, &other]), (1, vec![]));
}

#[test]
fn a_changed_request_needs_a_result_when_the_baseline_gets_one() {
    let (relation, id) = (STRING_IDS.id, "request.id-string");
    assert_eq!(counts(relation, id, &[ANSWER, ANSWER]), (1, Vec::new()));
    assert_eq!(counts(relation, id, &[NO, ANSWER]), (0, vec![0]));
    // A service that takes an operation once refuses the baseline, which comes last.
    assert_eq!(counts(relation, id, &[ANSWER, NO]), (1, Vec::new()));
    assert_eq!(counts(relation, id, &[NO, NO]), (0, Vec::new()));
    // Other rules report a body that is not an answer.
    assert_eq!(counts(relation, id, &["{}", ANSWER]), (0, Vec::new()));
}

#[test]
fn a_fractional_id_may_be_refused_as_json_rpc_discourages_it() {
    let mut group = group(STRING_IDS.id);
    let text = String::from_utf8(group.members[0].body.to_vec()).expect("it is JSON");
    let fractional = text.replace("\"id\":\"\"", "\"id\":1.5");
    assert_ne!(text, fractional);
    group.members[0].body = fractional.into();
    assert_eq!(counts_in(&group, "request.id-string", &[NO, ANSWER]), (0, Vec::new()));
}

/// A target that accepts these operations, and the account of the group.
fn accepting(group: &Group, accepts: Accepts) -> Context {
    let account = &group.base["params"][1]["sponsorshipInfo"]["smartAccountInfo"];
    Context::new(Profile {
        operations: Operations { accepts, ..Operations::default() },
        accounts: vec![SmartAccount {
            name: account["name"].as_str().expect("it is sent").to_owned(),
            version: account["version"].as_str().expect("it is sent").to_owned(),
        }],
        ..Profile::default()
    })
}

#[test]
fn what_is_just_inside_a_bound_needs_a_result_and_what_is_just_beyond_does_not() {
    let id = "request.sizes";
    // Call data make another operation: a result is needed only where the profile promises one.
    let call_data = group("sizes");
    let answers = [ANSWER, NO, ANSWER, NO];
    assert_eq!(counts_in(&call_data, id, &answers), (1, Vec::new()));
    let promised = accepting(&call_data, Accepts::Any);
    assert_eq!(counts_of(&call_data, id, &answers, &promised), (1, vec![1]));
    assert_eq!(counts_of(&call_data, id, &[NO, NO, NO, NO], &promised), (0, Vec::new()));
    // An id does not.
    let round = BOUNDS.iter().position(|bound| bound.beyond.starts_with("a string id")).expect("it is a row");
    let round = u32::try_from(round).expect("there are few rows");
    let input = BuildInput {
        pair: call_data.pair.unwrap(),
        base: &call_data.base,
        round,
        context: &Context::default(),
    };
    let members = (call_data.relation.members)(&input, &mut Ids::starting_at(1));
    let ids = Group { members, round, ..call_data };
    assert_eq!(counts_in(&ids, id, &[ANSWER, ANSWER, NO, NO]), (1, vec![2]));
}

#[test]
fn another_operation_needs_a_result_only_when_the_profile_covers_it() {
    let id = "request.nonce-uint256";
    let group = group("nonces");
    assert_eq!(group.members.len(), 2);
    let accepting = |accepts| accepting(&group, accepts);
    let promised = accepting(Accepts::Any);
    let found = |answers: [&str; 2], context: &Context| counts_of(&group, id, &answers, context);
    assert_eq!(found([ANSWER, ANSWER], &promised), (1, Vec::new()));
    assert_eq!(found([ANSWER, NO], &promised), (0, vec![1]));
    assert_eq!(found([NO, NO], &promised), (0, Vec::new()));
    let unknown = Context::default();
    assert_eq!(found([ANSWER, NO], &unknown), (0, Vec::new()));
    assert_eq!(found([ANSWER, ANSWER], &unknown), (1, Vec::new()));
}

/// How often a rule held for a group of this relation, and at which members it was broken, by the status and body of each answer.
fn judged_in_pairs(relation: &str, rule: &str, pairs: [[(u16, &str); 2]; 3]) -> (u64, Vec<usize>) {
    judged_by(&group(relation), rule, pairs.as_flattened())
}

fn judged_by(group: &Group, rule: &str, answers: &[(u16, &str)]) -> (u64, Vec<usize>) {
    assert_eq!(group.members.len(), answers.len());
    let answered = group.members.iter().zip(answers);
    let exchanges = answered.map(|(member, (status, body))| {
        let outcome = Ok(json_response(*status, (*body).to_owned()));
        let exchange = Exchange::new(member.body.clone(), outcome, Duration::ZERO);
        Exchange { sent_as: member.sent_as.clone(), ..exchange }
    });
    judged_of(group, rule, &exchanges.collect::<Vec<_>>(), &Context::default())
}

const HELD: (u64, Vec<usize>) = (1, Vec::new());
const NOT_JUDGED: (u64, Vec<usize>) = (0, Vec::new());

#[test]
fn the_headers_of_a_client_get_the_answer_that_plain_headers_get() {
    let judged = |pairs| judged_in_pairs("headers", "request.headers", pairs);
    let (yes, no) = ((200, ANSWER), (200, NO));
    assert_eq!(judged([[yes, yes]; 3]), HELD);
    for refusal in [
        (415, "unsupported media type"),
        (406, NO),
        (403, r#"{"message":"Forbidden"}"#),
        (400, "<html>"),
        (401, NO),
        (502, "<html>"),
    ] {
        assert_eq!(judged([[yes, refusal]; 3]), (0, vec![1]), "{refusal:?}");
        // By chance, or for another reason than the headers.
        assert_eq!(judged([[yes, refusal], [yes, refusal], [yes, yes]]), NOT_JUDGED);
    }
    assert_eq!(judged([[yes, no]; 3]), (0, vec![1]));
    assert_eq!(judged([[yes, no], [yes, no], [no, no]]), NOT_JUDGED);
    assert_eq!(judged([[no, yes]; 3]), NOT_JUDGED);
    // No refusal: another rule is about it.
    assert_eq!(judged([[yes, (200, "<html>")]; 3]), NOT_JUDGED);
}

#[test]
fn a_connection_that_was_idle_is_compared_with_new_ones_that_get_the_same_answer() {
    let context = Context::default();
    let scope = Scope::default().with_idle(true);
    let group = Plan::of(&[&IDLE_CONNECTION], &context, 1, 1).within(&scope).next().expect("a group");
    let judged = |answers: [(u16, &str); 3]| judged_by(&group, "http.idle-connection", &answers);
    let (yes, no) = ((200, ANSWER), (200, NO));
    assert_eq!(judged([yes, yes, yes]), HELD);
    for wrong in [no, (500, "<html>"), (200, "")] {
        assert_eq!(judged([yes, wrong, yes]), (0, vec![1]), "{wrong:?}");
        // A quota, or a request that is not served twice.
        assert_eq!(judged([yes, wrong, wrong]), NOT_JUDGED);
    }
    assert_eq!(judged([yes, (502, "<html>"), yes]), NOT_JUDGED);
    assert_eq!(judged([no, yes, yes]), NOT_JUDGED);
}

#[test]
fn a_form_of_a_client_is_refused_only_where_it_is_refused_each_time() {
    let judged = |pairs| judged_in_pairs("client-forms", "interoperability.client-forms", pairs);
    let (yes, no) = ((200, ANSWER), (200, NO));
    assert_eq!(judged([[yes, yes]; 3]), HELD);
    assert_eq!(judged([[yes, no]; 3]), (0, vec![1]));
    assert_eq!(judged([[yes, (400, "")]; 3]), (0, vec![1]));
    for by_chance in [[yes, no], [no, yes], [no, no]] {
        assert_eq!(judged([[yes, yes], by_chance, [yes, yes]]).1, Vec::<usize>::new());
    }
    assert_eq!(judged([[yes, no], [yes, no], [yes, yes]]), NOT_JUDGED);
    assert_eq!(judged([[no, no]; 3]), NOT_JUDGED);
}

/// With the account of the base in one member, a target that refuses it would leave nothing to compare in every group of that base.
#[test]
fn the_accounts_of_a_group_do_not_depend_on_the_base() {
    let named = |name: &str| SmartAccount { name: name.to_owned(), version: "1.0.0".to_owned() };
    let context = Context::new(Profile {
        accounts: vec![named("BICONOMY"), named("INFINITISM"), named("SAFE")],
        ..Profile::default()
    });
    let base = sample::sponsor_request("pm_getFeeQuoteOrData");
    let relation = find_relation("smart-accounts");
    let pairs: Vec<[String; 2]> = (0..3)
        .map(|round| {
            let input = BuildInput { pair: kinds::QUOTE_SPONSORED, base: &base, round, context: &context };
            let members = (relation.members)(&input, &mut Ids::starting_at(1));
            let account = |place: usize| {
                let request: Value = serde_json::from_slice(&members[place].body).expect("it is JSON");
                let name = &request["params"][1]["sponsorshipInfo"]["smartAccountInfo"]["name"];
                name.as_str().expect("it is sent").to_owned()
            };
            [account(0), account(1)]
        })
        .collect();
    assert_eq!(pairs, [["BICONOMY", "INFINITISM"], ["INFINITISM", "SAFE"], ["SAFE", "BICONOMY"]]);
}
