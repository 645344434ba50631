//! Sections 5 and 6: what data are signed over. Judged without a node where the profile names the contract and its signer.

use std::{collections::BTreeSet, time::UNIX_EPOCH};

use alloy_primitives::U256;
use paymaster_engine::cases::{Relation, Role};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Call;
use paymaster_engine::rules::{
    Advice, Check, ExchangeCheck, GroupCheck, Report, Rule, View, describe_answer,
};
use paymaster_ethereum::{ContractKind, EntryPointVersion, Operation, Window};
use paymaster_exchange::{Refusal, Simulation};
use paymaster_schemas::member_validator;
use serde_json::{Map, Value};

use crate::kinds::{CallParts, is_stub, paymaster_members, version};
use crate::lines;
use crate::relations::{ANOTHER_CALL, CONCURRENT, OTHER_LIMITS, PAIR, SPELLINGS, form_of};
use crate::rules::pairs::{is_final, own_data, place_of_data};
use crate::rules::requests::{exchange, rule};
use crate::rules::results::{LIMITS, Shape, judged};
use crate::target::{GAS, Target};

const fn signed(id: &'static str, relation: &'static Relation, check: GroupCheck) -> Rule {
    rule(id, 2, Check::Group(relation, check)).unless(lines::unchecked_signatures)
}

fn unchecked_or_only_listed(knowledge: &dyn Knowledge) -> Option<&'static str> {
    lines::unchecked_signatures(knowledge).or_else(|| lines::only_listed(knowledge))
}

pub(crate) const RULES: &[Rule] = &[
    exchange("data.signature", 5, |view, knowledge, report| {
        // Other rules judge the variants of their relations; those of client forms are of the operation that is sent.
        let is_judged = form_of(view.label).is_some()
            || matches!(
                view.role,
                Role::Call | Role::Baseline | Role::Again | Role::Other | Role::Recorded | Role::Alone
            );
        let is_data = view.valid_call().is_some_and(|call| !is_stub(call.pair));
        if is_judged && is_data && is_of_the_signer(view, knowledge) {
            judge(view, knowledge, report);
        }
    })
    .hint("hash the members as the contract packs them; or correct contract.kind and contract.signer")
    .unless(lines::unchecked_signatures),
    exchange("is-final.signature", 1, |view, knowledge, report| {
        if !is_of_the_signer(view, knowledge) || !is_final(view, knowledge) {
            return;
        }
        let is_unestimated = |call: &Call| GAS.iter().all(|limit| call.operation()[limit] == "0x0");
        if view.valid_call().is_some_and(is_unestimated)
            && !is_accepted(view)
            && signature(view, knowledge) == Some(Ok(()))
        {
            let expected = "data that hold with the gas limits that a wallet fills in";
            return report.broken(place_of_data(view), expected, "a signature over gas limits of 0");
        }
        judge(view, knowledge, report);
    })
    .hint("a final stub must hold as it is, with every gas limit")
    .unless(|knowledge| lines::unchecked_signatures(knowledge).or_else(|| lines::no_final_stub(knowledge))),
    signed("data.signature-of-limits", &OTHER_LIMITS, as_the_baseline)
        .hint("sign limits and fees of the request, or return the signed limits, or refuse the request"),
    signed("data.signature-of-call", &ANOTHER_CALL, as_the_baseline)
        .hint("sign the operation of the request, not one that is kept by sender and nonce")
        .unless(unchecked_or_only_listed),
    signed("data.concurrent", &CONCURRENT, concurrent)
        .hint("keep nothing of a request where another one finds it")
        .unless(unchecked_or_only_listed)
        .about_mix_ups(),
    rule("call.same-operation", 2, Check::Group(&SPELLINGS, spellings))
        .hint("sign the values of the members, not their text"),
    rule("data.differs", 2, Check::Group(&ANOTHER_CALL, differs))
        .hint("data for different operations are equal: are they signed over the operation?")
        .unless(lines::only_listed),
    rule("data.differs-at-once", 2, Check::Group(&CONCURRENT, all_differ))
        .hint("equal data for different calls that are asked for together: what do requests share?")
        .of_clause("data.differs")
        .unless(lines::only_listed)
        .about_mix_ups(),
    exchange("data.window", 5, window)
        .hint("write both times in seconds, and begin a little before now")
        .unless(|knowledge| {
            let target = Target::of(knowledge);
            let is_known =
                target.sent_versions().any(|version| target.profile.contract.of(version).is_some());
            (!is_known).then_some("the profile names no contract: contract.kind")
        }),
];

