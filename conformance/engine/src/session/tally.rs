//! Counts judgements, and gives each rule its verdict. Counts can be added in any order, so that the outcome of a run does not depend on
//! its concurrency.

use std::collections::{BTreeMap, BTreeSet};

use paymaster_schemas::Kind;

use crate::cases::Group;
use crate::diagnosis::{Finding, Key, Outcomes, Sought};
use crate::knowledge::Knowledge;
use crate::rules::{Bits, Check, Observations, Report, Rule, View, Violation};
use crate::session::{Access, Example, Examples, Judgement, add_counts};
use crate::specification::Specification;
use crate::verdict::known;
use crate::verdict::{Contradiction, KnownFailureList, Reached, RuleOutcome, Verdict};
use paymaster_exchange::Exchange;

/// How often a rule must hold in a run whose budget ended its depth, unless its quota is smaller.
const SHORT_QUOTA: u64 = 2;

/// A rule that was broken so often is confirmed: more cases of it add nothing.
const OFTEN: u64 = 3;

/// The counts of a run or a part of it.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The counts of each rule, by its number.
    rules: Vec<(&'static str, Count)>,
    seen: BTreeMap<Key, FirstViolation>,
    /// How far the valid requests of each pair got.
    pub reached: BTreeMap<&'static str, Reached>,
    /// What was observed.
    pub observations: Observations,
    /// Whether any request got past HTTP to the service.
    pub access: Access,
    pub(crate) promises: KeptPromises,
    /// Which requests each rule judged, and which of them broke it.
    pub outcomes: Outcomes,
    /// Whether requests for which a rule held are not kept: a run that does not look for causes judges faster then.
    pub without_examples: bool,
}

#[derive(Clone, Debug, Default)]
struct Count {
    held: u64,
    broken: u64,
    examples: Examples,
    /// How often more it would be judged if these rules were not broken.
    covered: u64,
    covered_by: BTreeSet<&'static str>,
}

/// A place at which a rule was broken for the first time.
#[derive(Clone, Debug)]
pub struct NewlyBroken {
    /// The rule.
    pub rule: &'static Rule,
    /// The place.
    pub key: Key,
    /// What was broken there.
    pub violation: Violation,
}

/// The first violation at a place, in the order of the plan.
#[derive(Clone, Debug)]
pub struct FirstViolation {
    /// The rule.
    pub rule: &'static Rule,
    /// What was broken.
    pub violation: Violation,
    /// In which group.
    pub group: Group,
    /// Its exchanges.
    pub exchanges: Vec<Exchange>,
    /// In how many answers the rule was broken at this place.
    pub times: u64,
}

impl Tally {
    /// The tally of a run with these rules.
    pub fn of(rules: &[&Rule]) -> Self {
        let counts = rules.iter().map(|rule| (rule.id, Count::default())).collect();
        Self { rules: counts, outcomes: Outcomes::of(rules), ..Self::default() }
    }

    fn count(&self, rule: &str) -> Option<&Count> {
        self.rules.iter().find(|(id, _)| *id == rule).map(|(_, count)| count)
    }

