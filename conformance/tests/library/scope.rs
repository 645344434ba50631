//! `--rule` and the first part of a plan: fewer requests, which still show what the rules are for.

use std::time::SystemTime;

use http_body_util::BodyExt;
use hyper::Request;
use hyper::header::{HeaderName, HeaderValue};
use paymaster_engine::cases::case::Role;
use paymaster_engine::cases::protocol::keeps_idle;
use paymaster_engine::cases::scope::Scope;
use paymaster_engine::rules::Rule;
use paymaster_engine::session::discovery::{Rounds, Sent};
use paymaster_reference_server::{IdleBefore, faults_of};

use crate::*;

/// The number of cases of a default run.
const ALL_CASES: u32 = 250;
/// Enough for the faults below: those that show now and then are left out.
const CASES: u32 = 40;

fn service() -> InjectedService {
    let mut config = Config::default();
    config.signing.enabled = false;
    InjectedService::from(Service::new(&config).expect("the default configuration is valid"))
}

#[expect(clippy::default_trait_access, reason = "the type of the copy is not public")]
/// Sends a group; none where a connection was closed without a response.
async fn send(service: &InjectedService, group: &Group) -> Option<Vec<Exchange>> {
    let mut exchanges = Vec::new();
    for member in &group.members {
        let lines = member.sent_as.iter().flat_map(|client| &*client.lines);
        let mut head = Request::new(()).into_parts().0;
        head.headers = lines
            .filter_map(|(name, value)| {
                Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value).ok()?))
            })
            .collect();
        if keeps_idle(group.relation) && member.role == Role::Variant {
            head.extensions.insert(IdleBefore(Duration::from_secs(1)));
        }
        let answer = service.respond(&head, &member.body, &mut Default::default()).await;
        let (head, body) = answer.ok()?.into_parts();
        let body = body.collect().await.ok()?.to_bytes();
        let lines = head.headers.iter();
        let lines =
            lines.map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()));
        let (status, headers) = (head.status.as_u16(), lines.collect());
        let outcome = Ok(Response { status, headers, body: body.into() });
        exchanges.push(Exchange {
            received: Some(SystemTime::now()),
            sent_as: member.sent_as.clone(),
            ..Exchange::new(member.body.clone(), outcome, Duration::ZERO)
        });
    }
    Some(exchanges)
}

async fn discovered(service: &InjectedService) -> (Context, Sent) {
    let profile = paymaster_settings::embedded::profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mut rounds = Rounds::new(profile.discovery(1));
    let mut answers = Vec::new();
    while let Some(groups) = rounds.next_round(answers) {
        answers = Vec::new();
        for group in groups {
            if let Some(exchanges) = send(service, &group).await {
                answers.push((group, exchanges));
            }
        }
    }
    let (discovery, sent) = rounds.finish(&SPECIFICATION);
    (Context::of(&*discovery.finish().0).clone(), sent)
}

/// Judges groups by these rules: how often each held, and which were broken.
async fn judged(
    service: &InjectedService,
    selected: Vec<&'static Rule>,
    context: &Context,
    groups: impl Iterator<Item = Group>,
) -> (BTreeMap<&'static str, u64>, Vec<&'static str>) {
    let judge = Judge::new(selected);
    let (mut held, mut broken) = (BTreeMap::new(), Vec::new());
    for group in groups {
        let Some(exchanges) = send(service, &group).await else { continue };
        for judgement in judge.group(&group, &exchanges, context) {
            *held.entry(judgement.rule.id).or_default() += judgement.report.held;
            if !judgement.report.violations.is_empty() {
                broken.push(judgement.rule.id);
            }
        }
    }
    (held, broken)
}

fn requests(context: &Context, scope: &Scope) -> usize {
    let groups = Plan::new(context, 1, ALL_CASES).within(scope);
    groups.map(|group| group.members.len()).sum()
}

#[tokio::test]
async fn the_first_part_of_a_plan_exercises_every_rule_with_few_requests() {
    let service = service();
    let (context, _) = discovered(&service).await;
    let scope = Scope::default().with_idle(true);
    let first =
        |seed| Plan::new(&context, seed, ALL_CASES).within(&scope).take_while(|group| !group.is_depth);
    for seed in 1..4 {
        let (held, broken) = judged(&service, SPECIFICATION.rules().collect(), &context, first(seed)).await;
        assert!(broken.is_empty(), "{broken:?}");
        for rule in SPECIFICATION.rules().filter(|rule| rule.basis() != Basis::OnChain) {
            let times = held.get(rule.id).copied().unwrap_or_default();
            assert!(times >= rule.quota.min(2), "{}: {times}, seed {seed}", rule.id);
        }
    }
    let few: usize = first(1).map(|group| group.members.len()).sum();
    let all = requests(&context, &Scope::default());
    assert!(few < 750 && few * 6 < all, "{few} of {all}");
}

