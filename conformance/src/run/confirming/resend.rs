//! Sends the group of a finding again, or a changed one, and judges it by the rule of the finding.

use crate::run::confirming::WaitingBudget;
use crate::run::sending::{DeliveryError, Sender};
use paymaster_engine::cases::{Group, Order};
use paymaster_engine::diagnosis::Key;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{Rule, Violation};
use paymaster_engine::session::{Outcome, Recheck};
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
        Ok(self.judged(group, &exchanges))
    }

    /// Sends the requests of a group one after the other, each over a connection of its own: as many connections as they have at the same time.
    pub(crate) async fn send_apart(&self, group: &Group) -> Result<(Vec<Exchange>, Outcome), DeliveryError> {
        let mut exchanges = Vec::new();
        for place in 0..group.members.len() {
            self.sender.close_idle();
            let alone = group.alone(place);
            let (patience, mut share) = (self.waiting.patience(), self.sender.share());
            let own = self.sender.deliver_within(&alone, Order::Sequential, patience, &mut share).await?;
            self.waiting.spend_on(&own);
            exchanges.extend(own);
        }
        Ok(self.judged(group, &exchanges))
    }

    fn judged(&self, group: &Group, exchanges: &[Exchange]) -> (Vec<Exchange>, Outcome) {
        let outcome = self.recheck.outcome_at(self.key, group, exchanges);
        // The reproductions of all findings are in memory at the same time, so long bodies are cut.
        (exchanges.iter().map(Exchange::with_short_body).collect(), outcome)
    }
}
