//! What a context expects of requests.

use super::*;
use crate::target::dialect::{Amounts, QuotedTokens};
use crate::target::profile::{Token, TokenLists, VaryingMember};
use paymaster_engine::cases::case::{Base, Draw};
use paymaster_engine::message::request::ParsedRequest;
use paymaster_schemas::{Kind, kinds};
use serde_json::json;

const ACCOUNT: &str = "BICONOMY";

fn pair(mode: Mode) -> Kind {
    kinds::of(kinds::SPONSOR, mode).unwrap()
}

fn operation() -> Value {
    json!({"sender": "0xAb", "nonce": "7", "initCode": "0x", "callData": "0x0102", "callGasLimit": "1"})
}

fn info(webhook: &Value, account: &str) -> Value {
    let account = json!({"name": account, "version": "1.0.0"});
    json!({"sponsorshipInfo": {"webhookData": webhook, "smartAccountInfo": account}})
}

fn named(names: &[&str]) -> Vec<SmartAccount> {
    accounts::listed(&names.iter().map(|name| (*name, "1.0.0")).collect::<Vec<_>>())
}

/// The expectation with a profile that names the account of the request.
fn expectation(operations: Operations, operation: &Value) -> Expectation {
    with_info(operations, &[ACCOUNT], operation, &info(&json!({}), ACCOUNT))
}

fn with_info(operations: Operations, accounts: &[&str], operation: &Value, info: &Value) -> Expectation {
    let profile = Profile { accounts: named(accounts), operations, ..Profile::default() };
    Context::new(profile).expectation(pair(Mode::Sponsored), operation, info)
}

fn in_tokens(operations: Operations, operation: &Value) -> Expectation {
    let context = Context::new(Profile { operations, ..Profile::default() });
    context.expectation(pair(Mode::Erc20), operation, &Value::Null)
}

fn listed() -> Operations {
    Operations {
        sponsorable: vec![operation().as_object().expect("it is one").clone()],
        ..Operations::default()
    }
}

#[test]
fn with_a_complete_list_of_tokens_nothing_is_learned() {
    use Support::{Supported, Unknown, Unsupported};
    let support_with = |complete| {
        let mut context = Context::new(Profile {
            tokens: TokenLists {
                supported: vec![Token { address: "0xAB".to_owned(), ..Token::default() }],
                unsupported: Vec::new(),
                complete,
            },
            ..Profile::default()
        });
        let before = context.support("0xef");
        context.learn_token("0xcd", Supported);
        context.learn_unlisted_tokens(Supported);
        [context.support("0xab"), context.support("0xcd"), before, context.support("0xef")]
    };
    assert_eq!(support_with(true), [Supported, Unsupported, Unsupported, Unsupported]);
    assert_eq!(support_with(false), [Supported, Supported, Unknown, Supported]);
}

#[test]
fn a_listed_operation_matches_member_by_member() {
    let with = |member: &str, value: Value| {
        let mut changed = operation();
        changed[member] = value;
        expectation(listed(), &changed)
    };
    assert_eq!(expectation(listed(), &operation()), Expectation::Sponsored);
    // Any member may decide, and how a policy compares members is not known.
    for (member, other) in [
        ("sender", json!("0xac")),
        ("sender", json!("0xaB")),
        ("nonce", json!("8")),
        ("nonce", json!("0x7")),
        ("nonce", json!(7)),
        ("initCode", json!("0x01")),
        ("callData", json!("0x0103")),
        ("callGasLimit", json!("2")),
    ] {
        assert_eq!(with(member, other), Expectation::Unknown, "{member}");
    }
    // A member that is not listed may have any value. initCode and callData that are not listed must be empty.
    assert_eq!(with("maxFeePerGas", json!("1")), Expectation::Sponsored);
    let without = |member: &str| {
        let mut shorter = listed();
        shorter.sponsorable[0].remove(member);
        expectation(shorter, &operation())
    };
    assert_eq!(without("nonce"), Expectation::Sponsored);
    assert_eq!(without("initCode"), Expectation::Sponsored);
    assert_eq!(without("callData"), Expectation::Unknown);
    let mut with_more = listed();
    with_more.sponsorable[0].insert("signature".to_owned(), json!("0x"));
    assert_eq!(expectation(with_more, &operation()), Expectation::Sponsored);
}

