//! Answers that are not judged.

use paymaster_engine::session::access::Access;
use paymaster_engine::session::recheck::{Original, Recheck, Replayed};
use paymaster_engine::session::unjudged::Unjudged;
use paymaster_engine::verdict::summary::UnjudgedGroups;

use super::*;
use crate::common::runs::profile;

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":[{"sender":"0x6fa3c1a0cd5b8ad3d71d5c70f1fe1dc1eaf0c5e1","nonce":"7","initCode":"0x","callData":"0x","callGasLimit":"1","verificationGasLimit":"1","preVerificationGas":"1","maxFeePerGas":"1","maxPriorityFeePerGas":"1"},{"mode":"SPONSORED","calculateGasLimits":true,"expiryDuration":300,"sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}]}"#;

fn exchange(request: &str, outcome: Result<(u16, &str), Failure>) -> Exchange {
    match outcome {
        Ok((status, body)) => exchanged(request.to_owned(), status, body.to_owned()),
        Err(failure) => Exchange::new(request.to_owned(), Err(failure), Duration::ZERO),
    }
}

fn look(answers: &mut Unjudged, exchanges: &[Exchange]) -> bool {
    let context = Context::default();
    let views: Vec<View<'_>> =
        exchanges.iter().map(|exchange| View::new(Role::Call, "", exchange, &context)).collect();
    answers.can_judge(&views, exchanges)
}

#[test]
fn unjudged_answers_are_counted_by_reason() {
    let too_large = || {
        let limit = 7;
        exchange(CALL, Err(Failure::TooLarge { part: paymaster_exchange::Part::Body, limit }))
    };
    let gateway = || exchange(CALL, Ok((502, "<html>")));
    let fine = || exchange(CALL, Ok((200, "{}")));
    let mut answers = Unjudged::default();
    assert!(look(&mut answers, &[fine()]));
    assert_eq!(answers, Unjudged::default());
    assert!(!look(&mut answers, &[fine(), too_large()]));
    assert!(!look(&mut answers, &[gateway(), too_large()]), "it is not judged, for one reason");
    assert!(look(&mut answers, &[gateway(), gateway(), fine()]));
    let mut other = Unjudged::default();
    let shorter = CALL.replace("300", "60");
    assert!(look(&mut other, &[exchange(&shorter, Ok((502, "<html>")))]));
    // A gateway may reject a request beyond the tables.
    assert!(look(&mut other, &[exchange("{}", Ok((502, "")))]));
    assert!(!look(&mut other, &[too_large()]));
    answers.merge(other);
    let (reasons, is_incomplete) = answers.clone().in_words(&Access::default());
    assert!(is_incomplete);
    let reasons: Vec<(String, UnjudgedGroups)> = reasons.into_iter().collect();
    let [(theirs, by_gateway), (ours, too_large)] = &reasons[..] else {
        panic!("{reasons:?}");
    };
    assert_eq!((by_gateway.groups, too_large.groups), (2, 3));
    assert_eq!(
        (&*by_gateway.request, &*too_large.request),
        (&*shorter, CALL),
        "the shortest request of each"
    );
    assert_eq!(theirs, "HTTP 502, and no answer of the service");
    assert!(ours.ends_with("more than we read"), "{ours}");
    let mut denied = Access::default();
    let (refused, context) = (exchange(CALL, Ok((401, ""))), Context::default());
    denied.see("calls", &View::new(Role::Call, "", &refused, &context));
    assert_eq!(answers.in_words(&denied).0.len(), 1);
}

#[test]
fn a_replay_judges_the_status_for_which_alone_the_run_found_a_value_to_be_refused() {
    let context = Context::default();
    let recheck = Recheck::new(rule("answer.json-text"), &context);
    let original = |status| {
        let original = json!({
            "member": 0, "pointer": "", "expected": "", "actual": "", "status": status, "served": [],
            "share": { "broken": 1, "judged": 1 },
            "circumstances": { "in_flight": 1, "earlier": 0, "connections": 1 },
        });
        serde_json::from_value::<Original>(original).expect("the other members have defaults")
    };
    let replayed = |status, exchange| recheck.replayed(&group(0, 1), &[exchange], &original(status));
    let forbidden = || answered(403, &[], "<html>");
    assert!(matches!(replayed(403, forbidden()), Replayed::Broken(_)), "as in the run");
    assert!(matches!(replayed(200, forbidden()), Replayed::NotTested(_)), "a gateway");
    assert!(matches!(replayed(403, answered(429, &[], "")), Replayed::NotTested(_)), "a limit");
    assert_eq!(replayed(403, result()), Replayed::Held);
}

#[test]
fn a_replay_shows_an_error_mended_where_the_request_gets_the_result_that_it_must_get() {
    let service = Service::new(&Config::default()).expect("the defaults are valid");
    let original = json!({
        "member": 0, "pointer": "/error/code", "expected": "", "actual": "", "status": 200, "served": [false],
        "share": { "broken": 1, "judged": 1 },
        "circumstances": { "in_flight": 1, "earlier": 0, "connections": 1 },
    });
    let original: Original = serde_json::from_value(original).expect("the other members have defaults");
    let exchanges = send(&|body| answer(&service, body), &group(0, 1));
    let replayed = |profile: Profile| {
        let context = Context::new(profile);
        let recheck = Recheck::new(rule("json-rpc.reserved-codes"), &context);
        recheck.replayed(&group(0, 1), &exchanges, &original)
    };
    let account = SmartAccount { name: "BICONOMY".to_owned(), version: "2.0.0".to_owned() };
    assert_eq!(replayed(Profile { accounts: vec![account], ..profile(&Config::default()) }), Replayed::Held);
    assert_eq!(replayed(Profile::default()), Replayed::NotJudged, "an error would be lawful too");
}
