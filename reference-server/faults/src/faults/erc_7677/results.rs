//! Faults of the form of results, and of stub and data beside each other.

use alloy_primitives::U256;
use paymaster_service::EntryPoint;
use serde_json::{Map, Value, json};

use super::requests::{creates_account, is_in_lower_case, zero_limits};
use super::{UNREADABLE, change_data};
use crate::faults::{Fault, fault};
use crate::injection::{
    RequestView, change, change_text, remove, replace, set, text_of, with_compact_signature,
};

const POST_OP_07: &str = "stub.post-op-gas-07";
const GAS_LIMIT: &str = "result.gas-limit";
const POST_OP: &str = "paymasterPostOpGasLimit";
const PAYMASTER: &str = "result.paymaster";
const BYTES: &str = "result.bytes";
const LENGTH: &str = "stub-and-data.length";
const ZERO_BYTES: &str = "stub-and-data.zero-bytes";
const IS_FINAL: &str = "is-final.boolean";
const ICON: &str = "sponsor-member.icon";
const SIGNATURE_DIGITS: usize = 130;
/// The first eight bytes of the signature are zero.
const ZEROS: Fault = in_stubs(ZERO_BYTES, "", "").on_result(|_, result| {
    change_signature(result, |signature| format!("{}{}", "00".repeat(8), &signature[16..]));
});

/// A fault of every result of ERC-7677 that has the changed part. The change follows.
const fn changed(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    Fault::new(clause, name, about).among(|view| view.entry_point().is_some())
}

const fn unreadable(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    changed(clause, name, about).also(UNREADABLE)
}

const fn in_stubs(clause: &'static str, name: &'static str, about: &'static str) -> Fault {
    changed(clause, name, about).when(|view| view.is_stub())
}

