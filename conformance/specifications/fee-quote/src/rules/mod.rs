//! The rules: each checks one clause, as a function of requests and answers.
//!
//! To add one, add a literal and a function to the file of its group, or a new file and its line in
//! [`crate::SPECIFICATION`]. When no request exercises it, add a relation in [`crate::relations`].

pub mod requests;
pub mod results;
