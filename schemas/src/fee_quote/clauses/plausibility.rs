//! The clauses about the plain sense of answers: what is lawful in form and senseless in content. A broken one is a warning.

use super::{Clause, clauses};

pub(super) const CLAUSES: &[Clause] = clauses! {
    Plausibility "2.7" "plausibility.paymaster-address"
        "`paymasterAddress` is not the zero address, and every quote has the same one.";
    Plausibility "2.8" "plausibility.token-price"
        "`maxGasFeeUSD` divided by `maxGasFee`, the price of the token, stays within two orders of magnitude. For stable tokens it is near a dollar.";
    Plausibility "2.8" "plausibility.exchange-rate"
        "`exchangeRate` is above 0.";
    Plausibility "2.7" "plausibility.one-quote-a-token"
        "`feeQuotes` has at most one quote for each token.";
    Plausibility "2.8" "plausibility.valid-until"
        "`validUntil` is not 0.";
    Plausibility "2.8" "plausibility.symbol"
        "`symbol` is not empty.";
    Plausibility "2.8" "plausibility.logo-url"
        "`logoUrl` is an absolute URL, and not of a scheme that a browser runs.";
    Plausibility "2.6" "plausibility.gas"
        "The gas limits of a result that sponsors the operation are above 0.";
    Plausibility "2.9" "plausibility.pre-verification-gas"
        "`preVerificationGas` of a token-mode result is a string of decimal digits or a hex quantity.";
    Plausibility "2.9" "plausibility.token-data"
        "`paymasterAndData` of a token-mode result begins with the `paymasterAddress` of quotes.";
    Plausibility "2.9" "plausibility.token-data-differs"
        "`paymasterAndData` of token-mode results differs between operations. Data that is too short for a signature may be the same.";
    Plausibility "2.8" "plausibility.fee-of-operation"
        "`maxGasFee` follows the fees of the operation where it differs between accounts.";
    Plausibility "2.6" "plausibility.sponsored-data"
        "`paymasterAndData` of SPONSORED mode does not begin with the `paymasterAddress` of quotes for new accounts, where it does not for others.";
    Plausibility "4.2" "plausibility.data-of-operation"
        "`paymasterAndData` differs between two operations of one account and nonce where it differs between accounts. Data that is too short for a signature may be the same.";
    Plausibility "4.2" "plausibility.token-data-of-token"
        "`paymasterAndData` of token-mode results differs between two tokens that pay for the same operation. Data that is too short for a signature may be the same.";
};
