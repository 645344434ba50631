//! Draws the requests of scenarios for a target.

use std::collections::BTreeSet;

use paymaster_engine::cases::{Base, Plan, Relation};
use paymaster_engine::knowledge::{BaseSource, Knowledge};
use paymaster_engine::load::{Requests, Scenario};
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
        let sequences: Option<Vec<_>> = match scenario.requests {
            Requests::Refused(relations) => Some(self.refused(scenario, relations)),
            Requests::Call(kind) => (0..self.size)
                .map(|_| {
                    let request = self.call(&Base::accepted(kind))?;
                    Some(vec![self.template(scenario.labels[0], &request)])
                })
                .collect(),
            Requests::Journey(first, second, handover) => (0..self.size)
                .map(|_| {
                    let first = self.call(&Base::accepted(first))?;
                    let mut second = self.call(&Base::accepted(second))?;
                    (handover.join)(self.known, &first, &mut second);
                    let mut second = self.template(scenario.labels[1], &second);
                    second.taken = Some(handover.taken);
                    Some(vec![self.template(scenario.labels[0], &first), second])
                })
                .collect(),
        };
        let sequences = sequences.filter(|sequences| !sequences.is_empty());
        sequences.ok_or_else(|| {
            let scenario = scenario.id;
            format!("{scenario}: the profile has nothing to make such requests from: add tokens.supported (token mode) or operations.sponsorable")
        })
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
        let mut by_relation: Vec<_> = relations
            .iter()
            .map(|relation| {
                let plan = Plan::of(std::slice::from_ref(relation), self.known, self.seed, cases);
                let bodies = plan.flat_map(|group| group.members).filter_map(|member| {
                    // The answer is recognized by its id, so a call without one is left out.
                    let request: Value = serde_json::from_slice(&member.body).ok()?;
                    request["id"].is_number().then_some(request)
                });
                bodies.take(self.size).collect::<Vec<_>>().into_iter()
            })
            .collect();
        let mut bodies = BTreeSet::new();
        let mut sequences: Vec<RequestSequence> = Vec::with_capacity(self.size);
        while sequences.len() < self.size {
            let before = sequences.len();
            for requests in &mut by_relation {
                let fresh = requests.find(|request| bodies.insert(request.to_string()));
                sequences.extend(fresh.map(|request| {
                    let mut template = self.template(scenario.labels[0], &request);
                    template.expects_error = true;
                    vec![template]
                }));
            }
            if sequences.len() == before {
                break;
            }
        }
        sequences
    }

    fn template(&self, label: &'static str, request: &Value) -> RequestTemplate {
        RequestTemplate::new(label, request, self.varied)
    }
}
