//! The ways to deviate. Each acts at one stage of the path of a message; the stages follow one another in this order.

use serde_json::{Map, Value};

use super::{Asked, Sent};

/// When a deed is done: a function of the request, and of what the deed remembers.
pub(crate) type When = fn(&Asked<'_>) -> bool;

/// One deviation.
#[derive(Clone, Copy)]
pub(crate) struct Deed {
    /// Asked only where the act applies, once for each request.
    pub(crate) when: When,
    pub(crate) act: Act,
}

/// Every time.
pub(crate) fn always(_: &Asked<'_>) -> bool {
    true
}

/// What is done.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// Changes the request before the service sees it. The text stays as it was sent where nothing changes.
    Request(fn(&Asked<'_>, &mut Value)),
    /// Answers with an error what would have had a result.
    Refuse,
    /// Changes one member of a result; `row` is the clause of that row, as `sponsored-result.MODE`.
    Row {
        row: &'static str,
        which: Which,
        damage: Damage,
    },
    /// Changes a result; it is asked only where there is one that is an object.
    Result(fn(&Asked<'_>, &mut Map<String, Value>)),
    /// Changes the error object; it is asked only where there is one.
    Error(fn(&Asked<'_>, &mut Map<String, Value>)),
    /// Changes the answer to one request, alone or in a batch.
    Answer(fn(&Asked<'_>, &mut Map<String, Value>)),
    /// Changes what is said to the whole body, be it an answer, a batch of them or nothing.
    Whole(fn(&Asked<'_>, &mut Option<Value>)),
    /// Exchanges an answer, or a part of it, with that of another request in flight.
    Cross(Part),
    /// Changes the text of the body.
    Text(fn(&Asked<'_>, &mut Vec<u8>)),
    /// Changes the HTTP response.
    Http(fn(&Asked<'_>, &mut Sent)),
    /// Resets the connection in the middle of the response.
    Reset,
}

/// Which fee quotes a change of a fee quote's row is for; all other results are one of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Every one.
    All,
    /// That one of the list, counted from 0.
    Nth(usize),
    /// That of the supported token of that number in the configuration, counted from 0.
    Token(usize),
}

/// What is done to a member.
#[derive(Clone, Copy)]
pub(crate) enum Damage {
    /// It is left out.
    Missing,
    /// It becomes this JSON.
    To(&'static str),
    /// It becomes what this makes of it.
    By(fn(&Value) -> Value),
}

/// What crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole answer, its id included.
    Answer,
    /// The result alone: each answer keeps its id.
    Result,
}
