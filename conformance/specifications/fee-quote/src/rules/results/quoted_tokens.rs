//! Sections 2.5, 2.7 and 4.1, rule 3: the quoted and the unsupported tokens are those of the request.
//!
//! Addresses are compared as sets, without letter case, order or repetition. The profile, or the target in discovery, shows
//! whether a token is supported; other tokens are not judged.

use crate::call::{CallParts, RequestedTokens};
use crate::lines;
use crate::rules::requests::served::TOKEN_QUOTES;
use crate::target::{Context, QuotedTokens, Support};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Call;
use paymaster_engine::rules::{Advice, ExchangeCheck, MissingLine, Report, Rule, View};
use std::collections::BTreeSet;

use paymaster_schemas::{kinds, member_validator};
use serde_json::Value;

const fn rule(id: &'static str, missing: &'static MissingLine, check: ExchangeCheck) -> Rule {
    Rule::exchange(id, 10, Advice::Write(missing), check).exercised_by(TOKEN_QUOTES, &[kinds::QUOTE_ERC20])
}

pub(crate) const RULES: &[Rule] = &[
    lines::in_token_mode(rule("quote.tokens-quoted", &lines::SUPPORTED_TOKENS, tokens_quoted).hint(
        "quote each supported token of the request, in whatever letter case, and however many there are",
    )),
    lines::in_token_mode(
        rule("quote.only-requested", &lines::SUPPORTED_TOKENS, only_requested)
            .hint("quote the tokens of the request and no others; look at caches"),
    ),
    rule("quote.unsupported-listed", &lines::UNSUPPORTED_TOKENS, unsupported_listed),
    rule("quote.unsupported-only-unsupported", &lines::UNSUPPORTED_TOKENS, unsupported_only_unsupported),
];

/// A readable quote: the call and the tokens of its answer, lower case.
struct Quote<'a> {
    call: &'a Call,
    quoted: Vec<String>,
    unsupported: Vec<String>,
    has_unsupported: bool,
}

/// None for what is no quote, and for one with a token in a spelling that the target may refuse: it may list that token as
/// unsupported instead.
fn read<'a>(view: &'a View<'_>, context: &Context) -> Option<Quote<'a>> {
    let call = view.valid_call().filter(|call| call.pair == kinds::QUOTE_ERC20)?;
    // What keeps to the tables has a spelling that the target takes.
    if !view.within_tables && !context.takes_spelling(call) {
        return None;
    }
    let result = view.answer.result()?;
    let quotes = result.get("feeQuotes")?.as_array()?;
    // The row of tokenAddress reports a quote without a readable address. The set is then not judged.
    let quoted = quotes
        .iter()
        .map(|quote| quote["tokenAddress"].as_str().map(str::to_ascii_lowercase))
        .collect::<Option<Vec<_>>>()?;
    // The rule of its row reports a list that is not a list of addresses.
    let listed = result.get("unsupportedTokens");
    let row = member_validator("quote-result", "unsupportedTokens")?;
    if listed.is_some_and(|listed| !row.is_valid(listed)) {
        return None;
    }
    let unsupported: Vec<String> = listed
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|token| token.as_str().map(str::to_ascii_lowercase))
        .collect();
    Some(Quote { call, quoted, unsupported, has_unsupported: listed.is_some_and(Value::is_array) })
}

/// The tokens that a quote must cover, supported or not, in the reading that the target uses.
pub(crate) fn expected(named: &RequestedTokens, reading: QuotedTokens) -> BTreeSet<String> {
    match (&named.preferred, &named.list) {
        (Some(preferred), Some(list)) if !list.is_empty() => {
            let preferred = BTreeSet::from([preferred.to_ascii_lowercase()]);
            let listed = list.iter().map(|token| token.to_ascii_lowercase()).collect();
            match reading {
                QuotedTokens::Unknown => &preferred & &listed,
                QuotedTokens::Union => named.quoted(),
                QuotedTokens::List => listed,
                QuotedTokens::Preferred => preferred,
            }
        }
        // A target that quotes the listed tokens alone, or may do so, need not quote a token beside an empty list.
        (Some(_), Some(_)) if matches!(reading, QuotedTokens::List | QuotedTokens::Unknown) => {
            BTreeSet::new()
        }
        _ => named.quoted(),
    }
}

fn list<'a>(tokens: impl IntoIterator<Item = &'a String>) -> String {
    let tokens: Vec<_> = tokens.into_iter().map(String::as_str).collect();
    if tokens.is_empty() { "none".to_owned() } else { tokens.join(", ") }
}

