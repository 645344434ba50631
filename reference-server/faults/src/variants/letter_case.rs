//! Variants of what a server does with addresses in capital letters, which are not the letters of the checksum of EIP-55.

use alloy_primitives::Address;
use paymaster_schemas::kinds;

use super::{Variant, variant};
use crate::injection::{RequestView, list_as_unsupported, refuse, result, text_of};

pub(super) const VARIANTS: &[Variant] = &[
    variant("strict-checksums", "refuses addresses that are neither in lower case nor as EIP-55 writes them")
        .refuses(|view| addresses(view).iter().any(|address| !is_strict(address))),
    variant("strict-token-checksums", "refuses tokens neither in lower case nor as EIP-55 writes them")
        .refuses(|view| addresses(view).iter().skip(1).any(|address| !is_strict(address))),
    variant("tokens-in-capitals-unsupported", "supports no token but in lower case and as EIP-55 writes it")
        .on_answer(|view, answer| {
            let tokens = addresses(view).split_off(1);
            let is_unknown = |token: &&str| !is_strict(token) && view.supports(token);
            let unknown: Vec<&str> = tokens.iter().map(String::as_str).filter(is_unknown).collect();
            if view.is(kinds::SPONSOR_ERC20) && !unknown.is_empty() {
                refuse(answer, -32001, "the token is not supported");
            } else if let Some(result) = result(answer) {
                list_as_unsupported(result, &unknown);
            }
        })
        .when(|view| view.is_token_mode()),
];

/// The sender, and the tokens of a call.
fn addresses(view: &RequestView<'_>) -> Vec<String> {
    let tokens = view.named_tokens().chain(view.fee_token());
    let sender = text_of(&view.operation()["sender"]);
    std::iter::once(sender).chain(tokens.map(str::to_owned)).collect()
}

/// Whether a strict parser takes the letter case of an address. What is no address is left to the service.
fn is_strict(text: &str) -> bool {
    let Some(address) = text.strip_prefix("0x").and_then(|digits| digits.parse::<Address>().ok()) else {
        return true;
    };
    text == format!("{address:#x}") || text == address.to_checksum(None)
}
