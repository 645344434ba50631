//! How fast requests are sent: the rate limit of the user, pauses for Retry-After, the rate limit of the target, the request budget.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use crate::stop::{Reason, Stop};

/// The pace of a run, shared by all tasks that send requests.
#[derive(Debug)]
pub struct Pace {
    /// The time between two requests by the rate limit of the user.
    least: Duration,
    /// The time between two requests, in nanoseconds: by the rate limit of the user, or by the detected one of the target.
    interval: AtomicU64,
    next_slot: Mutex<Instant>,
    paused: AtomicBool,
    stretch: Mutex<Stretch>,
    answered: AtomicU64,
    /// Requests that were sent or wait for their turn. Both count for the budget.
    claimed: AtomicUsize,
    sent: AtomicUsize,
    budget: usize,
    /// The time limit of the run.
    ends: Instant,
}

/// The time since the last pause, and the present pause.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The end of the last pause.
    since: Instant,
    /// How many requests had been answered at that time.
    answered: u64,
    /// The end of the present pause, or of the last one.
    until: Instant,
    /// How many requests were throttled in the present pause.
    throttled: u32,
    /// The time for each answered request before the present pause, the pause included.
    per_answer: Duration,
}

/// How many requests must be throttled in one pause before the target counts as rate-limited. Fewer may be chance.
const LIMITED: u32 = 3;

/// The interval that is kept for a detected rate limit, in percent of the measured one.
const MARGIN: u32 = 110;

/// A pause up to this long is kept even where the time limit passes in it.
const SHORT: Duration = Duration::from_secs(10);

/// After this many answers at a detected rate limit, the interval is shortened by a hundredth: the first measurement may be too slow.
const SHORTENED_EVERY: u64 = 10;

impl Pace {
    /// A pace of at most `rate` requests a second and `budget` requests in all, for a run that ends at `ends`.
    pub fn new(rate: Option<f64>, budget: Option<usize>, ends: Instant) -> Self {
        let now = Instant::now();
        let least = rate.map_or(Duration::ZERO, |rate| Duration::from_secs_f64(1.0 / rate));
        Self {
            least,
            interval: AtomicU64::new(nanos(least)),
            next_slot: Mutex::new(now),
            paused: AtomicBool::new(false),
            stretch: Mutex::new(Stretch {
                since: now,
                answered: 0,
                until: now,
                throttled: 0,
                per_answer: Duration::ZERO,
            }),
            answered: AtomicU64::new(0),
            claimed: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
            budget: budget.unwrap_or(usize::MAX),
            ends,
        }
    }

    /// Requests sent so far.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// Requests that may still be sent.
    pub fn left(&self) -> usize {
        self.budget.saturating_sub(self.claimed.load(Ordering::Relaxed))
    }

    /// The time between two requests; none without a rate limit.
    pub fn interval(&self) -> Option<Duration> {
        let interval = Duration::from_nanos(self.interval.load(Ordering::Relaxed));
        Some(interval).filter(|interval| !interval.is_zero())
    }

    /// Requests that were answered and not throttled.
    pub fn answers(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Waits for the turn of one request. False when the budget is used up; the run then ends.
    pub async fn turn(&self, stop: &Stop) -> bool {
        let spent = self
            .claimed
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |claimed| {
                (claimed < self.budget).then_some(claimed + 1)
            })
            .is_err();
        if spent {
            stop.trigger(Reason::Budget);
            return false;
        }
        self.wait().await;
        self.sent.fetch_add(1, Ordering::Relaxed);
        true
    }

    async fn wait(&self) {
        loop {
            while self.paused.load(Ordering::Acquire) {
                let until = self.stretch().until;
                if until <= Instant::now() {
                    self.paused.store(false, Ordering::Release);
                } else {
                    sleep_until(until).await;
                }
            }
            // Read after the pause: a rate limit may have been detected in it.
            let Some(interval) = self.interval() else {
                return;
            };
            let slot = {
                let mut next = self.next_slot.lock().unwrap_or_else(PoisonError::into_inner);
                let slot = (*next).max(Instant::now());
                *next = slot + interval;
                slot
            };
            sleep_until(slot).await;
            if !self.paused.load(Ordering::Acquire) {
                return;
            }
        }
    }

    /// Counts a request that was answered and not throttled.
    pub fn answered(&self) {
        let answered = self.answered.fetch_add(1, Ordering::Relaxed);
        let interval = self.interval.load(Ordering::Relaxed);
        if interval > nanos(self.least) && answered.is_multiple_of(SHORTENED_EVERY) {
            let shorter = (interval - interval / 100).max(nanos(self.least));
            self.interval.store(shorter, Ordering::Relaxed);
        }
    }

