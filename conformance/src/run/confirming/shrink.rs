//! Shrinking: looks for a smaller group of requests that shows the same violation and belongs to the same relation.

use paymaster_engine::cases::{Group, Member, Role};
use paymaster_engine::generate::simpler;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::rules::{Check, Violation};
use paymaster_engine::session::Outcome;
use paymaster_exchange::Exchange;
use serde_json::Value;

use crate::run::confirming::diagnose::circumstances::with_members;
use crate::run::confirming::{Reproduction, RequestBudget, Resender};

/// The result of shrinking.
pub(crate) struct Shrunk {
    pub(crate) reproduction: Reproduction,
    /// Whether every smaller group was tried; otherwise the budget was spent first.
    pub(crate) is_smallest: bool,
}

/// Shrinks the group of one finding.
pub(crate) struct Shrinker<'a> {
    pub(crate) resender: &'a Resender<'a>,
    /// How often a smaller group is sent before it counts as one that does not break the rule.
    pub(crate) tries: u32,
    /// The members that no step changes, as JSON pointers: other causes name them.
    pub(crate) kept: &'a [String],
    /// The code of the error that is wrong, where one is: another error has another reason.
    pub(crate) code: Option<Value>,
}

/// What sending a smaller group showed.
enum Step {
    /// The rule is broken.
    Broken(Box<Reproduction>),
    /// It held each time, or was not judged.
    Held,
    /// The budget is spent, or the target does not answer.
    Over,
}

/// How often requests are sent that break a rule `broken` times of `sent`, so that it is missed with a probability of at most `missed`;
/// none where [`MOST_TRIES`] are not enough.
pub(crate) fn tries_for(broken: usize, sent: usize, missed: f64) -> Option<u32> {
    if broken >= sent {
        return Some(1);
    }
    #[expect(clippy::cast_precision_loss, reason = "a run has less than 2^52 requests")]
    let held = 1.0 - broken as f64 / sent as f64;
    (1..=MOST_TRIES).find(|tries| held.powf(f64::from(*tries)) <= missed)
}

/// The probability with which a step of shrinking misses a rule that is broken now and then.
pub(crate) const MISSED_STEP: f64 = 0.05;

/// The most tries: enough for a step with a rule that is broken once in 330 answers.
pub(crate) const MOST_TRIES: u32 = 1_000;

