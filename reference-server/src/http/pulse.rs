//! One heartbeat for all connections, by which they notice that time has passed or that the server stops.
//!
//! A timer for each request would cost more than reading the request. So time is counted in ticks: requests note the tick at
//! which they began, for the price of a store, and at each tick every connection is woken to compare. Times are thus kept
//! to within a tick, a quarter of the shortest one that is configured.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use crate::bounds::Bounds;

/// What connections are to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Serve.
    Serving,
    /// Answer what is in flight, then close.
    Stopping,
    /// Close now.
    Ending,
}

/// The heartbeat.
#[derive(Debug)]
pub(super) struct Pulse {
    period: Duration,
    tick: AtomicU32,
    stage: AtomicU8,
    next_connection: AtomicU64,
    wakers: Mutex<HashMap<u64, Waker>>,
}

/// A tick is never longer, so that a stop is noticed by connections that missed its wake-up.
const LONGEST_PERIOD: Duration = Duration::from_millis(250);
/// A tick is never shorter, so that ticking stays cheap.
const SHORTEST_PERIOD: Duration = Duration::from_millis(10);
/// Ticks in the shortest timeout.
const TICKS_OF_SHORTEST: u32 = 4;

impl Pulse {
    pub(super) fn new(bounds: &Bounds) -> Self {
        let period = bounds.shortest_timeout() / TICKS_OF_SHORTEST;
        Self {
            period: period.clamp(SHORTEST_PERIOD, LONGEST_PERIOD),
            tick: AtomicU32::new(0),
            stage: AtomicU8::new(Stage::Serving as u8),
            next_connection: AtomicU64::new(0),
            wakers: Mutex::new(HashMap::new()),
        }
    }

    /// The time between two ticks.
    pub(super) const fn period(&self) -> Duration {
        self.period
    }

    /// `milliseconds` in ticks, at least one whole tick.
    pub(super) fn ticks(&self, milliseconds: u64) -> u32 {
        let ticks = u128::from(milliseconds).div_ceil(self.period.as_millis().max(1));
        u32::try_from(ticks).unwrap_or(u32::MAX).max(1)
    }

    /// How many ticks there have been.
    pub(super) fn now(&self) -> u32 {
        self.tick.load(Ordering::Relaxed)
    }

    /// Lets a period pass.
    pub(super) fn beat(&self) {
        self.tick.fetch_add(1, Ordering::Relaxed);
        self.wake_all();
    }

    /// What connections are to do now.
    pub(super) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Relaxed) {
            stage if stage == Stage::Serving as u8 => Stage::Serving,
            stage if stage == Stage::Stopping as u8 => Stage::Stopping,
            _ => Stage::Ending,
        }
    }

    /// Tells every connection.
    pub(super) fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
        self.wake_all();
    }

    /// A number for a new connection.
    pub(super) fn enrol(&self) -> u64 {
        self.next_connection.fetch_add(1, Ordering::Relaxed)
    }

    /// Wakes `waker` at each tick from now on.
    pub(super) fn listen(&self, connection: u64, waker: &Waker) {
        self.wakers().insert(connection, waker.clone());
    }

    /// Forgets a connection.
    pub(super) fn leave(&self, connection: u64) {
        self.wakers().remove(&connection);
    }

    fn wake_all(&self) {
        for waker in self.wakers().values() {
            waker.wake_by_ref();
        }
    }

    fn wakers(&self) -> MutexGuard<'_, HashMap<u64, Waker>> {
        // A map of wakers cannot be left half changed.
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
