//! Arrivals of a Poisson process: independent of each other, as those of many clients.
//!
//! Positions are on an axis on which one arrival is expected per unit; the schedule maps them to times. The axis is cut into blocks, and the
//! arrivals of a block are drawn from the seed and its number alone. So the position of any arrival is a pure function, without a
//! list of all of them. Only how many come before each block is remembered, 8 bytes for 64 arrivals.

use parking_lot::{RwLock, RwLockWriteGuard};

use crate::number::{float, random_part, whole};

/// The length of a block: so many arrivals are expected in it.
const BLOCK: f64 = 64.0;

/// The arrivals of a Poisson process.
#[derive(Debug)]
pub(in crate::engine) struct PoissonArrivals {
    seed: u64,
    end: f64,
    /// How many arrivals come before each block, for the blocks that were needed so far.
    before: RwLock<Vec<u64>>,
}

impl PoissonArrivals {
    /// The arrivals from 0 to `end`, which may be very far.
    pub(in crate::engine) fn new(seed: u64, end: f64) -> Self {
        Self { seed, end, before: RwLock::new(vec![0]) }
    }

    /// The number of all arrivals. It draws all of them.
    pub(in crate::engine) fn total(&self) -> u64 {
        self.count_before(self.end)
    }

    /// The position of arrival `index` (from 0); none after the last one.
    pub(in crate::engine) fn position(&self, index: u64) -> Option<f64> {
        let (block, before) = self.block_of(|before| before > index)?;
        let inside = usize::try_from(index - before).ok()?;
        self.block(block).nth(inside)
    }

    /// How many arrivals are before or at a position.
    pub(in crate::engine) fn count_before(&self, position: f64) -> u64 {
        let wanted = whole(position.min(self.end) / BLOCK);
        let index = usize::try_from(wanted).unwrap_or(usize::MAX);
        let known = self.before.read();
        let before = known.get(index).copied();
        drop(known);
        let before = before.unwrap_or_else(|| self.extend(|block, _| block >= wanted)[index]);
        before + self.block(wanted).take_while(|other| *other <= position).count() as u64
    }

    /// The first block behind which there are as many arrivals as `enough` wants, and how many come before it; none if all are too few.
    fn block_of(&self, enough: impl Fn(u64) -> bool) -> Option<(u64, u64)> {
        let find = |known: &[u64]| {
            let place = known.partition_point(|before| !enough(*before));
            (place < known.len()).then(|| (place as u64 - 1, known[place - 1]))
        };
        let found = find(&self.before.read());
        found.or_else(|| find(&self.extend(|_, before| enough(before))))
    }

    /// Counts the arrivals of further blocks, up to a block (by its number and the arrivals before it) or to the end.
    fn extend(&self, is_enough: impl Fn(u64, u64) -> bool) -> RwLockWriteGuard<'_, Vec<u64>> {
        let mut known = self.before.write();
        let blocks = whole(self.end / BLOCK) + 1;
        loop {
            // The list begins with a 0.
            let (next, before) = (known.len() as u64, known.last().copied().unwrap_or_default());
            if next > blocks || is_enough(next - 1, before) {
                return known;
            }
            let more = self.block(next - 1).count() as u64;
            known.push(before + more);
        }
    }

    /// The positions of the arrivals of a block. The distances of a Poisson process have an exponential distribution, and what happens in
    /// one block says nothing about another.
    fn block(&self, block: u64) -> impl Iterator<Item = f64> + use<> {
        let start = float(block) * BLOCK;
        let end = (start + BLOCK).min(self.end);
        let mut random = random_part(self.seed, block);
        let mut position = start;
        std::iter::from_fn(move || {
            position -= (1.0 - random.f64()).ln();
            (position < end).then_some(position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: f64 = 100_000.0;

    fn positions(seed: u64) -> Vec<f64> {
        let arrivals = PoissonArrivals::new(seed, LENGTH);
        (0..arrivals.total()).map(|index| arrivals.position(index).unwrap()).collect()
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn the_statistics_are_those_of_a_poisson_process() {
        for seed in 1..=3 {
            let positions = positions(seed);
            let count = positions.len() as f64;
            // The number of arrivals has the variance of its mean: within four standard deviations.
            assert!((count - LENGTH).abs() < 4.0 * LENGTH.sqrt(), "{seed}: {count}");
            let distances: Vec<f64> = positions.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let mean = distances.iter().sum::<f64>() / count;
            let variance = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / count;
            // Exponential distances: mean and standard deviation are 1. Regular arrivals would have a variance of 0.
            assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.05, "{seed}: {mean} {variance}");
            for (limit, expected) in [(0.1, 0.0952), (1.0, 0.6321), (3.0, 0.9502)] {
                let share = distances.iter().filter(|distance| **distance <= limit).count() as f64 / count;
                assert!((share - expected).abs() < 0.01, "{seed}: {limit}: {share}");
            }
            // Neighbouring distances are independent, also over the ends of blocks.
            let pairs = distances.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
            let correlation = pairs.sum::<f64>() / count / variance;
            assert!(correlation.abs() < 0.02, "{seed}: {correlation}");
            // Arrivals in windows of 10: as many as the variance of a Poisson distribution says.
            let mut windows = vec![0.0; 10_000];
            for position in &positions {
                windows[usize::try_from(whole(position / 10.0)).unwrap()] += 1.0;
            }
            let spread =
                windows.iter().map(|arrivals: &f64| (arrivals - 10.0).powi(2)).sum::<f64>() / 10_000.0;
            assert!((spread - 10.0).abs() < 1.0, "{seed}: {spread}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_arrivals_in_any_order() {
        let (one, other) = (positions(1), positions(2));
        assert_ne!(one[..20], other[..20]);
        let arrivals = PoissonArrivals::new(1, LENGTH);
        for index in [99_000, 5, 64, 63, 40_000, 0] {
            assert_eq!(arrivals.position(index), Some(one[usize::try_from(index).unwrap()]));
        }
        for (index, position) in one.iter().enumerate().step_by(997) {
            assert_eq!(arrivals.count_before(*position), index as u64 + 1);
        }
        assert_eq!(arrivals.position(arrivals.total()), None);
        assert_eq!(PoissonArrivals::new(1, 0.0).total(), 0);
        assert_eq!(arrivals.count_before(1e9), arrivals.total());
    }
}
