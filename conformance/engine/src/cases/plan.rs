//! The plan: every group of a run. It depends on seed, context and number of cases only, not on the concurrency.

use serde_json::Value;

use crate::cases::{Base, BuildInput, DISCOVERY, Group, Ids, PARTS, Relation, Scope, client_of_group};
use crate::knowledge::{BaseSource, Knowledge};

/// How many calls of each pair a default run sends. A fault in one answer of 25 is missed in one run of 27,000.
pub const DEFAULT_CASES: u32 = 250;

/// The first id of the plan; discovery uses the ids below.
pub const FIRST_ID: u64 = 1_000;

/// Every group of a run, in the order in which they are sent: every rule is exercised first, then comes depth. A plan of any length takes the
/// memory of one group.
///
/// It is not `Send`, because proptest's strategies are not: create it on the thread that uses it.
pub struct Plan<'a> {
    context: &'a dyn Knowledge,
    seed: u64,
    cases: u32,
    scope: Scope,
    relations: &'a [&'static Relation],
    /// The source of each relation; none before its first group.
    sources: Vec<Option<BaseSource>>,
    /// The part of the plan, see [`Scope::rounds_until`]; then the place of the current relation, base and round.
    part: u32,
    relation: usize,
    base: usize,
    round: Option<u32>,
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
            sources: relations.iter().map(|_| None).collect(),
            part: 0,
            relation: 0,
            base: 0,
            round: None,
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
        self.round = None;
    }
}

impl Iterator for Plan<'_> {
    type Item = Group;

    fn next(&mut self) -> Option<Group> {
        loop {
            let Some(relation) = self.relations.get(self.relation).copied() else {
                if self.part + 1 == PARTS {
                    return None;
                }
                (self.part, self.relation) = (self.part + 1, 0);
                continue;
            };
            let bases = relation.bases.of(self.context);
            let Some(base) = bases.get(self.base) else {
                self.relation += 1;
                self.base = 0;
                continue;
            };
            if self.context.excludes(base.pair) {
                self.next_base();
                continue;
            }
            let until = |part| self.scope.rounds_until(part, relation, base.pair, self.cases);
            let place = self.round.unwrap_or_else(|| self.part.checked_sub(1).map_or(0, until));
            if place == until(self.part) {
                self.next_base();
                continue;
            }
            let source = self.sources[self.relation]
                .get_or_insert_with(|| self.context.source(self.seed ^ salt(relation.id)));
            let Some(request) = source(base) else {
                self.next_base();
                continue;
            };
            let round = relation.rounds.round_at(place, self.base, self.cases);
            let built = group(relation, *base, request, round, self.next_id, self.context);
            self.round = Some(place + 1);
            if let Some((group, next_id)) = built {
                let number = self.number;
                self.number += 1;
                self.next_id = next_id;
                let group = Group { is_depth: self.part > 0, ..group };
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
    let client = client.filter(|client| !context.refused_clients().contains(client.name));
    group.sent_as(client.as_ref())
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
    let seed = BuildInput { pair: base.pair, base: &request, round, context };
    let members = (relation.members)(&seed, &mut ids);
    if members.is_empty() {
        return None;
    }
    let pair = Some(base.pair);
    Some((
        Group { number: 0, relation, pair, base: request, round, is_depth: false, first_id, members },
        ids.next_id(),
    ))
}

/// Groups of discovery with one request each, which is numbered from `next_id` on.
pub fn single_requests(
    requests: impl IntoIterator<Item = (Base, Value)>,
    next_id: &mut u64,
    context: &dyn Knowledge,
) -> Vec<Group> {
    let mut groups = Vec::new();
    for (base, request) in requests {
        if let Some((built, next)) = group(&DISCOVERY, base, request, 0, *next_id, context) {
            *next_id = next;
            groups.push(Group { number: groups.len(), ..built });
        }
    }
    groups
}

/// A number that depends on a name alone: FNV-1a.
pub fn salt(name: &str) -> u64 {
    name.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
