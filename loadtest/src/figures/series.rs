//! Figures by time: one slot per second. When there are too many slots, pairs of slots are joined, so that a long run needs no more
//! memory than a short one.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{Outcome, OutcomeCounts};
use crate::number::float;

/// Most slots of a series.
const MOST_SLOTS: usize = 600;
/// Latency classes per doubling of the latency: neighbours differ by 4.4 %.
const PER_DOUBLING: u32 = 16;
/// The upper end of the first class, in nanoseconds.
const FIRST: f64 = 1_000.0;
/// The last class: about 19 hours.
const LAST: u16 = 36 * 16;

/// The figures of one slot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSlot {
    /// Requests with their intended start in the slot.
    pub due: u64,
    /// Open model: arrivals that the schedule asked for in the slot, sent or not. A journey is one arrival.
    pub arrivals: u64,
    /// The time that users were there, in milliseconds, added up over the users: 5 users in a slot of one second are 5000.
    pub user_ms: u64,
    /// Outcomes of the requests that ended in the slot.
    pub counts: OutcomeCounts,
    /// How many latencies are in each class.
    pub classes: BTreeMap<u16, u32>,
}

impl TimeSlot {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.due += other.due;
        self.arrivals += other.arrivals;
        self.user_ms += other.user_ms;
        self.counts.merge(&other.counts);
        for (class, times) in &other.classes {
            *self.classes.entry(*class).or_default() += times;
        }
    }

    /// The latency that `percent` (0 to 100) of the requests did not exceed, within 5 %; `None` without latencies.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        let all: u64 = self.classes.values().map(|times| u64::from(*times)).sum();
        let rank = (percent / 100.0 * float(all)).max(1.0);
        let mut passed = 0.0;
        let reached = self.classes.iter().find(|(_, times)| {
            passed += f64::from(**times);
            passed >= rank
        });
        reached.map(|(class, _)| middle(*class))
    }
}

fn class(latency: Duration) -> u16 {
    let doublings = (latency.as_secs_f64() * 1e9 / FIRST).log2();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the classes, and a float that is none becomes 0"
    )]
    let class = (doublings * f64::from(PER_DOUBLING)).clamp(0.0, f64::from(LAST)) as u16;
    class
}

fn middle(class: u16) -> Duration {
    let doublings = (f64::from(class) + 0.5) / f64::from(PER_DOUBLING);
    Duration::from_secs_f64(FIRST * doublings.exp2() / 1e9)
}

/// The slots of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeSeries {
    /// Seconds in a slot: a power of two.
    #[serde(deserialize_with = "power_of_two")]
    pub seconds: u32,
    /// The slots, from the first measured second on.
    pub slots: Vec<TimeSlot>,
}

fn power_of_two<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let seconds = Some(u32::deserialize(deserializer)?).filter(|seconds| seconds.is_power_of_two());
    seconds.ok_or_else(|| D::Error::custom("the length of a slot is not a power of two"))
}

impl Default for TimeSeries {
    fn default() -> Self {
        Self { seconds: 1, slots: Vec::new() }
    }
}

impl TimeSeries {
    /// Counts an exchange. `at` is its intended start, relative to the end of the warm-up.
    pub fn record(&mut self, at: Duration, outcome: Outcome, latency: Duration) {
        self.slot(second(at)).due += 1;
        let slot = self.slot(second(at.saturating_add(latency)));
        slot.counts.add(outcome);
        if outcome.is_timed() {
            *slot.classes.entry(class(latency)).or_default() += 1;
        }
    }

    /// Adds users that were there from one time to another, both relative to the end of the warm-up.
    pub(crate) fn add_users(&mut self, users: usize, from: Duration, to: Duration) {
        // Both ends are cut to milliseconds in the same way, so that the parts of a time add up to the whole.
        let (from, to) = (milliseconds(from), milliseconds(to));
        if users == 0 || from >= to {
            return;
        }
        self.slot(second(Duration::from_millis(to - 1)));
        let length = u64::from(self.seconds) * 1_000;
        let first = usize::try_from(from / length).unwrap_or(usize::MAX);
        let mut start = from / length * length;
        for slot in self.slots.iter_mut().skip(first) {
            let shared = to.min(start + length).saturating_sub(from.max(start));
            slot.user_ms += shared * users as u64;
            start += length;
        }
    }

    /// The mean number of users in a slot.
    pub fn users(&self, slot: &TimeSlot) -> f64 {
        self.rate(slot.user_ms) / 1_000.0
    }

    /// The sum of the slots that end less than `span` before this time.
    pub(crate) fn recent(&self, at: Duration, span: Duration) -> TimeSlot {
        let first = second(at.saturating_sub(span)) / self.seconds as usize;
        let mut sum = TimeSlot::default();
        self.slots.iter().skip(first).for_each(|slot| sum.merge(slot));
        sum
    }

    fn slot(&mut self, second: usize) -> &mut TimeSlot {
        while second / self.seconds as usize >= MOST_SLOTS {
            self.coarsen();
        }
        let place = second / self.seconds as usize;
        if self.slots.len() <= place {
            self.slots.resize_with(place + 1, TimeSlot::default);
        }
        &mut self.slots[place]
    }

    fn coarsen(&mut self) {
        self.seconds = self.seconds.saturating_mul(2);
        let old = std::mem::take(&mut self.slots);
        for pair in old.chunks(2) {
            let mut joined = pair[0].clone();
            pair[1..].iter().for_each(|second| joined.merge(second));
            self.slots.push(joined);
        }
    }

