//! How fast requests leave: rate limit, pauses that the target asks for, request budget.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use super::stop::{Reason, Stop};

/// Pauses that are shared by everything that sends.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: Option<Duration>,
    next_slot: Mutex<Instant>,
    paused: AtomicBool,
    pause_until: Mutex<Instant>,
    sent: AtomicUsize,
    budget: usize,
    /// When the run must be over.
    ends: Instant,
}

impl Pace {
    pub(crate) fn new(rate: Option<f64>, budget: Option<usize>, ends: Instant) -> Self {
        let now = Instant::now();
        Self {
            interval: rate.map(|rate| Duration::from_secs_f64(1.0 / rate)),
            next_slot: Mutex::new(now),
            paused: AtomicBool::new(false),
            pause_until: Mutex::new(now),
            sent: AtomicUsize::new(0),
            budget: budget.unwrap_or(usize::MAX),
            ends,
        }
    }

    /// Requests sent so far.
    pub(crate) fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// Requests that may still be sent.
    pub(crate) fn left(&self) -> usize {
        self.budget.saturating_sub(self.sent())
    }

    /// Waits for the turn of one request; false when the budget is spent, and then the run is over.
    pub(crate) async fn turn(&self, stop: &Stop) -> bool {
        let spent = self
            .sent
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |sent| {
                (sent < self.budget).then_some(sent + 1)
            })
            .is_err();
        if spent {
            stop.trigger(Reason::Budget);
            return false;
        }
        if let Some(interval) = self.interval {
            let slot = {
                let mut next = self.next_slot.lock().unwrap_or_else(PoisonError::into_inner);
                let slot = (*next).max(Instant::now());
                *next = slot + interval;
                slot
            };
            sleep_until(slot).await;
        }
        while self.paused.load(Ordering::Acquire) {
            let until = *self.pause_until.lock().unwrap_or_else(PoisonError::into_inner);
            if until <= Instant::now() {
                self.paused.store(false, Ordering::Release);
            } else {
                sleep_until(until).await;
            }
        }
        true
    }

    /// Nothing is sent for that long. When the run would be over first, it is over now.
    pub(crate) fn pause(&self, pause: Duration, stop: &Stop) {
        let until = Instant::now() + pause;
        if until >= self.ends {
            stop.trigger(Reason::GaveUp(format!(
                "the target asked to wait {} s (Retry-After), longer than the time limit leaves",
                pause.as_secs()
            )));
            return;
        }
        let mut current = self.pause_until.lock().unwrap_or_else(PoisonError::into_inner);
        *current = (*current).max(until);
        self.paused.store(true, Ordering::Release);
    }
}
