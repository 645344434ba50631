//! What a summary says of rules that were judged too seldom, and of a target that refuses everything.

use paymaster_engine::knowledge::Discover as _;
use paymaster_engine::session::{Ending, Session};
use paymaster_engine::verdict::conclusion::{Conclusion, Strictness};
use paymaster_engine::verdict::summary::{Summary, most_awaited};
use paymaster_fee_quote::lines;

use crate::{common::runs as common, *};

const CASES: u32 = 20;
const ENTRY: &str = "fee-quote.decimal";
const COVERED: &str = "fee-quote.decimal-of-token";

/// A whole run. `left_out` names the pair whose groups are not sent.
fn ended(
    service: &Paymaster<'_>,
    profile: Profile,
    known: KnownFailureList,
    left_out: Option<Kind>,
) -> Summary {
    let mut discovery = Discovery::new(Context::new(profile), 1);
    let mut answers = Vec::new();
    while let Some(groups) = discovery.next_round(&answers) {
        let sent = groups.into_iter().map(|group| (send(service, &group), group));
        answers = sent.map(|(sent, group)| (group, sent)).collect();
    }
    let (context, access) = discovery.found();
    let context: Arc<dyn Knowledge> = Arc::new(context);
    let mut session = Session::new(SPECIFICATION.rules().collect(), Arc::clone(&context));
    session.known = Arc::new(known);
    for group in Plan::new(&*context, 1, CASES) {
        if left_out.is_some() && group.pair == left_out {
            session.leave_out(&group, "the target asked to wait again and again".to_owned());
        } else {
            session.judge(&group, &send(service, &group));
        }
    }
    session.tally.access.merge(access);
    session.tally.denied();
    concluded(session)
}

/// The summary of a run that completed its plan.
fn concluded(session: Session) -> Summary {
    let findings = session.findings();
    session.conclude(Ending {
        target: String::new(),
        seed: 1,
        early: None,
        findings,
        strictness: Strictness::default(),
        recorded: None,
        requests: 0,
        connections: 1,
        took: Duration::ZERO,
    })
}

fn outcome<'a>(summary: &'a Summary, id: &str) -> &'a RuleOutcome {
    summary.rules.iter().find(|outcome| outcome.rule.id == id).unwrap()
}

fn list(expires: &str) -> KnownFailureList {
    KnownFailureList {
        entries: vec![KnownFailure {
            kind: KnownFailureKind::Failing,
            rule: ENTRY,
            method: None,
            selected: None,
            pointer: None,
            reason: "ticket 7".to_owned(),
            owner: "the team".to_owned(),
            expires: expires.parse().unwrap(),
        }],
        today: NaiveDate::from_ymd_opt(2026, 6, 30).unwrap(),
    }
}

/// The answer of the reference server, with the number of decimals as a text.
fn with_text_decimals(service: &Service) -> impl Fn(&[u8]) -> (u16, Vec<u8>) {
    |body| {
        let (status, answer) = answer(service, body);
        let text = String::from_utf8(answer).unwrap();
        let as_text = |text: String, decimals: u8| {
            text.replace(&format!("\"decimal\":{decimals},"), &format!("\"decimal\":\"{decimals}\","))
        };
        (status, (0..=18).fold(text, as_text).into_bytes())
    }
}

#[test]
fn what_waits_only_for_a_known_failure_is_covered_by_it() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    let profile = || common::profile(&config);
    let covered = ended(&with_text_decimals(&service), profile(), list("2026-06-30"), None);
    assert_eq!(outcome(&covered, ENTRY).verdict, Verdict::KnownFailing);
    let waiting = outcome(&covered, COVERED);
    assert_eq!((waiting.verdict, waiting.held), (Verdict::Covered, 0));
    let reason = waiting.reason.as_deref().unwrap();
    assert!(reason.starts_with("covered by fee-quote.decimal"), "{reason}");
    assert_eq!(covered.conclusion, Conclusion::Conforms);
    // An expired entry covers nothing, and a rule that waits for a line of the profile too is not covered.
    let expired = ended(&with_text_decimals(&service), profile(), list("2026-06-29"), None);
    let waiting = outcome(&expired, COVERED);
    assert_eq!((waiting.verdict, waiting.waits_for), (Verdict::Inconclusive, None));
    let reason = waiting.reason.as_deref().unwrap();
    assert!(reason.starts_with("what it would judge breaks fee-quote.decimal"), "{reason}");
    assert_eq!(expired.conclusion, Conclusion::Violations);
    let without = ended(&with_text_decimals(&service), Profile::default(), list("2026-06-30"), None);
    let refused = outcome(&without, "sponsor.refused-gets-0x");
    assert_eq!(refused.verdict, Verdict::Inconclusive);
    assert_eq!(refused.waits_for, Some(&lines::REFUSED));
}

