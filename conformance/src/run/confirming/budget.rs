//! The budgets of looking closer at findings: of requests for one, of time without an answer for all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use paymaster_engine::cases::Group;
use paymaster_exchange::{Exchange, Failure};

use crate::run::sending::Patience;

/// How many findings of a run are shrunk. The others are only sent again.
pub(super) const SHRUNK_PER_RUN: usize = 40;

/// How many requests may be sent, and how many have been.
#[derive(Debug)]
pub(crate) struct RequestBudget {
    limit: u32,
    spent: u32,
}

impl RequestBudget {
    pub(crate) fn new(limit: u32) -> Self {
        Self { limit, spent: 0 }
    }

    /// Takes the requests of a group from the budget; false where they do not fit.
    pub(crate) fn spend_on(&mut self, group: &Group) -> bool {
        let cost = u32::try_from(group.members.len()).unwrap_or(u32::MAX);
        let fits = cost <= self.left();
        if fits {
            self.spent += cost;
        }
        fits
    }

    /// Counts a request that has a limit of its own.
    pub(crate) fn add(&mut self, group: &Group) {
        let cost = u32::try_from(group.members.len()).unwrap_or(u32::MAX);
        self.limit = self.limit.saturating_add(cost);
        self.spent = self.spent.saturating_add(cost);
    }

    pub(crate) fn spent(&self) -> u32 {
        self.spent
    }

    pub(crate) fn left(&self) -> u32 {
        self.limit.saturating_sub(self.spent)
    }
}

/// For how long answers that do not come may be waited for. It is spent by what was waited, whatever the timeout of a request is.
#[derive(Debug)]
pub(crate) struct WaitingBudget {
    most: u64,
    spent: AtomicU64,
}

impl WaitingBudget {
    pub(crate) fn new(most: Duration) -> Self {
        Self { most: milliseconds(most), spent: AtomicU64::new(0) }
    }

    /// A budget that ends is for looking closer: what is reported is waited for the whole time.
    pub(crate) fn patience(&self) -> Patience {
        if self.most == u64::MAX { Patience::Whole } else { Patience::Usual }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Relaxed) >= self.most
    }

    /// Takes the time of the exchanges that got no answer in time.
    pub(crate) fn spend_on(&self, exchanges: &[Exchange]) {
        let has_timed_out = |exchange: &&Exchange| matches!(exchange.outcome, Err(Failure::Timeout { .. }));
        let waited = exchanges.iter().filter(has_timed_out).map(|exchange| milliseconds(exchange.took));
        self.spent.fetch_add(waited.sum(), Ordering::Relaxed);
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use paymaster_exchange::Stage;

    use super::*;

    #[test]
    fn only_answers_that_do_not_come_in_time_are_waited_for() {
        let budget = WaitingBudget::new(Duration::from_secs(25));
        let took = Duration::from_secs(10);
        let failed = |failure| Exchange::new("", Err(failure), took);
        let slow = failed(Failure::Broken("reset".to_owned()));
        let timed_out = failed(Failure::Timeout { waiting_for: Stage::default(), after: took });
        for _ in 0..2 {
            budget.spend_on(&[slow.clone(), timed_out.clone()]);
            assert!(!budget.is_spent());
        }
        budget.spend_on(&[timed_out]);
        assert!(budget.is_spent());
    }
}
