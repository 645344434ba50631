//! The bench before which recorded exchanges are judged, one after the other.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use serde_json::Value;

use crate::session::learn::Learner;
use crate::{
    cases::case::{Group, Ids, Member, Order, Relation, Rounds, Seed},
    rules::{self, Check, Rule, View},
    session::{
        judge::{self, Judge},
        tally::{Course, End, Strictness, Tally, conclude},
        unread::Unread,
    },
    target::{context::Context, profile::Profile},
    verdict::{
        conclusion::Verdict,
        finding::{FINDINGS_PER_RULE, Finding, Key, Violation},
        known::Known,
        summary::{Observations, Recorded, Summary},
    },
};
use paymaster_exchange::Exchange;
use std::collections::BTreeMap;

/// The relation under which recorded exchanges stand: each alone.
pub static RECORDED: Relation = Relation {
    id: "recorded",
    about: "exchanges of recorded traffic, each alone",
    bases: &[],
    rounds: Rounds::Fixed(0),
    order: Order::Sequential,
    members: none,
};

fn none(_: &Seed<'_>, _: &mut Ids) -> Vec<Member> {
    Vec::new()
}

/// How many entries were left out, by the reason.
pub type Skipped = BTreeMap<String, u64>;

/// Why a rule over related requests stays inconclusive.
const UNRELATED: &str =
    "recorded traffic cannot show it: it takes related requests, which `paymaster-conformance check` sends";

/// The rule that looks at a header of the answer, which a recording may have left out.
const ABOUT_HEADERS: &str = "http.content-type";

