//! The rules against a server that conforms: nothing is broken, and with a profile every rule is exercised.

use paymaster_judge::{rules::rules, target::profile::Profile};
use paymaster_reference_server::{Config, Service};
use paymaster_schemas::Basis;

mod common;

#[test]
fn the_reference_server_breaks_nothing_and_reaches_every_rule() {
    let config = Config::default();
    let service = Service::new(&config).unwrap();
    for seed in 1..4 {
        let found = common::run(&service, common::profile(&config), seed);
        assert!(found.broken.is_empty(), "{:#?}", found.broken);
        // This run uses no chain.
        for rule in rules().filter(|rule| rule.basis() != Basis::OnChain) {
            let times = found.held.get(rule.id).copied().unwrap_or(0);
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
fn without_a_profile_nothing_is_broken_and_the_tokens_are_discovered() {
    let service = Service::new(&Config::default()).unwrap();
    let found = common::run(&service, Profile::default(), 1);
    assert!(found.broken.is_empty(), "{:#?}", found.broken);
    for rule in [
        "quote.tokens-quoted",
        "quote.unsupported-listed",
        "error.token-unsupported",
        "sponsor.erc20-result",
    ] {
        assert!(
            found.held.get(rule).is_some_and(|times| *times > 10),
            "{rule} was not reached without a profile"
        );
    }
    for rule in ["sponsor.refused-gets-0x", "sponsor.sponsorable-is-sponsored"] {
        assert!(
            !found.held.contains_key(rule),
            "{rule} cannot be judged without a profile"
        );
    }
}
