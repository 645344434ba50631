//! From judgements to verdicts: counts that can be taken in any order and added up, so that the outcome of a run does not
//! depend on its concurrency.

use std::collections::BTreeMap;

use paymaster_schemas::Basis;

use crate::{
    access::Access,
    case::Group,
    context::Context,
    events::{Observations, Reached, RuleOutcome},
    exchange::Exchange,
    finding::{Finding, Key, Violation},
    judge::Judgement,
    known::{self, Known},
    rules::{Rule, View},
    verdict::{Conclusion, Verdict},
};

/// What was counted so far.
#[derive(Debug, Default)]
pub struct Tally {
    rules: BTreeMap<&'static str, Count>,
    seen: BTreeMap<Key, Seen>,
    /// How far the valid requests of each pair got.
    pub reached: BTreeMap<&'static str, Reached>,
    /// What was watched.
    pub observations: Observations,
    /// Whether any request got past HTTP to the service.
    pub access: Access,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    held: u64,
    broken: u64,
}

/// The first time, in the order of the plan, that a key was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The rule.
    pub rule: &'static Rule,
    /// What was broken.
    pub violation: Violation,
    /// In which group.
    pub group: Group,
    /// Its exchanges.
    pub exchanges: Vec<Exchange>,
    /// How many violations with this key there were in all.
    pub times: u64,
}

impl Tally {
    /// Takes in what the judge says of one group; gives the rules that this tally had not seen broken before.
    pub fn add(
        &mut self,
        group: &Group,
        exchanges: &[Exchange],
        views: &[View<'_>],
        judgements: Vec<Judgement>,
    ) -> Vec<&'static Rule> {
        for view in views {
            self.reach(view);
        }
        let mut new = Vec::new();
        for judgement in judgements {
            let rule = judgement.rule;
            let count = self.rules.entry(rule.id).or_default();
            count.held += judgement.held;
            if judgement.violations.is_empty() || rule.basis().is_observed() {
                continue;
            }
            if count.broken == 0 {
                new.push(rule);
            }
            count.broken += judgement.violations.len() as u64;
            for violation in judgement.violations {
                self.see(rule, group, exchanges, views, violation);
            }
        }
        new
    }

    /// Takes in another tally.
    pub fn merge(&mut self, other: Self) {
        for (rule, count) in other.rules {
            let own = self.rules.entry(rule).or_default();
            own.held += count.held;
            own.broken += count.broken;
        }
        for (pair, reached) in other.reached {
            let own = self.reached.entry(pair).or_default();
            own.results += reached.results;
            own.errors += reached.errors;
            own.unreadable += reached.unreadable;
        }
        self.access.merge(other.access);
        for (clause, values) in other.observations {
            let own = self.observations.entry(clause).or_default();
            for (value, times) in values {
                *own.entry(value).or_default() += times;
            }
        }
        for (key, seen) in other.seen {
            self.keep(key, seen);
        }
    }

    /// Every key that was seen, in the order of the plan.
    pub fn seen(&self) -> Vec<(&Key, &Seen)> {
        let mut all: Vec<_> = self.seen.iter().collect();
        all.sort_by_key(|(_, seen)| (seen.group.number, seen.violation.member));
        all
    }

    /// How every one of these rules ends the run, and how the known failures stand. `complete` says that the run got through
    /// its plan.
    pub fn outcomes(
        &self,
        rules: &[&'static Rule],
        findings: &[Finding],
        context: &Context,
        known: &Known,
        complete: bool,
    ) -> (Vec<RuleOutcome>, Vec<known::Outcome>) {
        let mut outcomes: Vec<RuleOutcome> = rules
            .iter()
            .map(|rule| self.outcome(rule, findings, context, known))
            .collect();
        let passed = |rule: &'static str| {
            outcomes
                .iter()
                .any(|outcome| outcome.rule.id == rule && outcome.verdict == Verdict::Passed)
        };
        let standings = known.outcomes(rules, &self.seen.keys(), passed, complete);
        for outcome in &mut outcomes {
            let passes = |known: &&known::Outcome| {
                known.entry.is_about(outcome.rule) && known.standing == known::Standing::UnexpectedlyPassing
            };
            if standings.iter().any(|known| passes(&known)) {
                outcome.verdict = Verdict::UnexpectedlyPassing;
                outcome.reason = Some("it is listed as failing: delete its entry from the list".to_owned());
            }
        }
        (outcomes, standings)
    }

    /// Why nothing of the service was tested, where HTTP refused every valid request. What was judged is dropped then: it was
    /// no answer of the service.
    pub fn denied(&mut self) -> Option<String> {
        let cause = self.access.denied()?;
        self.rules.clear();
        self.seen.clear();
        self.observations.clear();
        Some(cause)
    }