/// Watches what is not judged.
type Observe = fn(&[View<'_>], &Context, &mut Observations);

/// Judges recorded exchanges.
#[derive(Debug)]
pub struct Bench {
    judge: Judge,
    observe: Observe,
    known: Arc<Known>,
    learner: Learner,
    context: Context,
    /// Whether something was learned that the context does not hold yet.
    learned: bool,
    tally: Tally,
    unread: Unread,
    /// Keys that were seen broken.
    broken: BTreeSet<Key>,
    exchanges: u64,
}

/// A place at which a rule was broken for the first time.
#[derive(Debug)]
pub struct New {
    /// The rule.
    pub rule: &'static Rule,
    /// What makes it new.
    pub key: Key,
    /// What was broken.
    pub violation: Violation,
}

impl Bench {
    /// A bench that judges by these rules and knows what the profile says of the target.
    pub fn new(rules: Vec<&'static Rule>, observe: Observe, known: Arc<Known>, profile: Profile) -> Self {
        let learner = Learner::new(profile);
        Self {
            judge: Judge::new(rules),
            observe,
            known,
            context: learner.context(),
            learner,
            learned: false,
            tally: Tally::default(),
            unread: Unread::default(),
            broken: BTreeSet::new(),
            exchanges: 0,
        }
    }

    /// Learns what an exchange tells of the target. A file is learned whole before it is judged; live traffic as it passes.
    pub fn learn(&mut self, exchange: &Exchange) {
        self.learner.see(exchange);
        self.learned = true;
    }

    /// Judges an exchange by what was learned so far. `place` says where in the recording it stands.
    pub fn judge(&mut self, place: &str, exchange: &Exchange) -> Vec<New> {
        if std::mem::take(&mut self.learned) {
            self.context = self.learner.context();
        }
        let number = usize::try_from(self.exchanges).unwrap_or(usize::MAX);
        self.exchanges += 1;
        let group = Group {
            number,
            relation: &RECORDED,
            pair: None,
            base: Value::Null,
            twist: 0,
            first_id: 0,
            members: vec![Member {
                role: "recorded",
                label: place.to_owned(),
                body: exchange.request.clone(),
            }],
        };
        let exchanges = std::slice::from_ref(exchange);
        let views = judge::read(&group, exchanges, &self.context);
        if !self.unread.lets_judge(&views) {
            return Vec::new();
        }
        let mut judgements = self.judge.views(&views, Some(&group), &self.context);
        if exchange
            .outcome
            .as_ref()
            .is_ok_and(|response| response.headers.is_empty())
        {
            judgements.retain(|judgement| judgement.rule.id != ABOUT_HEADERS);
        }
        (self.observe)(&views, &self.context, &mut self.tally.observations);
        let mut new: Vec<New> = Vec::new();
        let pair = views.first().and_then(|view| view.request.pair());
        for judgement in &judgements {
            if judgement.rule.basis().is_observed() {
                continue;
            }
            for violation in &judgement.violations {
                let key = Key::of(judgement.rule, pair, violation);
                if !self.broken.contains(&key) && new.iter().all(|new| new.key != key) {
                    new.push(New {
                        rule: judgement.rule,
                        key,
                        violation: violation.clone(),
                    });
                }
            }
        }
        self.tally.add(&group, exchanges, &views, judgements);
        // As long as HTTP refused every request, the service gave no answer that could break anything.
        if self.tally.access.denied().is_some() {
            return Vec::new();
        }
        self.broken.extend(new.iter().map(|new| new.key.clone()));
        new
    }

    /// The verdicts.
    pub fn finish(
        mut self,
        target: String,
        skipped: Skipped,
        strictness: Strictness,
        took: Duration,
    ) -> (Summary, Context) {
        let denied = self.tally.denied();
        let is_denied = denied.is_some();
        let findings = findings(&self.tally, self.judge.rules(), &self.known);
        // A recording is no plan: what it does not show may still be there.
        let complete = false;
        let (mut rules, known) = self.tally.outcomes(
            self.judge.rules(),
            &findings,
            &self.context,
            &self.known,
            complete,
        );
        for outcome in &mut rules {
            if outcome.verdict == Verdict::Inconclusive && matches!(outcome.rule.check, Check::Group(..)) {
                outcome.reason = Some(UNRELATED.to_owned());
            }
        }
        let cut_short = if self.exchanges == 0 {
            Some("there was no exchange to judge: no call of the two methods with its answer".to_owned())
        } else {
            denied.or_else(|| {
                let cause = "no answer to a valid request could be judged".to_owned();
                self.tally.shows_nothing().then_some(cause)
            })
        };
        let unjudged = self.unread.told(is_denied);
        let course = Course {
            end: if cut_short.is_some() {
                End::GaveUp
            } else {
                End::Done
            },
            no_result: self.tally.is_without_result(),
            unread: !unjudged.is_empty(),
            left_out: rules::left_out(self.judge.rules()),
        };
        let conclusion = conclude(&rules, &known, strictness, course);
        let summary = Summary {
            target,
            seed: 0,
            conclusion,
            cut_short,
            recorded: Some(Recorded {
                exchanges: self.exchanges,
                skipped,
            }),
            rules,
            left_out: course.left_out,
            findings,
            places: self
                .tally
                .seen()
                .into_iter()
                .map(|(key, _)| key.clone())
                .collect(),
            known,
            unjudged,
            observations: self.tally.observations,
            dialect: self.context.dialect.clone(),
            requests: 0,
            reached: self.tally.reached,
            took,
        };
        (summary, self.context)
    }
}

/// What was seen broken, as findings that nobody sent again: in the order of the rules, what is known last.
fn findings(tally: &Tally, rules: &[&'static Rule], known: &Known) -> Vec<Finding> {
    let mut all = tally.seen();
    all.sort_by_key(|(key, seen)| {
        let rule = rules.iter().position(|rule| rule.id == seen.rule.id);
        (rule, known.covers(key).is_some())
    });
    let mut of_rule = BTreeMap::<&str, usize>::new();
    all.into_iter()
        .filter(|(key, _)| {
            let so_far = of_rule.entry(key.rule).or_default();
            *so_far += 1;
            *so_far <= FINDINGS_PER_RULE
        })
        .map(|(key, seen)| Finding {
            rule: seen.rule,
            basis: seen.rule.basis(),
            pair: key.pair,
            violation: seen.violation.clone(),
            group: seen.group.clone(),
            exchanges: seen.exchanges.clone(),
            times: seen.times,
            attempts: Vec::new(),
            shrink_requests: 0,
        })
        .collect()
}
