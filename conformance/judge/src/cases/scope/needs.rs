//! Which relations a rule over single exchanges needs, and how few rounds of a relation exercise every rule.
//!
//! A test runs every fault of the reference server within the needs of its clause: it must still be caught.

use paymaster_schemas::Pair;

use crate::{
    cases::case::Relation,
    rules::{Check, Rule},
};

/// The relations that some rules need, with the pairs of their base requests.
struct Need {
    /// The beginning of the ids of the rules.
    rules: &'static str,
    relations: &'static [&'static str],
    /// The pairs of method and mode; all when it is empty.
    pairs: &'static [Pair],
    /// Whether every other relation is needed too, in its fewest rounds.
    others: bool,
}

/// What a rule that every answer exercises needs: every relation in its fewest rounds.
const EVERY_ANSWER: Need = Need { rules: "", relations: &[], pairs: &[], others: true };

const SPONSORED: &[Pair] = &[Pair::QUOTE_SPONSORED, Pair::SPONSOR_SPONSORED];

/// The first row that fits counts. Rules that are in no row are exercised by every answer.
const NEEDS: &[Need] = &[
    Need { rules: "answer.id", relations: &["number-ids", "string-ids"], ..EVERY_ANSWER },
    Need {
        rules: "sponsor.sponsorable-is-sponsored",
        relations: &["calls", "calculate-gas-limits"],
        pairs: SPONSORED,
        ..EVERY_ANSWER
    },
    Need { rules: "sponsor.refused-gets-0x", relations: &["refused-calls", "client-forms"], ..EVERY_ANSWER },
    Need {
        rules: "sponsor.sponsored-result",
        relations: &["calls"],
        pairs: &[Pair::SPONSOR_SPONSORED],
        ..EVERY_ANSWER
    },
    Need {
        rules: "sponsor.erc20-result",
        relations: &["calls"],
        pairs: &[Pair::SPONSOR_ERC20],
        ..EVERY_ANSWER
    },
    Need {
        rules: "sponsored-result.",
        relations: &["calls", "refused-calls", "calculate-gas-limits"],
        pairs: SPONSORED,
        others: false,
    },
    Need {
        rules: "quote-result.",
        relations: &["calls", "unsupported-in-quote", "token-quote-row"],
        pairs: &[Pair::QUOTE_ERC20],
        others: false,
    },
    Need {
        rules: "fee-quote.",
        relations: &["calls", "amounts", "unsupported-in-quote"],
        pairs: &[Pair::QUOTE_ERC20],
        others: false,
    },
    Need {
        rules: "token-sponsor-result.",
        relations: &["calls", "gas-fields"],
        pairs: &[Pair::SPONSOR_ERC20],
        others: false,
    },
    Need {
        rules: "quote.sponsored-result",
        relations: &["calls", "refused-calls", "decision"],
        pairs: &[Pair::QUOTE_SPONSORED],
        others: false,
    },
    Need {
        rules: "quote.",
        relations: &[
            "calls",
            "refused-in-token-mode",
            "unsupported-in-quote",
            "long-token-list",
            "letter-case",
            "later",
            "concurrent",
        ],
        pairs: &[Pair::QUOTE_ERC20],
        others: false,
    },
    Need {
        rules: "error.token-",
        relations: &["absent-fee-token", "unsupported-fee-token", "letter-case"],
        pairs: &[Pair::SPONSOR_ERC20],
        others: false,
    },
    Need {
        rules: "error.refusal-is-none",
        relations: &["refused-calls", "decision"],
        pairs: SPONSORED,
        others: false,
    },
    Need { rules: "json-rpc.batch", relations: &["batches", "batch-elements"], pairs: &[], others: false },
    Need {
        rules: "json-rpc.notification",
        relations: &["batches", "batch-elements", "malformed-bodies"],
        pairs: &[],
        others: false,
    },
    Need { rules: "json-rpc.parse-error", relations: &["malformed-bodies"], pairs: &[], others: false },
    Need { rules: "json-rpc.invalid-params", relations: &["malformed-params"], pairs: &[], others: false },
    Need { rules: "json-rpc.large-ids", relations: &["number-ids"], pairs: &[], others: false },
    Need { rules: "json-rpc.empty-batch", relations: &["batches"], pairs: &[], others: false },
    Need { rules: "plausibility.gas", relations: &["calls"], pairs: &[], others: false },
    Need {
        rules: "plausibility.token-data",
        relations: &["calls"],
        pairs: &[Pair::SPONSOR_ERC20],
        others: false,
    },
    Need {
        rules: "plausibility.pre-verification-gas",
        relations: &["calls"],
        pairs: &[Pair::SPONSOR_ERC20],
        others: false,
    },
    Need {
        rules: "plausibility.",
        relations: &["calls", "unsupported-in-quote"],
        pairs: &[Pair::QUOTE_ERC20, Pair::SPONSOR_ERC20],
        others: false,
    },
];

/// A relation, and a pair of its base requests; none for every pair.
pub(super) type RelationOfPair = (&'static str, Option<Pair>);

/// What rules need of the plan.
pub(super) struct Needed {
    /// The relations that have all of their rounds.
    pub(super) whole: Vec<RelationOfPair>,
    /// Whether every other relation is needed too, in its fewest rounds.
    pub(super) others: bool,
}

/// What a rule needs of the plan.
pub(super) fn of(rule: &Rule) -> Needed {
    if let Check::Group(relation, _) = rule.check {
        return Needed { whole: vec![(relation.id, None)], others: false };
    }
    let own = NEEDS.iter().find(|need| rule.id.starts_with(need.rules));
    let need = own.unwrap_or(&EVERY_ANSWER);
    let mut whole = Vec::new();
    for relation in need.relations {
        if need.pairs.is_empty() {
            whole.push((*relation, None));
        }
        whole.extend(need.pairs.iter().map(|pair| (*relation, Some(*pair))));
    }
    Needed { whole, others: need.others }
}

/// Whether a rule is mainly about requests of this relation and pair.
pub(crate) fn is_about(rule: &Rule, relation: &str, pair: Pair) -> bool {
    let whole = of(rule).whole;
    let is_this = |(own, only): &RelationOfPair| *own == relation && only.is_none_or(|only| only == pair);
    whole.is_empty() || whole.iter().any(is_this)
}

/// How many rounds of a relation a quick run has: one, or two where few base requests are built. Relations whose later rounds exercise
/// other rules have more.
pub(super) fn quick_rounds(relation: &Relation) -> u32 {
    match relation.id {
        "malformed-bodies" => 25,
        "number-ids" => 11,
        "gas-fields" => 4,
        "calls" => 2,
        _ if relation.bases.len() > 2 => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cases::relations::find_relation, rules::rules};

    #[test]
    fn every_row_names_relations_that_there_are_and_a_rule_over_single_exchanges() {
        for need in NEEDS {
            assert!(
                rules()
                    .any(|rule| rule.id.starts_with(need.rules) && !matches!(rule.check, Check::Group(..))),
                "{}",
                need.rules
            );
            for relation in need.relations {
                assert!(find_relation(relation).is_some(), "{relation}");
            }
        }
    }
}
