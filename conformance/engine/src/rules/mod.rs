//! The rules: each checks one clause, as a function of requests and answers.
//!
//! A rule uses no clock, socket or output. To add one, add a literal and a function to the file of its group, or a new file and
//! its line in the specification. When no request exercises it, add a relation in [`crate::cases::protocol`].

pub mod answer_form;
pub mod batches;
pub mod errors;
pub mod http;
pub mod json_rpc;
pub mod observers;
mod report;
pub mod requests;
mod text;
mod view;

use std::{collections::BTreeSet, fmt, ptr};

use paymaster_schemas::{Basis, Clause, Kind, find_clause};

use crate::cases::{Relation, Scope};
use crate::knowledge::Knowledge;
use crate::specification::Specification;

use answer_form::same_id;
pub use errors::NO_ERRORS;
pub use http::TOO_FEW;
pub use report::{Bits, Report, Violation};
pub use text::{count, describe_answer, shown, shown_member};
pub use view::{View, is_of_gateway};
pub use {observers::*, requests::*};

/// A rule.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Rule {
    /// Its name: the id of its clause when it is the only rule of that clause.
    pub id: &'static str,
    /// The id of the clause that it checks.
    pub clause: &'static str,
    /// How often it must hold before it passes.
    pub quota: u64,
    /// What to do when the rule stays inconclusive.
    pub advice: Advice,
    /// Where to look in an implementation that breaks the rule; empty where its clause says enough.
    pub hint: &'static str,
    /// Why the profile excludes the rule; none when it applies.
    pub not_applicable: fn(&dyn Knowledge) -> Option<&'static str>,
    /// The line of the profile that it waits for before the one of its advice, until what that line says is known.
    pub waits_first: Option<&'static MissingLine>,
    /// How it judges.
    pub check: Check,
    /// Whether it is about answers that a target can mix up where several requests are in flight.
    pub is_about_mix_ups: bool,
    /// The requests that exercise it. A rule over a group is exercised by its relation alone.
    pub exercise: Exercise,
}

/// What makes an inconclusive rule conclusive.
#[derive(Clone, Copy, Debug)]
pub enum Advice {
    /// A line of the profile.
    Write(&'static MissingLine),
    /// Something that no line of the profile can change, in words.
    Look(&'static str),
}

impl Advice {
    /// What to do, for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Write(line) => line.advice,
            Self::Look(text) => text,
        }
    }
}

/// For rules that apply to every target.
fn always(_: &dyn Knowledge) -> Option<&'static str> {
    None
}