pub(crate) const FAULTS: &[Fault] = &[
    changed(POST_OP_07, "post-op-gas-missing-for-a-policy", "no paymasterPostOpGasLimit with a policyId")
        .on_result(|_, result| remove(result, POST_OP))
        .when(|view| {
            view.is_stub() && view.is_for(EntryPoint::V07) && view.context().get("policyId").is_some()
        }),
    changed(POST_OP_07, "stub-post-op-gas-missing", "leaves paymasterPostOpGasLimit out for 0.7")
        .on_result(|_, result| remove(result, POST_OP))
        .when(|view| view.is_stub() && view.is_for(EntryPoint::V07)),
    changed(POST_OP_07, "stub-post-op-gas-of-the-request", "has a postOp limit only if the request has one")
        .on_result(|_, result| remove(result, POST_OP))
        .when(|view| view.is_stub() && view.is_for(EntryPoint::V07) && view.lacks(POST_OP)),
    changed("stub.post-op-gas-08", "stub-post-op-gas-later-missing", "no paymasterPostOpGasLimit after 0.7")
        .on_result(|_, result| remove(result, POST_OP))
        .when(|view| view.is_stub() && is_eip_712(view)),
    unreadable(GAS_LIMIT, "gas-limit-decimal", "writes paymasterPostOpGasLimit in decimal digits")
        .on_result(|_, result| change(result, POST_OP, |_| json!("40000"))),
    unreadable(GAS_LIMIT, "gas-limit-number", "paymasterPostOpGasLimit is a number")
        .on_result(|_, result| change(result, POST_OP, |_| json!(40_000))),
    unreadable(GAS_LIMIT, "gas-limit-without-digits", "paymasterVerificationGasLimit is 0x")
        .on_result(|_, result| change(result, "paymasterVerificationGasLimit", |_| json!("0x"))),
    // A data request with such a limit of a stub would be refused.
    unreadable("result.gas-limit-size", "gas-limit-without-bound", "paymasterPostOpGasLimit is 2^256 - 1")
        .on_result(|_, result| change(result, POST_OP, |_| json!(format!("{:#x}", U256::MAX))))
        .when(|view| view.is_data() && view.is_later()),
    unreadable(GAS_LIMIT, "gas-limit-fraction", "writes half a gas for callData with an odd number of bytes")
        .on_result(|_, result| change(result, "paymasterVerificationGasLimit", |_| json!("0x186a0.8")))
        .when(|view| view.is_stub() && view.is_later() && view.byte_count("callData") % 2 == 1),
    unreadable(
        GAS_LIMIT,
        "gas-limit-of-a-part",
        "writes the hundredth part of callGasLimit with its fraction",
    )
    .on_result(|_, result| change(result, POST_OP, |_| json!("0x2710.8")))
    .when(|view| {
        let is_round = |limit: U256| (limit % U256::from(100)).is_zero();
        view.is_stub() && view.is_later() && !view.amount("callGasLimit").is_none_or(is_round)
    }),
    changed("stub.members-07", "stub-of-the-sender", "returns the first stub of a sender for any EntryPoint")
        .on_result(|view, result| view.repeat(result, view.operation()["sender"].to_string()))
        .when(|view| view.is_stub())
        .also(&["stub.*", "result.*"])
        .depends_on_others(),
    in_stubs("result.null-member", "gas-limit-null", "paymasterVerificationGasLimit is null")
        .on_result(|_, result| change(result, "paymasterVerificationGasLimit", |_| Value::Null)),
    changed("stub.members-06", "stub-06-as-07", "answers 0.6 with paymaster and paymasterData in the stub")
        .on_result(|_, result| later_members(result))
        .when(|view| view.is_stub() && view.is_for(EntryPoint::V06)),
    unreadable("data.members-06", "data-06-as-07", "answers 0.6 with paymaster and paymasterData in data")
        .on_result(|_, result| later_members(result))
        .when(|view| view.is_data() && view.is_for(EntryPoint::V06)),
    changed("stub.members-07", "stub-07-as-06", "answers 0.7 with paymasterAndData in the stub")
        .on_result(|_, result| older_members(result))
        .when(|view| view.is_stub() && view.is_for(EntryPoint::V07))
        .also(&["stub.post-op-gas-07"]),
    unreadable("data.members-07", "data-07-as-06", "answers 0.7 with paymasterAndData in the data")
        .on_result(|_, result| older_members(result))
        .when(|view| view.is_data() && view.is_for(EntryPoint::V07)),
    changed("stub.members-07", "entry-point-08-as-06", "answers 0.8 and 0.9 as 0.6")
        .on_result(|_, result| older_members(result))
        .when(is_eip_712)
        .also(&["data.*", "stub.post-op-gas-08"]),
    changed("result.one-shape", "both-shapes", "answers with the members of 0.6 and of 0.7 at once")
        .on_result(|_, result| {
            let both = result.clone();
            older_members(result);
            result.extend(both);
        })
        .when(|view| view.is_later()),
    unreadable("result.address-once", "address-in-the-data", "paymasterData begins with the address again")
        .on_result(|_, result| {
            let address = text_of(&result["paymaster"]);
            change_data(result, |digits| format!("{}{digits}", address.trim_start_matches("0x")));
        })
        .when(|view| view.is_later()),
    unreadable("result.address-once", "address-twice", "paymasterAndData has the address twice")
        .on_result(|_, result| {
            let address = text_of(&result["paymasterAndData"])[2..42].to_owned();
            change_data(result, |digits| format!("{address}{digits}"));
        })
        .when(|view| view.is_for(EntryPoint::V06)),
    unreadable(BYTES, "data-half-a-byte", "the data have an odd number of digits")
        .on_result(|_, result| change_data(result, |digits| digits[1..].to_owned())),
    unreadable(BYTES, "signature-without-leading-zero", "writes r of a signature without leading zeros")
        .on_result(|_, result| {
            change_signature(result, |signature| signature.strip_prefix('0').unwrap_or(signature).to_owned());
        }),
    unreadable(BYTES, "data-without-prefix", "paymasterData has no 0x")
        .on_result(|_, result| change_text(result, "paymasterData", |data| data[2..].to_owned())),
    unreadable(BYTES, "data-with-two-prefixes", "paymasterData begins with 0x0x")
        .on_result(|_, result| change_text(result, "paymasterData", |data| format!("0x{data}"))),
    unreadable(PAYMASTER, "paymaster-of-nineteen-bytes", "the address of the paymaster has 19 bytes")
        .on_result(|_, result| change_text(result, "paymaster", |address| address[..40].to_owned())),
    unreadable(PAYMASTER, "paymaster-of-a-word", "pads the address of the paymaster to 32 bytes").on_result(
        |_, result| change_text(result, "paymaster", |address| format!("0x{:0>64}", &address[2..])),
    ),
    unreadable(PAYMASTER, "paymaster-zero", "the paymaster is the zero address")
        .on_result(|_, result| replace(result, "paymaster", ZERO_ADDRESS)),
    unreadable("result.paymaster-and-data", "paymaster-and-data-zero", "data begin with the zero address")
        .on_result(|_, result| {
            change_text(result, "paymasterAndData", |data| format!("{ZERO_ADDRESS}{}", &data[42..]));
        }),
    changed("result.operation-members", "own-gas-limits-returned", "returns a callGasLimit of its own")
        .on_result(|_, result| set(result, "callGasLimit", "0x249f0")),
    in_stubs("sponsor-member.name", "sponsor-without-name", "leaves the name of the sponsor out").on_result(
        |_, result| set(result, "sponsor", json!({ "icon": "data:image/png;base64,iVBORw0KGgo=" })),
    ),
    in_stubs("sponsor-member.name", "sponsor-name-number", "the name of the sponsor is a number")
        .on_result(|_, result| set(result, "sponsor", json!({ "name": 7 }))),
    in_stubs(ICON, "icon-https", "the icon is an https URL")
        .on_result(|_, result| set_icon(result, "https://paymaster.example/icon.png")),
    in_stubs(ICON, "icon-without-comma", "the data URI of the icon has no comma")
        .on_result(|_, result| set_icon(result, "data:image/png;base64")),
    in_stubs(ICON, "icon-not-escaped", "the icon is a data URI with an SVG that is not escaped")
        .on_result(|_, result| set_icon(result, "data:image/svg+xml;utf8,<svg/>")),
    in_stubs(ICON, "icon-broken-base64", "the data URI of the icon has no base64")
        .on_result(|_, result| set_icon(result, "data:image/png;base64,iVBO*w")),
    changed(IS_FINAL, "is-final-text", "isFinal is a string")
        .on_result(|_, result| replace(result, "isFinal", "true")),
    changed(IS_FINAL, "is-final-number", "isFinal is 1").on_result(|_, result| replace(result, "isFinal", 1)),
    in_stubs(LENGTH, "stub-without-signature", "the stub has no signature")
        .on_result(|_, result| change_signature(result, |_| String::new())),
    changed(LENGTH, "data-signature-compact", "the data have a signature of 64 bytes, the stub one of 65")
        .on_result(|_, result| change_data(result, with_compact_signature))
        .when(|view| view.is_data()),
    changed(LENGTH, "stub-of-new-account-short", "the stub of an account that is created is shorter")
        .on_result(|_, result| change_data(result, |digits| digits[..digits.len() - 2].to_owned()))
        .when(|view| view.is_stub() && creates_account(view)),
    changed(LENGTH, "stub-of-large-call-long", "the stub is longer where callData has more than 2,048 bytes")
        .on_result(|_, result| change_data(result, |digits| format!("{digits}{}", "5e".repeat(32))))
        .when(|view| view.is_stub() && view.byte_count("callData") > 2_048),
    changed(LENGTH, "stub-of-zero-limits-short", "the stub has no signature where the gas limits are 0x0")
        .on_result(|_, result| change_signature(result, |_| String::new()))
        .when(|view| view.is_stub() && zero_limits(view) == 3),
    changed(LENGTH, "data-with-own-limit-long", "data are longer where a gas limit is not that of the stub")
        .on_result(|_, result| change_data(result, |digits| format!("{digits}{}", "5e".repeat(16))))
        .when(|view| {
            let limit = view.text("paymasterVerificationGasLimit");
            view.is_data() && !matches!(limit, "" | "0x" | "0x0" | "0x186a0")
        })
        .also(&["data.signature", "data.signature-of-limits"]),
    changed(LENGTH, "data-behind-stub-data", "signs data behind those of the stub that the request repeats")
        .on_result(|_, result| change_data(result, |digits| format!("{digits}{}", "5e".repeat(65))))
        .when(|view| {
            let repeats = |member| view.text(member).len() > "0x".len();
            view.is_data() && (repeats("paymasterData") || repeats("paymasterAndData"))
        })
        .also(&["data.signature"]),
    changed(LENGTH, "data-with-delegate", "data name the delegate of an EIP-7702 account, and stubs do not")
        .on_result(|_, result| change_data(result, |digits| format!("{digits}{}", "5e".repeat(20))))
        .when(|view| view.is_data() && !view.lacks("eip7702Auth"))
        .also(&["data.signature"]),
    changed(POST_OP_07, "post-op-gas-missing-with-policy", "no postOp limit for new accounts with a policy")
        .on_result(|_, result| remove(result, POST_OP))
        .when(|view| view.is_stub() && creates_account(view) && view.context().get("policyId").is_some())
        .also(&["stub.post-op-gas-08"]),
    changed(LENGTH, "stub-without-context-short", "the stub is shorter when the context is null")
        .on_result(|_, result| change_data(result, |digits| digits[..digits.len() - 2].to_owned()))
        .when(|view| view.is_stub() && view.context().is_null()),
    changed(LENGTH, "stub-of-signed-long", "the stub is longer where the operation has a signature")
        .on_result(|_, result| change_data(result, |digits| format!("{digits}{}", "5e".repeat(65))))
        .when(|view| view.is_stub() && !view.lacks("signature")),
    changed(LENGTH, "data-with-reference", "data have 32 bytes more where the context has members")
        .on_result(|_, result| change_data(result, |digits| format!("{digits}{}", "5e".repeat(32))))
        .when(|view| view.is_data() && view.context().as_object().is_some_and(|members| !members.is_empty())),
    changed(LENGTH, "data-of-lower-case-long", "data are longer where the EntryPoint is in lower case")
        .on_result(|_, result| change_data(result, |digits| format!("{digits}5e")))
        .when(|view| view.is_data() && is_in_lower_case(view))
        .also(&["data.signature", "entry-point.letter-case"]),
    fault(ZEROS, "cost-of-zero-limits-zero", "eight bytes of the stub are zero for limits of 0x0")
        .when(|view| view.is_stub() && zero_limits(view) == 3),
    fault(ZEROS, "stub-of-zero-fees-zeros", "eight bytes of the stub are zero where a fee is 0x0")
        .when(|view| view.is_stub() && view.text("maxFeePerGas") == "0x0"),
    fault(
        ZEROS,
        "stub-of-lower-case-zeros",
        "eight bytes of the stub are zero for an EntryPoint in lower case",
    )
    .when(|view| view.is_stub() && is_in_lower_case(view)),
    fault(ZEROS, "stub-of-signed-zeros", "eight bytes of the stub are zero where the operation is signed")
        .when(|view| view.is_stub() && !view.lacks("signature")),
    fault(ZEROS, "stub-without-context-zeros", "eight bytes of the stub are zero where there is no context")
        .when(|view| view.is_stub() && view.context().is_null()),
    fault(ZEROS, "stub-of-first-nonce-zeros", "eight bytes of the stub are zero where the nonce is 0x0")
        .when(|view| view.is_stub() && view.text("nonce") == "0x0"),
    fault(ZEROS, "stub-of-new-account-zeros", "eight bytes of the stub of a new account are zero")
        .when(|view| view.is_stub() && creates_account(view)),
    in_stubs(ZERO_BYTES, "stub-signature-zero", "the signature of the stub has zeros only")
        .on_result(|_, result| change_signature(result, |_| "00".repeat(65))),
    in_stubs(ZERO_BYTES, "stub-window-zero", "the window of the stub is zeros, and its signature has some")
        .on_result(|_, result| {
            change_data(result, |digits| {
                let window = digits.len() - SIGNATURE_DIGITS;
                format!("{}00000000{}", "00".repeat(window / 2), &digits[window + 8..])
            });
        }),
];

