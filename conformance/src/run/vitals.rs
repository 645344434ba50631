//! Whether the target still answers.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use bytes::Bytes;

use paymaster_exchange::{Exchange, Failure};

/// So many unanswered exchanges at the start, one after the other, and nobody is there.
const PATIENCE_AT_START: u64 = 3;

/// So many unanswered exchanges later, one after the other, and we ask whether anybody still is.
const PATIENCE: u64 = 20;

/// So many exchanges, none of them answered properly, and there is nothing to learn from more.
const PATIENCE_WITH_BROKEN: u64 = 100;

/// Counts what is answered and what is not.
#[derive(Debug, Default)]
pub(crate) struct Vitals {
    /// Exchanges so far: stamps failures and answers in the order in which they ended.
    clock: AtomicU64,
    last_answer: AtomicU64,
    unanswered: AtomicU64,
    known_good: Mutex<Option<Bytes>>,
    /// Whether a complete response ever came.
    complete: AtomicBool,
    /// Answers that were none, while no complete response had come, and what was wrong with the first.
    broken: AtomicU64,
    first_broken: Mutex<Option<String>>,
}

/// What the count says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Pulse {
    /// Go on.
    Fine,
    /// Nobody ever answered.
    NobodyThere,
    /// Nobody has answered for a while: send this body, which was answered before, to see whether anybody does.
    Ask(Bytes),
}

impl Vitals {
    /// Takes in the end of an exchange.
    pub(crate) fn note(&self, exchange: &Exchange) -> Pulse {
        let stamp = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        if is_answered(exchange) {
            self.last_answer.fetch_max(stamp, Ordering::Relaxed);
            self.weigh(exchange);
            if self.unanswered.swap(0, Ordering::Relaxed) > 0 || stamp == 1 {
                self.remember(exchange);
            }
            return Pulse::Fine;
        }
        let unanswered = self.unanswered.fetch_add(1, Ordering::Relaxed) + 1;
        if self.last_answer.load(Ordering::Relaxed) == 0 {
            return if unanswered >= PATIENCE_AT_START {
                Pulse::NobodyThere
            } else {
                Pulse::Fine
            };
        }
        let known_good = self.known_good.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known_good {
            Some(body) if unanswered.is_multiple_of(PATIENCE) => Pulse::Ask(body.clone()),
            _ => Pulse::Fine,
        }
    }

    fn weigh(&self, exchange: &Exchange) {
        if self.complete.load(Ordering::Relaxed) {
            return;
        }
        match &exchange.outcome {
            Ok(_) => self.complete.store(true, Ordering::Relaxed),
            Err(failure) => {
                self.broken.fetch_add(1, Ordering::Relaxed);
                let mut first = self.first_broken.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| failure.to_string());
            }
        }
    }

    /// Why no more need be asked: somebody answers, and no answer ever was complete.
    pub(crate) fn hopeless(&self) -> Option<String> {
        let broken = self.broken.load(Ordering::Relaxed);
        if broken < PATIENCE_WITH_BROKEN || self.complete.load(Ordering::Relaxed) {
            return None;
        }
        let first = self.first_broken.lock().unwrap_or_else(PoisonError::into_inner);
        let cause = first.clone().unwrap_or_default();
        Some(format!(
            "no answer was complete, of more than {PATIENCE_WITH_BROKEN}: {cause}"
        ))
    }

    /// The stamp of the last exchange that ended.
    pub(crate) fn now(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Whether an exchange of that stamp ended when nobody answered any more, `width` being how many ran at a time.
    pub(crate) fn is_after_death(&self, stamp: u64, width: usize) -> bool {
        stamp + width as u64 > self.last_answer.load(Ordering::Relaxed)
    }

    fn remember(&self, exchange: &Exchange) {
        let mut known_good = self.known_good.lock().unwrap_or_else(PoisonError::into_inner);
        known_good.get_or_insert_with(|| exchange.request.clone());
    }
}

/// Whether somebody answered, however badly.
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
        }
    }

    #[test]
    fn nobody_there_is_noticed_at_once_and_death_later() {
        let vitals = Vitals::default();
        assert_eq!(vitals.note(&exchange(false)), Pulse::Fine);
        assert_eq!(vitals.note(&exchange(false)), Pulse::Fine);
        assert_eq!(vitals.note(&exchange(false)), Pulse::NobodyThere);
        assert_eq!(vitals.note(&exchange(true)), Pulse::Fine);
        for _ in 1..PATIENCE {
            assert_eq!(vitals.note(&exchange(false)), Pulse::Fine);
        }
        assert_eq!(
            vitals.note(&exchange(false)),
            Pulse::Ask(Bytes::from_static(b"{}"))
        );
        assert!(vitals.is_after_death(5, 1));
        assert!(!vitals.is_after_death(3, 1));
        assert!(vitals.is_after_death(4, 2));
    }
}
