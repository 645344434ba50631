//! When iterations are due: a pure function of the requested rate.

use std::{sync::Arc, time::Duration};

use parking_lot::{RwLock, RwLockWriteGuard};

use crate::number::{float, random_part, whole};

/// A rate that changes linearly from one point in time to the next.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// When it begins, in seconds after the start.
    start: f64,
    seconds: f64,
    /// Arrivals per second at its beginning and at its end.
    from: f64,
    to: f64,
    /// Arrivals before the segment.
    before: f64,
}

impl Segment {
    /// Arrivals in the first `seconds` of the segment.
    fn arrivals(&self, seconds: f64) -> f64 {
        let slope = (self.to - self.from) / self.seconds;
        self.from * seconds + slope * seconds * seconds / 2.0
    }

    /// Arrivals per second at a time after the start of the run.
    fn rate(&self, second: f64) -> f64 {
        self.from + (self.to - self.from) * (second - self.start) / self.seconds
    }

    /// The inverse of [`Self::arrivals`].
    fn seconds_of(&self, arrivals: f64) -> f64 {
        if arrivals <= 0.0 {
            return 0.0;
        }
        let slope = (self.to - self.from) / self.seconds;
        if slope.abs() < 1e-12 {
            return arrivals / self.from;
        }
        // The stable form of the quadratic formula.
        let root = (self.from * self.from + 2.0 * slope * arrivals).max(0.0).sqrt();
        2.0 * arrivals / (self.from + root)
    }
}

/// The times at which iterations are due.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Schedule {
    segments: Vec<Segment>,
    /// The number of arrivals.
    pub total: u64,
    /// Arrivals at random; none for arrivals at regular distances.
    random: Option<Arc<PoissonArrivals>>,
}

impl Schedule {
    /// A constant rate per second.
    pub fn constant(rate: f64, length: Duration) -> Self {
        Self::new(rate, &[(rate, length)])
    }

    /// Begins at the rate `first` and reaches the rate of each step in its time, linearly. A step without length is a jump.
    pub fn new(first: f64, steps: &[(f64, Duration)]) -> Self {
        let (mut start, mut from, mut before) = (0.0, first, 0.0);
        let mut segments = Vec::new();
        for (to, length) in steps {
            let seconds = length.as_secs_f64();
            if seconds > 0.0 {
                let segment = Segment { start, seconds, from, to: *to, before };
                before += segment.arrivals(seconds);
                start += seconds;
                segments.push(segment);
            }
            from = *to;
        }
        Self { segments, total: whole(before + 1e-6), random: None }
    }

    /// The same rates, of which each has a share (0 to 1) from a time after the start on. Nothing arrives before the first share.
    pub fn scaled(&self, shares: &[(Duration, f64)]) -> Self {
        let changes = || shares.iter().map(|(from, _)| from.as_secs_f64());
        let mut steps = Vec::new();
        for segment in &self.segments {
            let end = segment.start + segment.seconds;
            let inside = changes().filter(|at| *at > segment.start && *at < end);
            let cuts: Vec<f64> = [segment.start].into_iter().chain(inside).chain([end]).collect();
            for cut in cuts.windows(2) {
                let share = changes().take_while(|from| *from <= cut[0]).count().checked_sub(1);
                let share = share.map_or(0.0, |place| shares[place].1);
                let length = Duration::from_secs_f64(cut[1] - cut[0]);
                steps.extend([
                    (segment.rate(cut[0]) * share, Duration::ZERO),
                    (segment.rate(cut[1]) * share, length),
                ]);
            }
        }
        Self::new(0.0, &steps)
    }

    /// The same rates with the arrivals of a Poisson process, as of many clients that do not know each other. The same seed gives the
    /// same times.
    pub fn poisson(self, seed: u64) -> Self {
        let mut random = self.endless_poisson(seed);
        random.total = random.random.as_ref().map_or(0, |arrivals| arrivals.total());
        random
    }

    /// The same for a schedule that is longer than any run: its arrivals are not counted in advance. [`Self::total`] is then a number
    /// that is never reached.
    pub fn endless_poisson(mut self, seed: u64) -> Self {
        self.random = Some(Arc::new(PoissonArrivals::new(seed, self.expected())));
        self.total = u64::MAX;
        self
    }