#[test]
fn a_member_that_varies_does_not_decide() {
    use VaryingMember::{CallData, InitCode, MaxFeePerGas, Nonce};

    let varying = |vary: &[VaryingMember]| Operations { vary: vary.to_vec(), ..listed() };
    let with = |vary: &[VaryingMember], member: &str, value: Value| {
        let mut changed = operation();
        changed[member] = value;
        expectation(varying(vary), &changed)
    };
    for (member, varies, value) in [
        ("nonce", Nonce, json!("8")),
        ("initCode", InitCode, json!("0x01")),
        ("callData", CallData, json!("0x")),
    ] {
        assert_eq!(with(&[varies], member, value.clone()), Expectation::Sponsored, "{member}");
        assert_eq!(with(&[MaxFeePerGas], member, value), Expectation::Unknown, "{member}");
    }
    assert_eq!(with(&[Nonce], "sender", json!("0xac")), Expectation::Unknown);
    // What varies is owed in ordinary sizes alone.
    let long = json!(format!("0x{}", "00".repeat(5_000)));
    assert_eq!(with(&[CallData], "callData", long), Expectation::Unknown);
    // A refused operation stays refused.
    let mut other = operation();
    other["nonce"] = json!("8");
    let refused = Operations { refused: listed().sponsorable, vary: vec![Nonce], ..Operations::default() };
    assert_eq!(expectation(refused, &other), Expectation::Refused);
}

#[test]
fn the_expectation_depends_on_sponsorship_info() {
    let refused =
        || Operations { accepts: Accepts::Any, refused: listed().sponsorable, ..Operations::default() };
    let first = info(&json!({}), "FIRST");
    for other in [info(&json!({"campaign": "x"}), "FIRST"), info(&json!({}), "SECOND")] {
        let tried = |operations, info| with_info(operations, &["FIRST", "SECOND"], &operation(), info);
        assert_eq!(tried(listed(), &first), Expectation::Sponsored);
        assert_eq!(tried(listed(), &other), Expectation::Unknown);
        assert_eq!(tried(refused(), &first), Expectation::Refused);
        assert_eq!(tried(refused(), &other), Expectation::Accepted);
        // That every other operation is sponsored says nothing of the sender of one that is refused.
        let all = Operations { sponsors: Some(Sponsors::Any), ..refused() };
        assert_eq!(tried(all, &other), Expectation::Accepted);
    }
    // Where webhookData is promised to change nothing, what is listed stays so.
    let limits = SizeLimits { webhook_data_bytes: Some(256), ..SizeLimits::default() };
    let profile =
        Profile { accounts: named(&["FIRST"]), operations: refused(), limits, ..Profile::default() };
    let other = info(&json!({"campaign": "x"}), "FIRST");
    let expected = Context::new(profile).expectation(pair(Mode::Sponsored), &operation(), &other);
    assert_eq!(expected, Expectation::Refused);
}

#[test]
fn a_refused_operation_is_not_sponsored_and_unknown_in_token_mode() {
    let by_operation =
        Operations { accepts: Accepts::Any, refused: listed().sponsorable, ..Operations::default() };
    let by_sender = Operations {
        accepts: Accepts::Any,
        refused_senders: vec!["0xaB".to_owned()],
        ..Operations::default()
    };
    let mut other = operation();
    other["sender"] = json!("0xac");
    // A profile that lists refused senders implies that all other senders are sponsored. Listed operations are only examples.
    for (operations, of_others) in
        [(by_operation, Expectation::Accepted), (by_sender, Expectation::Sponsored)]
    {
        assert_eq!(expectation(operations.clone(), &operation()), Expectation::Refused);
        assert_eq!(expectation(operations.clone(), &other), of_others);
        assert_eq!(in_tokens(operations, &operation()), Expectation::Unknown);
    }
}

#[test]
fn an_accepted_operation_is_sponsored_only_when_the_profile_states_it() {
    let any = |sponsors| Operations { accepts: Accepts::Any, sponsors, ..Operations::default() };
    for (sponsors, expected, token) in [
        (None, Expectation::Accepted, Expectation::Accepted),
        (Some(Sponsors::Listed), Expectation::Accepted, Expectation::Accepted),
        (Some(Sponsors::Any), Expectation::Sponsored, Expectation::Sponsored),
        (Some(Sponsors::None), Expectation::Refused, Expectation::Accepted),
    ] {
        assert_eq!(expectation(any(sponsors), &operation()), expected);
        assert_eq!(in_tokens(any(sponsors), &operation()), token);
        // A listed operation is sponsored, whatever holds for the others.
        let with_list = Operations { sponsorable: listed().sponsorable, ..any(sponsors) };
        assert_eq!(expectation(with_list, &operation()), Expectation::Sponsored);
    }
}

