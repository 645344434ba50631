//! What a load test sends.

use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::load::{FROM_ANSWER, Handover, LoadTest, Requests, Scenario, ValueForm};
use paymaster_schemas::kinds;
use serde_json::{Value, json};

use crate::relations::{ABSENT_FEE_TOKEN, MALFORMED_PARAMS, UNSUPPORTED_FEE_TOKEN};
use crate::target::Context;

pub(crate) static LOAD_TEST: LoadTest = LoadTest {
    scenarios: &[
        Scenario::of_calls(
            &["quote-sponsored"],
            "pm_getFeeQuoteOrData in sponsored mode",
            kinds::QUOTE_SPONSORED,
        ),
        Scenario::of_calls(&["quote-erc20"], "pm_getFeeQuoteOrData in token mode", kinds::QUOTE_ERC20),
        Scenario::of_calls(
            &["sponsor-sponsored"],
            "pm_sponsorUserOperation in sponsored mode",
            kinds::SPONSOR_SPONSORED,
        ),
        Scenario::of_calls(&["sponsor-erc20"], "pm_sponsorUserOperation in token mode", kinds::SPONSOR_ERC20),
        Scenario {
            id: "journey",
            about: "what a wallet does: quote in token mode, then sponsor in a token of that quote",
            weight: 3,
            labels: &["journey/quote", "journey/sponsor"],
            requests: Requests::Journey(
                kinds::QUOTE_ERC20,
                kinds::SPONSOR_ERC20,
                Handover { join, taken: quoted_token },
            ),
        },
        Scenario {
            id: "errors",
            about: "requests that must be refused: absent and unsupported tokens, malformed calls",
            weight: 1,
            labels: &["errors"],
            requests: Requests::Refused(&[&ABSENT_FEE_TOKEN, &UNSUPPORTED_FEE_TOKEN, &MALFORMED_PARAMS]),
        },
    ],
    varying: &[
        ("paymasterAndData", ValueForm::Bytes),
        ("preVerificationGas", ValueForm::Amount),
        ("verificationGasLimit", ValueForm::Amount),
        ("callGasLimit", ValueForm::Amount),
        ("maxGasFee", ValueForm::Fraction),
        ("maxGasFeeUSD", ValueForm::Fraction),
        ("exchangeRate", ValueForm::Integer),
        ("validUntil", ValueForm::Integer),
    ],
    rules_of_times: &["quote.valid-until-future", "quote.valid-until-unit"],
};

/// Gives the sponsor request the operation of the quote request, to be paid in a token of the quote.
fn join(known: &dyn Knowledge, quote: &Value, sponsor: &mut Value) {
    sponsor["params"][0] = quote["params"][0].clone();
    sponsor["params"][1]["tokenInfo"][&Context::of(known).dialect.fee_token_member] = json!(FROM_ANSWER);
}

/// A token of the quotes, as the answer spells it. Iterations take them in turn.
fn quoted_token(answer: &Value, number: u64) -> Option<Value> {
    let quotes = answer["result"]["feeQuotes"].as_array()?;
    let count = u64::try_from(quotes.len()).ok().filter(|count| *count > 0)?;
    let place = usize::try_from(number % count).ok()?;
    Some(quotes[place]["tokenAddress"].clone()).filter(Value::is_string)
}