    /// The mean number of arrivals of all segments.
    fn expected(&self) -> f64 {
        let last = self.segments.last();
        last.map_or(0.0, |last| last.before + last.arrivals(last.seconds))
    }

    /// The same rates, with every arrival later by this part (0 to 1) of the distance to the next one. Machines that share a rate
    /// have different parts, so that their arrivals do not coincide.
    pub fn shifted(mut self, part: f64) -> Self {
        for segment in &mut self.segments {
            segment.before -= part;
        }
        self.total = whole((self.expected() - 1e-6).max(0.0).ceil());
        self
    }

    /// When arrival `index` (from 0) is due, after the start; `None` after the last one.
    pub fn due(&self, index: u64) -> Option<Duration> {
        if index >= self.total {
            return None;
        }
        let number = float(index);
        let number = self.random.as_ref().map_or(Some(number), |random| random.position(index))?;
        let place = self.segments.partition_point(|segment| segment.before <= number).max(1);
        let segment = self.segments.get(place - 1)?;
        let seconds = segment.seconds_of(number - segment.before).clamp(0.0, segment.seconds);
        Duration::try_from_secs_f64(segment.start + seconds).ok()
    }

    /// How many arrivals are due before this time after the start.
    pub fn due_before(&self, elapsed: Duration) -> u64 {
        let just_before = elapsed.checked_sub(Duration::from_nanos(1));
        just_before.map_or(0, |moment| self.due_by(moment))
    }

    /// How many arrivals are due before or at this time after the start.
    pub fn due_by(&self, elapsed: Duration) -> u64 {
        let seconds = elapsed.as_secs_f64();
        let place = self.segments.partition_point(|segment| segment.start <= seconds);
        let Some(segment) = place.checked_sub(1).and_then(|place| self.segments.get(place)) else { return 0 };
        let inside = (seconds - segment.start).min(segment.seconds);
        let expected = segment.before + segment.arrivals(inside);
        let count =
            self.random.as_ref().map_or_else(|| whole(expected), |random| random.count_before(expected));
        let mut count = count.saturating_add(2).min(self.total);
        // Both functions round. The result of `due` decides.
        while count > 0 && self.due(count - 1).is_none_or(|due| due > elapsed) {
            count -= 1;
        }
        count
    }
}

/// The current schedule of a run. It can be replaced while the run goes on: a Locust master changes the share of a worker when it adds or
/// moves users. At first, nothing arrives.
#[derive(Debug, Default)]
pub struct Timetable(RwLock<Arc<Schedule>>);

impl Timetable {
    pub fn new(schedule: Schedule) -> Self {
        Self(RwLock::new(Arc::new(schedule)))
    }

    pub fn current(&self) -> Arc<Schedule> {
        Arc::clone(&self.0.read())
    }

    /// Replaces the schedule. The arrivals that are due already must be the same in both.
    pub fn replace(&self, schedule: Schedule) {
        *self.0.write() = Arc::new(schedule);
    }
}

// Arrivals of a Poisson process: independent of each other, as those of many clients.
//
// Positions are on an axis on which one arrival is expected per unit; the schedule maps them to times. The axis is cut into blocks, and the
// arrivals of a block are drawn from the seed and its number alone. So the position of any arrival is a pure function, without a
// list of all of them. Only how many come before each block is remembered, 8 bytes for 64 arrivals.

/// The length of a block: so many arrivals are expected in it.
const BLOCK: f64 = 64.0;

/// The arrivals of a Poisson process.
#[derive(Debug)]
struct PoissonArrivals {
    seed: u64,
    end: f64,
    /// How many arrivals come before each block, for the blocks that were needed so far.
    before: RwLock<Vec<u64>>,
}

impl PoissonArrivals {
    /// The arrivals from 0 to `end`, which may be very far.
    fn new(seed: u64, end: f64) -> Self {
        Self { seed, end, before: RwLock::new(vec![0]) }
    }

    /// The number of all arrivals. It draws all of them.
    fn total(&self) -> u64 {
        self.count_before(self.end)
    }

    /// The position of arrival `index` (from 0); none after the last one.
    fn position(&self, index: u64) -> Option<f64> {
        let (block, before) = self.block_of(|before| before > index)?;
        let inside = usize::try_from(index - before).ok()?;
        self.block(block).nth(inside)
    }

