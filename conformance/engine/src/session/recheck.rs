//! Judges a group that is sent again: whether the rule of a finding is broken again.

use crate::cases::{Group, Order};
use crate::diagnosis::cause::EarlierRequest;
use crate::diagnosis::{Cause, Finding, Key, Sought, without_indices};
use crate::knowledge::Knowledge;
use crate::message::Answer;
use crate::rules::{Check, Report, Rule, View, Violation};
use crate::session::judge;
use crate::session::{Judge, Judgement};
use crate::specification::Specification;
use crate::verdict::Summary;
use std::collections::BTreeSet;

use paymaster_exchange::{Exchange, Failure, RefusedValue};
use serde::{Deserialize, Serialize};

static FOUND_BY_THE_RUN: RefusedValue = RefusedValue { member: None };

/// Judges groups by one rule.
#[derive(Clone, Debug)]
pub struct Recheck<'a> {
    judge: Judge,
    context: &'a dyn Knowledge,
}

/// What the answers to a group show of the rule at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The rule is broken at that place.
    Broken(Violation),
    /// The rule was judged, and held everywhere.
    Held,
    /// The rule is broken at another place: of another method or mode, or in another part of the answer.
    BrokenElsewhere(Violation),
    /// The rule was not judged.
    NotJudged,
}

/// What the answers to a replayed group show of the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The rule is broken.
    Broken(Violation),
    /// The rule held, and the requests were served as before.
    Held,
    /// The request is refused, and the rule holds or has nothing to judge. It had got a result when it broke the rule.
    HeldForRefusal,
    /// An earlier request of the group, at this place from 0, had been served and is refused now.
    NotServed(usize),
    /// No answer is one that the rule judges.
    NotJudged,
    /// The target could not be tested, for this reason.
    NotTested(String),
}

/// How often a rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How many answers broke the rule.
    pub broken: u32,
    /// How many answers the rule judged.
    pub judged: u32,
}

/// What else was sent when a rule was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    /// How many groups of requests were in flight at a time; 1 where the requests of the finding break the rule alone too.
    pub in_flight: usize,
    /// How many earlier requests of the group must be served as before.
    pub earlier: usize,
    /// How many connections there were at a time.
    pub connections: usize,
}

/// The answers that broke the rule in a run, as replay files keep them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Original {
    /// The place of the request in the group, from 0.
    pub member: usize,
    /// JSON pointer into its answer.
    pub pointer: String,
    /// The expected value, in words.
    pub expected: String,
    /// The actual value.
    pub actual: String,
    /// The HTTP status of its answer; none where there was no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// For each request of the group whether it was served: with a result that does not refuse the operation.
    pub served: Vec<bool>,
    /// Where else in an answer the run saw the rule broken for this method and mode: JSON pointers with every array index as `*`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_places: Vec<String>,
    /// How often the rule was broken.
    pub share: Share,
    /// What else was sent.
    pub circumstances: Circumstances,
    /// The members of the request that decide, as JSON pointers; none where the cause is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Vec<String>>,
    /// Whether an earlier request of the same party makes them right: a party that the target has not seen shows it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_an_unseen_party: bool,
    /// Whether the run saw the requests answered rightly, at first or with other ids and nonces, or three of four of their kind for a reason that
    /// it did not find, so that what was sent before may decide.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_sent_values: bool,
    /// Whether the requests of a run, sent before them, show it again: they were right at first only, or were answered wrongly each time with
    /// other ids, nonces and senders too, so that nothing that is kept of these decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shown_by_a_run: bool,
}

