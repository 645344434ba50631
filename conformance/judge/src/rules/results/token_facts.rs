//! Section 2.8: symbol and decimals of a quote are those of its token: as in the profile, or else as in the target's first quote
//! for the token.

use paymaster_schemas::Pair;
use serde_json::Value;

use crate::rules::{Advice, Check, MissingLine, Report, Rule, View, shown_member};
use crate::{
    json::number::Exact,
    target::{context::Context, profile::Token},
};

/// Where the expected value comes from.
const BY_PROFILE: &str = "as in the profile for";
const BY_TARGET: &str = "as in the target's first quote for";

const ADVICE: Advice = Advice::Write(MissingLine::SupportedTokens);

pub(in crate::rules) const RULES: &[Rule] = &[
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
    let known = tokens(context).any(|token| token.symbol.is_some());
    (!known).then_some("the profile gives no symbol for any token, and the target quoted none in discovery")
}

fn no_decimals(context: &Context) -> Option<&'static str> {
    let known = tokens(context).any(|token| token.decimals.is_some());
    (!known).then_some("the profile gives no decimals for any token, and the target quoted none in discovery")
}

fn tokens(context: &Context) -> impl Iterator<Item = &Token> {
    context.profile.tokens.supported.iter().chain(context.facts.all())
}

/// A known fact of a token, and where it comes from.
fn known<'a, T>(
    context: &'a Context,
    address: &str,
    fact: fn(&'a Token) -> Option<T>,
) -> Option<(T, &'static str)> {
    let mut named = context.profile.tokens.supported.iter();
    let named = named.find(|token| token.address.eq_ignore_ascii_case(address));
    let by_profile = named.and_then(fact).map(|fact| (fact, BY_PROFILE));
    let by_target = || Some((fact(context.facts.of(address)?)?, BY_TARGET));
    by_profile.or_else(by_target)
}

fn symbol(view: &View<'_>, context: &Context, report: &mut Report) {
    quotes(view, |index, quote, address| {
        if let (Some((known, source)), Some(actual)) =
            (known(context, address, |token| token.symbol.as_deref()), quote["symbol"].as_str())
        {
            report.expect(
                actual == known,
                format_args!("/result/feeQuotes/{index}/symbol"),
                format_args!("\"{known}\", {source} {address}"),
                || shown_member(quote.get("symbol")),
            );
        }
    });
}

fn decimal(view: &View<'_>, context: &Context, report: &mut Report) {
    quotes(view, |index, quote, address| {
        if let (Some((known, source)), Some(actual)) =
            (known(context, address, |token| token.decimals), quote["decimal"].as_number())
        {
            let holds = Exact::parse(&actual.to_string()) == Exact::parse(&known.to_string());
            report.expect(
                holds,
                format_args!("/result/feeQuotes/{index}/decimal"),
                format_args!("{known}, {source} {address}"),
                || actual.to_string(),
            );
        }
    });
}

/// Every quote that names its token.
fn quotes(view: &View<'_>, mut judge: impl FnMut(usize, &Value, &str)) {
    if view.valid_call().is_none_or(|call| call.pair != Pair::QUOTE_ERC20) {
        return;
    }
    let Some(quotes) = view.answer.result().and_then(|result| result["feeQuotes"].as_array()) else {
        return;
    };
    for (index, quote) in quotes.iter().enumerate() {
        if let Some(address) = quote["tokenAddress"].as_str() {
            judge(index, quote, address);
        }
    }
}
