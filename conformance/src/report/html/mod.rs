//! What only the page has: the rules by section, with filters. Everything can be read without scripts; they only filter, copy and open.

mod marks;
pub(super) mod tree;

pub(crate) use marks::mark;

#[cfg(test)]
mod tests;
