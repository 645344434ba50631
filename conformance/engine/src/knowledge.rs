//! What is known of a target, as the engine sees it: what a specification, its profile and discovery say of requests.

use std::{any::Any, collections::BTreeSet, fmt, sync::Arc};

use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cases::{Base, Group};
use crate::message::Call;
use crate::rules::{MissingLine, View};
use crate::session::Access;
use crate::specification::Specification;
use crate::spending::SpendingLimits;

/// Which operations a target accepts, by its profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accepts {
    /// Nothing is known of operations that are not listed: a well-formed one may get a result or an error.
    #[default]
    Unknown,
    /// Any well-formed operation gets a result, but for those listed as refused.
    Any,
    /// Only the listed ones get a result: the target simulates operations on a chain, or has a strict policy.
    Listed,
}

/// Draws base requests: none where nothing known of the target makes such a request.
pub type BaseSource = Box<dyn FnMut(&Base) -> Option<Value>>;

/// What is known of a target when a case is built or an answer is judged. Each specification has a type of its own, which its rules and
/// relations get back from this one.
pub trait Knowledge: Any + fmt::Debug + Send + Sync {
    /// The specification that the target is judged by.
    fn specification(&self) -> &'static Specification;

    /// What the specification and the profile require for a call.
    fn requirement(&self, call: &Call) -> Requirement;

    /// Whether the profile says that the target does not sponsor what a request asks for, whether the request is valid or not.
    fn lists_as_refused(&self, request: &Value) -> bool;

    /// Draws base requests by a seed.
    fn source(&self, seed: u64) -> BaseSource;

    /// The published clients whose request headers the target refuses, by name: the same request in plain headers was answered otherwise.
    fn refused_clients(&self) -> &BTreeSet<&'static str>;

    /// Whether the target may serve calls of this kind, as far as the profile says.
    fn may_serve(&self, kind: Kind) -> bool;

    /// Whether the profile says that the target does not serve calls of this kind: none is sent, and rules about them do not apply.
    fn excludes(&self, kind: Kind) -> bool;

    /// Whether operations may be varied, in a load test, by bytes at [`Places::bytes`](crate::specification::Places::bytes). They may not
    /// where the target accepts listed operations only.
    fn may_vary_operations(&self) -> bool;

    /// Whether what a line of the profile says is known, from the profile or otherwise.
    fn knows(&self, line: &MissingLine) -> bool;

    /// The address of a bundler that may send the operations that the target pays for, where the profile names one.
    fn bundler(&self) -> Option<String> {
        None
    }

    /// The value of `jsonrpc` in the requests that the target serves.
    #[expect(clippy::unnecessary_literal_bound, reason = "a specification may have more versions than one")]
    fn jsonrpc_version(&self) -> &str {
        "2.0"
    }

    /// Whether the profile says how large calls are that the target takes.
    fn states_sizes(&self) -> bool {
        false
    }

    /// What the target uses of what the specification leaves open, for reports: names and values.
    fn dialect(&self) -> Map<String, Value>;

    /// Says of each line of the profile that an answer is about whether the target kept it: its list, as `tokens.supported`, its place in
    /// that list, and whether it was kept.
    fn kept_lines(&self, view: &View<'_>, note: &mut dyn FnMut(&'static str, usize, bool));

    /// What an entry of the profile states, as `tokens.supported` and its place in that list; none where there is no such entry.
    fn stated(&self, list: &str, place: usize) -> Option<Statement>;

    /// This knowledge for a run with or without a chain on which answers are simulated.
    fn with_chain(&self, on_chain: bool) -> Arc<dyn Knowledge>;

    /// This knowledge with what another profile pins of what the specification leaves open.
    fn with_pins_of(&self, other: &dyn Knowledge) -> Arc<dyn Knowledge>;

    /// What a run may ask the target to pay for, as far as the profile says.
    fn spending_limits(&self) -> SpendingLimits;

    /// This knowledge with these limits: a run within limits draws operations that cost little.
    fn with_spending_limits(&self, limits: SpendingLimits) -> Arc<dyn Knowledge>;

    /// What discovery probably ends with, for the estimates before it.
    fn expected(&self) -> Arc<dyn Knowledge>;

    /// This knowledge with the published clients whose request headers the target refuses.
    fn with_refused_clients(&self, refused: BTreeSet<&'static str>) -> Arc<dyn Knowledge>;

    /// The requests that find out what the profile does not state.
    fn discovery(&self, seed: u64) -> Box<dyn Discover>;

    /// Learns more from exchanges that were not planned.
    fn learner(&self) -> Box<dyn Learn>;

    /// All of it as JSON, for [`Specification::restore`].
    fn saved(&self) -> Value;

    /// Whether another specification's knowledge, or this one's, says the same.
    fn is_same(&self, other: &dyn Knowledge) -> bool;
}

