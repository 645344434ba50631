//! The sections of a specification in reports: their titles, their order, and where the documentation describes them.

use paymaster_engine::specification::Specification;
use paymaster_settings::{DEFAULT_SPECIFICATION, specification};

/// The file of a page about a specification: `reference.md` for the default one, otherwise as `reference-erc-7677.md`.
pub(crate) fn page(page: &str, of: &Specification) -> String {
    if of == DEFAULT_SPECIFICATION { format!("{page}.md") } else { format!("{page}-{}.md", of.name) }
}

/// The title of a section of the specification of that name; empty where one of them is unknown.
pub(crate) fn name(of: &str, number: &str) -> &'static str {
    let section = specification(of).ok().and_then(|known| known.definition.find_section(number));
    section.map_or("", |section| section.title)
}

/// The place of a section in the documentation, as `docs/specification.md#section-26-sponsored-result`.
pub(crate) fn place(of: &str, number: &str) -> String {
    let known = specification(of).unwrap_or(DEFAULT_SPECIFICATION);
    let file = format!("docs/{}", page("specification", known));
    match known.definition.find_section(number) {
        Some(section) => format!("{file}#{}", section.anchor()),
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::Section;

    use super::*;

    #[test]
    fn a_section_has_a_place_in_the_documentation() {
        assert_eq!(place("fee-quote", "2.6"), "docs/specification.md#section-26-sponsored-result");
        assert_eq!(place("fee-quote", "99"), "docs/specification.md");
        assert!(Section::order("2.10") > Section::order("2.9"));
    }
}
