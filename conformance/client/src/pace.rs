//! How fast requests are sent: the rate limit of the user, pauses for Retry-After, the rate limit of the target, the request budget.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
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
    detected: Mutex<DetectedLimit>,
    /// How often requests were refused without a time to wait.
    refusals: AtomicUsize,
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
    /// How many requests were answered before the present pause, since the one before.
    served: u32,
    /// The time for each of these requests, the pause included.
    per_answer: Duration,
}

impl Stretch {
    /// The stretch that begins at this time, before which nothing was served.
    fn at(until: Instant, answered: u64) -> Self {
        Self { since: until, answered, until, throttled: 0, served: 0, per_answer: Duration::ZERO }
    }

    /// The stretch that begins where a pause after this one ends.
    fn ended_by(self, until: Instant, answered: u64) -> Self {
        let served = u32::try_from(answered - self.answered).unwrap_or(u32::MAX);
        let per_answer = until.saturating_duration_since(self.since) / served.max(1);
        Self { served, per_answer, ..Self::at(until, answered) }
    }
}

/// The rate limit that the target showed.
#[derive(Clone, Copy, Debug, Default)]
struct DetectedLimit {
    /// From how many answers it was measured.
    served: u32,
    /// In which time without a throttled request the interval is halved.
    patience: Duration,
    /// When it is halved next.
    halved_at: Option<Instant>,
    /// How often in a row the interval was made longer.
    raised: u32,
}

/// How many requests must be throttled in one pause before the target counts as rate-limited. Fewer may be chance.
const LIMITED: u32 = 3;

/// The interval that is kept for a detected rate limit, in percent of the measured one.
const MARGIN: u32 = 110;

/// A pause up to this long is kept even where the time limit passes in it.
const SHORT: Duration = Duration::from_secs(10);

/// A detected rate limit that is not seen again for this many times the pause is tested: the interval is halved. The time doubles with
/// each time that the limit is seen again.
const PATIENCE: u32 = 10;

/// After the interval was made longer so often in a row, the refusals have another reason than the rate, as of a service that is away for a
/// moment now and then: a limit would have been kept by then. From then on, nothing but the pauses is kept.
const MOST_RAISED: u32 = 6;

/// A shorter detected interval is none.
const NEGLIGIBLE: Duration = Duration::from_millis(1);

/// How long the rate is saved up for requests that are sent at once.
const BURST: Duration = Duration::from_millis(250);

