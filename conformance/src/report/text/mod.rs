//! Texts and words that several reports share.

pub(crate) mod contradictions;
pub(crate) mod sections;
pub(crate) mod words;
