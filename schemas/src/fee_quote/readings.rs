//! The readings: every point where the specification disagrees with itself or is silent and requests or rules depend on it.

use crate::Reading;

macro_rules! readings {
    ($($section:literal $id:literal $question:literal $alternatives:expr, $why:literal;)*) => {
        &[$(Reading { id: $id, section: $section, question: $question, alternatives: &$alternatives, why: $why }),*]
    };
}

pub(super) const READINGS: &[Reading] = readings! {
    "2.1" "jsonrpc-version" "Which value does a request have in `jsonrpc`?"
        ["2.0", "2.0.0"], "every sample and every published client sends it, and JSON-RPC 2.0 requires it; only the field table has 2.0.0";
    "2.3" "sponsored-name" "Which name does a request use for the sponsored mode?"
        ["SPONSORED", "SPONSORSHIP"], "every sample request and the result tables use it; only the parameter tables have SPONSORSHIP";
    "2.5" "fee-token-member" "Which member of `tokenInfo` names the fee token?"
        ["feeTokenAddress", "tokenAddress"], "the field tables and every published client use it; only the text of section 2.5 has tokenAddress";
    "2.6" "mode-member" "Which member of a result holds the mode?"
        ["MODE", "mode"], "all result tables and rules have MODE; a result with mode alone breaks the rule about MODE, unless the profile pins mode";
    "2.2" "amount-notation" "In which notation does a request write the nonce, gas limits and fees?"
        ["decimal", "hex", "mixed"], "section 2.2 shows no notation; discovery tries the others (mixed is what one published client sends: nonce and fees in hex, gas limits in decimal)";
    "2.5" "quoted-tokens" "Which supported tokens are quoted when `preferredToken` and `tokenList` are both present?"
        ["union", "list", "preferred"], "the request names both, so both are quoted: the tokens of the list and the preferred token; older documents of the vendor quote only the preferred token";
    "2.8" "valid-until-unit" "What is the unit of `validUntil`?"
        ["seconds", "milliseconds"], "the vendor's sample value is in seconds; another page of the vendor has milliseconds";
    "4.2" "sponsored-fields" "Which members must the operation of a sponsored-mode request have?"
        ["sender, nonce, callData and the two fees", "all nine"], "published clients omit initCode and the gas limits in sponsored mode";
};
