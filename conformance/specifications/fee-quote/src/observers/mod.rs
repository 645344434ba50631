//! Observers record what the specification leaves open, for the dialect and behaviour fingerprint. They break no rule.

mod requests;
mod results;

use paymaster_engine::cases::Role;
use paymaster_engine::message::Call;
use paymaster_engine::rules::{Observer, View};
use requests::acceptance;
use serde_json::Value;

use crate::relations::Probe;

/// An observer of how these probes are answered.
macro_rules! probes {
    ($clause:literal, $($probe:ident),+) => {
        Observer::group($clause, |views, _, values| acceptance(views, &[$(Probe::$probe),+], values))
    };
}

/// Every observer.
pub static OBSERVERS: &[Observer] = &[
    probes!("dialect.jsonrpc-version", VERSION_2_0, VERSION_2_0_0),
    probes!("dialect.sponsored-name", MODE_SPONSORED, MODE_SPONSORSHIP),
    probes!("dialect.fee-token-member", FEE_TOKEN_ADDRESS, TOKEN_ADDRESS),
    probes!("dialect.amount-notation", DECIMAL_AMOUNTS, HEX_AMOUNTS, INTEGER_AMOUNTS),
    Observer::exchange("dialect.mode-member", results::mode_member),
    Observer::exchange("dialect.quoted-tokens", results::quoted_tokens),
    Observer::group("behaviour.valid-until-unit", results::valid_until_unit),
    Observer::exchange("behaviour.unsupported-when-none", results::unsupported_when_none),
    Observer::exchange("behaviour.unsupported-without-both", results::unsupported_without_both),
    probes!("behaviour.empty-token-list", EMPTY_TOKEN_INFO, EMPTY_TOKEN_LIST),
    Observer::group("behaviour.token-letter-case", results::token_letter_case),
    Observer::exchange("behaviour.repeated-tokens", results::repeated_tokens),
    Observer::exchange("behaviour.error-codes", results::error_codes),
    Observer::exchange("behaviour.error-status", results::error_status),
    probes!("behaviour.extra-members", SIGNATURE),
    probes!("behaviour.sponsored-required-fields", NO_GAS_LIMITS, NO_INIT_CODE),
    probes!("behaviour.quote-without-mode", NO_MODE),
    Observer::exchange("behaviour.gas-limits-returned", results::gas_limits_returned),
    Observer::exchange("behaviour.paymaster-and-data-layout", results::layout),
    Observer::group("behaviour.deterministic-data", results::deterministic_data),
    Observer::group("behaviour.limits", requests::limits),
    Observer::group("behaviour.malformed-params", requests::malformed_params),
    Observer::group("behaviour.optional-members", requests::optional_members),
    Observer::group("behaviour.addresses-in-capitals", requests::addresses_in_capitals),
    Observer::exchange("behaviour.refused-headers", requests::refused_headers),
];

fn is_probe(view: &View<'_>, probe: Probe) -> bool {
    view.role == Role::Probe && view.label == probe.0
}

/// A valid call with its result.
fn served<'a>(view: &'a View<'_>) -> Option<(&'a Call, &'a Value)> {
    view.valid_call().zip(view.answer.result())
}

/// Whether the first request of a group is its baseline, and was served.
fn is_baseline_served(views: &[View<'_>]) -> bool {
    let baseline = views.first().filter(|view| view.role == Role::Baseline);
    baseline.is_some_and(|view| view.answer.result().is_some())
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::FEE_QUOTE;
    use std::collections::HashSet;

    use super::*;
    use crate::SPECIFICATION;

    #[test]
    fn every_clause_has_a_rule_an_observer_or_a_reason() {
        let ruled: HashSet<&str> = SPECIFICATION.rules().map(|rule| rule.clause).collect();
        let watched: HashSet<&str> = OBSERVERS.iter().map(|observer| observer.clause).collect();
        for clause in FEE_QUOTE.clauses() {
            let judged = if clause.basis.is_observed() {
                watched.contains(clause.id)
            } else {
                ruled.contains(clause.id)
            };
            assert!(
                judged != clause.unjudged.is_some(),
                "{}: needs a rule, an observer or a written reason, and not two of them",
                clause.id
            );
        }
        for clause in ruled.iter().chain(&watched) {
            assert!(paymaster_schemas::find_clause(clause).is_some(), "{clause} is no clause");
        }
        assert!(
            SPECIFICATION.rules().all(|rule| !rule.basis().is_observed()),
            "a rule must not judge an observed clause"
        );
    }
}
