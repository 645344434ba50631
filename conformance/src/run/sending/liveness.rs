//! Whether the target still answers, from the exchanges that ended so far.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bytes::Bytes;

use paymaster_exchange::{Exchange, Failure};

/// After this many unanswered exchanges in a row at the start of a run, the target counts as unreachable.
const UNANSWERED_AT_START: u64 = 3;

/// After this many unanswered exchanges in a row later in the run, a request that was answered before is sent as a probe.
const UNANSWERED_BEFORE_PROBE: u64 = 20;

/// After this many exchanges, when no response was ever complete, the run ends.
const INCOMPLETE_BEFORE_END: u64 = 100;

/// Counts answered and unanswered exchanges.
#[derive(Debug, Default)]
pub(crate) struct Liveness {
    /// The number of exchanges that ended. Its value at the end of an exchange is the stamp of that exchange.
    ended: AtomicU64,
    last_answer: AtomicU64,
    unanswered: AtomicU64,
    known_good: Mutex<Option<Bytes>>,
    /// Whether a complete response ever came.
    complete: AtomicBool,
    /// How many responses were incomplete before the first complete one, and what was wrong with the first of them.
    incomplete: AtomicU64,
    first_incomplete: Mutex<Option<String>>,
}

/// What to do after an exchange.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    /// Continue.
    Continue,
    /// End the run: the target has never answered.
    Unreachable,
    /// Send this body, which was answered before, to find out whether the target still answers.
    Probe(Bytes),
}

impl Liveness {
    /// Counts an exchange that ended.
    pub(crate) fn note(&self, exchange: &Exchange) -> NextStep {
        let stamp = self.ended.fetch_add(1, Ordering::Relaxed) + 1;
        if is_answered(exchange) {
            self.last_answer.fetch_max(stamp, Ordering::Relaxed);
            self.note_completeness(exchange);
            if self.unanswered.swap(0, Ordering::Relaxed) > 0 || stamp == 1 {
                self.remember(exchange);
            }
            return NextStep::Continue;
        }
        let unanswered = self.unanswered.fetch_add(1, Ordering::Relaxed) + 1;
        if self.last_answer.load(Ordering::Relaxed) == 0 {
            return if unanswered >= UNANSWERED_AT_START {
                NextStep::Unreachable
            } else {
                NextStep::Continue
            };
        }
        let known_good = self.known_good.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known_good {
            Some(body) if unanswered.is_multiple_of(UNANSWERED_BEFORE_PROBE) => NextStep::Probe(body.clone()),
            _ => NextStep::Continue,
        }
    }

    fn note_completeness(&self, exchange: &Exchange) {
        if self.complete.load(Ordering::Relaxed) {
            return;
        }
        match &exchange.outcome {
            Ok(_) => self.complete.store(true, Ordering::Relaxed),
            Err(failure) => {
                self.incomplete.fetch_add(1, Ordering::Relaxed);
                let mut first = self
                    .first_incomplete
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| failure.to_string());
            }
        }
    }

    /// Why further requests are pointless: the target answers, and none of many responses was complete.
    pub(crate) fn hopeless(&self) -> Option<String> {
        let incomplete = self.incomplete.load(Ordering::Relaxed);
        if incomplete < INCOMPLETE_BEFORE_END || self.complete.load(Ordering::Relaxed) {
            return None;
        }
        let first = self
            .first_incomplete
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let cause = first.clone().unwrap_or_default();
        Some(format!(
            "no answer was complete, of more than {INCOMPLETE_BEFORE_END}: {cause}"
        ))
    }

    /// A request that was answered.
    pub(crate) fn known_good(&self) -> Option<Bytes> {
        let known_good = self.known_good.lock().unwrap_or_else(PoisonError::into_inner);
        known_good.clone()
    }

    /// The stamp of the exchange that ended last.
    pub(crate) fn last_stamp(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    /// Whether the exchange with this stamp ended after the last answer, when up to `width` exchanges run at a time.
    pub(crate) fn is_after_last_answer(&self, stamp: u64, width: usize) -> bool {
        stamp + width as u64 > self.last_answer.load(Ordering::Relaxed)
    }

    fn remember(&self, exchange: &Exchange) {
        let mut known_good = self.known_good.lock().unwrap_or_else(PoisonError::into_inner);
        known_good.get_or_insert_with(|| exchange.request.clone());
    }
}

/// Whether the target sent an answer, complete or not.
pub(crate) fn is_answered(exchange: &Exchange) -> bool {
    matches!(
        &exchange.outcome,
        Ok(_) | Err(Failure::TooLarge { .. } | Failure::Cut(_))
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use paymaster_exchange::Response;

    fn exchange(answered: bool) -> Exchange {
        Exchange {
            request: Bytes::from_static(b"{}"),
            outcome: if answered {
                Ok(Response {
                    status: 500,
                    headers: Vec::new(),
                    body: Bytes::new(),
                })
            } else {
                Err(Failure::Broken("gone".to_owned()))
            },
            took: Duration::ZERO,
            on_chain: None,
            received: None,
            sent_as: None,
        }
    }

    #[test]
    fn an_unreachable_target_is_noticed_at_once_and_one_that_stops_answering_later() {
        let liveness = Liveness::default();
        assert_eq!(liveness.note(&exchange(false)), NextStep::Continue);
        assert_eq!(liveness.note(&exchange(false)), NextStep::Continue);
        assert_eq!(liveness.note(&exchange(false)), NextStep::Unreachable);
        assert_eq!(liveness.note(&exchange(true)), NextStep::Continue);
        for _ in 1..UNANSWERED_BEFORE_PROBE {
            assert_eq!(liveness.note(&exchange(false)), NextStep::Continue);
        }
        assert_eq!(
            liveness.note(&exchange(false)),
            NextStep::Probe(Bytes::from_static(b"{}"))
        );
        assert!(liveness.is_after_last_answer(5, 1));
        assert!(!liveness.is_after_last_answer(3, 1));
        assert!(liveness.is_after_last_answer(4, 2));
    }
}
