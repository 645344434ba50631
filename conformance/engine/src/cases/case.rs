//! Cases and the groups they are sent in.
//!
//! A [`Relation`] builds a group from one base request. Shrinking builds the same group from a simpler base request.

use std::{borrow::Cow, sync::Arc};

use paymaster_exchange::{Body, Exchange, HeaderSet, Simulation};
use paymaster_schemas::Kind;
use serde_json::Value;

use crate::cases::DISCOVERY;
use crate::knowledge::Knowledge;

/// How the members of a group are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other: each is sent when the previous one is answered.
    Sequential,
    /// All at the same time.
    Concurrent,
}

/// Which operation a base request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// One that gets a result according to the profile; any well-formed one when the profile does not state which.
    Accepted,
    /// One that gets a result according to the profile, and a listed sponsorable one when the profile promises sponsorship for listed
    /// operations only.
    Sponsored,
    /// One that is not sponsored according to the profile. There is no base request when the profile lists none.
    Refused,
}

/// What base request a relation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The kind of the call.
    pub pair: Kind,
    /// Which operation.
    pub draw: Draw,
    /// Which of the specification's own choices, by its number; 0 for ordinary ones.
    pub choice: u8,
}

impl Base {
    /// A base with an operation that should be accepted.
    pub const fn accepted(pair: Kind) -> Self {
        Self { pair, draw: Draw::Accepted, choice: 0 }
    }
}

/// The base requests that a relation is built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bases {
    /// One of each kind, with an operation that should be accepted.
    EveryKind,
    /// Those for relations about whole bodies: the first two of the specification that the target serves.
    Plain,
    /// These; without any, the relation has no base.
    These(&'static [Base]),
}

/// How many base requests relations about whole bodies have.
const PLAIN_BASES: usize = 2;

impl Bases {
    /// No base.
    pub const NONE: Self = Self::These(&[]);

    /// The bases for a target.
    pub fn of(self, knowledge: &dyn Knowledge) -> Cow<'static, [Base]> {
        let specification = knowledge.specification();
        match self {
            Self::EveryKind => specification.kinds.iter().copied().map(Base::accepted).collect(),
            Self::Plain => {
                let served = |base: &&Base| !knowledge.excludes(base.pair);
                specification.plain_bases.iter().filter(served).take(PLAIN_BASES).copied().collect()
            }
            Self::These(bases) => bases.into(),
        }
    }
}

/// The part of a request in its group. Rules and observers select requests by it. Reports and replay files have its name, such as
/// `same decision`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum Role {
    /// The request that the others of the group are compared with.
    Baseline,
    /// The baseline with one change.
    Variant,
    /// The operation and sponsorshipInfo of the baseline: the target must decide as for the baseline.
    #[strum(serialize = "same decision")]
    SameDecision,
    /// A different request, sent between two that are compared.
    Other,
    /// The baseline, sent again.
    Again,
    /// A request that is judged alone.
    Call,
    /// A call that is also an element of the batch of the group.
    Alone,
    /// A batch.
    Batch,
    /// A request that breaks its schema, or a body that is no request.
    Malformed,
    /// A request whose answer the specification leaves open.
    Probe,
    /// A request of discovery.
    Discovery,
    /// A request of recorded traffic.
    Recorded,
}

/// One request of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its part in the group.
    pub role: Role,
    /// What is different about it, for people: `id ""`, `without callGasLimit`.
    pub label: String,
    /// The body to send, byte for byte.
    pub body: Body,
    /// The published HTTP client whose request headers are sent; none for the plain headers.
    pub sent_as: Option<Arc<HeaderSet>>,
}

impl Member {
    /// A member that is sent with the plain headers.
    pub fn plain(role: Role, label: impl Into<String>, body: impl Into<Body>) -> Self {
        Self { role, label: label.into(), body: body.into(), sent_as: None }
    }

    /// The member as this client sends it; with plain headers for none.
    #[must_use]
    pub fn sent_as(mut self, client: Option<Arc<HeaderSet>>) -> Self {
        if client.as_ref().is_some_and(|client| client.spaces_json) {
            self.body = spaced(&self.body).into();
        }
        Self { sent_as: client, ..self }
    }
}

/// JSON with a space behind each colon and comma that is in no text.
fn spaced(json: &[u8]) -> Vec<u8> {
    let (mut is_in_text, mut is_escaped) = (false, false);
    let with_space = json.iter().flat_map(|byte| {
        let ends_part = !is_in_text && matches!(byte, b':' | b',');
        is_in_text ^= *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        [*byte].into_iter().chain(ends_part.then_some(b' '))
    });
    with_space.collect()
}

