//! What a run has asked its target to pay for, the limits on it, and whether the target stopped paying.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::iter;
use std::sync::Arc;
use std::time::SystemTime;

use paymaster_engine::knowledge::{Knowledge, Requirement};
use paymaster_engine::message::{Answer, Call, ParsedRequest, result_of};
use paymaster_engine::specification::Specification;
use paymaster_engine::spending::{Spending, SpendingLimits, Wei};
use paymaster_exchange::{Body, Exchange};
use paymaster_settings::Settings;
use serde_json::Value;

/// So many refusals in a row are chance with a lower probability than this where the target stopped sponsoring.
const CHANCE: f64 = 0.001;

/// Fewer refusals at the end of a run do not show that the target stopped: after more than a thousand grants, one alone would pass for more than
/// chance, whatever its request is.
const FEWEST_REFUSALS: u64 = 3;

/// JSON-RPC's code of an internal error: the service failed. A malformed request has codes of its own.
const INTERNAL_ERROR: i64 = -32_603;

/// One in so many malformed calls may have another error than the others: some were in flight when the target failed.
const FEW: u64 = 8;

/// What a run may ask its target to pay for: as the profile says, and less than everything where the target is not on this machine.
pub(crate) fn limits_of(settings: &Settings) -> SpendingLimits {
    let stated = settings.profile.spending_limits();
    if settings.transport.connector().stays_on_this_machine() {
        stated
    } else {
        stated.or(SpendingLimits::DEFAULT)
    }
}

/// The sponsorships of one run.
#[derive(Debug)]
pub(crate) struct Sponsorships {
    pub(super) specification: &'static Specification,
    limits: SpendingLimits,
    /// Granted, or asked for by requests that are not answered.
    spent: Spending,
    /// What is known of the target; none before discovery is over.
    context: Option<Arc<dyn Knowledge>>,
    granted: Spending,
    /// The ordinary requests for sponsorships that may be granted and were answered, and those until the last grant.
    answered: u64,
    until_granted: u64,
    /// When a request that was granted was sent, and what it cost; only those after which no request of at least that cost was granted.
    last_granted: Vec<(SystemTime, Wei)>,
    /// When the last grant came.
    last_grant: Option<SystemTime>,
    /// When each error for a malformed call came, and whether it was an internal one.
    malformed: Vec<(SystemTime, bool)>,
    /// What became of each operation that was granted, where the target may refuse it later.
    operations: HashMap<OperationHash, Repeats>,
}

/// What a target may know an operation by: a hash of its kind, who asks, what is sent once, and what it calls.
type OperationHash = u64;

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
    /// None where the target may not refuse it later.
    operation: Option<OperationHash>,
    is_granted: bool,
    may_be_granted: bool,
    /// Whether the answer is an error, or has the status of a quota: a service that fails refuses nothing.
    has_error: bool,
}

impl Asked {
    fn is_refused(&self) -> bool {
        !self.is_granted && self.may_be_granted
    }
}

/// Why the refusals in a group may say nothing about its requests.
#[derive(Debug, Default)]
pub(crate) struct Doubt {
    /// When each refusal came, and what was refused would have cost.
    refusals: Vec<(Option<SystemTime>, Wei)>,
    /// The operations that were refused with an error.
    refused: Vec<OperationHash>,
}

impl Sponsorships {
    pub(crate) fn new(specification: &'static Specification, limits: SpendingLimits) -> Self {
        Self {
            specification,
            limits,
            spent: Spending::default(),
            context: None,
            granted: Spending::default(),
            answered: 0,
            until_granted: 0,
            last_granted: Vec::new(),
            last_grant: None,
            malformed: Vec::new(),
            operations: HashMap::new(),
        }
    }

