use paymaster_engine::{cases::case::Member, diagnosis::difference::Difference};
use paymaster_fee_quote::{SPECIFICATION, relations::CALLS, target::context::Context};
use serde_json::json;

use super::*;
use crate::report::sample;

const NONCE: &str = "/params/0/nonce";

fn group(number: usize, nonce: &str) -> Arc<Group> {
    let body = json!({ "id": 1, "params": [{ "nonce": nonce }] });
    Arc::new(Group {
        number,
        relation: &CALLS,
        pair: None,
        base: body.clone(),
        round: 0,
        is_depth: false,
        first_id: 1,
        members: vec![Member {
            role: Role::Call,
            label: String::new(),
            body: body.to_string().into(),
            sent_as: None,
        }],
    })
}

/// A claim that one nonce is wrong and another one right, with the outcome of each request of the run.
fn claim(failing: &str, passing: &str, broken: &[bool]) -> Claim {
    let outcomes: BTreeMap<RequestPlace, bool> =
        (0..).zip(broken).map(|(group, is_broken)| (RequestPlace { group, member: 0 }, *is_broken)).collect();
    Claim {
        finding: sample::violations().summary.findings[0].clone(),
        cause: Cause::Members(vec![Difference::new(
            NONCE,
            Some(json!(failing)),
            Some(json!(passing)),
            &SPECIFICATION,
        )]),
        kept: outcomes.keys().copied().collect(),
        outcomes,
        may_be_every: false,
    }
}

#[test]
fn the_answers_of_the_run_contradict_a_cause() {
    let groups = || ["0", "1", "7", "0"].into_iter().enumerate().map(|(number, nonce)| group(number, nonce));
    let nonces = |requests: &[Request]| -> Vec<Value> {
        let nonce = |request: &Request| request.group.base.pointer(NONCE).cloned();
        requests.iter().filter_map(nonce).collect()
    };
    // The failing value always breaks the rule, and the passing one never does.
    let found = evidence(&[claim("0", "1", &[true, false, false, true])], groups(), &Context::default());
    assert_eq!((found[0].is_contradicted, &found[0].contradicted), (false, &None));
    assert!(found[0].unexplained.is_empty());
    assert_eq!(nonces(&found[0].held), ["1", "7"]);
    // The rule held for the failing value.
    let found = evidence(&[claim("0", "1", &[true, false, false, false])], groups(), &Context::default());
    assert_eq!(
        found[0].contradicted.as_ref().map(|request| &request["params"][0]["nonce"]),
        Some(&json!("0"))
    );
    // Requests without the failing value broke the rule too: another cause may explain them.
    let broken = [true, true, true, true];
    let found =
        evidence(&[claim("0", "1", &broken), claim("7", "8", &broken)], groups(), &Context::default());
    assert_eq!((found[0].is_contradicted, &found[0].contradicted), (false, &None));
    assert_eq!(nonces(&found[0].unexplained), ["1", "7"]);
    assert!(found[0].unexplained[0].explained_by.is_empty());
    assert_eq!(found[0].unexplained[1].explained_by, [1]);
}

#[test]
fn the_form_of_a_request_is_no_cause_where_another_form_of_the_kind_is_wrong_too() {
    for (may_be_every, nonces, expected) in
        [(true, ["0", "0"], false), (true, ["0", "7"], true), (false, ["0", "7"], false)]
    {
        let claim = claim("0", "1", &[true, true]);
        let claim = Claim { cause: Cause::Form(claim.cause.members().to_vec()), may_be_every, ..claim };
        let groups = nonces.into_iter().enumerate().map(|(number, nonce)| group(number, nonce));
        let found = evidence(&[claim], groups, &Context::default());
        assert_eq!(found[0].is_contradicted, expected, "{may_be_every} {nonces:?}");
    }
}
