//! Looks for the causes of all findings of a run, one after the other: a cause that is known already is tried first.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Barrier;
use tokio::time::Instant;

use crate::run::Suite;
use crate::run::confirming::check;
use crate::run::confirming::diagnose::members::{Subject, is_comparable};
use crate::run::confirming::{
    Bounds, Contradiction, Diagnosis, Material, Reproduction, Resender, SHRUNK_PER_RUN, Search,
    WaitingBudget, add_amounts, confirm,
};
use crate::run::planning::{drawn_calls, with_other_versions};
use crate::run::replay::renewed;
use crate::run::sending::Sender;
use paymaster_engine::cases::{Group, keeps_idle};
use paymaster_engine::diagnosis::{Cause, Difference, Finding, Key, Respect, Sought, without_indices};
use paymaster_engine::rules::{Check, Rule};
use paymaster_engine::session::{FirstViolation, Outcome, Session};
use paymaster_settings::Settings;

/// How many requests the search for one cause may send, as a multiple of those of shrinking.
const SEARCH_SHARE: u32 = 4;

/// Of a plan with how many cases calls are drawn, for comparing with: a run that ended early knows few that were right.
const DRAWN_CALLS: u32 = 6;

/// How often another cause is looked for of a finding that its cause does not explain whole.
const ROUNDS_OF_OTHERS: usize = 2;

/// How many requests a run sends in search of causes before it takes up no further finding: a target that mixes answers up breaks dozens of
/// rules, and each search waits for answers that are wrong now and then.
const SEARCH_REQUESTS: u32 = 10_000;

/// For how long a run waits for answers that do not come while it looks for causes.
const SEARCH_WAITING: Duration = Duration::from_mins(1);

/// Which causes are looked for.
#[derive(Clone, Copy)]
enum Extent {
    /// All.
    All,
    /// Those of other findings.
    Known,
    /// That the requests of a group are in flight at the same time.
    Company,
}

/// The search for the causes of all findings.
struct CauseSearch<'a> {
    sender: &'a Sender,
    material: Material<'a>,
    limit: u32,
    /// How many requests may still be sent.
    left: AtomicU32,
    ends: Instant,
    waiting: WaitingBudget,
}

/// The findings with their causes, looked for until two thirds of the time to `ends` are over: the rest is for checking them. Where the run is
/// stopped, they stay without one.
pub(super) async fn with_causes(
    mut findings: Vec<Finding>,
    sender: &Sender,
    suite: &Suite,
    session: &Session,
    settings: &Settings,
    ends: Instant,
) -> Vec<Finding> {
    if findings.is_empty() || !settings.closer_look || settings.args.shrink_requests() == 0 {
        return findings;
    }
    let drawn = drawn_calls(&session.context, settings.seed().wrapping_add(1), DRAWN_CALLS).await;
    let drawn = with_other_versions(drawn);
    let search = CauseSearch {
        sender,
        material: Material { session, drawn: &drawn },
        limit: settings.args.shrink_requests() * SEARCH_SHARE,
        left: AtomicU32::new(SEARCH_REQUESTS),
        ends: Instant::now() + (ends - Instant::now()) * 2 / 3,
        waiting: WaitingBudget::new(SEARCH_WAITING),
    };
    for finding in &mut findings {
        finding.share = Some(session.tally.outcomes.share(finding.rule, &finding.key()));
    }
    let mut found = findings.clone();
    let work = async {
        Box::pin(search.find_all(&mut found)).await;
        found.iter_mut().for_each(forget_lists);
        Box::pin(search.check_all(&mut found, suite, settings)).await;
        found.iter_mut().for_each(forget_lists);
        for finding in &mut found {
            if finding.cause.is_none() {
                finding.of_sent_values = Box::pin(search.depends_on_sent_values(finding)).await;
            }
        }
        share_what_is_wrong_later(&mut found);
        for finding in &mut found {
            let every = check::every(finding, session);
            let is_of_all = matches!(every, Some(Cause::Every { pair: None, .. }));
            let named = |is: fn(&str) -> bool| {
                let mut members = finding.cause.iter().flat_map(Cause::members);
                members.any(|member| is(&member.pointer))
            };
            let is_whole = named(|pointer| matches!(pointer, "" | "/params" | "/method"));
            let wrong = finding.exchanges.get(finding.violation.member);
            let is_open = match &finding.cause {
                None => finding.reproduced() > 0,
                // Errors may all break the rule, and requests that are written so may get errors.
                Some(Cause::Writing(_)) => true,
                // The run has compared the requests that have the member.
                Some(_) if wrong.is_some_and(|wrong| wrong.refused_value.is_some()) => false,
                // Other methods and modes do not have the members.
                Some(Cause::Form(_)) => {
                    let is_of_the_pair = named(|pointer| pointer.starts_with("/params"));
                    is_whole || is_of_all && finding.pair.is_some() && is_of_the_pair
                }
                Some(_) => false,
            };
            if is_open && (every.is_some() || is_whole) {
                (finding.cause, finding.contrast) = (every, None);
            }
        }
        add_amounts(&mut found, suite, session, settings).await;
    };
    // A cause that was not checked is not reported.
    let is_whole = sender.stop.or_stopped(work).await.is_some();
    if is_whole { found } else { findings }
}