/// From fewer answers, no duration of the run is estimated.
const MEASURED: u32 = 20;

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
            stretch: Mutex::new(Stretch::at(now, 0)),
            detected: Mutex::default(),
            refusals: AtomicUsize::new(0),
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

    /// The same pace after requests that were sent before: they count as sent.
    #[must_use]
    pub fn after(self, requests: usize) -> Self {
        Self { claimed: AtomicUsize::new(requests), sent: AtomicUsize::new(requests), ..self }
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

    /// The time between two requests that is known well enough to state how long a run takes: by the rate limit of the user, or
    /// measured over many answers.
    pub fn known_interval(&self) -> Option<Duration> {
        let served = self.detected.lock().served;
        let interval = self.interval()?;
        (interval == self.least || served >= MEASURED).then_some(interval)
    }

    /// Requests that were answered and not throttled.
    pub fn answers(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// How many requests may be sent at once: a quarter of those that the rate permits in a second. A bucket of that size is the least that
    /// services with such a rate have.
    pub fn burst(&self) -> usize {
        let Some(interval) = self.interval() else { return usize::MAX };
        usize::try_from(BURST.as_nanos() / interval.as_nanos()).unwrap_or(usize::MAX).max(1)
    }

    /// Waits until so many requests may be sent at once. The time before them that they need at the rate is idle. False when the budget is used
    /// up; the run then ends.
    pub async fn turns(&self, requests: usize, stop: &Stop) -> bool {
        let within = |claimed| Some(claimed + requests).filter(|all| *all <= self.budget);
        if self.claimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_err() {
            stop.trigger(Reason::Budget(self.budget));
            return false;
        }
        self.wait(requests).await;
        self.sent.fetch_add(requests, Ordering::Relaxed);
        true
    }

    async fn wait(&self, requests: usize) {
        let requests = u32::try_from(requests).unwrap_or(u32::MAX);
        loop {
            while self.paused.load(Ordering::Acquire) {
                let until = self.stretch.lock().until;
                if until <= Instant::now() {
                    self.paused.store(false, Ordering::Release);
                } else {
                    sleep_until(until).await;
                }
            }
            // Read after the pause: a rate limit may have been detected in it.
            let Some(interval) = self.interval() else { return };
            let slot = {
                let mut next = self.next_slot.lock();
                let slot = (*next).max(Instant::now());
                *next = slot + interval * requests;
                slot + interval * (requests - 1)
            };
            sleep_until(slot).await;
            if !self.paused.load(Ordering::Acquire) {
                return;
            }
        }
    }

    /// Counts a request that was answered and not throttled.
    pub fn answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
        if let Some(interval) = self.interval().filter(|interval| *interval > self.least) {
            self.test_limit(interval, Instant::now());
        }
    }

    /// Shortens the interval of a limit that was not seen again for a long time.
    fn test_limit(&self, interval: Duration, now: Instant) {
        let mut detected = self.detected.lock();
        if detected.halved_at.is_some_and(|due| due <= now) {
            detected.halved_at = Some(now + detected.patience);
            detected.raised = 0;
            let half = Some(interval / 2).filter(|half| *half >= NEGLIGIBLE);
            let shorter = half.unwrap_or_default().max(self.least);
            self.interval.store(nanos(shorter), Ordering::Relaxed);
        }
    }

    /// Sends nothing for that long after an answer that came `since`. Gives whether that prolongs the present pause: of requests that were
    /// refused together, the first one does. Where the run would end first, it ends now; a pause of at most 10 s is kept all the same.
    ///
    /// When three requests are throttled in one pause, and others were answered before it, the target has a rate limit. It is respected
    /// until it is not seen again for a long time, or a lower and lower rate is refused as well.
    pub fn pause(&self, since: Instant, pause: Duration, stop: &Stop) -> bool {
        let until = since + pause;
        if until >= self.ends && self.answers() == 0 {
            stop.trigger(Reason::GaveUp(format!(
                "the target put off every request, and asked to wait {} s, longer than the time limit leaves",
                pause.as_secs()
            )));
            return false;
        }
        if until >= self.ends && pause > SHORT {
            stop.trigger(Reason::Limited(format!(
                "the target limits how many requests it takes: it asked to wait {} s (Retry-After), longer than the time limit leaves",
                pause.as_secs()
            )));
            return false;
        }
        let mut stretch = self.stretch.lock();
        let prolongs = until > stretch.until.max(Instant::now());
        if since >= stretch.until {
            *stretch = stretch.ended_by(until, self.answers());
        }
        stretch.throttled += 1;
        stretch.until = stretch.until.max(until);
        stretch.since = stretch.until;
        if stretch.throttled == LIMITED {
            self.limit(&stretch, pause);
        }
        self.paused.store(true, Ordering::Release);
        prolongs
    }

    /// The target refused requests without a time to wait, and served them again after this time. When that happens again, it has a rate
    /// limit.
    pub fn refused_for(&self, waited: Duration) {
        self.refused_until(Instant::now(), waited);
    }

    fn refused_until(&self, now: Instant, waited: Duration) {
        let mut stretch = self.stretch.lock();
        *stretch = stretch.ended_by(now, self.answers());
        stretch.throttled = LIMITED;
        if self.refusals.fetch_add(1, Ordering::Relaxed) > 0 {
            self.limit(&stretch, waited);
        }
    }

    /// Respects the rate limit that a stretch shows.
    fn limit(&self, stretch: &Stretch, pause: Duration) {
        if stretch.served == 0 {
            return;
        }
        let mut detected = self.detected.lock();
        *self.next_slot.lock() = stretch.until;
        if detected.raised == MOST_RAISED {
            self.interval.store(nanos(self.least), Ordering::Relaxed);
            return;
        }
        let slower = nanos(stretch.per_answer * MARGIN / 100);
        let before = self.interval.fetch_max(slower, Ordering::Relaxed);
        detected.raised += u32::from(slower > before);
        detected.served = stretch.served;
        detected.patience = (pause * PATIENCE).max(detected.patience * 2);
        detected.halved_at = Some(stretch.until + detected.patience);
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
        pace.pause(Instant::now(), Duration::from_secs(1), &stop);
        pace.pause(Instant::now(), Duration::from_secs(1), &stop);
        assert_eq!(interval(&pace), Duration::ZERO);
        pace.pause(Instant::now(), Duration::from_secs(1), &stop);
        // 50 in a second and the short time of this test, and a margin of a tenth.
        assert!(interval(&pace) >= Duration::from_millis(22), "{:?}", interval(&pace));
        let detected = interval(&pace);
        pace.pause(Instant::now(), Duration::from_secs(1), &stop);
        assert_eq!(interval(&pace), detected, "detected once in a pause");
        assert!(stop.reason().is_none());
    }

    #[test]
    fn requests_that_were_refused_together_make_one_pause() {
        let (pace, stop) = (pace(None), Stop::default());
        let (second, refused) = (Duration::from_secs(1), Instant::now());
        pace.answered();
        assert!(pace.pause(refused, second, &stop));
        let until = pace.stretch.lock().until;
        // Noticed while the pause lasts, and after a later answer has ended it.
        assert!(!pace.pause(refused, second, &stop));
        assert_eq!(pace.stretch.lock().until, until);
        assert!(pace.pause(until, second, &stop), "a later refusal is another pause");
        let later = pace.stretch.lock().until;
        assert!(!pace.pause(refused, second, &stop));
        assert_eq!(pace.stretch.lock().until, later);
    }

    #[test]
    fn no_rate_limit_is_taken_from_a_pause_before_which_nothing_was_served() {
        let (pace, stop) = (pace(None), Stop::default());
        for _ in 0..9 {
            pace.pause(Instant::now(), Duration::from_secs(1), &stop);
        }
        assert_eq!(pace.interval(), None);
    }

    #[test]
    fn one_outage_is_no_rate_limit_and_a_second_one_is() {
        let (pace, start) = (pace(None), Instant::now());
        for (seconds, interval) in [(2, None), (4, Some(Duration::from_millis(220)))] {
            for _ in 0..10 {
                pace.answered();
            }
            pace.refused_until(start + Duration::from_secs(seconds), Duration::from_millis(100));
            assert_eq!(pace.interval(), interval);
        }
        let later = start + Duration::from_secs(6);
        pace.refused_until(later, Duration::from_millis(100));
        assert_eq!(pace.interval(), Some(Duration::from_millis(220)), "nothing was served before");
    }

    #[test]
    fn a_rate_limit_that_is_not_seen_again_is_forgotten_and_one_that_is_stays_longer() {
        let (pace, stop) = (pace(Some(1_000.0)), Stop::default());
        let (second, mut now) = (Duration::from_secs(1), Instant::now());
        let throttle = |now: Instant| {
            pace.answered();
            for _ in 0..LIMITED {
                pace.pause(now, second, &stop);
            }
        };
        // The time until the interval is shorter, in seconds.
        let forget = |now: &mut Instant| {
            let before = interval(&pace);
            for seconds in 0.. {
                pace.test_limit(before, *now);
                if interval(&pace) < before {
                    return seconds;
                }
                *now += second;
            }
            unreachable!()
        };
        throttle(now);
        assert!(interval(&pace) >= second * MARGIN / 100);
        assert_eq!(pace.known_interval(), None, "one answer is too few for an estimate");
        assert_eq!(forget(&mut now), 11, "ten after the pause of one");
        throttle(now);
        assert_eq!(forget(&mut now), 21);
        while interval(&pace) > Duration::from_millis(1) {
            assert_eq!(forget(&mut now), 20);
        }
        let of_user = Some(Duration::from_millis(1));
        assert_eq!((pace.interval(), pace.known_interval()), (of_user, of_user));
    }

    #[test]
    fn refusals_that_no_lower_rate_ends_are_no_rate_limit() {
        let (pace, start) = (pace(None), Instant::now());
        // Away for a moment every four seconds, at each rate.
        let refuse = |times: u32| {
            pace.answered();
            pace.refused_until(start + Duration::from_secs(4) * times * times, Duration::from_secs(1));
            pace.interval()
        };
        let intervals: Vec<_> = (1..=MOST_RAISED + 2).map(refuse).collect();
        let (raised, after) = intervals.split_at(intervals.len() - 1);
        assert!(raised.is_sorted() && raised.last().is_some_and(Option::is_some), "{intervals:?}");
        assert_eq!(after, [None]);
        assert_eq!(refuse(20), None, "for the rest of the run");
    }

    #[tokio::test]
    async fn requests_that_are_sent_at_once_keep_the_rate() {
        let (pace, stop) = (pace(Some(20.0)), Stop::default());
        assert_eq!(pace.burst(), 5);
        assert_eq!(Pace::new(Some(3.0), None, Instant::now()).burst(), 1);
        let start = Instant::now();
        for (requests, intervals) in [(1, 0), (5, 5), (1, 6)] {
            assert!(pace.turns(requests, &stop).await);
            assert!(start.elapsed() >= intervals * Duration::from_millis(50), "{intervals}");
        }
        assert_eq!(pace.sent(), 7);
    }

    #[test]
    fn a_pause_longer_than_the_run_ends_it() {
        let (pace, stop) = (pace(None), Stop::default());
        pace.pause(Instant::now(), Duration::from_hours(1), &stop);
        assert!(matches!(stop.reason(), Some(Reason::GaveUp(_))));
    }

    #[test]
    fn a_target_that_answered_before_a_long_pause_is_rate_limited() {
        let (pace, stop) = (pace(None), Stop::default());
        pace.answered();
        pace.pause(Instant::now(), Duration::from_hours(1), &stop);
        assert!(matches!(stop.reason(), Some(Reason::Limited(_))));

        let soon = Pace::new(None, None, Instant::now() + Duration::from_secs(2));
        let stop = Stop::default();
        soon.answered();
        soon.pause(Instant::now(), Duration::from_secs(5), &stop);
        assert_eq!(stop.reason(), None, "the time limit ends it");
    }
}
