//! Rules about the members of results, and about results that belong together.

pub(crate) mod plausibility;
pub(crate) mod quoted_tokens;
pub(crate) mod rows;
pub(crate) mod token_facts;
