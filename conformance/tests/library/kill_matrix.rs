//! The kill matrix in small: one fault of every clause must be caught by a rule of that clause and by no unrelated one, and a
//! lawful variant may break only the rules that it is known to be warned of. `paymaster-conformance selftest` runs every fault.

use paymaster_conformance::selftest;
use paymaster_engine::cases::case::SHORT_TO;

use crate::*;

const SEED: u64 = 7;

fn holds(deviations: &[Deviation], cases: Cases) {
    let trials = Trials { seeds: &[SEED], ..trials(deviations, cases) };
    let matrix = selftest::run(&trials, &Stop::default(), &|_| {}).expect("the servers start");
    let problems: Vec<String> = matrix
        .problems()
        .into_iter()
        .map(|(trial, problem)| {
            let (name, part) = (trial.deviation.name(), trial.profile_part.name());
            format!("{name} with {part}: {problem}")
        })
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(matrix.trials.len(), trials.count());
}

#[test]
fn a_fault_of_every_clause_is_caught_by_its_rule_and_by_no_unrelated_one() {
    let mut seen = BTreeSet::new();
    let first_of_each: Vec<Deviation> = every_deviation()
        .into_iter()
        .filter(|deviation| match deviation {
            Deviation::Fault(_, fault) => !fault.about.contains("1 of") && seen.insert(fault.clause),
            Deviation::Variant(..) => false,
        })
        .collect();
    assert!(first_of_each.len() > 70, "only {} clauses have a fault", first_of_each.len());
    holds(&first_of_each, Cases::ShortFirst);
}

/// Faults of clauses with several forms: each form is sent, and each kind of operation is compared.
#[test]
fn every_form_of_these_clauses_is_exercised() {
    const NAMES: &str = "gzip-unannounced half-where-it-shall-close stub-of-signed-long long-signature-refused \
        empty-paymaster-data-refused zero-paymaster-limits-refused factory-with-zero-limits-refused \
        stub-of-new-account-short stub-without-context-short address-twice decimal-fees-read-as-hex";
    let names: BTreeSet<&str> = NAMES.split(' ').collect();
    let mut deviations = every_deviation();
    deviations.retain(|deviation| deviation.fault().is_some() && names.contains(deviation.name()));
    assert_eq!(deviations.iter().map(Deviation::name).collect::<BTreeSet<_>>(), names);
    holds(&deviations, Cases::ShortFirst);
}

/// Each of these faults shows in the headers of one client or two: without their rows in the table of clients, no rule catches it.
#[test]
fn a_fault_that_the_headers_of_a_client_show_is_caught() {
    const NAMES: &str = "traceparent-refused two-forwarded-addresses-refused other-languages-refused zstd-that-is-none \
        chunked-refused origin-of-extension-fails";
    let names: BTreeSet<&str> = NAMES.split(' ').collect();
    let mut deviations = every_deviation();
    // They are of HTTP: one specification is enough.
    deviations.retain(|deviation| {
        let is_of_default = deviation.specification() == DEFAULT_SPECIFICATION;
        is_of_default && deviation.fault().is_some() && names.contains(deviation.name())
    });
    assert_eq!(deviations.iter().map(Deviation::name).collect::<BTreeSet<_>>(), names);
    holds(&deviations, Cases::ShortFirst);
}

/// Every variant of a specification, and those of HTTP and JSON-RPC with the default one alone. `selftest --sparse-profiles`, which CI runs
/// too, tries all of them with each, and with profiles that leave most out.
fn variants() -> Vec<Deviation> {
    let is_tried = |deviation: &Deviation| deviation.fault().is_none() && deviation.is_of_specification();
    let variants: Vec<Deviation> = every_deviation().into_iter().filter(is_tried).collect();
    assert!(variants.len() >= 90);
    variants
}

#[test]
fn a_lawful_variant_breaks_only_what_it_is_known_to_be_warned_of() {
    holds(&variants(), Cases::Fixed(SHORT_TO));
}

/// With three of nine profiles for each variant, the next variant has other ones, and each profile is one of a third of them.
#[test]
fn profiles_take_turns_from_variant_to_variant() {
    let mut deviations = variants();
    deviations.retain(|deviation| ProfilePart::sparse(*deviation).len() == 9);
    deviations.truncate(9);
    let profile_parts = ProfilePart::sparse;
    let trials = Trials { profile_parts, most_parts: 3, ..trials(&deviations, Cases::Fixed(4)) };
    let mut times = BTreeMap::<_, usize>::new();
    for (_, _, part) in trials.all() {
        *times.entry(part.name()).or_default() += 1;
    }
    assert_eq!(times.into_values().collect::<Vec<_>>(), [3; 9]);
}

/// A short run sends few of the ways to name a token: the default number of cases reaches this one.
#[test]
fn a_fault_that_a_short_run_does_not_catch_gets_a_second_run() {
    let deviations: Vec<Deviation> =
        every_deviation().into_iter().filter(|deviation| deviation.name() == "native-coin-served").collect();
    let matrix = selftest::run(&trials(&deviations, Cases::ShortFirst), &Stop::default(), &|_| {})
        .expect("the servers start");
    assert!(matrix.trials.iter().all(|trial| trial.caught_by().next().is_some()));
    assert_eq!(matrix.trials.len(), 1);
}
