//! The readings: every point where a specification disagrees with itself or is silent and requests or rules depend on it.
//! A reading lists the alternatives. A target may use any alternative; a profile can pin one.

use paymaster_engine::specification::Specification;
use paymaster_settings::SPECIFICATIONS;

/// One open point of the specification, with the alternatives and the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The name; also the key under `[dialect]` in a profile.
    pub(super) id: &'static str,
    /// The section of the specification with the open point.
    pub(super) section: &'static str,
    pub(super) question: &'static str,
    /// Every lawful alternative; the first is the default.
    pub(super) alternatives: &'static [&'static str],
    /// The reason why the first alternative is the default.
    pub(super) why: &'static str,
}

impl Reading {
    /// The alternative that a run uses until discovery or the profile selects another.
    pub(super) const fn default(&self) -> &'static str {
        self.alternatives[0]
    }
}

/// The readings of a specification.
pub(super) fn of(specification: &Specification) -> &'static [Reading] {
    if specification.name == "fee-quote" { FEE_QUOTE } else { &[] }
}

macro_rules! readings {
    ($($section:literal $id:literal $question:literal $alternatives:expr, $why:literal;)*) => {
        &[$(Reading { id: $id, section: $section, question: $question, alternatives: &$alternatives, why: $why }),*]
    };
}

const FEE_QUOTE: &[Reading] = readings! {
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

#[test]
fn every_reading_has_alternatives_and_a_reason() {
    for specification in SPECIFICATIONS {
        let readings = of(specification);
        for (place, reading) in readings.iter().enumerate() {
            assert!(specification.definition.find_section(reading.section).is_some(), "{}", reading.id);
            assert!(reading.alternatives.len() > 1, "{} leaves no choice", reading.id);
            assert!(reading.why.len() > 20, "{} gives no reason", reading.id);
            let before = &readings[..place];
            assert!(before.iter().all(|other| other.id != reading.id), "{} is listed twice", reading.id);
        }
    }
}
