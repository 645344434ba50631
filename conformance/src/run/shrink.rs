//! Shrinking: the same violation, seen in a smaller group that still is what it claims to be.

use paymaster_schemas::Pair;
use serde_json::Value;

use crate::run::courier::{Courier, Undelivered};
use paymaster_exchange::Exchange;
use paymaster_judge::{
    cases::case::Group,
    message::request::Kind,
    rules::{Check, Rule},
    session::judge::{self, Judge},
    target::context::{Context, Vouch},
    verdict::finding::{Key, Violation},
};

/// Makes simpler values from a value, the simplest first, all of them valid against the schema document where one is named.
pub type Simpler = fn(Option<&str>, &Value) -> Vec<Value>;

/// A group that shows a violation, and how it was seen.
#[derive(Clone, Debug)]
pub(crate) struct Specimen {
    pub(crate) group: Group,
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) violation: Violation,
}

/// What shrinking and re-sending need to know.
pub(crate) struct Bench<'a> {
    pub(crate) courier: &'a Courier,
    pub(crate) judge: Judge,
    pub(crate) rule: &'static Rule,
    pub(crate) key: &'a Key,
    pub(crate) context: &'a Context,
}

impl Bench<'_> {
    /// Sends a group; the violation with the key of the finding, when it is there.
    pub(crate) async fn see(&self, group: &Group) -> Result<(Vec<Exchange>, Option<Violation>), Undelivered> {
        let exchanges = self.courier.deliver(group).await?;
        let views = judge::read(group, &exchanges, self.context);
        let judgements = self.judge.views(&views, Some(group), self.context);
        let violation = judgements
            .into_iter()
            .flat_map(|judgement| judgement.violations)
            .find(|violation| {
                let pair = views.get(violation.member).and_then(|view| view.request.pair());
                Key::of(self.rule, pair, violation) == *self.key
            });
        // Specimens of all findings are in memory at the same time.
        let exchanges = exchanges.iter().map(Exchange::keepsake).collect();
        Ok((exchanges, violation))
    }

    /// Looks for a smaller specimen within a budget of requests; gives it and what was spent.
    pub(crate) async fn shrink(&self, specimen: Specimen, simpler: Simpler, budget: u32) -> (Specimen, u32) {
        let mut purse = Purse { budget, spent: 0 };
        let (mut specimen, alone) = self.isolate(specimen, &mut purse).await;
        let claims = claims(&specimen.group, self.context);
        let document = specimen.group.pair.map(Pair::request_document);
        'smaller: loop {
            for base in simpler(document, &specimen.group.base) {
                let rebuilt = specimen.group.rebuilt(base, self.context);
                let Some(group) = rebuilt.and_then(|group| only(group, alone)) else {
                    continue;
                };
                if group.members == specimen.group.members || self::claims(&group, self.context) != claims {
                    continue;
                }
                if !purse.pays_for(&group) {
                    break 'smaller;
                }
                match self.see(&group).await {
                    Ok((exchanges, Some(violation))) => {
                        specimen = Specimen {
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
        (specimen, purse.spent)
    }

    /// For a rule that needs one exchange: the member that breaks it, alone, when it breaks it alone too. Gives its place.
    async fn isolate(&self, specimen: Specimen, purse: &mut Purse) -> (Specimen, Option<usize>) {
        let one_exchange = !matches!(self.rule.check, Check::Group(..));
        let place = Some(specimen.violation.member);
        if !one_exchange || specimen.group.members.len() < 2 {
            return (specimen, None);
        }
        let Some(group) = only(specimen.group.clone(), place) else {
            return (specimen, None);
        };
        if !purse.pays_for(&group) {
            return (specimen, None);
        }
        match self.see(&group).await {
            Ok((exchanges, Some(violation))) => {
                let alone = Specimen {
                    group,
                    exchanges,
                    violation,
                };
                (alone, place)
            }
            _ => (specimen, None),
        }
    }
}

/// What shrinking may cost.
struct Purse {
    budget: u32,
    spent: u32,
}

impl Purse {
    fn pays_for(&mut self, group: &Group) -> bool {
        let cost = u32::try_from(group.members.len()).unwrap_or(u32::MAX);
        let pays = cost <= self.budget.saturating_sub(self.spent);
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
type Claims = Vec<(&'static str, Option<Pair>, bool, Option<(bool, Vouch)>)>;

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
