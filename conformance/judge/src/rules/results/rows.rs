//! The rows of the result tables (sections 2.6 to 2.9): one rule for each row. Each checks the member against the schema of the
//! row.
//!
//! The clause of a row has the id `DOCUMENT.MEMBER`. The schema document defines the member; a rule here adds the text for
//! people.

use paymaster_schemas::{Mode, member_validator};
use serde_json::Value;

use crate::rules::{Advice, Check, MissingLine, Report, Rule, View, always, no_token, shown_member};
use crate::target::context::Context;

const NO_RESULTS: Advice = Advice::Write(MissingLine::Sponsorable);
const NO_TOKEN_RESULTS: Advice = Advice::Write(MissingLine::SupportedTokens);

const fn row(id: &'static str, document: &'static str, member: &'static str, expected: &'static str) -> Rule {
    Rule {
        id,
        clause: id,
        quota: 10,
        advice: NO_RESULTS,
        hint: "compare the member with its row in the table of the section: name, type and form",
        not_applicable: always,
        check: Check::Row { document, member, expected },
    }
}

/// A row of a result that contains tokens.
const fn token_row(
    id: &'static str,
    document: &'static str,
    member: &'static str,
    expected: &'static str,
) -> Rule {
    Rule { advice: NO_TOKEN_RESULTS, not_applicable: no_token, ..row(id, document, member, expected) }
}

pub(in crate::rules) const RULES: &[Rule] = &[
    row("sponsored-result.MODE", "sponsored-result", "MODE", "\"SPONSORED\""),
    row(
        "sponsored-result.paymasterAndData",
        "sponsored-result",
        "paymasterAndData",
        "a hex string of whole bytes after 0x",
    ),
    row(
        "sponsored-result.preVerificationGas",
        "sponsored-result",
        "preVerificationGas",
        "a string of decimal digits",
    ),
    row(
        "sponsored-result.verificationGasLimit",
        "sponsored-result",
        "verificationGasLimit",
        "a number of gas units",
    ),
    row("sponsored-result.callGasLimit", "sponsored-result", "callGasLimit", "a number of gas units"),
    row("quote-result.MODE", "quote-result", "MODE", "\"ERC20\""),
    row(
        "quote-result.paymasterAddress",
        "quote-result",
        "paymasterAddress",
        "an address: 0x and 40 hex digits",
    ),
    row("quote-result.feeQuotes", "quote-result", "feeQuotes", "an array of fee quote objects"),
    row("quote-result.unsupportedTokens", "quote-result", "unsupportedTokens", "an array of addresses"),
    token_row("fee-quote.symbol", "fee-quote", "symbol", "the token's symbol, a string"),
    token_row("fee-quote.decimal", "fee-quote", "decimal", "the token's number of decimals, an integer"),
    token_row("fee-quote.tokenAddress", "fee-quote", "tokenAddress", "an address: 0x and 40 hex digits"),
    token_row("fee-quote.maxGasFee", "fee-quote", "maxGasFee", "a number of token units"),
    token_row("fee-quote.maxGasFeeUSD", "fee-quote", "maxGasFeeUSD", "a number of US dollars"),
    token_row("fee-quote.exchangeRate", "fee-quote", "exchangeRate", "an integer-valued number"),
    token_row("fee-quote.premiumPercentage", "fee-quote", "premiumPercentage", "a string of digits"),
    token_row("fee-quote.validUntil", "fee-quote", "validUntil", "an integer timestamp"),
    token_row("fee-quote.logoUrl", "fee-quote", "logoUrl", "a URL"),
    token_row("token-sponsor-result.MODE", "token-sponsor-result", "MODE", "\"ERC20\""),
    token_row(
        "token-sponsor-result.paymasterAndData",
        "token-sponsor-result",
        "paymasterAndData",
        "a hex string of one byte or more after 0x",
    ),
    token_row(
        "token-sponsor-result.preVerificationGas",
        "token-sponsor-result",
        "preVerificationGas",
        "an amount of gas, a string",
    ),
    token_row(
        "token-sponsor-result.verificationGasLimit",
        "token-sponsor-result",
        "verificationGasLimit",
        "a number of gas units",
    ),
    token_row(
        "token-sponsor-result.callGasLimit",
        "token-sponsor-result",
        "callGasLimit",
        "a number of gas units",
    ),
];

/// The only member of the tables that a result may leave out (section 2.7).
const OPTIONAL: &str = "unsupportedTokens";

/// Judges one row of the result of a call.
pub fn check(
    document: &str,
    member: &str,
    expected: &str,
    view: &View<'_>,
    context: &Context,
    report: &mut Report,
) {
    // Judged only for valid requests: the answer to malformed ones is not shown, and a result may repeat their values.
    let Some(call) = view.valid_call() else { return };
    let Some(result) = view.answer.result().filter(|result| result.is_object()) else {
        return;
    };
    let of_quotes = document == "fee-quote";
    let table = if of_quotes { "quote-result" } else { document };
    if call.pair.result_document() != table {
        return;
    }
    let validator = member_validator(document, member);
    let fits = |value: Option<&Value>| {
        value.zip(validator).is_some_and(|(value, validator)| validator.is_valid(value))
    };
    if of_quotes {
        for (index, quote) in result["feeQuotes"].as_array().into_iter().flatten().enumerate() {
            if quote.is_object() {
                let value = quote.get(member);
                let pointer = format_args!("/result/feeQuotes/{index}/{member}");
                report.expect(fits(value), pointer, expected, || shown_member(value));
            }
        }
        return;
    }
    let name = if member == "MODE" { context.dialect.mode_member.as_str() } else { member };
    let value = result.get(name);
    if member == OPTIONAL && value.is_none() {
        return;
    }
    if member == "feeQuotes" {
        return judge_quotes(value, expected, report);
    }
    let actual = value.and_then(Value::as_str);
    let names = [Some(context.dialect.sponsored_name.as_str()), call.mode_object()["mode"].as_str()];
    if member == "MODE" && call.pair.mode == Mode::Sponsored && actual.is_some() && names.contains(&actual) {
        return report.held(); // a target that is asked for SPONSORSHIP may say so
    }
    report.expect(fits(value), format_args!("/result/{name}"), expected, || shown_member(value));
}

/// Judges whether `feeQuotes` is an array of objects. The rows of section 2.8 judge the objects.
fn judge_quotes(value: Option<&Value>, expected: &str, report: &mut Report) {
    const POINTER: &str = "/result/feeQuotes";
    let Some(Value::Array(quotes)) = value else {
        return report.broken(POINTER, expected, shown_member(value));
    };
    match quotes.iter().position(|quote| !quote.is_object()) {
        Some(index) => {
            report.broken(
                format!("{POINTER}/{index}"),
                "a fee quote object",
                shown_member(quotes.get(index)),
            );
        }
        None => report.held(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_member_of_its_schema() {
        for rule in RULES {
            let Check::Row { document, member, .. } = rule.check else { panic!("{} is no row", rule.id) };
            assert_eq!(rule.id, format!("{document}.{member}"));
            assert!(
                member_validator(document, member).is_some(),
                "{}: the schema has no such member",
                rule.id
            );
        }
    }
}
