//! Requests as a proptest strategy: every value is valid, and so is every value that it shrinks to.

use std::cell::RefCell;

use paymaster_fee_quote::generate::{RequestEnvelope, Requests, requests};
use proptest::prelude::*;

use crate::*;

const TOKEN: &str = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174";

fn profile() -> Profile {
    Profile {
        tokens: TokenLists {
            supported: vec![Token { address: TOKEN.to_owned(), ..Token::default() }],
            ..TokenLists::default()
        },
        ..Profile::default()
    }
}

fn is_valid(pair: Kind, request: &RequestEnvelope) -> bool {
    validator_for(pair.request_document).unwrap().is_valid(request.value())
}

/// The bytes of the call data.
fn call_data(request: &RequestEnvelope) -> usize {
    (request.operation()["callData"].as_str().unwrap().len() - 2) / 2
}

/// The smallest value for which `fails` holds, and how many values were tried; every one of them is checked.
fn smallest(
    pair: Kind,
    requests: &Requests,
    fails: impl Fn(&RequestEnvelope) -> bool,
) -> (RequestEnvelope, u32) {
    let tried = Cell::new(0);
    let outcome = runner(5).run(requests, |request| {
        tried.set(tried.get() + 1);
        assert!(is_valid(pair, &request), "{request}");
        prop_assert!(!fails(&request));
        Ok(())
    });
    match outcome {
        Err(TestError::Fail(_, request)) => (request, tried.get()),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_request_is_valid_without_a_profile(
        (pair, request) in prop::sample::select(&kinds::ALL[..]).prop_flat_map(|pair| (Just(pair), requests(pair)))
    ) {
        prop_assert!(is_valid(pair, &request), "{request}");
        prop_assert_eq!(&request.value()["id"], &json!(1));
        let (body, text) = (request.body(), request.to_string());
        prop_assert_eq!(body.as_ref(), text.as_bytes());
    }

    #[test]
    fn a_fee_token_is_one_of_the_profile(request in requests(kinds::SPONSOR_ERC20).profile(profile())) {
        let token = &request.mode_object()["tokenInfo"]["feeTokenAddress"];
        prop_assert!(token.as_str().unwrap().eq_ignore_ascii_case(TOKEN));
    }

    #[test]
    fn a_dialect_decides_names_and_notation(
        request in requests(kinds::SPONSOR_ERC20).profile(profile()).dialect(Dialect::pinned(&Pins {
            fee_token_member: Some("tokenAddress".to_owned()),
            amount_notation: Some(Amounts::Hex),
            ..Pins::default()
        }))
    ) {
        prop_assert!(request.mode_object()["tokenInfo"]["tokenAddress"].is_string());
        prop_assert!(request.operation()["maxFeePerGas"].as_str().unwrap().starts_with("0x"));
    }
}

#[test]
fn a_failure_for_long_call_data_shrinks_to_a_minimal_request() {
    for pair in kinds::ALL {
        let (request, tried) =
            smallest(pair, &requests(pair).profile(profile()), |request| call_data(request) > 40);
        assert_eq!(call_data(&request), 41, "{request}");
        for (member, plainest) in [("initCode", "0x"), ("nonce", "0")] {
            let value = &request.operation()[member];
            assert!(value.is_null() || value == plainest, "{request}");
        }
        let own = &request.mode_object()["sponsorshipInfo"]["webhookData"];
        assert!(own.is_null() || *own == json!({}), "{request}");
        assert!(tried < 500, "{tried} values were tried");
    }
}

#[test]
fn the_suite_draws_with_the_same_strategy() {
    let context = Context::new(profile());
    for pair in kinds::ALL {
        let mut source = Source::new(3, &context);
        let mut runner = runner(3);
        let strategy = requests(pair).profile(profile()).tokens(Tokens::Supported);
        for _ in 0..20 {
            let drawn = strategy.new_tree(&mut runner).unwrap().current();
            assert_eq!(source.base(&Base::accepted(pair)), Some(drawn.value().clone()));
        }
    }
}

#[test]
fn a_request_shrinks_beside_other_values_and_in_lists() {
    let failed = RefCell::new(None);
    let both = (requests(kinds::QUOTE_SPONSORED), 0_u32..1_000);
    let outcome = runner(1).run(&both, |(request, number)| {
        prop_assert!(call_data(&request) <= 20 || number <= 50);
        Ok(())
    });
    if let Err(TestError::Fail(_, (request, number))) = outcome {
        failed.replace(Some((call_data(&request), number)));
    }
    // The number shrinks although the request before it has nothing left to try.
    assert_eq!(failed.take(), Some((21, 51)));
    let several = prop::collection::vec(requests(kinds::SPONSOR_ERC20), 1..6);
    let outcome = runner(1).run(&several, |all| {
        prop_assert!(all.iter().all(|request| call_data(request) <= 30));
        Ok(())
    });
    let Err(TestError::Fail(_, all)) = outcome else { panic!("no long call data was drawn") };
    assert_eq!(all.iter().map(call_data).collect::<Vec<_>>(), [31]);
}

#[test]
fn what_the_profile_promises_stays() {
    let listed = json!({
        "sender": "0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1",
        "callData": "0xabcdef0123456789abcdef0123456789",
    });
    let sponsorable = vec![listed.as_object().unwrap().clone()];
    let profile = Profile {
        accounts: vec![SmartAccount { name: "BICONOMY".to_owned(), version: "2.0.0".to_owned() }],
        operations: Operations { accepts: Accepts::Listed, sponsorable, ..Operations::default() },
        ..profile()
    };
    let (request, _) =
        smallest(kinds::SPONSOR_SPONSORED, &requests(kinds::SPONSOR_SPONSORED).profile(profile), |_| true);
    assert_eq!(request.operation()["callData"], listed["callData"], "{request}");
}

#[test]
fn a_profile_without_such_an_operation_is_the_reason_of_the_refusal() {
    let refused = requests(kinds::SPONSOR_SPONSORED).operation(Draw::Refused);
    let reason = refused.new_tree(&mut TestRunner::deterministic()).unwrap_err();
    assert!(reason.message().starts_with("the profile lists no operation, or no token"), "{reason}");
}

#[test]
fn a_failing_request_is_printed_as_json() {
    let tree = requests(kinds::QUOTE_ERC20).new_tree(&mut TestRunner::deterministic()).unwrap();
    let text = format!("{:?}", tree.current());
    assert!(text.starts_with(r#"{"jsonrpc":"2.0","id":1,"method":"pm_getFeeQuoteOrData","params":["#));
}
