//! Lines of the profile that the target contradicts from its first answer on: a supported token that is never served, a sponsorable
//! operation that is never sponsored. The profile or the target is wrong; the rules cannot tell which.

use std::collections::BTreeMap;

use paymaster_schemas::{Mode, Pair};

use crate::{
    message::answer::{quoted_tokens, unsupported_tokens},
    rules::View,
    target::context::{Context, Expectation},
};

/// A line of the profile that the target never kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The line, as `tokens.supported[1]`.
    pub line: String,
    /// How many answers contradicted it.
    pub times: u64,
}

/// How often the target kept what lines of the profile promise, and how often it did not.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptPromises(BTreeMap<Line, Count>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    SupportedToken(usize),
    SponsorableOperation(usize),
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    kept: u64,
    broken: u64,
}

impl KeptPromises {
    /// Adds an answer.
    pub(crate) fn see(&mut self, view: &View<'_>, context: &Context) {
        match view.valid_call().map(|call| Pair::of(call.pair)) {
            Some(Pair::QUOTE_ERC20) => self.quote(view, context),
            Some(Pair::SPONSOR_ERC20) => self.fee_token(view, context),
            Some(pair) if pair.mode == Mode::Sponsored => self.operation(view, context),
            _ => {}
        }
    }

    /// Adds the counts of another part of the run.
    pub(crate) fn merge(&mut self, other: Self) {
        for (line, count) in other.0 {
            let own = self.0.entry(line).or_default();
            own.kept += count.kept;
            own.broken += count.broken;
        }
    }

    /// The lines that were never kept, in the order of the profile.
    pub(crate) fn contradictions(&self) -> Vec<Contradiction> {
        let never = self.0.iter().filter(|(_, count)| count.kept == 0 && count.broken > 0);
        never
            .map(|(line, count)| Contradiction {
                line: match line {
                    Line::SupportedToken(index) => format!("tokens.supported[{index}]"),
                    Line::SponsorableOperation(index) => format!("operations.sponsorable[{index}]"),
                },
                times: count.broken,
            })
            .collect()
    }

    fn note(&mut self, line: Line, kept: bool) {
        let count = self.0.entry(line).or_default();
        if kept {
            count.kept += 1;
        } else {
            count.broken += 1;
        }
    }

    /// A token of a quote is kept when it is quoted, and not kept when it is in `unsupportedTokens`.
    fn quote(&mut self, view: &View<'_>, context: &Context) {
        let supported = &context.profile.tokens.supported;
        let (Some(call), Some(result)) = (view.valid_call(), view.answer.result()) else {
            return;
        };
        if supported.is_empty() {
            return;
        }
        let requested = call.tokens.quoted();
        let (quoted, unsupported) = (quoted_tokens(result), unsupported_tokens(result));
        for (index, token) in supported.iter().enumerate() {
            let address = token.address.to_ascii_lowercase();
            if quoted.contains(&address) {
                self.note(Line::SupportedToken(index), true);
            } else if requested.contains(&address) && unsupported.contains(&address) {
                self.note(Line::SupportedToken(index), false);
            }
        }
    }

    fn fee_token(&mut self, view: &View<'_>, context: &Context) {
        let fee = view.valid_call().and_then(|call| call.tokens.fee.as_deref());
        let Some(fee) = fee else { return };
        let supported = context.profile.tokens.supported.iter();
        let index = supported
            .enumerate()
            .find(|(_, token)| token.address.eq_ignore_ascii_case(fee))
            .map(|(index, _)| index);
        match index {
            Some(index) if view.answer.result().is_some() => self.note(Line::SupportedToken(index), true),
            Some(index) if view.expectation.requires_result() && view.answer.error().is_some() => {
                self.note(Line::SupportedToken(index), false);
            }
            _ => {}
        }
    }

    fn operation(&mut self, view: &View<'_>, context: &Context) {
        if view.expectation != Expectation::Sponsored || context.profile.operations.sponsorable.is_empty() {
            return;
        }
        let operation = view.valid_call().and_then(|call| context.sponsorable_index(call.operation()));
        let Some(index) = operation else {
            return;
        };
        let line = Line::SponsorableOperation(index);
        if let Some(result) = view.answer.result() {
            if let Some(data) = result["paymasterAndData"].as_str() {
                self.note(line, data != "0x");
            }
        } else if view.answer.error().is_some() {
            self.note(line, false);
        }
    }
}
