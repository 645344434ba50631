//! Repetition as a cause: the first request with an operation or of a sender is answered well, and a later one is not.
//!
//! A target that remembers requests answers those of the run in another way when they are sent again. The search therefore sends
//! operations that the target has not seen: with another nonce, or of another sender.

use std::{collections::BTreeMap, time::SystemTime};

use serde_json::{Value, json};

use super::{Diagnosis, Search, circumstances::shared, members::Subject, parsed, with_body};
use crate::run::confirming::resend::Reproduction;
use paymaster_judge::{
    cases::{
        case::{Group, Member},
        relations::CALLS,
    },
    diagnosis::{
        cause::{Cause, EarlierRequest},
        difference::{Difference, with_all},
    },
    rules::Violation,
    session::recheck::Outcome,
};

/// How often a request is repeated.
const REPETITIONS: usize = 4;

/// The length of an address, with its prefix.
const ADDRESS_LENGTH: usize = 42;

const OPERATION: &str = "/params/0";
const NONCE: &str = "/params/0/nonce";
const SENDER: &str = "/params/0/sender";

impl Search<'_> {
    /// Whether an operation that the target has not seen breaks the rule from its second request on, or a sender that it has not seen. It is
    /// tried twice, because chance may show the same once.
    pub(super) async fn repetition(&mut self) -> Option<Diagnosis> {
        let first = self.repetition_once().await?;
        let again = self.repetition_once().await?;
        (first.cause == again.cause).then_some(again)
    }

    async fn repetition_once(&mut self) -> Option<Diagnosis> {
        if self.judges_groups() {
            return self.repetition_in_group().await;
        }
        let failing = parsed(self.finding.group.members.get(self.finding.violation.member)?)?;
        let same_operation = self.unseen(&failing, NONCE)?;
        let by_operation = vec![same_operation; REPETITIONS];
        if let Some(diagnosis) = self.breaks_later(by_operation, EarlierRequest::Same).await {
            return Some(diagnosis);
        }
        let other_sender = self.unseen(&failing, SENDER)?;
        let by_sender = (0..REPETITIONS).filter_map(|_| self.unseen(&other_sender, NONCE)).collect();
        self.breaks_later(by_sender, EarlierRequest::SameSender).await
    }

    /// For a rule that compares requests: whether it is broken for an operation that the target has not seen, or a sender.
    async fn repetition_in_group(&mut self) -> Option<Diagnosis> {
        let base = Subject::Base.value(&self.finding.group)?;
        let operation = self.unseen(&base, NONCE)?;
        let other_sender = self.unseen(&operation, SENDER)?;
        for (unseen, is_sender) in [(operation, false), (other_sender, true)] {
            let group = Subject::Base.with(&self.finding.group, unseen, self.resender.context)?;
            let Some(reproduction) = self.breaks(&group).await else {
                continue;
            };
            let wrong = reproduction.violation.member;
            if wrong == 0 {
                return None;
            }
            let earlier = if is_sender { EarlierRequest::SameSender } else { shared(&group, 0, wrong) };
            return Some(Diagnosis {
                reproduction: Some(reproduction),
                ..Diagnosis::of(Cause::Earlier(earlier))
            });
        }
        None
    }

    /// Sends the requests one after the other: the cause where the first one holds and a later one breaks the rule.
    async fn breaks_later(&mut self, requests: Vec<Value>, earlier: EarlierRequest) -> Option<Diagnosis> {
        let finding = self.finding;
        let model = finding.group.members.get(finding.violation.member)?;
        let (mut members, mut exchanges) = (Vec::new(), Vec::new());
        for mut request in requests {
            request["id"] = self.unseen_number().into();
            let member = Member { body: request.to_string().into(), ..model.clone() };
            let alone = Group { members: vec![member.clone()], ..finding.group.clone() };
            let (exchange, outcome) = self.send(&alone).await?;
            exchanges.extend(exchange);
            members.push(member);
            match outcome {
                Outcome::Held => {}
                Outcome::Broken(violation) if members.len() > 1 => {
                    let reproduction = Reproduction {
                        violation: Violation { member: members.len() - 1, ..violation },
                        group: Group { relation: &CALLS, members, ..finding.group.clone() },
                        exchanges,
                    };
                    return Some(Diagnosis {
                        reproduction: Some(reproduction),
                        ..Diagnosis::of(Cause::Earlier(earlier))
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// Whether a budget is spent: requests for which the rule held in the run break it now, and so do operations that the target has not
    /// seen.
    pub(super) async fn spent_budget(&mut self) -> Option<Diagnosis> {
        const TRIED: usize = 2;
        let share = self.finding.share?;
        let examples = self.material.session.examples(self.resender.rule, self.finding.pair);
        let alone = examples.iter().filter(|example| example.group.members.len() == 1);
        let mut tried = 0;
        for group in alone.map(|example| &example.group).take(TRIED) {
            let unseen = self.unseen(&parsed(&group.members[0])?, NONCE)?;
            let unseen = with_body(group, 0, &unseen)?;
            self.breaks(group).await?;
            self.breaks(&unseen).await?;
            tried += 1;
        }
        let served = share.judged.saturating_sub(share.broken);
        (tried == TRIED).then(|| Diagnosis::of(Cause::Spent { served }))
    }

    /// Whether the rule is broken after other requests of the run, and holds without them: the target keeps something of those. An
    /// operation of a sender that the target has not seen is sent, where that holds alone: answers to the others may be kept.
    pub(super) async fn after_others(&mut self) -> Option<Diagnosis> {
        const MOST_BEFORE: usize = 3;
        let own = Subject::Member(self.finding.violation.member).value(&self.finding.group)?;
        let others = self.others();
        for is_unseen in [false, true] {
            let mut before: Vec<Member> = Vec::new();
            // The first time, it may be wrong because of the requests that were sent last.
            self.breaks_after(&[], &own, is_unseen).await?;
            if self.breaks_after(&[], &own, is_unseen).await?.is_some() {
                continue;
            }
            for other in &others {
                before.push(other.clone());
                let last = before.len().saturating_sub(MOST_BEFORE);
                if self.breaks_after(&before[last..], &own, is_unseen).await?.is_none() {
                    continue;
                }
                // The fewest of them that are enough, twice; and the rule holds without them again.
                for first in (last..before.len()).rev() {
                    let few = &before[first..];
                    if self.breaks_after(few, &own, is_unseen).await?.is_some()
                        && self.breaks_after(&[], &own, is_unseen).await?.is_none()
                        && let Some(reproduction) = self.breaks_after(few, &own, is_unseen).await?
                    {
                        return Some(after(reproduction));
                    }
                }
            }
        }
        None
    }

    /// Whether an answer is kept under members of the request, which look like the cause then: with values that the target has not seen, the
    /// request is right alone, and wrong after another request with the same values.
    pub(super) async fn kept_under(&mut self, subject: Subject, members: &[Difference]) -> Option<Diagnosis> {
        let passing = with_all(&subject.value(&self.finding.group)?, members)?;
        let unseen = |search: &mut Self, request: &Value| {
            let number = search.unseen_number();
            let value = |request: Value, member: &Difference| {
                member.with(&request, unseen_like(member.passing.as_ref()?, number).as_ref())
            };
            let changed = |request: &Value| members.iter().try_fold(request.clone(), value);
            changed(&passing).filter(|changed| *changed != passing).zip(changed(request))
        };
        let (alone, _) = unseen(self, &passing)?;
        if self.wrong_after(None, subject, alone).await?.is_some() {
            return None;
        }
        let is_in_the_operation = members.iter().any(|member| member.pointer.starts_with(OPERATION));
        let ways = [false, true].into_iter().filter(|whole| !whole || is_in_the_operation);
        let others = self.others();
        for (other, with_the_operation) in
            others.iter().flat_map(|other| ways.clone().map(move |whole| (other, whole)))
        {
            let Some(request) = parsed(other) else { continue };
            let mut wrong = None;
            for _ in 0..2 {
                let Some((own, mut before)) = unseen(self, &request) else {
                    break;
                };
                if with_the_operation && let Some(operation) = before.pointer_mut(OPERATION) {
                    *operation = own.pointer(OPERATION).cloned().unwrap_or_default();
                }
                let before = Member { body: before.to_string().into(), ..other.clone() };
                wrong = self.wrong_after(Some(before), subject, own).await?;
                if wrong.is_none() {
                    break;
                }
            }
            match wrong {
                // The requests that a rule compares stay as they are: the target keeps the answer that the other request got.
                Some(_) if self.judges_groups() => {
                    return Some(Diagnosis::of(Cause::Earlier(EarlierRequest::Other)));
                }
                Some(reproduction) => return Some(after(reproduction)),
                None => {}
            }
        }
        None
    }

    /// Sends a request, and then the requests of the finding with this value, as in [`Self::breaks_after`].
    async fn wrong_after(
        &mut self,
        before: Option<Member>,
        subject: Subject,
        own: Value,
    ) -> Option<Option<Reproduction>> {
        if !self.judges_groups() {
            return self.breaks_after(before.as_slice(), &own, false).await;
        }
        let group = subject.with(&self.finding.group, own, self.resender.context)?;
        if let Some(before) = before {
            let alone = Group { relation: &CALLS, members: vec![before], ..self.finding.group.clone() };
            self.budget.add(&alone);
            self.resender.send(&alone).await.ok()?;
        }
        self.budget.add(&group);
        let (exchanges, outcome) = self.resender.send(&group).await.ok()?;
        Some(match outcome {
            Outcome::Broken(violation) => Some(Reproduction { group, exchanges, violation }),
            _ => None,
        })
    }

    /// Other requests of the run: of the same method and mode those that the rule judged and those of many relations, and some of others.
    fn others(&self) -> Vec<Member> {
        const MOST_OF_THE_PAIR: usize = 12;
        const MOST_OF_OTHERS: usize = 4;
        let own = self.finding.group.members.get(self.finding.violation.member);
        let mut of_relation = BTreeMap::<_, usize>::new();
        let mut others: Vec<(usize, bool, Member)> = Vec::new();
        let session = self.material.session;
        let of_rule = session.examples(self.resender.rule, self.finding.pair);
        for example in of_rule.into_iter().chain(session.examples_of_any_rule()) {
            let [member] = example.group.members.as_slice() else {
                continue;
            };
            if own.is_some_and(|own| own.body != member.body) && !example.got_error {
                let so_far = of_relation.entry((example.group.relation.id, example.pair)).or_default();
                *so_far += 1;
                others.push((*so_far, example.pair == self.finding.pair, member.clone()));
            }
        }
        others.sort_by_key(|(place, ..)| *place);
        let some = |is_own_pair: bool, most: usize| {
            let of_pair = others.iter().filter(move |(_, is_own, _)| *is_own == is_own_pair);
            of_pair.map(|(.., member)| member.clone()).take(most)
        };
        some(true, MOST_OF_THE_PAIR).chain(some(false, MOST_OF_OTHERS)).collect()
    }

    /// Sends requests in order, and last the one of the finding with this body, where wanted as an operation of a sender that the target has
    /// not seen; the inner value is none where that one does not break the rule, the outer one where nothing could be sent.
    async fn breaks_after(
        &mut self,
        before: &[Member],
        own: &Value,
        is_unseen: bool,
    ) -> Option<Option<Reproduction>> {
        let finding = self.finding;
        let own = if is_unseen {
            let other_sender = self.unseen(own, SENDER)?;
            self.unseen(&other_sender, NONCE)?
        } else {
            own.clone()
        };
        let last = Member {
            body: own.to_string().into(),
            ..finding.group.members.get(finding.violation.member)?.clone()
        };
        let group = Group {
            relation: &CALLS,
            members: before.iter().cloned().chain([last]).collect(),
            ..finding.group.clone()
        };
        // These searches have limits of their own.
        self.budget.add(&group);
        let (exchanges, outcome) = self.resender.send(&group).await.ok()?;
        Some(match outcome {
            Outcome::Broken(violation) if violation.member == before.len() => {
                Some(Reproduction { group, exchanges, violation })
            }
            _ => None,
        })
    }

    /// A number that no request had so far, in this run or an earlier one.
    fn unseen_number(&mut self) -> u64 {
        self.unseen += 1;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = since.map_or(0, |time| time.as_millis());
        u64::try_from(now).unwrap_or_default() + self.unseen
    }

    /// The request with a nonce or a sender that the target has not seen; none where it has no such member.
    fn unseen(&mut self, request: &Value, pointer: &str) -> Option<Value> {
        let number = self.unseen_number();
        let mut changed = request.clone();
        let member = changed.pointer_mut(pointer)?;
        *member = match pointer {
            SENDER => json!(format!("0x{number:040x}")),
            _ if member.as_str().is_some_and(|nonce| nonce.starts_with("0x")) => {
                json!(format!("0x{number:x}"))
            }
            _ => json!(number.to_string()),
        };
        Some(changed)
    }
}

/// An earlier request as the cause, with the requests that show it: the last one breaks the rule.
fn after(reproduction: Reproduction) -> Diagnosis {
    let last = reproduction.group.members.len() - 1;
    let earlier = shared(&reproduction.group, last - 1, last);
    Diagnosis { reproduction: Some(reproduction), ..Diagnosis::of(Cause::Earlier(earlier)) }
}

/// A value like this one that depends on a number: another number, a longer text, an address with letters in another order of cases, or a
/// list of such values.
fn unseen_like(value: &Value, number: u64) -> Option<Value> {
    // Neighbouring numbers give different orders.
    let bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let cased = |(place, letter): (usize, char)| match bits >> (place % 61) & 1 {
        _ if place < 2 => letter,
        0 => letter.to_ascii_lowercase(),
        _ => letter.to_ascii_uppercase(),
    };
    match value {
        Value::Number(_) => Some(number.into()),
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(number.to_string().into())
        }
        Value::String(text) if text.len() != ADDRESS_LENGTH => Some(format!("{text}{number:016x}").into()),
        Value::String(text) => Some(text.chars().enumerate().map(cased).collect::<String>().into()),
        Value::Array(items) => {
            let items = items.iter().map(|item| unseen_like(item, number));
            items.collect::<Option<Vec<Value>>>().map(Value::Array)
        }
        _ => None,
    }
}