#[test]
fn what_is_larger_than_wallets_send_has_no_expectation() {
    let with = |name: &str, amount: &str, limits: SizeLimits| {
        let mut changed = operation();
        changed[name] = json!(amount);
        let profile = Profile {
            accounts: named(&[ACCOUNT]),
            operations: Operations { accepts: Accepts::Any, ..Operations::default() },
            limits,
            ..Profile::default()
        };
        let mode_object = info(&json!({}), ACCOUNT);
        Context::new(profile).expectation(pair(Mode::Sponsored), &changed, &mode_object)
    };
    let more =
        || SizeLimits { gas_limit: Some(40_000_000), max_fee_gwei: Some(20_000), ..SizeLimits::default() };
    let (accepted, unknown) = (Expectation::Accepted, Expectation::Unknown);
    for name in ["callGasLimit", "verificationGasLimit", "preVerificationGas"] {
        for (amount, plain, promised) in [
            ("30000000", accepted, accepted),
            ("30000001", unknown, accepted),
            ("40000001", unknown, unknown),
            ("18446744073709551616", unknown, unknown),
            // The highest limit says nothing of the lowest.
            ("0", unknown, unknown),
            ("0x0", unknown, unknown),
        ] {
            assert_eq!(with(name, amount, SizeLimits::default()), plain, "{name} {amount}");
            assert_eq!(with(name, amount, more()), promised, "{name} {amount}");
        }
    }
    assert_eq!(with("maxFeePerGas", "10000000000000", SizeLimits::default()), accepted);
    assert_eq!(with("maxFeePerGas", "10000000000001", SizeLimits::default()), unknown);
    assert_eq!(with("maxFeePerGas", "10000000000001", more()), accepted);
    assert_eq!(with("maxPriorityFeePerGas", "0", SizeLimits::default()), accepted);
    assert_eq!(with("nonce", "0", SizeLimits::default()), accepted);
    assert_eq!(with("nonce", &"9".repeat(70), SizeLimits::default()), accepted);
}

#[test]
fn an_account_that_the_profile_does_not_name_has_no_expectation() {
    let any = Operations { accepts: Accepts::Any, ..Operations::default() };
    for (operations, expected) in [(any, Expectation::Accepted), (listed(), Expectation::Sponsored)] {
        let sent =
            |accounts: &[&str], info: &Value| with_info(operations.clone(), accounts, &operation(), info);
        let of = |account| info(&json!({}), account);
        assert_eq!(sent(&[], &of(ACCOUNT)), Expectation::Unknown);
        assert_eq!(sent(&["OTHER"], &of(ACCOUNT)), Expectation::Unknown);
        assert_eq!(sent(&[ACCOUNT, "OTHER"], &of(ACCOUNT)), expected);
        assert_eq!(sent(&[ACCOUNT], &json!({"webhookData": {}})), Expectation::Unknown);
        let other_version =
            json!({"webhookData": {}, "smartAccountInfo": {"name": ACCOUNT, "version": "2.0.0"}});
        assert_eq!(sent(&[ACCOUNT], &other_version), Expectation::Unknown);
        assert_eq!(in_tokens(operations.clone(), &operation()), expected);
    }
}

#[test]
fn an_account_that_the_target_served_has_the_same_expectation_again() {
    let any = Operations { accepts: Accepts::Any, sponsors: Some(Sponsors::Any), ..Operations::default() };
    for (operations, best) in [(any, Expectation::Sponsored), (listed(), Expectation::Sponsored)] {
        let mut context = Context::new(Profile { operations, ..Profile::default() });
        let account = named(&[ACCOUNT]).remove(0);
        let sponsor = pair(Mode::Sponsored);
        let info = info(&json!({}), ACCOUNT);
        context.served_accounts.note(sponsor, &account, AccountService::Answered);
        assert_eq!(context.expectation(sponsor, &operation(), &info), Expectation::Accepted);
        context.served_accounts.note(sponsor, &account, AccountService::Sponsored);
        context.served_accounts.note(sponsor, &account, AccountService::Answered);
        assert_eq!(context.expectation(sponsor, &operation(), &info), best);
        assert_eq!(context.expectation(kinds::QUOTE_SPONSORED, &operation(), &info), Expectation::Unknown);
        assert_eq!(context.accounts(), [account]);
    }
}

#[test]
fn an_unlisted_operation_of_a_refused_sender_may_get_an_error() {
    let with = |accepts| Operations { accepts, refused_senders: vec!["0xaB".to_owned()], ..listed() };
    let mut other = operation();
    other["nonce"] = json!("0");
    for accepts in [Accepts::Listed, Accepts::Unknown] {
        assert_eq!(expectation(with(accepts), &other), Expectation::NotSponsored);
        assert_eq!(in_tokens(with(accepts), &other), Expectation::Unknown);
    }
    assert_eq!(expectation(with(Accepts::Any), &other), Expectation::Refused);
}

