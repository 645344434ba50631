//! The pairs of faults that `selftest --pairs` tries.

use paymaster_conformance::selftest::{FaultPair, fault_pairs, run_pairs};

use crate::*;

/// Two faults that break one rule are two defects, each with its cause; a replay without one of them reports its defect alone as fixed.
#[test]
fn two_faults_of_one_rule_are_two_defects() {
    let pair = |one, two| FaultPair {
        specification: DEFAULT_SPECIFICATION,
        faults: [one, two].map(|name| find_fault(name).expect("a fault has another name now")),
        is_of_one_rule: true,
    };
    let pairs = [
        pair("decision-by-id-kind", "decision-by-absent-expiry"),
        pair("verification-gas-limit-required", "call-gas-limit-required"),
        pair("nonce-above-2-64-refused", "expiry-duration-refused"),
        // A status that every request with one value gets hides no other wrong answer.
        pair("refused-sender-forbidden", "zero-duration-fails"),
        pair("token-mode-throttled", "refused-sender-forbidden"),
        // Few requests lack the member on which one depends.
        pair("decision-by-even-id", "decision-by-absent-calculate"),
        // The second one answers some requests with an error: of those, none shows that the first one fails to.
        pair("token-with-another-digit-served", "nonce-above-2-64-refused"),
    ];
    let trials = run_pairs(&pairs, 1, &Stop::default(), &|_| {}).expect("the servers start");
    assert_eq!(trials.len(), pairs.len());
    for trial in trials {
        assert!(trial.has_two_defects() && trial.names_both() && trial.is_replayed(), "{trial:#?}");
    }
}

/// A pair of which one fault hides the other shows nothing of the search for causes.
#[test]
fn a_fault_that_hides_another_one_is_told() {
    let faults = ["sponsor-requests-redirected", "checksum-fee-token-refused"];
    let faults = faults.map(|name| find_fault(name).expect("a fault has another name now"));
    let pair = FaultPair { specification: DEFAULT_SPECIFICATION, faults, is_of_one_rule: false };
    let trials = run_pairs(&[pair], 1, &Stop::default(), &|_| {}).expect("the servers start");
    assert!(trials[0].is_hidden, "{trials:#?}");
}

#[test]
fn pairs_are_drawn_with_a_seed_and_40_of_100_are_of_one_rule() {
    let names = |seed| -> Vec<[&str; 2]> {
        let pairs = fault_pairs(DEFAULT_SPECIFICATION, 100, seed);
        assert_eq!(pairs.len(), 100);
        let of_one_rule = pairs.iter().filter(|pair| pair.is_of_one_rule);
        assert_eq!(of_one_rule.count(), 40);
        pairs.iter().map(|pair| pair.faults.map(|fault| fault.name)).collect()
    };
    assert_eq!(names(1), names(1));
    assert_ne!(names(1), names(2));
}
