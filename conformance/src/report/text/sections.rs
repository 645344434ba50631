//! The sections of the specification, for reports that are grouped by section.

/// The sections that clauses come from, each with a name.
const SECTIONS: &[(&str, &str)] = &[
    ("1", "The service"),
    ("2.1", "Request envelope"),
    ("2.2", "Partial user operation"),
    ("2.3", "Mode object"),
    ("2.4", "Sponsorship info"),
    ("2.5", "Token info"),
    ("2.6", "Sponsored result"),
    ("2.7", "Token-mode quote"),
    ("2.8", "Fee quote"),
    ("2.9", "Token-mode sponsorship"),
    ("2.10", "Answer envelope"),
    ("3", "States"),
    ("4", "The endpoint"),
    ("4.1", "Asking for a quote"),
    ("4.2", "Asking for sponsorship"),
    ("5", "Authentication"),
    ("6", "Events"),
    ("7", "Errors"),
    ("8", "Limits"),
    ("9", "Versioning"),
];

/// The name of a section; empty for an unknown section.
pub(crate) fn name(section: &str) -> &'static str {
    SECTIONS
        .iter()
        .find(|(number, _)| *number == section)
        .map_or("", |(_, name)| name)
}

/// A sort key for sections: 2.10 comes after 2.9.
pub(crate) fn key(section: &str) -> Vec<u32> {
    section
        .split('.')
        .map(|part| part.parse().unwrap_or(u32::MAX))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_that_a_clause_comes_from_has_a_name() {
        for clause in paymaster_schemas::clauses() {
            assert!(
                !name(clause.section).is_empty(),
                "{}: section {}",
                clause.id,
                clause.section
            );
        }
        assert!(SECTIONS.is_sorted_by_key(|(number, _)| key(number)));
    }
}