fn set_icon(result: &mut Map<String, Value>, icon: &str) {
    set(result, "sponsor", json!({ "name": "Paymaster", "icon": icon }));
}

/// Changes the signature at the end of the data, in hex digits.
fn change_signature(result: &mut Map<String, Value>, change: impl Fn(&str) -> String) {
    change_data(result, |digits| {
        let (terms, signature) = digits.split_at(digits.len() - SIGNATURE_DIGITS);
        format!("{terms}{}", change(signature))
    });
}

const ZERO_ADDRESS: &str = "0x0000000000000000000000000000000000000000";

fn is_eip_712(view: &RequestView<'_>) -> bool {
    matches!(view.entry_point(), Some(EntryPoint::V08 | EntryPoint::V09))
}

/// The members of 0.7 in a result of 0.6.
fn later_members(result: &mut Map<String, Value>) {
    let all = text_of(&result["paymasterAndData"]);
    remove(result, "paymasterAndData");
    set(result, "paymaster", &all[..42]);
    set(result, "paymasterData", format!("0x{}", &all[42..]));
}

/// The member of 0.6 in a result of 0.7 and later.
fn older_members(result: &mut Map<String, Value>) {
    let [paymaster, data] = ["paymaster", "paymasterData"].map(|member| text_of(&result[member]));
    for member in ["paymaster", "paymasterData", "paymasterVerificationGasLimit", POST_OP] {
        remove(result, member);
    }
    set(result, "paymasterAndData", format!("{paymaster}{}", &data[2..]));
}
