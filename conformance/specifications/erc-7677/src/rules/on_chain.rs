//! What a node of the chain shows: whether the paymaster's contract accepts a result. See [`crate::on_chain`].

use paymaster_engine::{
    knowledge::Knowledge,
    message::request::Call,
    rules::{Advice, Check, Report, Rule, View},
};
use paymaster_ethereum::EntryPointVersion;
use paymaster_exchange::{Refusal, Simulation};

use crate::{
    kinds::{is_stub, version},
    lines,
    relations::PAIR,
    rules::{
        pairs::{is_final, place_of_data},
        results::{Shape, judged},
        signatures::completed,
    },
    target::Target,
};

const UNASKED: Advice = Advice::Look(
    "the node showed too little of the results: observed.node in the report says why. A revert shows nothing without the right contract.kind \
     in the profile, if only some bundlers may send the operation, or if a token is paid",
);

const fn rule(id: &'static str, quota: u64, check: Check) -> Rule {
    Rule::new(id, quota, UNASKED, check).waiting_first(&lines::CHAIN_ID)
}

/// The limit of the paymaster's validation.
const LIMIT: &str = "/result/paymasterVerificationGasLimit";

pub(crate) const RULES: &[Rule] = &[
    rule(
        "data.accepted",
        3,
        Check::Exchange(|view, knowledge, report| {
            if judged(view, knowledge).is_some_and(|(kind, _)| !is_stub(kind)) {
                accepted(view, knowledge, report);
            }
        }),
    )
    .hint("sign for chain, EntryPoint and contract, over the operation with the limits of the request"),
    rule("stub.simulates", 2, Check::Group(&PAIR, simulates))
        .hint("the stub has mode, length and signature form of the data, and a deployed paymaster"),
    rule(
        "is-final.accepted",
        1,
        Check::Exchange(|view, knowledge, report| {
            if is_final(view, knowledge) {
                accepted(view, knowledge, report);
            }
        }),
    )
    .hint("a final stub must hold as it is, with every gas limit")
    .unless(lines::no_final_stub),
    rule("stub.verification-gas", 2, Check::Exchange(verification_gas)).unless(|knowledge| {
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
                || may_send(terms.any_bundler) && (terms.token.is_none() || stated.can_pay(operation.sender))
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
