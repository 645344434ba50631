//! Random numbers for every generator, and strategies that are made of a function.

use std::fmt;

use proptest::prelude::{BoxedStrategy, Just, Rng, Strategy};
use proptest::strategy::NewTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

/// A proptest runner whose draws depend on `seed` only. It never writes failures to disk.
pub fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    // The defaults read PROPTEST_* variables; none of them touches what an explicit generator draws.
    let config = Config { failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Draws that the generators need. All use 64 bits, so that a seed gives the same values on every machine.
pub trait RngExt: Rng {
    /// A number below `bound`; 0 when the bound is 0.
    fn below(&mut self, bound: u64) -> u64 {
        let wide = (u128::from(self.next_u64()) * u128::from(bound)) >> 64;
        u64::try_from(wide).unwrap_or_default()
    }

    /// A number from `low` to `high`, both included.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below((high - low).saturating_add(1))
    }

    /// A count or index from `low` to `high`, both included.
    fn count(&mut self, low: usize, high: usize) -> usize {
        let drawn = self.between(low as u64, high as u64);
        usize::try_from(drawn).unwrap_or(low)
    }

    /// True `percent` times in a hundred.
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `items`, which must not be empty.
    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.count(0, items.len() - 1)]
    }

    /// Numbers of every magnitude are equally likely, so small ones are common.
    fn magnitude(&mut self) -> u64 {
        let bits = self.below(64);
        self.next_u64() >> (63 - bits)
    }

    /// `0x` and that many random bytes in lower-case hex.
    fn hex(&mut self, bytes: usize) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(2 + 2 * bytes);
        text.push_str("0x");
        let mut left = bytes;
        while left > 0 {
            let word = self.next_u64().to_le_bytes();
            for byte in word.iter().take(left) {
                text.push(char::from(DIGITS[usize::from(byte >> 4)]));
                text.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
            left = left.saturating_sub(word.len());
        }
        text
    }
}

impl RngExt for TestRng {}

/// A strategy that calls a function with the runner's random generator. Its values do not shrink: whole requests shrink, in
/// [`super::shrink`].
pub struct Drawn<F>(F);

impl<F> fmt::Debug for Drawn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Drawn")
    }
}

impl<F: Fn(&mut TestRng) -> Value> Strategy for Drawn<F> {
    type Tree = Just<Value>;
    type Value = Value;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        Ok(Just((self.0)(runner.rng())))
    }
}

/// The strategy that draws by calling `draw`.
pub fn drawn(draw: impl Fn(&mut TestRng) -> Value + 'static) -> BoxedStrategy<Value> {
    Drawn(draw).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_reach_both_ends_of_their_bounds() {
        let mut runner = runner(1);
        let rng = runner.rng();
        let drawn: Vec<u64> = (0..500).map(|_| rng.between(3, 6)).collect();
        assert!(drawn.iter().all(|n| (3..=6).contains(n)));
        for end in 3..=6 {
            assert!(drawn.contains(&end), "{end}");
        }
        assert_eq!(rng.below(0), 0);
        rng.between(0, u64::MAX);
    }

    #[test]
    fn hex_has_the_requested_length() {
        let mut runner = runner(1);
        for bytes in [0, 1, 7, 8, 9, 33] {
            let text = runner.rng().hex(bytes);
            assert_eq!(text.len(), 2 + 2 * bytes);
            assert!(text[2..].bytes().all(|digit| digit.is_ascii_hexdigit()));
        }
    }

    #[test]
    fn no_runner_writes_to_disk() {
        assert!(runner(1).config().failure_persistence.is_none());
    }

    #[test]
    fn a_seed_fixes_the_draws() {
        let draws = |seed| {
            let mut runner = runner(seed);
            (0..4).map(|_| runner.rng().next_u64()).collect::<Vec<_>>()
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
    }
}