    /// Adds the judgements on one group; gives the places at which this tally had not seen a rule broken before.
    pub fn add(
        &mut self,
        group: &Group,
        exchanges: &[Exchange],
        views: &[View<'_>],
        judgements: Vec<Judgement>,
        context: &dyn Knowledge,
    ) -> Vec<NewlyBroken> {
        for view in views {
            self.reach(group.relation.id, view);
            self.promises.see(view, context);
        }
        let mut new = Vec::new();
        let mut shared = None;
        // For each member the rules that judged it, and where members broke one.
        let mut judged = vec![Bits::default(); views.len()];
        let mut broken: Vec<(usize, Key)> = Vec::new();
        for judgement in judgements {
            let rule = judgement.rule;
            for (member, rules) in judged.iter_mut().enumerate() {
                if judgement.report.held_at.contains(member) {
                    rules.insert(judgement.number);
                }
            }
            let (_, count) = &mut self.rules[judgement.number];
            count.held += judgement.report.held;
            if !self.without_examples
                && group.is_planned()
                && let Some(member) = member_that_held(&judgement, group)
                && let Some(view) = views.get(member)
            {
                count.examples.offer(group, member, view, &mut shared);
            }
            if judgement.report.violations.is_empty() || rule.basis().is_observed() {
                continue;
            }
            // An answer counts once, however many of its members break the rule.
            let mut answers = BTreeSet::new();
            for violation in judgement.report.violations {
                answers.insert(violation.member);
                let pair = views.get(violation.member).and_then(|view| view.request.pair());
                let place = (violation.member, Key::of(rule, pair, &violation));
                if let Some(rules) = judged.get_mut(violation.member) {
                    rules.insert(judgement.number);
                }
                let is_new = !broken.contains(&place);
                if is_new {
                    broken.push(place.clone());
                }
                new.extend(self.see(rule, group, exchanges, place.1, violation, u64::from(is_new)));
            }
            self.rules[judgement.number].1.broken += answers.len() as u64;
        }
        // A cause is checked against requests that are made again from the seed: those of the plan.
        if group.is_planned() {
            self.outcomes.add(group.number, views, judged, broken);
        }
        new
    }

    /// How often the rule of this number was broken.
    pub(super) fn broken(&self, rule: usize) -> u64 {
        self.rules[rule].1.broken
    }

    /// The rules that keep a rule from being judged as often as it needs, because the answers that it would judge break them; none where it was
    /// judged often enough, or would not be without them.
    pub(super) fn waits_for_mending(&self, rule: &Rule, quota: u64) -> Option<String> {
        let count =
            self.count(rule.id).filter(|count| count.held < quota && count.held + count.covered >= quota)?;
        Some(count.covered_by.iter().copied().collect::<Vec<_>>().join(", "))
    }

    /// Counts how often more the rule of this number would be judged if these rules were not broken.
    pub(super) fn cover(&mut self, rule: usize, times: u64, by: &BTreeSet<&'static str>) {
        let (_, count) = &mut self.rules[rule];
        count.covered += times;
        count.covered_by.extend(by);
    }

    /// Adds the counts of another tally of the same rules.
    pub fn merge(&mut self, other: Self) {
        for ((_, own), (_, count)) in self.rules.iter_mut().zip(other.rules) {
            own.held += count.held;
            own.broken += count.broken;
            own.examples.merge(count.examples);
            own.covered += count.covered;
            own.covered_by.extend(count.covered_by);
        }
        for (pair, reached) in other.reached {
            let own = self.reached.entry(pair).or_default();
            own.results += reached.results;
            own.errors += reached.errors;
            own.unreadable += reached.unreadable;
        }
        self.access.merge(other.access);
        self.promises.merge(other.promises);
        self.outcomes.merge(other.outcomes);
        for (clause, values) in other.observations {
            add_counts(self.observations.entry(clause).or_default(), values);
        }
        for (key, seen) in other.seen {
            self.keep(key, seen);
        }
    }

    /// Requests of a method and mode for which a rule held, in the order of the plan.
    pub fn examples(&self, rule: &Rule, pair: Option<Kind>) -> Vec<Example> {
        let count = self.count(rule.id);
        count.into_iter().flat_map(|count| count.examples.of(pair).cloned()).collect()
    }

    /// Requests for which some rule held, each once.
    pub fn examples_of_any_rule(&self) -> Vec<Example> {
        let mut known = BTreeSet::new();
        let mut rules: Vec<_> = self.rules.iter().collect();
        rules.sort_by_key(|(id, _)| *id);
        rules
            .into_iter()
            .flat_map(|(_, count)| count.examples.all())
            .filter(|example| known.insert((example.group.number, example.member)))
            .cloned()
            .collect()
    }

    /// Every place at which a rule was broken, in the order of the plan.
    pub fn seen(&self) -> Vec<(&Key, &FirstViolation)> {
        let mut all: Vec<_> = self.seen.iter().collect();
        all.sort_by_key(|(_, seen)| (seen.group.place(), seen.violation.member));
        all
    }

    /// The outcome of each of these rules, in a run that may be `shortened`, and the state of the known failures. `complete` is true when the
    /// run completed its plan.
    pub fn outcomes(
        &self,
        rules: &[&'static Rule],
        findings: &[Finding],
        context: &dyn Knowledge,
        known: &KnownFailureList,
        complete: bool,
        shortened: bool,
    ) -> (Vec<RuleOutcome>, Vec<known::EntryOutcome>) {
        let quota = |rule: &Rule| if shortened { rule.quota.min(SHORT_QUOTA) } else { rule.quota };
        let mut outcomes: Vec<RuleOutcome> =
            rules.iter().map(|rule| self.outcome(rule, quota(rule), findings, context, known)).collect();
        let passed = |rule: &'static str| {
            outcomes.iter().any(|outcome| outcome.rule.id == rule && outcome.verdict == Verdict::Passed)
        };
        let states = known.outcomes(rules, &self.seen.keys(), passed, complete);
        for outcome in &mut outcomes {
            let passes = |known: &&known::EntryOutcome| {
                known.entry.is_about(outcome.rule) && known.state == known::EntryState::UnexpectedlyPassing
            };
            if states.iter().any(|known| passes(&known)) {
                outcome.verdict = Verdict::UnexpectedlyPassing;
                outcome.reason = Some("it is listed as failing: delete its entry from the list".to_owned());
            }
        }
        (outcomes, states)
    }

    /// Whether a rule was broken so often that more cases would add nothing.
    pub fn is_broken_often(&self, rule: &Rule) -> bool {
        self.count(rule.id).is_some_and(|count| count.broken >= OFTEN)
    }

    /// Why nothing of the service was tested, when HTTP refused every valid request. All judgements are then dropped: they are
    /// not about answers of the service.
    pub fn denied(&mut self) -> Option<String> {
        let cause = self.access.denied()?;
        self.rules.iter_mut().for_each(|(_, count)| *count = Count::default());
        self.seen.clear();
        self.outcomes.clear();
        self.observations.clear();
        Some(cause)
    }

    /// Whether valid requests were sent, none of them got an answer of the service, and no rule was judged.
    pub fn judged_nothing(&self) -> bool {
        let answered = |reached: &Reached| reached.results + reached.errors > 0;
        !self.reached.is_empty()
            && !self.reached.values().any(answered)
            && self.rules.iter().all(|(_, count)| count.held + count.broken == 0)
    }

    /// Whether valid requests were sent and none of them got a result.
    pub fn is_without_result(&self) -> bool {
        Reached::is_without_result(self.reached.values())
    }

    fn outcome(
        &self,
        rule: &'static Rule,
        quota: u64,
        findings: &[Finding],
        context: &dyn Knowledge,
        known: &KnownFailureList,
    ) -> RuleOutcome {
        let count = self.count(rule.id).cloned().unwrap_or_default();
        let is_known = |rules: &BTreeSet<&str>| {
            self.seen.keys().filter(|key| rules.contains(key.rule)).all(|key| known.covers(key).is_some())
        };
        let (verdict, reason) = if count.broken > 0 {
            let mut entries = self.seen.keys().filter(|key| key.rule == rule.id).map(|key| known.covers(key));
            // The rule fails when one of its broken places is not listed as known.
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
        } else if let Some(reason) = rule.why_not_applicable(context) {
            (Verdict::NotApplicable, Some(reason.to_owned()))
        } else if let Some(listed) =
            self.waits_for_mending(rule, quota).filter(|_| is_known(&count.covered_by))
        {
            let reason = format!("covered by {listed}: it can be judged once that is mended");
            (Verdict::Covered, Some(reason))
        } else if count.held < quota {
            (Verdict::Inconclusive, Some(rule.advice.text().to_owned()))
        } else {
            (Verdict::Passed, None)
        };
        RuleOutcome { rule, verdict, held: count.held, broken: count.broken, quota, reason, waits_for: None }
    }

    fn reach(&mut self, relation: &'static str, view: &View<'_>) {
        let Some(call) = view.request.valid_call() else { return };
        self.access.see(relation, view);
        self.reached.entry(call.pair.name).or_default().count(&view.answer);
    }

    /// Adds a violation; gives its place when it is the first one there. `times` is 0 for another violation of one answer.
    fn see(
        &mut self,
        rule: &'static Rule,
        group: &Group,
        exchanges: &[Exchange],
        key: Key,
        violation: Violation,
        times: u64,
    ) -> Option<NewlyBroken> {
        let known = self.seen.get_mut(&key);
        let new =
            known.is_none().then(|| NewlyBroken { rule, key: key.clone(), violation: violation.clone() });
        match known {
            Some(known) if !is_before(group, &violation, known) => known.times += times,
            _ => self.keep(
                key,
                FirstViolation {
                    rule,
                    violation,
                    group: group.clone(),
                    exchanges: exchanges.iter().map(Exchange::with_short_body).collect(),
                    times,
                },
            ),
        }
        new
    }

    fn keep(&mut self, key: Key, mut seen: FirstViolation) {
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

impl FirstViolation {
    /// The violation as a finding that was not reproduced.
    pub fn finding(&self, key: &Key, specification: &'static Specification) -> Finding {
        Finding {
            rule: self.rule,
            specification,
            basis: self.rule.basis(),
            pair: key.pair,
            violation: self.violation.clone(),
            group: self.group.clone(),
            exchanges: self.exchanges.clone(),
            times: self.times,
            attempts: Vec::new(),
            shrink_requests: 0,
            could_be_smaller: false,
            cause: None,
            sought: Sought::No,
            of_sent_values: None,
            contrast: None,
            share: None,
        }
    }
}

/// The first member of a group for which a rule held, and which does not break it elsewhere. A rule over the whole group is about its base.
fn member_that_held(judgement: &Judgement, group: &Group) -> Option<usize> {
    let Report { violations, held_at, held, .. } = &judgement.report;
    if let Check::Group(..) = judgement.rule.check {
        return (violations.is_empty() && *held > 0).then_some(0);
    }
    let is_broken = |member| violations.iter().any(|violation| violation.member == member);
    (0..group.members.len()).find(|member| held_at.contains(*member) && !is_broken(*member))
}

fn is_before(group: &Group, violation: &Violation, known: &FirstViolation) -> bool {
    (group.place(), violation.member) < (known.group.place(), known.violation.member)
}

// Lines of the profile that the target contradicts from its first answer on: a supported token that is never served, a sponsorable
// operation that is never sponsored. The profile or the target is wrong; the rules cannot tell which.

/// How often the target kept what lines of the profile promise, and how often it did not, by the list and the place in it. In the order
/// in which profiles have these lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptPromises(BTreeMap<(std::cmp::Reverse<&'static str>, usize), [u64; 2]>);

impl KeptPromises {
    /// Adds an answer.
    pub(crate) fn see(&mut self, view: &View<'_>, knowledge: &dyn Knowledge) {
        knowledge.kept_lines(view, &mut |list, place, is_kept| {
            let [kept, broken] = self.0.entry((std::cmp::Reverse(list), place)).or_default();
            *kept += u64::from(is_kept);
            *broken += u64::from(!is_kept);
        });
    }

    /// Adds the counts of another part of the run.
    pub(crate) fn merge(&mut self, other: Self) {
        for (line, [more_kept, more_broken]) in other.0 {
            let [kept, broken] = self.0.entry(line).or_default();
            *kept += more_kept;
            *broken += more_broken;
        }
    }

    /// The lines that were never kept, in the order of the profile.
    pub(crate) fn contradictions(&self) -> Vec<Contradiction> {
        let never = self.0.iter().filter(|(_, [kept, broken])| *kept == 0 && *broken > 0);
        never
            .map(|((list, place), [_, broken])| Contradiction {
                line: format!("{}[{place}]", list.0),
                times: *broken,
            })
            .collect()
    }
}
