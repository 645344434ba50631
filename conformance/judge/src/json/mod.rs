//! JSON as a judge needs it: strict texts, duplicate members seen, numbers compared exactly.

pub mod document;
pub mod number;
