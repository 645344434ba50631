//! The cause of a finding: what decides whether the rule is broken.

use paymaster_exchange::Exchange;
use paymaster_schemas::Pair;

use super::difference::Difference;
use crate::cases::case::Group;

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
    /// In recorded traffic: the members in which the request differs from the nearest one that passed. Nothing was sent, so that some of
    /// them may not matter.
    Recorded {
        /// The members.
        differences: Vec<Difference>,
        /// Whether no recorded request that passed has their values. Members whose values one has are then left out.
        is_only_there: bool,
        /// Where the request that passed stands in the recording: `entry 3`.
        place: String,
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
            Self::Members(differences) | Self::Form(differences) | Self::Recorded { differences, .. } => {
                differences
            }
            _ => &[],
        }
    }

    /// The kind of the cause in reports: `members`, `concurrency`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Members(_) => "members",
            Self::Form(_) => "form",
            Self::Every { .. } => "every-answer",
            Self::Recorded { .. } => "recorded-difference",
            Self::Writing => "writing",
            Self::Headers { .. } => "headers",
            Self::Concurrency => "concurrency",
            Self::Earlier(_) => "earlier-request",
            Self::Chance { .. } => "chance",
        }
    }
}
