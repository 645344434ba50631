//! Sends the group of a finding again, or a changed one, and judges it by the rule of the finding.

use crate::run::{
    confirming::budget::WaitingBudget,
    sending::{delivery::DeliveryError, sender::Sender},
};
use paymaster_engine::{
    cases::case::{Group, Order},
    diagnosis::finding::Key,
    knowledge::Knowledge,
    rules::{Rule, Violation},
    session::recheck::{Outcome, Recheck},
};
use paymaster_exchange::Exchange;

/// A group that shows a violation, with the exchanges that showed it.
#[derive(Clone, Debug)]
pub(crate) struct Reproduction {
    pub(crate) group: Group,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) violation: Violation,
}

/// Sends groups and judges them by the rule of one finding.
pub(crate) struct Resender<'a> {
    pub(crate) sender: &'a Sender,
    pub(crate) rule: &'static Rule,
    pub(crate) key: &'a Key,
    pub(crate) context: &'a dyn Knowledge,
    /// Nothing is sent any more where it is spent.
    pub(crate) waiting: &'a WaitingBudget,
    recheck: Recheck<'a>,
}

impl<'a> Resender<'a> {
    pub(crate) fn new(
        sender: &'a Sender,
        rule: &'static Rule,
        key: &'a Key,
        context: &'a dyn Knowledge,
        waiting: &'a WaitingBudget,
    ) -> Self {
        Self { sender, rule, key, context, waiting, recheck: Recheck::new(rule, context) }
    }

    /// Sends a group in the order of its relation.
    pub(crate) async fn send(&self, group: &Group) -> Result<(Vec<Exchange>, Outcome), DeliveryError> {
        self.send_as(group, group.relation.order).await
    }

    /// Sends a group in this order.
    pub(crate) async fn send_as(
        &self,
        group: &Group,
        order: Order,
    ) -> Result<(Vec<Exchange>, Outcome), DeliveryError> {
        if self.waiting.is_spent() {
            return Err(DeliveryError::Stopped);
        }
        let exchanges = self
            .sender
            .deliver_within(group, order, self.waiting.patience(), &mut self.sender.share())
            .await?;
        self.waiting.spend_on(&exchanges);
        let outcome = self.recheck.outcome_at(self.key, group, &exchanges);
        // The reproductions of all findings are in memory at the same time, so long bodies are cut.
        Ok((exchanges.iter().map(Exchange::with_short_body).collect(), outcome))
    }
}