impl Share {
    /// How often the requests of a finding broke its rule: alone, or in a run that judged so many answers by it.
    fn of(finding: &Finding, breaks_alone: bool, judged: u64) -> Self {
        let share = |broken: u64, judged: u64| Self {
            broken: u32::try_from(broken).unwrap_or(u32::MAX),
            judged: u32::try_from(judged).unwrap_or(u32::MAX),
        };
        match finding.cause {
            Some(Cause::Chance { broken, sent }) => share(broken.into(), sent.into()),
            // The requests that the search for the cause found in place of others broke the rule when they were sent again.
            _ if breaks_alone && finding.reproduced() == 0 => share(1, 1),
            _ if breaks_alone => share(finding.reproduced() as u64, finding.attempts.len() as u64),
            // The first violation made it a finding: its share is one of the others.
            _ if finding.times > 1 => share(finding.times - 1, judged),
            _ => share(1, judged.saturating_mul(2)),
        }
    }

    /// How often the requests of a finding are sent: a rule that is still broken this often then holds each time with a probability of
    /// at most 1 %. One more answer that held is assumed, because a rule that was broken each time may hold now and then too.
    pub fn tries(self) -> u32 {
        const MISSED: f64 = 0.01;
        /// More is beyond the bound of every replay.
        const MOST: u32 = 1_000_000;
        let broken = self.broken.max(1);
        let held = 1.0 - f64::from(broken) / (f64::from(self.judged.max(broken)) + 1.0);
        let (mut tries, mut missed) = (1, held);
        while missed > MISSED && tries < MOST {
            missed *= held;
            tries += 1;
        }
        tries
    }
}

impl Original {
    /// The answers of a finding of this run.
    pub fn of(finding: &Finding, summary: &Summary, specification: &Specification) -> Self {
        let Finding { violation, group, .. } = finding;
        let connections = summary.connections;
        let mut rules = summary.rules.iter();
        let outcome = rules.find(|outcome| outcome.rule.id == finding.rule.id);
        let judged = outcome.map_or(finding.times, |outcome| outcome.held + outcome.broken);
        let own = finding.key();
        let is_concurrent = group.relation.order == Order::Concurrent;
        let is_company_of_its_own = is_concurrent && group.members.len() > 1;
        let breaks_alone = match finding.cause {
            Some(Cause::Concurrency) => is_company_of_its_own && finding.reproduced() > 0,
            // The attempts of several findings were in flight at the same time.
            None | Some(Cause::Recorded { .. }) => {
                finding.sought != Sought::RightAlone
                    && finding.reproduced() > 0
                    && finding.reproduced() == finding.attempts.len()
            }
            // The search for the cause sent the requests alone.
            Some(_) => true,
        };
        let is_other =
            |key: &&Key| (key.rule, key.pair) == (own.rule, own.pair) && key.pointer != own.pointer;
        let answers: Vec<Answer<'_>> = finding.exchanges.iter().map(Answer::of).collect();
        let answer = answers.get(violation.member);
        let is_spent = matches!(finding.cause, Some(Cause::Spent { .. }));
        let is_of_the_refused = finding.cause.as_ref().is_some_and(Cause::is_of_the_refused);
        let is_seldom = finding.share.is_some_and(|share| 4 * share.broken < share.judged);
        // The run has compared the requests that have the value with those that do not.
        let wrong = finding.exchanges.get(violation.member);
        let is_of_a_value = wrong.is_some_and(|wrong| wrong.refused_value.is_some());
        Self {
            member: violation.member,
            pointer: violation.pointer.clone(),
            expected: violation.expected.clone(),
            actual: violation.actual.clone(),
            status: answer.and_then(|answer| Some(answer.response()?.status)),
            served: answers.iter().map(|answer| is_served(answer, specification)).collect(),
            other_places: summary.places.iter().filter(is_other).map(|key| key.pointer.clone()).collect(),
            share: Share::of(finding, breaks_alone, judged),
            circumstances: Circumstances {
                in_flight: if breaks_alone { 1 } else { connections },
                earlier: if is_concurrent { 0 } else { violation.member },
                connections,
            },
            cause: finding.cause.as_ref().map(|cause| {
                let members = cause.members().iter();
                members.map(|member| member.pointer.clone()).collect()
            }),
            of_an_unseen_party: matches!(finding.cause, Some(Cause::Missing { .. })),
            // A refused operation comes again and again, so that what is kept of it may decide.
            shown_by_a_run: is_spent || is_of_the_refused || finding.of_sent_values == Some(false),
            of_sent_values: finding.of_sent_values == Some(true)
                || match finding.cause {
                    None => breaks_alone && is_seldom && !is_of_a_value,
                    // What comes before is not in a group that is compared, and may not be in another one.
                    Some(Cause::Earlier(EarlierRequest::Other)) => {
                        let compares = matches!(finding.rule.check, Check::Group(..));
                        compares || finding.reproduced() < finding.attempts.len()
                    }
                    _ => is_spent,
                },
        }
    }
}

