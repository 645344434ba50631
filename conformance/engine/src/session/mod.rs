//! Judging sessions: they take exchanges and return findings, counts and the conclusion.
//!
//! Everything that judges uses this module: the runner of a check, shrinking and re-sending, `replay`, recorded traffic, the proxy
//! and the load generator. A [`Session`] judges whole groups and keeps count; a [`recheck`] judges a group that is sent again by the
//! one rule of a finding.

pub mod access;
pub mod clients;
pub mod discovery;
pub mod examples;
pub mod judge;
mod mend;
pub mod recent;
pub mod recheck;
pub mod recorded;
pub mod tally;
pub mod unjudged;
pub mod unserved;

pub use judge::{Judge, Judgement};
pub use {
    access::*, clients::*, discovery::*, examples::*, recent::*, recheck::*, recorded::*, tally::*,
    unserved::*,
};

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;

use crate::cases::{Group, keeps_idle};
use crate::diagnosis::{FINDINGS_PER_RULE, Finding, Key, defects};
use crate::knowledge::Knowledge;
use crate::message::ParsedRequest;
use crate::rules::{Advice, Check, Rule, View, missing_line, observe};
use crate::verdict::{
    End, KnownFailureList, Recorded, RuleOutcome, RunState, Strictness, Summary, Verdict, conclude,
};
use unjudged::Unjudged;

/// Why a rule over related requests stays inconclusive in recorded traffic.
const UNRELATED: &str =
    "recorded traffic cannot show it: it takes related requests, which `paymaster-conformance check` sends";

/// Why a rule stays inconclusive whose line of the profile is written.
const NOTHING_MISSING: &str = "the profile says what the rule needs, and too few answers could be judged";

/// Why a rule of a run that ended early stays inconclusive.
const UNFINISHED: &str =
    "the run ended before it completed its plan: a complete run shows whether the rule needs anything else";

/// Why a rule about mixed-up answers is inconclusive.
const ALONE: &str = "no two requests were in flight at the same time: allow a higher rate, or write concurrency = 1 in [target] where the \
                     target takes one request at a time";

/// Why the rule about idle connections is not applicable.
const NEVER_IDLE: &str = "not tried: no connection was kept idle (--idle 5s)";

/// Judges the exchanges of a target and counts the results. Sessions that judge parts of one run are merged, in any order.
#[derive(Clone, Debug)]
#[must_use]
pub struct Session {
    judge: Judge,
    /// What is known of the target. Another one applies to the following groups.
    pub context: Arc<dyn Knowledge>,
    /// The counts.
    pub tally: Tally,
    unjudged: Unjudged,
    /// Whether the budget ended the plan in its depth, after every rule had been exercised: a rule passes then when it held once or twice.
    pub shortened: bool,
    /// Whether no two requests were in flight at the same time, although the target may take several: rules about mixed-up answers do not pass.
    pub alone: bool,
    /// Whether connections are kept idle. Otherwise the rule about them does not apply.
    pub idle: bool,
    /// The list of known failures. Rules that such a failure keeps from judging are covered by it.
    pub known: Arc<KnownFailureList>,
}

/// The end of a run: everything in the summary that the session does not count itself.
#[derive(Debug)]
pub struct Ending {
    /// The target, secrets redacted.
    pub target: String,
    /// The seed of the run.
    pub seed: u64,
    /// Why the run ended before it completed its plan; none when it completed it.
    pub early: Option<(End, String)>,
    /// The findings that were looked into.
    pub findings: Vec<Finding>,
    /// How strictly the run is concluded.
    pub strictness: Strictness,
    /// Set for recorded traffic, which has no plan.
    pub recorded: Option<Recorded>,
    /// How many requests were sent.
    pub requests: usize,
    /// How many connections there were at a time.
    pub connections: usize,
    /// From the first request to the end.
    pub took: Duration,
}

impl Session {
    /// A session with these rules and this context of the target.
    pub fn new(rules: Vec<&'static Rule>, context: Arc<dyn Knowledge>) -> Self {
        Self {
            tally: Tally::of(&rules),
            judge: Judge::new(rules),
            context,
            unjudged: Unjudged::default(),
            shortened: false,
            alone: false,
            idle: false,
            known: Arc::default(),
        }
    }

