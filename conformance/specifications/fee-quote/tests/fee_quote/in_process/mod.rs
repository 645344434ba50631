//! The rules against a server that conforms: nothing is broken, and with a profile every rule is exercised.

use crate::{common::runs as common, *};

mod endings;

#[test]
fn the_reference_server_breaks_nothing_and_reaches_every_rule() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    for seed in 1..4 {
        let found = common::run(&service, common::profile(&config), seed);
        assert!(found.broken.is_empty(), "{:#?}", found.broken);
        // This run uses no chain.
        for rule in SPECIFICATION.rules().filter(|rule| rule.basis() != Basis::OnChain) {
            let times = found.held.get(rule.id).copied().unwrap_or(0);
            assert!(times >= rule.quota, "{} was reached {times} times, and needs {}", rule.id, rule.quota);
        }
    }
}

/// The most requests of a run, by its number of cases: a target with a limit of 20 requests a second takes 75 seconds for the smaller.
const MOST_REQUESTS: [(u32, usize); 2] = [(20, 1_650), (DEFAULT_CASES, 6_000)];

#[test]
fn a_run_keeps_to_its_number_of_requests_and_reaches_every_rule() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    let paymaster = |body: &[u8]| answer(&service, body);
    for (cases, most) in MOST_REQUESTS {
        let seeds = if cases == DEFAULT_CASES { 1..2 } else { 1..4 };
        for seed in seeds {
            let found = common::run_cases(&paymaster, common::profile(&config), seed, cases);
            let requests: usize = found.requests.values().sum();
            assert!(requests < most, "{requests} with {cases} cases: {:#?}", found.requests);
            for rule in SPECIFICATION.rules().filter(|rule| rule.basis() != Basis::OnChain) {
                let times = found.held.get(rule.id).copied().unwrap_or(0);
                assert!(
                    times >= rule.quota,
                    "with {cases} cases {} was reached {times} times, and needs {}",
                    rule.id,
                    rule.quota
                );
            }
        }
    }
}

#[test]
fn without_a_profile_nothing_is_broken_and_the_tokens_are_discovered() {
    let service = Service::new(&Config::default()).unwrap();
    let found = common::run(&service, Profile::default(), 1);
    assert!(found.broken.is_empty(), "{:#?}", found.broken);
    for rule in
        ["quote.tokens-quoted", "quote.unsupported-listed", "error.token-unsupported", "sponsor.erc20-result"]
    {
        assert!(
            found.held.get(rule).is_some_and(|times| *times > 10),
            "{rule} was not reached without a profile"
        );
    }
    for rule in ["sponsor.refused-gets-0x", "sponsor.sponsorable-is-sponsored"] {
        assert!(!found.held.contains_key(rule), "{rule} cannot be judged without a profile");
    }
}
