//! The sections of the specification.

use crate::{Section, sections::sections};

/// Every section, in the order of the specification.
pub(super) const SECTIONS: &[Section] = sections! {
    "1" "The service"
        "A paymaster pays the gas of ERC-4337 user operations. One URL serves two methods, `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation`, and two modes: in `SPONSORED` mode a sponsor pays, in `ERC20` mode the user pays with a token. Every request selects its mode. Every message is JSON-RPC over HTTP POST.";
    "2.1" "Request envelope" "The outer object of every request.";
    "2.2" "Partial user operation"
        "The first element of `params`: the operation to pay for. `signature` and `paymasterAndData` do not belong to it. The specification gives the amounts the type string (`nonce`: uint256) without a notation; the schema accepts decimal strings, hex quantities and JSON integers.";
    "2.3" "Mode object"
        "The second element of `params`: it selects the mode and holds the settings of that mode.";
    "2.4" "Sponsorship info"
        "The settings of sponsored mode. The specification names two smart account implementations by placeholders only, so the profile of a target names them, or discovery tries known ones.";
    "2.5" "Token info"
        "The settings of token mode. `preferredToken` and `tokenList` belong to quote requests, the fee token belongs to sponsor requests.";
    "2.6" "Sponsored result" "The `result` of both methods in `SPONSORED` mode.";
    "2.7" "Token-mode quote" "The `result` of `pm_getFeeQuoteOrData` in `ERC20` mode.";
    "2.8" "Fee quote" "One element of `feeQuotes`: the price of the operation in one token.";
    "2.9" "Token-mode sponsorship" "The `result` of `pm_sponsorUserOperation` in `ERC20` mode.";
    "2.10" "Answer envelope" "The outer object of every answer.";
    "3" "States" "The specification describes no states.";
    "4" "The endpoint" "There is one URL. The member `method` of the body selects the method.";
    "4.1" "Asking for a quote"
        "`pm_getFeeQuoteOrData` returns the data for a sponsored operation, or the prices of an operation in tokens.";
    "4.2" "Asking for sponsorship"
        "`pm_sponsorUserOperation` returns the `paymasterAndData` for an operation. In sponsored mode the service first decides whether it sponsors the operation; with `0x` as the answer, the user pays the gas.";
    "5" "Authentication"
        "The operator of a paymaster hands its URL to the client. The specification describes nothing else.";
    "6" "Events"
        "A request can have `webhookData`. The specification does not describe its use, and no events.";
    "7" "Errors"
        "Errors have the form that JSON-RPC defines. The specification names two errors, both of token-mode sponsor requests: no token address, and an unsupported token. It shows no error codes and no messages.";
    "8" "Limits" "The specification states no limits.";
    "9" "Versioning"
        "`jsonrpc` has the version of JSON-RPC, `smartAccountInfo.version` that of the account. The interface has no version.";
};
