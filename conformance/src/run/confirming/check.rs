//! Checks the members that causes name: against the answers of the run, and against requests of the run that are sent again with other
//! values. A cause that one of them contradicts is not reported.

mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use trial::Trial;

use crate::run::Suite;
use crate::run::confirming::diagnose::circumstances::with_members;
use crate::run::confirming::diagnose::members::{Subject, is_comparable, is_owed_as_much};
use crate::run::confirming::{Reproduction, RequestBudget, Resender, WaitingBudget};
use crate::run::sending::Sender;
use paymaster_engine::cases::{Group, Role};
use paymaster_engine::diagnosis::{
    AnswerKind, Cause, CauseKind, Difference, Finding, RequestOutcome, RequestPlace, WrongAnswers,
    is_about_the_kind,
};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Answer;
use paymaster_engine::rules::Check;
use paymaster_engine::session::Session;
use paymaster_settings::Settings;

/// How many requests for which the rule held are read, and how many of them are kept: not every one can be sent alone, or is comparable.
const HELD_READ: usize = 256;
const HELD_KEPT: usize = 16;

/// How many requests that a cause may not explain are read, and how many of them are sent again.
const MOST_READ: usize = 1_000;
const MOST_UNEXPLAINED: usize = 40;

/// The fewest answers of a kind that are all wrong before that counts as the cause.
const FEWEST_OF_EVERY: usize = 3;

/// The cause of a finding where every answer of the run, every result or every error breaks the rule.
pub(super) fn every(finding: &Finding, session: &Session) -> Option<Cause> {
    let kind = decisive_kind(finding);
    let answers = match kind {
        Some(AnswerKind::Result) => WrongAnswers::Results,
        Some(AnswerKind::Error) => WrongAnswers::Errors,
        Some(AnswerKind::Other) | None => WrongAnswers::All,
    };
    let all: Vec<RequestOutcome> = session.tally.outcomes.of_rule(finding.rule).collect();
    let is_every = |belongs: &dyn Fn(&RequestOutcome) -> bool| {
        let own = all.iter().filter(|outcome| belongs(outcome));
        own.clone().count() >= FEWEST_OF_EVERY && own.clone().all(|outcome| outcome.is_broken)
    };
    let is_own = |outcome: &RequestOutcome| outcome.pair == finding.pair;
    // Rules about errors judge no result, and then say nothing of every request.
    let is_judged_wherever_owed = || {
        let mut own = session.tally.outcomes.requests().filter(|(_, request)| request.pair == finding.pair);
        let judged: BTreeSet<_> = all.iter().map(|outcome| outcome.place).collect();
        own.all(|(place, request)| {
            !request.is_owed || request.answer == AnswerKind::Other || judged.contains(&place)
        })
    };
    let is_kind = |outcome: &RequestOutcome| kind.is_some_and(|kind| outcome.answer == kind);
    let (pair, answers) = if is_every(&|_| true) {
        (None, WrongAnswers::All)
    } else if is_every(&is_kind) {
        (None, answers)
    } else if is_every(&is_own) {
        (Some(finding.pair?), WrongAnswers::All)
    } else if is_every(&|outcome| is_own(outcome) && is_kind(outcome)) {
        (Some(finding.pair?), answers)
    } else if is_every(&|outcome| is_own(outcome) && outcome.is_owed) && is_judged_wherever_owed() {
        (Some(finding.pair?), WrongAnswers::ToOwedRequests)
    } else {
        return None;
    };
    // Where only one method and mode has such answers, it is named.
    let is_only_one = finding.pair.is_some() && all.iter().all(is_own);
    Some(Cause::Every { pair: pair.or(finding.pair.filter(|_| is_only_one)), answers })
}

