//! The rules: each checks one clause, as a function of requests and answers.
//!
//! To add one, add a literal and a function to the file of its group, or a new file and its line in
//! [`crate::SPECIFICATION`]. When no request exercises it, add a relation in [`crate::relations`].

use paymaster_engine::rules::Advice;

use crate::lines;

pub mod requests;
pub mod results;

/// What helps where too few operations were sponsored.
const SPONSORABLE: Advice = Advice::Write(&lines::SPONSORABLE);
/// What helps where too few tokens are known.
const TOKENS: Advice = Advice::Write(&lines::SUPPORTED_TOKENS);
