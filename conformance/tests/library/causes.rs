//! The cause that a run names for known faults: the member and its boundary, the form, the circumstances.

use paymaster_conformance::selftest::{self, Causes, Matrix, NamedDefect, Trial};

use crate::*;

/// Faults with the words that the cause of their first defect must contain.
const CAUSES: &[(&str, &str)] = &[
    ("nonce-zero-refused", "wrong with nonce \"0\", right with nonce \"1\" or more"),
    (
        "nonce-above-2-64-refused",
        "wrong with nonce \"18446744073709551616\" or more, right with nonce \"18446744073709551615\" or less",
    ),
    // Longer ones are served again.
    ("call-data-above-2000-refused", "wrong with callData \"0x"),
    ("call-data-too-large", "wrong with 2501 bytes or more in callData, right with 2500 bytes or fewer"),
    (
        "token-list-long-refused",
        "with 9 elements or more in tokenInfo.tokenList than with 8 elements or fewer",
    ),
    ("absent-token-gets-0x", "requests with no supported token to pay in, and for none of "),
    ("unsupported-token-served", "requests with exactly 1 unsupported token to pay in, and for none of "),
    ("deployment-not-sponsored", "wrong with 1 byte or more in initCode, right with 0 bytes"),
    ("decision-favours-long-expiry", "right with expiryDuration 300"),
    ("paying-in-tokens-judged-by-letter-case", "(only the letter case differs)"),
    ("id-last-refused", "another order of members"),
    ("gzip-cut-short", "right with the plain ones"),
    ("id-missing-in-errors", "every error"),
    ("quote-mode-lower-case", "every"),
    ("refused-gets-data-now-and-then", "tries with the same requests"),
    ("id-through-double", "wrong with id 9007199254740993, right with id 9007199254740994"),
    ("jsonrpc-not-echoed", "answered alike with jsonrpc \"2.0\" and with jsonrpc \"2.0.0\""),
    ("decision-by-earlier-request", "only after the same request"),
    ("decision-by-earlier-sender", "only after 3 requests with the same sender"),
    ("member-order-judged", "another order of members"),
    ("signature-required", "wrong without signature"),
    ("id-cut-in-errors", "wrong with id"),
    ("answers-cross", "only while other requests are in flight"),
    ("quote-of-the-sender-under-load", "only while other requests are in flight"),
    ("charset-refused", "with the request header content-type: application/json; charset=utf-8, right"),
    ("expiry-duration-refused", "wrong with expiryDuration"),
    ("equal-fees-refused", "wrong with maxFeePerGas equal to maxPriorityFeePerGas"),
    ("equal-fees-refused-first", "wrong with maxFeePerGas equal to maxPriorityFeePerGas"),
    (
        "quotes-none-of-long-lists",
        "wrong with 9 elements or more in tokenInfo.tokenList, right with 8 elements",
    ),
    ("token-list-of-one-refused", "requests with exactly 1 listed token, and for none of "),
    ("refused-sender-forbidden", "every request with sender "),
    ("one-token-unavailable", "wrong with tokenInfo.feeTokenAddress \"0x27a44456b"),
    ("init-code-timeout", "wrong with 1 byte or more in initCode, right with 0 bytes"),
    ("account-forbidden", "with sponsorshipInfo.smartAccountInfo.name \"BICONOMY\""),
    ("token-mode-throttled", "every request with mode \"ERC20\""),
    (
        "token-data-empty-where-not-sponsored",
        "for an operation that the profile lists as refused, and for none of ",
    ),
    ("token-verification-null-when-alone-absent", "wrong without verificationGasLimit and with callGasLimit"),
    ("escaped-method-unknown", "right with the same values without escapes"),
    ("white-space-refused", "right with the same values without white space"),
    (
        "paying-in-tokens-without-quote-refused",
        "only without an earlier pm_getFeeQuoteOrData with the same sender",
    ),
    ("data-kept-by-nonce", "after a request with the same nonce"),
    ("token-data-of-any-token", "every answer of pm_sponsorUserOperation in mode ERC20"),
    ("batch-refused", "every answer"),
    ("erc-7677: gas-limit-decimal", "every answer of 5 of 8 kinds of calls that the rule judges"),
    ("erc-7677: one-entry-point-throttled", "every request of "),
    (
        "erc-7677: zero-entry-point-as-default",
        "with the EntryPoint \"0x0000000000000000000000000000000000000000\"",
    ),
    ("erc-7677: stub-post-op-gas-of-the-request", "wrong without paymasterPostOpGasLimit, right with"),
    ("erc-7677: final-after-data", "only after a request with the same sender and nonce"),
];

/// The name, after that of the specification where it is not the first one.
fn full_name(deviation: &Deviation) -> String {
    match deviation.specification() {
        own if own == DEFAULT_SPECIFICATION => deviation.name().to_owned(),
        other => format!("{}: {}", other.name, deviation.name()),
    }
}

fn defects_of(faults: &[&str]) -> Vec<(String, Vec<NamedDefect>)> {
    let named = |trial: Trial| (full_name(&trial.deviation), trial.defects);
    matrix_of(faults, 60).trials.into_iter().map(named).collect()
}

fn matrix_of(faults: &[&str], cases: u32) -> Matrix {
    let is_wanted = |deviation: &Deviation| faults.contains(&&*full_name(deviation));
    let deviations: Vec<Deviation> = every_deviation().into_iter().filter(is_wanted).collect();
    assert_eq!(deviations.len(), faults.len(), "a fault has another name now");
    let trials = Trials { causes: true, ..trials(&deviations, Cases::Fixed(cases)) };
    selftest::run(&trials, &Stop::default(), &|_| {}).expect("the servers start")
}

