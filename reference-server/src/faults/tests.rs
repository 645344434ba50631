use std::collections::HashSet;

use paymaster_schemas::{Basis, clauses, find_clause};

use super::{faults, find_fault};
use crate::deviations::samples::{NOW, bodies, service};
use crate::deviations::{Deviations, Sent};
use crate::service::Service;

/// Often enough for a fault in 1 of 25 requests of a kind that the set has once.
const ROUNDS: usize = 25;

#[test]
fn names_are_unique_and_well_formed() {
    let mut seen = HashSet::new();
    for fault in faults() {
        assert!(seen.insert(fault.name), "{} stands twice", fault.name);
        let well_formed =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        assert!(fault.name.chars().all(well_formed), "{}", fault.name);
        assert!(fault.about.len() > 6, "{} says too little", fault.name);
    }
    assert!(seen.len() >= 100, "only {} faults", seen.len());
}

#[test]
fn every_fault_breaks_a_clause_that_is_judged() {
    for fault in faults() {
        for id in fault.also.iter().chain([&fault.clause]) {
            let clause = find_clause(id).unwrap_or_else(|| panic!("{}: no clause {id}", fault.name));
            assert!(
                !clause.basis.is_observed(),
                "{}: {id} is only observed",
                fault.name
            );
            assert!(clause.unjudged.is_none(), "{}: {id} is not judged", fault.name);
        }
        assert!(!fault.also.contains(&fault.clause), "{}", fault.name);
    }
}

#[test]
fn every_judged_clause_is_broken_by_a_fault() {
    let broken: HashSet<&str> = faults().map(|fault| fault.clause).collect();
    let missed: Vec<&str> = clauses()
        .filter(|clause| {
            matches!(
                clause.basis,
                Basis::Stated | Basis::JsonRpc | Basis::Interoperability
            )
        })
        .filter(|clause| clause.unjudged.is_none() && !broken.contains(clause.id))
        .map(|clause| clause.id)
        .collect();
    assert!(missed.is_empty(), "no fault for {missed:?}");
}

#[test]
fn the_nearest_fault_is_named() {
    let error = find_fault("sponsored-mode-misssing").unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown fault `sponsored-mode-misssing`: did you mean `sponsored-mode-missing`?"
    );
    let error = find_fault("zzz").unwrap_err().to_string();
    assert_eq!(error, "unknown fault `zzz`: --list-faults lists them");
}

/// The responses to the whole set, two requests at a time, so that answers can cross.
async fn responses(service: &Service) -> Vec<Sent> {
    let none = Deviations::new(Vec::new());
    let deviations = service.deviations().unwrap_or(&none);
    let mut responses = Vec::new();
    for pair in bodies().chunks(2) {
        let (first, second) = tokio::join!(deviations.respond(service, &pair[0], NOW), async {
            match pair.get(1) {
                Some(body) => Some(deviations.respond(service, body, NOW).await),
                None => None,
            }
        });
        responses.push(first);
        responses.extend(second);
    }
    responses
}

#[tokio::test]
async fn every_fault_changes_an_answer() {
    let clean = responses(&service()).await;
    let mut idle = Vec::new();
    for fault in faults() {
        let faulty = service().with_faults([fault]);
        let mut changes = false;
        for _ in 0..ROUNDS {
            changes = responses(&faulty).await != clean;
            if changes {
                break;
            }
        }
        if !changes {
            idle.push(fault.name);
        }
    }
    assert!(idle.is_empty(), "these change nothing: {idle:?}");
}