    /// Takes from the limits what requests ask for. An error, with the limits, where they do not allow it.
    pub(super) fn reserve<'a>(
        &mut self,
        bodies: impl Iterator<Item = &'a Body>,
    ) -> Result<Spending, SpendingLimits> {
        if !self.limits.is_some() {
            return Ok(Spending::default());
        }
        let each = bodies.map(|body| Spending::of_body(body, self.specification));
        let asked = each.fold(Spending::default(), Spending::plus);
        let spent = self.spent.plus(asked);
        if asked.sponsorships > 0 && !self.limits.allow(spent) {
            return Err(self.limits);
        }
        self.spent = spent;
        Ok(asked)
    }

    /// What answers granted; nothing is counted where there are no limits.
    pub(super) fn granted_by(&self, exchanges: &[Exchange]) -> Spending {
        let limited = exchanges.iter().filter(|_| self.limits.is_some());
        let granted = limited.flat_map(|exchange| self.answers(exchange)).filter(|asked| asked.is_granted);
        granted.fold(Spending::default(), |all, asked| all.plus(asked.spending))
    }

    /// Replaces what was taken for requests that are not judged, such as copies, by what was granted to them.
    pub(super) fn settle_unjudged(&mut self, reserved: Spending, granted: Spending) {
        self.granted = self.granted.plus(granted);
        self.spent = self.spent.minus(reserved).plus(granted);
    }

    /// Replaces what was taken for a group by what the answers to it granted.
    pub(super) fn settle(&mut self, reserved: Spending, exchanges: &[Exchange]) {
        let mut granted = Spending::default();
        for exchange in exchanges {
            self.count_malformed(exchange);
            // Which answer of a batch is to which call may not be certain.
            let is_alone = !exchange.request.starts_with(b"[");
            for asked in self.answers(exchange) {
                self.answered += u64::from(is_alone && asked.may_be_granted);
                if asked.is_granted {
                    granted = granted.plus(asked.spending);
                    if is_alone {
                        self.until_granted = self.answered;
                        self.last_grant = self.last_grant.max(exchange.received);
                        let sent = exchange.received.and_then(|received| received.checked_sub(exchange.took));
                        self.grant(sent, asked.spending.cost);
                    }
                }
                self.remember(&asked);
            }
        }
        self.settle_unjudged(reserved, granted);
    }

    fn grant(&mut self, sent: Option<SystemTime>, cost: Wei) {
        let Some(sent) = sent else { return };
        if !self.granted_since(sent, cost) {
            self.last_granted.retain(|(before, less)| *before > sent || less.0 > cost.0);
            self.last_granted.push((sent, cost));
        }
    }

    /// Whether a request of at least that cost was granted that was sent at this time or later.
    fn granted_since(&self, time: SystemTime, cost: Wei) -> bool {
        self.last_granted.iter().any(|(sent, granted)| *sent >= time && granted.0 >= cost.0)
    }

    fn remember(&mut self, asked: &Asked) {
        let Some(operation) = asked.operation else { return };
        if asked.is_granted {
            let known = self.operations.entry(operation).or_default();
            known.is_served_again |= known.is_refused;
        } else if let Some(known) = self.operations.get_mut(&operation) {
            known.is_refused |= asked.is_refused() && asked.has_error;
        }
    }

    /// What each call of a request asks for, and its answer. In a batch, an answer is found by its id.
    fn answers(&self, exchange: &Exchange) -> Vec<Asked> {
        let spending = Spending::of_body(&exchange.request, self.specification);
        if spending.sponsorships == 0 {
            return Vec::new();
        }
        let answer = Answer::of(exchange);
        let answer = answer.document().map_or(&Value::Null, |document| &document.value);
        let answers = answer.as_array().map_or(std::slice::from_ref(answer), Vec::as_slice);
        // A quota may be kept before the service. Any other refusal is an error of JSON-RPC.
        let is_refused =
            exchange.outcome.as_ref().is_ok_and(|answer| matches!(answer.status, 402 | 403 | 429));
        match &*ParsedRequest::read(&exchange.request, self.specification) {
            ParsedRequest::Batch(each) => {
                let calls = each.iter().filter_map(|one| match one {
                    ParsedRequest::Call(call) => {
                        let cost = (self.specification.asks_for)(&call.envelope)?;
                        let own = answers.iter().filter(|answer| answer["id"] == call.id);
                        Some(self.asked(Spending { sponsorships: 1, cost }, Some(call), own, is_refused))
                    }
                    _ => None,
                });
                calls.collect()
            }
            one => vec![self.asked(spending, one.valid_call(), answers.iter(), is_refused)],
        }
    }

    /// A call that asks for nothing, such as one for a stub or a quote, and got a result that grants nothing, or an error: a target that sponsors
    /// nothing more may say so early, with an error where it may refuse later what it granted.
    fn refused_free_of_cost(&self, exchange: &Exchange) -> Option<Asked> {
        let request = ParsedRequest::read(&exchange.request, self.specification);
        let call =
            request.valid_call().filter(|call| (self.specification.asks_for)(&call.envelope).is_none())?;
        let answer = Answer::of(exchange);
        let answer = &answer.document()?.value;
        let asked = self.asked(Spending::default(), Some(call), iter::once(answer), false);
        let says_so = answer["result"].is_object() || asked.has_error && self.specification.refuses_repeats;
        Some(Asked { operation: None, ..asked }).filter(|asked| asked.is_refused() && says_so)
    }

    /// What a call asks for, with the answers to it, and whether its HTTP status refuses it.
    fn asked<'a>(
        &self,
        spending: Spending,
        call: Option<&Call>,
        answers: impl Iterator<Item = &'a Value> + Clone,
        is_refused: bool,
    ) -> Asked {
        let grants =
            |answer: &Value| answer.as_object().and_then(result_of).is_some_and(self.specification.grants);
        let is_granted = answers.clone().any(grants);
        Asked {
            spending,
            operation: call.and_then(|call| self.operation(call)),
            is_granted,
            may_be_granted: is_granted || call.is_some_and(|call| self.may_be_granted(call)),
            has_error: is_refused || answers.into_iter().any(|answer| answer["error"].is_object()),
        }
    }

    /// What the target may know the operation of a call by, in whatever letter case; none where it may not refuse it later.
    fn operation(&self, call: &Call) -> Option<OperationHash> {
        let places = self.specification.places;
        self.specification.refuses_repeats.then(|| {
            let mut hasher = DefaultHasher::new();
            for place in [places.kind, places.party, places.once, places.bytes] {
                let value = call.envelope.pointer(place).map(Value::to_string);
                value.map(|text| text.to_ascii_lowercase()).hash(&mut hasher);
            }
            hasher.finish()
        })
    }

    /// Whether a call is an ordinary one that nothing known of the target lets it refuse, or that it may grant.
    fn may_be_granted(&self, call: &Call) -> bool {
        let Some(context) = self.context.as_ref().filter(|_| call.valid) else { return false };
        let Requirement { within_tables, beyond, expectation } = context.requirement(call);
        within_tables && beyond.is_none() && !expectation.forbids_grant()
    }

    /// What discovery learned of the target.
    pub(crate) fn learn(&mut self, context: &Arc<dyn Knowledge>) {
        self.context = Some(Arc::clone(context));
    }

    /// What may be wrong with these answers, where one of them is a refusal and the target sponsored before: its budget may be used up, or
    /// it refuses what it sponsored before.
    pub(crate) fn doubtful(&self, exchanges: &[Exchange]) -> Option<Doubt> {
        if self.granted.sponsorships == 0 {
            return None;
        }
        let mut doubt: Option<Doubt> = None;
        for exchange in exchanges {
            let asked = self.answers(exchange).into_iter().filter(Asked::is_refused);
            for asked in asked.chain(self.refused_free_of_cost(exchange)) {
                let doubt = doubt.get_or_insert_default();
                doubt.refusals.push((exchange.received, asked.spending.cost));
                doubt.refused.extend(asked.operation.filter(|_| asked.has_error));
            }
        }
        doubt
    }

    /// Why an answer says nothing about its request: the target refused the operation from then on, or sponsored nothing more to the
    /// end of the run.
    pub(crate) fn exhausted(&self, doubt: &Doubt) -> Option<String> {
        let is_repeated = |operation: &OperationHash| {
            let known = self.operations.get(operation);
            known.is_some_and(|known| known.is_refused && !known.is_served_again)
        };
        if doubt.refused.iter().any(is_repeated) {
            return Some(
                "the target sponsored an operation with this sender, nonce and call, and none with them after it refused one"
                    .to_owned(),
            );
        }
        let refused = self.answered - self.until_granted;
        (self.is_late(doubt) && self.stopped()).then(|| {
            let granted = self.granted.sponsorships;
            format!(
                "the target sponsored {granted} times, then refused {refused} times: a budget, or a failure?"
            )
        })
    }

    /// Why the refusals at the end of a run may show a target that failed, and not only a spent budget: since then, malformed calls got an internal
    /// error, and other errors before. None where they got what they got before.
    pub(crate) fn failure(&self) -> Option<&'static str> {
        let of = |is_since: bool| {
            let errors =
                self.malformed.iter().filter(move |(came, _)| (Some(*came) > self.last_grant) == is_since);
            errors.fold([0, 0], |[internal, other], (_, is_internal)| {
                [internal + u64::from(*is_internal), other + u64::from(!is_internal)]
            })
        };
        let ([before, before_other], [since, since_other]) = (of(false), of(true));
        let fails_all =
            since >= FEWEST_REFUSALS && FEW * since_other <= since && FEW * before <= before_other;
        fails_all.then_some(
            "refused since the target sponsored last; nearly all malformed calls got -32603 since then, and hardly any before: \
             the target failed, or its budget is spent",
        )
    }

    /// Remembers the error for a malformed call.
    fn count_malformed(&mut self, exchange: &Exchange) {
        let answer = Answer::of(exchange);
        let request = ParsedRequest::read(&exchange.request, self.specification);
        if let (Some(error), Some(came)) = (answer.error(), exchange.received)
            && matches!(&*request, ParsedRequest::Call(call) if !call.valid)
        {
            self.malformed.push((came, error["code"].as_i64() == Some(INTERNAL_ERROR)));
        }
    }

    /// Whether more answers would tell whether a budget is spent: the target sponsored nothing since this refusal, which may be chance.
    pub(crate) fn is_open(&self, doubt: &Doubt) -> bool {
        self.is_late(doubt) && !self.stopped()
    }

    /// Whether the refusals at the end of the run are so many that the target stopped sponsoring.
    fn stopped(&self) -> bool {
        self.answered - self.until_granted >= FEWEST_REFUSALS && self.chance() < CHANCE
    }

    /// Whether, after one of these refusals, no request was sent and granted that asks for at least as much: what is left of a budget may still
    /// pay for less.
    fn is_late(&self, doubt: &Doubt) -> bool {
        let mut refusals = doubt.refusals.iter();
        refusals.any(|(came, cost)| came.is_none_or(|came| !self.granted_since(came, *cost)))
    }

    /// The probability of so many refusals at the end of the run, by those before.
    #[expect(clippy::cast_precision_loss, reason = "a probability needs few digits")]
    fn chance(&self) -> f64 {
        let refused = self.answered - self.until_granted;
        let before = self.until_granted.max(1) as f64;
        let share = 1.0 - (self.granted.sponsorships as f64).min(before) / before;
        share.max(1.0 / before).powi(i32::try_from(refused).unwrap_or(i32::MAX))
    }

    /// What the target granted, in words, and what it may have granted to requests that the end of the run left without an answer.
    pub(crate) fn account(&self) -> String {
        let account = format!("the target granted {}, of at most {}", self.granted, self.limits);
        match self.spent.minus(self.granted) {
            Spending { sponsorships: 0, .. } => account,
            open => format!(
                "{account}; {open} more may be granted, to requests whose answers the run did not wait for"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use paymaster_client::http::{Limits, Transport};
    use paymaster_client::network::Target;
    use paymaster_engine::cases::Group;
    use paymaster_engine::cases::plan::Plan;
    use paymaster_exchange::Response;
    use paymaster_settings::args::RunArgs;
    use paymaster_settings::{DEFAULT_SPECIFICATION, specification};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn after(granted: u64, refused: u64) -> Sponsorships {
        Sponsorships {
            granted: Spending { sponsorships: granted, cost: Wei(0) },
            answered: granted + refused,
            until_granted: granted,
            last_granted: vec![(at(10), Wei(100))],
            ..Sponsorships::new(DEFAULT_SPECIFICATION, SpendingLimits::default())
        }
    }

    #[test]
    fn a_target_on_this_machine_alone_has_no_limits_that_nobody_stated() {
        let limits = |url: &str, profile: &str| {
            let transport = Transport::new(Target::parse(url).unwrap(), Limits::default(), &[]);
            let profile = (DEFAULT_SPECIFICATION.read_profile)(profile).unwrap();
            limits_of(&Settings::new(transport, url.to_owned(), profile, RunArgs::default()))
        };
        let tenth = Some(Wei(100_000_000_000_000_000));
        let elsewhere = "http://staging.example/";
        assert_eq!(limits(elsewhere, ""), SpendingLimits { sponsorships: Some(50), cost: tenth });
        let stated = "operations.max-sponsorships = 7";
        assert_eq!(limits(elsewhere, stated), SpendingLimits { sponsorships: Some(7), cost: tenth });
        let here = "http://127.0.0.1:4338/";
        assert_eq!(limits(here, ""), SpendingLimits { sponsorships: None, cost: None });
        assert_eq!(limits(here, stated), SpendingLimits { sponsorships: Some(7), cost: None });
    }

    #[test]
    fn what_was_asked_for_without_an_answer_is_not_called_granted() {
        let limits = SpendingLimits { sponsorships: Some(9), cost: None };
        let spending = |sponsorships, cost| Spending { sponsorships, cost: Wei(cost) };
        let mut account = Sponsorships::new(DEFAULT_SPECIFICATION, limits);
        (account.spent, account.granted) = (spending(5, 70), spending(3, 50));
        assert_eq!(
            account.account(),
            "the target granted 3 sponsorships worth 0.00000000000000005 ETH, of at most 9 sponsorships; 2 sponsorships worth \
             0.00000000000000002 ETH more may be granted, to requests whose answers the run did not wait for"
        );
        account.spent = account.granted;
        assert!(account.account().ends_with("of at most 9 sponsorships"));
    }

    #[test]
    fn few_refusals_at_the_end_leave_open_whether_a_budget_is_spent() {
        let doubt_at =
            |seconds, cost| Doubt { refusals: vec![(Some(at(seconds)), Wei(cost))], refused: Vec::new() };
        let doubt = doubt_at(11, 100);
        for refused in [1, 2] {
            let open = after(7_000, refused);
            assert!(open.is_open(&doubt) && open.exhausted(&doubt).is_none(), "{refused}");
        }
        let spent = after(700, 3);
        assert!(!spent.is_open(&doubt));
        let cause = spent.exhausted(&doubt).expect("three in a row are no chance");
        assert_eq!(cause, "the target sponsored 700 times, then refused 3 times: a budget, or a failure?");
        // It sponsored what was sent afterwards; more than that may have been too much for it.
        let early = doubt_at(9, 100);
        assert!(!after(700, 1).is_open(&early) && spent.exhausted(&early).is_none());
        assert!(spent.exhausted(&doubt_at(9, 101)).is_some());
    }

    #[test]
    fn an_operation_that_is_refused_from_its_second_time_on_may_be_limited() {
        const OPERATION: OperationHash = 7;
        let asked = |is_granted, has_error| Asked {
            spending: Spending::default(),
            operation: Some(OPERATION),
            is_granted,
            may_be_granted: true,
            has_error,
        };
        let (granted, refused, failed) = (asked(true, false), asked(false, true), asked(false, false));
        let doubt = Doubt { refusals: Vec::new(), refused: vec![OPERATION] };
        for (answers, is_limited) in [
            (vec![&granted, &refused], true),
            (vec![&granted, &granted, &refused, &refused], true),
            (vec![&granted, &refused, &granted], false),
            (vec![&refused, &granted], false),
            (vec![&refused, &refused], false),
            // A service that fails refuses nothing.
            (vec![&granted, &failed], false),
        ] {
            let mut known = after(700, 0);
            for answer in &answers {
                known.remember(answer);
            }
            assert_eq!(known.exhausted(&doubt).is_some(), is_limited, "{answers:?}");
        }
    }

    #[test]
    fn a_status_without_an_error_refuses_a_repeat_only_where_it_is_that_of_a_quota() {
        let specification = specification("erc-7677").unwrap();
        let context = (specification.read_profile)("operations.accepts = \"any\"").unwrap();
        let known = Sponsorships { specification, context: Some(context.clone()), ..after(200, 0) };
        let asks = |group: &Group| Spending::of_body(&group.members[0].body, specification).sponsorships > 0;
        let plan = Plan::new(&*context, 1, 40);
        let group = plan.filter(|group| group.members.len() == 1).find(asks).expect("a call for data");
        for (status, may_be_a_quota) in [(402, true), (403, true), (409, false), (422, false), (500, false)] {
            let response = Response { status, headers: Vec::new(), body: "".into() };
            let exchange = Exchange::new(group.members[0].body.clone(), Ok(response), Duration::ZERO);
            let doubt = known.doubtful(&[exchange]).unwrap_or_default();
            assert_eq!(!doubt.refused.is_empty(), may_be_a_quota, "{status}");
        }
    }

    #[test]
    fn an_error_in_place_of_a_stub_may_come_from_a_spent_budget_and_one_in_place_of_a_quote_may_not() {
        let of_stubs = specification("erc-7677").unwrap();
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"budget used up"}}"#;
        let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let refusal = r#"{"jsonrpc":"2.0","id":1,"result":{"paymasterAndData":"0x"}}"#;
        for (specification, answer, is_doubtful) in [
            (of_stubs, error, true),
            (of_stubs, result, false),
            (DEFAULT_SPECIFICATION, error, false),
            (DEFAULT_SPECIFICATION, refusal, true),
        ] {
            let context = (specification.read_profile)("operations.accepts = \"any\"").unwrap();
            let mut plan = Plan::new(&*context, 1, 40).filter(|group| group.members.len() == 1);
            let known = Sponsorships { specification, context: Some(context.clone()), ..after(200, 3) };
            let is_free = |group: &Group| {
                let request = ParsedRequest::read(&group.members[0].body, specification);
                let call = request.valid_call();
                call.is_some_and(|call| {
                    (specification.asks_for)(&call.envelope).is_none() && known.may_be_granted(call)
                })
            };
            let group = plan.find(is_free).expect("a call that asks for nothing");
            let response = Response { status: 200, headers: Vec::new(), body: answer.into() };
            let exchange = Exchange::new(group.members[0].body.clone(), Ok(response), Duration::ZERO);
            assert_eq!(known.doubtful(&[exchange]).is_some(), is_doubtful, "{} {answer}", specification.name);
        }
    }
}
