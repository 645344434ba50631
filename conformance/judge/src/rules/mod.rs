//! The rules: each checks one clause, as a function of requests and answers.
//!
//! A rule uses no clock, socket or output. To add one, add a literal and a function to the file of its group, or a new file and
//! its line in `GROUPS`. When no request exercises it, add a relation in [`crate::cases::relations`].

pub mod observers;
mod report;
mod requests;
mod responses;
mod results;
mod text;
mod view;

use std::fmt;

use paymaster_schemas::{Basis, Clause, find_clause};

use crate::{cases::case::Relation, target::context::Context};

pub(crate) use crate::verdict::profile_line::MissingLine;

pub use report::{Members, Report, Violation};
pub(crate) use requests::decision::SAME_AGAIN;
pub use results::rows::check as check_row;
pub(crate) use text::{describe_answer, shown, shown_member};
pub use view::View;

/// The id of the rule about request headers, and of its clause.
pub(crate) const HEADERS: &str = "request.headers";

/// The groups of rules, in the order of the reports.
const GROUPS: &[&[Rule]] = &[
    responses::answer_form::RULES,
    results::rows::RULES,
    requests::served::RULES,
    requests::decision::RULES,
    results::quoted_tokens::RULES,
    results::token_facts::RULES,
    results::times::RULES,
    responses::errors::RULES,
    requests::accepted::RULES,
    requests::notation::RULES,
    requests::headers::RULES,
    responses::json_rpc::RULES,
    responses::batches::RULES,
    responses::http::RULES,
    responses::interoperability::RULES,
    results::plausibility::RULES,
    results::on_chain::RULES,
];

/// Every rule, in the order of the reports.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// How many rules are not selected. Rules about a chain do not count.
pub fn left_out(selected: &[&Rule]) -> usize {
    rules()
        .filter(|rule| rule.basis() != Basis::OnChain && !selected.iter().any(|other| other.id == rule.id))
        .count()
}

/// The rule of that id.
pub fn find_rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its name: the id of its clause when it is the only rule of that clause.
    pub id: &'static str,
    /// The id of the clause that it checks.
    pub clause: &'static str,
    /// How often it must hold before it passes.
    pub quota: u64,
    /// What to do when the rule stays inconclusive.
    pub advice: Advice,
    /// What to check in an implementation that breaks the rule.
    pub hint: &'static str,
    /// Why the profile excludes the rule; none when it applies.
    pub not_applicable: fn(&Context) -> Option<&'static str>,
    /// How it judges.
    pub check: Check,
}

/// What makes an inconclusive rule conclusive.
#[derive(Clone, Copy, Debug)]
pub enum Advice {
    /// A line of the profile.
    Write(MissingLine),
    /// Something that no line of the profile can change, in words.
    Look(&'static str),
}

impl Advice {
    /// What to do, for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Write(line) => line.advice(),
            Self::Look(text) => text,
        }
    }
}

/// For rules that apply to every target.
pub(crate) fn always(_: &Context) -> Option<&'static str> {
    None
}

/// For rules about results that contain a token.
pub(crate) fn no_token(context: &Context) -> Option<&'static str> {
    let none = context.profile.tokens.is_none_supported();
    none.then_some("the profile says that the target supports no token")
}

/// How a rule judges.
pub enum Check {
    /// One exchange at a time.
    Exchange(fn(&View<'_>, &Context, &mut Report)),
    /// One row of a result table, in every result of that document.
    Row {
        /// The schema document of the table.
        document: &'static str,
        /// The member of the row.
        member: &'static str,
        /// The expected value, for people.
        expected: &'static str,
    },
    /// All exchanges of a group of that relation together.
    Group(&'static Relation, fn(&[View<'_>], &Context, &mut Report)),
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(_) => f.write_str("Exchange"),
            Self::Row { document, member, .. } => write!(f, "Row({document}.{member})"),
            Self::Group(relation, _) => write!(f, "Group({})", relation.id),
        }
    }
}

impl Rule {
    /// A rule about single exchanges that applies to every target and is the only rule of its clause.
    const fn exchange(
        id: &'static str,
        quota: u64,
        advice: Advice,
        hint: &'static str,
        check: fn(&View<'_>, &Context, &mut Report),
    ) -> Self {
        Self { id, clause: id, quota, advice, hint, not_applicable: always, check: Check::Exchange(check) }
    }

    /// Its place among all rules.
    pub fn number(&self) -> usize {
        let place = rules().position(|rule| rule.id == self.id);
        place.expect("every rule is in the list")
    }

    /// The clause that it checks.
    pub fn clause(&self) -> &'static Clause {
        find_clause(self.clause).expect("a test holds that every rule names a clause")
    }

    /// The basis of its clause.
    pub fn basis(&self) -> Basis {
        self.clause().basis
    }
}