impl CauseSearch<'_> {
    fn resender<'a>(&'a self, rule: &'static Rule, key: &'a Key) -> Resender<'a> {
        Resender::new(self.sender, rule, key, &*self.material.session.context, &self.waiting)
    }

    /// Rules over groups come last: rules about single requests name the cause with fewer requests. So do, of findings that are not seen each
    /// time, the ones that are seen most often: the rare ones would spend the requests of all.
    async fn find_all(&self, findings: &mut [Finding]) {
        let judges_groups = |finding: &Finding| matches!(finding.rule.check, Check::Group(..));
        let mut order: Vec<usize> = (0..findings.len()).collect();
        order.sort_by_key(|number| {
            let finding = &findings[*number];
            let is_steady = finding.reproduced() == finding.attempts.len();
            let share = finding.share.map_or(0, |share| 1_000 * share.broken / share.judged.max(1));
            (judges_groups(finding), Reverse(if is_steady { 1_000 } else { share }))
        });
        order.truncate(SHRUNK_PER_RUN);
        let mut known: Vec<Finding> = Vec::new();
        // Few requests show that a group is right one by one, and a target that mixes answers up breaks many rules now and then.
        for number in &order {
            self.find(&mut findings[*number], &[], Extent::Company).await;
            if findings[*number].cause.is_some() {
                known.push(findings[*number].clone());
                break;
            }
        }
        for number in &order {
            if findings[*number].cause.is_some() {
                continue;
            }
            self.find(&mut findings[*number], &known, Extent::All).await;
            if findings[*number].cause.is_some() {
                known.push(findings[*number].clone());
            }
        }
        // A rule that compares two requests may have shown what decides, where single requests did not.
        known.retain(judges_groups);
        for number in &order {
            if !judges_groups(&findings[*number]) {
                self.find(&mut findings[*number], &known, Extent::Known).await;
            }
        }
    }

    /// Removes the causes that an answer contradicts. Where the contradiction is that something else breaks the rule too, the cause of
    /// that is looked for: with two causes, each of them may be right.
    async fn check_all(&self, findings: &mut Vec<Finding>, suite: &Suite, settings: &Settings) {
        let session = self.material.session;
        for rounds_left in (0..=ROUNDS_OF_OTHERS).rev() {
            let contradicted =
                check::contradicted(findings, self.sender, &self.waiting, suite, session, settings).await;
            let (mut others, mut extended) = (Vec::new(), Vec::new());
            let had_bound: Vec<bool> = findings.iter().map(has_bound).collect();
            for (number, contradiction) in contradicted {
                // Two requests that differ in the named members alone still show the cause, whatever else breaks the rule. So do requests to
                // which another answer is due.
                let compares = matches!(findings[number].rule.check, Check::Group(..));
                let may_stand = match &contradiction {
                    Contradiction::Unexplained(other) => compares || !self.is_alike(&findings[number], other),
                    _ => false,
                };
                let is_unexplained = matches!(contradiction, Contradiction::Unexplained(_));
                if rounds_left > 0 && !is_unexplained && had_bound[number] {
                    forget_bound(findings, number);
                    extended.push(findings[number].clone());
                    continue;
                }
                let other = match contradiction {
                    Contradiction::Unexplained(unexplained) if rounds_left > 0 => {
                        self.other_finding(findings, number, unexplained, settings).await
                    }
                    Contradiction::Right(right) if rounds_left > 0 => {
                        if let Some(whole) = self.with_more_members(&findings[number], right).await {
                            extended.push(whole.clone());
                            findings[number] = whole;
                            continue;
                        }
                        None
                    }
                    _ => None,
                };
                let finding = &mut findings[number];
                match other {
                    Some(other) => others.push(other),
                    None if may_stand => {}
                    None => {
                        let lost = finding.cause.take();
                        finding.contrast = None;
                        // What another rule shows of an equality, it shows for every finding that has this cause. A request
                        // of no kind shows nothing of others: it may be refused for what is malformed.
                        let is_of_values =
                            |member: &Difference| !matches!(member.respect, Respect::EqualTo(_));
                        let has_kind = finding.pair.is_some();
                        if has_kind && !lost.iter().flat_map(Cause::members).all(is_of_values) {
                            for same in findings.iter_mut().filter(|other| other.cause == lost) {
                                (same.cause, same.contrast) = (None, None);
                            }
                        }
                    }
                }
            }
            if others.is_empty() && extended.is_empty() {
                return;
            }
            // What lost its cause may have the longer one.
            for finding in findings.iter_mut().filter(|finding| finding.cause.is_none()) {
                self.find(finding, &extended, Extent::Known).await;
            }
            findings.append(&mut others);
        }
    }

    /// Whether the same kind of answer is due to the request of a finding and to another one.
    fn is_alike(&self, finding: &Finding, other: &Reproduction) -> bool {
        let value = |group: &Group, member: usize| Subject::Member(member).value(group);
        let own = value(&finding.group, finding.violation.member);
        let both = own.zip(value(&other.group, other.violation.member));
        both.is_none_or(|(own, other)| is_comparable(&own, &other, &*self.material.session.context))
    }

    /// The finding with the cause that its members decide together with others: those in which it differs from a request that has its members
    /// and is right. None where none are found.
    async fn with_more_members(&self, finding: &Finding, right: Value) -> Option<Finding> {
        // The rule judges only requests of this form: what decides is more than that.
        let known = match finding.cause.as_ref()? {
            Cause::Form(_) => &[][..],
            cause => cause.members(),
        };
        let key = finding.key();
        let resender = self.resender(finding.rule, &key);
        let mut search = Search::new(&resender, &self.material, finding, self.limit);
        let found = Box::pin(search.more_members(known, right)).await;
        let spent = search.spent();
        let mut whole = finding.clone();
        whole.shrink_requests += spent;
        explain(&mut whole, found?);
        Some(whole)
    }

    /// Another finding at the same place, of which the request breaks the rule because of something else; none where no other cause is found.
    async fn other_finding(
        &self,
        findings: &[Finding],
        number: usize,
        unexplained: Reproduction,
        settings: &Settings,
    ) -> Option<Finding> {
        let finding = &findings[number];
        let (context, key) = (&self.material.session.context, finding.key());
        let seen = FirstViolation {
            rule: finding.rule,
            violation: unexplained.violation,
            group: unexplained.group,
            exchanges: unexplained.exchanges,
            times: finding.times,
        };
        let bounds = Bounds {
            requests: Some(settings.args.shrink_requests()),
            waiting: &self.waiting,
            all_sent: &Barrier::new(1),
            ends: self.ends,
        };
        let named = |finding: &Finding| -> Vec<String> {
            let members = finding.cause.iter().flat_map(Cause::members);
            members.map(|member| member.pointer.clone()).collect()
        };
        let known = named(finding);
        let mut other = Box::pin(confirm(self.sender, &**context, (&key, &seen), bounds, &known)).await;
        other.share = finding.share;
        self.find(&mut other, &[], Extent::All).await;
        forget_lists(&mut other);
        let is_known = |known: &Finding| known.key() == key && named(known) == named(&other);
        (other.cause.is_some() && !findings.iter().any(is_known)).then_some(other)
    }

    /// Whether the requests of a finding without a cause, which are answered wrongly each time as they are, are answered rightly each time with
    /// other ids, nonces and senders, or wrongly each time with these too.
    async fn depends_on_sent_values(&self, finding: &Finding) -> Option<bool> {
        const TRIED: usize = 4;
        let is_steady = !finding.attempts.is_empty() && finding.reproduced() == finding.attempts.len();
        if !is_steady || keeps_idle(finding.group.relation) || self.is_spent() {
            return None;
        }
        let key = finding.key();
        let resender = self.resender(finding.rule, &key);
        let new = |renews_party| renewed(&finding.group, &|_| false, renews_party, finding.specification);
        let (mut right, mut wrong) = (true, true);
        for new_party in (0..TRIED).flat_map(|_| [None, Some(false), Some(true)]) {
            let group = new_party.map_or_else(|| Some(finding.group.clone()), new)?;
            let is_broken = match resender.send(&group).await {
                Ok((_, Outcome::Broken(_))) => true,
                Ok((_, Outcome::Held)) => false,
                _ => return None,
            };
            if new_party.is_some() {
                right &= !is_broken;
            }
            wrong &= is_broken;
            if !right && !wrong || !is_broken && new_party.is_none() {
                return None;
            }
        }
        Some(right)
    }

    /// Whether the run has sent and waited enough in search of causes.
    fn is_spent(&self) -> bool {
        self.left.load(Ordering::Relaxed) == 0 || Instant::now() >= self.ends || self.waiting.is_spent()
    }

    /// Adds its cause to a finding, where there is one.
    async fn find(&self, finding: &mut Finding, known: &[Finding], extent: Extent) {
        if finding.attempts.is_empty() || keeps_idle(finding.group.relation) || self.is_spent() {
            return;
        }
        let key = finding.key();
        let resender = self.resender(finding.rule, &key);
        let copy = finding.clone();
        let mut search = Search::new(&resender, &self.material, &copy, self.limit);
        let diagnosis = match extent {
            Extent::All => Box::pin(search.cause(known)).await,
            Extent::Known => Box::pin(search.known_cause(known)).await,
            Extent::Company => Box::pin(search.company_of_its_own()).await,
        };
        let spent = search.spent();
        if finding.sought != Sought::RightAlone {
            finding.sought = search.sought;
        }
        self.left.store(self.left.load(Ordering::Relaxed).saturating_sub(spent), Ordering::Relaxed);
        finding.shrink_requests += spent;
        if let Some(diagnosis) = diagnosis {
            explain(finding, diagnosis);
        }
    }
}

