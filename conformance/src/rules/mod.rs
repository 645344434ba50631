//! The rules: each the check that guards one clause, a function of what was sent and what came back.
//!
//! A rule has no clock, no socket and no opinion about colour. To add one: write its file, put it into [`RULES`], and if it
//! needs requests that nothing else sends, put its relation into [`crate::relations::RELATIONS`].

pub mod rows;

use std::fmt;

use paymaster_schemas::{Basis, Clause, find_clause};

use crate::{answer::Answer, case::Relation, context::Context, finding::Violation, request::Kind};

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name; the id of its clause where it is the only rule of it.
    pub id: &'static str,
    /// The id of the clause it guards.
    pub clause: &'static str,
    /// How often it must be exercised before it can pass.
    pub quota: u64,
    /// What to add to the profile, or to look at, when it stays inconclusive.
    pub advice: &'static str,
    /// What to look at in an implementation that breaks it.
    pub hint: &'static str,
    /// How it judges.
    pub check: Check,
}

/// How a rule judges.
pub enum Check {
    /// One exchange at a time.
    Exchange(fn(&View<'_>, &Context, &mut Report)),
    /// One row of a result table: the member of every result of that document.
    Row {
        /// The schema document of the table.
        document: &'static str,
        /// The member of the row.
        member: &'static str,
    },
    /// All exchanges of a group of that relation together.
    Group(&'static Relation, fn(&[View<'_>], &Context, &mut Report)),
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(_) => f.write_str("Exchange"),
            Self::Row { document, member } => write!(f, "Row({document}.{member})"),
            Self::Group(relation, _) => write!(f, "Group({})", relation.id),
        }
    }
}

impl Rule {
    /// The clause it guards.
    pub fn clause(&self) -> &'static Clause {
        find_clause(self.clause).expect("a test holds that every rule names a clause")
    }

    /// On what ground it stands.
    pub fn basis(&self) -> Basis {
        self.clause().basis
    }
}

/// One exchange, read.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// Its part in the relation.
    pub role: &'static str,
    /// What sets it apart.
    pub label: &'a str,
    /// What was asked.
    pub request: Kind,
    /// What came back.
    pub answer: Answer,
}

/// What a check found: how often the rule was exercised and held, and where it was broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How often the rule held.
    pub held: u64,
    /// Where it was broken.
    pub violations: Vec<Violation>,
    member: usize,
}

impl Report {
    /// A report on the member of that number in its group.
    pub fn on(member: usize) -> Self {
        Self {
            member,
            ..Self::default()
        }
    }

    /// From here on the report is on that member of the group.
    pub fn turn_to(&mut self, member: usize) {
        self.member = member;
    }

    /// The rule was exercised and held.
    pub fn held(&mut self) {
        self.held += 1;
    }

    /// The rule was broken at `pointer` of the answer.
    pub fn broken(
        &mut self,
        pointer: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) {
        self.violations.push(Violation {
            member: self.member,
            pointer: pointer.into(),
            expected: expected.into(),
            actual: actual.into(),
        });
    }

    /// The rule held or was broken, as `holds` says; the other words are only made when they are needed.
    pub fn expect(&mut self, holds: bool, pointer: &str, expected: &str, actual: impl FnOnce() -> String) {
        if holds {
            self.held();
        } else {
            self.broken(pointer, expected, actual());
        }
    }
}
