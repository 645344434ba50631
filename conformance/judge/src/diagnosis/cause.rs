//! The cause of a finding: what decides whether the rule is broken.

use paymaster_exchange::Exchange;
use paymaster_schemas::Pair;

use super::difference::{Difference, DifferenceKind};
use crate::{cases::case::Group, verdict::finding::without_indices};

/// What decides whether the rule of a finding is broken.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// These members of the request: the rule held for the same request with the passing values.
    Members(Vec<Difference>),
    /// Every request with these members breaks the rule. No request without them shows it, because the rule is about such requests.
    Form(Vec<Difference>),
    /// Every answer that the rule judges, or every such result or error.
    Every {
        /// Of this method and mode; none for all.
        pair: Option<Pair>,
        /// Of which kind.
        answers: WrongAnswers,
    },
    /// How the request is written: the order of its members or white space. The rule held for the same values written otherwise.
    Writing,
    /// The request headers of this published client. The rule held for the same request with the plain headers.
    Headers {
        /// The name of the client.
        client: &'static str,
        /// The lines that decide; empty where only all of them together do.
        lines: Vec<(&'static str, &'static str)>,
    },
    /// Other requests that are in flight. The rule held when the requests were sent one after the other.
    Concurrency,
    /// An earlier request. The rule held when the same request was sent alone.
    Earlier(EarlierRequest),
    /// Chance: the same bytes break the rule in some answers only.
    Chance {
        /// How many answers to the same bytes broke it.
        broken: u32,
        /// How often the bytes were sent.
        sent: u32,
    },
}

/// Which answers are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongAnswers {
    /// Results and errors.
    All,
    /// Results.
    Results,
    /// Errors.
    Errors,
}

/// What the earlier request has in common with the one that breaks the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierRequest {
    /// Everything, apart from the id.
    Same,
    /// The operation.
    SameOperation,
    /// The sender of the operation.
    SameSender,
    /// The id.
    SameId,
    /// Nothing of these.
    Other,
}

/// The nearest requests for which the rule held.
#[derive(Clone, Debug)]
pub struct Contrast {
    /// The requests. They differ from those of the finding in the cause alone.
    pub group: Group,
    /// Their exchanges, in order.
    pub exchanges: Vec<Exchange>,
    /// The request to compare with the one that breaks the rule, by its place in the group.
    pub member: usize,
}

impl Cause {
    /// The members of the request that decide; empty for causes of another kind.
    pub fn members(&self) -> &[Difference] {
        match self {
            Self::Members(differences) | Self::Form(differences) => differences,
            _ => &[],
        }
    }

    /// The kind of the cause in reports: `members`, `concurrency`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Members(_) => "members",
            Self::Form(_) => "form",
            Self::Every { .. } => "every-answer",
            Self::Writing => "writing",
            Self::Headers { .. } => "headers",
            Self::Concurrency => "concurrency",
            Self::Earlier(_) => "earlier-request",
            Self::Chance { .. } => "chance",
        }
    }

    /// Whether two causes are one. The pointers say where in the answers the rules are broken: a cause that names nothing in the
    /// request is the same only for the same part of the answers.
    pub fn is_same(&self, pointer: &str, other: &Self, other_pointer: &str) -> bool {
        let (own, others) = (self.places(), other.places());
        if !own.is_empty() && !others.is_empty() {
            let within = |few: &[(String, DifferenceKind)], many: &[(String, DifferenceKind)]| {
                few.iter().all(|place| many.contains(place))
            };
            return within(&own, &others) || within(&others, &own);
        }
        let same_part = {
            let (one, two) = (without_indices(pointer), without_indices(other_pointer));
            one.starts_with(&two) || two.starts_with(&one)
        };
        match (self, other) {
            (Self::Every { .. }, Self::Every { .. }) | (Self::Chance { .. }, Self::Chance { .. }) => {
                same_part
            }
            (Self::Concurrency, Self::Concurrency) | (Self::Writing, Self::Writing) => true,
            (Self::Earlier(one), Self::Earlier(two)) => one == two,
            (Self::Headers { lines: one, .. }, Self::Headers { lines: two, .. }) => {
                let has_name = |name: &str| two.iter().any(|(other, _)| *other == name);
                one.is_empty() || two.is_empty() || one.iter().any(|(name, _)| has_name(name))
            }
            _ => false,
        }
    }

    fn places(&self) -> Vec<(String, DifferenceKind)> {
        let place = |difference: &Difference| (without_indices(&difference.pointer), difference.kind());
        self.members().iter().map(place).collect()
    }
}