/// Gives the cause that answers are right at first and wrong later to findings of other rules that have the same wrong value at the same place:
/// a rule that judged late found it wrong in every answer.
fn share_what_is_wrong_later(findings: &mut [Finding]) {
    let wrong = |finding: &Finding| {
        let violation = &finding.violation;
        (finding.pair, without_indices(&violation.pointer), violation.actual.clone())
    };
    let is_later = |finding: &&Finding| matches!(finding.cause, Some(Cause::Spent { .. }));
    let later = findings.iter().filter(is_later).map(|finding| (wrong(finding), finding.cause.clone()));
    let later: Vec<_> = later.collect();
    let may_be_later = |finding: &&mut Finding| matches!(finding.cause, None | Some(Cause::Every { .. }));
    for finding in findings.iter_mut().filter(may_be_later) {
        if let Some((_, cause)) = later.iter().find(|(of, _)| *of == wrong(finding)) {
            (finding.cause, finding.contrast) = (cause.clone(), None);
        }
    }
}

/// Two whole lists are no cause: other answers that a list keeps from being right, such as those of a cache, look the same.
fn forget_lists(finding: &mut Finding) {
    if finding.cause.iter().flat_map(Cause::members).any(Difference::is_of_whole_lists) {
        (finding.cause, finding.contrast) = (None, None);
    }
}

