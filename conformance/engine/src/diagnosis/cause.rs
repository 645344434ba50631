//! The cause of a finding: what decides whether the rule is broken.

use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;
use serde_json::Value;

use super::difference::Difference;
use crate::cases::Group;
use crate::json::with_indices;
use crate::knowledge::Knowledge;
use crate::message::{Answer, ParsedRequest};
use crate::specification::{Counted, Places};

/// What decides whether the rule of a finding is broken. Reports have the name of its kind, such as `members`.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Cause {
    /// These members of the request: the rule held for the same request with the passing values.
    Members(Vec<Difference>),
    /// Every request with these members breaks the rule. No request without them shows it, because the rule is about such requests.
    Form(Vec<Difference>),
    /// Every answer that the rule judges, or every such result or error.
    #[strum(serialize = "every-answer")]
    Every {
        /// Of this method and mode; none for all.
        pair: Option<Kind>,
        /// Of which kind.
        answers: WrongAnswers,
    },
    /// In recorded traffic: the members in which the request differs from the nearest one that passed. Nothing was sent, so that some of
    /// them may not matter.
    #[strum(serialize = "recorded-difference")]
    Recorded {
        /// The members.
        differences: Vec<Difference>,
        /// Whether no recorded request that passed has their values. Members whose values one has are then left out.
        is_only_there: bool,
        /// Where the request that passed stands in the recording: `entry 3`.
        place: String,
    },
    /// How the request is written. The rule held for the same values written otherwise.
    Writing(Writing),
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
    #[strum(serialize = "earlier-request")]
    Earlier(EarlierRequest),
    /// That no earlier request of this method had the same member. The rule held when one had.
    #[strum(serialize = "missing-request")]
    Missing {
        /// The method of the earlier request.
        method: &'static str,
        /// The member, as a JSON pointer, by the names of the specification.
        member: (&'static str, Places),
    },
    /// A budget that was spent: requests of this kind for which the rule held in the run break it now.
    #[strum(serialize = "spent-budget")]
    Spent {
        /// How many requests of this kind the rule held for.
        served: usize,
    },
    /// How many tokens, or bytes, the request has: in the run, every request with such a number breaks the rule, and no other one does.
    Amount(Amount),
    /// Chance: the same bytes break the rule in some answers only.
    Chance {
        /// How many answers to the same bytes broke it.
        broken: u32,
        /// How often the bytes were sent.
        sent: u32,
    },
}

/// A number of tokens, bytes or the like that tells the requests that break a rule from those for which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// What they have.
    pub counted: Counted,
    /// How many.
    pub bounds: Bounds,
    /// How many requests of the run have such a number, and break the rule.
    pub broken: usize,
    /// How many have another one, and for which the rule held.
    pub held: usize,
}

/// The numbers that decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// This one alone.
    Exactly(usize),
    /// This one and those above.
    AtLeast(usize),
    /// This one and those below.
    AtMost(usize),
}

/// On what a finding depends according to its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// On members of the request.
    Members,
    /// On other requests: earlier ones, or those in flight.
    OtherRequests,
    /// On neither: on the kind of the answer, on the way in which the request is sent, or on chance.
    Answers,
}

/// What of the way in which a request is written decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// The order of its members.
    Order,
    /// White space between its tokens.
    WhiteSpace,
    /// Escapes in its texts or in the names of its members.
    Escapes,
    /// White space or escapes: the rule holds only without both.
    WhiteSpaceAndEscapes,
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
    /// Those to requests that must get a result, whatever they are.
    ToOwedRequests,
}

