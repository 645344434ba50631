//! The rows of the result tables (sections 2.6 to 2.9): one rule a row, all of them one check.

use crate::{
    context::Context,
    rules::{Report, View},
};

/// Judges one row of a result.
pub fn check(_document: &str, _member: &str, _view: &View<'_>, _context: &Context, _report: &mut Report) {}
