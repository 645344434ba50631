//! Causes that only the requests of a whole run show: how many tokens a request names, how many bytes it has, or that its operation is one to
//! refuse.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use paymaster_engine::cases::Group;
use paymaster_engine::diagnosis::{
    Amount, AnswerKind, Bounds, Cause, Finding, RequestPlace, Sought, WrongAnswers,
};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Answer;
use paymaster_engine::rules::Check;
use paymaster_engine::session::Session;
use paymaster_engine::specification::Counted;
use paymaster_settings::Settings;
use serde_json::Value;

use super::check::judged_requests;
use crate::run::Suite;

/// The fewest requests that break the rule, and the fewest that do not, which show that an amount decides.
const FEWEST: usize = 5;

/// How many requests with each number held, and how many broke the rule.
type Numbers = BTreeMap<usize, [usize; 2]>;

/// Looks for the cause of findings that were reproduced each time and have none yet: an amount that every request of the run has which broke the
/// rule, and no request has for which it held. What one finding shows in many requests, another one shows in few, or by comparing requests. Nothing
/// is sent.
pub(super) async fn add_amounts(
    findings: &mut [Finding],
    suite: &Suite,
    session: &Session,
    settings: &Settings,
) {
    let open = findings.iter().enumerate().filter(|(_, finding)| is_open(finding));
    let (numbers, judged): (Vec<usize>, Vec<_>) =
        open.map(|(number, finding)| (number, compared_requests(finding, session))).unzip();
    if numbers.is_empty() {
        return;
    }
    let (suite, context) = (suite.clone(), Arc::clone(&session.context));
    let key = suite.plan_key(&context, settings.seed(), settings.args.cases());
    // A plan is not `Send`: it is made on a thread of its own.
    let reading =
        tokio::task::spawn_blocking(move || counted_in(suite.cached_groups(&key).0, &judged, &*key.context));
    let read: Vec<_> = numbers.into_iter().zip(reading.await.unwrap_or_default()).collect();
    let mut known = Vec::new();
    for (number, counted) in &read {
        let finding = &mut findings[*number];
        if !matches!(finding.rule.check, Check::Group(..)) {
            // The bytes come last. Of all requests that a rule judges, only a part of the request says more.
            let is_every = finding.cause.is_some();
            let mut of_parts =
                counted.iter().rev().filter(|(counted, _)| !is_every || !counted.pointer.is_empty());
            let found = of_parts.find_map(|(counted, numbers)| deciding(*counted, numbers));
            known.extend(found);
            finding.cause = found.map(Cause::Amount).or_else(|| finding.cause.take());
        }
    }
    for (number, counted) in read {
        let same = known.iter().find_map(|amount| of_known(*amount, counted.get(&amount.counted)?));
        let cause = &mut findings[number].cause;
        *cause = cause.take().or(same.map(Cause::Amount));
    }
}

/// Whether an amount may be the cause of a finding: it has none, or that every request that the rule judges must get an error and gets a result.
fn is_open(finding: &Finding) -> bool {
    let is_of_the_judged = match finding.cause {
        None => true,
        Some(Cause::Every { pair, answers: WrongAnswers::All }) => pair.is_some() && gets_a_result(finding),
        Some(_) => false,
    };
    is_of_the_judged
        && finding.sought == Sought::Yes
        && !finding.attempts.is_empty()
        && finding.reproduced() == finding.attempts.len()
}

/// Whether the violation is a result where an error is due.
fn gets_a_result(finding: &Finding) -> bool {
    let wrong = finding.exchanges.get(finding.violation.member);
    finding.violation.pointer == "/result" && wrong.is_some_and(|wrong| Answer::of(wrong).result().is_some())
}

/// The requests that the rule of a finding judged, and whether each broke it. Where the violation is a result in place of an error, other requests
/// that got a result count as those that did not break it: a result was not wrong for them.
fn compared_requests(finding: &Finding, session: &Session) -> BTreeMap<RequestPlace, bool> {
    let mut compared = judged_requests(finding, session);
    if gets_a_result(finding) {
        let outcomes = &session.tally.outcomes;
        let judged: BTreeSet<_> = outcomes.of_rule(finding.rule).map(|own| own.place).collect();
        let others = outcomes.requests().filter(|(place, request)| {
            request.pair == finding.pair && request.answer == AnswerKind::Result && !judged.contains(place)
        });
        compared.extend(others.map(|(place, _)| (place, false)));
    }
    compared
}

