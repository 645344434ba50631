//! What answers say of the lines of the profile: whether the target keeps them.

use crate::{
    call::{CallParts, quoted_tokens, unsupported_tokens},
    target::context::Context,
};
use paymaster_engine::{knowledge::Expectation, rules::View};
use paymaster_schemas::{Mode, kinds};

const TOKENS: &str = "tokens.supported";
const OPERATIONS: &str = "operations.sponsorable";

/// Takes a list of the profile, a place in it, and whether the target kept that line.
type Note<'a> = &'a mut dyn FnMut(&'static str, usize, bool);

/// Says of each line that an answer is about whether it was kept.
pub(super) fn kept(view: &View<'_>, context: &Context, note: Note<'_>) {
    match view.valid_call().map(|call| call.pair) {
        Some(kinds::QUOTE_ERC20) => quote(view, context, note),
        Some(kinds::SPONSOR_ERC20) => fee_token(view, context, note),
        Some(pair) if Mode::of(pair) == Mode::Sponsored => operation(view, context, note),
        _ => {}
    }
}

/// A token of a quote is kept when it is quoted, and not kept when it is in `unsupportedTokens`.
fn quote(view: &View<'_>, context: &Context, note: Note<'_>) {
    let supported = &context.profile.tokens.supported;
    let (Some(call), Some(result)) = (view.valid_call(), view.answer.result()) else { return };
    if supported.is_empty() {
        return;
    }
    let requested = call.tokens().quoted();
    let (quoted, unsupported) = (quoted_tokens(result), unsupported_tokens(result));
    for (index, token) in supported.iter().enumerate() {
        let address = token.address.to_ascii_lowercase();
        if quoted.contains(&address) {
            note(TOKENS, index, true);
        } else if requested.contains(&address) && unsupported.contains(&address) {
            note(TOKENS, index, false);
        }
    }
}

fn fee_token(view: &View<'_>, context: &Context, note: Note<'_>) {
    let fee = view.valid_call().and_then(|call| call.tokens().fee);
    let Some(fee) = fee else { return };
    let mut supported = context.profile.tokens.supported.iter();
    match supported.position(|token| token.address.eq_ignore_ascii_case(fee)) {
        Some(index) if view.answer.result().is_some() => note(TOKENS, index, true),
        Some(index) if view.expectation.requires_result() && view.answer.error().is_some() => {
            note(TOKENS, index, false);
        }
        _ => {}
    }
}

fn operation(view: &View<'_>, context: &Context, note: Note<'_>) {
    if view.expectation != Expectation::Sponsored || context.profile.operations.sponsorable.is_empty() {
        return;
    }
    let operation = view.valid_call().and_then(|call| context.sponsorable_index(call.operation()));
    let Some(index) = operation else { return };
    if let Some(result) = view.answer.result() {
        if let Some(data) = result["paymasterAndData"].as_str() {
            note(OPERATIONS, index, data != "0x");
        }
    } else if view.answer.error().is_some() {
        note(OPERATIONS, index, false);
    }
}
