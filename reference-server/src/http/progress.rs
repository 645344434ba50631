//! How far a connection's request has come, and whether it takes too long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};

use super::pulse::Pulse;
use crate::bounds::Bounds;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A request to begin.
    Idle,
    /// The rest of a request's head.
    Head,
    /// The rest of a request's body, or its answer.
    Body,
}

/// The bounds in ticks.
#[derive(Debug)]
pub(super) struct TickBounds {
    header: u32,
    body: u32,
    idle: u32,
    total: u32,
}

impl TickBounds {
    pub(super) fn new(bounds: &Bounds, pulse: &Pulse) -> Self {
        Self {
            header: pulse.ticks(bounds.header_timeout_ms),
            body: pulse.ticks(bounds.body_timeout_ms),
            idle: pulse.ticks(bounds.idle_timeout_ms),
            total: pulse.ticks(bounds.total_timeout_ms),
        }
    }
}

/// What the connection has to do about the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing.
    InTime,
    /// Answer that the body took too long.
    BodyLate,
    /// Close.
    Close(&'static str),
}

/// One connection's progress. Shared by its socket, its service and its task, which all run in the same task: the atomics
/// are there for the compiler, and relaxed ones cost nothing.
#[derive(Debug)]
pub(super) struct Progress {
    pulse: Arc<Pulse>,
    phase: AtomicU8,
    /// Tick at which the phase began.
    phase_since: AtomicU32,
    /// Tick at which the request began.
    request_since: AtomicU32,
    body_late: AtomicBool,
    /// Requests that were begun since the connection's task was last polled.
    in_a_row: AtomicU32,
}

/// Requests of one connection that are answered before other connections get their turn: a client that pipelines without end
/// must not keep the others waiting.
const IN_A_ROW: u32 = 4;

impl Progress {
    pub(super) fn new(pulse: Arc<Pulse>) -> Self {
        let now = pulse.now();
        Self {
            pulse,
            phase: AtomicU8::new(Phase::Idle as u8),
            phase_since: AtomicU32::new(now),
            request_since: AtomicU32::new(now),
            body_late: AtomicBool::new(false),
            in_a_row: AtomicU32::new(0),
        }
    }

    /// The connection's task is polled.
    pub(super) fn turn_begins(&self) {
        self.in_a_row.store(0, Ordering::Relaxed);
    }

    /// A request is begun; says whether the connection has had its turn, and others come first.
    pub(super) fn is_turn_over(&self) -> bool {
        self.in_a_row.fetch_add(1, Ordering::Relaxed) >= IN_A_ROW
    }

    /// Bytes have come in.
    pub(super) fn bytes_read(&self) {
        if self.phase.load(Ordering::Relaxed) == Phase::Idle as u8 {
            self.enter(Phase::Head);
            self.request_since.store(self.pulse.now(), Ordering::Relaxed);
        }
    }

    /// A head has been read whole. Of pipelined requests, the bytes may have come with an earlier one.
    pub(super) fn head_read(&self) {
        self.bytes_read();
        self.enter(Phase::Body);
    }

    /// The answer has been handed over.
    pub(super) fn answered(&self) {
        self.body_late.store(false, Ordering::Relaxed);
        self.enter(Phase::Idle);
    }

    /// Whether the body took too long and is waited for no more.
    pub(super) fn is_body_late(&self) -> bool {
        self.body_late.load(Ordering::Relaxed)
    }

    /// Compares with the bounds.
    pub(super) fn check(&self, bounds: &TickBounds) -> Verdict {
        let now = self.pulse.now();
        let since = |tick: &AtomicU32| now.wrapping_sub(tick.load(Ordering::Relaxed));
        let in_phase = since(&self.phase_since);
        let phase = self.phase.load(Ordering::Relaxed);
        if phase == Phase::Idle as u8 {
            return if in_phase > bounds.idle {
                Verdict::Close("idle for too long")
            } else {
                Verdict::InTime
            };
        }
        if since(&self.request_since) > bounds.total {
            return Verdict::Close("the request took too long");
        }
        if phase == Phase::Head as u8 {
            return if in_phase > bounds.header {
                Verdict::Close("the head took too long")
            } else {
                Verdict::InTime
            };
        }
        if in_phase > bounds.body && !self.is_body_late() {
            self.body_late.store(true, Ordering::Relaxed);
            return Verdict::BodyLate;
        }
        Verdict::InTime
    }

    fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
        self.phase_since.store(self.pulse.now(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_lets_others_pass_after_a_few_requests_in_a_row() {
        let progress = Progress::new(Arc::new(Pulse::new(&Bounds::default())));
        for _ in 0..2 {
            progress.turn_begins();
            for _ in 0..IN_A_ROW {
                assert!(!progress.is_turn_over());
            }
            assert!(progress.is_turn_over());
        }
    }
}