/// The operation with what the result adds to it, as a wallet sends it: the paymaster members alone.
pub(crate) fn completed(call: &Call, result: &Map<String, Value>) -> Option<Operation> {
    let version = call.known_version()?;
    let own = Value::Object(paymaster_members(version, result));
    Operation::read(version, &[call.operation(), &own]).ok()
}

/// Whether a call is of the chain and the context for which the profile names the signer. Another context may choose another signer; a context
/// of null chooses nothing.
fn is_of_the_signer(view: &View<'_>, knowledge: &dyn Knowledge) -> bool {
    let target = Target::of(knowledge);
    let own = &target.profile.service.context;
    view.valid_call().is_some_and(|call| {
        let is_none = call.context().is_null() && own.is_empty();
        call.chain_id() == target.chain_id() && (is_none || call.context().as_object() == Some(own))
    })
}

/// Whether a signature holds, and what was found; none where we cannot tell.
fn signature(view: &View<'_>, knowledge: &dyn Knowledge) -> Option<Result<(), String>> {
    let found = by_profile(view, knowledge)?;
    // The profile may name another kind of contract, or another signer, than the contract has. Where a node can be asked, the contract decides.
    let is_undecided = Target::of(knowledge).on_chain && (view.on_chain.is_none() || is_delegated(view));
    (found.is_ok() || !(is_accepted(view) || is_undecided)).then_some(found)
}

/// Whether the contract accepts data that are not signed as the profile says.
pub(crate) fn contradicts_the_profile(view: &View<'_>, knowledge: &dyn Knowledge) -> bool {
    is_accepted(view) && by_profile(view, knowledge).is_some_and(|found| found.is_err())
}

/// Whether only the account's delegate, which a node knows, shows what the operation is hashed with.
fn is_delegated(view: &View<'_>) -> bool {
    let factory = view.valid_call().and_then(|call| call.operation()["factory"].as_str());
    factory.is_some_and(|factory| factory.starts_with("0x7702"))
}

/// How many operations a new account may have sent already: a service may count those that it signed.
const MOST_COUNTED: u64 = 8;

/// Whether a signature is the one that the profile lets expect, and what was found.
fn by_profile(view: &View<'_>, knowledge: &dyn Knowledge) -> Option<Result<(), String>> {
    let (kind_of_call, result) = judged(view, knowledge)?;
    let call = view.valid_call()?;
    // Other rules report a result of another shape, and one for an operation that is refused.
    let has_own_shape = Shape::of_members(result).completes(version(kind_of_call));
    if !has_own_shape || knowledge.lists_as_refused(&call.envelope) {
        return None;
    }
    let (kind, signer, chain) = Target::of(knowledge).contract(call.known_version()?)?;
    let operation = completed(call, result)?;
    // Nor could a contract hash members that are not in the form of their table, or be at the address zero.
    let own = paymaster_members(operation.version, result);
    let is_in_form = |(name, value): (&String, &Value)| {
        member_validator(kind_of_call.result_document, name).is_none_or(|form| form.is_valid(value))
    };
    if !own.iter().all(is_in_form)
        || operation.members.paymasterAndData.iter().take(20).all(|byte| *byte == 0)
    {
        return None;
    }
    if kind == ContractKind::Singleton08 && is_delegated(view) && operation.delegate.is_none() {
        return None;
    }
    // Without both gas limits of the paymaster, in the request or the result, the operation that the contract hashes is unknown.
    let has_limit = |name: &str| result.contains_key(name) || !call.operation()[name].is_null();
    if operation.version != EntryPointVersion::V06 && !LIMITS.into_iter().all(has_limit) {
        return None;
    }
    // The contract's count of operations of the sender is signed too, where it has one.
    let is_counted = kind == ContractKind::Verifying06;
    let signer_at = |count| kind.signer(&operation, chain, U256::from(count));
    let is_signed = |operation: Operation| kind.signer(&operation, chain, U256::ZERO) == Ok(signer);
    match signer_at(0) {
        Ok(actual) if actual == signer => Some(Ok(())),
        Ok(_) if operation.with_short_factory().is_some_and(is_signed) => Some(Ok(())),
        Ok(_) if is_counted && (1..=MOST_COUNTED).any(|count| signer_at(count) == Ok(signer)) => Some(Ok(())),
        // How many operations an account of the profile has sent, only a node knows.
        Ok(_) if is_counted && Target::of(knowledge).names_sender(call) => None,
        Ok(actual) => Some(Err(format!("a signature of {actual}, or of other values"))),
        Err(cause) => Some(Err(cause.to_string())),
    }
}

