//! What a run has asked its target to pay for, the limits on it, and whether the target stopped paying.

use std::{collections::HashMap, sync::Arc};

use paymaster_engine::{
    cases::case::Group,
    knowledge::{Expectation, Knowledge, Requirement},
    message::{
        answer::result_of,
        request::{Call, ParsedRequest},
    },
    specification::Specification,
    spending::{Spending, SpendingLimits},
};
use paymaster_exchange::Exchange;
use paymaster_settings::Settings;
use serde_json::Value;

/// So many refusals in a row are chance with a lower probability than this where the target stopped sponsoring.
const CHANCE: f64 = 0.001;

/// What a run may ask its target to pay for: as the profile says, and less than everything where the target is not on this machine.
pub(crate) fn limits_of(settings: &Settings) -> SpendingLimits {
    let stated = settings.profile.spending_limits();
    if settings.transport.connector().stays_on_this_machine() {
        stated
    } else {
        stated.or(SpendingLimits::DEFAULT)
    }
}

/// How many answers to the requests of one group are counted before those of another that was in flight with it.
const OVERLAP: u64 = 4;

/// The sponsorships of one run.
#[derive(Debug)]
pub(crate) struct Sponsorships {
    specification: &'static Specification,
    limits: SpendingLimits,
    /// Granted, or asked for by requests that are not answered.
    spent: Spending,
    /// What is known of the target; none before discovery is over.
    context: Option<Arc<dyn Knowledge>>,
    granted: u64,
    /// The ordinary requests for sponsorships that may be granted and were answered, and those until the last grant.
    answered: u64,
    until_granted: u64,
    /// What became of each operation that was granted, where the target may refuse it later.
    operations: HashMap<Operation, Repeats>,
}

/// What a target may know an operation by: its kind, who asks, what is sent once, and what it calls.
type Operation = [Value; 4];

/// The answers to one operation since it was granted.
#[derive(Clone, Copy, Debug, Default)]
struct Repeats {
    is_refused: bool,
    /// Whether it was granted again after a refusal.
    is_served_again: bool,
}

/// A call that asks for a sponsorship, and its answer.
#[derive(Debug)]
struct Asked {
    spending: Spending,
    operation: Operation,
    is_granted: bool,
    may_be_granted: bool,
}

impl Asked {
    fn is_refused(&self) -> bool {
        !self.is_granted && self.may_be_granted
    }
}

/// Why the refusal in a group may say nothing about its requests.
#[derive(Debug)]
pub(crate) struct Doubt {
    /// How many requests for sponsorships were answered until these.
    place: u64,
    /// The refused operations.
    refused: Vec<Operation>,
}

impl Sponsorships {
    pub(crate) fn new(specification: &'static Specification, limits: SpendingLimits) -> Self {
        Self {
            specification,
            limits,
            spent: Spending::default(),
            context: None,
            granted: 0,
            answered: 0,
            until_granted: 0,
            operations: HashMap::new(),
        }
    }

    /// Takes from the limits what a group asks for. An error, with the limits, where they do not allow it.
    pub(super) fn reserve(&mut self, group: &Group) -> Result<Spending, SpendingLimits> {
        if !self.limits.is_some() {
            return Ok(Spending::default());
        }
        let each = group.members.iter().map(|member| Spending::of_body(&member.body, self.specification));
        let asked = each.fold(Spending::default(), Spending::plus);
        let spent = self.spent.plus(asked);
        if asked.sponsorships > 0 && !self.limits.allow(spent) {
            return Err(self.limits);
        }
        self.spent = spent;
        Ok(asked)
    }

    /// Replaces what was taken for a group by what the answers to it granted.
    pub(super) fn settle(&mut self, reserved: Spending, exchanges: &[Exchange]) {
        let mut granted = Spending::default();
        for exchange in exchanges {
            // Which answer of a batch is to which call may not be certain.
            let is_alone = !exchange.request.starts_with(b"[");
            for asked in self.answers(exchange) {
                self.answered += u64::from(is_alone && (asked.is_granted || asked.may_be_granted));
                if asked.is_granted {
                    granted = granted.plus(asked.spending);
                    if is_alone {
                        self.until_granted = self.answered;
                    }
                }
                if self.specification.refuses_repeats {
                    self.remember(asked);
                }
            }
        }
        self.granted += granted.sponsorships;
        self.spent = self.spent.minus(reserved).plus(granted);
    }

    fn remember(&mut self, asked: Asked) {
        let is_refused = asked.is_refused();
        if asked.is_granted {
            let known = self.operations.entry(asked.operation).or_default();
            known.is_served_again |= known.is_refused;
        } else if let Some(known) = self.operations.get_mut(&asked.operation) {
            known.is_refused |= is_refused;
        }
    }

    /// What each call of a request asks for, and its answer. In a batch, an answer is found by its id.
    fn answers(&self, exchange: &Exchange) -> Vec<Asked> {
        let spending = Spending::of_body(&exchange.request, self.specification);
        if spending.sponsorships == 0 {
            return Vec::new();
        }
        let body = exchange.outcome.as_ref().map(|answer| &*answer.body).unwrap_or_default();
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let answers = answer.as_array().map_or(std::slice::from_ref(&answer), Vec::as_slice);
        let grants =
            |answer: &Value| answer.as_object().and_then(result_of).is_some_and(self.specification.grants);
        let places = self.specification.places;
        let asked = |spending, call: Option<&Call>, is_granted| {
            let of_call = |place| call.and_then(|call| call.envelope.pointer(place)).cloned();
            let operation = [places.kind, places.party, places.once, places.bytes]
                .map(|place| of_call(place).unwrap_or_default());
            let may_be_granted = call.is_some_and(|call| self.may_be_granted(call));
            Asked { spending, operation, is_granted, may_be_granted }
        };
        match &*ParsedRequest::read(&exchange.request, self.specification) {
            ParsedRequest::Batch(each) => {
                let calls = each.iter().filter_map(|one| match one {
                    ParsedRequest::Call(call) => {
                        let cost = (self.specification.asks_for)(&call.envelope)?;
                        let is_granted =
                            answers.iter().any(|answer| answer["id"] == call.id && grants(answer));
                        Some(asked(Spending { sponsorships: 1, cost }, Some(call), is_granted))
                    }
                    _ => None,
                });
                calls.collect()
            }
            one => vec![asked(spending, one.valid_call(), answers.iter().any(grants))],
        }
    }

