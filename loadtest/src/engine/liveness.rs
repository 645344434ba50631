//! Whether the target still responds, by what became of the requests since its last response.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use paymaster_exchange::Failure;

/// A target to which connections have failed for so long, without a response in between, has stopped answering.
const DEAD: Duration = Duration::from_secs(2);
/// So has one that lets requests time out for so long; twice the deadline of an exchange if that is more.
const HANGING: Duration = Duration::from_secs(10);
/// A single failed request says nothing of the target.
const FEWEST: u64 = 2;

/// What is known of the target since its last response.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// When the last response came, in nanoseconds after the start.
    last_response: AtomicU64,
    /// Requests since then for which no connection could be made, or whose connection ended without a response.
    broken: AtomicU64,
    /// Requests since then that timed out.
    timed_out: AtomicU64,
}

impl Liveness {
    /// A response came.
    pub(super) fn responded(&self, elapsed: Duration) {
        let now = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.last_response.store(now, Ordering::Relaxed);
        for failures in [&self.broken, &self.timed_out] {
            // In the common case nothing is written.
            if failures.load(Ordering::Relaxed) > 0 {
                failures.store(0, Ordering::Relaxed);
            }
        }
    }

    /// A request got no whole response. One that began to come is a sign of life too.
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

    /// Whether the target has stopped answering; `timeout` is the deadline of an exchange.
    pub(super) fn has_stopped(&self, elapsed: Duration, timeout: Duration) -> bool {
        let patience = if self.timed_out.load(Ordering::Relaxed) > 0 {
            HANGING.max(timeout * 2)
        } else {
            DEAD
        };
        self.failures() >= FEWEST && elapsed >= self.last_response() + patience
    }

    fn last_response(&self) -> Duration {
        Duration::from_nanos(self.last_response.load(Ordering::Relaxed))
    }
}

impl fmt::Display for Liveness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the target stopped answering: its last response came {:.1} s after the start, {} since then got none",
            self.last_response().as_secs_f64(),
            crate::report::words::count(self.failures(), "request")
        )
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
    fn failed_connections_are_waited_for_less_than_slow_answers() {
        let connect = || Failure::Connect("refused".to_owned());
        let broken = || Failure::Broken("reset".to_owned());
        let timeout = || Failure::Timeout {
            waiting_for: paymaster_exchange::Stage::Head,
            after: SECOND,
        };
        let cut = || Failure::Cut("short".to_owned());
        for (failures, stopped_after) in [
            (vec![connect(), broken()], Some(7)),
            (vec![connect(), timeout()], Some(15)),
            (vec![timeout(), timeout()], Some(15)),
            (vec![connect()], None),
            (vec![], None),
            // It began to respond at 6 s.
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
