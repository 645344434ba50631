//! Strict JSON: whole texts, repeated members reported, numbers compared exactly.

pub mod document;
pub mod number;
