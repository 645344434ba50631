//! How much of the target's profile a trial states. A lawful server must never be accused, whatever its profile leaves out.

use std::sync::Arc;

use paymaster_engine::{knowledge::Knowledge, specification};
use paymaster_reference_server::{Config, Statement};
use paymaster_settings::embedded;

use crate::selftest::Deviation;

/// A part of the profile of the embedded reference server.
#[derive(Clone, Copy, Debug)]
pub enum ProfilePart {
    /// The whole profile.
    Whole,
    /// Nothing.
    Nothing,
    /// A part that the specification names.
    Named(&'static specification::ProfilePart),
    /// What `init URL` finds.
    Found,
}

/// The parts with which each deviation has a trial.
pub type ProfileParts = fn(Deviation) -> Vec<ProfilePart>;

impl ProfilePart {
    /// The whole profile alone.
    pub fn whole(_: Deviation) -> Vec<Self> {
        vec![Self::Whole]
    }

    /// Every part but the whole profile. A variant of HTTP or JSON-RPC has them with the default specification; with another one, whose
    /// profile says as little about it, an empty profile is enough.
    pub fn sparse(deviation: Deviation) -> Vec<Self> {
        if !deviation.is_of_specification() {
            return vec![Self::Nothing];
        }
        let named = deviation.specification().profile_parts.iter().map(Self::Named);
        [Self::Nothing].into_iter().chain(named).chain([Self::Found]).collect()
    }

    /// The name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "the whole profile",
            Self::Nothing => "an empty profile",
            Self::Named(part) => part.name,
            Self::Found => "what init finds",
        }
    }

    /// This part of the profile of a server of that configuration, without what is not true of it.
    pub(super) fn of(self, deviation: Deviation, config: &Config) -> Arc<dyn Knowledge> {
        let specification = deviation.specification();
        let variants = deviation.variant();
        let whole = || embedded::profile_of(specification, config, variants.as_slice());
        match self {
            Self::Whole => whole(),
            Self::Named(part) if !part.adds_operation || deviation.states(Statement::OneOperation) => {
                (part.of)(&*whole())
            }
            // What is found takes the place of this.
            Self::Nothing | Self::Named(_) | Self::Found => specification.unknown(),
        }
    }
}
