//! Observers record what the text leaves open. They break no rule.

use std::borrow::Cow;

use paymaster_engine::cases::Role;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{Observer, Seen, View, shown};
use paymaster_ethereum::zero_bytes;
use paymaster_exchange::{Refusal, Simulation};
use paymaster_schemas::Kind;
use serde_json::{Map, Value};

use crate::kinds::is_stub;
use crate::relations::OPEN;
use crate::rules::pairs::own_data;
use crate::rules::results::{LIMITS, judged};
use crate::rules::signatures::{contradicts_the_profile, revert_accuses};
use crate::target::Target;

/// An observer of how the probes of a clause are answered.
macro_rules! probes {
    ($clause:literal) => {
        Observer::group($clause, |views, _, values| answered($clause, views, values))
    };
}

/// Every observer.
pub(crate) static OBSERVERS: &[Observer] = &[
    probes!("observed.id-forms"),
    probes!("observed.params-forms"),
    probes!("observed.packed-members"),
    probes!("observed.context"),
    probes!("observed.foreign-chain"),
    Observer::group("observed.unknown-entry-point", unknown_entry_point),
    probes!("observed.chain-id-forms"),
    Observer::exchange("observed.node", unasked),
    Observer::exchange("observed.limits-returned", limits_returned),
    Observer::group("observed.gas-limit-zeros", leading_zeros),
    Observer::group("observed.extra-members", extra_members),
    Observer::exchange("observed.icon", icon),
    Observer::group("observed.zero-bytes", zeros),
    Observer::group("observed.paymaster-changes", paymasters),
    Observer::group("observed.is-final", finals),
    Observer::group("observed.repeated-data", repeated),
    Observer::exchange("observed.error-codes", error_codes),
    Observer::exchange("observed.error-texts", error_texts),
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
fn unasked(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    match view.on_chain {
        Some(Simulation::Unclear(reason) | Simulation::Refused(Refusal::NotDeployed, reason)) => {
            Some(reason.clone().into())
        }
        Some(Simulation::Refused(refusal, _)) if !revert_accuses(view, *refusal, knowledge) => {
            Some("a revert that may have another reason".into())
        }
        _ => contradicts_the_profile(view, knowledge).then_some(Cow::Borrowed(
            "the contract accepts data that are not signed as the profile says: correct contract.kind and contract.signer",
        )),
    }
}

fn method(kind: Kind) -> &'static str {
    if is_stub(kind) { "stub" } else { "data" }
}

fn limits_returned(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    let (kind, result) = judged(view, knowledge).filter(|(_, result)| result.contains_key("paymaster"))?;
    let seen = match LIMITS.map(|name| result.contains_key(name)) {
        [true, true] => "both",
        [true, false] => "of the validation",
        [false, true] => "of postOp",
        [false, false] => "none",
    };
    Some(format!("{}: {seen}", method(kind)).into())
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

fn icon(view: &View<'_>, knowledge: &dyn Knowledge) -> Seen {
    let (_, result) = judged(view, knowledge)?;
    let icon = result.get("sponsor")?["icon"].as_str()?;
    let end = icon.find([';', ',']).unwrap_or(0).min(60);
    let head = icon.get(..end).filter(|head| head.starts_with("data:"));
    Some(head.map_or(Cow::Borrowed("no data: URI"), |head| head.to_owned().into()))
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

fn error_codes(view: &View<'_>, _: &dyn Knowledge) -> Seen {
    let (error, response) = view.answer.error().zip(view.answer.response())?;
    Some(format!("{} with HTTP {}", shown(&error["code"]), response.status).into())
}

fn error_texts(view: &View<'_>, _: &dyn Knowledge) -> Seen {
    let message = view.answer.error()?["message"].as_str()?;
    let has = |part| message.contains(part);
    let seen = if has("http://") || has("https://") {
        "a URL"
    } else if [".js:", ".ts:", ".go:", "    at "].into_iter().any(has) {
        "a line of code"
    } else {
        "neither"
    };
    Some(seen.into())
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
