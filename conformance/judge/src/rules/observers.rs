//! Observers record what the specification leaves open, for the dialect and behaviour fingerprint. They break no rule.

use paymaster_schemas::{Method, Mode, Pair};
use serde_json::Value;

use crate::rules::{View, decision::decision, shown};
use crate::{
    cases::{
        case::Role,
        relations::{NULL_AS, Probe, WITHOUT},
    },
    message::{answer::Answer, request::ParsedRequest},
    target::{
        context::{Context, Support},
        spellings::ServedCapitals,
    },
};

/// Observes one point that the specification leaves open.
pub struct Observer {
    /// The clause, of basis *ambiguous* or *not shown*.
    pub clause: &'static str,
    /// Adds the observed values of a group. They are counted over the run.
    pub watch: fn(&[View<'_>], &Context, &mut Vec<String>),
}

/// Every observer.
pub static OBSERVERS: &[Observer] = &[
    Observer {
        clause: "dialect.jsonrpc-version",
        watch: |views, _, values| acceptance(views, &[Probe::Version20, Probe::Version200], values),
    },
    Observer {
        clause: "dialect.sponsored-name",
        watch: |views, _, values| acceptance(views, &[Probe::ModeSponsored, Probe::ModeSponsorship], values),
    },
    Observer {
        clause: "dialect.fee-token-member",
        watch: |views, _, values| acceptance(views, &[Probe::FeeTokenAddress, Probe::TokenAddress], values),
    },
    Observer {
        clause: "dialect.amount-notation",
        watch: |views, _, values| {
            acceptance(
                views,
                &[Probe::DecimalAmounts, Probe::HexAmounts, Probe::IntegerAmounts],
                values,
            );
        },
    },
    Observer {
        clause: "dialect.mode-member",
        watch: mode_member,
    },
    Observer {
        clause: "dialect.quoted-tokens",
        watch: quoted_tokens,
    },
    Observer {
        clause: "behaviour.valid-until-unit",
        watch: valid_until_unit,
    },
    Observer {
        clause: "behaviour.unsupported-when-none",
        watch: unsupported_when_none,
    },
    Observer {
        clause: "behaviour.unsupported-without-both",
        watch: unsupported_without_both,
    },
    Observer {
        clause: "behaviour.empty-token-list",
        watch: |views, _, values| acceptance(views, &[Probe::EmptyTokenInfo, Probe::EmptyTokenList], values),
    },
    Observer {
        clause: "behaviour.token-letter-case",
        watch: token_letter_case,
    },
    Observer {
        clause: "behaviour.repeated-tokens",
        watch: repeated_tokens,
    },
    Observer {
        clause: "behaviour.error-codes",
        watch: error_codes,
    },
    Observer {
        clause: "behaviour.error-status",
        watch: error_status,
    },
    Observer {
        clause: "behaviour.extra-members",
        watch: |views, _, values| acceptance(views, &[Probe::Signature], values),
    },
    Observer {
        clause: "behaviour.sponsored-required-fields",
        watch: |views, _, values| acceptance(views, &[Probe::NoGasLimits, Probe::NoInitCode], values),
    },
    Observer {
        clause: "behaviour.quote-without-mode",
        watch: |views, _, values| acceptance(views, &[Probe::NoMode], values),
    },
    Observer {
        clause: "behaviour.gas-limits-returned",
        watch: gas_limits_returned,
    },
    Observer {
        clause: "behaviour.paymaster-and-data-layout",
        watch: layout,
    },
    Observer {
        clause: "behaviour.deterministic-data",
        watch: deterministic_data,
    },
    Observer {
        clause: "behaviour.limits",
        watch: limits,
    },
    Observer {
        clause: "behaviour.malformed-params",
        watch: malformed_params,
    },
    Observer {
        clause: "behaviour.optional-members",
        watch: optional_members,
    },
    Observer {
        clause: "behaviour.addresses-in-capitals",
        watch: addresses_in_capitals,
    },
    Observer {
        clause: "behaviour.refused-headers",
        watch: refused_headers,
    },
];

/// How these probes were answered, where the baseline was served.
fn acceptance(views: &[View<'_>], probes: &[Probe], values: &mut Vec<String>) {
    if !is_baseline_served(views) {
        return;
    }
    for view in views
        .iter()
        .filter(|view| probes.iter().any(|probe| is_probe(view, *probe)))
    {
        values.extend(outcome(view).map(|outcome| format!("{}: {outcome}", view.label)));
    }
}

/// Whether the first request of a group is its baseline, and was served.
fn is_baseline_served(views: &[View<'_>]) -> bool {
    let baseline = views.first().filter(|view| view.role == Role::Baseline);
    baseline.is_some_and(|view| view.answer.result().is_some())
}

/// Whether a request was served or refused; none without a JSON-RPC answer.
fn outcome(view: &View<'_>) -> Option<&'static str> {
    if view.answer.result().is_some() {
        Some("served")
    } else {
        view.answer.error().map(|_| "refused")
    }
}

/// How requests are answered in which an optional member is null or absent, and whether that changes the decision. No table has null as
/// a value, so that a target may answer such a request as a malformed one.
fn optional_members(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    if !is_baseline_served(views) {
        return;
    }
    let is_about_a_member = |view: &&View<'_>| {
        view.role == Role::Probe && (view.label.starts_with(NULL_AS) || view.label.starts_with(WITHOUT))
    };
    let expected = views.first().and_then(decision);
    for view in views.iter().filter(is_about_a_member) {
        let outcome = match (decision(view), outcome(view)) {
            (Some(decided), _) if Some(decided) != expected => Some("served, with another decision"),
            (_, outcome) => outcome,
        };
        values.extend(outcome.map(|outcome| format!("{}: {outcome}", view.label)));
    }
}

/// At which places addresses in capital letters are served.
fn addresses_in_capitals(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    if !is_baseline_served(views) {
        return;
    }
    for view in views {
        if let (Some(call), Some(outcome)) = (view.valid_call(), outcome(view)) {
            let places = ServedCapitals::places_of(call);
            values.extend(places.map(|place| format!("{} in capitals: {outcome}", place.name())));
        }
    }
}

fn is_probe(view: &View<'_>, probe: Probe) -> bool {
    view.role == Role::Probe && view.label == probe.label()
}

fn results<'a>(
    views: &'a [View<'a>],
) -> impl Iterator<Item = (&'a View<'a>, &'a crate::message::request::Call, &'a Value)> {
    views
        .iter()
        .filter_map(|view| Some((view, view.valid_call()?, view.answer.result()?)))
}

fn mode_member(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for (_, _, result) in results(views) {
        values.push(
            match (result.get("MODE").is_some(), result.get("mode").is_some()) {
                (true, true) => "MODE and mode",
                (true, false) => "MODE",
                (false, true) => "mode",
                (false, false) => "neither",
            }
            .to_owned(),
        );
    }
}

fn lower(value: &Value) -> Option<String> {
    value.as_str().map(str::to_ascii_lowercase)
}

/// Which supported tokens are quoted, when both members are present and the preferred one is not in the list.
fn quoted_tokens(views: &[View<'_>], context: &Context, values: &mut Vec<String>) {
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == Pair::QUOTE_ERC20) {
        let (Some(preferred), Some(list)) = (&call.tokens.preferred, &call.tokens.list) else {
            continue;
        };
        let outside = !list.iter().any(|token| token.eq_ignore_ascii_case(preferred));
        let listed = list
            .iter()
            .find(|token| context.support(token) == Support::Supported);
        let (true, Support::Supported, Some(listed)) = (outside, context.support(preferred), listed) else {
            continue;
        };
        let quotes = |token: &str| {
            let token = token.to_ascii_lowercase();
            result["feeQuotes"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|quote| lower(&quote["tokenAddress"]).as_ref() == Some(&token))
        };
        values.push(
            match (quotes(preferred), quotes(listed)) {
                (true, true) => "the preferred token and the listed ones",
                (true, false) => "the preferred token alone",
                (false, true) => "the listed tokens alone",
                (false, false) => "neither",
            }
            .to_owned(),
        );
    }
}

/// A current timestamp above this is in milliseconds: in seconds it would be the year 5138.
const SECONDS_END: f64 = 1e11;

fn valid_until_unit(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for (_, _, result) in results(views) {
        for quote in result["feeQuotes"].as_array().into_iter().flatten() {
            if let Some(until) = quote["validUntil"].as_f64() {
                let unit = if until == 0.0 {
                    "zero"
                } else if until < 1e9 {
                    "neither: a small number"
                } else if until < SECONDS_END {
                    "seconds"
                } else {
                    "milliseconds"
                };
                values.push(unit.to_owned());
            }
        }
    }
}

fn unsupported_when_none(views: &[View<'_>], context: &Context, values: &mut Vec<String>) {
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == Pair::QUOTE_ERC20) {
        let named = call.tokens.quoted();
        if !named.is_empty()
            && named
                .iter()
                .all(|token| context.support(token) == Support::Supported)
        {
            values.push(
                match result.get("unsupportedTokens") {
                    None => "absent",
                    Some(Value::Array(list)) if list.is_empty() => "empty",
                    Some(_) => "something else",
                }
                .to_owned(),
            );
        }
    }
}

fn unsupported_without_both(views: &[View<'_>], context: &Context, values: &mut Vec<String>) {
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == Pair::QUOTE_ERC20) {
        let named = call.tokens.quoted();
        let both = call.tokens.preferred.is_some() && call.tokens.list.is_some();
        if !both
            && named
                .iter()
                .any(|token| context.support(token) == Support::Unsupported)
        {
            let listed = result["unsupportedTokens"]
                .as_array()
                .is_some_and(|list| !list.is_empty());
            values.push(if listed { "listed" } else { "not listed" }.to_owned());
        }
    }
}

fn token_letter_case(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair == Pair::QUOTE_ERC20) {
        let named: Vec<&String> = call
            .tokens
            .list
            .iter()
            .flatten()
            .chain(&call.tokens.preferred)
            .collect();
        for quote in result["feeQuotes"].as_array().into_iter().flatten() {
            let Some(outcome) = quote["tokenAddress"].as_str() else {
                continue;
            };
            if let Some(requested) = named
                .iter()
                .find(|requested| requested.eq_ignore_ascii_case(outcome))
                && requested[2..].bytes().any(|byte| byte.is_ascii_uppercase())
            {
                values.push(
                    if requested.as_str() == outcome {
                        "as in the request"
                    } else {
                        "in a spelling of its own"
                    }
                    .to_owned(),
                );
            }
        }
    }
}

fn repeated_tokens(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for (_, _, result) in results(views).filter(|(view, ..)| is_probe(view, Probe::RepeatedToken)) {
        if let Some(quotes) = result["feeQuotes"].as_array() {
            values.push(format!(
                "quoted {} times when asked for three times",
                quotes.len()
            ));
        }
    }
}

fn error_codes(views: &[View<'_>], context: &Context, values: &mut Vec<String>) {
    for view in views {
        let ParsedRequest::Call(call) = &view.request else {
            continue;
        };
        let Some(error) = view.answer.error() else {
            continue;
        };
        let about = if view.omits_fee_token() {
            "no token"
        } else if call.valid
            && call
                .tokens
                .fee
                .as_ref()
                .is_some_and(|token| context.support(token) == Support::Unsupported)
        {
            "unsupported token"
        } else {
            continue;
        };
        values.push(format!("{about}: {}", shown(&error["code"])));
    }
}

fn error_status(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for view in views {
        if let (Some(response), Some(_)) = (view.answer.response(), view.answer.error()) {
            values.push(format!("HTTP {}", response.status));
        }
    }
}

fn gas_limits_returned(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for (_, call, result) in results(views).filter(|(_, call, _)| call.pair != Pair::QUOTE_ERC20) {
        let Some(calculate) = call.mode_object()["calculateGasLimits"].as_bool() else {
            continue;
        };
        let requested = &call.operation()["callGasLimit"];
        if !requested.is_null() {
            let same = crate::json::number::amount(requested)
                == crate::json::number::amount(&result["callGasLimit"]);
            let outcome = if same { "those of the request" } else { "others" };
            values.push(format!("calculateGasLimits {calculate}: {outcome}"));
        }
    }
}

/// The length of paymasterAndData, and whether it begins with the address of quotes where one is known.
fn layout(views: &[View<'_>], context: &Context, values: &mut Vec<String>) {
    for (_, call, result) in results(views) {
        let Some(data) = result["paymasterAndData"].as_str().filter(|data| data.len() > 2) else {
            continue;
        };
        let beginning = context.quoted.paymaster.as_deref().map(|paymaster| {
            let begins = data.get(..paymaster.len());
            if begins.is_some_and(|begins| begins.eq_ignore_ascii_case(paymaster)) {
                ", beginning with the quoted paymasterAddress"
            } else {
                ", not beginning with the quoted paymasterAddress"
            }
        });
        values.push(format!(
            "{} mode: {} bytes{}",
            call.pair.mode,
            (data.len() - 2) / 2,
            beginning.unwrap_or_default()
        ));
    }
}

fn deterministic_data(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    let Some(baseline) = views.first() else { return };
    let data = |view: &View<'_>| {
        view.answer
            .result()
            .and_then(|result| result["paymasterAndData"].as_str())
            .map(str::to_owned)
    };
    let Some(first) = data(baseline).filter(|data| data.len() > 2) else {
        return;
    };
    for view in views.iter().filter(|view| view.label == super::SAME_AGAIN) {
        if let Some(again) = data(view) {
            values.push(
                if again == first {
                    "the same twice"
                } else {
                    "another each time"
                }
                .to_owned(),
            );
        }
    }
}

/// How requests that are larger than wallets send are answered.
fn limits(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for view in views {
        let Some(bound) = view.beyond else { continue };
        let outcome = match &view.answer {
            Answer::None(_) => "no answer".to_owned(),
            answer if answer.result().is_some() => "served".to_owned(),
            answer if answer.error().is_some() => "refused".to_owned(),
            Answer::NotJson(response, _) | Answer::Json(response, _) => format!("HTTP {}", response.status),
        };
        values.push(format!("{}: {outcome}", bound.in_words()));
    }
}

/// How many malformed calls are refused, and each kind of malformed request that gets a result.
fn malformed_params(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for view in views.iter().filter(|view| view.role == Role::Malformed) {
        let of_call = match &view.request {
            ParsedRequest::Call(call) => {
                let method = if call.pair.method == Method::GetFeeQuoteOrData {
                    "quote"
                } else {
                    "sponsor"
                };
                let mode = if call.pair.mode == Mode::Sponsored {
                    "sponsored"
                } else {
                    "token"
                };
                Some(format!("{method} in {mode} mode"))
            }
            _ => None,
        };
        let outcome = match &view.answer {
            Answer::Json(..) if view.answer.result().is_some() => LET_THROUGH,
            Answer::Json(..) if view.answer.error().is_some() => "refused",
            _ => "no JSON-RPC answer",
        };
        match of_call {
            Some(of_call) if outcome == LET_THROUGH => {
                values.push(format!("{of_call}, {}: {outcome}", kind_of(view.label)));
            }
            Some(of_call) => values.push(format!("{of_call}: {outcome}")),
            None if outcome == LET_THROUGH => values.push(format!("{}: {outcome}", view.label)),
            None => {}
        }
    }
}

/// The kind of a malformation: its label, without the index of the item of a list.
fn kind_of(label: &str) -> String {
    let segments: Vec<&str> = label.split('/').collect();
    let is_index = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let kept = segments.iter().enumerate().map(|(place, segment)| {
        // The first index is that of params.
        if place > 2 && is_index(segment) {
            "*"
        } else {
            segment
        }
    });
    kept.collect::<Vec<_>>().join("/")
}

/// The outcome of a malformed request that got a result.
const LET_THROUGH: &str = "let through";

/// Which published clients are refused for their request headers, and with which HTTP status.
fn refused_headers(views: &[View<'_>], _: &Context, values: &mut Vec<String>) {
    for view in views.iter().filter(|view| view.refused_for_headers()) {
        if let (Some(client), Some(response)) = (view.sent_as, view.answer.response()) {
            values.push(format!("{}: HTTP {}", client.name, response.status));
        }
    }
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::clauses;
    use std::collections::HashSet;

    use super::*;
    use crate::rules::rules;

    #[test]
    fn every_clause_has_a_rule_an_observer_or_a_reason() {
        let ruled: HashSet<&str> = rules().map(|rule| rule.clause).collect();
        let watched: HashSet<&str> = OBSERVERS.iter().map(|observer| observer.clause).collect();
        for clause in clauses() {
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
            assert!(
                paymaster_schemas::find_clause(clause).is_some(),
                "{clause} is no clause"
            );
        }
        assert!(
            rules().all(|rule| !rule.basis().is_observed()),
            "a rule must not judge an observed clause"
        );
    }
}
