//! Which broken clauses fail a run.

use paymaster_schemas::Basis;

/// How strictly a run is concluded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strictness {
    /// Broken clauses that only warn fail the run.
    pub strict: bool,
    /// Stated rules may stay inconclusive.
    pub allow_incomplete: bool,
}

/// Whether a broken clause of that basis fails the run.
pub fn fails_the_run(basis: Basis, strict: bool) -> bool {
    match basis {
        Basis::Stated | Basis::OnChain => true,
        Basis::Recommended | Basis::JsonRpc | Basis::Interoperability | Basis::Plausibility => strict,
        Basis::Ambiguous | Basis::NotShown => false,
    }
}