/// Judges one exchange.
pub type ExchangeCheck = fn(&View<'_>, &dyn Knowledge, &mut Report);
/// Judges the exchanges of a group.
pub type GroupCheck = fn(&[View<'_>], &dyn Knowledge, &mut Report);

/// Judges one row of a result table: document, member and expected value, of one exchange.
pub type RowCheck = fn([&str; 3], &View<'_>, &dyn Knowledge, &mut Report);

/// How a rule judges.
#[derive(Clone, Copy, Debug)]
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

impl Rule {
    /// A rule that applies to every target, is the only rule of its clause, and is exercised by every answer.
    pub const fn new(id: &'static str, quota: u64, advice: Advice, check: Check) -> Self {
        let exercise = Exercise::EVERY_ANSWER;
        let not_applicable = always;
        Self {
            id,
            clause: id,
            quota,
            advice,
            hint: "",
            not_applicable,
            waits_first: None,
            is_about_mix_ups: false,
            check,
            exercise,
        }
    }

    /// A rule that judges nothing, for tests.
    #[cfg(test)]
    pub(crate) const fn sample(id: &'static str) -> Self {
        Self::exchange(id, 1, Advice::Look(""), |_, _, _| ())
    }

    /// A rule about single exchanges.
    pub const fn exchange(id: &'static str, quota: u64, advice: Advice, check: ExchangeCheck) -> Self {
        Self::new(id, quota, advice, Check::Exchange(check))
    }

    /// A rule over the exchanges of each group of a relation.
    pub const fn group(
        id: &'static str,
        quota: u64,
        advice: Advice,
        relation: &'static Relation,
        check: GroupCheck,
    ) -> Self {
        Self::new(id, quota, advice, Check::Group(relation, check))
    }

    /// The rule with a hint.
    pub const fn hint(self, hint: &'static str) -> Self {
        Self { hint, ..self }
    }

    /// The rule, which checks this clause: its name is its own.
    pub const fn of_clause(self, clause: &'static str) -> Self {
        Self { clause, ..self }
    }

    /// The rule, which does not apply where the profile excludes it.
    pub const fn unless(self, not_applicable: fn(&dyn Knowledge) -> Option<&'static str>) -> Self {
        Self { not_applicable, ..self }
    }

    /// The rule, which passes only where several requests were in flight.
    pub const fn about_mix_ups(self) -> Self {
        Self { is_about_mix_ups: true, ..self }
    }

    /// The rule, which waits for this line of the profile first.
    pub const fn waiting_first(self, line: &'static MissingLine) -> Self {
        Self { waits_first: Some(line), ..self }
    }

    /// The rule, exercised by these relations alone, with base requests of these pairs; of all pairs when there are none.
    pub const fn exercised_by(self, relations: &'static [&'static Relation], pairs: &'static [Kind]) -> Self {
        Self { exercise: Exercise { relations, pairs, others: false }, ..self }
    }

    /// The rule, exercised by every answer, and above all by these relations.
    pub const fn exercised_above_all_by(
        self,
        relations: &'static [&'static Relation],
        pairs: &'static [Kind],
    ) -> Self {
        Self { exercise: Exercise { relations, pairs, others: true }, ..self }
    }

    /// Whether it is mainly about requests of the relation with this id, with base requests of this pair.
    pub fn is_about(&self, relation: &str, pair: Kind) -> bool {
        let is_group = matches!(self.check, Check::Group(..));
        !is_group && self.exercise.relations.is_empty() || self.is_for(relation, pair)
    }

    /// Whether requests of that relation, with base requests of this pair, are sent for this rule more than for others.
    pub fn is_for(&self, relation: &str, pair: Kind) -> bool {
        if let Check::Group(own, _) = self.check {
            return own.id == relation;
        }
        let Exercise { relations, pairs, .. } = self.exercise;
        let is_of_pair = pairs.is_empty() || pairs.contains(&pair);
        is_of_pair && relations.iter().any(|own| own.id == relation)
    }

    /// Judges one exchange. A rule over a group judges none.
    pub fn judge_one(&self, view: &View<'_>, knowledge: &dyn Knowledge, report: &mut Report) {
        match &self.check {
            Check::Exchange(check) => check(view, knowledge, report),
            Check::Row { document, member, expected } => {
                (view.specification.check_row)([document, member, expected], view, knowledge, report);
            }
            Check::Group(..) => {}
        }
    }

    /// Why the profile excludes the rule; none when it applies. A rule about calls that the target does not serve does not.
    pub fn why_not_applicable(&self, knowledge: &dyn Knowledge) -> Option<&'static str> {
        let pairs: Vec<Kind> = match self.check {
            Check::Group(relation, _) => {
                let bases = relation.bases.of(knowledge);
                bases.iter().map(|base| base.pair).collect()
            }
            Check::Exchange(_) | Check::Row { .. } => self.exercise.pairs.to_vec(),
        };
        let is_excluded = !pairs.is_empty() && pairs.into_iter().all(|pair| knowledge.excludes(pair));
        let own = (self.not_applicable)(knowledge);
        own.or(is_excluded
            .then_some("the profile says that the target does not serve the calls that it is about"))
    }

    /// Whether it compares request headers, so that it also judges requests whose headers the target refuses.
    pub fn compares_headers(&self) -> bool {
        matches!(self.check, Check::Group(relation, _) if relation.varies_headers)
    }

    /// The clause that it checks.
    pub fn clause(&self) -> &'static Clause {
        find_clause(self.clause).expect("a test holds that every rule names a clause")
    }

    /// Whether a chain decides it, so that it takes part only in runs with one.
    pub fn needs_chain(&self) -> bool {
        self.basis() == Basis::OnChain
    }

    /// The basis of its clause.
    pub fn basis(&self) -> Basis {
        self.clause().basis
    }
}