/// The methods of [`Knowledge`] that a type with the fields `profile`, `refused_clients` and `on_chain` has alike in each specification, with the
/// `SPECIFICATION`, `Source` and `Discovery` of where it stands.
#[macro_export]
macro_rules! knowledge_of_fields {
    () => {
        fn specification(&self) -> &'static $crate::specification::Specification {
            &SPECIFICATION
        }

        fn source(&self, seed: u64) -> $crate::knowledge::BaseSource {
            let mut source = Source::new(seed, self);
            Box::new(move |wanted| source.base(wanted))
        }

        fn refused_clients(&self) -> &::std::collections::BTreeSet<&'static str> {
            &self.refused_clients
        }

        fn may_vary_operations(&self) -> bool {
            use $crate::knowledge::Accepts;
            let operations = &self.profile.operations;
            operations.accepts == Accepts::Any
                || operations.accepts == Accepts::Unknown && operations.sponsorable.is_empty()
        }

        fn with_chain(&self, on_chain: bool) -> ::std::sync::Arc<dyn $crate::knowledge::Knowledge> {
            ::std::sync::Arc::new(Self { on_chain, ..self.clone() })
        }

        fn spending_limits(&self) -> $crate::spending::SpendingLimits {
            let operations = &self.profile.operations;
            $crate::spending::SpendingLimits {
                sponsorships: operations.max_sponsorships,
                cost: operations.max_cost,
            }
        }

        fn with_spending_limits(
            &self,
            limits: $crate::spending::SpendingLimits,
        ) -> ::std::sync::Arc<dyn $crate::knowledge::Knowledge> {
            let mut limited = self.clone();
            let operations = &mut limited.profile.operations;
            (operations.max_sponsorships, operations.max_cost) = (limits.sponsorships, limits.cost);
            ::std::sync::Arc::new(limited)
        }

        fn with_refused_clients(
            &self,
            refused_clients: ::std::collections::BTreeSet<&'static str>,
        ) -> ::std::sync::Arc<dyn $crate::knowledge::Knowledge> {
            ::std::sync::Arc::new(Self { refused_clients, ..self.clone() })
        }

        fn discovery(&self, seed: u64) -> Box<dyn $crate::knowledge::Discover> {
            Box::new(Discovery::new(self.clone(), seed))
        }

        fn saved(&self) -> ::serde_json::Value {
            ::serde_json::to_value(self).unwrap_or_default()
        }

        fn is_same(&self, other: &dyn $crate::knowledge::Knowledge) -> bool {
            let other: &dyn ::std::any::Any = other;
            other.downcast_ref() == Some(self)
        }
    };
}

/// Whether an answer, the second value, to a request, the first one, contradicts a statement.
pub type Contradicts = Box<dyn Fn(&Value, &Value) -> bool>;

/// What an entry of the profile states.
pub struct Statement {
    /// The value by which the entry is found in its file.
    pub found_by: String,
    /// What it states, in a sentence.
    pub states: String,
    /// What the answers that contradict it did, after their number.
    pub contradicted: &'static str,
    /// Whether an answer to a request contradicts it.
    pub is_contradicted: Contradicts,
}

/// The requests before a run: any sender can drive them.
pub trait Discover: Send {
    /// Takes the answers of the previous round (none at first) and returns the groups of the next round; none at the end.
    fn next_round(&mut self, answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>>;

    /// What is known now, and whether requests got past HTTP to the service.
    fn finish(self: Box<Self>) -> (Arc<dyn Knowledge>, Access);
}

/// Learns what exchanges show of a target.
pub trait Learn: fmt::Debug + Send {
    /// Learns from an exchange.
    fn see(&mut self, exchange: &Exchange);

    /// What is known so far.
    fn learned(&self) -> Arc<dyn Knowledge>;
}

impl PartialEq for dyn Knowledge {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
    }
}

/// What the specification and the profile require for a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requirement {
    /// Whether the call keeps to the tables of its specification, in the dialect of the target.
    pub within_tables: bool,
    /// The bound of ordinary size that the call exceeds, so that the target may refuse it; none when it is of ordinary size.
    pub beyond: Option<&'static str>,
    /// What the call must be answered with.
    pub expectation: Expectation,
}

/// What a request must be answered with. Every value but `Unknown` needs the profile, or what the target served before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// A result, which sponsors the operation where results may refuse to.
    Sponsored,
    /// A result, which may sponsor the operation or not.
    Accepted,
    /// A result that does not sponsor the operation.
    Refused,
    /// An error, or a result that does not sponsor the operation.
    NotSponsored,
    /// A result or an error: both are lawful.
    Unknown,
}

impl Expectation {
    /// Whether an error is a violation, whatever rules about sponsorship require. `Refused` has a rule of its own for errors.
    pub fn requires_result(self) -> bool {
        matches!(self, Self::Sponsored | Self::Accepted)
    }

    /// Whether a result that sponsors the operation is a violation.
    pub fn forbids_grant(self) -> bool {
        matches!(self, Self::Refused | Self::NotSponsored)
    }
}
