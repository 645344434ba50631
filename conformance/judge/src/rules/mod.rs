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

use paymaster_schemas::{Basis, Clause, Kind, find_clause, kinds};
use serde_json::Value;

use crate::target::context::Context;
use crate::{
    cases::{case::Relation, relations::HEADERS},
    knowledge::Knowledge,
};

pub(crate) use crate::verdict::profile_line::MissingLine;

pub use report::{Members, Report, Violation};
pub(crate) use requests::decision::SAME_AGAIN;
pub use results::rows::check as check_row;
pub(crate) use text::{describe_answer, shown, shown_member};
pub use view::View;

/// The groups of rules, in the order of the reports.
const GROUPS: &[&[Rule]] = &[
    responses::answer_form::RULES,
    results::rows::SPONSORED_RESULT,
    results::rows::QUOTE_RESULT,
    results::rows::FEE_QUOTE,
    results::rows::TOKEN_SPONSOR_RESULT,
    requests::served::RULES,
    requests::decision::RULES,
    results::quoted_tokens::RULES,
    results::token_facts::RULES,
    responses::errors::RULES,
    requests::accepted::RULES,
    requests::notation::RULES,
    responses::json_rpc::RULES,
    responses::batches::RULES,
    responses::interoperability::RULES,
    results::plausibility::RULES,
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
#[derive(Clone, Copy, Debug)]
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
    pub not_applicable: fn(&dyn Knowledge) -> Option<&'static str>,
    /// Whether it is about results with a token, so that it waits for a supported token until one is known.
    pub(crate) needs_token: bool,
    /// How it judges.
    pub check: Check,
    /// The requests that exercise it. A rule over a group is exercised by its relation alone.
    pub(crate) exercise: Exercise,
}

/// Which requests of the plan show every kind of fault of a rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exercise {
    /// The relations that need all of their rounds.
    pub(crate) relations: &'static [&'static Relation],
    /// The pairs of method and mode of their base requests; all when it is empty.
    pub(crate) pairs: &'static [Kind],
    /// Whether every other relation is needed too, in its fewest rounds.
    pub(crate) others: bool,
}

impl Exercise {
    /// Every answer exercises the rule.
    const EVERY_ANSWER: Self = Self { relations: &[], pairs: &[], others: true };
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
fn always(_: &dyn Knowledge) -> Option<&'static str> {
    None
}

/// For rules about results that contain a token.
fn no_token(knowledge: &dyn Knowledge) -> Option<&'static str> {
    let context = Context::of(knowledge);
    let none = context.profile.tokens.is_none_supported();
    none.then_some("the profile says that the target supports no token")
}

/// Judges one exchange.
type ExchangeCheck = fn(&View<'_>, &dyn Knowledge, &mut Report);
/// Judges the exchanges of a group.
type GroupCheck = fn(&[View<'_>], &dyn Knowledge, &mut Report);

/// How a rule judges.
#[derive(Clone, Copy)]
pub enum Check {
    /// One exchange at a time.
    Exchange(ExchangeCheck),
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
    Group(&'static Relation, GroupCheck),
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
    /// A rule that applies to every target, is the only rule of its clause, and is exercised by every answer.
    const fn new(id: &'static str, quota: u64, advice: Advice, hint: &'static str, check: Check) -> Self {
        let exercise = Exercise::EVERY_ANSWER;
        let not_applicable = always;
        Self { id, clause: id, quota, advice, hint, not_applicable, needs_token: false, check, exercise }
    }

    /// A rule about single exchanges.
    const fn exchange(
        id: &'static str,
        quota: u64,
        advice: Advice,
        hint: &'static str,
        check: ExchangeCheck,
    ) -> Self {
        Self::new(id, quota, advice, hint, Check::Exchange(check))
    }

    /// The same rule, which does not apply where the profile excludes it.
    const fn unless(self, not_applicable: fn(&dyn Knowledge) -> Option<&'static str>) -> Self {
        Self { not_applicable, ..self }
    }

    /// The same rule, about results with a token: it does not apply to a target without tokens.
    const fn about_tokens(self) -> Self {
        Self { needs_token: true, ..self.unless(no_token) }
    }

    /// The same rule, exercised by these relations alone, with base requests of these pairs; of all pairs when there are none.
    const fn exercised_by(self, relations: &'static [&'static Relation], pairs: &'static [Kind]) -> Self {
        Self { exercise: Exercise { relations, pairs, others: false }, ..self }
    }

    /// The same rule, exercised by every answer, and above all by these relations.
    const fn exercised_above_all_by(
        self,
        relations: &'static [&'static Relation],
        pairs: &'static [Kind],
    ) -> Self {
        Self { exercise: Exercise { relations, pairs, others: true }, ..self }
    }

    /// Whether it is mainly about requests of the relation with this id, with base requests of this pair.
    pub(crate) fn is_about(&self, relation: &str, pair: Kind) -> bool {
        if let Check::Group(own, _) = self.check {
            return own.id == relation;
        }
        let Exercise { relations, pairs, .. } = self.exercise;
        let is_of_pair = pairs.is_empty() || pairs.contains(&pair);
        relations.is_empty() || is_of_pair && relations.iter().any(|own| own.id == relation)
    }

    /// Whether it compares request headers, so that it also judges requests whose headers the target refuses.
    pub(crate) fn compares_headers(&self) -> bool {
        matches!(self.check, Check::Group(relation, _) if relation.id == HEADERS.id)
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

/// Judges each request of a group after the first one, which is its baseline.
fn for_each_variant(
    views: &[View<'_>],
    report: &mut Report,
    judge: impl Fn(&View<'_>, &View<'_>, &mut Report),
) {
    for (place, view) in views.iter().enumerate().skip(1) {
        report.set_member(place);
        judge(&views[0], view, report);
    }
}

/// Every quote of a result in token mode, with its index.
fn quotes<'a>(view: &'a View<'_>) -> impl Iterator<Item = (usize, &'a Value)> {
    let call = view.valid_call().filter(|call| call.pair == kinds::QUOTE_ERC20);
    let result = call.and_then(|_| view.answer.result());
    result.and_then(|result| result["feeQuotes"].as_array()).into_iter().flatten().enumerate()
}
