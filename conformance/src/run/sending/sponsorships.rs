//! What a run has asked its target to pay for, the limits on it, and whether the target stopped paying.

use std::sync::Arc;

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
            for (asked, is_granted, may_be_granted) in self.answers(exchange) {
                self.answered += u64::from(is_alone && (is_granted || may_be_granted));
                if is_granted {
                    granted = granted.plus(asked);
                    if is_alone {
                        self.until_granted = self.answered;
                    }
                }
            }
        }
        self.granted += granted.sponsorships;
        self.spent = self.spent.minus(reserved).plus(granted);
    }

    /// What each call of a request asks for, whether its answer grants it, and whether the target may. In a batch, an answer is found by its id.
    fn answers(&self, exchange: &Exchange) -> Vec<(Spending, bool, bool)> {
        let asked = Spending::of_body(&exchange.request, self.specification);
        if asked.sponsorships == 0 {
            return Vec::new();
        }
        let body = exchange.outcome.as_ref().map(|answer| &*answer.body).unwrap_or_default();
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        let answers = answer.as_array().map_or(std::slice::from_ref(&answer), Vec::as_slice);
        let grants =
            |answer: &Value| answer.as_object().and_then(result_of).is_some_and(self.specification.grants);
        let of_call = |call: &Call| {
            let cost = (self.specification.asks_for)(&call.envelope)?;
            let is_granted = answers.iter().any(|answer| answer["id"] == call.id && grants(answer));
            Some((Spending { sponsorships: 1, cost }, is_granted, self.may_be_granted(call)))
        };
        match &*ParsedRequest::read(&exchange.request, self.specification) {
            ParsedRequest::Batch(each) => {
                let calls = each.iter().filter_map(|one| match one {
                    ParsedRequest::Call(call) => of_call(call),
                    _ => None,
                });
                calls.collect()
            }
            one => {
                let may_be_granted = one.valid_call().is_some_and(|call| self.may_be_granted(call));
                vec![(asked, answers.iter().any(grants), may_be_granted)]
            }
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

    /// How many requests for sponsorships were answered until these, where one of them was refused and the target sponsored before: they can
    /// be the answers of a target whose budget is used up.
    pub(crate) fn doubtful(&self, exchanges: &[Exchange]) -> Option<u64> {
        let is_refused = |exchange| {
            let mut answers = self.answers(exchange).into_iter();
            answers.any(|(_, is_granted, may_be_granted)| !is_granted && may_be_granted)
        };
        (self.granted > 0 && exchanges.iter().any(is_refused)).then_some(self.answered)
    }

    /// Why an answer says nothing about its request: the target sponsored nothing more from about its time to the end of the run. Answers to
    /// requests that were in flight together are not counted in their order.
    pub(crate) fn exhausted(&self, place: u64, jobs: usize) -> Option<String> {
        let overlap = OVERLAP * jobs as u64;
        let refused = self.answered - self.until_granted;
        #[expect(clippy::cast_precision_loss, reason = "a probability needs few digits")]
        let chance = {
            let before = self.until_granted.max(1) as f64;
            let share = 1.0 - (self.granted as f64).min(before) / before;
            share.max(1.0 / before).powi(i32::try_from(refused).unwrap_or(i32::MAX))
        };
        (place + overlap > self.until_granted && chance < CHANCE).then(|| {
            let refused = if refused == 1 { "once".to_owned() } else { format!("{refused} times") };
            format!("the target sponsored {} times, then refused {refused}: a budget?", self.granted)
        })
    }

    /// What was granted at most.
    pub(crate) fn spent(&self) -> Spending {
        self.spent
    }
}
