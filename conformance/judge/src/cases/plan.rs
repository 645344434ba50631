//! The plan: every group of a run. It depends on seed, context and number of cases only, not on the concurrency.

use serde_json::Value;

use crate::{
    cases::{
        case::{Base, BuildInput, Group, Ids, Relation},
        clients::client_of_group,
        relations::RELATIONS,
        scope::Scope,
    },
    knowledge::{BaseSource, Knowledge},
};

/// How many calls of each pair a default run sends. A fault in one answer of 25 is missed in one run of 27,000.
pub const DEFAULT_CASES: u32 = 250;

/// The first id of the plan; discovery uses the ids below.
pub(crate) const FIRST_ID: u64 = 1_000;

/// Every group of a run, in the order in which they are sent.
pub fn plan(context: &dyn Knowledge, seed: u64, cases: u32) -> Vec<Group> {
    Plan::new(context, seed, cases).collect()
}

/// The groups of a run, as an iterator: a plan of any length takes the memory of one group.
///
/// It is not `Send`, because proptest's strategies are not: create it on the thread that uses it.
pub struct Plan<'a> {
    context: &'a dyn Knowledge,
    seed: u64,
    cases: u32,
    scope: Scope,
    /// The relations that are not finished, the current one first.
    relations: &'a [&'static Relation],
    /// The source of the current relation; none before its first group.
    source: Option<BaseSource>,
    base: usize,
    round: u32,
    number: usize,
    next_id: u64,
}

impl<'a> Plan<'a> {
    /// The whole plan.
    pub fn new(context: &'a dyn Knowledge, seed: u64, cases: u32) -> Self {
        Self::of(RELATIONS, context, seed, cases)
    }

    /// The groups of these relations alone. Each relation draws from a source of its own, so that its cases do not depend on
    /// which others are in the plan.
    pub fn of(relations: &'a [&'static Relation], context: &'a dyn Knowledge, seed: u64, cases: u32) -> Self {
        Self {
            context,
            seed,
            cases,
            scope: Scope::default(),
            relations,
            source: None,
            base: 0,
            round: 0,
            number: 0,
            next_id: FIRST_ID,
        }
    }

    /// The part of the plan that a scope includes. Its groups are numbered from 0.
    #[must_use]
    pub fn within(self, scope: &Scope) -> Self {
        Self { scope: scope.clone(), ..self }
    }

    fn next_base(&mut self) {
        self.base += 1;
        self.round = 0;
    }
}

impl Iterator for Plan<'_> {
    type Item = Group;

    fn next(&mut self) -> Option<Group> {
        loop {
            let relation = *self.relations.first()?;
            let Some(base) = relation.bases.get(self.base) else {
                self.relations = &self.relations[1..];
                self.source = None;
                self.base = 0;
                continue;
            };
            if self.round == self.scope.rounds(relation, base.pair, self.cases) {
                self.next_base();
                continue;
            }
            let source =
                self.source.get_or_insert_with(|| self.context.source(self.seed ^ salt(relation.id)));
            let Some(request) = source(base) else {
                self.next_base();
                continue;
            };
            let round = relation.rounds.round_at(self.round, self.base, self.cases);
            let built = group(relation, *base, request, round, self.next_id, self.context);
            self.round += 1;
            if let Some((group, next_id)) = built {
                let number = self.number;
                self.number += 1;
                self.next_id = next_id;
                return Some(numbered(group, number, self.seed, self.context));
            }
        }
    }
}

/// The group at this place of the plan, with the request headers of the client that is sent there, unless the target refuses these. A
/// group of the relation about headers has headers of its own.
fn numbered(group: Group, number: usize, seed: u64, context: &dyn Knowledge) -> Group {
    let group = Group { number, ..group };
    if group.members.iter().any(|member| member.sent_as.is_some()) {
        return group;
    }
    let client = client_of_group(seed, number);
    group.sent_as(client.filter(|client| !context.refused_clients().contains(client.name)))
}

/// One group and the id after its last.
pub(crate) fn group(
    relation: &'static Relation,
    base: Base,
    request: Value,
    round: u32,
    first_id: u64,
    context: &dyn Knowledge,
) -> Option<(Group, u64)> {
    let mut ids = Ids::starting_at(first_id);
    let seed = BuildInput { pair: Some(base.pair), base: &request, round, context };
    let members = (relation.members)(&seed, &mut ids);
    if members.is_empty() {
        return None;
    }
    let pair = Some(base.pair);
    Some((Group { number: 0, relation, pair, base: request, round, first_id, members }, ids.next_id()))
}

/// A number that depends on a name alone: FNV-1a.
fn salt(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::context::Context;
    use crate::target::profile::{Accepts, Operations, Profile, Token, TokenLists};

    /// The same plan as three nested loops: relations, bases and rounds.
    fn all_at_once(context: &Context, seed: u64, cases: u32) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut next_id = FIRST_ID;
        for &relation in RELATIONS {
            let mut source = context.source(seed ^ salt(relation.id));
            for (place, base) in relation.bases.iter().enumerate() {
                for round in 0..relation.rounds.count(cases) {
                    let round = relation.rounds.round_at(round, place, cases);
                    let Some(request) = source(base) else { break };
                    if let Some((group, id)) = group(relation, *base, request, round, next_id, context) {
                        next_id = id;
                        let number = groups.len();
                        groups.push(numbered(group, number, seed, context));
                    }
                }
            }
        }
        groups
    }

    fn rich() -> Context {
        let supported = ["a", "b", "c"]
            .map(|digit| Token { address: format!("0x{}", digit.repeat(40)), ..Token::default() });
        Context::new(Profile {
            tokens: TokenLists {
                supported: supported.into(),
                unsupported: vec![format!("0x{}", "e".repeat(40))],
                complete: false,
            },
            operations: Operations {
                accepts: Accepts::Any,
                refused_senders: vec![format!("0x{}", "d".repeat(40))],
                ..Operations::default()
            },
            ..Profile::default()
        })
    }

    #[test]
    fn the_iterator_gives_the_same_plan_as_nested_loops() {
        for (context, seed, cases) in [(rich(), 1, 9), (rich(), 7, 1), (Context::default(), 1, 9)] {
            let expected = all_at_once(&context, seed, cases);
            let drawn = plan(&context, seed, cases);
            assert_eq!(drawn.len(), expected.len());
            assert!(drawn.len() > RELATIONS.len() && drawn.len() <= Scope::default().at_most(cases));
            for (drawn, expected) in drawn.iter().zip(&expected) {
                assert_eq!(drawn.number, expected.number);
                assert_eq!(drawn.name(), expected.name());
                assert_eq!(drawn.first_id, expected.first_id);
                assert_eq!(drawn.base, expected.base);
                assert_eq!(drawn.members, expected.members);
            }
        }
    }
}
