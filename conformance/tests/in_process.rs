//! Whole runs against the reference server in this process, without a socket: what the rules say of a server that conforms.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use paymaster_conformance::{
    case::Group,
    context::Context,
    discovery::Discovery,
    exchange::{Exchange, Response},
    judge::Judge,
    plan::{DEFAULT_CASES, plan},
    profile::{Accepts, Operations, Profile, SmartAccount, Token, TokenLists},
    rules::rules,
};
use paymaster_reference_server::{Config, Service};

const NOW: u64 = 1_800_000_000;

fn exchange(service: &Service, body: &Bytes) -> Exchange {
    let reply = service.handle_bytes(body, NOW);
    let response = Response {
        status: reply.status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: Bytes::from(reply.body.unwrap_or_default()),
    };
    Exchange {
        request: body.clone(),
        outcome: Ok(response),
        took: Duration::ZERO,
    }
}

fn send(service: &Service, group: &Group) -> Vec<Exchange> {
    group
        .members
        .iter()
        .map(|member| exchange(service, &member.body))
        .collect()
}

fn profile(config: &Config) -> Profile {
    let token = |token: &paymaster_reference_server::Token| Token {
        address: token.address.clone(),
        symbol: Some(token.symbol.clone()),
        decimals: u8::try_from(token.decimals).ok(),
    };
    let account = |name: &String| SmartAccount {
        name: name.clone(),
        version: "1.0.0".to_owned(),
    };
    Profile {
        tokens: TokenLists {
            supported: config.tokens.iter().map(token).collect(),
            unsupported: vec!["0x1111111111111111111111111111111111111111".to_owned()],
        },
        accounts: config.policy.account_names.iter().map(account).collect(),
        operations: Operations {
            accepts: Accepts::Any,
            refused_senders: config.policy.denied_senders.clone(),
            max_call_data_bytes: Some(config.policy.max_call_data_bytes),
            ..Operations::default()
        },
        ..Profile::default()
    }
}

/// For each rule, how often it held; violations are printed and fail the test.
fn run(service: &Service, profile: Profile, seed: u64) -> BTreeMap<&'static str, u64> {
    let mut discovery = Discovery::new(Context::new(profile), seed);
    let mut answers = Vec::new();
    while let Some(groups) = discovery.next_round(&answers) {
        answers = groups
            .into_iter()
            .map(|group| {
                let sent = send(service, &group);
                (group, sent)
            })
            .collect();
    }
    let context = discovery.finish();
    println!("{:?} {:?}", context.dialect, context.unlisted_tokens);
    let judge = Judge::new(rules().collect());
    let mut held = BTreeMap::new();
    let mut requests = 0;
    for group in plan(&context, seed, DEFAULT_CASES) {
        requests += group.members.len();
        let exchanges = send(service, &group);
        for judgement in judge.group(&group, &exchanges, &context) {
            for violation in &judgement.violations {
                let exchange = &exchanges[violation.member];
                panic!(
                    "{} {}: {violation:?}\n{:?}\n{:?}",
                    judgement.rule.id,
                    group.name(),
                    exchange.request,
                    exchange.outcome
                );
            }
            *held.entry(judgement.rule.id).or_default() += judgement.held;
        }
    }
    println!("{requests} requests");
    held
}

#[test]
fn the_reference_server_breaks_nothing_and_reaches_every_rule() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    for seed in 1..4 {
        let held = run(&service, profile(&config), seed);
        for rule in rules() {
            let times = held.get(rule.id).copied().unwrap_or(0);
            println!("{times:>6} of {:>3}  {}", rule.quota, rule.id);
            assert!(
                times >= rule.quota,
                "{} was reached {times} times, and needs {}",
                rule.id,
                rule.quota
            );
        }
    }
}

#[test]
fn without_a_profile_nothing_is_broken_either() {
    let service = Service::new(&Config::default()).unwrap();
    let held = run(&service, Profile::default(), 1);
    for rule in rules() {
        let times = held.get(rule.id).copied().unwrap_or(0);
        if times < rule.quota {
            println!("inconclusive: {}", rule.id)
        }
    }
    assert!(held["quote.tokens-quoted"] > 0 || held.is_empty());
}