/// Of which kind the wrong answer is. None where it has neither a result nor an error, or where the violation is that it is of its kind:
/// every answer of that kind is wrong then.
fn decisive_kind(finding: &Finding) -> Option<AnswerKind> {
    let exchange = finding.exchanges.get(finding.violation.member)?;
    let kind = AnswerKind::of(&Answer::of(exchange));
    (kind != AnswerKind::Other && !is_about_the_kind(&finding.violation.pointer, exchange)).then_some(kind)
}

/// The requests of the run that the rule of a finding judged, and whether each broke it at the place of the finding. One that broke the rule at
/// another place shows nothing, nor does one that was answered in another way.
pub(super) fn judged_requests(finding: &Finding, session: &Session) -> BTreeMap<RequestPlace, bool> {
    let broken = session.tally.outcomes.of_key(&finding.key());
    let is_broken = |place: &RequestPlace| broken.is_some_and(|broken| broken.contains(place));
    let own = session.tally.outcomes.of_rule(finding.rule);
    // Of requests that are compared, not every wrong one is named.
    let judges_groups = matches!(finding.rule.check, Check::Group(..));
    let broken_groups: BTreeSet<u32> = broken.into_iter().flatten().map(|place| place.group).collect();
    let kind = decisive_kind(finding);
    own.filter(|own| own.pair == finding.pair && own.is_broken == is_broken(&own.place))
        .filter(|own| own.is_broken || kind.is_none_or(|kind| own.answer == kind))
        .filter(|own| !judges_groups || own.is_broken || !broken_groups.contains(&own.place.group))
        .map(|own| (own.place, own.is_broken))
        .collect()
}

/// A cause that names members of the request, and the requests of the run that the rule judged.
struct Claim {
    finding: Finding,
    cause: Cause,
    /// Whether the request broke the rule at the place of the finding.
    outcomes: BTreeMap<RequestPlace, bool>,
    /// The places of requests for which the rule held, of which the requests are kept.
    kept: BTreeSet<RequestPlace>,
    /// Whether the members are the form of the request, and every request of its kind breaks the rule: then a request without them that
    /// breaks it shows that the kind decides.
    may_be_every: bool,
}

/// What the run shows of one claim.
#[derive(Default)]
struct Evidence {
    /// A request for which the rule held, and which breaks it according to the cause.
    contradicted: Option<Value>,
    /// Whether other requests contradict the claim: one of the kind is wrong in another form, or two that the rule compares differ in the same
    /// way and are right.
    is_contradicted: bool,
    /// Requests that broke the rule and have a passing value, or none of the two.
    unexplained: Vec<Request>,
    /// Requests for which the rule held.
    held: Vec<Request>,
}

/// A request of the run, in its group.
struct Request {
    group: Group,
    /// The other claims that state that it breaks the rule, by their numbers.
    explained_by: Vec<usize>,
}

impl Claim {
    /// The claim of a finding; none where its cause names no members.
    fn of(finding: &Finding, session: &Session) -> Option<Self> {
        let cause = finding.cause.clone()?;
        if !matches!(cause, Cause::Members(_) | Cause::Form(_)) {
            return None;
        }
        let outcomes = judged_requests(finding, session);
        let held = || outcomes.iter().filter(|(_, is_broken)| !**is_broken);
        let step = held().count() / HELD_READ + 1;
        let kept = held().step_by(step).map(|(place, _)| *place).collect();
        let is_every = matches!(every(finding, session), Some(Cause::Every { pair: Some(_), .. }));
        let may_be_every = is_every && matches!(cause, Cause::Form(_));
        Some(Self { finding: finding.clone(), cause, outcomes, kept, may_be_every })
    }

    fn judges_groups(&self) -> bool {
        matches!(self.finding.rule.check, Check::Group(..))
    }

    /// Whether the members are those of the base of a group, from which its requests are built.
    fn is_about_the_base(&self) -> bool {
        let contrast = self.finding.contrast.as_ref();
        self.judges_groups()
            && contrast.is_some_and(|contrast| contrast.group.base != self.finding.group.base)
    }

