//! Faults that the contract on the chain shows. Some of them break other clauses too, where the bytes alone show that something is wrong.

use paymaster_schemas::kinds;

use super::Fault;
use super::erc_7677::change_data;
use super::erc_7677::signatures::{other_v, set_time};
use crate::injection::{NO_CONTRACT, replace, set};

const SIMULATES: &str = "stub.simulates";
/// The r of a signature of which no account can be recovered: it is not below the order of the curve.
const TOO_LARGE: &str = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

/// A fault of stubs.
const fn of_stub(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    Fault::new(clause, name, about).when(|view| view.is_stub()).also(&["stub.*", "stub-and-data.*"])
}

/// A fault of data.
const fn of_data(name: &'static str, about: &'static str) -> Fault {
    Fault::new("data.accepted", name, about)
        .when(|view| view.is_data())
        .also(&["data.*", "call.same-operation"])
}

/// The digits of data with another r in the signature of 65 bytes at their end.
fn with_large_r(digits: &str) -> String {
    let (rest, signature) = digits.split_at(digits.len().saturating_sub(130));
    format!("{rest}{TOO_LARGE}{}", &signature[TOO_LARGE.len()..])
}

pub(super) const OF_ERC_7677: &[Fault] = &[
    of_stub(SIMULATES, "stub-signature-reverts", "the contract reverts for the stub's signature")
        .on_result(|_, result| change_data(result, with_large_r)),
    of_stub(SIMULATES, "stub-signature-cut", "the stub's signature is cut, and the contract reverts")
        .on_result(|_, result| change_data(result, |digits| digits[..digits.len() - 10].to_owned())),
    of_stub(SIMULATES, "stub-paymaster-not-deployed", "the stub names a paymaster without code")
        .on_result(|_, result| replace(result, "paymaster", NO_CONTRACT)),
    of_stub("stub.verification-gas", "verification-gas-too-small", "returns too little gas to validate")
        .on_result(|_, result| replace(result, "paymasterVerificationGasLimit", "0x64")),
    of_stub("is-final.accepted", "final-stub-reverts", "isFinal is true for a stub that reverts")
        .on_result(|_, result| {
            set(result, "isFinal", true);
            change_data(result, with_large_r);
        })
        .also(&["stub.*", "stub-and-data.*", "is-final.signature"]),
    of_data("data-signature-reverts", "the contract reverts for the signature of data")
        .on_result(|_, result| change_data(result, with_large_r)),
    of_data("data-due-too-late", "the data begin when they nearly end, as if the clock were fast").on_result(
        |_, result| {
            change_data(result, |digits| {
                let until = u64::from_str_radix(&digits[48..64], 16).unwrap_or_default();
                set_time(digits, 1, until.saturating_sub(10))
            });
        },
    ),
];

pub(super) const OF_FEE_QUOTE: &[Fault] =
    &[Fault::new("on-chain.accepted", "sponsorship-of-another-digest", "signs a digest of its own")
        .on_result(|_, result| change_data(result, other_v))
        .when(|view| view.is(kinds::SPONSOR_SPONSORED))];
