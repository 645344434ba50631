//! Shrinking: looks for a smaller group of requests that shows the same violation and belongs to the same relation.

use paymaster_schemas::Pair;
use serde_json::Value;

use crate::run::sending::sender::{DeliveryError, Sender};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::{Group, Role},
    message::request::ParsedRequest,
    rules::{Check, Rule, Violation},
    session::recheck::Recheck,
    target::context::{Context, Requirement},
    verdict::finding::Key,
};

/// Returns simpler versions of a value, the simplest first. Where a schema document is named, all of them are valid against it.
pub type Simplify = fn(Option<&str>, &Value) -> Vec<Value>;

/// A group that shows a violation, with the exchanges that showed it.
#[derive(Clone, Debug)]
pub(crate) struct Reproduction {
    pub(crate) group: Group,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) violation: Violation,
}

/// The result of shrinking.
pub(crate) struct Shrunk {
    pub(crate) reproduction: Reproduction,
    /// How many requests were sent.
    pub(crate) spent: u32,
}

/// Sends the group of one finding again, and shrinks it.
pub(crate) struct Shrinker<'a> {
    pub(crate) sender: &'a Sender,
    pub(crate) recheck: Recheck<'a>,
    pub(crate) rule: &'static Rule,
    pub(crate) key: &'a Key,
    pub(crate) context: &'a Context,
}

impl Shrinker<'_> {
    /// Sends a group. Returns its exchanges, and the violation where the rule is broken at the same place again.
    pub(crate) async fn send(
        &self,
        group: &Group,
    ) -> Result<(Vec<Exchange>, Option<Violation>), DeliveryError> {
        let exchanges = self.sender.deliver(group).await?;
        let violation = self.recheck.violation_at(self.key, group, &exchanges);
        // The reproductions of all findings are in memory at the same time, so long bodies are cut.
        let exchanges = exchanges.iter().map(Exchange::with_short_body).collect();
        Ok((exchanges, violation))
    }

    /// Looks for a smaller reproduction within a budget of requests.
    pub(crate) async fn shrink(&self, reproduction: Reproduction, simplify: Simplify, budget: u32) -> Shrunk {
        let mut budget = RequestBudget {
            limit: budget,
            spent: 0,
        };
        let (mut reproduction, member) = self.isolate(reproduction, &mut budget).await;
        let properties = properties(&reproduction.group, self.context);
        let document = reproduction.group.pair.map(Pair::request_document);
        'smaller: loop {
            for base in simplify(document, &reproduction.group.base) {
                let rebuilt = reproduction.group.rebuilt(base, self.context);
                let Some(group) = rebuilt.and_then(|group| only(group, member)) else {
                    continue;
                };
                if group.members == reproduction.group.members
                    || self::properties(&group, self.context) != properties
                {
                    continue;
                }
                if !budget.spend_on(&group) {
                    break 'smaller;
                }
                match self.send(&group).await {
                    Ok((exchanges, Some(violation))) => {
                        reproduction = Reproduction {
                            group,
                            exchanges,
                            violation,
                        };
                        continue 'smaller;
                    }
                    Ok((_, None)) => {}
                    Err(_) => break 'smaller,
                }
            }
            break;
        }
        Shrunk {
            reproduction,
            spent: budget.spent,
        }
    }

    /// Reduces the group to the member that breaks the rule, where the rule judges single exchanges and the member breaks it when sent
    /// alone. Returns the index of that member.
    async fn isolate(
        &self,
        reproduction: Reproduction,
        budget: &mut RequestBudget,
    ) -> (Reproduction, Option<usize>) {
        let one_exchange = !matches!(self.rule.check, Check::Group(..));
        let member = Some(reproduction.violation.member);
        if !one_exchange || reproduction.group.members.len() < 2 {
            return (reproduction, None);
        }
        let Some(group) = only(reproduction.group.clone(), member) else {
            return (reproduction, None);
        };
        if !budget.spend_on(&group) {
            return (reproduction, None);
        }
        match self.send(&group).await {
            Ok((exchanges, Some(violation))) => {
                let alone = Reproduction {
                    group,
                    exchanges,
                    violation,
                };
                (alone, member)
            }
            _ => (reproduction, None),
        }
    }
}

/// How many requests shrinking one finding may send, and how many it has sent.
struct RequestBudget {
    limit: u32,
    spent: u32,
}

impl RequestBudget {
    fn spend_on(&mut self, group: &Group) -> bool {
        let cost = u32::try_from(group.members.len()).unwrap_or(u32::MAX);
        let fits = cost <= self.limit.saturating_sub(self.spent);
        if fits {
            self.spent += cost;
        }
        fits
    }
}

/// The group reduced to the member with this index, or the whole group where no index is given; none when there is no such member.
fn only(mut group: Group, index: Option<usize>) -> Option<Group> {
    if let Some(index) = index {
        let member = group.members.get(index)?.clone();
        group.members = vec![member];
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