fn is_bound(member: &Difference) -> bool {
    matches!(member.respect, Respect::Length | Respect::Amount)
}

/// Whether the cause says that every value beyond the failing one breaks the rule.
fn has_bound(finding: &Finding) -> bool {
    finding.cause.iter().flat_map(Cause::members).any(is_bound)
}

/// Takes back, of all findings with the cause of one, that every value beyond the failing one breaks the rule: the failing one does.
fn forget_bound(findings: &mut [Finding], number: usize) {
    let cause = findings[number].cause.clone();
    for finding in findings.iter_mut().filter(|finding| finding.cause == cause) {
        if let Some(Cause::Members(members)) = &mut finding.cause {
            members
                .iter_mut()
                .filter(|member| is_bound(member))
                .for_each(|member| member.respect = Respect::Value);
        }
    }
}

/// Gives a finding its cause. Requests that were right when they were sent again, and are shown all the same, lack the earlier one that decides.
fn explain(finding: &mut Finding, diagnosis: Diagnosis) {
    let is_shown = diagnosis.reproduction.is_some() || finding.reproduced() > 0;
    if matches!(diagnosis.cause, Cause::Earlier(_)) && !is_shown {
        finding.of_sent_values = Some(true);
    }
    if let Some(plainer) = diagnosis.reproduction {
        finding.group = plainer.group;
        finding.exchanges = plainer.exchanges;
        finding.violation = plainer.violation;
    }
    finding.could_be_smaller |= diagnosis.could_be_smaller;
    finding.cause = Some(diagnosis.cause);
    finding.contrast = diagnosis.contrast;
}

