//! Which rules cannot apply to a target, by the words of its profile, and no others.

use std::collections::BTreeSet;

use paymaster_judge::{
    rules::rules,
    target::{
        context::Context,
        profile::{Accepts, Operations, Profile, SmartAccount, Sponsors, Token, TokenLists},
    },
};
use serde_json::{Map, Value, json};

type Ids = BTreeSet<&'static str>;

const CHAIN: &str = "on-chain.accepted";
const SYMBOL: &str = "fee-quote.symbol-of-token";
const DECIMAL: &str = "fee-quote.decimal-of-token";
/// What is left out of a run when the profile says nothing and no chain is asked.
const UNSAID: [&str; 3] = [CHAIN, SYMBOL, DECIMAL];
const REFUSALS: [&str; 2] = ["sponsor.refused-gets-0x", "error.refusal-is-none"];
const SPONSORED: &str = "sponsor.sponsorable-is-sponsored";
const OTHER_OPERATIONS: [&str; 3] = ["request.nonce-uint256", "request.init-code", "request.call-data"];

/// The rules that cannot apply; every one of them says why.
fn left_out(context: &Context) -> Ids {
    let reasons = rules().filter_map(|rule| Some((rule.id, (rule.not_applicable)(context)?)));
    reasons
        .map(|(id, reason)| {
            let says = if id == CHAIN { "--rpc-url" } else { "the profile " };
            assert!(reason.contains(says), "{id}: {reason}");
            id
        })
        .collect()
}

#[track_caller]
fn leaves_out(operations: Operations, more: &[&'static str]) {
    let profile = Profile {
        operations,
        ..Profile::default()
    };
    let expected: Ids = UNSAID.iter().chain(more).copied().collect();
    assert_eq!(left_out(&Context::new(profile)), expected);
}

fn operations() -> Vec<Map<String, Value>> {
    let operation = json!({"sender": "0x5b38da6a701c568545dcfcb03fcb875f56beddc4", "nonce": "1"});
    vec![operation.as_object().expect("it is one").clone()]
}

#[test]
fn of_who_says_nothing_only_what_needs_a_word_is_left_out() {
    leaves_out(Operations::default(), &[]);
    let asking = Context::default().asking_a_chain(true);
    assert_eq!(left_out(&asking), Ids::from([SYMBOL, DECIMAL]));
}

#[test]
fn facts_of_tokens_are_held_against_one_that_is_told() {
    let knowing = |symbol: Option<&str>, decimals| {
        let answered = Token {
            symbol: symbol.map(str::to_owned),
            decimals,
            ..Token::default()
        };
        left_out(&Context::new(Profile {
            tokens: TokenLists {
                supported: vec![Token::default(), answered],
                ..TokenLists::default()
            },
            ..Profile::default()
        }))
    };
    assert_eq!(knowing(Some("USDC"), Some(6)), Ids::from([CHAIN]));
    assert_eq!(knowing(Some("USDC"), None), Ids::from([CHAIN, DECIMAL]));
    assert_eq!(knowing(None, Some(6)), Ids::from([CHAIN, SYMBOL]));
    assert_eq!(knowing(None, None), Ids::from(UNSAID));
}

#[test]
fn who_supports_no_token_owes_no_result_with_one() {
    let answered = |supported: Vec<Token>, complete| {
        left_out(&Context::new(Profile {
            tokens: TokenLists {
                supported,
                complete,
                ..TokenLists::default()
            },
            ..Profile::default()
        }))
    };
    assert_eq!(answered(vec![], false), Ids::from(UNSAID));
    assert_eq!(answered(vec![Token::default()], true), Ids::from(UNSAID));
    let without = answered(vec![], true);
    assert!(without.is_superset(&Ids::from(UNSAID)));
    let of_tokens = |id: &str| id.starts_with("fee-quote.") || id.starts_with("token-sponsor-result.");
    assert!(rules().all(|rule| !of_tokens(rule.id) || without.contains(rule.id)));
    let others: Vec<&str> = without
        .into_iter()
        .filter(|id| !of_tokens(id) && !UNSAID.contains(id))
        .collect();
    assert_eq!(
        others,
        [
            "error.token-absent",
            "error.unsupported-quote-is-none",
            "quote.erc20-result",
            "quote.only-requested",
            "quote.tokens-quoted",
            "request.gas-fields-optional",
            "request.token-list",
            "sponsor.erc20-result",
        ]
    );
}

#[test]
fn who_has_one_account_is_not_asked_for_another() {
    let having = |names: &[&str]| {
        let account = |name: &&str| SmartAccount {
            name: (*name).to_owned(),
            version: "1.0.0".to_owned(),
        };
        let accounts = names.iter().map(account).collect();
        left_out(&Context::new(Profile {
            accounts,
            ..Profile::default()
        }))
    };
    let accounts: Ids = UNSAID.into_iter().chain(["request.smart-account-info"]).collect();
    assert_eq!(having(&["BICONOMY"]), accounts);
    assert_eq!(having(&["BICONOMY", "INFINITISM"]), Ids::from(UNSAID));
}

#[test]
fn who_accepts_listed_operations_is_sent_no_others() {
    let accepting = |accepts| Operations {
        accepts,
        ..Operations::default()
    };
    leaves_out(accepting(Accepts::Listed), &OTHER_OPERATIONS);
    leaves_out(accepting(Accepts::Any), &[]);
    leaves_out(accepting(Accepts::Unknown), &[]);
}

#[test]
fn who_sponsors_all_or_nothing_decides_nothing() {
    let sponsoring = |sponsors| Operations {
        sponsors: Some(sponsors),
        ..Operations::default()
    };
    leaves_out(sponsoring(Sponsors::Any), &REFUSALS);
    leaves_out(sponsoring(Sponsors::Listed), &[]);
    leaves_out(sponsoring(Sponsors::None), &[SPONSORED]);
    // What is listed stands above the word for all.
    leaves_out(
        Operations {
            refused: operations(),
            ..sponsoring(Sponsors::Any)
        },
        &[],
    );
    leaves_out(
        Operations {
            refused_senders: vec!["0x5b38da6a701c568545dcfcb03fcb875f56beddc4".to_owned()],
            ..sponsoring(Sponsors::Any)
        },
        &[],
    );
    leaves_out(
        Operations {
            sponsorable: operations(),
            ..sponsoring(Sponsors::None)
        },
        &[],
    );
}
