//! The clauses of the result tables (sections 2.6 to 2.9): each member is present and has its type and form.

use super::{Clause, clauses};

pub(super) const CLAUSES: &[Clause] = clauses! {
    Stated "2.6" "sponsored-result.MODE"
        "A sponsored result has `MODE`, exactly `SPONSORED`.";
    Stated "2.6" "sponsored-result.paymasterAndData"
        "A sponsored result has `paymasterAndData`, a hex string of whole bytes that starts with 0x.";
    Stated "2.6" "sponsored-result.preVerificationGas"
        "A sponsored result has `preVerificationGas`, a string of decimal digits.";
    Stated "2.6" "sponsored-result.verificationGasLimit"
        "A sponsored result has `verificationGasLimit`, a number of gas units.";
    Stated "2.6" "sponsored-result.callGasLimit"
        "A sponsored result has `callGasLimit`, a number of gas units.";
    Stated "2.7" "quote-result.MODE"
        "A token-mode quote has `MODE`, exactly `ERC20`.";
    Stated "2.7" "quote-result.paymasterAddress"
        "A token-mode quote has `paymasterAddress`, the address of the token paymaster.";
    Stated "2.7" "quote-result.feeQuotes"
        "A token-mode quote has `feeQuotes`, an array of fee quote objects.";
    Stated "2.7" "quote-result.unsupportedTokens"
        "If a token-mode quote has `unsupportedTokens`, it is an array of token addresses.";
    Stated "2.8" "fee-quote.symbol"
        "Each fee quote has `symbol`, the token's symbol as a string.";
    Stated "2.8" "fee-quote.decimal"
        "Each fee quote has `decimal`, the token's number of decimals.";
    Stated "2.8" "fee-quote.tokenAddress"
        "Each fee quote has `tokenAddress`, the token's address.";
    Stated "2.8" "fee-quote.maxGasFee"
        "Each fee quote has `maxGasFee`, a number of token units that may have a fraction.";
    Stated "2.8" "fee-quote.maxGasFeeUSD"
        "Each fee quote has `maxGasFeeUSD`, a number of US dollars that may have a fraction.";
    Stated "2.8" "fee-quote.exchangeRate"
        "Each fee quote has `exchangeRate`, an integer-valued number of any size.";
    Stated "2.8" "fee-quote.premiumPercentage"
        "Each fee quote has `premiumPercentage`, a percentage written as digits in a string.";
    Stated "2.8" "fee-quote.validUntil"
        "Each fee quote has `validUntil`, an integer timestamp.";
    Stated "2.8" "fee-quote.logoUrl"
        "Each fee quote has `logoUrl`, a string: the URL of an image.";
    Stated "2.8" "quote.valid-until-future"
        "`validUntil` does not lie in the past, whatever its unit. Allowed are one minute and the time of the exchange before the `Date` of the answer, or five minutes of clock skew without a `Date`. 0 is another clause.";
    Stated "2.8" "quote.valid-until-unit"
        "`validUntil` has one unit in all quotes of a service. 0 and times far from now prove no unit.";
    Stated "2.9" "token-sponsor-result.MODE"
        "A token-mode sponsor result has `MODE`, exactly `ERC20`.";
    Stated "2.9" "token-sponsor-result.paymasterAndData"
        "A token-mode sponsor result has `paymasterAndData`, a hex string of whole bytes.";
    Stated "2.9" "token-sponsor-result.preVerificationGas"
        "A token-mode sponsor result has `preVerificationGas`, an amount of gas as a string.";
    Stated "2.9" "token-sponsor-result.verificationGasLimit"
        "A token-mode sponsor result has `verificationGasLimit`, a number of gas units.";
    Stated "2.9" "token-sponsor-result.callGasLimit"
        "A token-mode sponsor result has `callGasLimit`, a number of gas units.";
};
