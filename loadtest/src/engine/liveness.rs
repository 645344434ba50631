//! Whether the target still responds, by the requests without a response since its last one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use paymaster_exchange::Failure;

use crate::number::nanoseconds;

/// After this time of failed connections without a response, the target has stopped answering.
const PATIENCE_BROKEN: Duration = Duration::from_secs(2);
/// The same time if requests timed out; twice the timeout of an exchange if that is longer.
const PATIENCE_TIMEOUT: Duration = Duration::from_secs(10);
/// Fewer requests without a response are not enough to decide.
const FEWEST_FAILURES: u64 = 2;

/// The requests without a response since the last response.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// When the last response arrived, in nanoseconds after the start.
    last_response: AtomicU64,
    /// Requests since then without a connection, or whose connection ended without a response.
    broken: AtomicU64,
    /// Requests since then that timed out.
    timed_out: AtomicU64,
}

impl Liveness {
    /// Notes a response, at this time after the start.
    pub(super) fn responded(&self, elapsed: Duration) {
        self.last_response.store(nanoseconds(elapsed), Ordering::Relaxed);
        for failures in [&self.broken, &self.timed_out] {
            // Usually there is nothing to reset, and the cache line stays shared.
            if failures.load(Ordering::Relaxed) > 0 {
                failures.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Notes a request without a complete response. A partial response counts as a response.
    pub(super) fn failed(&self, failure: &Failure, elapsed: Duration) {
        match failure {
            Failure::Connect(_) | Failure::Broken(_) => {
                self.broken.fetch_add(1, Ordering::Relaxed);
            }
            Failure::Timeout { .. } => {
                self.timed_out.fetch_add(1, Ordering::Relaxed);
            }
            Failure::TooLarge { .. } | Failure::Cut(_) => self.responded(elapsed),
        }
    }

    /// Requests without a response since the last response.
    pub(crate) fn failures(&self) -> u64 {
        self.broken.load(Ordering::Relaxed) + self.timed_out.load(Ordering::Relaxed)
    }

    /// Whether the target has stopped answering. `elapsed` is the time since the start, `timeout` that of an exchange.
    pub(crate) fn has_stopped(&self, elapsed: Duration, timeout: Duration) -> bool {
        let patience = if self.timed_out.load(Ordering::Relaxed) > 0 {
            PATIENCE_TIMEOUT.max(timeout * 2)
        } else {
            PATIENCE_BROKEN
        };
        self.failures() >= FEWEST_FAILURES && elapsed >= self.last_response() + patience
    }

    /// The outage of a target that stopped answering, in a run that ended `end` after the start.
    pub(crate) fn outage(&self, end: Duration) -> String {
        let last = self.last_response();
        format!(
            "the target stopped answering: its last response arrived {:.1} s after the start, and in the {:.1} s after it {} got none",
            last.as_secs_f64(),
            end.saturating_sub(last).as_secs_f64(),
            crate::text::count(self.failures(), "request")
        )
    }

    fn last_response(&self) -> Duration {
        Duration::from_nanos(self.last_response.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn after(failures: &[Failure]) -> Liveness {
        let liveness = Liveness::default();
        liveness.failed(&Failure::Connect("before".to_owned()), SECOND);
        liveness.responded(SECOND * 5);
        for failure in failures {
            liveness.failed(failure, SECOND * 6);
        }
        liveness
    }

    #[test]
    fn failed_connections_end_a_run_sooner_than_timeouts() {
        let connect = || Failure::Connect("refused".to_owned());
        let broken = || Failure::Broken("reset".to_owned());
        let timeout = || Failure::Timeout { waiting_for: paymaster_exchange::Stage::Head, after: SECOND };
        let cut = || Failure::Cut("short".to_owned());
        for (failures, stopped_after) in [
            (vec![connect(), broken()], Some(7)),
            (vec![connect(), timeout()], Some(15)),
            (vec![timeout(), timeout()], Some(15)),
            (vec![connect()], None),
            (vec![], None),
            // A partial response at 6 s.
            (vec![connect(), connect(), cut()], None),
            (vec![cut(), connect(), connect()], Some(8)),
        ] {
            let liveness = after(&failures);
            let first = (5..100).find(|second| liveness.has_stopped(SECOND * *second, SECOND));
            assert_eq!(first, stopped_after, "{failures:?}");
        }
        let patient = after(&[timeout(), timeout()]);
        assert!(
            !patient.has_stopped(SECOND * 60, SECOND * 30) && patient.has_stopped(SECOND * 65, SECOND * 30)
        );
    }
}