    /// The rules that judge.
    pub fn rules(&self) -> &[&'static Rule] {
        &self.judge.rules
    }

    /// Judges a group by its exchanges, one exchange a member, in order. Gives the places at which this session had not seen a rule
    /// broken before. Without rules, nothing is read.
    pub fn judge(&mut self, group: &Group, exchanges: &[Exchange]) -> Vec<NewlyBroken> {
        self.judge_except(group, exchanges, |_| false)
    }

    /// Judges a group as [`Session::judge`] does, without the rules for which `left_out` is true.
    pub fn judge_except(
        &mut self,
        group: &Group,
        exchanges: &[Exchange],
        left_out: impl Fn(&Rule) -> bool,
    ) -> Vec<NewlyBroken> {
        let without = |judgements: &mut Vec<Judgement>| {
            judgements.retain(|judgement| !left_out(judgement.rule));
            true
        };
        self.judge_if(group, exchanges, without).unwrap_or_default()
    }

    /// Judges a group if no rule is broken by its exchanges. Gives whether it did; otherwise nothing is counted.
    pub fn judge_if_unbroken(&mut self, group: &Group, exchanges: &[Exchange]) -> bool {
        let is_unbroken = |judgement: &Judgement| judgement.report.violations.is_empty();
        self.judge_if(group, exchanges, |judgements| judgements.iter().all(is_unbroken)).is_some()
    }

    /// Judges a group, and counts what it found where `counts` agrees, which may leave judgements out. None where it does not.
    fn judge_if(
        &mut self,
        group: &Group,
        exchanges: &[Exchange],
        counts: impl FnOnce(&mut Vec<Judgement>) -> bool,
    ) -> Option<Vec<NewlyBroken>> {
        if self.rules().is_empty() {
            return Some(Vec::new());
        }
        let views = judge::read(group, exchanges, &*self.context);
        let mut judgements = self.judge.views(&views, Some(group), &*self.context);
        if !counts(&mut judgements) {
            return None;
        }
        if !self.unjudged.can_judge(&views, exchanges) {
            return Some(Vec::new());
        }
        observe(&views, &*self.context, &mut self.tally.observations);
        self.note_covered(group, exchanges, &views, &judgements);
        Some(self.tally.add(group, exchanges, &views, judgements, &*self.context))
    }

    /// Whether a group breaks a rule by its exchanges. Nothing is counted.
    pub fn is_broken_by(&self, group: &Group, exchanges: &[Exchange]) -> bool {
        self.is_broken_by_one(group, exchanges, |_| true)
    }

    /// Whether a group breaks a rule about single exchanges by one of these, or one that compares any. Nothing is counted.
    pub fn is_broken_by_one(
        &self,
        group: &Group,
        exchanges: &[Exchange],
        is_one: impl Fn(&Exchange) -> bool,
    ) -> bool {
        let judgements = self.judge.group(group, exchanges, &*self.context);
        judgements.iter().any(|Judgement { rule, report, .. }| {
            let mut violations = report.violations.iter();
            violations.any(|violation| {
                matches!(rule.check, Check::Group(..)) || exchanges.get(violation.member).is_some_and(&is_one)
            })
        })
    }

