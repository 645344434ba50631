//! Repetition as a cause: the first request with an operation or of a sender is answered well, and a later one is not.
//!
//! A target that remembers requests answers those of the run in another way when they are sent again. The search therefore sends
//! operations that the target has not seen: with another nonce, or of another sender.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{Diagnosis, Search, circumstances::shared, members::Subject, parsed};
use crate::run::confirming::resend::Reproduction;
use paymaster_judge::{
    cases::{
        case::{Group, Member},
        relations::CALLS,
    },
    diagnosis::cause::{Cause, EarlierRequest},
    rules::Violation,
    session::recheck::Outcome,
};

/// How often a request is repeated.
const REPETITIONS: usize = 4;

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
        let by_sender = (0..REPETITIONS)
            .filter_map(|_| self.unseen(&other_sender, NONCE))
            .collect();
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
            let earlier = if is_sender {
                EarlierRequest::SameSender
            } else {
                shared(&group, 0, wrong)
            };
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
            let member = Member {
                body: request.to_string().into(),
                ..model.clone()
            };
            let alone = Group {
                members: vec![member.clone()],
                ..finding.group.clone()
            };
            let (exchange, outcome) = self.send(&alone).await?;
            exchanges.extend(exchange);
            members.push(member);
            match outcome {
                Outcome::Held => {}
                Outcome::Broken(violation) if members.len() > 1 => {
                    let reproduction = Reproduction {
                        violation: Violation {
                            member: members.len() - 1,
                            ..violation
                        },
                        group: Group {
                            relation: &CALLS,
                            members,
                            ..finding.group.clone()
                        },
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