    /// How many arrivals are before or at a position.
    fn count_before(&self, position: f64) -> u64 {
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

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_constant_rate_is_met_exactly() {
        for rate in [0.5, 1.0, 3.0, 500.0, 30_000.0] {
            let schedule = Schedule::constant(rate, SECOND * 60);
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let total = schedule.total as f64;
            assert!((total - rate * 60.0).abs() < 1.0, "{rate}: {total}");
            assert_eq!(schedule.due(0), Some(Duration::ZERO));
            let last = schedule.due(schedule.total - 1).unwrap();
            assert!(last < SECOND * 60);
            assert_eq!(schedule.due(schedule.total), None);
        }
    }

    #[test]
    fn due_and_due_by_are_inverse() {
        let shapes = [
            Schedule::constant(333.0, SECOND * 10),
            Schedule::new(0.0, &[(1_000.0, SECOND * 5), (1_000.0, SECOND), (10.0, SECOND * 3)]),
            Schedule::new(100.0, &[(100.0, SECOND), (2_000.0, Duration::ZERO), (2_000.0, SECOND)]),
        ];
        for schedule in shapes {
            let mut last = Duration::ZERO;
            for index in 0..schedule.total {
                let due = schedule.due(index).unwrap();
                assert!(due >= last, "{index}");
                last = due;
                assert!(schedule.due_by(due) > index, "{index}");
                if let Some(before) = due.checked_sub(Duration::from_nanos(2)) {
                    assert!(schedule.due_by(before) <= index + 1, "{index}");
                }
            }
            assert_eq!(schedule.due_by(SECOND * 1_000), schedule.total);
        }
    }

    #[test]
    fn a_ramp_has_half_of_the_arrivals_of_its_final_rate() {
        let ramp = Schedule::new(0.0, &[(1_000.0, SECOND * 10)]);
        assert_eq!(ramp.total, 5_000);
        // A quarter of the arrivals is due in half of the time.
        assert!(ramp.due_by(SECOND * 5).abs_diff(1_250) <= 1);
    }

    #[test]
    fn a_shift_moves_every_arrival_by_the_same_part() {
        let plain = Schedule::constant(10.0, SECOND * 2);
        for part in [0.0, 0.25, 0.999] {
            let shifted = plain.clone().shifted(part);
            assert_eq!(shifted.total, plain.total, "{part}");
            for index in 0..shifted.total {
                let due = |schedule: &Schedule| schedule.due(index).unwrap().as_secs_f64();
                let late = due(&shifted) - due(&plain);
                assert!((late - part / 10.0).abs() < 1e-6, "{part}: {index}");
                assert_eq!(shifted.due_by(shifted.due(index).unwrap()), index + 1);
            }
        }
        assert_eq!(Schedule::new(0.0, &[]).shifted(0.5).total, 0);
    }

    #[test]
    fn poisson_arrivals_follow_the_rate() {
        let steps = [(400.0, SECOND * 20), (400.0, SECOND * 20), (0.0, Duration::ZERO), (0.0, SECOND * 2)];
        let schedule = Schedule::new(0.0, &steps).poisson(5);
        // 4,000 in the ramp and 8,000 after it, each within five standard deviations.
        let ramp = schedule.due_by(SECOND * 20);
        assert!(ramp.abs_diff(4_000) < 5 * 64, "{ramp}");
        assert!((schedule.total - ramp).abs_diff(8_000) < 5 * 90, "{}", schedule.total);
        let mut last = Duration::ZERO;
        for index in 0..schedule.total {
            let due = schedule.due(index).unwrap();
            assert!(due >= last && due <= SECOND * 40, "{index}");
            assert!(schedule.due_by(due) > index, "{index}");
            last = due;
        }
        assert_eq!(schedule.due(schedule.total), None);
        assert_eq!(schedule.due_by(SECOND * 99), schedule.total);
    }

    #[test]
    fn a_jump_takes_no_time() {
        let spike = Schedule::new(
            10.0,
            &[
                (10.0, SECOND),
                (100.0, Duration::ZERO),
                (100.0, SECOND),
                (10.0, Duration::ZERO),
                (10.0, SECOND),
            ],
        );
        assert_eq!(spike.total, 120);
        assert_eq!(spike.due_before(SECOND * 2) - spike.due_before(SECOND), 100);
        assert_eq!(spike.due_before(Duration::ZERO), 0);
    }

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
