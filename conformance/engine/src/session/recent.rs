//! The cause of a finding in recorded traffic. Nothing is sent: the failing request is compared with the nearest recorded one that passed.

use std::collections::VecDeque;

use paymaster_exchange::Exchange;
use serde_json::Value;

use super::recheck::{Outcome, Recheck};
use crate::cases::Group;
use crate::diagnosis::{Cause, Contrast, Difference, Finding, WrongAnswers, differences};
use crate::knowledge::Knowledge;
use crate::message::{Answer, ParsedRequest};

/// How many exchanges are kept: the latest ones.
const MOST_KEPT: usize = 2_048;

/// The longest request and answer that are kept, in bytes.
const LONGEST_KEPT: usize = 8 * 1024;

/// The latest exchanges of a recording, with which failing ones are compared.
#[derive(Clone, Debug, Default)]
pub struct RecentExchanges(VecDeque<(Group, Exchange)>);

impl RecentExchanges {
    /// Keeps an exchange, unless it is long or has no answer.
    pub fn keep(&mut self, group: &Group, exchange: &Exchange) {
        let answer = exchange.outcome.as_ref().map_or(usize::MAX, |answer| answer.body.len());
        if exchange.request.len().max(answer) > LONGEST_KEPT {
            return;
        }
        if self.0.len() == MOST_KEPT {
            self.0.pop_front();
        }
        self.0.push_back((group.clone(), exchange.clone()));
    }

    /// Adds to a finding in what its request differs from the nearest one of the same method and mode for which the rule held, or that
    /// the rule never held for them: `ever_held` says whether it did.
    pub fn explain(&self, finding: &mut Finding, context: &dyn Knowledge, ever_held: bool) {
        if let Some((cause, contrast)) = self.nearest(finding, context) {
            (finding.cause, finding.contrast) = (Some(cause), Some(contrast));
        } else if !ever_held && finding.times > 1 && finding.pair.is_some() {
            finding.cause = Some(Cause::Every { pair: finding.pair, answers: WrongAnswers::All });
        }
    }

    /// The members in which the request differs from the nearest one for which the rule held, and that one.
    fn nearest(&self, finding: &Finding, context: &dyn Knowledge) -> Option<(Cause, Contrast)> {
        let failing: Value = serde_json::from_slice(&finding.group.members.first()?.body).ok()?;
        let got_result =
            finding.exchanges.first().is_some_and(|exchange| Answer::of(exchange).result().is_some());
        let is_about_the_id = finding.violation.pointer == "/id";
        let (recheck, key) = (Recheck::new(finding.rule, context), finding.key());
        let specification = context.specification();
        let requirement = |body: &[u8]| {
            let request = ParsedRequest::of(body, specification);
            request.valid_call().map(|call| context.requirement(call))
        };
        let own_requirement = requirement(failing.to_string().as_bytes());
        let passing = self.0.iter().filter_map(|(group, exchange)| {
            if ParsedRequest::of(&exchange.request, specification).pair() != finding.pair
                || got_result && Answer::of(exchange).error().is_some()
                || recheck.outcome_at(&key, group, std::slice::from_ref(exchange)) != Outcome::Held
            {
                return None;
            }
            let request: Value = serde_json::from_slice(&exchange.request).ok()?;
            let mut all = differences(&failing, &request, specification);
            // Every recorded request has an id of its own.
            all.retain(|difference| is_about_the_id || difference.pointer != "/id");
            let is_whole = |difference: &Difference| matches!(difference.pointer.as_str(), "" | "/params");
            (!all.iter().any(is_whole)).then_some((all, request, group, exchange))
        });
        let passing: Vec<_> = passing.collect();
        let (all, _, group, exchange) = passing.iter().min_by_key(|(differences, _, _, exchange)| {
            (requirement(&exchange.request) != own_requirement, differences.len())
        })?;
        // A value that a request which passed has too does not decide alone.
        let has_it = |request: &Value, difference: &Difference| {
            request.pointer(&difference.pointer) == difference.failing.as_ref()
        };
        let only_there: Vec<Difference> = all
            .iter()
            .filter(|difference| !passing.iter().any(|(_, request, ..)| has_it(request, difference)))
            .cloned()
            .collect();
        let is_only_there = !only_there.is_empty();
        let cause = Cause::Recorded {
            differences: if is_only_there { only_there } else { all.clone() },
            is_only_there,
            place: group.members.first().map(|member| member.label.clone()).unwrap_or_default(),
        };
        let exchanges = vec![exchange.with_short_body()];
        Some((cause, Contrast { group: (*group).clone(), exchanges, member: 0 }))
    }
}