/// Whether a node has shown that the contract accepts the data.
fn is_accepted(view: &View<'_>) -> bool {
    matches!(view.on_chain, Some(Simulation::Accepted))
}

fn judge(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    match signature(view, knowledge) {
        Some(Ok(())) => report.held(),
        Some(Err(found)) => report.broken(
            place_of_data(view),
            "a signature of contract.signer over the operation of the request",
            found,
        ),
        None => {}
    }
}

/// Where the signature of the baseline holds, so does that of every variant with a result.
fn as_the_baseline(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let baseline = views.iter().find(|view| view.role == Role::Baseline);
    if baseline.and_then(|view| signature(view, knowledge)) != Some(Ok(())) {
        return;
    }
    for (place, view) in views.iter().enumerate().filter(|(_, view)| view.role == Role::Variant) {
        report.set_member(place);
        judge(view, knowledge, report);
    }
}

/// Every signature holds.
fn concurrent(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    for (place, view) in views.iter().enumerate() {
        report.set_member(place);
        judge(view, knowledge, report);
    }
}

/// Another spelling is served and signed as the baseline is, which is sent before and after it.
fn spellings(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let [baseline, variant, again] = views else { return };
    if baseline.answer.result().is_none() || again.answer.result().is_none() {
        return;
    }
    report.set_member(1);
    if variant.answer.error().is_some() {
        let expected = "a result, as for the baseline before and after it";
        return report.broken("/error", expected, describe_answer(&variant.answer));
    }
    let is_signed = |view| signature(view, knowledge) == Some(Ok(()));
    if is_signed(baseline) && is_signed(again) {
        judge(variant, knowledge, report);
    } else if variant.answer.result().is_some() {
        report.held();
    }
}

/// The shortest own data that have room for a signature, in bytes.
const ROOM: usize = 64;

/// Data that have room for a signature differ between operations.
fn differs(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    // A final stub is not signed over the operation.
    if views.iter().any(|view| is_final(view, knowledge)) {
        return;
    }
    let mut known = BTreeSet::new();
    for (place, view) in views.iter().enumerate() {
        let is_compared = matches!(view.role, Role::Baseline | Role::Variant);
        let Some((name, data)) =
            own_data(view, knowledge).filter(|(_, data)| is_compared && data.len() >= ROOM)
        else {
            continue;
        };
        report.set_member(place);
        let is_new = known.insert(data);
        if view.role == Role::Variant {
            let expected = "other bytes than for another operation";
            report.expect(is_new, format_args!("/result/{name}"), expected, || "the same bytes".to_owned());
        }
    }
}

