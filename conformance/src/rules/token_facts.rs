//! Section 2.8: symbol and decimals of a quote are those of its token, where the profile tells them.

use paymaster_schemas::Pair;
use serde_json::Value;

use super::{Check, Report, Rule, View, shown_member};
use crate::{context::Context, json::number::Exact, profile::Token};

const ADVICE: &str = "name supported tokens that the target quotes in the profile, with symbol and decimals";

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "fee-quote.symbol-of-token",
        clause: "fee-quote.symbol",
        quota: 5,
        advice: ADVICE,
        hint: "the symbol belongs to another token: look at how quotes are joined to tokens",
        not_applicable: no_symbols,
        check: Check::Exchange(symbol),
    },
    Rule {
        id: "fee-quote.decimal-of-token",
        clause: "fee-quote.decimal",
        quota: 5,
        advice: ADVICE,
        hint: "the number of decimals belongs to another token, or is a default: clients compute the approval from it",
        not_applicable: no_decimals,
        check: Check::Exchange(decimal),
    },
];

fn no_symbols(context: &Context) -> Option<&'static str> {
    let known = context
        .profile
        .tokens
        .supported
        .iter()
        .any(|token| token.symbol.is_some());
    (!known).then_some("the profile gives no symbol for any token")
}

fn no_decimals(context: &Context) -> Option<&'static str> {
    let known = context
        .profile
        .tokens
        .supported
        .iter()
        .any(|token| token.decimals.is_some());
    (!known).then_some("the profile gives no decimals for any token")
}

fn symbol(view: &View<'_>, context: &Context, report: &mut Report) {
    known_quotes(view, context, |index, quote, token| {
        if let (Some(known), Some(told)) = (&token.symbol, quote["symbol"].as_str()) {
            report.expect(
                told == known,
                format_args!("/result/feeQuotes/{index}/symbol"),
                format_args!("\"{known}\", as the profile says of {}", token.address),
                || shown_member(quote.get("symbol")),
            );
        }
    });
}

fn decimal(view: &View<'_>, context: &Context, report: &mut Report) {
    known_quotes(view, context, |index, quote, token| {
        if let (Some(known), Some(told)) = (token.decimals, quote["decimal"].as_number()) {
            let holds = Exact::parse(&told.to_string()) == Exact::parse(&known.to_string());
            report.expect(
                holds,
                format_args!("/result/feeQuotes/{index}/decimal"),
                format_args!("{known}, as the profile says of {}", token.address),
                || told.to_string(),
            );
        }
    });
}

fn known_quotes(view: &View<'_>, context: &Context, mut judge: impl FnMut(usize, &Value, &Token)) {
    if view
        .valid_call()
        .is_none_or(|call| call.pair != Pair::QUOTE_ERC20)
    {
        return;
    }
    let Some(quotes) = view
        .answer
        .result()
        .and_then(|result| result["feeQuotes"].as_array())
    else {
        return;
    };
    for (index, quote) in quotes.iter().enumerate() {
        let Some(address) = quote["tokenAddress"].as_str() else {
            continue;
        };
        let mut known = context.profile.tokens.supported.iter();
        if let Some(token) = known.find(|token| token.address.eq_ignore_ascii_case(address)) {
            judge(index, quote, token);
        }
    }
}
