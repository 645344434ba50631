//! The rows of the result tables (sections 2.6 to 2.9): one rule for each row. Each checks the member against the schema of the
//! row.
//!
//! The clause of a row has the id `DOCUMENT.MEMBER`. The schema document defines the member; a rule here adds the text for
//! people.

use crate::call::CallParts;
use crate::rules::requests::decision::SPONSORED;
use crate::target::Context;
use crate::{lines, relations as related};
use paymaster_engine::cases::Relation;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{Advice, Check, MissingLine, Report, Rule, View, shown_member};
use paymaster_schemas::{Kind, Mode, kinds, member_validator};
use serde_json::Value;

/// The rules of one table. Each row has the name of its member, and the expected value for people.
macro_rules! rows {
    ($document:literal, $table:expr; $($member:literal: $expected:literal,)+) => {
        &[$(Rule {
            id: concat!($document, ".", $member),
            clause: concat!($document, ".", $member),
            hint: concat!("send ", $expected),
            check: Check::Row { document: $document, member: $member, expected: $expected },
            ..$table
        }),+]
    };
}

/// What the rules of a table have in common.
const fn table(
    missing: &'static MissingLine,
    relations: &'static [&'static Relation],
    pairs: &'static [Kind],
) -> Rule {
    // `rows!` replaces the id, the hint and the check.
    let check = Check::Row { document: "", member: "", expected: "" };
    Rule::new("", 10, Advice::Write(missing), check).exercised_by(relations, pairs)
}

pub(crate) const SPONSORED_RESULT: &[Rule] = rows! {
    "sponsored-result",
    table(
        &lines::SPONSORABLE,
        const { &[&related::CALLS, &related::REFUSED_CALLS, &related::CALCULATE_GAS_LIMITS] },
        SPONSORED,
    );
    "MODE": "\"SPONSORED\"",
    "paymasterAndData": "a hex string of whole bytes after 0x",
    "preVerificationGas": "a string of decimal digits",
    "verificationGasLimit": "a number of gas units",
    "callGasLimit": "a number of gas units",
};

pub(crate) const QUOTE_RESULT: &[Rule] = rows! {
    "quote-result",
    table(
        &lines::SPONSORABLE,
        const { &[&related::CALLS, &related::UNSUPPORTED_IN_QUOTE, &related::TOKEN_QUOTE_ROW] },
        &[kinds::QUOTE_ERC20],
    );
    "MODE": "\"ERC20\"",
    "paymasterAddress": "an address: 0x and 40 hex digits",
    "feeQuotes": "an array of fee quote objects",
    "unsupportedTokens": "an array of addresses",
};

/// The relations that exercise the rows of a fee quote.
pub(super) const ROWS_OF_QUOTES: &[&Relation] =
    &[&related::CALLS, &related::AMOUNTS, &related::UNSUPPORTED_IN_QUOTE];

pub(crate) const FEE_QUOTE: &[Rule] = rows! {
    "fee-quote",
    lines::in_token_mode(table(&lines::SUPPORTED_TOKENS, ROWS_OF_QUOTES, &[kinds::QUOTE_ERC20]));
    "symbol": "the token's symbol, a string",
    "decimal": "the token's number of decimals, an integer",
    "tokenAddress": "an address: 0x and 40 hex digits",
    "maxGasFee": "a number of token units, 0 or more",
    "maxGasFeeUSD": "a number of US dollars, 0 or more",
    "exchangeRate": "an integer-valued number",
    "premiumPercentage": "a string of digits",
    "validUntil": "an integer timestamp",
    "logoUrl": "a URL",
};

pub(crate) const TOKEN_SPONSOR_RESULT: &[Rule] = rows! {
    "token-sponsor-result",
    lines::in_token_mode(table(
        &lines::SUPPORTED_TOKENS,
        const { &[&related::CALLS, &related::GAS_FIELDS] },
        &[kinds::SPONSOR_ERC20],
    ));
    "MODE": "\"ERC20\"",
    "paymasterAndData": "a hex string of whole bytes after 0x, one or more",
    "preVerificationGas": "an amount of gas, a string",
    "verificationGasLimit": "a number of gas units",
    "callGasLimit": "a number of gas units",
};

/// The only member of the tables that a result may leave out (section 2.7).
const OPTIONAL: &str = "unsupportedTokens";

/// Judges one row of the result of a call.
pub(crate) fn check(
    [document, member, expected]: [&str; 3],
    view: &View<'_>,
    knowledge: &dyn Knowledge,
    report: &mut Report,
) {
    let context = Context::of(knowledge);
    // Judged only for valid requests: the answer to malformed ones is not shown, and a result may repeat their values.
    let Some(call) = view.valid_call() else { return };
    let Some(result) = view.answer.result().filter(|result| result.is_object()) else { return };
    let of_quotes = document == "fee-quote";
    let table = if of_quotes { "quote-result" } else { document };
    if call.pair.result_document != table {
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
    if member == "MODE"
        && Mode::of(call.pair) == Mode::Sponsored
        && actual.is_some()
        && names.contains(&actual)
    {
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
        for rule in [SPONSORED_RESULT, QUOTE_RESULT, FEE_QUOTE, TOKEN_SPONSOR_RESULT].into_iter().flatten() {
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
