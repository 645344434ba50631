//! Sends requests of the run again with other values, to look for answers that contradict a cause.

use serde_json::Value;

use super::{Claim, Contradiction, Evidence, Request};
use crate::run::confirming::diagnose::members::is_comparable;
use crate::run::confirming::{Reproduction, RequestBudget, Resender};
use paymaster_engine::cases::Group;
use paymaster_engine::diagnosis::{Cause, Difference, is_right_in_the_same_respect, with_all};
use paymaster_engine::session::Outcome;

/// How many requests of each kind are sent again with other values.
const TRIED: usize = 4;

/// Sends requests of the run with other values.
pub(super) struct Trial<'a> {
    pub(super) resender: Resender<'a>,
    pub(super) claim: &'a Claim,
    pub(super) budget: RequestBudget,
}

/// What the answers to a request show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Broken,
    Right,
    Nothing,
}

impl Trial<'_> {
    /// Sends a request of the run with this value in place of its own; none where the two are not comparable.
    async fn send(&mut self, group: &Group, value: Option<Value>) -> Shown {
        let context = self.resender.context;
        let (finding, subject) = (&self.claim.finding, self.claim.subject());
        let group = match value {
            None => Some(group.clone()),
            Some(value) => subject
                .value(group)
                .filter(|own| is_comparable(own, &value, context))
                .and_then(|_| subject.with(group, value, context)),
        };
        let Some(group) = group.filter(|group| self.budget.spend_on(group)) else { return Shown::Nothing };
        match self.resender.send(&group).await {
            Ok((_, Outcome::Broken(_))) => Shown::Broken,
            Ok((exchanges, Outcome::Held)) => {
                let wrong = finding.exchanges.get(finding.violation.member);
                let is_same = wrong.zip(exchanges.first()).is_some_and(|(wrong, right)| {
                    self.claim.judges_groups()
                        || is_right_in_the_same_respect(&finding.violation.pointer, wrong, right, context)
                });
                if is_same { Shown::Right } else { Shown::Nothing }
            }
            _ => Shown::Nothing,
        }
    }

    /// The contradiction to a claim that requests of the run show when they are sent with other values.
    pub(super) async fn contradiction(
        &mut self,
        found: &Evidence,
        claims: &[Claim],
        others: &[usize],
    ) -> Option<Contradiction> {
        if self.claim.compares_requests() {
            for request in &found.unexplained {
                if let Some(unexplained) = self.unexplained(request, &[]).await {
                    return Some(Contradiction::Unexplained(unexplained));
                }
            }
            return None;
        }
        if self.is_right_now().await || self.depends_on_the_rest_of_a_list().await {
            return Some(Contradiction::Other);
        }
        let mut tried = 0;
        let mut previous: Option<Value> = None;
        for request in &found.held {
            if tried == TRIED {
                break;
            }
            let before = self.budget.spent();
            let refuted = self.refuted(request, previous.as_ref()).await;
            if refuted.is_some() {
                return refuted;
            }
            tried += usize::from(self.budget.spent() > before + 1);
            previous = self.claim.subject().value(&request.group);
        }
        let others_and_own = std::iter::once(self.claim).chain(others.iter().map(|other| &claims[*other]));
        let causes: Vec<&Cause> = others_and_own.map(|claim| &claim.cause).collect();
        let is_open = |request: &&Request| !request.explained_by.iter().any(|other| others.contains(other));
        for request in found.unexplained.iter().filter(is_open) {
            if let Some(unexplained) = self.unexplained(request, &causes).await {
                return Some(Contradiction::Unexplained(unexplained));
            }
        }
        None
    }

    /// Whether the finding is right now, or its contrast wrong: then something outside the request decides.
    async fn is_right_now(&mut self) -> bool {
        let finding = &self.claim.finding;
        if let Some(contrast) = &finding.contrast
            && self.send(&contrast.group, None).await == Shown::Broken
        {
            return true;
        }
        self.send(&finding.group, None).await == Shown::Right
    }

    /// Whether the contrast is wrong without one element of its list: the list as a whole decides, or what the target kept under it.
    async fn depends_on_the_rest_of_a_list(&mut self) -> bool {
        let Some(contrast) = &self.claim.finding.contrast else { return false };
        let own = self.claim.subject_in(contrast.member).value(&contrast.group);
        let alone = self.claim.request(&contrast.group, contrast.member);
        let (Some(own), Some(alone)) = (own, alone) else { return false };
        for member in self.claim.cause.members() {
            let (None, Some(Value::Array(items))) = (member.element(), &member.passing) else { continue };
            let without = |place: usize| [&items[..place], &items[place + 1..]].concat();
            for list in (0..items.len().min(TRIED)).map(without).filter(|list| !list.is_empty()) {
                let other = member.with(&own, Some(&list.into()));
                if other.is_some() && self.send(&alone, other).await == Shown::Broken {
                    return true;
                }
            }
        }
        false
    }

    /// A request that broke the rule, with the passing values of each of these causes, where it breaks it with these too: something else
    /// decides.
    async fn unexplained(&mut self, request: &Request, causes: &[&Cause]) -> Option<Reproduction> {
        let mut group = request.group.clone();
        let has_other_values = self.claim.is_of_a_refused_value();
        for cause in causes.iter().filter(|cause| !(has_other_values && **cause == &self.claim.cause)) {
            let own = self.claim.subject().value(&group)?;
            let passing = with_all(&own, cause.members())?;
            if !is_comparable(&own, &passing, self.resender.context) {
                return None;
            }
            group = self.claim.subject().with(&group, passing, self.resender.context)?;
        }
        if !self.budget.spend_on(&group) {
            return None;
        }
        let (exchanges, outcome) = self.resender.send(&group).await.ok()?;
        Some(Reproduction { group, exchanges, violation: outcome.broken()? })
    }

    /// The contradiction where a request for which the rule held is right with the failing values too, or wrong with those of another such
    /// request.
    async fn refuted(&mut self, request: &Request, other: Option<&Value>) -> Option<Contradiction> {
        let context = self.resender.context;
        let own = self.claim.subject().value(&request.group)?;
        let failing =
            self.claim.subject_in(self.claim.finding.violation.member).value(&self.claim.finding.group);
        if !failing.as_ref().is_some_and(|failing| is_comparable(failing, &own, context))
            || self.send(&request.group, None).await != Shown::Right
        {
            return None;
        }
        let members = self.claim.cause.members();
        let values_of = |of: &Value, into: &Value| {
            let value = |value: Value, member: &Difference| member.with(&value, of.pointer(&member.pointer));
            members.iter().try_fold(into.clone(), value)
        };
        // Values with which the rule held break it in no request that differs in nothing else.
        let finding = &self.claim.finding;
        let alone = self.claim.request(&finding.group, finding.violation.member);
        for (group, from, into) in
            [(Some(&request.group), other, Some(&own)), (alone.as_ref(), Some(&own), failing.as_ref())]
        {
            if let (Some(group), Some(from), Some(into)) = (group, from, into)
                && let placebo = values_of(from, into)
                && placebo.as_ref().is_some_and(|placebo| placebo != into)
                && self.send(group, placebo).await == Shown::Broken
            {
                return Some(Contradiction::Other);
            }
        }
        // All failing values break it, and one of several is not enough where the request has the passing values of the others.
        if let [first, others @ ..] = members
            && !others.is_empty()
            && others.iter().all(|other| other.side(&own) == Some(false))
            && let one = first.with_failing(&own)
            && one.is_some()
            && self.send(&request.group, one).await == Shown::Broken
        {
            return Some(Contradiction::Other);
        }
        let failing = members.iter().try_fold(own.clone(), |value, member| member.with_failing(&value))?;
        let is_right =
            failing != own && self.send(&request.group, Some(failing.clone())).await == Shown::Right;
        is_right.then_some(Contradiction::Right(failing))
    }
}
