//! How fast requests leave: rate limit, pauses that the target asks for, the pace that it bears, request budget.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use crate::stop::{Reason, Stop};

/// Pauses that are shared by everything that sends.
#[derive(Debug)]
pub struct Pace {
    /// The least time between two requests that the user allows.
    least: Duration,
    /// The time between two requests, in nanoseconds: what the user allows, or what the target was seen to bear.
    interval: AtomicU64,
    next_slot: Mutex<Instant>,
    paused: AtomicBool,
    stretch: Mutex<Stretch>,
    answered: AtomicU64,
    /// Requests that were sent or wait for their turn: they count for the budget.
    claimed: AtomicUsize,
    sent: AtomicUsize,
    budget: usize,
    /// When the run must be over.
    ends: Instant,
}

/// The time since the last pause, and the pause that is asked for now.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// When the last pause was over.
    since: Instant,
    /// How many requests had been answered then.
    answered: u64,
    /// When the present pause is over, or the last one was.
    until: Instant,
    /// How many requests were put off in the present pause.
    put_off: u32,
    /// The pace of the stretch before the pause, the pause included.
    borne: Duration,
}

/// So many requests put off in one pause, and the target has a rate limit; fewer may be chance.
const LIMITED: u32 = 3;

/// A pace is learned with so much to spare, in percent.
const SPARE: u32 = 110;

/// A pause up to this long is kept even where the run ends in it.
const SHORT: Duration = Duration::from_secs(10);

/// After so many answers at a learned pace, it is quickened by a hundredth: the first measure may have been too careful.
const QUICKENED_EVERY: u64 = 10;

impl Pace {
    /// A pace of at most `rate` requests a second and `budget` requests in all, for a run that must be over at `ends`.
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
                put_off: 0,
                borne: Duration::ZERO,
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

    /// The time between two requests, where a rate limit is set or was learned.
    pub fn interval(&self) -> Option<Duration> {
        let interval = Duration::from_nanos(self.interval.load(Ordering::Relaxed));
        Some(interval).filter(|interval| !interval.is_zero())
    }

    /// Requests that were answered, and not put off.
    pub fn answers(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Waits for the turn of one request; false when the budget is spent, and then the run is over.
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
            // Behind the pause: who waited for its end leaves at the pace that was learned in it.
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

    /// A request was answered, and not put off.
    pub fn answered(&self) {
        let answered = self.answered.fetch_add(1, Ordering::Relaxed);
        let interval = self.interval.load(Ordering::Relaxed);
        if interval > nanos(self.least) && answered.is_multiple_of(QUICKENED_EVERY) {
            let quicker = (interval - interval / 100).max(nanos(self.least));
            self.interval.store(quicker, Ordering::Relaxed);
        }
    }

    /// Nothing is sent for that long. When the run would be over first, it is over now; a short pause is kept, so that the run ends
    /// by its time limit.
    ///
    /// When several requests are put off together, the target has a rate limit: from then on requests leave at the pace that it
    /// bore until now, so that the run comes to its end.
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
                put_off: 0,
                borne: until.saturating_duration_since(stretch.since) / served.max(1),
            };
        }
        stretch.put_off += 1;
        stretch.until = stretch.until.max(until);
        stretch.since = stretch.until;
        if stretch.put_off == LIMITED {
            let slower = nanos(stretch.borne * SPARE / 100);
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
    fn one_that_is_put_off_is_chance_and_several_are_a_limit() {
        let (pace, stop) = (pace(None), Stop::default());
        for _ in 0..50 {
            pace.answered();
        }
        pace.pause(Duration::from_secs(1), &stop);
        pace.pause(Duration::from_secs(1), &stop);
        assert_eq!(interval(&pace), Duration::ZERO);
        pace.pause(Duration::from_secs(1), &stop);
        // 50 in a second and the little time that this test took, and a tenth to spare.
        assert!(
            interval(&pace) >= Duration::from_millis(22),
            "{:?}",
            interval(&pace)
        );
        let learned = interval(&pace);
        pace.pause(Duration::from_secs(1), &stop);
        assert_eq!(interval(&pace), learned, "learned once in a pause");
        assert!(stop.reason().is_none());
    }

    #[test]
    fn a_learned_pace_quickens_and_never_beyond_what_the_user_allows() {
        let (pace, stop) = (pace(Some(100.0)), Stop::default());
        for _ in 0..3 {
            pace.pause(Duration::from_secs(1), &stop);
        }
        let learned = interval(&pace);
        assert!(
            learned >= Duration::from_secs(1),
            "nothing was answered: one a pause"
        );
        for _ in 0..100 {
            pace.answered();
        }
        assert!(interval(&pace) < learned);
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
    fn a_target_that_answered_and_asks_to_wait_is_limited() {
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
