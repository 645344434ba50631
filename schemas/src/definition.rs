//! A specification as data, and the list of them.

use std::sync::OnceLock;

use crate::{Clause, Document, ERC_7677, FEE_QUOTE, Reading, Section, shared};

/// A specification as data. Names of documents and ids of clauses are unique among all specifications.
#[derive(Debug)]
pub struct Definition {
    /// Its own documents; those of [`shared::DOCUMENTS`] belong to every specification.
    pub documents: &'static [Document],
    /// Its clauses, group by group, the shared ones that hold for it included.
    pub clauses: &'static [&'static [Clause]],
    /// Its sections, in order.
    pub sections: &'static [Section],
    /// Its readings.
    pub readings: &'static [Reading],
    /// An OpenRPC 1.3 description of its methods, as JSON text. It refers to the documents by `$id`.
    pub openrpc: &'static str,
}

impl Definition {
    /// Every document, the shared forms first.
    pub fn documents(&self) -> impl Iterator<Item = &'static Document> + use<> {
        shared::DOCUMENTS.iter().chain(self.documents)
    }

    /// Every clause, group by group.
    pub fn clauses(&self) -> impl Iterator<Item = &'static Clause> + use<> {
        self.clauses.iter().copied().flatten()
    }

    /// The section of that number.
    pub fn find_section(&self, number: &str) -> Option<&'static Section> {
        self.sections.iter().find(|section| section.number == number)
    }
}

/// The specifications of this crate.
pub static DEFINITIONS: &[&Definition] = &[&FEE_QUOTE, &ERC_7677];

static ADDED: OnceLock<&'static Definition> = OnceLock::new();

/// Adds a specification that is not part of this crate, before the first use of any document.
///
/// # Panics
///
/// When one was added already.
pub fn add(definition: &'static Definition) {
    assert!(ADDED.set(definition).is_ok(), "a specification was added already");
}

fn all() -> impl Iterator<Item = &'static Definition> {
    DEFINITIONS.iter().copied().chain(ADDED.get().copied())
}

/// Every document of every specification.
pub fn documents() -> impl Iterator<Item = &'static Document> {
    shared::DOCUMENTS.iter().chain(all().flat_map(|definition| definition.documents))
}

/// Every clause of every specification. The shared ones come once for each that has them.
pub(crate) fn all_clauses() -> impl Iterator<Item = &'static Clause> {
    all().flat_map(Definition::clauses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_that_is_cited_is_listed_and_in_order() {
        for definition in DEFINITIONS {
            let cited = definition
                .clauses()
                .map(|clause| (clause.id, clause.section))
                .chain(definition.readings.iter().map(|reading| (reading.id, reading.section)))
                .chain(definition.documents().map(|document| (document.name, document.section)));
            for (id, number) in cited {
                assert!(definition.find_section(number).is_some(), "{id}: section {number}");
            }
            assert!(definition.sections.is_sorted_by_key(|section| Section::order(section.number)));
        }
    }

    #[test]
    fn every_reading_has_alternatives_and_a_reason() {
        for definition in DEFINITIONS {
            for (place, reading) in definition.readings.iter().enumerate() {
                assert!(reading.alternatives.len() > 1, "{} leaves no choice", reading.id);
                assert!(reading.why.len() > 20, "{} gives no reason", reading.id);
                let before = &definition.readings[..place];
                assert!(before.iter().all(|other| other.id != reading.id), "{} is listed twice", reading.id);
            }
        }
    }

    #[test]
    fn names_of_documents_are_unique() {
        let mut names: Vec<_> = documents().map(|document| document.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