/// Every supported token of the request is quoted.
fn tokens_quoted(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let Some(quote) = read(view, context) else { return };
    let read_so = expected(&quote.call.tokens(), context.dialect.quoted_tokens);
    let expected: Vec<_> =
        read_so.iter().filter(|token| context.support(token) == Support::Supported).collect();
    if expected.is_empty() {
        return;
    }
    let missing: Vec<&String> =
        expected.iter().copied().filter(|token| !quote.quoted.contains(token)).collect();
    // A target that quotes only the listed tokens, or only the preferred one, must always do so.
    let requested = quote.call.tokens().quoted();
    let beyond: Vec<_> = requested
        .iter()
        .filter(|token| quote.quoted.contains(token) && !read_so.contains(*token))
        .filter(|_| context.dialect.quoted_tokens != QuotedTokens::Unknown)
        .collect();
    if missing.is_empty() && !beyond.is_empty() {
        return report.broken(
            "/result/feeQuotes",
            format!("no quote for {}: {}", list(beyond), alone(context.dialect.quoted_tokens)),
            format!("quotes for {}", list(&quote.quoted)),
        );
    }
    report.expect(
        missing.is_empty(),
        "/result/feeQuotes",
        format_args!(
            "a quote for each supported token of the request, {} included",
            list(missing.iter().copied())
        ),
        || format!("quotes for {}", list(&quote.quoted)),
    );
}

const fn alone(reading: QuotedTokens) -> &'static str {
    match reading {
        QuotedTokens::Unknown | QuotedTokens::Union => "",
        QuotedTokens::List => "the target quotes the listed tokens alone",
        QuotedTokens::Preferred => "the target quotes the preferred token alone",
    }
}

/// When the request names tokens, only those are quoted. An empty tokenList may request all tokens.
fn only_requested(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let Some(quote) = read(view, context) else { return };
    if quote.call.tokens().list.as_ref().is_none_or(Vec::is_empty) || quote.quoted.is_empty() {
        return;
    }
    let requested = quote.call.tokens().quoted();
    match quote.quoted.iter().position(|token| !requested.contains(token)) {
        None => report.held(),
        Some(index) => report.broken(
            format!("/result/feeQuotes/{index}/tokenAddress"),
            format!("a token of the request: {}", list(&requested)),
            quote.quoted[index].clone(),
        ),
    }
}

/// With preferredToken and tokenList both present, unsupportedTokens lists every requested token that is not supported.
fn unsupported_listed(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let Some(quote) = read(view, context) else { return };
    let named = &quote.call.tokens();
    if named.preferred.is_none() || named.list.as_ref().is_none_or(Vec::is_empty) {
        return;
    }
    let unsupported: Vec<_> = expected(named, unsupported_reading(context))
        .into_iter()
        .filter(|token| context.support(token) == Support::Unsupported)
        .collect();
    if unsupported.is_empty() {
        return;
    }
    let missing: Vec<_> = unsupported.iter().filter(|token| !quote.unsupported.contains(token)).collect();
    report.expect(
        missing.is_empty(),
        "/result/unsupportedTokens",
        format_args!("each unsupported token of the request, {} included", list(missing.iter().copied())),
        || {
            if quote.has_unsupported { list(&quote.unsupported) } else { "no such member".to_owned() }
        },
    );
}

/// Rule 3 covers the tokens of both members, whichever are quoted. Only for a target that quotes the listed tokens alone, or may do
/// so, the preferred token is not a requested token.
fn unsupported_reading(context: &Context) -> QuotedTokens {
    match context.dialect.quoted_tokens {
        QuotedTokens::List | QuotedTokens::Unknown => QuotedTokens::List,
        QuotedTokens::Union | QuotedTokens::Preferred => QuotedTokens::Union,
    }
}

/// unsupportedTokens lists only tokens of the request, and none that the service supports.
fn unsupported_only_unsupported(view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
    let context = Context::of(knowledge);
    let Some(quote) = read(view, context).filter(|quote| quote.has_unsupported) else { return };
    let requested = quote.call.tokens().quoted();
    let wrong = quote.unsupported.iter().position(|token| {
        !requested.contains(token)
            || context.support(token) == Support::Supported
            || quote.quoted.contains(token)
    });
    match wrong {
        None => report.held(),
        Some(index) => {
            let token = &quote.unsupported[index];
            let why = if !requested.contains(token) {
                "which the request does not name"
            } else if quote.quoted.contains(token) {
                "which the same answer quotes"
            } else {
                "which is supported"
            };
            report.broken(
                format!("/result/unsupportedTokens/{index}"),
                "only tokens of the request that are not supported",
                format!("{token}, {why}"),
            );
        }
    }
}