/// Builds the members of a group: a pure function, so that the same input and ids give the same bytes. Empty when the relation cannot be
/// built from this base.
pub type BuildMembers = fn(&BuildInput<'_>, &mut Ids) -> Vec<Member>;

/// A way of building related requests from a base request.
#[derive(Debug)]
#[must_use]
pub struct Relation {
    /// Its name.
    pub id: &'static str,
    /// Its requests, in one line.
    pub about: &'static str,
    /// The base requests that it is built from.
    pub bases: Bases,
    /// How many groups for each base in a default run.
    pub rounds: Rounds,
    /// How many groups for each base come first in the plan, before the depth of any relation: they exercise every rule.
    pub first_rounds: u32,
    /// How the members are sent.
    pub order: Order,
    /// Whether its members differ in their request headers alone.
    pub varies_headers: bool,
    /// What a node is asked about an answer, in a run with a chain.
    pub simulation: Option<SimulationOf>,
    /// Builds the members.
    pub members: BuildMembers,
}

impl Relation {
    /// The relation, with what a node is asked about each answer.
    pub const fn simulated(self, simulation: SimulationOf) -> Self {
        Self { simulation: Some(simulation), ..self }
    }

    /// The relation, whose members are sent at the same time.
    pub const fn concurrent(self) -> Self {
        Self { order: Order::Concurrent, ..self }
    }

    /// A relation with its name and what its requests are; [`Relation::of`] gives it its requests.
    pub const fn new(id: &'static str, about: &'static str) -> Self {
        Self {
            id,
            about,
            bases: Bases::Plain,
            rounds: Rounds::Fixed(0),
            first_rounds: 0,
            order: Order::Sequential,
            varies_headers: false,
            simulation: None,
            members: |_, _| Vec::new(),
        }
    }

    /// The relation of these requests, sent one after the other. One round of it comes first, or two where few base requests are built.
    pub const fn of(self, bases: Bases, rounds: Rounds, members: BuildMembers) -> Self {
        let first_rounds = match bases {
            Bases::These([] | [_] | [_, _]) | Bases::Plain => 2,
            Bases::EveryKind | Bases::These(_) => 1,
        };
        Self { bases, rounds, first_rounds, members, ..self }
    }

    /// The relation with so many rounds first, because its later rounds exercise other rules.
    pub const fn first(self, first_rounds: u32) -> Self {
        Self { first_rounds, ..self }
    }
}

/// How often a relation is built for each of its bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// A fixed number, independent of `--cases`.
    Fixed(u32),
    /// This share of `--cases`, in percent.
    Share(u32),
    /// `least` up to [`SHORT_TO`] cases, `most` from [`WHOLE_FROM`] cases on, and in proportion between. With fewer than `most`, the bases
    /// of a relation have different rounds, so that each variant is still sent with some of them.
    Scaled {
        /// How many in a long run.
        most: u32,
        /// How many in a short run.
        least: u32,
    },
}

/// Up to this number of cases, relations with fewer rounds in a short run have the least.
pub const SHORT_TO: u32 = 20;

/// From this number of cases on, every relation has all of its rounds.
pub const WHOLE_FROM: u32 = 40;

impl Rounds {
    /// So many rounds, and half of them in a short run.
    pub const fn scaled(most: u32) -> Self {
        Self::Scaled { most, least: most.div_ceil(2) }
    }

    /// One round for each entry of a table, and half of them in a short run.
    #[expect(clippy::cast_possible_truncation, reason = "a table has a few entries")]
    pub const fn for_each<T>(table: &[T]) -> Self {
        Self::scaled(table.len() as u32)
    }

    /// How many there are in a run with so many cases.
    pub fn count(self, cases: u32) -> u32 {
        match self {
            Self::Fixed(rounds) => rounds,
            Self::Share(percent) => {
                let share = (u64::from(cases) * u64::from(percent)).div_ceil(100).max(1);
                u32::try_from(share).unwrap_or(u32::MAX)
            }
            Self::Scaled { most, least } => {
                let above = cases.clamp(SHORT_TO, WHOLE_FROM) - SHORT_TO;
                least + (most - least) * above / (WHOLE_FROM - SHORT_TO)
            }
        }
    }

    /// The number of the round at this place among those of a base.
    pub fn round_at(self, place: u32, base: usize, cases: u32) -> u32 {
        match self {
            Self::Scaled { most, .. } => {
                let before = u32::try_from(base).unwrap_or_default() * self.count(cases);
                (before + place) % most.max(1)
            }
            Self::Fixed(_) | Self::Share(_) => place,
        }
    }
}

/// What a group is built from.
#[derive(Clone, Copy, Debug)]
pub struct BuildInput<'a> {
    /// The pair of the base request.
    pub pair: Kind,
    /// The base request (a whole envelope).
    pub base: &'a Value,
    /// The round: it selects one of the variants of a relation.
    pub round: u32,
    /// What is known of the target.
    pub context: &'a dyn Knowledge,
}

/// Hands out request ids: ordinary ones are JSON integers, distinct within a run.
#[derive(Clone, Copy, Debug)]
pub struct Ids(u64);

impl Ids {
    /// Ids from `first` on.
    pub const fn starting_at(first: u64) -> Self {
        Self(first)
    }

