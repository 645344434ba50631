//! Rules about the members of results, and about results that belong together.

pub(super) mod plausibility;
pub(super) mod quoted_tokens;
pub(super) mod rows;
pub(super) mod token_facts;
