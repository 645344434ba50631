//! The relations: which related requests are sent.

use crate::case::Relation;

/// Every relation, in the order of the plan.
pub static RELATIONS: &[&Relation] = &[];