#[cfg(test)]
mod tests {
    use paymaster_engine::{
        diagnosis::cause::{EarlierRequest, WrongAnswers},
        session::recheck::Original,
    };

    use super::*;
    use crate::report::sample;
    use paymaster_settings::DEFAULT_SPECIFICATION;

    #[test]
    fn what_was_right_alone_is_replayed_in_company() {
        let finished = sample::violations();
        let mut finding = finished.summary.findings[0].clone();
        finding.cause = None;
        assert!(finding.reproduced() > 0 && finding.reproduced() == finding.attempts.len());
        let mut in_flight = |sought| {
            finding.sought = sought;
            Original::of(&finding, &finished.summary, finding.specification).circumstances.in_flight
        };
        assert_eq!(in_flight(Sought::Yes), 1);
        assert_eq!(in_flight(Sought::RightAlone), finished.summary.connections);
    }

    #[test]
    fn requests_that_lack_the_earlier_one_that_decides_prove_nothing_when_they_are_right_again() {
        let finished = sample::violations();
        let mut finding = finished.summary.findings[0].clone();
        let shown_again = |finding: &Finding, reproduction| {
            let mut finding = finding.clone();
            explain(
                &mut finding,
                Diagnosis { reproduction, ..Diagnosis::of(Cause::Earlier(EarlierRequest::Other)) },
            );
            !Original::of(&finding, &finished.summary, finding.specification).of_sent_values
        };
        assert!(shown_again(&finding, None), "they were wrong again");
        let compared = DEFAULT_SPECIFICATION.find_rule("sponsor.decision-inputs").unwrap();
        assert!(!shown_again(&Finding { rule: compared, ..finding.clone() }, None), "the file lacks it");
        finding.attempts[0].violation = None;
        assert!(!shown_again(&finding, None), "they were right now and then");
        finding.attempts.clear();
        assert!(!shown_again(&finding, None));
        let Finding { group, exchanges, violation, .. } = finding.clone();
        assert!(shown_again(&finding, Some(Reproduction { group, exchanges, violation })));
    }

    #[test]
    fn what_is_wrong_later_by_one_rule_is_not_wrong_in_every_answer_by_another() {
        let first = sample::violations().summary.findings[0].clone();
        let every = Some(Cause::Every { pair: None, answers: WrongAnswers::All });
        let spent = Some(Cause::Spent { served: 3 });
        let mut findings = vec![first; 3];
        (findings[0].cause, findings[1].cause, findings[2].cause) =
            (spent.clone(), every.clone(), every.clone());
        findings[2].violation.actual = "another value".to_owned();
        share_what_is_wrong_later(&mut findings);
        let causes: Vec<_> = findings.into_iter().map(|finding| finding.cause).collect();
        assert_eq!(causes, [spent.clone(), spent, every]);
    }
}
