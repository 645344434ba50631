//! Why the requests of a run cannot be chosen or made.

use std::num::ParseIntError;

use super::MIXED;

/// Why the requests of a run cannot be chosen or made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// No scenario has this name.
    #[error("there is no scenario `{name}`: {known}")]
    Unknown {
        /// The name as the user wrote it.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// Every scenario has the weight 0.
    #[error("every weight is 0: nothing would be sent")]
    NoWeight,
    /// The profile names no token or operation that such requests could use.
    #[error(
        "{scenario}: the profile has nothing to make such requests from: add tokens.supported (token mode) or operations.sponsorable"
    )]
    ProfileTooSmall {
        /// The name of the scenario.
        scenario: &'static str,
    },
    /// None of the chosen scenarios can be sent.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    NoneUsable(Vec<ScenarioError>),
    /// A weight is not written as `NAME=NUMBER`.
    #[error("`{0}`: write a weight as SCENARIO=NUMBER, for example journey=3")]
    WeightSyntax(String),
    /// The number of a weight is not a whole number from 0.
    #[error("`{text}`: the weight is not a whole number from 0")]
    Weight {
        /// The weight as the user wrote it.
        text: String,
        /// Why the number cannot be read.
        source: ParseIntError,
    },
}

impl ScenarioError {
    /// The error for a name that is none of the known ones.
    pub(crate) fn unknown(name: &str, known: impl Iterator<Item = &'static str>) -> Self {
        let known: Vec<_> = known.chain([MIXED]).collect();
        Self::Unknown { name: name.to_owned(), known: known.join(", ") }
    }
}
