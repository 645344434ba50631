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
}

const SPONSORED: &[Pair] = &[Pair::QUOTE_SPONSORED, Pair::SPONSOR_SPONSORED];

/// Rules that every answer exercises are not in the table: they need every relation. The first row that fits counts.
const NEEDS: &[Need] = &[
    Need {
        rules: "sponsored-result.",
        relations: &["calls", "refused-calls", "calculate-gas-limits"],
        pairs: SPONSORED,
    },
    Need {
        rules: "quote-result.",
        relations: &["calls", "unsupported-in-quote", "token-quote-row"],
        pairs: &[Pair::QUOTE_ERC20],
    },
    Need {
        rules: "fee-quote.",
        relations: &["calls", "amounts", "unsupported-in-quote"],
        pairs: &[Pair::QUOTE_ERC20],
    },
    Need {
        rules: "token-sponsor-result.",
        relations: &["calls", "gas-fields"],
        pairs: &[Pair::SPONSOR_ERC20],
    },
    Need {
        rules: "quote.sponsored-result",
        relations: &["calls", "refused-calls", "decision"],
        pairs: &[Pair::QUOTE_SPONSORED],
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
    },
    Need {
        rules: "error.token-",
        relations: &["absent-fee-token", "unsupported-fee-token", "letter-case"],
        pairs: &[],
    },
    Need {
        rules: "error.refusal-is-none",
        relations: &["refused-calls", "decision"],
        pairs: SPONSORED,
    },
    Need {
        rules: "json-rpc.parse-error",
        relations: &["malformed-bodies"],
        pairs: &[],
    },
    Need {
        rules: "json-rpc.invalid-params",
        relations: &["malformed-params"],
        pairs: &[],
    },
    Need {
        rules: "json-rpc.large-ids",
        relations: &["number-ids"],
        pairs: &[],
    },
    Need {
        rules: "json-rpc.empty-batch",
        relations: &["batches"],
        pairs: &[],
    },
    Need {
        rules: "plausibility.gas",
        relations: &["calls"],
        pairs: &[],
    },
    Need {
        rules: "plausibility.",
        relations: &["calls", "unsupported-in-quote"],
        pairs: &[Pair::QUOTE_ERC20, Pair::SPONSOR_ERC20],
    },
];

/// A relation, and a pair of its base requests; none for every pair.
pub(super) type RelationOfPair = (&'static str, Option<Pair>);

/// The relations that a rule needs; none where it needs all.
pub(super) fn of(rule: &Rule) -> Option<Vec<RelationOfPair>> {
    if let Check::Group(relation, _) = rule.check {
        return Some(vec![(relation.id, None)]);
    }
    let need = NEEDS.iter().find(|need| rule.id.starts_with(need.rules))?;
    let mut needed = Vec::new();
    for relation in need.relations {
        if need.pairs.is_empty() {
            needed.push((*relation, None));
        }
        needed.extend(need.pairs.iter().map(|pair| (*relation, Some(*pair))));
    }
    Some(needed)
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
