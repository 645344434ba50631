//! Latencies: a mergeable histogram with three significant digits from 100 ns to an hour, so that p99.99 can be trusted.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2DeflateSerializer},
};

/// The finest difference that is kept, in nanoseconds.
const FINEST: u64 = 100;
/// Longer latencies count as this one, in nanoseconds: an hour.
const LONGEST: u64 = 3_600_000_000_000;
/// Significant digits: an error of at most 0.1 %.
const DIGITS: u8 = 3;

/// The percentiles of reports.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Latencies of many exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        Self(
            Histogram::new_with_bounds(FINEST, LONGEST, DIGITS)
                .expect("the bounds are constants that the crate accepts: every test makes one"),
        )
    }
}

impl Latencies {
    /// Takes in one latency.
    pub fn record(&mut self, latency: Duration) {
        self.0
            .saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(LONGEST));
    }

    /// Takes in other latencies.
    pub fn merge(&mut self, other: &Self) {
        // Equal bounds: nothing can be out of them.
        let _ = self.0.add(&other.0);
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The latency that this percentage of exchanges did not exceed; none without exchanges.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.value_at_percentile(percent)))
    }

    /// The mean; none without exchanges.
    pub fn mean(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_secs_f64(self.0.mean() / 1e9))
    }

    /// The longest; none without exchanges.
    pub fn max(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.max()))
    }

    /// Points of the distribution for a plot: percentages that come ever closer to 100, and their latencies.
    pub fn distribution(&self) -> Vec<(f64, Duration)> {
        let steps = (1..=200).map(|step| 100.0 * (1.0 - 10_f64.powf(-f64::from(step) / 50.0)));
        let mut points = Vec::new();
        for percent in steps {
            // Beyond the share of a single exchange there is nothing to see.
            #[expect(clippy::cast_precision_loss, reason = "a share of a count is a float")]
            let last = (100.0 - percent) / 100.0 * (self.len() as f64) < 1.0;
            points.extend(self.percentile(percent).map(|latency| (percent, latency)));
            if last {
                break;
            }
        }
        points
    }

    /// The histogram in the compressed form that the tools of HdrHistogram read, in base64.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = V2DeflateSerializer::new().serialize(&self.0, &mut bytes);
        STANDARD.encode(bytes)
    }

    /// Reads what [`Self::encode`] wrote.
    pub fn decode(text: &str) -> Result<Self, String> {
        let bytes = STANDARD
            .decode(text)
            .map_err(|cause| format!("a histogram is no base64: {cause}"))?;
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|cause| format!("a histogram cannot be read: {cause:?}"))?;
        let mut own = Self::default();
        own.0
            .add(&read)
            .map_err(|cause| format!("a histogram has other bounds: {cause}"))?;
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        for micro in micros {
            latencies.record(Duration::from_micros(micro));
        }
        latencies
    }

    fn near(told: Option<Duration>, micros: f64) -> bool {
        told.is_some_and(|told| (told.as_secs_f64() * 1e6 / micros - 1.0).abs() < 0.002)
    }

    #[test]
    fn percentiles_keep_three_digits_to_the_far_end() {
        let latencies = of(1..=100_000);
        for (percent, micros) in [(50.0, 50_000.0), (99.0, 99_000.0), (99.99, 99_990.0)] {
            assert!(near(latencies.percentile(percent), micros), "{percent}");
        }
        assert!(near(latencies.mean(), 50_000.5));
        assert!(near(latencies.max(), 100_000.0));
        assert_eq!(Latencies::default().percentile(50.0), None);
    }

    #[test]
    fn parts_merge_to_the_whole_whatever_the_order() {
        let (mut left, right) = (of(1..=500), of(501..=1_000));
        let mut other = right.clone();
        other.merge(&left);
        left.merge(&right);
        assert_eq!(left, of(1..=1_000));
        assert_eq!(left, other);
    }

    #[test]
    fn it_survives_being_written() {
        let latencies = of((1..=5_000).map(|n| n * n));
        assert_eq!(Latencies::decode(&latencies.encode()), Ok(latencies));
        assert!(Latencies::decode("no base64!").is_err());
        assert!(Latencies::decode("AAAA").is_err());
    }
}
