//! Commands that document the rules and the command line.

pub(super) mod docs;
pub(super) mod explain;

use std::{fmt::Write as _, fs, path::Path};

use clap::CommandFactory;
use clap_complete::Shell;
use paymaster_settings::{all_rules, exit, output};
use serde_json::json;

use crate::cli::{
    args::{Cli, RulesArgs},
    process::{CommandError, at},
};

/// `rules`: every rule in a table.
pub(super) fn rules(args: &RulesArgs) -> Result<u8, CommandError> {
    let rules = all_rules();
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

const NAME: &str = "paymaster-conformance";

/// Prints a completion script, made from the definition of the command line.
pub(super) fn completions(shell: Shell) -> Result<u8, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::CONFORMS)
}

/// Writes a man page for each command into a folder.
pub(super) fn man(folder: &Path) -> Result<u8, CommandError> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(at(folder))?;
    output::print(&format!("wrote the man pages into {}\n", folder.display()))?;
    Ok(exit::CONFORMS)
}
