//! Observers record what the text leaves open. They break no rule.

use paymaster_engine::{
    cases::case::Role,
    knowledge::Knowledge,
    rules::{View, observers::Observer, shown},
};
use paymaster_ethereum::zero_bytes;
use paymaster_exchange::{Refusal, Simulation};
use paymaster_schemas::Kind;
use serde_json::{Map, Value};

use crate::{
    kinds::is_stub,
    relations::OPEN,
    rules::{
        pairs::own_data,
        results::{LIMITS, judged},
        signatures::{contradicts_the_profile, revert_accuses},
    },
    target::Target,
};

/// An observer of how the probes of a clause are answered.
macro_rules! probes {
    ($clause:literal) => {
        Observer { clause: $clause, watch: |views, _, values| answered($clause, views, values) }
    };
}

/// Every observer.
pub(crate) static OBSERVERS: &[Observer] = &[
    probes!("observed.id-forms"),
    probes!("observed.params-forms"),
    probes!("observed.packed-members"),
    probes!("observed.context"),
    probes!("observed.foreign-chain"),
    Observer { clause: "observed.unknown-entry-point", watch: unknown_entry_point },
    probes!("observed.chain-id-forms"),
    Observer { clause: "observed.node", watch: unasked },
    Observer { clause: "observed.limits-returned", watch: limits_returned },
    Observer { clause: "observed.gas-limit-zeros", watch: leading_zeros },
    Observer { clause: "observed.extra-members", watch: extra_members },
    Observer { clause: "observed.icon", watch: icon },
    Observer { clause: "observed.zero-bytes", watch: zeros },
    Observer { clause: "observed.paymaster-changes", watch: paymasters },
    Observer { clause: "observed.is-final", watch: finals },
    Observer { clause: "observed.repeated-data", watch: repeated },
    Observer { clause: "observed.error-codes", watch: error_codes },
    Observer { clause: "observed.error-texts", watch: error_texts },
];

fn answered(clause: &str, views: &[View<'_>], values: &mut Vec<String>) {
    let [baseline, probe] = views else { return };
    let is_of_clause = OPEN.iter().any(|open| open.clause == clause && open.label == probe.label);
    if probe.role == Role::Probe && is_of_clause && baseline.answer.result().is_some() {
        values.extend(probe.outcome().map(|outcome| format!("{}: {outcome}", probe.label)));
    }
}

/// The results of a group, with their kinds.
fn results<'a>(
    views: &'a [View<'a>],
    knowledge: &'a dyn Knowledge,
) -> impl Iterator<Item = (Kind, &'a Map<String, Value>)> {
    views.iter().filter_map(move |view| judged(view, knowledge))
}

fn unknown_entry_point(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    if !Target::of(knowledge).serves_several() {
        let of_variant = views.iter().filter(|view| view.label == "an unknown EntryPoint");
        values.extend(of_variant.filter_map(View::outcome).map(str::to_owned));
    }
}

/// Why a node showed nothing of a result.
fn unasked(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    for view in views {
        match view.on_chain {
            Some(Simulation::Unclear(reason) | Simulation::Refused(Refusal::NotDeployed, reason)) => {
                values.push(reason.clone());
            }
            Some(Simulation::Refused(refusal, _)) if !revert_accuses(view, *refusal, knowledge) => {
                let why = "a revert that may have another reason";
                values.push(why.to_owned());
            }
            _ if contradicts_the_profile(view, knowledge) => values.push(
                "the contract accepts data that are not signed as the profile says: correct contract.kind and contract.signer".to_owned(),
            ),
            _ => {}
        }
    }
}

fn method(kind: Kind) -> &'static str {
    if is_stub(kind) { "stub" } else { "data" }
}

fn limits_returned(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    for (kind, result) in results(views, knowledge).filter(|(_, result)| result.contains_key("paymaster")) {
        let seen = match LIMITS.map(|name| result.contains_key(name)) {
            [true, true] => "both",
            [true, false] => "of the validation",
            [false, true] => "of postOp",
            [false, false] => "none",
        };
        values.push(format!("{}: {seen}", method(kind)));
    }
}

fn leading_zeros(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    for (_, result) in results(views, knowledge) {
        let limits = LIMITS.iter().filter_map(|name| result.get(*name)?.as_str());
        values.extend(limits.map(|limit| {
            let has_zeros = limit.len() > 3 && limit.starts_with("0x0");
            if has_zeros { "leading zeros" } else { "the shortest form" }.to_owned()
        }));
    }
}

fn extra_members(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    for (kind, result) in results(views, knowledge) {
        let is_extra = |name: &str| match name {
            "paymasterAndData" | "paymaster" | "paymasterData" => false,
            "sponsor" | "isFinal" => !is_stub(kind),
            _ => !LIMITS.contains(&name),
        };
        values.extend(
            result.keys().filter(|name| is_extra(name)).map(|name| format!("{}: {name}", method(kind))),
        );
    }
}