/// Judges each request of a group after the first one, which is its baseline.
pub fn for_each_variant(
    views: &[View<'_>],
    report: &mut Report,
    judge: impl Fn(&View<'_>, &View<'_>, &mut Report),
) {
    for (place, view) in views.iter().enumerate().skip(1) {
        report.set_member(place);
        judge(&views[0], view, report);
    }
}

/// Whether a broken clause of that basis fails the run.
pub fn fails_the_run(basis: Basis, strict: bool) -> bool {
    match basis {
        Basis::Stated | Basis::OnChain => true,
        Basis::Recommended | Basis::JsonRpc | Basis::Interoperability | Basis::Plausibility => strict,
        Basis::Ambiguous | Basis::NotShown => false,
    }
}

/// Which requests of the plan show every kind of fault of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Exercise {
    /// The relations that need all of their rounds.
    pub relations: &'static [&'static Relation],
    /// The pairs of method and mode of their base requests; all when it is empty.
    pub pairs: &'static [Kind],
    /// Whether every other relation is needed too, in its fewest rounds.
    pub others: bool,
}

impl Exercise {
    /// Every answer exercises the rule.
    const EVERY_ANSWER: Self = Self { relations: &[], pairs: &[], others: true };
}

impl Scope {
    /// The part of the plan that these rules need. A rule over a group needs its relation. A rule over single exchanges needs the
    /// relations whose requests show every kind of fault of it. A rule that every answer exercises needs every relation, most of them
    /// in their fewest rounds. All rules together need everything.
    #[must_use]
    pub fn of_rules(selected: &[&'static Rule], specification: &Specification) -> Self {
        if specification.left_out(selected) == 0 {
            return Self::default();
        }
        let mut scope = Self { whole: Some(BTreeSet::new()), ..Self::default() };
        for rule in selected {
            let whole = scope.whole.get_or_insert_default();
            if let Check::Group(relation, _) = rule.check {
                whole.insert((relation.id, None));
                continue;
            }
            let Exercise { relations, pairs, others } = rule.exercise;
            scope.others |= others;
            for relation in relations {
                if pairs.is_empty() {
                    whole.insert((relation.id, None));
                }
                whole.extend(pairs.iter().map(|pair| (relation.id, Some(*pair))));
            }
        }
        scope
    }
}

/// A line of the profile that inconclusive rules wait for.
pub struct MissingLine {
    /// The table of the profile that it belongs to, as `[operations]`; empty for a line before the first table.
    pub table: &'static str,
    /// What it says about the target.
    pub meaning: &'static str,
    /// What to do, where several rules wait for it.
    pub advice: &'static str,
    /// The line as it stands in the file. Parts between `<` and `>` are to be replaced.
    pub text: fn(&dyn Knowledge) -> String,
    /// The line that the same rules wait for once this one is known.
    pub then: Option<&'static MissingLine>,
}

impl PartialEq for MissingLine {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

impl fmt::Debug for MissingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.meaning)
    }
}

/// The line that a rule waits for; none where no line of the profile helps.
pub fn missing_line(rule: &Rule, knowledge: &dyn Knowledge) -> Option<&'static MissingLine> {
    let Advice::Write(own) = rule.advice else { return None };
    match (rule.waits_first.unwrap_or(own), own.then) {
        (first, _) if !knowledge.knows(first) => Some(first),
        (_, Some(then)) if knowledge.knows(own) => Some(then).filter(|then| !knowledge.knows(then)),
        _ => Some(own),
    }
}