#[tokio::test]
async fn a_rule_is_exercised_by_what_it_needs() {
    let service = service();
    let (context, _) = discovered(&service).await;
    let all = requests(&context, &Scope::default());
    for rule in SPECIFICATION.rules().filter(|rule| rule.basis() != Basis::OnChain) {
        let scope = Scope::of_rules(&[rule], &SPECIFICATION).with_idle(true);
        let (held, _) =
            judged(&service, vec![rule], &context, Plan::new(&context, 1, CASES).within(&scope)).await;
        let times = held.get(rule.id).copied().unwrap_or_default();
        assert!(times >= rule.quota, "{}: {times} of {}", rule.id, rule.quota);
        let needed = requests(&context, &scope);
        assert!(needed * 3 < all, "{}: {needed} of {all}", rule.id);
    }
    for (id, most) in [
        ("request.nonce-uint256", 100),
        ("json-rpc.parse-error", 60),
        ("fee-quote.decimal", 600),
        ("answer.id", 1_250),
        ("answer.object", 750),
    ] {
        let rule = SPECIFICATION.find_rule(id).expect("it is a rule");
        let needed = requests(&context, &Scope::of_rules(&[rule], &SPECIFICATION));
        assert!((1..=most).contains(&needed), "{id}: {needed}");
    }
}

/// The faults of a clause are caught by what its rules need. Faults that show in one answer of many are left out.
#[tokio::test]
async fn faults_are_caught_by_what_the_rules_of_their_clause_need() {
    let (mut tried, mut missed) = (0, Vec::new());
    for fault in faults_of(SPECIFICATION.name).filter(|fault| !fault.about.contains("1 of")) {
        let of_clause: Vec<_> =
            SPECIFICATION.rules().filter(|rule| rule.clause == fault.clause && !rule.needs_chain()).collect();
        let scope = Scope::of_rules(&of_clause, &SPECIFICATION).with_idle(true);
        let is_about_bytes = fault.clause == "answer.http-message";
        if of_clause.is_empty() || is_about_bytes || NEEDS_HTTP.contains(&fault.name) {
            continue;
        }
        if of_clause.iter().any(|rule| rule.id == "request.headers") {
            continue; // what a client leaves out is decided in the transport
        }
        let service = service().with_faults([fault]);
        // Some show in few requests.
        let (context, first) = discovered(&service).await;
        let plan = |cases| Plan::new(&context, 1, cases).within(&scope);
        let (_, few) = judged(&service, of_clause.clone(), &context, plan(CASES)).await;
        let judge = Judge::new(of_clause.clone());
        let mut at_first =
            first.iter().flat_map(|(group, exchanges)| judge.group(group, exchanges, &context));
        if few.is_empty()
            && judged(&service, of_clause, &context, plan(ALL_CASES)).await.1.is_empty()
            && at_first.all(|judgement| judgement.report.violations.is_empty())
        {
            missed.push((fault.name, fault.clause));
        }
        tried += 1;
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(tried > 300, "{tried}");
}

/// Faults that show only while several requests are in flight, only in the bytes or headers of the HTTP response, or only where the sender
/// compares what looks like an excuse.
const NEEDS_HTTP: &[&str] = &[
    "quotes-cross",
    // By the time limit of an exchange.
    "incomplete-operation-unanswered",
    // By another relation than the one that its clause is about.
    "id-by-text-search",
    "token-data-empty-where-not-sponsored",
    // By the Date of the answer.
    "quotes-expired-minutes-ago",
    "answers-cross",
    "sender-lost-under-load",
    "quote-of-the-sender-under-load",
    "gzip-unannounced",
    "half-after-idle",
    "refused-sender-forbidden",
    "refused-sender-throttled",
    "token-mode-throttled",
    "token-quotes-unavailable",
    "one-token-unavailable",
    "one-token-too-large",
    "one-fee-token-bad-gateway",
    "init-code-timeout",
    "sponsor-requests-redirected",
    "account-forbidden",
    "absent-fee-token-forbidden",
];
