//! The progress of the request on a connection, and whether it takes too long.
//!
//! Hand-written because hyper's one timer for HTTP/1 counts the idle time of a connection towards the head of its next
//! request, and does not see a client that stops reading. Each connection has one timer, which ticks; a request sets
//! counters to 0 and starts no timer of its own.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::config::Bounds;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The first byte of a request, or the client to read its responses.
    Idle,
    /// The rest of a request's head.
    Head,
    /// The rest of a request's body, or its response.
    Body,
}

/// The timeouts of a connection in ticks. A timeout is thus exact to one tick.
pub(super) struct TickBounds {
    /// The time between two ticks.
    pub(super) period: Duration,
    head: u32,
    idle: u32,
    total: u32,
}

/// Shortest time between two ticks, so that ticking stays cheap.
const SHORTEST_PERIOD: Duration = Duration::from_millis(10);
/// Ticks in the shortest timeout.
const TICKS_OF_SHORTEST: u32 = 4;

impl TickBounds {
    pub(super) fn new(bounds: &Bounds) -> Self {
        let [head, idle, total] = [bounds.header_timeout_ms, bounds.idle_timeout_ms, bounds.total_timeout_ms]
            .map(Duration::from_millis);
        let period = (head.min(idle).min(total) / TICKS_OF_SHORTEST).max(SHORTEST_PERIOD);
        let ticks = |timeout: Duration| {
            let ticks = timeout.as_nanos().div_ceil(period.as_nanos());
            u32::try_from(ticks).unwrap_or(u32::MAX)
        };
        Self { period, head: ticks(head), idle: ticks(idle), total: ticks(total) }
    }
}

/// The progress of one connection. Its socket and its service share it; both run in the same task, so that relaxed atomics
/// suffice.
#[derive(Debug, Default)]
pub(super) struct Progress {
    phase: AtomicU8,
    /// Ticks since the phase began.
    phase_ticks: AtomicU32,
    /// Ticks since the request began.
    request_ticks: AtomicU32,
    /// When the last response was given to hyper; none before the first.
    last_answer: Mutex<Option<Instant>>,
    /// Whether the client is informed of a timeout.
    announces_timeout: AtomicBool,
    has_timed_out: AtomicBool,
}

impl Progress {
    /// Notes that bytes were read.
    pub(super) fn bytes_read(&self) {
        if self.phase.load(Ordering::Relaxed) == Phase::Idle as u8 {
            self.enter(Phase::Head);
            self.request_ticks.store(0, Ordering::Relaxed);
        }
    }

    /// Notes that a head was read. The bytes of a pipelined request may have been read with an earlier one.
    pub(super) fn head_read(&self) {
        self.bytes_read();
        self.enter(Phase::Body);
    }

    /// Notes that the response was given to hyper.
    pub(super) fn answered(&self) {
        self.enter(Phase::Idle);
        *self.last_answer.lock() = Some(Instant::now());
    }

    /// The time since the last response; none before the first.
    pub(super) fn since_answer(&self) -> Option<Duration> {
        self.last_answer.lock().map(|at| at.elapsed())
    }

    /// A timeout from here on is announced.
    pub(super) fn announce_timeout(&self) {
        self.announces_timeout.store(true, Ordering::Relaxed);
    }

    /// Notes a timeout. True if it is announced, which ends the connection.
    pub(super) fn time_out(&self) -> bool {
        let is_first = !self.has_timed_out.swap(true, Ordering::Relaxed);
        is_first && self.announces_timeout.load(Ordering::Relaxed)
    }

    /// Whether the connection ends with the announcement of a timeout.
    pub(super) fn has_timed_out(&self) -> bool {
        self.has_timed_out.load(Ordering::Relaxed)
    }

    /// Counts one tick. An error is the reason to close the connection.
    pub(super) fn tick(&self, bounds: &TickBounds) -> Result<(), &'static str> {
        let in_phase = self.phase_ticks.fetch_add(1, Ordering::Relaxed);
        let in_request = self.request_ticks.fetch_add(1, Ordering::Relaxed);
        let phase = self.phase.load(Ordering::Relaxed);
        if phase == Phase::Idle as u8 {
            return if in_phase >= bounds.idle { Err("idle for too long") } else { Ok(()) };
        }
        if in_request >= bounds.total {
            return Err("the request took too long");
        }
        if phase == Phase::Head as u8 && in_phase >= bounds.head {
            return Err("the head took too long");
        }
        Ok(())
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.phase_ticks.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_lasts_at_least_as_long_as_configured_and_at_most_a_tick_longer() {
        let bounds = Bounds {
            header_timeout_ms: 100,
            idle_timeout_ms: 1_000,
            total_timeout_ms: 500,
            ..Bounds::default()
        };
        let ticks = TickBounds::new(&bounds);
        assert_eq!(ticks.period, Duration::from_millis(25));
        let lasts = |progress: &Progress| (1..1000).find(|_| progress.tick(&ticks).is_err());
        let progress = Progress::default();
        assert_eq!(lasts(&progress), Some(41));
        progress.answered();
        progress.bytes_read();
        assert_eq!(lasts(&progress), Some(5));
        progress.answered();
        progress.head_read();
        assert_eq!(lasts(&progress), Some(21));
    }
}
