//! Commands that document the rules and the command line.

pub(super) mod docs;
pub(super) mod explain;
pub(super) mod pages;
pub(super) mod rules;