/// Data that have room for a signature differ between operations that are asked for together, in a batch too.
fn all_differ(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (place, view) in views.iter().enumerate().filter(|(_, view)| view.role != Role::Again) {
        report.set_member(place);
        let single = own_data(view, knowledge).map(|(name, _)| (String::new(), name, view.answer.result()));
        let batch = view.answer.array().into_iter().flatten().enumerate().flat_map(|(place, answer)| {
            let names = ["paymasterAndData", "paymasterData"].into_iter();
            names.map(move |name| (format!("/{place}"), name, answer.get("result")))
        });
        for (answer, name, result) in single.into_iter().chain(batch) {
            let data = result.and_then(|result| result.get(name)?.as_str());
            if let Some(data) = data.filter(|data| data.len() >= 2 + 2 * ROOM) {
                let expected = "other bytes than for another operation";
                report.expect(known.insert(data), format_args!("{answer}/result/{name}"), expected, || {
                    "the same bytes".to_owned()
                });
            }
        }
    }
}

/// The largest time that a contract can store.
const LATEST: u64 = (1 << 48) - 1;

/// Whether data are valid at this time, in Unix seconds, by a clock that may differ from the service's, and for no senseless time.
pub(crate) fn is_open(version: EntryPointVersion, mut window: Window, now: u64) -> bool {
    // The largest time of 48 bits means no end, as 0 does.
    if window.valid_until == LATEST {
        window.valid_until = 0;
    }
    if version == EntryPointVersion::V09 && window.is_of_blocks() {
        return true;
    }
    window.includes_about(now) && window.is_plausible(now)
}

fn window(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let Some((_, result)) = judged(view, knowledge).filter(|(kind, _)| !is_stub(*kind)) else { return };
    let (Some(call), Some(received)) = (view.valid_call(), view.received) else { return };
    let Some((version, contract)) = call
        .known_version()
        .and_then(|version| Some((version, Target::of(knowledge).profile.contract.of(version)?)))
    else {
        return;
    };
    let now = received.duration_since(UNIX_EPOCH).map(|since| since.as_secs()).unwrap_or_default();
    let Some(terms) = completed(call, result).and_then(|operation| contract.read(&operation).ok()) else {
        return;
    };
    let window = terms.window;
    let expected = format!("a window that includes {now}, in seconds");
    let holds = is_open(version, window, now);
    if !holds && is_accepted(view) {
        return;
    }
    report.expect(holds, place_of_data(view), expected, || {
        format!("validAfter {}, validUntil {}", window.valid_after, window.valid_until)
    });
}

// What a node of the chain shows: whether the paymaster's contract accepts a result. See [`crate::on_chain`].

const UNASKED: Advice = Advice::Look(
    "the node showed too little of the results: observed.node in the report says why. A revert shows nothing without the right contract.kind \
     in the profile, if only some bundlers may send the operation, or if a token is paid",
);

const fn asked(id: &'static str, quota: u64, check: ExchangeCheck) -> Rule {
    Rule::exchange(id, quota, UNASKED, check).waiting_first(&lines::CHAIN_ID)
}

/// The limit of the paymaster's validation.
const LIMIT: &str = "/result/paymasterVerificationGasLimit";

pub(crate) const ON_CHAIN: &[Rule] = &[
    asked("data.accepted", 3, |view, knowledge, report| {
        if judged(view, knowledge).is_some_and(|(kind, _)| !is_stub(kind)) {
            accepted(view, knowledge, report);
        }
    })
    .hint("sign for chain, EntryPoint and contract, over the operation with the limits of the request"),
    Rule::group("stub.simulates", 2, UNASKED, &PAIR, simulates)
        .waiting_first(&lines::CHAIN_ID)
        .hint("the stub has mode, length and signature form of the data, and a deployed paymaster"),
    asked("is-final.accepted", 1, |view, knowledge, report| {
        if is_final(view, knowledge) {
            accepted(view, knowledge, report);
        }
    })
    .hint("a final stub must hold as it is, with every gas limit")
    .unless(lines::no_final_stub),
    asked("stub.verification-gas", 2, verification_gas).unless(|knowledge| {
        let mut sent = Target::of(knowledge).sent_versions();
        sent.all(|version| version == EntryPointVersion::V06)
            .then_some("EntryPoint 0.6 has no gas limit of the paymaster")
    }),
];