/// What the earlier request has in common with the one that breaks the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierRequest {
    /// Everything, apart from the id.
    Same,
    /// This member, as a JSON pointer, by the names of the specification.
    Member(&'static str, Places),
    /// The party, and the amount that it sends once.
    OnceOfParty(Places),
    /// Everything but the amount that is sent once. Other requests of the party do not show it.
    WithOtherOnce(Places),
    /// The member, where so many earlier requests have it.
    Repeated(usize, &'static str, Places),
    /// Nothing that is known.
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

    /// What the cause states of a request of the same kind: true that it breaks the rule, false that it does not. None where it states
    /// nothing of this request.
    pub fn states(&self, request: &Value) -> Option<bool> {
        let (Self::Members(differences) | Self::Form(differences)) = self else { return None };
        let mut sides = differences.iter().map(|difference| difference.side(request));
        // Each difference is needed: one passing value is enough for the rule to hold.
        if sides.clone().any(|side| side == Some(false)) {
            return Some(false);
        }
        sides.all(|side| side == Some(true)).then_some(true)
    }

    /// Whether it is that the operation is one that the profile lists as refused.
    pub fn is_of_the_refused(&self) -> bool {
        matches!(self, Self::Amount(Amount { counted: Counted::REFUSED, .. }))
    }

    /// On what the finding depends.
    pub fn kind(&self) -> CauseKind {
        match self {
            Self::Members(_) | Self::Form(_) | Self::Recorded { .. } => CauseKind::Members,
            Self::Amount(amount) if !amount.counted.pointer.is_empty() => CauseKind::Members,
            Self::Concurrency | Self::Earlier(_) | Self::Missing { .. } | Self::Spent { .. } => {
                CauseKind::OtherRequests
            }
            Self::Every { .. }
            | Self::Writing(_)
            | Self::Headers { .. }
            | Self::Amount(_)
            | Self::Chance { .. } => CauseKind::Answers,
        }
    }
}

/// Whether a violation at this place is that there is an answer of this kind at all: an error in place of a result, a result in place of
/// an error, or no JSON-RPC answer.
pub fn is_about_the_kind(pointer: &str, wrong: &Exchange) -> bool {
    let answer = Answer::of(wrong);
    // A result beside an error is wrong in itself.
    let has_both = || {
        let document = answer.document();
        document
            .is_some_and(|document| ["result", "error"].iter().all(|name| document.value.get(name).is_some()))
    };
    matches!(pointer, "" | "/error" | "/result") && !has_both() || !has_parent(&answer, pointer)
}

/// Whether an answer that does not break a rule is right in the respect in which another one is wrong: it is of the same kind, and has
/// the object or list in which the rule is broken. An error is not right in a member of a result, nor is a value by which the target declines
/// what it need not decline.
pub fn is_right_in_the_same_respect(
    pointer: &str,
    wrong: &Exchange,
    right: &Exchange,
    knowledge: &dyn Knowledge,
) -> bool {
    if is_about_the_kind(pointer, wrong) {
        return true;
    }
    let specification = knowledge.specification();
    let must_decline = || match ParsedRequest::of(&wrong.request, specification) {
        ParsedRequest::Call(call) => knowledge.requirement(&call).expectation.forbids_grant(),
        _ => false,
    };
    let (wrong_answer, right) = (Answer::of(wrong), Answer::of(right));
    let declines = || {
        let place = pointer.strip_prefix("/result")?;
        let mut result = wrong_answer.result().filter(|result| (specification.grants)(result))?.clone();
        result.pointer_mut(place)?.clone_from(right.result()?.pointer(place)?);
        Some(!(specification.grants)(&result))
    };
    let kind = |answer: &Answer<'_>| (answer.result().is_some(), answer.error().is_some());
    kind(&wrong_answer) == kind(&right)
        && has_parent(&right, pointer)
        && (declines() != Some(true) || must_decline())
}

/// Whether an answer has the object or list around a place. Of lists, the first element is looked at.
fn has_parent(answer: &Answer<'_>, pointer: &str) -> bool {
    let (parent, _) = pointer.rsplit_once('/').unwrap_or_default();
    let document = answer.document();
    document.is_some_and(|document| document.value.pointer(&with_indices(parent, "0")).is_some())
}