/// For each set of requests, how many have each number of what is counted, as the requests of the plan show.
fn counted_in(
    groups: impl Iterator<Item = Arc<Group>>,
    sets: &[BTreeMap<RequestPlace, bool>],
    context: &dyn Knowledge,
) -> Vec<BTreeMap<Counted, Numbers>> {
    let mut counted: Vec<BTreeMap<Counted, Numbers>> = sets.iter().map(|_| BTreeMap::new()).collect();
    let last = sets.iter().filter_map(|set| Some(set.last_key_value()?.0.group)).max();
    for group in groups {
        let Some(number) = u32::try_from(group.number).ok().filter(|own| Some(*own) <= last) else { break };
        for (member, sent) in (0..).zip(&group.members) {
            let place = RequestPlace { group: number, member };
            if sets.iter().any(|set| set.contains_key(&place)) {
                let counts = counts_of(&sent.body, context);
                for (set, counted) in sets.iter().zip(&mut counted) {
                    for (what, count) in set.get(&place).map(|_| &counts).into_iter().flatten() {
                        let numbers = counted.entry(*what).or_default().entry(*count).or_default();
                        numbers[usize::from(set[&place])] += 1;
                    }
                }
            }
        }
    }
    counted
}

/// A known amount, where it tells these requests apart too.
fn of_known(amount: Amount, numbers: &Numbers) -> Option<Amount> {
    let is_within = |number: usize| match amount.bounds {
        Bounds::Exactly(own) => number == own,
        Bounds::AtLeast(least) => number >= least,
        Bounds::AtMost(most) => number <= most,
    };
    let [mut held, mut broken] = [0, 0];
    for (number, times) in numbers {
        held += times[0];
        broken += times[1];
        if times[usize::from(!is_within(*number))] > 0 {
            return None;
        }
    }
    (held > 0 && broken > 0).then_some(Amount { broken, held, ..amount })
}

/// What a request has a number of.
fn counts_of(body: &[u8], context: &dyn Knowledge) -> Vec<(Counted, usize)> {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut counts = (context.specification().counts)(&request, context);
    counts.push((Counted::REFUSED, context.lists_as_refused(&request).into()));
    counts.push((Counted::BYTES, body.len()));
    counts
}

/// The amount that decides: every request that broke the rule has this number, or has more, or has fewer, than every request for which it held.
fn deciding(counted: Counted, numbers: &Numbers) -> Option<Amount> {
    let of = |is_broken: usize| {
        numbers.iter().filter(move |(_, times)| times[is_broken] > 0).map(|(number, _)| *number)
    };
    let (right, wrong): (BTreeSet<usize>, BTreeSet<usize>) = (of(0).collect(), of(1).collect());
    let times = |is_broken: usize| numbers.values().map(|times| times[is_broken]).sum();
    let [held, broken] = [times(0), times(1)];
    if held < FEWEST || broken < FEWEST {
        return None;
    }
    let (least, most) = (*wrong.first()?, *wrong.last()?);
    let bounds = if least == most && !right.contains(&least) {
        Bounds::Exactly(least)
    } else if right.last()? < &least {
        Bounds::AtLeast(least)
    } else if right.first()? > &most {
        Bounds::AtMost(most)
    } else {
        return None;
    };
    Some(Amount { counted, bounds, broken, held })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: Counted = Counted { pointer: "/params/1/tokenInfo", what: "token" };

    #[test]
    fn an_amount_decides_where_it_tells_all_wrong_requests_from_all_right_ones() {
        let bounds = |held: &[usize], broken: &[usize]| {
            let mut numbers = Numbers::new();
            for (is_broken, all) in [held, broken].into_iter().enumerate() {
                for number in all {
                    numbers.entry(*number).or_default()[is_broken] += 5;
                }
            }
            deciding(TOKEN, &numbers).map(|amount| amount.bounds)
        };
        assert_eq!(bounds(&[1, 2, 3], &[4, 6]), Some(Bounds::AtLeast(4)));
        assert_eq!(bounds(&[3, 4], &[0, 2]), Some(Bounds::AtMost(2)));
        assert_eq!(bounds(&[0, 2, 3], &[1]), Some(Bounds::Exactly(1)));
        assert_eq!(bounds(&[0, 2, 3], &[1, 2]), None);
        assert_eq!(bounds(&[0, 4], &[1, 2]), None, "the two are not what all others are not");
        assert_eq!(bounds(&[], &[1]), None);
        let few = Numbers::from([(1, [FEWEST, 0]), (2, [0, FEWEST - 1])]);
        assert_eq!(deciding(TOKEN, &few), None, "so few may be chance");
        let amount = deciding(TOKEN, &Numbers::from([(1, [FEWEST, 0]), (2, [0, FEWEST])])).unwrap();
        let same = of_known(amount, &few).map(|same| (same.bounds, same.broken, same.held));
        assert_eq!(same, Some((Bounds::Exactly(2), FEWEST - 1, FEWEST)), "another finding has shown it");
        for other in [
            Numbers::from([(1, [1, 0]), (3, [0, 1])]),
            Numbers::from([(2, [1, 1])]),
            Numbers::from([(2, [0, 1])]),
        ] {
            assert!(of_known(amount, &other).is_none(), "{other:?}");
        }
    }
}