    /// Whether it names members in which requests differ that the rule compares: what decides about those may differ in each group.
    fn compares_requests(&self) -> bool {
        self.judges_groups() && !self.is_about_the_base()
    }

    /// Whether the cause is that every request with a value gets this answer, and none without: others that are wrong are so for another
    /// reason, whatever is due to them.
    fn is_of_a_refused_value(&self) -> bool {
        let wrong = self.finding.exchanges.get(self.finding.violation.member);
        matches!(self.cause, Cause::Form(_)) && wrong.is_some_and(|wrong| wrong.refused_value.is_some())
    }

    /// Whether the wrong answer is none of the service: it has neither a result nor an error.
    fn got_no_answer(&self) -> bool {
        let wrong = self.finding.exchanges.get(self.finding.violation.member);
        wrong.is_some_and(|wrong| AnswerKind::of(&Answer::of(wrong)) == AnswerKind::Other)
    }

    /// What the cause states of a request in its group.
    fn states(&self, group: &Group, member: usize) -> Option<bool> {
        let value = self.value(group, member)?;
        let is_the_same = |difference: &Difference| {
            let own = difference.failing.as_ref().and_then(Value::as_str);
            let other = value.pointer(&difference.pointer).and_then(Value::as_str);
            own.zip(other).is_some_and(|(own, other)| own.eq_ignore_ascii_case(other))
        };
        // An address in another letter case is the same value.
        if self.is_of_a_refused_value() && self.cause.members().iter().all(is_the_same) {
            return Some(true);
        }
        self.cause.states(&value)
    }

    /// The request in its group that the cause is about, or the base of the group.
    fn value(&self, group: &Group, member: usize) -> Option<Value> {
        if self.is_about_the_base() {
            return Some(group.base.clone());
        }
        serde_json::from_slice(&group.members.get(member)?.body).ok()
    }

    /// Whether the same kind of answer is due to a request as to that of the finding.
    fn is_comparable(&self, group: &Group, member: usize, context: &dyn Knowledge) -> bool {
        let own = self.value(&self.finding.group, self.finding.violation.member);
        let both = own.zip(self.value(group, member));
        both.is_some_and(|(own, other): (Value, Value)| is_comparable(&own, &other, context))
    }

    /// Whether a request for which the rule held can contradict the claim. Where the rule is about the kind of the answer, it also holds for
    /// lawful refusals, such as those of long values: these contradict nothing.
    fn can_be_contradicted_by(&self, group: &Group, member: usize, context: &dyn Knowledge) -> bool {
        let wrong = self.finding.exchanges.get(self.finding.violation.member);
        let is_about_the_kind =
            wrong.is_some_and(|wrong| is_about_the_kind(&self.finding.violation.pointer, wrong));
        let own = self.value(&self.finding.group, self.finding.violation.member);
        let both = own.zip(self.value(group, member));
        !is_about_the_kind || both.is_some_and(|(own, other)| is_owed_as_much(&own, &other, context))
    }

    /// The requests that a rule compares, both with the passing values, and both with the failing ones, where they differ in something else.
    fn beside_the_cause(&self, group: &Group, member: usize) -> Vec<Group> {
        let with = |is_failing: bool| {
            let mut members = group.members.iter();
            let baseline = members.position(|member| member.role == Role::Baseline);
            let mut compared = with_members(group, &[baseline.filter(|place| *place < member)?, member])?;
            let mut requests = Vec::new();
            for member in &mut compared.members {
                let mut request: Value = serde_json::from_slice(&member.body).ok()?;
                for difference in self.cause.members() {
                    let value = if is_failing { &difference.failing } else { &difference.passing };
                    request = difference.with(&request, value.as_ref())?;
                }
                member.body = request.to_string().into();
                request["id"] = Value::Null;
                requests.push(request);
            }
            (requests[0] != requests[1]).then_some(compared)
        };
        [false, true].into_iter().filter_map(with).collect()
    }