#[test]
fn a_refused_sender_is_sponsored_in_no_form() {
    let sender = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
    let operations = Operations { refused_senders: vec![sender.to_owned()], ..Operations::default() };
    let context = Context::new(Profile { operations, ..Profile::default() });
    let base = Base { draw: Draw::Refused, ..Base::accepted(kinds::SPONSOR_SPONSORED) };
    let mut request = Source::new(1, &context).base(&base).expect("the profile lists a refused sender");
    request["params"][1]["mode"] = json!("SPONSORSHIP");
    request["params"][0]["signature"] = json!("0x12");
    let required = |request: &Value| match ParsedRequest::of(request.to_string().as_bytes(), &SPECIFICATION) {
        ParsedRequest::Call(call) => context.requirement(&call),
        _ => panic!("it is a call"),
    };
    let requirement = required(&request);
    assert!(!requirement.within_tables);
    assert_eq!(requirement.expectation, Expectation::NotSponsored);
    // A strict parser may take another spelling for another sender.
    request["params"][0]["sender"] = json!(format!("0x{}", sender[2..].to_ascii_uppercase()));
    assert_eq!(required(&request).expectation, Expectation::Unknown);
    request["params"][0]["sender"] = json!("0x1111111111111111111111111111111111111111");
    assert_eq!(required(&request).expectation, Expectation::Unknown);
}

#[test]
fn call_data_is_measured_in_bytes() {
    let up_to = |limit| Operations {
        accepts: Accepts::Any,
        max_call_data_bytes: Some(limit),
        ..Operations::default()
    };
    assert_eq!(expectation(up_to(2), &operation()), Expectation::Accepted);
    assert_eq!(expectation(up_to(1), &operation()), Expectation::Unknown);
    // A listed operation is sponsored even beyond the limit.
    let both = Operations { sponsorable: listed().sponsorable, ..up_to(1) };
    assert_eq!(expectation(both, &operation()), Expectation::Sponsored);
}

#[test]
fn the_context_survives_a_replay_file() {
    let mut learned = Context::new(Profile { ..Profile::default() });
    learned.dialect = Dialect {
        jsonrpc_version: "2.0.0".to_owned(),
        sponsored_name: "SPONSOR".to_owned(),
        fee_token_member: "tokenAddress".to_owned(),
        mode_member: "mode".to_owned(),
        amount_notation: Amounts::Mixed,
        quoted_tokens: QuotedTokens::List,
    };
    learned.learn_token("0xab", Support::Supported);
    learned.learn_token("0xcd", Support::Unsupported);
    let account = |name: &str| SmartAccount { name: name.to_owned(), version: "1.0.0".to_owned() };
    let served = &mut learned.served_accounts;
    served.note(kinds::QUOTE_SPONSORED, &account("A"), AccountService::Answered);
    served.note(kinds::SPONSOR_SPONSORED, &account("B"), AccountService::Sponsored);
    let request = concat!(
        r#"{"jsonrpc":"2.0.0","id":1,"method":"pm_sponsorUserOperation","params":[{"sender":"0xABCDEFABCDEFABCDEFABCDEFABCDEFABCDEFABCD","#,
        r#""nonce":"0x1","callData":"0x","maxFeePerGas":"1","maxPriorityFeePerGas":"1"},{"mode":"ERC20","#,
        r#""tokenInfo":{"feeTokenAddress":"0x27a44456bedb94dbd59d0f0a14fe977c777fc5c3"}}]}"#
    );
    let request = ParsedRequest::of(request.as_bytes(), &SPECIFICATION);
    let call = request.valid_call().expect("it is valid");
    learned.served_forms.learn(call, &learned.dialect);
    learned.served_capitals.learn(call, &Value::Null);
    learned.quoted.learn(&json!({"paymasterAddress": "0xEF"}), None);
    assert_ne!(learned.served_forms, ServedForms::default());
    assert_ne!(learned.served_capitals, ServedCapitals::default());
    learned.unlisted_tokens = Support::Unsupported;
    learned.facts.note(&Token {
        address: "0xAB".to_owned(),
        symbol: Some("ONE".to_owned()),
        decimals: Some(6),
    });

    let written = serde_json::to_string(&learned).unwrap();
    let again = serde_json::from_str::<Context>(&written).unwrap();
    assert_eq!(again, learned);
    assert_eq!(again.quoted.paymaster.as_deref(), Some("0xef"));
    // No profile can pin the reading `unknown`, and a replay file holds it.
    let written = serde_json::to_string(&Context::default()).unwrap();
    assert_eq!(serde_json::from_str::<Context>(&written).unwrap(), Context::default());
}