/// What the node shows of a result, as far as it can only come from the service.
fn outcome<'a>(view: &'a View<'_>, knowledge: &dyn Knowledge) -> Option<Result<(), (Refusal, &'a str)>> {
    let (kind, result) = judged(view, knowledge)?;
    let has_own_shape = Shape::of_members(result).completes(version(kind));
    let is_refused = |call: &Call| knowledge.lists_as_refused(&call.envelope);
    if !has_own_shape || view.valid_call().is_some_and(is_refused) {
        return None;
    }
    match view.on_chain? {
        Simulation::Accepted => Some(Ok(())),
        Simulation::Refused(refusal, _) if !revert_accuses(view, *refusal, knowledge) => None,
        // That is another rule.
        Simulation::WithinGas | Simulation::Refused(Refusal::OverGasLimit, _) | Simulation::Unclear(_) => {
            None
        }
        Simulation::Refused(refusal, reason) => Some(Err((*refusal, reason))),
    }
}

/// Whether a revert can only come from the data: the profile names the contract, which has the functions of that kind, the data let every
/// bundler send the operation (a call of ours has no bundler), and no token is paid that the sender may lack. Where a bundler's call reverts
/// too, the last of these is enough. A signature of another length than 64 or 65 bytes reverts for everyone. Another refusal accuses.
pub(crate) fn revert_accuses(view: &View<'_>, refusal: Refusal, knowledge: &dyn Knowledge) -> bool {
    let functions = match refusal {
        Refusal::Reverted(functions) => Some(functions),
        Refusal::RevertedForBundler => None,
        _ => return true,
    };
    let operation = judged(view, knowledge).and_then(|(_, result)| completed(view.valid_call()?, result));
    let stated = &Target::of(knowledge).profile.contract;
    let Some((contract, operation)) =
        operation.and_then(|operation| Some((stated.of(operation.version)?, operation)))
    else {
        return functions.is_none();
    };
    let is_of_kind = functions.is_none_or(|functions| functions == contract.functions());
    let may_send = |any_bundler| any_bundler || functions.is_none();
    is_of_kind
        && contract.read(&operation).map_or(true, |terms| {
            let has_no_signature = ![64, 65].contains(&terms.signature.len());
            has_no_signature
                || may_send(terms.any_bundler)
                    && (terms.token.is_none() || stated.can_pay(operation.members.sender))
        })
}

fn accepted(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    match outcome(view, knowledge) {
        Some(Ok(())) => report.held(),
        // The node may be one of a chain on which this paymaster is not deployed.
        Some(Err((Refusal::NotDeployed, _))) | None => {}
        Some(Err((_, reason))) => {
            report.broken(
                place_of_data(view),
                "data that the paymaster's contract accepts",
                format!("refused: {reason}"),
            );
        }
    }
}

/// The stub's contract neither reverts nor is missing where that of the data accepts.
fn simulates(views: &[View<'_>], knowledge: &dyn Knowledge, report: &mut Report) {
    let [stub, data] = views else { return };
    if is_final(stub, knowledge) {
        return;
    }
    match outcome(stub, knowledge) {
        Some(Err((Refusal::Reverted(_) | Refusal::RevertedForBundler, reason))) => {
            report.broken(
                place_of_data(stub),
                "a stub with which validation does not revert",
                reason.to_owned(),
            );
        }
        Some(Err((Refusal::NotDeployed, reason))) => {
            let is_deployed = |found| !matches!(found, Err((Refusal::NotDeployed, _)));
            if outcome(data, knowledge).is_some_and(is_deployed) {
                report.broken(
                    "/result/paymaster",
                    "a paymaster with code, as that of the data",
                    reason.to_owned(),
                );
            }
        }
        Some(_) => report.held(),
        None => {}
    }
}

fn verification_gas(view: &View<'_>, _: &dyn Knowledge, report: &mut Report) {
    match view.on_chain {
        Some(Simulation::Refused(Refusal::OverGasLimit, reason)) => {
            report.broken(LIMIT, "a gas limit that validation fits", reason.clone());
        }
        Some(Simulation::WithinGas) => report.held(),
        _ => {}
    }
}