    /// Counts what rules would judge in these answers if those that they break did not: those of listed failures, and of others the first ones.
    fn note_covered(
        &mut self,
        group: &Group,
        exchanges: &[Exchange],
        views: &[View<'_>],
        judgements: &[Judgement],
    ) {
        const FIRST: u64 = 64;
        let mut wrong: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        let mut by = BTreeSet::new();
        for Judgement { rule, number, report } in judgements {
            for violation in &report.violations {
                let pair = views.get(violation.member).and_then(|view| view.request.pair());
                let is_known = || self.known.covers(&Key::of(rule, pair, violation)).is_some();
                if self.tally.broken(*number) < FIRST || is_known() {
                    wrong.entry(violation.member).or_default().push(&violation.pointer);
                    by.insert(rule.id);
                }
            }
        }
        if by.is_empty() {
            return;
        }
        let mended = exchanges.iter().enumerate().map(|(number, exchange)| {
            let mended = wrong
                .get(&number)
                .and_then(|pointers| mend::mended(exchange, pointers, self.context.specification()));
            mended.unwrap_or_else(|| exchange.clone())
        });
        let mended: Vec<Exchange> = mended.collect();
        let times = |judgement: &Judgement| judgement.report.held + judgement.report.violations.len() as u64;
        for judgement in self.judge.group(group, &mended, &*self.context) {
            let before = judgements.iter().find(|before| before.rule.id == judgement.rule.id);
            let more = times(&judgement).saturating_sub(before.map_or(0, times));
            if more > 0 {
                self.tally.cover(judgement.number, more, &by);
            }
        }
    }

    /// Counts a group that was sent and cannot be judged.
    pub fn leave_out(&mut self, group: &Group, reason: String) {
        for member in &group.members {
            let specification = self.context.specification();
            let request = ParsedRequest::of(&member.body, specification);
            if let Some(call) = request.valid_call() {
                let outcomes = &mut self.tally.access.outcomes;
                outcomes.leave_out(group.relation.id, call, &reason, specification);
            }
        }
        if let Some(member) = group.members.last() {
            self.unjudged.not_sent(reason, member);
        }
    }

    /// Counts a group with an answer, or a missing one, that may have come from load, in words that say what came of sending it again. The run is
    /// incomplete.
    pub fn leave_out_unconfirmed(&mut self, what: String, group: &Group, exchanges: &[Exchange]) {
        let unanswered = exchanges.iter().position(|exchange| exchange.outcome.is_err());
        if let Some(member) = unanswered.map_or(group.members.last(), |place| group.members.get(place)) {
            self.unjudged.unconfirmed(what, member);
        }
    }

    /// Adds what another session of the same run counted.
    pub fn merge(&mut self, other: Self) {
        self.tally.merge(other.tally);
        self.unjudged.merge(other.unjudged);
    }

    /// The broken places to reproduce and shrink: at most [`FINDINGS_PER_RULE`] of each rule, in the order of the rules. Known
    /// failures come last in each rule.
    pub fn broken(&self) -> Vec<(&Key, &FirstViolation)> {
        let mut all = self.tally.seen();
        // Stable: the places of one rule stay in the order of the plan.
        all.sort_by_key(|(key, seen)| {
            let rule = self.rules().iter().position(|rule| rule.id == seen.rule.id);
            (rule, self.known.covers(key).is_some())
        });
        let mut of_rule = BTreeMap::<&str, usize>::new();
        all.retain(|(key, _)| {
            let so_far = of_rule.entry(key.rule).or_default();
            *so_far += 1;
            *so_far <= FINDINGS_PER_RULE
        });
        all
    }

    /// Every place at which a rule was broken, in the order of the plan.
    pub fn places(&self) -> Vec<&Key> {
        self.tally.seen().into_iter().map(|(key, _)| key).collect()
    }

    /// The broken places as findings that were not reproduced.
    pub fn findings(&self) -> Vec<Finding> {
        let broken = self.broken().into_iter();
        broken.map(|(key, seen)| seen.finding(key, self.context.specification())).collect()
    }

    /// Completes the outcome of a rule by what the run as a whole shows: whether requests were in flight together and connections idle, and what
    /// an inconclusive rule waits for.
    fn explain(&self, outcome: &mut RuleOutcome, is_recorded: bool, is_cut_short: bool) {
        let rule = outcome.rule;
        if self.alone && rule.is_about_mix_ups && outcome.verdict == Verdict::Passed {
            (outcome.verdict, outcome.reason) = (Verdict::Inconclusive, Some(ALONE.to_owned()));
        }
        if !self.idle && matches!(rule.check, Check::Group(relation, _) if keeps_idle(relation)) {
            (outcome.verdict, outcome.reason) = (Verdict::NotApplicable, Some(NEVER_IDLE.to_owned()));
        }
        if outcome.verdict != Verdict::Inconclusive {
            return;
        }
        let is_unrelated = is_recorded && matches!(rule.check, Check::Group(..));
        let unanswered = self.tally.access.outcomes.why_unjudged(rule);
        let (most, some): (Vec<_>, Vec<_>) = unanswered.into_iter().partition(|(_, is_most)| *is_most);
        let why = is_unrelated
            .then(|| UNRELATED.to_owned())
            .or_else(|| {
                let broken = self.tally.waits_for_mending(rule, outcome.quota)?;
                Some(format!("what it would judge breaks {broken}: it can be judged once that is mended"))
            })
            .or_else(|| most.into_iter().next().map(|(why, _)| why))
            .or_else(|| is_cut_short.then(|| UNFINISHED.to_owned()));
        if why.is_none() {
            outcome.waits_for = missing_line(rule, &*self.context);
        }
        let line = outcome.waits_for.map(|line| line.advice.to_owned());
        let other = match rule.advice {
            Advice::Write(_) => Some(NOTHING_MISSING.to_owned()),
            Advice::Look(_) => outcome.reason.take(),
        };
        outcome.reason = why.or(line).or(some.into_iter().next().map(|(why, _)| why)).or(other);
    }

    /// The summary of the run.
    #[expect(clippy::too_many_lines, reason = "a list of the members of a summary")]
    pub fn conclude(self, ending: Ending) -> Summary {
        let places = self.places().into_iter().cloned().collect();
        let is_recorded = ending.recorded.is_some();
        let specification = self.context.specification();
        let early = ending.early.or_else(|| {
            let cause = "no answer to a valid request could be judged".to_owned();
            self.tally.judged_nothing().then_some((End::GaveUp, cause))
        });
        let (end, cut_short) = match early {
            Some((end, cause)) => (end, Some(cause)),
            None => (End::Done, None),
        };
        // Recorded traffic has no plan, and a run that ended early did not complete its own: failures that they did not show may
        // still exist.
        let complete = cut_short.is_none() && !is_recorded && !self.shortened;
        let (mut rules, known) = self.tally.outcomes(
            &self.judge.rules,
            &ending.findings,
            &*self.context,
            &self.known,
            complete,
            self.shortened,
        );
        for outcome in &mut rules {
            self.explain(outcome, is_recorded, cut_short.is_some());
        }
        let (unjudged, has_unjudged_answers) = self.unjudged.in_words(&self.tally.access);
        let state = RunState {
            end,
            no_result: self.tally.is_without_result(),
            has_unjudged_answers,
            left_out: specification.left_out(&self.judge.rules),
        };
        let outcomes = &self.tally.access.outcomes;
        let is_about = |pair: &Kind| self.context.may_serve(*pair);
        let kinds = specification.kinds.iter().copied();
        let kinds: Vec<Kind> = kinds.filter(|pair| !self.context.excludes(*pair)).collect();
        let refusal = outcomes.refusal(&kinds).filter(|refusal| refusal.pairs.iter().any(is_about));
        // A run that ended early does not evaluate the list of known failures.
        let list = if complete || is_recorded { known.as_slice() } else { &[] };
        let conclusion = conclude(&rules, list, ending.strictness, state);
        let defects = defects(&ending.findings, &self.tally.outcomes, |finding| {
            self.known.covers(&finding.key()).is_some()
        });
        Summary {
            target: ending.target,
            seed: ending.seed,
            conclusion,
            recorded: ending.recorded,
            cut_short,
            coverage: Vec::new(),
            places,
            rules,
            left_out: state.left_out,
            defects,
            contradictions: self.tally.promises.contradictions(),
            findings: ending.findings,
            known,
            refusal,
            unjudged,
            observations: self.tally.observations,
            dialect: self.context.dialect(),
            requests: ending.requests,
            connections: ending.connections,
            reached: self.tally.reached,
            took: ending.took,
        }
    }
}

/// Adds the counts of another part of a run.
fn add_counts<K: Ord, N: AddAssign + Default>(own: &mut BTreeMap<K, N>, other: BTreeMap<K, N>) {
    for (key, times) in other {
        *own.entry(key).or_default() += times;
    }
}
