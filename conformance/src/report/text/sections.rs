//! The sections of the specification in reports: their titles, their order, and where the documentation describes them.

use paymaster_schemas::{FEE_QUOTE, Section};

/// The page of the repository that describes the sections.
pub(crate) const PAGE: &str = "docs/specification.md";

/// The title of a section; empty for an unknown number.
pub(crate) fn name(number: &str) -> &'static str {
    FEE_QUOTE.find_section(number).map_or("", |section| section.title)
}

/// The numbers of a section, to sort by: 2.10 comes after 2.9.
pub(crate) fn key(number: &str) -> Vec<u32> {
    Section::order(number)
}

/// The place of a section in the documentation, as `docs/specification.md#section-26-sponsored-result`.
pub(crate) fn place(number: &str) -> String {
    match FEE_QUOTE.find_section(number) {
        Some(section) => format!("{PAGE}#{}", section.anchor()),
        None => PAGE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_has_a_place_in_the_documentation() {
        assert_eq!(place("2.6"), "docs/specification.md#section-26-sponsored-result");
        assert_eq!(place("99"), PAGE);
        assert!(key("2.10") > key("2.9"));
    }
}
