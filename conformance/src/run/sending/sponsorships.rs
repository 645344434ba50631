//! What a run has asked its target to pay for, the limits on it, and whether the target stopped paying.

use paymaster_engine::{
    cases::case::Group,
    message::answer::result_of,
    specification::Specification,
    spending::{Spending, SpendingLimits},
};
use paymaster_exchange::Exchange;
use paymaster_settings::settings::Settings;
use serde_json::Value;

/// So many requests for a sponsorship in a row that are refused are more than chance where the target sponsored before.
const EXHAUSTED: u64 = 10;

/// What a run may ask its target to pay for: as the profile says, and less than everything where the target is not on this machine.
pub(crate) fn limits_of(settings: &Settings) -> SpendingLimits {
    let stated = settings.profile.spending_limits();
    if settings.transport.target.is_loopback() { stated } else { stated.or(SpendingLimits::DEFAULT) }
}

/// The sponsorships of one run.
#[derive(Debug)]
pub(crate) struct Sponsorships {
    specification: &'static Specification,
    limits: SpendingLimits,
    /// Granted, or asked for by requests that are not answered.
    spent: Spending,
    granted: u64,
    /// The requests for sponsorships that were answered, and those until the last one that was granted.
    answered: u64,
    until_granted: u64,
}

impl Sponsorships {
    pub(crate) fn new(specification: &'static Specification, limits: SpendingLimits) -> Self {
        Self { specification, limits, spent: Spending::default(), granted: 0, answered: 0, until_granted: 0 }
    }

    /// Takes from the limits what a group asks for. An error, with the limits, where they do not allow it.
    pub(super) fn reserve(&mut self, group: &Group) -> Result<Spending, SpendingLimits> {
        let bodies = group.members.iter().map(|member| &*member.body);
        let asked = Spending::of(bodies, self.specification);
        let spent = self.spent.plus(asked);
        if asked.sponsorships > 0 && !self.limits.allow(spent) {
            return Err(self.limits);
        }
        self.spent = spent;
        Ok(asked)
    }

    /// Gives back what the answers to a group did not grant.
    pub(super) fn settle(&mut self, reserved: Spending, exchanges: &[Exchange]) {
        if reserved.sponsorships == 0 {
            return;
        }
        let mut granted = Spending::default();
        for exchange in exchanges {
            for (asked, is_granted) in self.answers(exchange) {
                self.answered += 1;
                if is_granted {
                    granted = granted.plus(asked);
                    self.until_granted = self.answered;
                }
            }
        }
        self.granted += granted.sponsorships;
        self.spent = self.spent.minus(reserved.minus(granted));
    }

    /// What each call of a request asks for, and whether its answer grants it. In a batch, an answer is found by its id.
    fn answers(&self, exchange: &Exchange) -> Vec<(Spending, bool)> {
        let each = |body: &[u8]| match serde_json::from_slice(body) {
            Ok(Value::Array(each)) => each,
            Ok(one) => vec![one],
            Err(_) => Vec::new(),
        };
        let body = exchange.outcome.as_ref().map(|answer| &*answer.body).unwrap_or_default();
        let (calls, answers) = (each(&exchange.request), each(body));
        let grants = |call: &Value| {
            let mut own = answers.iter().filter(|answer| calls.len() == 1 || answer["id"] == call["id"]);
            own.any(|answer| answer.as_object().and_then(result_of).is_some_and(self.specification.grants))
        };
        let asked = |call: &Value| {
            let cost = (self.specification.asks_for)(call)?;
            Some((Spending { sponsorships: 1, cost }, grants(call)))
        };
        calls.iter().filter_map(asked).collect()
    }

    /// How many requests for sponsorships were answered, where the last of them was refused and the target sponsored before: the answers
    /// to a group with such a request can be those of a target whose budget is used up.
    pub(crate) fn doubtful(&self, group: &Group) -> Option<u64> {
        let bodies = group.members.iter().map(|member| &*member.body);
        (self.granted > 0
            && self.answered > self.until_granted
            && Spending::of(bodies, self.specification).sponsorships > 0)
            .then_some(self.answered)
    }

    /// Why an answer says nothing about its request: the target sponsored nothing more from before it to the end of the run.
    pub(crate) fn exhausted(&self, place: u64) -> Option<String> {
        let refused = self.answered - self.until_granted;
        (place > self.until_granted && refused >= EXHAUSTED).then(|| {
            format!("the target sponsored {} times, then refused {refused} times: a budget?", self.granted)
        })
    }

    /// What was granted at most.
    pub(crate) fn spent(&self) -> Spending {
        self.spent
    }
}
