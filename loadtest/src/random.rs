//! Random numbers that are a pure function of a seed.

use fastrand::Rng;

/// The numbers of the part `number` of a seed: independent of those of its other parts.
pub(crate) fn part(seed: u64, number: u64) -> Rng {
    Rng::with_seed(seed ^ Rng::with_seed(number).u64(..))
}
