//! What a load test sends for a specification, and what varies in the answers, as data.

use paymaster_schemas::Kind;
use serde_json::Value;

use crate::cases::Relation;
use crate::knowledge::Knowledge;

/// What a load test needs of a specification.
#[derive(Debug)]
pub struct LoadTest {
    /// Its scenarios, in the order of the help. Their names differ.
    pub scenarios: &'static [Scenario],
    /// The members of answers whose values vary from answer to answer, and which only the row of their table restricts.
    pub varying: &'static [(&'static str, ValueForm)],
    /// The ids of rules that compare times in an answer with the time of the answer. They are left to conformance runs, because an answer
    /// that differs from a judged one in a varying value alone is not judged again.
    pub rules_of_times: &'static [&'static str],
}

/// A kind of request sequence that one user sends.
#[derive(Debug)]
pub struct Scenario {
    /// Its name.
    pub id: &'static str,
    /// What it sends, in one line.
    pub about: &'static str,
    /// Its weight where all scenarios are sent, unless the user names weights.
    pub weight: u32,
    /// The label of each request of a sequence, in order: the rows of reports.
    pub labels: &'static [&'static str],
    /// Its requests.
    pub requests: Requests,
}

impl Scenario {
    /// Calls of one kind. Its one label is its name too.
    pub const fn of_calls(label: &'static [&'static str; 1], about: &'static str, kind: Kind) -> Self {
        Self { id: label[0], about, weight: 2, labels: label, requests: Requests::Call(kind) }
    }
}

/// The requests of a scenario.
#[derive(Debug)]
pub enum Requests {
    /// A call that the target should accept.
    Call(Kind),
    /// Two such calls, of which the second takes a value of the answer to the first.
    Journey(Kind, Kind, Handover),
    /// Single requests of these relations, which the target must refuse.
    Refused(&'static [&'static Relation]),
}

/// What the second call of a journey takes over.
#[derive(Clone, Copy, Debug)]
pub struct Handover {
    /// Writes into the second call what it has of the first one, and [`FROM_ANSWER`] where what it takes of the answer belongs: as a value, or as
    /// the name of a member without a value.
    pub join: fn(&dyn Knowledge, &Value, &mut Value),
    /// The value of an answer that iteration `number` (from 0) takes, or the members of an object; none if the answer has none.
    pub taken: fn(&Value, u64) -> Option<Value>,
}

/// The text in the second call of a journey that a value of the answer replaces.
pub const FROM_ANSWER: &str = "0x7070707070707070707070707070707070707070";

/// The form of a value that varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueForm {
    /// A string: `0x` and one byte or more in hex.
    Bytes,
    /// A string: decimal digits or a hex quantity, without leading zeros and far below 2^256. Or a number: an integer in digits, not 0.
    Amount,
    /// A number: an integer in digits, not 0.
    Integer,
    /// A number: an integer or a decimal fraction in digits.
    Fraction,
}
