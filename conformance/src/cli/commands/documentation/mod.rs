//! Commands that document the rules and the command line.

use std::fmt::Write as _;

use paymaster_engine::rules::{Check, Rule};
use paymaster_engine::specification::Specification;
use paymaster_schemas::{Basis, Clause, DEFINITIONS, find_clause};
use paymaster_settings::output::document::terminal::{Lines, WIDTH};
use paymaster_settings::{DEFAULT_SPECIFICATION, SPECIFICATIONS, all_rules, did_you_mean, wrapped};
use serde_json::{Value, json};

use crate::cli::{CommandError, printed};
use crate::report::sections;
use crate::report::words::count;

#[cfg(test)]
mod tests;

/// `rules`: every rule in a table.
pub(super) fn rules(as_json: bool) -> Result<u8, CommandError> {
    let rules = all_rules();
    if as_json {
        let row = |rule: &&Rule| {
            let clause = rule.clause();
            json!({
                "id": rule.id,
                "clause": clause.id,
                "section": clause.section,
                "basis": clause.basis.into_str(),
                "text": clause.text,
                "quota": rule.quota,
            })
        };
        return printed(&format!("{:#}\n", rules.iter().map(row).collect::<Value>()));
    }
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let mut text = String::new();
    for rule in &rules {
        let Clause { basis, section, text: statement, .. } = rule.clause();
        let _ = writeln!(text, "{:<width$}  {:<16} {section:<5} {statement}", rule.id, basis.into_str());
    }
    printed(&text)
}

/// Runs the command.
pub(super) fn explain(id: &str) -> Result<u8, CommandError> {
    let rules = all_rules();
    let found: Vec<&Rule> = match rules.iter().find(|rule| rule.id == id) {
        Some(rule) => vec![rule],
        None => rules.iter().copied().filter(|rule| rule.clause == id).collect(),
    };
    let clause = found.first().map(|rule| rule.clause()).or_else(|| find_clause(id));
    let Some(clause) = clause else {
        let known = rules
            .iter()
            .map(|rule| rule.id)
            .chain(DEFINITIONS.iter().flat_map(|one| one.clauses()).map(|clause| clause.id));
        let hint = did_you_mean(id, known);
        return Err(format!("there is no rule or clause `{id}`{hint}").into());
    };
    let mut text = about_clause(clause);
    text.extend(found.into_iter().map(about_rule));
    printed(&text)
}

/// The specification of a clause: the first one, where several have it.
fn specification_of(clause: &Clause) -> &'static Specification {
    let mut all = SPECIFICATIONS.iter().copied();
    all.find(|known| known.definition.clauses().any(|own| own == clause)).unwrap_or(DEFAULT_SPECIFICATION)
}

fn about_clause(clause: &Clause) -> String {
    let Clause { id, section, basis, text: statement, .. } = clause;
    let (cost, place) = (cost(*basis), sections::place(specification_of(clause).name, section));
    let statement = wrapped(statement, WIDTH).join("\n");
    let unjudged = clause.unjudged.map(|reason| format!("\nNot judged: {reason}\n")).unwrap_or_default();
    format!("{id}\nsection {section}, {basis}: {cost}\nspecification: {place}\n\n{statement}\n{unjudged}")
}

/// What breaking a clause with this basis means for a run.
fn cost(basis: Basis) -> &'static str {
    match basis {
        Basis::Stated => "a broken rule fails the run",
        Basis::Recommended | Basis::JsonRpc | Basis::Interoperability | Basis::Plausibility => {
            "a broken rule warns, and fails the run under --strict"
        }
        Basis::OnChain => "judged only with --rpc-url; a broken rule fails the run",
        Basis::Ambiguous | Basis::NotShown => "observed only: it cannot fail a run",
    }
}

/// How a rule is judged; the text continues "judged".
fn how_judged(rule: &Rule) -> String {
    match &rule.check {
        Check::Exchange(_) => "on every single exchange that it applies to".to_owned(),
        Check::Row { document, member, .. } => {
            format!("on the member `{member}` of every result, by the schema document `{document}`")
        }
        Check::Group(relation, _) => {
            format!("on groups of requests of the relation `{}`: {}", relation.id, relation.about)
        }
    }
}

fn about_rule(rule: &Rule) -> String {
    let how = how_judged(rule);
    let quota = format!("after it was exercised and held {}", count(rule.quota, "time"));
    let mut lines = Lines::default();
    lines.line(&format!("\nrule {}", rule.id));
    for (name, content) in [
        ("judged", how.as_str()),
        ("passes", quota.as_str()),
        ("when inconclusive", rule.advice.text()),
        ("when broken", rule.hint),
    ] {
        if !content.is_empty() {
            lines.hanging(&format!("  {name:<17} "), 20, content);
        }
    }
    lines.text
}
