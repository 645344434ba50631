//! The plan of a run.

use paymaster_engine::cases::plan::{FIRST_ID, group, salt};
use paymaster_engine::rules::Bits;

use crate::*;

fn name(group: &Group) -> String {
    format!("{} {:?} {}", group.relation.id, group.pair, group.round)
}

/// The names of all groups by three nested loops: relations, bases and rounds.
fn names(context: &Context, seed: u64, cases: u32) -> Vec<String> {
    let mut names = Vec::new();
    for &relation in RELATIONS {
        let mut source = context.source(seed ^ salt(relation.id));
        for (number, base) in relation.bases.of(context).iter().enumerate() {
            for round in 0..relation.rounds.count(cases) {
                let round = relation.rounds.round_at(round, number, cases);
                let Some(request) = source(base) else { break };
                let group = group(relation, *base, request, round, FIRST_ID, context);
                names.extend(group.map(|(group, _)| name(&group)));
            }
        }
    }
    names.sort();
    names
}

fn rich() -> Context {
    let supported =
        ["a", "b", "c"].map(|digit| Token { address: format!("0x{}", digit.repeat(40)), ..Token::default() });
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
fn a_plan_has_every_group_once_and_depth_comes_last() {
    for (context, seed, cases) in [(rich(), 1, 9), (rich(), 7, 1), (Context::default(), 1, 9)] {
        let scope = Scope::default().with_idle(true);
        let drawn: Vec<Group> = Plan::new(&context, seed, cases).within(&scope).collect();
        let mut names_drawn: Vec<String> = drawn.iter().map(name).collect();
        names_drawn.sort();
        assert_eq!(names_drawn, names(&context, seed, cases));
        assert!(drawn.len() > RELATIONS.len() && drawn.len() <= scope.at_most(cases, &SPECIFICATION));
        assert!(drawn.iter().map(|group| group.number).eq(0..drawn.len()));
        assert!(drawn.is_sorted_by_key(|group| (group.is_depth, group.first_id)));
        let exercised: BTreeSet<&str> =
            drawn.iter().filter(|group| !group.is_depth).map(|group| group.relation.id).collect();
        let all: BTreeSet<&str> = drawn.iter().map(|group| group.relation.id).collect();
        assert_eq!(exercised, all, "every relation has a group before depth");
    }
}

#[test]
fn a_set_has_room_for_every_member_of_a_group() {
    for group in Plan::new(&Context::default(), 1, 40) {
        let mut members = Bits::default();
        (0..group.members.len()).for_each(|member| members.insert(member));
        assert!((0..group.members.len()).all(|member| members.contains(member)), "{}", name(&group));
    }
}

#[test]
fn a_run_keeps_room_for_every_rule() {
    assert!(SPECIFICATION.rules().count() <= Bits::MOST);
}
