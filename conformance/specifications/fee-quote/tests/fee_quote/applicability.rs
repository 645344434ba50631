//! Which rules cannot apply to a target according to its profile.

use paymaster_fee_quote::target::profile::VaryingMember;

use crate::*;

type Ids = BTreeSet<&'static str>;

const CHAIN: &str = "on-chain.accepted";
const SYMBOL: &str = "fee-quote.symbol-of-token";
const DECIMAL: &str = "fee-quote.decimal-of-token";
/// The rules that do not apply with an empty profile and without a chain.
const NEVER_STATED: [&str; 3] = [CHAIN, SYMBOL, DECIMAL];
const REFUSALS: [&str; 2] = ["sponsor.refused-gets-0x", "error.refusal-is-none"];
const SPONSORED: &str = "sponsor.sponsorable-is-sponsored";
const OTHER_OPERATIONS: [&str; 3] = ["request.nonce-uint256", "request.init-code", "request.call-data"];

/// The rules that cannot apply. Each gives a reason.
fn left_out(context: &Context) -> Ids {
    let reasons = SPECIFICATION.rules().filter_map(|rule| Some((rule.id, (rule.not_applicable)(context)?)));
    reasons
        .map(|(id, reason)| {
            let source = if id == CHAIN { "--rpc-url" } else { "the profile " };
            assert!(reason.contains(source), "{id}: {reason}");
            id
        })
        .collect()
}

#[track_caller]
fn assert_left_out(operations: Operations, more: &[&'static str]) {
    let profile = Profile { operations, ..Profile::default() };
    let expected: Ids = NEVER_STATED.iter().chain(more).copied().collect();
    assert_eq!(left_out(&Context::new(profile)), expected);
}

fn operations() -> Vec<Map<String, Value>> {
    let operation = json!({"sender": "0x5b38da6a701c568545dcfcb03fcb875f56beddc4", "nonce": "1"});
    vec![operation.as_object().expect("it is one").clone()]
}

#[test]
fn an_empty_profile_excludes_only_rules_that_need_a_fact() {
    assert_left_out(Operations::default(), &[]);
    let mut with_chain = Context::default();
    with_chain.on_chain = true;
    assert_eq!(left_out(&with_chain), Ids::from([SYMBOL, DECIMAL]));
}

#[test]
fn symbol_and_decimal_rules_need_a_token_with_known_values() {
    let with_facts = |symbol: Option<&str>, decimals| {
        let answered = Token { symbol: symbol.map(str::to_owned), decimals, ..Token::default() };
        left_out(&Context::new(Profile {
            tokens: TokenLists { supported: vec![Token::default(), answered], ..TokenLists::default() },
            ..Profile::default()
        }))
    };
    assert_eq!(with_facts(Some("USDC"), Some(6)), Ids::from([CHAIN]));
    assert_eq!(with_facts(Some("USDC"), None), Ids::from([CHAIN, DECIMAL]));
    assert_eq!(with_facts(None, Some(6)), Ids::from([CHAIN, SYMBOL]));
    assert_eq!(with_facts(None, None), Ids::from(NEVER_STATED));
}

#[test]
fn a_target_without_tokens_has_no_rules_about_results_with_tokens() {
    let answered = |supported: Vec<Token>, complete| {
        left_out(&Context::new(Profile {
            tokens: TokenLists { supported, complete, ..TokenLists::default() },
            ..Profile::default()
        }))
    };
    assert_eq!(answered(vec![], false), Ids::from(NEVER_STATED));
    let of_two_tokens = ["plausibility.token-data-of-token", "plausibility.token-data-of-token-at-once"];
    let with_one = NEVER_STATED.into_iter().chain(of_two_tokens).collect();
    assert_eq!(answered(vec![Token::default()], true), with_one);
    let without = answered(vec![], true);
    assert!(without.is_superset(&Ids::from(NEVER_STATED)));
    let of_tokens = |id: &str| id.starts_with("fee-quote.") || id.starts_with("token-sponsor-result.");
    assert!(SPECIFICATION.rules().all(|rule| !of_tokens(rule.id) || without.contains(rule.id)));
    let others = without.into_iter().filter(|id| !of_tokens(id) && !NEVER_STATED.contains(id));
    let expected = "error.token-absent error.unsupported-quote-is-none plausibility.exchange-rate \
            plausibility.fee-of-operation plausibility.logo-url plausibility.one-quote-a-token \
            plausibility.paymaster-address plausibility.pre-verification-gas plausibility.sponsored-data \
            plausibility.symbol plausibility.token-data plausibility.token-data-differs \
            plausibility.token-data-of-token plausibility.token-data-of-token-at-once \
            plausibility.token-price plausibility.valid-until quote.erc20-result quote.only-requested \
            quote.tokens-quoted quote.valid-until-future quote.valid-until-unit \
            request.gas-fields-optional request.token-list request.token-quote-row sponsor.erc20-result";
    assert_eq!(others.collect::<Vec<_>>(), expected.split(' ').collect::<Vec<_>>());
}

#[test]
fn a_target_with_one_account_has_no_rule_about_several_accounts() {
    let with_accounts = |names: &[&str]| {
        let account = |name: &&str| SmartAccount { name: (*name).to_owned(), version: "1.0.0".to_owned() };
        let accounts = names.iter().map(account).collect();
        left_out(&Context::new(Profile { accounts, ..Profile::default() }))
    };
    let accounts: Ids = NEVER_STATED.into_iter().chain(["request.smart-account-info"]).collect();
    assert_eq!(with_accounts(&["BICONOMY"]), accounts);
    assert_eq!(with_accounts(&["BICONOMY", "INFINITISM"]), Ids::from(NEVER_STATED));
}

#[test]
fn a_target_of_listed_operations_has_no_rules_about_other_operations() {
    let with_accepts = |accepts| Operations { accepts, ..Operations::default() };
    assert_left_out(with_accepts(Accepts::Listed), &OTHER_OPERATIONS);
    assert_left_out(with_accepts(Accepts::Any), &[]);
    assert_left_out(with_accepts(Accepts::Unknown), &[]);
}

#[test]
fn a_member_that_varies_brings_its_rule_back() {
    for (member, rule) in [
        (VaryingMember::Nonce, "request.nonce-uint256"),
        (VaryingMember::InitCode, "request.init-code"),
        (VaryingMember::CallData, "request.call-data"),
    ] {
        let operations = Operations { accepts: Accepts::Listed, vary: vec![member], ..Operations::default() };
        let others: Vec<_> = OTHER_OPERATIONS.into_iter().filter(|other| *other != rule).collect();
        assert_left_out(operations, &others);
    }
}

#[test]
fn a_target_that_sponsors_all_or_nothing_has_no_rules_about_the_opposite() {
    let with_sponsors = |sponsors| Operations { sponsors: Some(sponsors), ..Operations::default() };
    assert_left_out(with_sponsors(Sponsors::Any), &REFUSALS);
    assert_left_out(with_sponsors(Sponsors::Listed), &[]);
    assert_left_out(with_sponsors(Sponsors::None), &[SPONSORED, "plausibility.sponsored-data"]);
    // Listed operations and senders take precedence over `sponsors`.
    assert_left_out(Operations { refused: operations(), ..with_sponsors(Sponsors::Any) }, &[]);
    assert_left_out(
        Operations {
            refused_senders: vec!["0x5b38da6a701c568545dcfcb03fcb875f56beddc4".to_owned()],
            ..with_sponsors(Sponsors::Any)
        },
        &[],
    );
    assert_left_out(Operations { sponsorable: operations(), ..with_sponsors(Sponsors::None) }, &[]);
}
