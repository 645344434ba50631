//! Observers record what the specification leaves open, for the dialect and behaviour fingerprint. They break no rule.

mod requests;
mod results;

use paymaster_engine::{
    cases::case::Role,
    message::request::Call,
    rules::{View, observers::Observer},
};
use requests::acceptance;
use serde_json::Value;

use crate::relations::Probe;

/// An observer of how these probes are answered.
macro_rules! probes {
    ($clause:literal, $($probe:ident),+) => {
        Observer { clause: $clause, watch: |views, _, values| acceptance(views, &[$(Probe::$probe),+], values) }
    };
}

/// Every observer.
pub static OBSERVERS: &[Observer] = &[
    probes!("dialect.jsonrpc-version", VERSION_2_0, VERSION_2_0_0),
    probes!("dialect.sponsored-name", MODE_SPONSORED, MODE_SPONSORSHIP),
    probes!("dialect.fee-token-member", FEE_TOKEN_ADDRESS, TOKEN_ADDRESS),
    probes!("dialect.amount-notation", DECIMAL_AMOUNTS, HEX_AMOUNTS, INTEGER_AMOUNTS),
    Observer { clause: "dialect.mode-member", watch: results::mode_member },
    Observer { clause: "dialect.quoted-tokens", watch: results::quoted_tokens },
    Observer { clause: "behaviour.valid-until-unit", watch: results::valid_until_unit },
    Observer { clause: "behaviour.unsupported-when-none", watch: results::unsupported_when_none },
    Observer { clause: "behaviour.unsupported-without-both", watch: results::unsupported_without_both },
    probes!("behaviour.empty-token-list", EMPTY_TOKEN_INFO, EMPTY_TOKEN_LIST),
    Observer { clause: "behaviour.token-letter-case", watch: results::token_letter_case },
    Observer { clause: "behaviour.repeated-tokens", watch: results::repeated_tokens },
    Observer { clause: "behaviour.error-codes", watch: results::error_codes },
    Observer { clause: "behaviour.error-status", watch: results::error_status },
    probes!("behaviour.extra-members", SIGNATURE),
    probes!("behaviour.sponsored-required-fields", NO_GAS_LIMITS, NO_INIT_CODE),
    probes!("behaviour.quote-without-mode", NO_MODE),
    Observer { clause: "behaviour.gas-limits-returned", watch: results::gas_limits_returned },
    Observer { clause: "behaviour.paymaster-and-data-layout", watch: results::layout },
    Observer { clause: "behaviour.deterministic-data", watch: results::deterministic_data },
    Observer { clause: "behaviour.limits", watch: requests::limits },
    Observer { clause: "behaviour.malformed-params", watch: requests::malformed_params },
    Observer { clause: "behaviour.optional-members", watch: requests::optional_members },
    Observer { clause: "behaviour.addresses-in-capitals", watch: requests::addresses_in_capitals },
    Observer { clause: "behaviour.refused-headers", watch: requests::refused_headers },
];

fn is_probe(view: &View<'_>, probe: Probe) -> bool {
    view.role == Role::Probe && view.label == probe.0
}

fn results<'a>(views: &'a [View<'a>]) -> impl Iterator<Item = (&'a View<'a>, &'a Call, &'a Value)> {
    views.iter().filter_map(|view| Some((view, view.valid_call()?, view.answer.result()?)))
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