fn icon(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    for (_, result) in results(views, knowledge) {
        let icon = result.get("sponsor").and_then(|sponsor| sponsor["icon"].as_str());
        values.extend(icon.map(|icon| {
            let end = icon.find([';', ',']).unwrap_or(0).min(60);
            match icon.get(..end).filter(|head| head.starts_with("data:")) {
                Some(head) => head.to_owned(),
                None => "no data: URI".to_owned(),
            }
        }));
    }
}

/// The pairs of a stub and its data.
fn pairs<'a>(views: &'a [View<'a>]) -> impl Iterator<Item = [&'a View<'a>; 2]> {
    views.chunks_exact(2).filter_map(|pair| match pair {
        [stub, data]
            if stub.label.starts_with("the stub request") && data.label.starts_with("the data request") =>
        {
            Some([stub, data])
        }
        _ => None,
    })
}

fn zeros(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    for pair in pairs(views) {
        if let [Some((_, stub)), Some((_, data))] = pair.map(|view| own_data(view, knowledge)) {
            values.push(match zero_bytes(&stub).saturating_sub(zero_bytes(&data)) {
                0 => "no more than data".to_owned(),
                excess @ 1..=2 => format!("{excess} more than data"),
                _ => "3 or more than data".to_owned(),
            });
        }
    }
}

fn paymasters(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    for pair in pairs(views) {
        let [stub, data] = pair.map(|view| {
            let (_, result) = judged(view, knowledge)?;
            let address = result
                .get("paymaster")
                .or_else(|| result.get("paymasterAndData")?.as_str().map(|_| &result["paymasterAndData"]))?;
            address.as_str()?.get(..42).map(str::to_ascii_lowercase)
        });
        if let (Some(stub), Some(data)) = (stub, data) {
            values.push(if stub == data { "the same" } else { "another" }.to_owned());
        }
    }
}

fn finals(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    let stubs = results(views, knowledge).filter(|(kind, _)| is_stub(*kind));
    values.extend(stubs.map(|(_, result)| result.get("isFinal").map_or_else(|| "absent".to_owned(), shown)));
}

fn repeated(views: &[View<'_>], knowledge: &dyn Knowledge, values: &mut Vec<String>) {
    let [first, again] = views else { return };
    let is_data = first.valid_call().is_some_and(|call| !is_stub(call.pair));
    if again.label != "the same request again" || !is_data || first.answer.result().is_none() {
        return;
    }
    match [first, again].map(|view| own_data(view, knowledge)) {
        [Some((_, first)), Some((_, again))] => {
            values.push(if first == again { "the same bytes" } else { "other bytes" }.to_owned());
        }
        _ if again.answer.error().is_some() => values.push("an error".to_owned()),
        _ => {}
    }
}

fn error_codes(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for view in views {
        if let (Some(error), Some(response)) = (view.answer.error(), view.answer.response()) {
            values.push(format!("{} with HTTP {}", shown(&error["code"]), response.status));
        }
    }
}

fn error_texts(views: &[View<'_>], _: &dyn Knowledge, values: &mut Vec<String>) {
    for message in views.iter().filter_map(|view| view.answer.error()?["message"].as_str()) {
        let names_url = message.contains("http://") || message.contains("https://");
        let names_code = message.contains(".js:")
            || message.contains(".ts:")
            || message.contains(".go:")
            || message.contains("    at ");
        values.push(
            match (names_url, names_code) {
                (true, _) => "a URL",
                (_, true) => "a line of code",
                _ => "neither",
            }
            .to_owned(),
        );
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use paymaster_engine::rules::Check;
    use paymaster_schemas::{ERC_7677, find_clause};

    use super::*;
    use crate::{SPECIFICATION, relations::RELATIONS};

    #[test]
    fn every_clause_has_a_rule_an_observer_or_a_reason() {
        let ruled: HashSet<&str> = SPECIFICATION.rules().map(|rule| rule.clause).collect();
        let watched: HashSet<&str> = OBSERVERS.iter().map(|observer| observer.clause).collect();
        for clause in ERC_7677.clauses() {
            let judges = if clause.basis.is_observed() { &watched } else { &ruled };
            assert!(judges.contains(clause.id) != clause.unjudged.is_some(), "{}", clause.id);
        }
        for clause in ruled.iter().chain(&watched) {
            assert!(find_clause(clause).is_some(), "{clause} is no clause");
        }
    }

    #[test]
    fn every_group_rule_has_its_relation_in_the_plan() {
        for rule in SPECIFICATION.rules() {
            if let Check::Group(relation, _) = rule.check {
                assert!(RELATIONS.iter().any(|known| std::ptr::eq(*known, relation)), "{}", rule.id);
            }
        }
    }
}