impl Shrinker<'_> {
    /// Looks for a smaller reproduction within a budget of requests.
    pub(crate) async fn shrink(&self, reproduction: Reproduction, budget: &mut RequestBudget) -> Shrunk {
        let (reproduction, kept) = self.isolate(reproduction, budget).await;
        let mut reproduction = self.in_plain_headers(reproduction, budget).await;
        if self.tries > 1 {
            // Each step is expensive: the smallest group of all comes first.
            match self.broken(self.smallest(&reproduction.group, kept.as_deref()), budget).await {
                Step::Broken(smallest) => return Shrunk { reproduction: *smallest, is_smallest: true },
                Step::Held => {}
                Step::Over => return Shrunk { reproduction, is_smallest: false },
            }
        }
        loop {
            match self.next_smaller(&reproduction.group, kept.as_deref(), budget).await {
                Step::Broken(smaller) => reproduction = *smaller,
                end => return Shrunk { reproduction, is_smallest: matches!(end, Step::Held) },
            }
        }
    }

    /// The first smaller group that breaks the rule.
    async fn next_smaller(&self, group: &Group, kept: Option<&[usize]>, budget: &mut RequestBudget) -> Step {
        for smaller in self.smaller(group, kept) {
            match self.broken(Some(smaller), budget).await {
                Step::Held => {}
                end => return end,
            }
        }
        Step::Held
    }

    /// Smaller groups of the same kind, the smallest first.
    fn smaller(&self, group: &Group, kept: Option<&[usize]>) -> impl Iterator<Item = Group> {
        let context = self.resender.context;
        let own = properties(group, context);
        let document = group.pair.map(|pair| pair.request_document);
        let named = move |group: &Group| -> Vec<Option<Value>> {
            let request = |member: &Member| serde_json::from_slice::<Value>(&member.body).ok();
            let requests: Vec<Value> = group.members.iter().filter_map(request).collect();
            let of_request = |request: &Value| -> Vec<Option<Value>> {
                self.kept.iter().map(|pointer| request.pointer(pointer).cloned()).collect()
            };
            requests.iter().flat_map(of_request).collect()
        };
        let own_named = named(group);
        let bases = simpler(document, &group.base, context.specification().may_change).into_iter();
        bases.filter_map(move |base| {
            let rebuilt = group.rebuilt(base, context)?;
            let smaller = match kept {
                Some(kept) => with_members(&rebuilt, kept)?,
                None => rebuilt,
            };
            let is_of_the_same_kind = smaller.members != group.members
                && properties(&smaller, context) == own
                && named(&smaller) == own_named;
            is_of_the_same_kind.then_some(smaller)
        })
    }

    /// The group after every step; none where there is no step.
    fn smallest(&self, group: &Group, kept: Option<&[usize]>) -> Option<Group> {
        let mut smallest = self.smaller(group, kept).next()?;
        loop {
            let next = self.smaller(&smallest, kept).next();
            match next {
                Some(smaller) => smallest = smaller,
                None => return Some(smallest),
            }
        }
    }

    /// Sends a group until it breaks the rule, as often as it is tried.
    async fn broken(&self, group: Option<Group>, budget: &mut RequestBudget) -> Step {
        let Some(group) = group else { return Step::Held };
        for _ in 0..self.tries {
            if !budget.spend_on(&group) {
                return Step::Over;
            }
            match self.resender.send(&group).await {
                Ok((exchanges, Outcome::Broken(violation)))
                    if code_of(&exchanges, &violation) == self.code =>
                {
                    return Step::Broken(Box::new(Reproduction { group, exchanges, violation }));
                }
                Ok(_) => {}
                Err(_) => return Step::Over,
            }
        }
        Step::Held
    }

    /// Sends the group with the plain request headers, where it was sent with others. Keeps that where the rule is broken again.
    async fn in_plain_headers(&self, reproduction: Reproduction, budget: &mut RequestBudget) -> Reproduction {
        let group = reproduction.group.clone().sent_as(None);
        if group.members == reproduction.group.members {
            return reproduction;
        }
        match self.broken(Some(group), budget).await {
            Step::Broken(plain) => *plain,
            Step::Held | Step::Over => reproduction,
        }
    }

    /// Reduces the group to the member that breaks the rule, and for a rule over a group to that member and the baseline, where these break
    /// the rule too. Returns the indices of the members that are left; none where all are.
    async fn isolate(
        &self,
        reproduction: Reproduction,
        budget: &mut RequestBudget,
    ) -> (Reproduction, Option<Vec<usize>>) {
        let wrong = reproduction.violation.member;
        let members = &reproduction.group.members;
        let kept = if matches!(self.resender.rule.check, Check::Group(..)) {
            let baseline = members.iter().position(|member| member.role == Role::Baseline);
            match baseline {
                Some(baseline) if baseline < wrong => vec![baseline, wrong],
                _ => return (reproduction, None),
            }
        } else {
            vec![wrong]
        };
        if members.len() <= kept.len() {
            return (reproduction, None);
        }
        let Some(group) = with_members(&reproduction.group, &kept) else { return (reproduction, None) };
        match self.broken(Some(group), budget).await {
            Step::Broken(fewer) => (*fewer, Some(kept)),
            Step::Held | Step::Over => (reproduction, None),
        }
    }
}

/// The code of the error by which a rule is broken.
pub(crate) fn code_of(exchanges: &[Exchange], violation: &Violation) -> Option<Value> {
    Answer::of(exchanges.get(violation.member)?).error()?.get("code").cloned()
}

/// What shrinking must not change about each request: its role, and of a call the kind, whether it is valid, and what is required of its answer.
fn properties(group: &Group, context: &dyn Knowledge) -> impl PartialEq + use<> {
    let of_member = |member: &Member| {
        let call = match ParsedRequest::of(&member.body, context.specification()) {
            ParsedRequest::Call(call) => Some((call.pair, call.valid, context.requirement(&call))),
            _ => None,
        };
        (member.role, call)
    };
    group.members.iter().map(of_member).collect::<Vec<_>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_tried_until_a_miss_is_improbable() {
        for (broken, sent, expected) in
            [(100, 100, 1), (50, 100, 5), (10, 100, 29), (4, 100, 74), (1, 100, 299)]
        {
            let tries = tries_for(broken, sent, MISSED_STEP);
            assert_eq!(tries, Some(expected), "{broken} of {sent}");
        }
        assert_eq!(tries_for(1, 25, 0.01), Some(113));
        assert_eq!(tries_for(1, 1_000, 0.01), None, "more than {MOST_TRIES} are needed");
        assert_eq!(tries_for(0, 100, MISSED_STEP), None);
    }
}