impl Outcome {
    /// The violation, where the rule is broken at that place.
    pub fn broken(self) -> Option<Violation> {
        match self {
            Self::Broken(violation) => Some(violation),
            Self::Held | Self::BrokenElsewhere(_) | Self::NotJudged => None,
        }
    }
}

impl<'a> Recheck<'a> {
    /// A recheck with this rule and this context of the target.
    pub fn new(rule: &'static Rule, context: &'a dyn Knowledge) -> Self {
        Self { judge: Judge::new(vec![rule]), context }
    }

    /// The violation at the same place as before, when the rule is broken there again.
    pub fn violation_at(&self, key: &Key, group: &Group, exchanges: &[Exchange]) -> Option<Violation> {
        self.outcome_at(key, group, exchanges).broken()
    }

    /// What the answers to a group show of the rule at the place of a finding.
    pub fn outcome_at(&self, key: &Key, group: &Group, exchanges: &[Exchange]) -> Outcome {
        let views = judge::read(group, exchanges, self.context);
        let place = |rule, violation: &Violation| {
            let pair = views.get(violation.member).and_then(|view| view.request.pair());
            Key::of(rule, pair, violation)
        };
        let mut outcome = Outcome::NotJudged;
        for judgement in self.judge.views(&views, Some(group), self.context) {
            let Judgement { rule, report: Report { held, violations, .. }, .. } = judgement;
            if violations.is_empty() && held > 0 {
                outcome = Outcome::Held;
            }
            for violation in violations {
                if place(rule, &violation) == *key {
                    return Outcome::Broken(violation);
                }
                outcome = Outcome::BrokenElsewhere(violation);
            }
        }
        outcome
    }

