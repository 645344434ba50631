//! Variants: lawful freedoms of a service, for which no rule of a conformance harness may fail.
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of Asked<'a> is not general enough for the pointer that a table holds"
)]

mod amounts;
mod errors;
mod http;
mod quotes;
mod requests;
mod shapes;
#[cfg(test)]
mod tests;

use crate::deviations::{Act, Deed, UnknownName, When, always, find};

/// One way to be different and right.
#[derive(Clone, Copy)]
pub struct Variant {
    /// Its name, lower case, words joined by `-`.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Clauses of a lesser ground than stated that it breaks all the same: whoever judges may warn of them.
    pub warns: &'static [&'static str],
    pub(crate) deed: Deed,
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
    const fn of(name: &'static str, about: &'static str, act: Act) -> Self {
        Self {
            name,
            about,
            warns: &[],
            deed: Deed { when: always, act },
        }
    }

    /// A refusal of what need not be served.
    const fn refusal(name: &'static str, about: &'static str, when: When) -> Self {
        Self::of(name, about, Act::Refuse).when(when)
    }

    /// The same, but only then.
    const fn when(mut self, when: When) -> Self {
        self.deed.when = when;
        self
    }

    /// The same, with what it may be warned for.
    const fn warns(mut self, clauses: &'static [&'static str]) -> Self {
        self.warns = clauses;
        self
    }
}

const GROUPS: [&[Variant]; 6] = [
    requests::VARIANTS,
    shapes::VARIANTS,
    amounts::VARIANTS,
    quotes::VARIANTS,
    errors::VARIANTS,
    http::VARIANTS,
];

/// Every variant, group by group.
pub fn variants() -> impl Iterator<Item = &'static Variant> + Clone {
    GROUPS.into_iter().flatten()
}

/// The variant of that name; the error names the nearest one.
pub fn find_variant(name: &str) -> Result<&'static Variant, UnknownName> {
    find("variant", variants(), |variant| variant.name, name)
}
