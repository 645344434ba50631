//! The relations: groups of related requests, each built from a base request.
//!
//! Exchange rules judge every request of every relation. A group rule judges the relation that it names. To add a relation, add a
//! `static` to the file of its kind and a line to [`RELATIONS`].

mod calls;
mod forms;
mod operation;
mod probes;
mod sequences;
mod tokens;

pub use self::{calls::*, forms::*, operation::*, probes::*, sequences::*, tokens::*};
use paymaster_engine::cases::Relation;
pub use paymaster_engine::cases::protocol::{
    BATCH_ELEMENTS, BATCHES, IDLE_CONNECTION, MALFORMED_BODIES, MALFORMED_PARAMS, NUMBER_IDS, STRING_IDS,
};

/// The partial user operation.
pub(crate) const OPERATION: &str = "/params/0";
/// The mode object.
pub(crate) const MODE: &str = "/params/1";

/// The info object of token mode.
pub(crate) const TOKEN_INFO: &str = "/params/1/tokenInfo";
/// The info object of sponsored mode.
pub(crate) const SPONSORSHIP_INFO: &str = "/params/1/sponsorshipInfo";

/// Every relation, in the order of the plan.
pub static RELATIONS: &[&Relation] = &[
    &CALLS,
    &REFUSED_CALLS,
    &REFUSED_FORMS,
    &REFUSED_IN_TOKEN_MODE,
    &UNSUPPORTED_FEE_TOKEN,
    &ABSENT_FEE_TOKEN,
    &UNSUPPORTED_IN_QUOTE,
    &LONG_TOKEN_LIST,
    &NUMBER_IDS,
    &STRING_IDS,
    &GAS_FIELDS,
    &LISTED_FIELDS,
    &CALCULATE_GAS_LIMITS,
    &EXPIRY_DURATION,
    &WEBHOOK_DATA,
    &SMART_ACCOUNTS,
    &BOTH_INFOS,
    &SPONSORED_NAME,
    &TOKEN_QUOTE_ROW,
    &TOKEN_DATA,
    &SAME_ACCOUNT,
    &TOKENS_AT_ONCE,
    &CLIENT_FORMS,
    &LETTER_CASE,
    &SIZES,
    &NONCES,
    &AMOUNTS,
    &INIT_CODE,
    &CALL_DATA,
    &NOTATION,
    &HEADERS,
    &DECISION,
    &LATER,
    &CONCURRENT,
    &MALFORMED_PARAMS,
    &MALFORMED_BODIES,
    &BATCHES,
    &BATCH_ELEMENTS,
    &IDLE_CONNECTION,
    &WITHOUT_MODE,
    &OPTIONAL_MEMBERS,
    &DIALECT_PROBES,
    &BEHAVIOUR_PROBES,
    &ON_CHAIN,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SPECIFICATION;
    use paymaster_engine::rules::Check;

    #[test]
    fn names_are_unique() {
        for (place, relation) in RELATIONS.iter().enumerate() {
            assert!(
                RELATIONS[..place].iter().all(|other| other.id != relation.id),
                "{} is listed twice",
                relation.id
            );
        }
    }

    #[test]
    fn every_group_rule_has_its_relation_in_the_plan() {
        for rule in SPECIFICATION.rules() {
            if let Check::Group(relation, _) = rule.check {
                assert!(RELATIONS.iter().any(|known| std::ptr::eq(*known, relation)), "{}", rule.id);
            }
        }
    }
}
