//! Draws the requests of scenarios for a target.

use std::collections::BTreeSet;

use paymaster_engine::cases::{Base, Plan, Relation};
use paymaster_engine::knowledge::{BaseSource, Knowledge};
use paymaster_engine::load::{Handover, Requests, Scenario};
use paymaster_schemas::Kind;
use serde_json::Value;

use super::{RequestTemplate, has_room};

/// How many draws are tried to find an operation with room for a number.
const TRIES: usize = 20;

/// Requests that one user sends one after the other.
pub type RequestSequence = Vec<RequestTemplate>;

/// Draws requests for a target. The same seed gives the same requests.
pub struct RequestGenerator<'a> {
    known: &'a dyn Knowledge,
    pub(super) seed: u64,
    /// How many request sequences to make for each scenario.
    size: usize,
    source: BaseSource,
    /// The place of a request that differs from request to request.
    varied: Option<&'static str>,
}

impl<'a> RequestGenerator<'a> {
    /// A generator with this seed that makes `size` request sequences for each scenario.
    pub fn new(known: &'a dyn Knowledge, seed: u64, size: usize) -> Self {
        let varied = known.may_vary_operations().then_some(known.specification().places.bytes);
        Self { known, seed, size, source: known.source(seed), varied }
    }

    /// The scenarios of the target's specification.
    pub(super) fn scenarios(&self) -> &'static [Scenario] {
        self.known.specification().load.scenarios
    }

    /// The request sequences of a scenario.
    pub fn sequences(&mut self, scenario: &'static Scenario) -> Result<Vec<RequestSequence>, String> {
        let sequences = if let Requests::Refused(relations) = scenario.requests {
            self.refused(scenario, relations)
        } else {
            self.accepted(scenario)
        };
        if sequences.is_empty() {
            let why = "the profile has nothing to make such requests from";
            let remedy = "add tokens.supported (token mode) or operations.sponsorable";
            return Err(format!("{}: {why}: {remedy}", scenario.id));
        }
        Ok(sequences)
    }

    /// Calls that the target should accept. The forms that it serves take turns.
    fn accepted(&mut self, scenario: &Scenario) -> Vec<RequestSequence> {
        let (calls, handover) = calls_of(scenario);
        in_turn(self.size, self.forms(&calls), |calls| self.sequence(scenario, calls, handover))
    }

    /// These calls in each form: as they are, and with the kinds of the same methods that no scenario names, such as those for other
    /// versions of the EntryPoint.
    fn forms(&self, calls: &[Kind]) -> Vec<Vec<Kind>> {
        let named: Vec<Kind> = self.scenarios().iter().flat_map(|scenario| calls_of(scenario).0).collect();
        let kinds = self.known.specification().kinds.iter().copied();
        let of = |method: &'static str| kinds.clone().filter(move |kind| kind.method == method);
        let forms = of(calls[0].method).filter(|kind| *kind == calls[0] || !named.contains(kind));
        let selectors = forms.map(|kind| kind.selector);
        let call = |call: &Kind, form| of(call.method).find(|kind| kind.selector == form);
        selectors.filter_map(|form| calls.iter().map(|own| call(own, form)).collect()).collect()
    }

    /// A request of each of these kinds; `None` if the profile names nothing to make one from.
    fn sequence(
        &mut self,
        scenario: &Scenario,
        calls: &[Kind],
        handover: Option<Handover>,
    ) -> Option<RequestSequence> {
        let requests = calls.iter().map(|kind| self.call(&Base::accepted(*kind)));
        let mut requests = requests.collect::<Option<Vec<_>>>()?;
        if let (Some(handover), [first, second]) = (handover, &mut requests[..]) {
            (handover.join)(self.known, first, second);
        }
        let templates = scenario.labels.iter().zip(&requests);
        let mut sequence: RequestSequence =
            templates.map(|(label, request)| self.template(label, request)).collect();
        sequence.last_mut()?.taken = handover.map(|handover| handover.taken);
        Some(sequence)
    }

    /// A call that the target should accept; `None` if the profile names nothing to make one from.
    fn call(&mut self, base: &Base) -> Option<Value> {
        let mut drawn = (self.source)(base)?;
        for _ in 0..TRIES {
            let bytes = self.varied.map(|place| drawn.pointer(place).and_then(Value::as_str));
            if bytes.is_none_or(|bytes| bytes.is_some_and(has_room)) {
                break;
            }
            drawn = (self.source)(base)?;
        }
        Some(drawn)
    }

    /// Distinct requests of the relations, in turn.
    fn refused(&self, scenario: &Scenario, relations: &[&'static Relation]) -> Vec<RequestSequence> {
        let cases = u32::try_from(self.size).unwrap_or(u32::MAX / 100);
        // A plan takes one relation after the other. Here they alternate, so each relation has a plan of its own.
        let by_relation = relations.iter().map(|relation| {
            let plan = Plan::of(std::slice::from_ref(relation), self.known, self.seed, cases);
            let bodies = plan.flat_map(|group| group.members).filter_map(|member| {
                // The answer is recognized by its id, so a call without one is left out.
                let request: Value = serde_json::from_slice(&member.body).ok()?;
                request["id"].is_number().then_some(request)
            });
            bodies.take(self.size).collect::<Vec<_>>().into_iter()
        });
        let mut bodies = BTreeSet::new();
        in_turn(self.size, by_relation.collect(), |requests| {
            let fresh = requests.find(|request| bodies.insert(request.to_string()))?;
            let mut template = self.template(scenario.labels[0], &fresh);
            template.expects_error = true;
            Some(vec![template])
        })
    }

    fn template(&self, label: &'static str, request: &Value) -> RequestTemplate {
        RequestTemplate::new(label, request, self.varied)
    }
}

/// At least so many sequences, if the sources make them: one of each source in turn, until it makes no more.
fn in_turn<S>(
    size: usize,
    mut sources: Vec<S>,
    mut next: impl FnMut(&mut S) -> Option<RequestSequence>,
) -> Vec<RequestSequence> {
    let mut sequences = Vec::with_capacity(size);
    while sequences.len() < size && !sources.is_empty() {
        sources.retain_mut(|source| {
            let sequence = next(source);
            let is_left = sequence.is_some();
            sequences.extend(sequence);
            is_left
        });
    }
    sequences
}

/// The calls of a scenario that the target should accept, and what the second one takes over.
fn calls_of(scenario: &Scenario) -> (Vec<Kind>, Option<Handover>) {
    match scenario.requests {
        Requests::Call(kind) => (vec![kind], None),
        Requests::Journey(first, second, handover) => (vec![first, second], Some(handover)),
        Requests::Refused(_) => (Vec::new(), None),
    }
}
