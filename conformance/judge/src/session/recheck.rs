//! Judges a group that is sent again: whether the rule of a finding is broken again.

use std::collections::BTreeSet;

use paymaster_exchange::{Exchange, Failure};

use crate::{
    cases::case::Group,
    rules::{Rule, View, Violation},
    session::{
        judge::{self, Judge, Judgement},
        unjudged::UnjudgedAnswers,
    },
    target::context::Context,
    verdict::finding::Key,
};

/// Judges groups by one rule.
#[derive(Clone, Debug)]
pub struct Recheck<'a> {
    judge: Judge,
    context: &'a Context,
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
    /// The rule was judged, and held.
    Held,
    /// No answer is one that the rule judges.
    NotJudged,
    /// The target could not be tested, for this reason.
    NotTested(String),
}

/// The answer that broke the rule before.
#[derive(Clone, Copy, Debug)]
pub struct Original {
    /// Its place in the group, from 0.
    pub member: usize,
    /// Its HTTP status; none where there was no response.
    pub status: Option<u16>,
}

impl<'a> Recheck<'a> {
    /// A recheck with this rule and this context of the target.
    pub fn new(rule: &'static Rule, context: &'a Context) -> Self {
        Self {
            judge: Judge::new(vec![rule]),
            context,
        }
    }

    /// The violation at the same place as before, when the rule is broken there again.
    pub fn violation_at(&self, key: &Key, group: &Group, exchanges: &[Exchange]) -> Option<Violation> {
        match self.outcome_at(key, group, exchanges) {
            Outcome::Broken(violation) => Some(violation),
            Outcome::Held | Outcome::BrokenElsewhere(_) | Outcome::NotJudged => None,
        }
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
            let Judgement {
                rule,
                violations,
                held,
            } = judgement;
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
    pub fn replayed(&self, group: &Group, exchanges: &[Exchange], original: Original) -> Replayed {
        let views = judge::read(group, exchanges, self.context);
        if let Some(cause) = rejected_before_service(&views, original) {
            return Replayed::NotTested(cause);
        }
        if !UnjudgedAnswers::default().can_judge(&views) {
            return Replayed::NotJudged;
        }
        let judgements = self.judge.views(&views, Some(group), self.context);
        let held = judgements.iter().any(|judgement| judgement.held > 0);
        let mut violations = judgements.into_iter().flat_map(|judgement| judgement.violations);
        if let Some(violation) = violations.next() {
            return Replayed::Broken(violation);
        }
        let unanswered = exchanges.iter().find_map(|exchange| match &exchange.outcome {
            Err(failure @ (Failure::Connect(_) | Failure::Timeout { .. })) => Some(failure),
            _ => None,
        });
        match unanswered {
            Some(failure) => Replayed::NotTested(failure.to_string()),
            None if held => Replayed::Held,
            None => Replayed::NotJudged,
        }
    }
}

/// Why the target could not be tested, when no request reached the service: all got 401, 403, 404 or 407, or an answer of a
/// gateway. None when the answer that broke the rule has the same status as before.
fn rejected_before_service(views: &[View<'_>], original: Original) -> Option<String> {
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
    views
        .iter()
        .all(away)
        .then(|| format!("{} for every request: {advice}", names.join(" or ")))
}
