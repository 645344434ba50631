//! Section 4.2, rule 7: the value goes into the user operation, so the contracts of the chain must accept it. Judged only when a
//! chain is given. This rule warns.

use crate::rules::{Advice, Check, Report, Rule, View};
use crate::target::context::Context;
use paymaster_exchange::Simulation;

pub(in crate::rules) const RULES: &[Rule] = &[Rule {
    id: "on-chain.accepted",
    clause: "on-chain.accepted",
    quota: 3,
    advice: Advice::Look(
        "too few answers could be simulated on the chain: name operations of accounts on that chain that the target sponsors in the profile, and look at --rpc-url and --entry-point",
    ),
    hint: "sign for the chain, the contract and its nonce of the sender, over the operation with the gas limits that the answer returns",
    not_applicable: not_asked,
    check: Check::Exchange(accepted),
}];

fn not_asked(context: &Context) -> Option<&'static str> {
    (!context.on_chain).then_some("no chain is used (--rpc-url, --entry-point)")
}

/// The paymaster's contract accepts the paymasterAndData of a result.
fn accepted(view: &View<'_>, _: &Context, report: &mut Report) {
    match view.on_chain {
        Some(Simulation::Accepted) => report.held(),
        Some(Simulation::Refused(reason)) => report.broken(
            "/result/paymasterAndData",
            "a value that the paymaster's contract accepts",
            format!("refused: {reason}"),
        ),
        Some(Simulation::Unclear(_)) | None => {}
    }
}