    /// Judges the replay of a finding.
    pub fn replayed(&self, group: &Group, exchanges: &[Exchange], original: &Original) -> Replayed {
        let mut views = judge::read(group, exchanges, self.context);
        if let Some(view) = views.get_mut(original.member)
            && view.rejected_before_service()
            && view.answer.response().map(|response| response.status) == original.status
        {
            // The run that found it has shown that this status is an answer of the service.
            view.refused_value = Some(&FOUND_BY_THE_RUN);
        }
        if let Some(cause) = rejected_before_service(&views, original) {
            return Replayed::NotTested(cause);
        }
        if views.iter().any(|view| view.answer.exceeded_limit().is_some()) {
            return Replayed::NotJudged;
        }
        let judgements = self.judge.views(&views, Some(group), self.context);
        let is_judged = !judgements.is_empty();
        let mut violations = judgements.into_iter().flat_map(|judgement| judgement.report.violations);
        let is_elsewhere =
            |violation: &Violation| original.other_places.contains(&without_indices(&violation.pointer));
        if let Some(violation) = violations.find(|violation| !is_elsewhere(violation)) {
            return Replayed::Broken(violation);
        }
        let unanswered = exchanges.iter().find_map(|exchange| match &exchange.outcome {
            Err(failure @ (Failure::Connect(_) | Failure::Timeout { .. })) => Some(failure),
            _ => None,
        });
        if let Some(failure) = unanswered {
            return Replayed::NotTested(failure.to_string());
        }
        let lost = |member: &usize| {
            let was_served = original.served.get(*member) == Some(&true);
            let is_lost = |view: &View<'_>| {
                // A result that refuses the operation is what is expected of some requests.
                !(is_served(&view.answer, view.specification)
                    || view.expectation.forbids_grant() && view.answer.result().is_some())
            };
            was_served && views.get(*member).is_some_and(is_lost)
        };
        if let Some(earlier) = (0..original.circumstances.earlier).find(lost) {
            return Replayed::NotServed(earlier);
        }
        let was_served = original.served.get(original.member) == Some(&true);
        let is_error = views.get(original.member).is_some_and(|view| view.answer.error().is_some());
        // The error was wrong in itself, and the request gets the result that it must get.
        let is_served_as_owed = views.get(original.member).is_some_and(|view| {
            view.expectation.requires_result() && is_served(&view.answer, view.specification)
        });
        // A result that refuses the operation, and an error in its place.
        let is_refused_again = !was_served && original.pointer.starts_with("/result") && is_error;
        if is_judged && lost(&original.member) {
            Replayed::HeldForRefusal
        } else if is_judged {
            Replayed::Held
        } else if !self.breaks_no_rule(group, &views) {
            Replayed::NotJudged
        } else if is_refused_again {
            Replayed::HeldForRefusal
        } else if was_served && !lost(&original.member) || is_served_as_owed {
            Replayed::Held
        } else {
            Replayed::NotJudged
        }
    }

    /// How many answers to a group the rule judged and held for.
    pub fn held(&self, group: &Group, exchanges: &[Exchange]) -> u64 {
        let judgements = self.judge.group(group, exchanges, self.context);
        judgements.iter().map(|judgement| judgement.report.held).sum()
    }

    /// Whether answers that leave the rule nothing to judge are sound: a list may be empty in which an element was wrong.
    fn breaks_no_rule(&self, group: &Group, views: &[View<'_>]) -> bool {
        let judgements = Judge::new(self.context.specification().rules().collect()).views(
            views,
            Some(group),
            self.context,
        );
        judgements
            .iter()
            .all(|judgement| judgement.report.violations.is_empty() || judgement.rule.basis().is_observed())
    }
}

/// Whether an answer has a result that grants what was asked for.
fn is_served(answer: &Answer<'_>, specification: &Specification) -> bool {
    answer.result().is_some_and(specification.grants)
}

/// Why the target could not be tested, when no request reached the service: all got 401, 403, 404 or 407, or an answer of a
/// gateway. None when the answer that broke the rule has the same status as before.
fn rejected_before_service(views: &[View<'_>], original: &Original) -> Option<String> {
    let status = |view: &View<'_>| view.answer.response().map(|response| response.status);
    let again = views.get(original.member).and_then(status);
    if again.is_none() || again == original.status {
        return None;
    }
    let denied = |status| matches!(status, 401 | 403 | 404 | 407);
    let away = |view: &View<'_>| view.rejected_before_service() || status(view).is_some_and(denied);
    let statuses: BTreeSet<u16> = views.iter().filter_map(status).collect();
    let names: Vec<String> = statuses.iter().map(|status| format!("HTTP {status}")).collect();
    let advice = if statuses.iter().copied().any(denied) {
        "look at the path, the headers and the key that the target wants"
    } else {
        "the service itself answered none"
    };
    views.iter().all(away).then(|| format!("{} for every request: {advice}", names.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::Share;

    #[test]
    fn requests_are_sent_as_often_as_99_percent_need() {
        for (broken, judged, expected) in [(3, 3, 4), (1, 1, 7), (1, 3, 17), (4, 100, 114), (1, 1_000, 4_608)]
        {
            assert_eq!(Share { broken, judged }.tries(), expected, "{broken} of {judged}");
        }
    }
}
