//! Discovery: the first exchanges of a run, which tell the dialect of the target and the tokens it supports.

use crate::{case::Group, context::Context, exchange::Exchange};

/// Asks the target, round by round, and remembers what it says.
#[derive(Debug)]
pub struct Discovery {
    context: Context,
}

impl Discovery {
    /// A discovery that starts from what the profile says.
    pub fn new(context: Context, _seed: u64) -> Self {
        Self { context }
    }

    /// Takes in the answers of the round before (none at first) and gives the groups of the next round; none at the end.
    pub fn next_round(&mut self, _answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        None
    }

    /// What is known of the target now.
    pub fn finish(self) -> Context {
        self.context
    }
}