    /// Whether both causes name one of the members.
    fn shares_members(&self, other: &Self) -> bool {
        let mut own = self.cause.members().iter();
        own.any(|own| other.cause.members().iter().any(|other| other.pointer == own.pointer))
    }

    /// What the claims about other members of such requests state of a request: that something else is wrong with it hides what this claim
    /// is about.
    fn others_state<'a>(
        &'a self,
        claims: &'a [Self],
        group: &'a Group,
        member: usize,
    ) -> impl Iterator<Item = Option<bool>> + 'a {
        let is_other = |other: &&Self| {
            let is_of_pair = other.finding.pair == self.finding.pair;
            is_of_pair && !other.compares_requests() && !self.shares_members(other)
        };
        claims.iter().filter(is_other).map(move |other| other.states(group, member))
    }

    fn is_same_rule(&self, other: &Self) -> bool {
        self.finding.rule.id == other.finding.rule.id && self.finding.pair == other.finding.pair
    }

    /// The request in its group, alone where the rule is about single requests.
    fn request(&self, group: &Group, member: usize) -> Option<Group> {
        if self.judges_groups() {
            let is_same = std::ptr::eq(group.relation, self.finding.group.relation);
            return is_same.then(|| group.clone());
        }
        with_members(group, &[member])
    }

    /// What is changed in a request that is sent alone, or in its group.
    fn subject(&self) -> Subject {
        self.subject_in(0)
    }

    fn subject_in(&self, member: usize) -> Subject {
        if self.is_about_the_base() { Subject::Base } else { Subject::Member(member) }
    }
}

/// Reads the requests of the run again for the claims.
fn evidence(
    claims: &[Claim],
    groups: impl Iterator<Item = Arc<Group>>,
    context: &dyn Knowledge,
) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = claims.iter().map(|_| Evidence::default()).collect();
    let places = claims.iter().flat_map(|claim| claim.outcomes.keys());
    let Some(last) = places.map(|place| place.group).max() else { return all };
    for group in groups {
        let Some(number) = u32::try_from(group.number).ok().filter(|number| *number <= last) else { break };
        for (place, member) in (0..).zip(0..group.members.len()) {
            let place = RequestPlace { group: number, member: place };
            for (claim, found) in claims.iter().zip(&mut all) {
                match claim.outcomes.get(&place) {
                    Some(is_broken) if claim.compares_requests() => {
                        found.add_compared(claim, claims, (&group, member, context), *is_broken);
                    }
                    Some(is_broken) => {
                        found.add_request(claim, claims, place, *is_broken, (&group, member, context));
                    }
                    None => {}
                }
            }
        }
    }
    for found in &mut all {
        found.unexplained = as_different_as_possible(std::mem::take(&mut found.unexplained));
        // Those of the whole run, and not the first ones.
        let step = found.held.len().div_ceil(HELD_KEPT).max(1);
        found.held = std::mem::take(&mut found.held).into_iter().step_by(step).collect();
    }
    all
}

impl Evidence {
    /// Adds a group that broke the rule: of several wrong requests in a group, the rule names one. Where the rule held for requests that differ
    /// in the same way, the difference alone does not decide.
    fn add_compared(
        &mut self,
        claim: &Claim,
        claims: &[Claim],
        (group, member, context): (&Group, usize, &dyn Knowledge),
        is_broken: bool,
    ) {
        if !is_broken {
            let baseline = group.members.iter().position(|member| member.role == Role::Baseline);
            let is_opposed = std::ptr::eq(group.relation, claim.finding.group.relation)
                && baseline.is_some_and(|baseline| claim.states(group, baseline) == Some(false))
                && claim.states(group, member) == Some(true)
                && claim.is_comparable(group, member, context)
                && baseline
                    .into_iter()
                    .chain([member])
                    .flat_map(|member| claim.others_state(claims, group, member))
                    .all(|states| states == Some(false));
            self.is_contradicted |= is_opposed;
        } else if self.unexplained.len() < MOST_READ {
            let members = 0..group.members.len();
            let groups = members.flat_map(|member| claim.beside_the_cause(group, member));
            self.unexplained.extend(groups.map(|group| Request { group, explained_by: Vec::new() }));
        }
    }

