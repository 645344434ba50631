//! The plan of a run.

use paymaster_engine::{
    cases::{
        case::Group,
        plan::{FIRST_ID, group, numbered, plan, salt},
        scope::Scope,
    },
    knowledge::Knowledge,
    rules::Members,
    session::outcomes::MOST_RULES,
};
use paymaster_fee_quote::{
    SPECIFICATION,
    relations::RELATIONS,
    target::{
        context::Context,
        profile::{Accepts, Operations, Profile, Token, TokenLists},
    },
};

/// The same plan as three nested loops: relations, bases and rounds.
fn all_at_once(context: &Context, seed: u64, cases: u32) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut next_id = FIRST_ID;
    for &relation in RELATIONS {
        let mut source = context.source(seed ^ salt(relation.id));
        for (place, base) in relation.bases.of(&SPECIFICATION).iter().enumerate() {
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
fn the_iterator_gives_the_same_plan_as_nested_loops() {
    for (context, seed, cases) in [(rich(), 1, 9), (rich(), 7, 1), (Context::default(), 1, 9)] {
        let expected = all_at_once(&context, seed, cases);
        let drawn = plan(&context, seed, cases);
        assert_eq!(drawn.len(), expected.len());
        assert!(
            drawn.len() > RELATIONS.len() && drawn.len() <= Scope::default().at_most(cases, &SPECIFICATION)
        );
        for (drawn, expected) in drawn.iter().zip(&expected) {
            assert_eq!(drawn.number, expected.number);
            assert_eq!(drawn.name(), expected.name());
            assert_eq!(drawn.first_id, expected.first_id);
            assert_eq!(drawn.base, expected.base);
            assert_eq!(drawn.members, expected.members);
        }
    }
}

#[test]
fn a_set_has_room_for_every_member_of_a_group() {
    for group in plan(&Context::default(), 1, 40) {
        let mut members = Members::default();
        (0..group.members.len()).for_each(|member| members.insert(member));
        assert_eq!(members.iter().count(), group.members.len(), "{}", group.name());
    }
}

#[test]
fn a_run_keeps_room_for_every_rule() {
    assert!(SPECIFICATION.rules().count() <= MOST_RULES);
}
