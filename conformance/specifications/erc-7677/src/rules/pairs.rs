//! Sections 4 and 5: stub and data of one operation.

use alloy_primitives::Bytes;
use paymaster_engine::cases::Role;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{Check, Report, Rule, View, a_result};
use paymaster_ethereum::{hex_bytes, zero_bytes};
use serde_json::{Map, Value};

use crate::kinds::data_member;
use crate::lines;
use crate::relations::{EIGHT_PAIRS, OTHER_LIMITS, PAIR};
use crate::rules::requests::rule;
use crate::rules::results::judged;

pub(crate) const RULES: &[Rule] = &[
    rule("stub-and-data.length", 4, Check::Group(&PAIR, length))
        .hint("give stub and data the same number of bytes, whatever the operation is"),
    rule("stub-and-data.length-with-other-limits", 4, Check::Group(&OTHER_LIMITS, length))
        .hint("a bundler estimates gas limits and fees in between: the length is the same with any")
        .of_clause("stub-and-data.length"),
    rule("stub-and-data.zero-bytes", 1, Check::Group(&EIGHT_PAIRS, zeros))
        .hint("fill times and signature of a stub with other bytes than zero: zeros cost less gas")
        .unless(lines::only_listed),
    rule("is-final.data-served", 1, Check::Group(&PAIR, data_after_final)).unless(lines::no_final_stub),
];

/// The bytes that the service makes, and their place in the result.
pub(crate) fn own_data(view: &View<'_>, knowledge: &dyn Knowledge) -> Option<(&'static str, Bytes)> {
    let (kind, result) = judged(view, knowledge)?;
    let name = data_member(kind);
    Some((name, hex_bytes(result.get(name)?)?))
}

/// The place of these bytes in the answer to a call.
pub(crate) fn place_of_data(view: &View<'_>) -> String {
    format!("/result/{}", view.valid_call().map_or("", |call| data_member(call.pair)))
}

/// Whether a stub is its own data.
pub(crate) fn is_final(view: &View<'_>, knowledge: &dyn Knowledge) -> bool {
    let has =
        |result: &Map<String, Value>| result.get("isFinal").is_some_and(|value| *value == Value::Bool(true));
    judged(view, knowledge).is_some_and(|(_, result)| has(result))
}

/// The bytes of each stub and of its data. A final stub has no other data.
fn pairs<'a>(
    views: &'a [View<'_>],
    knowledge: &'a dyn Knowledge,
) -> impl Iterator<Item = (usize, &'static str, Bytes, Bytes)> + 'a {
    views.chunks_exact(2).enumerate().filter_map(|(place, pair)| {
        let [stub, data] = pair else { return None };
        let (_, of_stub) = own_data(stub, knowledge).filter(|_| !is_final(stub, knowledge))?;
        let (name, of_data) = own_data(data, knowledge)?;
        Some((2 * place + 1, name, of_stub, of_data))
    })
}

/// The first request is the one of the stub, the others are those of its data.
fn length(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((stub, others)) = views.split_first() else { return };
    if is_final(stub, knowledge) {
        return report.held();
    }
    let Some((_, of_stub)) = own_data(stub, knowledge) else { return };
    for (place, data) in others.iter().enumerate() {
        let Some((name, of_data)) = own_data(data, knowledge) else { continue };
        report.set_member(place + 1);
        let expected = format!("{} bytes, as in the stub", of_stub.len());
        report.expect(of_stub.len() == of_data.len(), format_args!("/result/{name}"), expected, || {
            format!("{} bytes", of_data.len())
        });
    }
}

/// How many zero bytes more than the data a stub has in every pair of a service that breaks the rule: a signature has a quarter of one on
/// average, so that one or two are chance.
const EXCESS: usize = 3;

fn zeros(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let final_stubs = views.iter().step_by(2).filter(|view| is_final(view, knowledge)).count();
    let pairs: Vec<_> = pairs(views, knowledge)
        .map(|(member, name, stub, data)| (member, name, zero_bytes(&stub), zero_bytes(&data)))
        .collect();
    if 2 * (pairs.len() + final_stubs) != views.len() {
        return;
    }
    let is_excess = |(_, _, stub, data): &(usize, &str, usize, usize)| *stub >= data + EXCESS;
    match pairs.first() {
        Some((member, name, stub, data)) if final_stubs == 0 && pairs.iter().all(is_excess) => {
            report.set_member(*member);
            let expected = format!("as many zero bytes as in the stub or more: {stub}");
            report.broken(
                format!("/result/{name}"),
                expected,
                format!("{data}; and fewer in each of 8 pairs"),
            );
        }
        _ => report.held(),
    }
}

fn data_after_final(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let [stub, data] = views else { return };
    // Data with a policy, a token or a signature that only some services take, or with the stub of another operation, may be refused.
    if data.role != Role::Call || !is_final(stub, knowledge) {
        return;
    }
    report.set_member(1);
    a_result(data, "a result, as the stub is final", report);
}
