//! Shrinking: looks for a smaller group of requests that shows the same violation and belongs to the same relation.

use paymaster_schemas::Pair;
use serde_json::Value;

use crate::run::confirming::{
    budget::RequestBudget,
    resend::{Reproduction, Resender},
};
use paymaster_judge::{
    cases::case::{Group, Role},
    message::request::ParsedRequest,
    rules::Check,
    session::recheck::Outcome,
    target::context::{Context, Requirement},
};

/// Returns simpler versions of a value, the simplest first. Where a schema document is named, all of them are valid against it.
pub type Simplify = fn(Option<&str>, &Value) -> Vec<Value>;

/// The result of shrinking.
pub(crate) struct Shrunk {
    pub(crate) reproduction: Reproduction,
    /// How many requests were sent.
    pub(crate) spent: u32,
}

/// Shrinks the group of one finding.
pub(crate) struct Shrinker<'a> {
    pub(crate) resender: &'a Resender<'a>,
}

impl Shrinker<'_> {
    /// Looks for a smaller reproduction within a budget of requests.
    pub(crate) async fn shrink(&self, reproduction: Reproduction, simplify: Simplify, budget: u32) -> Shrunk {
        let mut budget = RequestBudget::new(budget);
        let (reproduction, kept) = self.isolate(reproduction, &mut budget).await;
        let mut reproduction = self.in_plain_headers(reproduction, &mut budget).await;
        let properties = properties(&reproduction.group, self.resender.context);
        let document = reproduction.group.pair.map(Pair::request_document);
        'smaller: loop {
            for base in simplify(document, &reproduction.group.base) {
                let rebuilt = reproduction.group.rebuilt(base, self.resender.context);
                let Some(group) = rebuilt.and_then(|group| only(group, kept.as_deref())) else {
                    continue;
                };
                if group.members == reproduction.group.members
                    || self::properties(&group, self.resender.context) != properties
                {
                    continue;
                }
                if !budget.spend_on(&group) {
                    break 'smaller;
                }
                match self.resender.send(&group).await {
                    Ok((exchanges, Outcome::Broken(violation))) => {
                        reproduction = Reproduction {
                            group,
                            exchanges,
                            violation,
                        };
                        continue 'smaller;
                    }
                    Ok(_) => {}
                    Err(_) => break 'smaller,
                }
            }
            break;
        }
        Shrunk {
            reproduction,
            spent: budget.spent(),
        }
    }

    /// Sends the group with the plain request headers, where it was sent with others. Keeps that where the rule is broken again.
    async fn in_plain_headers(&self, reproduction: Reproduction, budget: &mut RequestBudget) -> Reproduction {
        let group = reproduction.group.clone().sent_as(None);
        if group.members == reproduction.group.members || !budget.spend_on(&group) {
            return reproduction;
        }
        match self.resender.send(&group).await {
            Ok((exchanges, Outcome::Broken(violation))) => Reproduction {
                group,
                exchanges,
                violation,
            },
            _ => reproduction,
        }
    }

    /// Reduces the group to the member that breaks the rule, and for a rule over a group to that member and the baseline, where these break
    /// the rule too. Returns the indices of the members that are left; none where all are.
    async fn isolate(
        &self,
        reproduction: Reproduction,
        budget: &mut RequestBudget,
    ) -> (Reproduction, Option<Vec<usize>>) {
        let wrong = reproduction.violation.member;
        let members = &reproduction.group.members;
        let kept = if matches!(self.resender.rule.check, Check::Group(..)) {
            let baseline = members.iter().position(|member| member.role == Role::Baseline);
            match baseline {
                Some(baseline) if baseline < wrong => vec![baseline, wrong],
                _ => return (reproduction, None),
            }
        } else {
            vec![wrong]
        };
        if members.len() <= kept.len() {
            return (reproduction, None);
        }
        let Some(group) = only(reproduction.group.clone(), Some(&kept)) else {
            return (reproduction, None);
        };
        if !budget.spend_on(&group) {
            return (reproduction, None);
        }
        match self.resender.send(&group).await {
            Ok((exchanges, Outcome::Broken(violation))) => {
                let fewer = Reproduction {
                    group,
                    exchanges,
                    violation,
                };
                (fewer, Some(kept))
            }
            _ => (reproduction, None),
        }
    }
}

/// The group reduced to the members with these indices, or the whole group where none are given; none when there are no such members.
fn only(mut group: Group, kept: Option<&[usize]>) -> Option<Group> {
    if let Some(kept) = kept {
        let members: Option<Vec<_>> = kept
            .iter()
            .map(|index| group.members.get(*index).cloned())
            .collect();
        group.members = members?;
    }
    Some(group)
}

/// What shrinking must not change about a request.
#[derive(PartialEq)]
struct Properties {
    role: Role,
    pair: Option<Pair>,
    is_valid_call: bool,
    requirement: Option<Requirement>,
}

fn properties(group: &Group, context: &Context) -> Vec<Properties> {
    group
        .members
        .iter()
        .map(|member| {
            let kind = ParsedRequest::of(&member.body);
            let requirement = match &kind {
                ParsedRequest::Call(call) => Some(context.requirement(call)),
                _ => None,
            };
            Properties {
                role: member.role,
                pair: kind.pair(),
                is_valid_call: kind.valid_call().is_some(),
                requirement,
            }
        })
        .collect()
}