    /// Adds a request where it contradicts the claim, or may do so with other values.
    fn add_request(
        &mut self,
        claim: &Claim,
        claims: &[Claim],
        place: RequestPlace,
        is_broken: bool,
        (group, member, context): (&Group, usize, &dyn Knowledge),
    ) {
        let states = claim.states(group, member);
        let is_opposed = states == Some(!is_broken);
        let may_oppose = states != Some(true) && (is_broken || claim.kept.contains(&place));
        // A form is claimed of every request, whatever answer is due to it. A batch has other members than a request.
        let is_batch = |value: Option<Value>| value.is_some_and(|value| value.is_array());
        let own = claim.value(&claim.finding.group, claim.finding.violation.member);
        let is_alike = || is_batch(own) == is_batch(claim.value(group, member));
        let is_other = match claim.cause {
            Cause::Form(_) if is_broken => claim.is_of_a_refused_value(),
            Cause::Form(_) => is_opposed && is_alike(),
            // A JSON text is due to any request.
            _ => is_broken && claim.got_no_answer(),
        };
        if !is_opposed && !may_oppose || !is_other && !claim.is_comparable(group, member, context) {
            return;
        }
        if !is_broken
            && (claim.others_state(claims, group, member).any(|states| states == Some(true))
                || !claim.can_be_contradicted_by(group, member, context))
        {
            return;
        }
        if is_opposed && !is_broken && self.contradicted.is_none() {
            self.contradicted = Some(claim.value(group, member).unwrap_or_default());
        }
        self.is_contradicted |= claim.may_be_every && is_broken && states != Some(true);
        if states == Some(true) {
            return;
        }
        let (requests, most) =
            if is_broken { (&mut self.unexplained, MOST_READ) } else { (&mut self.held, HELD_READ) };
        if requests.len() < most
            && let Some(alone) = claim.request(group, member)
        {
            let others = claims.iter().enumerate();
            let states_broken = |other: &Claim| other.states(group, member) == Some(true);
            let others = others.filter(|(_, other)| claim.is_same_rule(other) && states_broken(other));
            let explained_by = others.map(|(number, _)| number).collect();
            requests.push(Request { group: alone, explained_by });
        }
    }
}

/// Some of these requests, first those with a feature that none before has: a cause may be one that few have. That a member is missing, which
/// others have, is a feature too.
fn as_different_as_possible(requests: Vec<Request>) -> Vec<Request> {
    let features_of = |request: &Request| {
        let last = request.group.members.last();
        let body = last.and_then(|member| serde_json::from_slice::<Value>(&member.body).ok());
        let mut features = BTreeMap::new();
        add_features("", body.as_ref().unwrap_or(&Value::Null), &mut features);
        features
    };
    let each: Vec<BTreeMap<String, String>> = requests.iter().map(features_of).collect();
    let all: BTreeSet<&String> = each.iter().flat_map(BTreeMap::keys).collect();
    let mut known = BTreeSet::new();
    let has_new = each.iter().map(|own| {
        let features = all.iter().map(|pointer| (*pointer, own.get(*pointer)));
        features.filter(|feature| known.insert(*feature)).count() > 0
    });
    let (mut first, mut rest) = (Vec::new(), Vec::new());
    for (has_new, request) in has_new.zip(requests) {
        if has_new { first.push(request) } else { rest.push(request) }
    }
    first.append(&mut rest);
    first.truncate(MOST_UNEXPLAINED);
    first
}