    fn outcome(
        &self,
        rule: &'static Rule,
        findings: &[Finding],
        context: &Context,
        known: &Known,
    ) -> RuleOutcome {
        let count = self.rules.get(rule.id).copied().unwrap_or_default();
        let (verdict, reason) = if count.broken > 0 {
            let mut entries = self
                .seen
                .keys()
                .filter(|key| key.rule == rule.id)
                .map(|key| known.covers(key));
            // One place that nobody knew of makes the rule fail, whatever is known of its other places.
            if entries.clone().all(|entry| entry.is_some()) {
                let reason = entries.next().flatten().map(|entry| entry.reason.clone());
                (Verdict::KnownFailing, reason)
            } else {
                let mut own = findings
                    .iter()
                    .filter(|finding| finding.rule.id == rule.id && known.covers(&finding.key()).is_none())
                    .peekable();
                let flaky = own.peek().is_some() && own.all(Finding::is_flaky);
                (if flaky { Verdict::Flaky } else { Verdict::Failed }, None)
            }
        } else if let Some(reason) = (rule.not_applicable)(context) {
            (Verdict::NotApplicable, Some(reason.to_owned()))
        } else if count.held < rule.quota {
            (Verdict::Inconclusive, Some(rule.advice.to_owned()))
        } else {
            (Verdict::Passed, None)
        };
        RuleOutcome {
            rule,
            verdict,
            held: count.held,
            broken: count.broken,
            reason,
        }
    }

    fn reach(&mut self, view: &View<'_>) {
        let Some(call) = view.request.valid_call() else {
            return;
        };
        self.access.see(view);
        let reached = self.reached.entry(call.pair.name()).or_default();
        if view.answer.result().is_some() {
            reached.results += 1;
        } else if view.answer.error().is_some() {
            reached.errors += 1;
        } else {
            reached.unreadable += 1;
        }
    }

    fn see(
        &mut self,
        rule: &'static Rule,
        group: &Group,
        exchanges: &[Exchange],
        views: &[View<'_>],
        violation: Violation,
    ) {
        let pair = views.get(violation.member).and_then(|view| view.request.pair());
        let key = Key::of(rule, pair, &violation);
        match self.seen.get_mut(&key) {
            Some(known) if !is_before(group, &violation, known) => known.times += 1,
            _ => self.keep(
                key,
                Seen {
                    rule,
                    violation,
                    group: group.clone(),
                    exchanges: exchanges.iter().map(Exchange::keepsake).collect(),
                    times: 1,
                },
            ),
        }
    }

    fn keep(&mut self, key: Key, mut seen: Seen) {
        match self.seen.get_mut(&key) {
            None => {
                self.seen.insert(key, seen);
            }
            Some(known) => {
                let times = known.times + seen.times;
                if is_before(&seen.group, &seen.violation, known) {
                    std::mem::swap(known, &mut seen);
                }
                known.times = times;
            }
        }
    }
}

fn is_before(group: &Group, violation: &Violation, known: &Seen) -> bool {
    (group.number, violation.member) < (known.group.number, known.violation.member)
}

/// How strictly a run is concluded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Strictness {
    /// Broken clauses that only warn fail the run.
    pub strict: bool,
    /// Stated rules that stayed inconclusive do not matter.
    pub allow_incomplete: bool,
}

/// Whether breaking a clause on that ground fails the run.
pub fn fails_the_run(basis: Basis, strict: bool) -> bool {
    match basis {
        Basis::Stated => true,
        Basis::JsonRpc | Basis::Interoperability | Basis::OnChain => strict,
        Basis::Ambiguous | Basis::NotShown => false,
    }
}

/// How a run that went through its whole plan ends.
pub fn conclude(outcomes: &[RuleOutcome], known: &[known::Outcome], strictness: Strictness) -> Conclusion {
    if known.iter().any(|known| known.standing.fails_the_run()) {
        return Conclusion::Violations;
    }
    let counts = |outcome: &&RuleOutcome| fails_the_run(outcome.rule.basis(), strictness.strict);
    if outcomes
        .iter()
        .filter(counts)
        .any(|outcome| outcome.verdict.is_broken())
    {
        return Conclusion::Violations;
    }
    let inconclusive = outcomes
        .iter()
        .any(|outcome| outcome.verdict == Verdict::Inconclusive && outcome.rule.basis() == Basis::Stated);
    if inconclusive && !strictness.allow_incomplete {
        Conclusion::Incomplete
    } else {
        Conclusion::Conforms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::find_rule;

    fn outcome(rule: &str, verdict: Verdict) -> RuleOutcome {
        RuleOutcome {
            rule: find_rule(rule).unwrap(),
            verdict,
            held: 0,
            broken: 0,
            reason: None,
        }
    }

    #[test]
    fn what_concludes_a_run() {
        let (stated, warning) = ("answer.id", "interoperability.mode-member");
        let plain = Strictness::default();
        let strict = Strictness {
            strict: true,
            ..plain
        };
        let lenient = Strictness {
            allow_incomplete: true,
            ..plain
        };
        for (rule, verdict, strictness, expected) in [
            (stated, Verdict::Passed, plain, Conclusion::Conforms),
            (stated, Verdict::NotApplicable, plain, Conclusion::Conforms),
            (stated, Verdict::Failed, plain, Conclusion::Violations),
            (stated, Verdict::Flaky, plain, Conclusion::Violations),
            (stated, Verdict::Failed, lenient, Conclusion::Violations),
            (stated, Verdict::Inconclusive, plain, Conclusion::Incomplete),
            (stated, Verdict::Inconclusive, lenient, Conclusion::Conforms),
            (warning, Verdict::Failed, plain, Conclusion::Conforms),
            (warning, Verdict::Failed, strict, Conclusion::Violations),
            (warning, Verdict::Inconclusive, strict, Conclusion::Conforms),
        ] {
            let outcomes = [outcome("answer.object", Verdict::Passed), outcome(rule, verdict)];
            assert_eq!(
                conclude(&outcomes, &[], strictness),
                expected,
                "{rule} {verdict} {strictness:?}"
            );
        }
    }
}
