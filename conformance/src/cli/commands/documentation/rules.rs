//! `rules`: every rule in a table.

use std::fmt::Write as _;

use serde_json::json;

use crate::cli::{args::RulesArgs, process::CommandError};
use crate::run::Suite;
use paymaster_cli::exit;
use paymaster_cli::output;

/// Runs the command.
pub(crate) fn run(args: &RulesArgs) -> Result<u8, CommandError> {
    let rules = Suite::standard().rules;
    if args.json {
        let rows: Vec<_> = rules
            .iter()
            .map(|rule| {
                let clause = rule.clause();
                json!({
                    "id": rule.id,
                    "clause": clause.id,
                    "section": clause.section,
                    "basis": clause.basis.name(),
                    "text": clause.text,
                    "quota": rule.quota,
                })
            })
            .collect();
        output::print(&format!("{:#}\n", json!(rows)))?;
        return Ok(exit::CONFORMS);
    }
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let mut text = String::new();
    for rule in &rules {
        let clause = rule.clause();
        let _ = writeln!(
            text,
            "{:<width$}  {:<16} {:<5} {}",
            rule.id,
            clause.basis.name(),
            clause.section,
            clause.text
        );
    }
    output::print(&text)?;
    Ok(exit::CONFORMS)
}
