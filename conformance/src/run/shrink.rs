//! Shrinking: the same violation, seen in a smaller group that still is what it claims to be.

use paymaster_schemas::Pair;
use serde_json::Value;

use crate::run::courier::{Courier, Undelivered};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::{Group, Role},
    message::request::Kind,
    rules::{Check, Rule},
    session::recheck::Recheck,
    target::context::{Context, Vouch},
    verdict::finding::{Key, Violation},
};

/// Makes simpler values from a value, the simplest first, all of them valid against the schema document where one is named.
pub type Simpler = fn(Option<&str>, &Value) -> Vec<Value>;

/// A group that shows a violation, and how it was seen.
#[derive(Clone, Debug)]
pub(crate) struct Reproduction {
    pub(crate) group: Group,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) violation: Violation,
}

/// Sends groups again, and shrinks them.
pub(crate) struct Shrinker<'a> {
    pub(crate) courier: &'a Courier,
    pub(crate) recheck: Recheck<'a>,
    pub(crate) rule: &'static Rule,
    pub(crate) key: &'a Key,
    pub(crate) context: &'a Context,
}

impl Shrinker<'_> {
    /// Sends a group; the violation at the place of the finding, when it is broken there again.
    pub(crate) async fn see(&self, group: &Group) -> Result<(Vec<Exchange>, Option<Violation>), Undelivered> {
        let exchanges = self.courier.deliver(group).await?;
        let violation = self.recheck.violation_at(self.key, group, &exchanges);
        // Reproductions of all findings are in memory at the same time.
        let exchanges = exchanges.iter().map(Exchange::keepsake).collect();
        Ok((exchanges, violation))
    }

    /// Looks for a smaller reproduction within a budget of requests; gives it and what was spent.
    pub(crate) async fn shrink(
        &self,
        reproduction: Reproduction,
        simpler: Simpler,
        budget: u32,
    ) -> (Reproduction, u32) {
        let mut budget = RequestBudget {
            limit: budget,
            spent: 0,
        };
        let (mut reproduction, alone) = self.isolate(reproduction, &mut budget).await;
        let claims = claims(&reproduction.group, self.context);
        let document = reproduction.group.pair.map(Pair::request_document);
        'smaller: loop {
            for base in simpler(document, &reproduction.group.base) {
                let rebuilt = reproduction.group.rebuilt(base, self.context);
                let Some(group) = rebuilt.and_then(|group| only(group, alone)) else {
                    continue;
                };
                if group.members == reproduction.group.members || self::claims(&group, self.context) != claims
                {
                    continue;
                }
                if !budget.spend_on(&group) {
                    break 'smaller;
                }
                match self.see(&group).await {
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
        (reproduction, budget.spent)
    }

    /// For a rule that needs one exchange: the member that breaks it, alone, when it breaks it alone too. Gives its place.
    async fn isolate(
        &self,
        reproduction: Reproduction,
        budget: &mut RequestBudget,
    ) -> (Reproduction, Option<usize>) {
        let one_exchange = !matches!(self.rule.check, Check::Group(..));
        let place = Some(reproduction.violation.member);
        if !one_exchange || reproduction.group.members.len() < 2 {
            return (reproduction, None);
        }
        let Some(group) = only(reproduction.group.clone(), place) else {
            return (reproduction, None);
        };
        if !budget.spend_on(&group) {
            return (reproduction, None);
        }
        match self.see(&group).await {
            Ok((exchanges, Some(violation))) => {
                let alone = Reproduction {
                    group,
                    exchanges,
                    violation,
                };
                (alone, place)
            }
            _ => (reproduction, None),
        }
    }
}

/// What shrinking may cost.
struct RequestBudget {
    limit: u32,
    spent: u32,
}

impl RequestBudget {
    fn spend_on(&mut self, group: &Group) -> bool {
        let cost = u32::try_from(group.members.len()).unwrap_or(u32::MAX);
        let pays = cost <= self.limit.saturating_sub(self.spent);
        if pays {
            self.spent += cost;
        }
        pays
    }
}

/// The group with only the member at that place, or whole when no place is given; none when there is no such member.
fn only(mut group: Group, place: Option<usize>) -> Option<Group> {
    if let Some(place) = place {
        let member = group.members.get(place)?.clone();
        group.members = vec![member];
    }
    Some(group)
}

/// What a group claims of its requests: a smaller one must claim the same.
type Claims = Vec<(Role, Option<Pair>, bool, Option<(bool, Vouch)>)>;

fn claims(group: &Group, context: &Context) -> Claims {
    group
        .members
        .iter()
        .map(|member| {
            let kind = Kind::of(&member.body);
            let call = match &kind {
                Kind::Call(call) => Some(call),
                _ => None,
            };
            let standing = call.map(|call| context.standing(call));
            (member.role, kind.pair(), kind.valid_call().is_some(), standing)
        })
        .collect()
}
