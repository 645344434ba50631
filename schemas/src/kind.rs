//! The kinds of calls of a specification.

use std::{fmt, ops::Deref};

/// A kind of call: a method, and the value of a parameter where a method has several kinds. One kind has one shape of requests and one of
/// results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(&'static KindOfCall);

/// What a specification says of a kind of call.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindOfCall {
    /// Its place among the kinds of its specification.
    pub number: u8,
    /// Our short name, as in document names, scenario names and reports: `quote-sponsored`.
    pub name: &'static str,
    /// The method on the wire.
    pub method: &'static str,
    /// The parameter that selects it among the kinds of its method, and its value: `mode`, `ERC20`. None where the method has one kind.
    pub selector: Option<(&'static str, &'static str)>,
    /// The schema document of a whole request.
    pub request_document: &'static str,
    /// The schema document of the `result` member of an answer.
    pub result_document: &'static str,
}

impl Kind {
    /// The kind that a specification describes so.
    pub const fn new(described: &'static KindOfCall) -> Self {
        Self(described)
    }

    /// The parameter and value that select it, in words: `in mode ERC20`; empty where the method has one kind.
    pub fn selection(self) -> String {
        self.selector.map(|(parameter, value)| format!("in {parameter} {value}")).unwrap_or_default()
    }

    /// Method and selection in words: `pm_sponsorUserOperation in mode ERC20`.
    pub fn words(self) -> String {
        format!("{} {}", self.method, self.selection()).trim_end().to_owned()
    }
}

impl Deref for Kind {
    type Target = KindOfCall;

    fn deref(&self) -> &KindOfCall {
        self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