/// One request at a time shows nothing of answers that requests in flight together would get mixed up.
#[test]
fn a_rule_about_mixed_up_answers_does_not_pass_where_no_two_requests_were_in_flight() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    let sound = |body: &[u8]| answer(&service, body);
    let context: Arc<dyn Knowledge> = Arc::new(Context::new(common::profile(&config)));
    let rules = ["answer.id", "answer.jsonrpc"].map(|id| SPECIFICATION.find_rule(id).unwrap());
    for alone in [false, true] {
        let mut session = Session::new(rules.to_vec(), Arc::clone(&context));
        session.alone = alone;
        for group in Plan::new(&*context, 1, 4) {
            session.judge(&group, &send(&sound, &group));
        }
        let summary = concluded(session);
        assert_eq!(outcome(&summary, "answer.jsonrpc").verdict, Verdict::Passed);
        let of_mix_ups = outcome(&summary, "answer.id");
        if alone {
            let reason = of_mix_ups.reason.as_deref().unwrap();
            assert_eq!(of_mix_ups.verdict, Verdict::Inconclusive, "{reason}");
            assert!(reason.starts_with("no two requests were in flight at the same time: "), "{reason}");
        } else {
            assert_eq!(of_mix_ups.verdict, Verdict::Passed);
        }
    }
}

#[test]
fn a_rule_that_a_gateway_keeps_from_judging_waits_for_no_line() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    let behind_a_gateway = |body: &[u8]| match ParsedRequest::of(body, &SPECIFICATION).pair() {
        Some(kind) if kind == kinds::SPONSOR_ERC20 => (502, b"<html>nginx</html>".to_vec()),
        _ => answer(&service, body),
    };
    let summary = ended(&behind_a_gateway, common::profile(&config), KnownFailureList::default(), None);
    assert_eq!(summary.conclusion, Conclusion::Incomplete);
    for id in ["token-sponsor-result.MODE", "sponsor.erc20-result", "plausibility.token-data-differs"] {
        let waiting = outcome(&summary, id);
        assert_eq!((waiting.verdict, waiting.waits_for), (Verdict::Inconclusive, None), "{id}");
    }
    let reason = outcome(&summary, "token-sponsor-result.MODE").reason.clone().unwrap();
    for part in ["HTTP 502, and no answer of the service, for ", "all have ", "mode ERC20"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(most_awaited(&summary.rules), None);
    let unjudged: Vec<&String> = summary.unjudged.keys().collect();
    assert!(unjudged[0].contains("mode ERC20"), "{unjudged:?}");
}

#[test]
fn groups_that_were_throttled_are_the_reason_too() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    let paymaster = |body: &[u8]| answer(&service, body);
    let (profile, known) = (common::profile(&config), KnownFailureList::default());
    let summary = ended(&paymaster, profile, known, Some(kinds::SPONSOR_ERC20));
    let waiting = outcome(&summary, "plausibility.token-data-differs");
    let reason = waiting.reason.as_deref().unwrap();
    assert_eq!((waiting.verdict, waiting.waits_for), (Verdict::Inconclusive, None));
    assert!(reason.starts_with("the target asked to wait again and again, for "), "{reason}");
}

#[test]
fn the_commonest_refusal_is_in_the_summary() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    let error = |body: &[u8], message: &str| {
        let id = serde_json::from_slice::<Value>(body).unwrap_or_default()["id"].clone();
        let error =
            serde_json::json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": message}});
        error.to_string().into_bytes()
    };
    let run = |service: &Paymaster<'_>| ended(service, Profile::default(), KnownFailureList::default(), None);
    // The messages differ in values alone.
    let refuses = |body: &[u8]| (200, error(body, &format!("AA20 account 0x{} is not deployed", body.len())));
    let summary = run(&refuses);
    let refusal = summary.refusal.unwrap();
    assert_eq!((refusal.pairs.len(), refusal.times), (4, refusal.of));
    assert!(refusal.message.starts_with("AA20 account 0x"), "{refusal:?}");
    let without_tokens = |body: &[u8]| match ParsedRequest::of(body, &SPECIFICATION).pair() {
        Some(pair) if Mode::of(pair) == Mode::Erc20 => (200, error(body, "ERC20 mode is not enabled")),
        _ => answer(&service, body),
    };
    let summary = run(&without_tokens);
    assert_eq!(summary.refusal.as_ref().unwrap().pairs, [kinds::QUOTE_ERC20, kinds::SPONSOR_ERC20]);
    assert_eq!(summary.refusal.unwrap().message, "ERC20 mode is not enabled");
    // HTTP refuses every request too: nothing is judged, and the message is there.
    let without_key = |body: &[u8]| (401, error(body, "the key is missing"));
    let summary = run(&without_key);
    assert_eq!(summary.refusal.unwrap().message, "the key is missing");
    let serves = |body: &[u8]| answer(&service, body);
    assert_eq!(run(&serves).refusal, None);
}
