//! The budget of requests for looking closer at one finding.

use paymaster_engine::cases::case::Group;

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