    /// Sends nothing for that long. Where the run would end first, it ends now; a pause of at most 10 s is kept all the same.
    ///
    /// When three requests are throttled in one pause, the target has a rate limit. A rate limit detected this way is respected for
    /// the rest of the run.
    pub fn pause(&self, pause: Duration, stop: &Stop) {
        let now = Instant::now();
        let until = now + pause;
        if until >= self.ends && self.answers() == 0 {
            stop.trigger(Reason::GaveUp(format!(
                "the target put off every request, and asked to wait {} s, longer than the time limit leaves",
                pause.as_secs()
            )));
            return;
        }
        if until >= self.ends && pause > SHORT {
            stop.trigger(Reason::Limited(format!(
                "the target limits how many requests it takes: it asked to wait {} s (Retry-After), longer than the time limit leaves",
                pause.as_secs()
            )));
            return;
        }
        let mut stretch = self.stretch();
        if now >= stretch.until {
            let answered = self.answered.load(Ordering::Relaxed);
            let served = u32::try_from(answered - stretch.answered).unwrap_or(u32::MAX);
            *stretch = Stretch {
                since: until,
                answered,
                until,
                throttled: 0,
                per_answer: until.saturating_duration_since(stretch.since) / served.max(1),
            };
        }
        stretch.throttled += 1;
        stretch.until = stretch.until.max(until);
        stretch.since = stretch.until;
        if stretch.throttled == LIMITED {
            let slower = nanos(stretch.per_answer * MARGIN / 100);
            self.interval.fetch_max(slower, Ordering::Relaxed);
            *self.next_slot.lock().unwrap_or_else(PoisonError::into_inner) = stretch.until;
        }
        self.paused.store(true, Ordering::Release);
    }

    fn stretch(&self) -> MutexGuard<'_, Stretch> {
        self.stretch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(rate: Option<f64>) -> Pace {
        Pace::new(rate, None, Instant::now() + Duration::from_mins(5))
    }

    fn interval(pace: &Pace) -> Duration {
        Duration::from_nanos(pace.interval.load(Ordering::Relaxed))
    }

    #[test]
    fn one_throttled_request_is_chance_and_three_are_a_rate_limit() {
        let (pace, stop) = (pace(None), Stop::default());
        for _ in 0..50 {
            pace.answered();
        }
        pace.pause(Duration::from_secs(1), &stop);
        pace.pause(Duration::from_secs(1), &stop);
        assert_eq!(interval(&pace), Duration::ZERO);
        pace.pause(Duration::from_secs(1), &stop);
        // 50 in a second and the short time of this test, and a margin of a tenth.
        assert!(
            interval(&pace) >= Duration::from_millis(22),
            "{:?}",
            interval(&pace)
        );
        let detected = interval(&pace);
        pace.pause(Duration::from_secs(1), &stop);
        assert_eq!(interval(&pace), detected, "detected once in a pause");
        assert!(stop.reason().is_none());
    }

    #[test]
    fn a_detected_interval_shrinks_to_that_of_the_user_at_least() {
        let (pace, stop) = (pace(Some(100.0)), Stop::default());
        for _ in 0..3 {
            pace.pause(Duration::from_secs(1), &stop);
        }
        let detected = interval(&pace);
        assert!(
            detected >= Duration::from_secs(1),
            "nothing was answered: one request in a pause"
        );
        for _ in 0..100 {
            pace.answered();
        }
        assert!(interval(&pace) < detected);
        for _ in 0..100_000 {
            pace.answered();
        }
        assert_eq!(interval(&pace), Duration::from_millis(10));
    }

    #[test]
    fn a_pause_longer_than_the_run_ends_it() {
        let (pace, stop) = (pace(None), Stop::default());
        pace.pause(Duration::from_hours(1), &stop);
        assert!(matches!(stop.reason(), Some(Reason::GaveUp(_))));
    }

    #[test]
    fn a_target_that_answered_before_a_long_pause_is_rate_limited() {
        let (pace, stop) = (pace(None), Stop::default());
        pace.answered();
        pace.pause(Duration::from_hours(1), &stop);
        assert!(matches!(stop.reason(), Some(Reason::Limited(_))));

        let soon = Pace::new(None, None, Instant::now() + Duration::from_secs(2));
        let stop = Stop::default();
        soon.answered();
        soon.pause(Duration::from_secs(5), &stop);
        assert_eq!(stop.reason(), None, "the time limit ends it");
    }
}
