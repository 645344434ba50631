//! What a worker sends, so that no two workers of a master send the same: the index that the master gives to a worker decides about
//! the ids and the drawn requests.

use paymaster_engine::knowledge::Knowledge;

use crate::{
    number::float,
    run::SEQUENCES,
    scenarios::{MIXED, Mix, RequestGenerator, Weights},
};

/// Requests of each worker: the ids of two workers differ until one has sent so many, which takes 27 hours at 20,000 a second.
pub(super) const REQUESTS: u64 = 2_000_000_000;
/// Most workers of a master. Ids have 13 digits, and begin at 10^12.
pub(super) const MOST_WORKERS: u64 = 4_500;

/// The part of the requests that belongs to one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard(u64);

impl Shard {
    /// The part of the worker with this index; none if there are too many workers. A master that numbers no workers (before Locust 2.10.2)
    /// gives no index: the part is then one by chance.
    pub(super) fn new(index: Option<u64>) -> Option<Self> {
        let index = index.unwrap_or_else(|| fastrand::u64(..MOST_WORKERS));
        (index < MOST_WORKERS).then_some(Self(index))
    }

    pub(super) fn index(self) -> u64 {
        self.0
    }

    /// The number of its first request.
    pub(super) fn first_number(self) -> u64 {
        self.0 * REQUESTS
    }

    /// Its seed, if `seed` is that of the whole run. The first worker has the seed itself.
    pub(super) fn seed(self, seed: u64) -> u64 {
        // An odd number: so every index gives another seed.
        seed.wrapping_add(self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Where its first arrival lies between two of its arrivals, from 0 to 1. The parts of any number of workers are spread evenly.
    pub(super) fn part(self) -> f64 {
        (float(self.0) * 0.618_033_988_749_895).fract()
    }
}

/// The requests of a worker.
#[derive(Debug)]
pub(super) struct Corpus {
    /// The part of the worker.
    pub(super) shard: Shard,
    /// Every scenario that the worker can send.
    pub(super) mix: Mix,
}

impl Corpus {
    /// Draws the requests of one scenario, or of all that the profile allows for the name `mixed`.
    pub(super) fn draw(
        known: &dyn Knowledge,
        scenario: &str,
        seed: u64,
        shard: Shard,
    ) -> Result<Self, String> {
        let mut generator = RequestGenerator::new(known, shard.seed(seed), SEQUENCES);
        let scenario = if scenario.is_empty() { MIXED } else { scenario };
        let mix = Mix::new(scenario, &Weights::new(), &mut generator)?;
        Ok(Self { shard, mix })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use paymaster_fee_quote::SPECIFICATION;
    use paymaster_reference_server::Config;
    use paymaster_settings::embedded::profile_of;
    use serde_json::Value;

    use super::*;
    use crate::scenarios::FIRST_ID;

    /// Ids and operations of the first requests of two workers, and of one worker at its last number.
    #[test]
    fn workers_send_no_request_twice() {
        let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
        let (mut ids, mut operations) = (BTreeSet::new(), BTreeSet::new());
        let mut templates = BTreeSet::new();
        for index in [0, 1, MOST_WORKERS - 1] {
            let shard = Shard::new(Some(index)).unwrap();
            let corpus = Corpus::draw(&*known, "sponsor-sponsored", 1, shard).unwrap();
            for number in [0, 1, 2, REQUESTS - 1] {
                let number = shard.first_number() + number;
                assert!((FIRST_ID + number).to_string().len() == 13, "{number}");
                let template = &corpus.mix.sequence(number)[0];
                let body: Value = serde_json::from_slice(&template.body(number, None)).unwrap();
                assert!(ids.insert(body["id"].to_string()), "{index}: {number}");
                assert!(operations.insert(body["params"][0].to_string()), "{index}: {number}");
                templates.insert(template.body(0, None));
            }
        }
        // With the same number, the requests of the workers differ as well, because they are drawn with other seeds.
        assert!(templates.len() > 8, "{}", templates.len());
        assert_eq!(Shard::new(Some(MOST_WORKERS)), None);
        assert_eq!(Shard::new(Some(0)).unwrap().seed(7), 7);
    }

    #[test]
    fn the_arrivals_of_workers_are_spread() {
        let mut parts: Vec<f64> = (0..10).map(|index| Shard(index).part()).collect();
        parts.sort_by(f64::total_cmp);
        assert!(parts.windows(2).all(|pair| pair[1] - pair[0] > 0.03), "{parts:?}");
    }
}
