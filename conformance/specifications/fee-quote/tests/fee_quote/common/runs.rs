//! Whole runs against the reference server in this process, without a socket.

use std::collections::BTreeMap;

use paymaster_engine::knowledge::Discover as _;

use crate::*;

const NOW: u64 = 1_800_000_000;

/// The counts of the rules over a run.
#[derive(Debug, Default)]
pub(crate) struct RuleCounts {
    /// How often each rule held.
    pub(crate) held: BTreeMap<&'static str, u64>,
    /// How often each rule was broken, and the first time in words.
    pub(crate) broken: BTreeMap<&'static str, (u64, String)>,
    /// How many requests were sent, by relation.
    pub(crate) requests: BTreeMap<&'static str, usize>,
}

/// The profile of a reference server with this configuration.
pub(crate) fn profile(config: &Config) -> Profile {
    let token = |token: &paymaster_reference_server::Token| Token {
        address: token.address.clone(),
        symbol: Some(token.symbol.clone()),
        decimals: u8::try_from(token.decimals).ok(),
    };
    let account = |name: &String| SmartAccount { name: name.clone(), version: "1.0.0".to_owned() };
    Profile {
        tokens: TokenLists {
            supported: config.tokens.iter().map(token).collect(),
            unsupported: vec!["0x1111111111111111111111111111111111111111".to_owned()],
            complete: false,
        },
        accounts: config.policy.account_names.iter().map(account).collect(),
        operations: Operations {
            accepts: Accepts::Any,
            refused_senders: config.policy.denied_senders.clone(),
            ..Operations::default()
        },
        ..Profile::default()
    }
}

/// Anything that answers bytes with a status and a body.
pub(crate) type Paymaster<'a> = dyn Fn(&[u8]) -> (u16, Vec<u8>) + 'a;

/// What a service answers to these bytes: status and body.
pub(crate) fn answer(service: &Service, body: &[u8]) -> (u16, Vec<u8>) {
    let reply = service.handle_bytes(body, NOW);
    (reply.status, reply.body.unwrap_or_default())
}

pub(crate) fn send(service: &Paymaster<'_>, group: &Group) -> Vec<Exchange> {
    let one = |request: &Bytes| {
        let (status, body) = service(request);
        let exchange = Exchange::new(request.clone(), Ok(json_response(status, body)), Duration::ZERO);
        Exchange { received: Some(UNIX_EPOCH + Duration::from_secs(NOW)), ..exchange }
    };
    group.members.iter().map(|member| one(member.body.bytes())).collect()
}

/// Discovery and the whole plan of that seed, judged.
pub(crate) fn run(service: &Service, profile: Profile, seed: u64) -> RuleCounts {
    run_against(&|body| answer(service, body), profile, seed)
}

/// Discovery and the whole plan of that seed against anything that answers bytes, judged.
pub(crate) fn run_against(service: &Paymaster<'_>, profile: Profile, seed: u64) -> RuleCounts {
    run_cases(service, profile, seed, DEFAULT_CASES)
}

/// Discovery and the plan of that seed with so many cases, judged.
pub(crate) fn run_cases(service: &Paymaster<'_>, profile: Profile, seed: u64, cases: u32) -> RuleCounts {
    let mut found = RuleCounts::default();
    let mut discovery = Discovery::new(Context::new(profile), seed);
    let mut answers = Vec::new();
    while let Some(groups) = discovery.next_round(&answers) {
        answers = groups
            .into_iter()
            .map(|group| (send(service, &group), group))
            .map(|(sent, group)| (group, sent))
            .collect();
        *found.requests.entry("discovery").or_default() += answers.len();
    }
    let context = discovery.found().0;
    let judge = Judge::new(SPECIFICATION.rules().collect());
    for group in Plan::new(&context, seed, cases).within(&Scope::default().with_idle(true)) {
        let exchanges = send(service, &group);
        *found.requests.entry(group.relation.id).or_default() += exchanges.len();
        for judgement in judge.group(&group, &exchanges, &context) {
            *found.held.entry(judgement.rule.id).or_default() += judgement.report.held;
            for violation in judgement.report.violations {
                let broken = found.broken.entry(judgement.rule.id).or_insert_with(|| {
                    let exchange = &exchanges[violation.member];
                    (
                        0,
                        format!(
                            "{}#{}: {violation:?}\n{:?}\n{:?}",
                            group.relation.id, group.round, exchange.request, exchange.outcome
                        ),
                    )
                });
                broken.0 += 1;
            }
        }
    }
    found
}