/// The members of a request: with the values of short texts and flags, and the letter cases of other texts.
fn add_features(pointer: &str, value: &Value, features: &mut BTreeMap<String, String>) {
    const SHORT: usize = 5;
    let feature = match value {
        Value::Object(members) => {
            for (name, value) in members {
                add_features(&format!("{pointer}/{name}"), value, features);
            }
            return;
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate().take(SHORT) {
                add_features(&format!("{pointer}/{index}"), item, features);
            }
            items.len().to_string()
        }
        Value::String(text) if text.len() > SHORT => {
            let has = |is: fn(&char) -> bool| text.chars().skip(2).any(|letter| is(&letter));
            format!("{} {}", has(char::is_ascii_lowercase), has(char::is_ascii_uppercase))
        }
        Value::Number(_) => "number".to_owned(),
        short => short.to_string(),
    };
    features.insert(pointer.to_owned(), feature);
}

/// What contradicts a cause.
pub(super) enum Contradiction {
    /// This request is right, and has the failing values: more members than the cause names decide.
    Right(Value),
    /// These requests are wrong with the passing values: something else breaks the rule too.
    Unexplained(Reproduction),
    /// Anything else.
    Other,
}

/// The findings of which an answer contradicts the cause, by their numbers.
pub(super) async fn contradicted(
    findings: &[Finding],
    sender: &Sender,
    waiting: &WaitingBudget,
    suite: &Suite,
    session: &Session,
    settings: &Settings,
) -> Vec<(usize, Contradiction)> {
    let numbered = findings.iter().enumerate();
    let (numbers, claims): (Vec<usize>, Vec<Claim>) =
        numbered.filter_map(|(number, finding)| Some((number, Claim::of(finding, session)?))).unzip();
    let (suite, context) = (suite.clone(), Arc::clone(&session.context));
    let key = suite.plan_key(&context, settings.seed(), settings.args.cases());
    // A plan is not `Send`: it is made on a thread of its own.
    let reading = tokio::task::spawn_blocking(move || {
        let found = evidence(&claims, suite.cached_groups(&key).0, &*key.context);
        (claims, found)
    });
    let Ok((claims, found)) = reading.await else {
        return numbers.into_iter().map(|number| (number, Contradiction::Other)).collect();
    };
    // Where a place of the answers depends on other requests, a difference between requests shows nothing of it.
    let depends_on_others = |claim: &Claim| {
        let is_other = |other: &Finding| {
            let kind = other.cause.as_ref().map(Cause::kind);
            kind == Some(CauseKind::OtherRequests)
                && other.pair == claim.finding.pair
                && other.key().pointer == claim.finding.key().pointer
        };
        claim.judges_groups() && findings.iter().any(is_other)
    };
    let mut stands: Vec<bool> = std::iter::zip(&claims, &found)
        .map(|(claim, found)| {
            found.contradicted.is_none() && !found.is_contradicted && !depends_on_others(claim)
        })
        .collect();
    let mut contradicted = Vec::new();
    for (number, (claim, found)) in claims.iter().zip(&found).enumerate() {
        let others: Vec<usize> = (0..claims.len())
            .filter(|other| *other != number && stands[*other] && claim.is_same_rule(&claims[*other]))
            .collect();
        let key = claim.finding.key();
        let mut trial = Trial {
            resender: Resender::new(sender, claim.finding.rule, &key, &*context, waiting),
            claim,
            budget: RequestBudget::new(settings.args.shrink_requests()),
        };
        let contradiction = match &found.contradicted {
            _ if stands[number] => trial.contradiction(found, &claims, &others).await,
            Some(right) if !found.is_contradicted && !depends_on_others(claim) => {
                Some(Contradiction::Right(right.clone()))
            }
            _ => Some(Contradiction::Other),
        };
        // A cause that was not checked is not reported.
        let contradiction = contradiction.or_else(|| waiting.is_spent().then_some(Contradiction::Other));
        if let Some(contradiction) = contradiction {
            // Where something else breaks the rule too, this cause may still be one of two.
            stands[number] = matches!(contradiction, Contradiction::Unexplained(_));
            contradicted.push((numbers[number], contradiction));
        }
    }
    contradicted
}

#[cfg(test)]
mod tests;