    /// Whether a call is an ordinary one that nothing known of the target lets it refuse, or that it may grant.
    fn may_be_granted(&self, call: &Call) -> bool {
        let Some(context) = self.context.as_ref().filter(|_| call.valid) else {
            return false;
        };
        let Requirement { within_tables, beyond, expectation } = context.requirement(call);
        let is_refused = matches!(expectation, Expectation::Refused | Expectation::NotSponsored);
        within_tables && beyond.is_none() && !is_refused
    }

    /// What discovery learned of the target.
    pub(crate) fn learn(&mut self, context: &Arc<dyn Knowledge>) {
        self.context = Some(Arc::clone(context));
    }

    /// What may be wrong with these answers, where one of them is a refusal and the target sponsored before: its budget may be used up, or
    /// it refuses what it sponsored before.
    pub(crate) fn doubtful(&self, exchanges: &[Exchange]) -> Option<Doubt> {
        let asked = exchanges.iter().flat_map(|exchange| self.answers(exchange));
        let refused: Vec<Operation> = asked.filter(Asked::is_refused).map(|asked| asked.operation).collect();
        (self.granted > 0 && !refused.is_empty()).then_some(Doubt { place: self.answered, refused })
    }

    /// Why an answer says nothing about its request: the target refused the operation from then on, or sponsored nothing more from about its
    /// time to the end of the run.
    pub(crate) fn exhausted(&self, doubt: &Doubt, jobs: usize) -> Option<String> {
        let is_repeated = |operation: &Operation| {
            let known = self.operations.get(operation);
            known.is_some_and(|known| known.is_refused && !known.is_served_again)
        };
        if doubt.refused.iter().any(is_repeated) {
            return Some(
                "the target sponsored an operation, and refused the same one from then on".to_owned(),
            );
        }
        (self.is_late(doubt, jobs) && self.chance() < CHANCE).then(|| {
            let refused = match self.answered - self.until_granted {
                1 => "once".to_owned(),
                refused => format!("{refused} times"),
            };
            format!("the target sponsored {} times, then refused {refused}: a budget?", self.granted)
        })
    }

    /// Whether more answers would tell whether a budget is spent: the target sponsored nothing since about this refusal, which may be chance.
    pub(crate) fn is_open(&self, doubt: &Doubt, jobs: usize) -> bool {
        self.is_late(doubt, jobs) && self.chance() >= CHANCE
    }

    /// Answers to requests that were in flight together are not counted in their order.
    fn is_late(&self, doubt: &Doubt, jobs: usize) -> bool {
        doubt.place + OVERLAP * jobs as u64 > self.until_granted
    }

    /// The probability of so many refusals at the end of the run, by those before.
    #[expect(clippy::cast_precision_loss, reason = "a probability needs few digits")]
    fn chance(&self) -> f64 {
        let refused = self.answered - self.until_granted;
        let before = self.until_granted.max(1) as f64;
        let share = 1.0 - (self.granted as f64).min(before) / before;
        share.max(1.0 / before).powi(i32::try_from(refused).unwrap_or(i32::MAX))
    }

    /// What was granted at most.
    pub(crate) fn spent(&self) -> Spending {
        self.spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paymaster_settings::DEFAULT_SPECIFICATION;

    fn after(granted: u64, refused: u64) -> Sponsorships {
        Sponsorships {
            granted,
            answered: granted + refused,
            until_granted: granted,
            ..Sponsorships::new(DEFAULT_SPECIFICATION, SpendingLimits::default())
        }
    }

    #[test]
    fn few_refusals_at_the_end_leave_open_whether_a_budget_is_spent() {
        let doubt = Doubt { place: 701, refused: Vec::new() };
        assert!(after(700, 1).is_open(&doubt, 1) && after(700, 1).exhausted(&doubt, 1).is_none());
        let spent = after(700, 2);
        assert!(!spent.is_open(&doubt, 1));
        let cause = spent.exhausted(&doubt, 1).expect("two in a row are no chance");
        assert_eq!(cause, "the target sponsored 700 times, then refused 2 times: a budget?");
        // It sponsored afterwards.
        let early = Doubt { place: 600, refused: Vec::new() };
        assert!(!after(700, 1).is_open(&early, 1) && spent.exhausted(&early, 1).is_none());
    }

    #[test]
    fn an_operation_that_is_refused_from_its_second_time_on_may_be_limited() {
        let operation: Operation = std::array::from_fn(|_| Value::from(1));
        let doubt = Doubt { place: 2, refused: vec![operation.clone()] };
        for (is_served_again, is_limited) in [(false, true), (true, false)] {
            let mut known = after(700, 0);
            known.operations.insert(operation.clone(), Repeats { is_refused: true, is_served_again });
            assert_eq!(known.exhausted(&doubt, 1).is_some(), is_limited);
        }
        assert!(after(700, 0).exhausted(&doubt, 1).is_none(), "it was never granted");
    }
}
