//! Variants: named lawful differences from the default server. No rule of a conformance harness may fail for one.
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of RequestView<'a> is not general enough for the function pointer of a table"
)]

mod amounts;
mod errors;
mod http;
mod overload;
mod quotes;
mod requests;
mod shapes;
#[cfg(test)]
mod tests;

use crate::injection::{Behaviour, Condition, Injection, always};
use crate::names::{UnknownName, find};

/// One lawful difference from the default server.
#[derive(Clone, Copy)]
pub struct Variant {
    /// The variant's unique name: lower-case words joined by `-`.
    pub name: &'static str,
    /// What the server does, as a fragment without a subject.
    pub about: &'static str,
    /// The ids of clauses that the variant breaks although it is lawful. None of them is stated by the specification, so a
    /// harness may warn of them but not fail.
    pub warns: &'static [&'static str],
    pub(crate) injection: Injection,
}

impl std::fmt::Debug for Variant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Variant")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Variant {
    const fn new(name: &'static str, about: &'static str, behaviour: Behaviour) -> Self {
        Self {
            name,
            about,
            warns: &[],
            injection: Injection {
                condition: always,
                behaviour,
            },
        }
    }

    /// A variant that refuses requests which need not be served.
    const fn refusal(name: &'static str, about: &'static str, condition: Condition) -> Self {
        Self::new(name, about, Behaviour::Refuse).when(condition)
    }

    /// The same variant for the requests that meet this condition only.
    const fn when(mut self, condition: Condition) -> Self {
        self.injection.condition = condition;
        self
    }

    /// The same variant with the clauses that a harness may warn of.
    const fn warns(mut self, clauses: &'static [&'static str]) -> Self {
        self.warns = clauses;
        self
    }
}

const GROUPS: [&[Variant]; 7] = [
    requests::VARIANTS,
    shapes::VARIANTS,
    amounts::VARIANTS,
    quotes::VARIANTS,
    errors::VARIANTS,
    http::VARIANTS,
    overload::VARIANTS,
];

/// Every variant, group by group.
pub fn variants() -> impl Iterator<Item = &'static Variant> + Clone {
    GROUPS.into_iter().flatten()
}

/// The variant called `name`; the error suggests the most similar name.
pub fn find_variant(name: &str) -> Result<&'static Variant, UnknownName> {
    find("variant", variants(), |variant| variant.name, name)
}
