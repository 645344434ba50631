//! The plan: every group of a run, from seed, context and number of cases alone, whatever the concurrency.

use serde_json::Value;

use crate::{
    case::{Base, Group, Ids, Relation, Rounds, Seed},
    context::Context,
    generate::source::Source,
    relations::RELATIONS,
};

/// How many calls of each pair a default run sends: enough that a fault in one answer of 25 escapes one run in 27,000.
pub const DEFAULT_CASES: u32 = 250;

/// The first id of the plan; discovery uses the ids below.
pub(crate) const FIRST_ID: u64 = 1_000;

/// Every group of a run, in the order in which they are sent.
pub fn plan(context: &Context, seed: u64, cases: u32) -> Vec<Group> {
    plan_of(RELATIONS, context, seed, cases)
}

/// The groups of these relations alone. Each relation draws from a source of its own, so that its cases do not depend on
/// which others are in the plan.
pub fn plan_of(relations: &[&'static Relation], context: &Context, seed: u64, cases: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut next_id = FIRST_ID;
    for &relation in relations {
        let mut source = Source::new(seed ^ salt(relation.id), context);
        for base in relation.bases {
            for twist in 0..rounds(relation.rounds, cases) {
                let Some(request) = source.base(base) else { break };
                if let Some(group) = group(relation, *base, request, twist, next_id, context) {
                    next_id = group.1;
                    groups.push(Group {
                        number: groups.len(),
                        ..group.0
                    });
                }
            }
        }
    }
    groups
}

/// One group and the id after its last.
pub(crate) fn group(
    relation: &'static Relation,
    base: Base,
    request: Value,
    twist: u32,
    first_id: u64,
    context: &Context,
) -> Option<(Group, u64)> {
    let mut ids = Ids::starting_at(first_id);
    let seed = Seed {
        pair: Some(base.pair),
        base: &request,
        twist,
        context,
    };
    let members = (relation.members)(&seed, &mut ids);
    if members.is_empty() {
        return None;
    }
    let pair = Some(base.pair);
    Some((
        Group {
            number: 0,
            relation,
            pair,
            base: request,
            twist,
            first_id,
            members,
        },
        ids.next_id(),
    ))
}

fn rounds(rounds: Rounds, cases: u32) -> u32 {
    match rounds {
        Rounds::Fixed(rounds) => rounds,
        Rounds::Share(percent) => (cases * percent).div_ceil(100).max(1),
    }
}

/// A number that depends on a name alone: FNV-1a.
fn salt(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
