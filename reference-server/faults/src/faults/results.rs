//! Faults in the members of results. Those that follow from the schemas, a member that is missing and a number as a string, are derived.

pub(super) mod answer;
pub(super) mod plausibility;
pub(super) mod quote_results;
pub(super) mod sponsored_results;
pub(super) mod texts;
pub(super) mod token_sponsor_results;