    /// Adds another series that began at the same moment of its run.
    pub fn merge(&mut self, other: &Self) {
        while self.seconds < other.seconds {
            self.coarsen();
        }
        for (place, slot) in other.slots.iter().enumerate() {
            self.slot(place * other.seconds as usize).merge(slot);
        }
    }

    /// Adds empty slots up to the end of a run of this length.
    pub fn cover(&mut self, length: Duration) {
        if let Some(last) = length.checked_sub(Duration::from_nanos(1)) {
            self.slot(second(last));
        }
    }

    /// The slots that lie completely in a run of this length. Only these have rates: in a slot that the run barely entered, a few
    /// requests would look like thousands per second.
    pub fn whole(&self, length: Duration) -> &[TimeSlot] {
        let whole = usize::try_from(length.as_secs() / u64::from(self.seconds)).unwrap_or(usize::MAX);
        &self.slots[..self.slots.len().min(whole)]
    }

    /// The rate per second of a count in one slot.
    pub fn rate(&self, count: u64) -> f64 {
        float(count) / f64::from(self.seconds)
    }
}

fn milliseconds(at: Duration) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX)
}

fn second(at: Duration) -> usize {
    usize::try_from(at.as_secs()).unwrap_or(usize::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_long_run_needs_no_more_memory_and_loses_no_request() {
        let mut series = TimeSeries::default();
        for second in 0..10_000 {
            series.record(Duration::from_secs(second), Outcome::Good, MS);
        }
        assert!(series.slots.len() <= MOST_SLOTS);
        assert_eq!(series.slots.iter().map(|slot| slot.counts.all()).sum::<u64>(), 10_000);
        assert_eq!(series.seconds, 32);
        let rates = series.whole(Duration::from_secs(10_000)).iter();
        assert!(rates.map(|slot| series.rate(slot.counts.all())).all(|rate| (rate - 1.0).abs() < 1e-9));
    }

    /// 9,000 arrivals in three seconds against a target that serves 1,000 per second.
    #[test]
    fn answers_after_an_overload_count_when_they_arrive() {
        let mut series = TimeSeries::default();
        for n in 0..9_000_u32 {
            let due = MS * n / 3;
            let latency = (MS * (n + 1)).saturating_sub(due);
            series.record(due, Outcome::Good, latency);
        }
        let length = MS * 9_000;
        series.cover(length);
        let rates = |of: fn(&TimeSlot) -> u64| -> Vec<u64> { series.whole(length).iter().map(of).collect() };
        assert_eq!(rates(|slot| slot.due), [3_000, 3_000, 3_000, 0, 0, 0, 0, 0, 0]);
        assert!(rates(|slot| slot.counts.answered()).iter().all(|rate| rate.abs_diff(1_000) <= 1));
    }

    #[test]
    fn a_slot_that_lies_partly_behind_the_run_has_no_rate() {
        let mut series = TimeSeries::default();
        series.cover(MS * 2_001);
        series.record(MS * 2_000, Outcome::Good, MS);
        series.record(MS * 2_000, Outcome::Timeout, MS * 10_000);
        assert_eq!(series.slots.len(), 13);
        assert_eq!(series.whole(MS * 2_001).len(), 2);
        assert_eq!(series.whole(MS * 999).len(), 0);
    }

    #[test]
    fn percentiles_of_a_slot_are_within_5_percent() {
        let mut series = TimeSeries::default();
        for n in 1..1_000 {
            series.record(Duration::ZERO, Outcome::Good, MS * n);
        }
        series.record(Duration::ZERO, Outcome::Transport, MS);
        for (percent, millis) in [(50.0, 500.0), (95.0, 950.0), (99.0, 990.0)] {
            let shown = series.slots[0].percentile(percent).unwrap().as_secs_f64() * 1_000.0;
            assert!((shown / millis - 1.0).abs() < 0.05, "{percent}: {shown}");
        }
        assert_eq!(series.slots[0].counts.all(), 1_000);
        assert_eq!(TimeSlot::default().percentile(50.0), None);
    }

    #[test]
    fn users_are_counted_by_their_time_and_add_up_over_machines() {
        let mut series = TimeSeries::default();
        series.add_users(4, Duration::ZERO, MS * 1_500);
        series.add_users(10, MS * 1_500, MS * 4_000);
        series.add_users(7, MS * 4_000, MS * 4_000);
        let users = |series: &TimeSeries| -> Vec<f64> {
            series.slots.iter().map(|slot| series.users(slot)).collect()
        };
        assert_eq!(users(&series), [4.0, 7.0, 10.0, 10.0]);
        let mut other = TimeSeries::default();
        // Slots of two seconds.
        other.add_users(3, Duration::ZERO, MS * 1_000_000);
        assert_eq!(other.seconds, 2);
        other.merge(&series);
        assert_eq!(users(&other)[..3], [8.5, 13.0, 3.0]);
        series.merge(&TimeSeries {
            slots: vec![TimeSlot { user_ms: 2_000, arrivals: 5, ..TimeSlot::default() }],
            ..TimeSeries::default()
        });
        assert_eq!((users(&series)[0], series.slots[0].arrivals), (6.0, 5));
    }

    #[test]
    fn series_of_different_coarseness_merge() {
        let (mut long, mut short) = (TimeSeries::default(), TimeSeries::default());
        for second in 0..1_500 {
            long.record(Duration::from_secs(second), Outcome::Good, MS);
        }
        short.record(Duration::from_secs(5), Outcome::Wrong, MS);
        let mut other = long.clone();
        other.merge(&short);
        short.merge(&long);
        assert_eq!(short, other);
        assert_eq!(short.slots[1].counts.of(Outcome::Wrong), 1);
    }
}
