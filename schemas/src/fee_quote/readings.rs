//! The readings: every point where the specification disagrees with itself or is silent and requests or rules depend on it.

use crate::Reading;

pub(super) const READINGS: &[Reading] = &[
    Reading {
        id: "jsonrpc-version",
        section: "2.1",
        question: "Which value does a request have in `jsonrpc`?",
        alternatives: &["2.0", "2.0.0"],
        why: "every sample and every published client sends it, and JSON-RPC 2.0 requires it; only the field table has 2.0.0",
    },
    Reading {
        id: "sponsored-name",
        section: "2.3",
        question: "Which name does a request use for the sponsored mode?",
        alternatives: &["SPONSORED", "SPONSORSHIP"],
        why: "every sample request and the result tables use it; only the parameter tables have SPONSORSHIP",
    },
    Reading {
        id: "fee-token-member",
        section: "2.5",
        question: "Which member of `tokenInfo` names the fee token?",
        alternatives: &["feeTokenAddress", "tokenAddress"],
        why: "the field tables and every published client use it; only the text of section 2.5 has tokenAddress",
    },
    Reading {
        id: "mode-member",
        section: "2.6",
        question: "Which member of a result holds the mode?",
        alternatives: &["MODE", "mode"],
        why: "all result tables and rules have MODE; a result with mode alone breaks the rule about MODE, unless the profile pins mode",
    },
    Reading {
        id: "amount-notation",
        section: "2.2",
        question: "In which notation does a request write the nonce, gas limits and fees?",
        alternatives: &["decimal", "hex", "mixed"],
        why: "section 2.2 shows no notation; discovery tries the others (mixed is what one published client sends: nonce and fees in hex, gas limits in decimal)",
    },
    Reading {
        id: "quoted-tokens",
        section: "2.5",
        question: "Which supported tokens are quoted when `preferredToken` and `tokenList` are both present?",
        alternatives: &["union", "list", "preferred"],
        why: "the request names both, so both are quoted: the tokens of the list and the preferred token; older documents of the vendor quote only the preferred token",
    },
    Reading {
        id: "valid-until-unit",
        section: "2.8",
        question: "What is the unit of `validUntil`?",
        alternatives: &["seconds", "milliseconds"],
        why: "the vendor's sample value is in seconds; another page of the vendor has milliseconds",
    },
    Reading {
        id: "sponsored-fields",
        section: "4.2",
        question: "Which members must the operation of a sponsored-mode request have?",
        alternatives: &["sender, nonce, callData and the two fees", "all nine"],
        why: "published clients omit initCode and the gas limits in sponsored mode",
    },
];
