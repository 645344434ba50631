//! Random numbers that are a pure function of a seed.

use crate::number::float;

/// SplitMix64: a small random number generator that passes the usual tests (Steele, Lea, Flood 2014).
pub(crate) struct SplitMix(u64);

impl SplitMix {
    /// The numbers of the part `number` of a seed: independent of those of its other parts.
    pub(crate) fn part(seed: u64, number: u64) -> Self {
        Self(seed ^ Self(number).next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to 1, without 1.
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits: as many as a float has.
        float(self.next() >> 11) / float(1 << 53)
    }

    /// A whole number from 0 to `end`, without `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        let scaled = u128::from(self.next()) * u128::from(end);
        u64::try_from(scaled >> 64).unwrap_or_default()
    }
}