/// What other requests left behind, and an id that is cut in errors only, are never blamed on a member that happens to differ, nor chance on
/// concurrency.
#[test]
fn no_cause_contradicts_what_a_fault_depends_on() {
    let faults = "fee-decimal-of-previous, id-cut-in-errors, quote-cached-by-sender, quote-cached-by-list-length, \
        quote-cached-by-preferred-token, decision-cached-by-call-data, decision-cached-by-nonce, \
        result-cached-by-sender, id-of-previous, answers-cross, erc-7677: signature-without-leading-zero, \
        erc-7677: final-of-earlier-data, erc-7677: data-cached-without-fees, \
        erc-7677: data-cached-by-start-of-call, erc-7677: factory-remembered, sponsored-data-half-byte, \
        sponsored-mode-alias, batch-ids-as-text";
    let matrix = matrix_of(&faults.split(", ").collect::<Vec<_>>(), 60);
    let causes = Causes::of(&matrix);
    let untrue: Vec<_> =
        causes.untrue.iter().map(|(trial, defect)| (trial.deviation.name(), &defect.cause)).collect();
    assert!(untrue.is_empty(), "{untrue:#?}");
    // Of these faults, one alone needs other requests in flight.
    for trial in matrix.trials.iter().filter(|trial| trial.deviation.name() != "answers-cross") {
        let is_untrue = |defect: &NamedDefect| defect.cause.contains("in flight");
        assert!(!trial.defects.iter().any(is_untrue), "{}: {:#?}", trial.deviation.name(), trial.defects);
    }
}

/// A search for chance, or for what needs other requests in flight, ends after so many requests, and may miss it once.
#[test]
fn the_first_defect_names_the_cause_of_a_fault() {
    let mut left = CAUSES.to_vec();
    let mut wrong = Vec::new();
    for _ in 0..2 {
        let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
        let found = defects_of(&names);
        wrong.clear();
        left.retain(|(name, words)| {
            let (_, defects) =
                found.iter().find(|(found, _)| found == name).expect("every fault has a trial");
            let cause = defects.first().map_or("", |defect| &defect.cause);
            if !cause.contains(words) {
                wrong.push(format!("{name}: expected `{words}`, got `{cause}` of {defects:?}"));
            }
            !cause.contains(words)
        });
        if left.is_empty() {
            return;
        }
    }
    panic!("{}", wrong.join("\n"));
}

/// Where a hash of the bytes decides, or the length of a request or of an answer, each change of the request makes it right or wrong: no earlier request and no
/// member does, and where earlier requests decide, none in flight.
#[test]
fn what_decides_outside_of_members_is_not_told_as_one() {
    for trial in matrix_of(&["some-lengths-refused"], 250).trials {
        assert!(!trial.defects.is_empty());
        let known: Vec<_> = trial.defects.iter().filter(|defect| defect.kind.is_some()).collect();
        assert!(known.is_empty(), "{known:#?}");
    }
    for trial in matrix_of(&["quote-unsupported-of-earlier"], 250).trials {
        assert!(!trial.defects.is_empty());
        let is_untrue = |defect: &NamedDefect| defect.cause.contains("in flight");
        assert!(!trial.defects.iter().any(is_untrue), "{:#?}", trial.defects);
    }
    for (name, defects) in defects_of(&["sponsored-mode-null-for-half", "nul-after-some-lengths"]) {
        assert!(!defects.is_empty(), "{name}");
        let known: Vec<_> = defects.iter().filter(|defect| defect.kind.is_some()).collect();
        assert!(known.is_empty(), "{known:#?}");
    }
}

/// One defect, one headline: a fault that breaks several rules is reported once.
#[test]
fn a_fault_with_one_cause_is_one_defect() {
    for (name, defects) in
        defects_of(&["nonce-zero-refused", "nonce-above-2-64-refused", "unsupported-token-gets-0x"])
    {
        assert_eq!(defects.len(), 1, "{name}: {defects:#?}");
        assert!(defects[0].rules > 1, "{name}: {defects:#?}");
    }
}

/// The examples that a run keeps may all name the same tokens: calls that are drawn for the search do not.
#[test]
fn what_is_kept_of_an_operation_is_one_defect() {
    for trial in matrix_of(&["quote-cached-by-operation"], 250).trials {
        let [defect] = trial.defects.as_slice() else { panic!("{:#?}", trial.defects) };
        assert!(defect.cause.contains("after a request with the same"), "{defect:#?}");
    }
}

/// Where every answer of a method and mode is wrong as a whole, that is one defect, whatever rules are broken; and so are findings about
/// parts of one member.
#[test]
fn a_wrong_answer_is_one_defect() {
    const FAULTS: &str = "token-quote-sponsored token-quote-empty token-mode-sponsored quote-method-unknown \
        sponsor-method-unknown invalid-params-own-code webhook-data-refused fee-decimal-unit \
        decision-by-short-expiry id-always-one error-message-array replayed-operation-refused";
    let found = defects_of(&FAULTS.split(' ').collect::<Vec<_>>());
    let several: Vec<_> = found.into_iter().filter(|(_, defects)| defects.len() != 1).collect();
    assert!(several.is_empty(), "{several:#?}");
}
