//! A mergeable histogram of latencies with three significant digits from 100 ns to one hour, precise enough for p99.99.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

use crate::number::{float, nanoseconds};

/// The smallest difference that is kept, in nanoseconds.
const FINEST: u64 = 100;
/// The longest latency, in nanoseconds: one hour. Longer ones count as this one.
const LONGEST: u64 = 3_600_000_000_000;
/// Significant decimal digits: the error is at most 0.1 %.
const DIGITS: u8 = 3;

/// The percentiles that reports show.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// Latencies of many exchanges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LatencyHistogram(Histogram<u64>);

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self(
            Histogram::new_with_bounds(FINEST, LONGEST, DIGITS)
                .expect("the bounds are constants that the crate accepts: every test makes one"),
        )
    }
}

impl LatencyHistogram {
    /// Counts one latency.
    pub fn record(&mut self, latency: Duration) {
        self.0.saturating_record(nanoseconds(latency));
    }

    /// Adds other latencies.
    pub fn merge(&mut self, other: &Self) {
        // It fails for values out of bounds only, and the bounds are equal.
        let _ = self.0.add(&other.0);
    }

    /// The latencies that were counted since an earlier moment of the same histogram, shortest first, each with how often.
    pub fn since(&self, earlier: &Self) -> Vec<(Duration, u64)> {
        let mut more = self.0.clone();
        // It fails if `earlier` has latencies that are not in this one. Then the difference is everything.
        let _ = more.subtract(&earlier.0);
        let recorded = more.iter_recorded();
        recorded.map(|step| (Duration::from_nanos(step.value_iterated_to()), step.count_at_value())).collect()
    }

    /// For each of these ascending bounds (in seconds) the number of latencies up to it that exceed the bound before, and the sum of all
    /// latencies in seconds, within 0.1 %.
    pub fn buckets(&self, bounds: &[f64]) -> (Vec<(f64, u64)>, f64) {
        let mut buckets: Vec<(f64, u64)> = bounds.iter().map(|bound| (*bound, 0)).collect();
        let mut sum = 0.0;
        for step in self.0.iter_recorded() {
            let seconds = Duration::from_nanos(step.value_iterated_to()).as_secs_f64();
            let count = step.count_at_value();
            sum += seconds * float(count);
            let place = bounds.partition_point(|bound| *bound < seconds);
            if let Some((_, bucket)) = buckets.get_mut(place) {
                *bucket += count;
            }
        }
        (buckets, sum)
    }

    /// How many latencies were counted.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether no latency was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The latency that `percent` (0 to 100) of the exchanges did not exceed; `None` without exchanges.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.value_at_percentile(percent)))
    }

    /// The mean; `None` without exchanges.
    pub fn mean(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_secs_f64(self.0.mean() / 1e9))
    }

    /// The longest latency; `None` without exchanges.
    pub fn max(&self) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.0.max()))
    }

    /// Points of the distribution for a plot: percentages that approach 100, with their latencies.
    pub fn distribution(&self) -> Vec<(f64, Duration)> {
        let steps = (1..=200).map(|step| 100.0 * (1.0 - 10_f64.powf(-f64::from(step) / 50.0)));
        let mut points = Vec::new();
        for percent in steps {
            // Percentages closer to 100 than one exchange add nothing.
            let last = (100.0 - percent) / 100.0 * float(self.len()) < 1.0;
            points.extend(self.percentile(percent).map(|latency| (percent, latency)));
            if last {
                break;
            }
        }
        points
    }
}

/// In JSON, a histogram is in the compressed format of HdrHistogram (V2 deflate), in base64.
impl From<LatencyHistogram> for String {
    fn from(histogram: LatencyHistogram) -> Self {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = V2DeflateSerializer::new().serialize(&histogram.0, &mut bytes);
        STANDARD.encode(bytes)
    }
}

impl TryFrom<String> for LatencyHistogram {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let not_base64 = |cause| format!("a histogram is not base64: {cause}");
        let bytes = STANDARD.decode(text).map_err(not_base64)?;
        let read = Deserializer::new().deserialize::<u64, _>(&mut bytes.as_slice());
        let read = read.map_err(|cause| format!("a histogram cannot be read: {cause}"))?;
        let mut own = Self::default();
        own.0.add(&read).map_err(|cause| format!("a histogram has other bounds: {cause}"))?;
        Ok(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: impl IntoIterator<Item = u64>) -> LatencyHistogram {
        let mut latencies = LatencyHistogram::default();
        for micro in micros {
            latencies.record(Duration::from_micros(micro));
        }
        latencies
    }

    fn near(latency: Option<Duration>, micros: f64) -> bool {
        latency.is_some_and(|latency| (latency.as_secs_f64() * 1e6 / micros - 1.0).abs() < 0.002)
    }

    #[test]
    fn percentiles_keep_three_digits_to_the_far_end() {
        let latencies = of(1..=100_000);
        for (percent, micros) in [(50.0, 50_000.0), (99.0, 99_000.0), (99.99, 99_990.0)] {
            assert!(near(latencies.percentile(percent), micros), "{percent}");
        }
        assert!(near(latencies.mean(), 50_000.5));
        assert!(near(latencies.max(), 100_000.0));
        assert_eq!(LatencyHistogram::default().percentile(50.0), None);
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
    fn an_encoded_histogram_can_be_decoded() {
        let latencies = of((1..=5_000).map(|n| n * n));
        assert_eq!(LatencyHistogram::try_from(String::from(latencies.clone())).unwrap(), latencies);
        assert!(LatencyHistogram::try_from("no base64!".to_owned()).is_err());
        assert!(LatencyHistogram::try_from("AAAA".to_owned()).is_err());
    }
}