    /// The next id.
    pub fn next_id(&mut self) -> u64 {
        let id = self.0;
        self.0 += 1;
        id
    }
}

/// Related requests, ready to be sent.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its place in the plan, from 0.
    pub number: usize,
    /// How it was built.
    pub relation: &'static Relation,
    /// Method and mode of the base; none for recorded requests.
    pub pair: Option<Kind>,
    /// The base it was built from.
    pub base: Value,
    /// The round.
    pub round: u32,
    /// Whether it adds depth: every rule is exercised without it.
    pub is_depth: bool,
    /// Where its ids start.
    pub first_id: u64,
    /// The requests.
    pub members: Vec<Member>,
}

impl Group {
    /// Whether it is part of the plan, and not of discovery before it.
    pub fn is_planned(&self) -> bool {
        !std::ptr::eq(self.relation, &raw const DISCOVERY)
    }

    /// The request at this place, without the others of the group.
    #[must_use]
    pub fn alone(&self, place: usize) -> Self {
        Self { members: vec![self.members[place].clone()], ..self.clone() }
    }

    /// Its place among the groups of a run: discovery comes last, so that a finding shows a request of the plan if there is one.
    pub fn place(&self) -> (bool, usize) {
        (!self.is_planned(), self.number)
    }

    /// The group with these request headers in place of the plain ones.
    #[must_use]
    pub fn sent_as(self, headers: Option<&Arc<HeaderSet>>) -> Self {
        let members = self.members.into_iter().map(|member| member.sent_as(headers.cloned()));
        Self { members: members.collect(), ..self }
    }

    /// The group that its relation builds from another base, with the request headers that it has; none when the relation cannot be built from it.
    pub fn rebuilt(&self, base: Value, context: &dyn Knowledge) -> Option<Self> {
        let seed = BuildInput { pair: self.pair?, base: &base, round: self.round, context };
        let members = (self.relation.members)(&seed, &mut Ids::starting_at(self.first_id));
        let sent_as = self.members.first().and_then(|member| member.sent_as.clone());
        // A relation about headers has written the bodies of its clients already.
        let as_before =
            |member: Member| if member.sent_as.is_none() { member.sent_as(sent_as.clone()) } else { member };
        let members: Vec<Member> = members.into_iter().map(as_before).collect();
        (!members.is_empty()).then_some(Self { base, members, ..self.clone() })
    }
}

// What a node of a chain is asked about an answer, by a specification.

/// The requests to a node that simulate what an exchange returned; none where it returned nothing to simulate.
pub type SimulationOf = fn(&Exchange, &NodeFacts) -> Option<Box<dyn Simulate>>;

/// What is known of a node before it is asked to simulate.
#[derive(Clone, Debug)]
pub struct NodeFacts {
    /// Its chain.
    pub chain: u64,
    /// The address of the contract that takes operations, where the user gives one.
    pub entry_point: Option<String>,
    /// The address of a bundler of the target, where the profile names one.
    pub bundler: Option<String>,
}

/// Requests to a node, one after the other: any sender can drive them.
pub trait Simulate: Send {
    /// Takes the body of the node's answer (none at first) and returns what is asked next, or what is known in the end.
    fn next(&mut self, answer: Option<&[u8]>) -> NodeStep;
}

/// The next step of a simulation.
#[derive(Debug)]
pub enum NodeStep {
    /// A call of this method with these params.
    Ask(&'static str, Value),
    /// The outcome.
    Known(Simulation),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_stand_outside_of_texts() {
        let json = r#"{"a":[1,"b:\",c"],"d\\":{"e":2}}"#;
        let spaces = String::from_utf8(spaced(json.as_bytes())).unwrap();
        assert_eq!(spaces, r#"{"a": [1, "b:\",c"], "d\\": {"e": 2}}"#);
    }

    #[test]
    fn names_of_roles_read_back() {
        for (role, name) in [(Role::Baseline, "baseline"), (Role::SameDecision, "same decision")] {
            assert_eq!((role.into_str(), name.parse()), (name, Ok(role)));
        }
        assert!("Baseline".parse::<Role>().is_err());
    }

    #[test]
    fn a_short_run_has_a_part_of_the_rounds_and_every_variant_with_some_base() {
        let rounds = Rounds::scaled(9);
        assert_eq!([1, 20, 30, 39, 40, 250].map(|cases| rounds.count(cases)), [5, 5, 7, 8, 9, 9]);
        let of_base = |base, cases| -> Vec<u32> {
            (0..rounds.count(cases)).map(|place| rounds.round_at(place, base, cases)).collect()
        };
        assert_eq!(of_base(0, 20), [0, 1, 2, 3, 4]);
        assert_eq!(of_base(1, 20), [5, 6, 7, 8, 0]);
        assert_eq!(of_base(3, 250), (0..9).collect::<Vec<_>>());
        assert_eq!(Rounds::Fixed(3).round_at(2, 5, 20), 2);
        assert_eq!(Rounds::Share(50).count(5), 3);
    }
}
