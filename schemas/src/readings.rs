//! The readings: each place where the specification disagrees with itself or leaves a representation open, decided once,
//! here, with its alternatives. A target may speak any of them; a profile can pin the one it speaks.

/// One open point of the specification, and how we read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its name, which is also the key of `[dialect]` in a profile.
    pub id: &'static str,
    /// The section that leaves it open.
    pub section: &'static str,
    /// The question.
    pub question: &'static str,
    /// Every lawful answer; the first is our default.
    pub alternatives: &'static [&'static str],
    /// Why the first alternative is the default.
    pub why: &'static str,
}

impl Reading {
    /// The alternative we take until the target or the profile says otherwise.
    pub const fn default(&self) -> &'static str {
        self.alternatives[0]
    }
}

/// Every reading.
pub const READINGS: &[Reading] = &[
    Reading {
        id: "jsonrpc-version",
        section: "2.1",
        question: "What does a request put into jsonrpc?",
        alternatives: &["2.0", "2.0.0"],
        why: "every sample and every published client sends it; JSON-RPC 2.0 demands it",
    },
    Reading {
        id: "sponsored-name",
        section: "2.3",
        question: "What does a request put into mode to be sponsored?",
        alternatives: &["SPONSORED", "SPONSORSHIP"],
        why: "every sample request sends it and the result tables name it",
    },
    Reading {
        id: "fee-token-member",
        section: "2.5",
        question: "Which member of tokenInfo names the token that pays?",
        alternatives: &["feeTokenAddress", "tokenAddress"],
        why: "two tables and every published client name it; only the prose differs",
    },
    Reading {
        id: "mode-member",
        section: "2.6",
        question: "Under which name does a result carry its mode?",
        alternatives: &["MODE", "mode"],
        why: "all result tables and rules say MODE; mode alone is held to be missing MODE unless the profile pins it",
    },
    Reading {
        id: "amount-notation",
        section: "2.2",
        question: "In which notation does a request write nonce, gas limits and fees?",
        alternatives: &["decimal", "hex", "mixed"],
        why: "section 2.2 shows none; mixed is what one published client sends: nonce and fees in hex, gas limits in decimal",
    },
    Reading {
        id: "quoted-tokens",
        section: "2.5",
        question: "With preferredToken and tokenList both present, which supported tokens are quoted?",
        alternatives: &["union", "list", "preferred"],
        why: "the list is what to include in the quote and the preferred token is asked for too; older documents of the vendor quote only the preferred one",
    },
    Reading {
        id: "valid-until-unit",
        section: "2.8",
        question: "In which unit is validUntil?",
        alternatives: &["seconds", "milliseconds"],
        why: "the vendor's sample value is in seconds; another page says milliseconds",
    },
    Reading {
        id: "sponsored-fields",
        section: "4.2",
        question: "Which members of the operation must a sponsored-mode request carry?",
        alternatives: &["sender, nonce, callData and the two fees", "all nine"],
        why: "published clients leave initCode and the gas limits out in sponsored mode",
    },
];

/// The reading of that id.
pub fn find_reading(id: &str) -> Option<&'static Reading> {
    READINGS.iter().find(|reading| reading.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reading_has_alternatives_and_a_reason() {
        for (place, reading) in READINGS.iter().enumerate() {
            assert!(reading.alternatives.len() > 1, "{} leaves no choice", reading.id);
            assert!(reading.why.len() > 20, "{} gives no reason", reading.id);
            assert!(
                READINGS[..place].iter().all(|other| other.id != reading.id),
                "{} stands twice",
                reading.id
            );
            assert_eq!(find_reading(reading.id), Some(reading));
        }
    }
}
