//! The plan: every group of a run. It depends on seed, context and number of cases only, not on the concurrency.

use serde_json::Value;

use crate::{
    cases::{
        case::{Base, BuildInput, Group, Ids, Relation},
        clients::client_of_group,
        scope::Scope,
    },
    knowledge::{BaseSource, Knowledge},
};

/// How many calls of each pair a default run sends. A fault in one answer of 25 is missed in one run of 27,000.
pub const DEFAULT_CASES: u32 = 250;

/// The first id of the plan; discovery uses the ids below.
pub const FIRST_ID: u64 = 1_000;

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
        Self::of(context.specification().relations, context, seed, cases)
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
            let bases = relation.bases.of(self.context.specification());
            let Some(base) = bases.get(self.base) else {
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
pub fn numbered(group: Group, number: usize, seed: u64, context: &dyn Knowledge) -> Group {
    let group = Group { number, ..group };
    if group.members.iter().any(|member| member.sent_as.is_some()) {
        return group;
    }
    let client = client_of_group(seed, number);
    group.sent_as(client.filter(|client| !context.refused_clients().contains(client.name)))
}

/// One group and the id after its last.
pub fn group(
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
pub fn salt(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
