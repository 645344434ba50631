//! The rules: the form of results, what must be served, what two requests must have in common, and signatures.

pub(crate) mod pairs;
pub(crate) mod requests;
pub(crate) mod results;
pub(crate) mod signatures;
