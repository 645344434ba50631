//! The pages of `docs/` that are made of tables: clauses and rules, readings, codes, commands, the profile. A test holds what is
//! checked in against what is made here; `cargo run -- docs docs` writes it anew.

use std::{fmt::Write as _, fs, path::Path};

use clap::CommandFactory;
use paymaster_schemas::{Basis, Clause, READINGS, clauses};

use crate::cli::{
    args::Cli,
    commands::init::TEMPLATE,
    examples::EXAMPLES,
    explain::{cost, how_judged},
    process::{error::CommandError, output},
};
use crate::report::formats::FORMATS;
use paymaster_cli::environment::VARIABLES;
use paymaster_cli::exit;
use paymaster_judge::{
    rules::{Rule, observers::OBSERVERS, rules},
    target::dialect::Pins,
};

/// Width of the help in `commands.md`.
const WIDTH: usize = 110;

const MADE: &str = "<!-- Made by `paymaster-conformance docs`; a test holds it current. Do not edit. -->\n\n";

/// What makes a page.
type Make = fn() -> String;

/// Every page.
const PAGES: &[(&str, Make)] = &[
    ("reference.md", reference),
    ("dialect.md", dialect),
    ("codes.md", codes),
    ("commands.md", commands),
    ("profile.md", profile),
];

/// Writes the pages into a folder.
pub(crate) fn run(folder: &Path) -> Result<u8, CommandError> {
    fs::create_dir_all(folder).map_err(|cause| format!("{}: {cause}", folder.display()))?;
    for (name, make) in PAGES {
        let path = folder.join(name);
        fs::write(&path, page(*make)).map_err(|cause| format!("{}: {cause}", path.display()))?;
    }
    output::print(&format!(
        "wrote {} pages into {}\n",
        PAGES.len(),
        folder.display()
    ))?;
    Ok(exit::CONFORMS)
}

fn page(make: Make) -> String {
    format!("{MADE}{}", make())
}

fn reference() -> String {
    let mut text = "# Clauses and rules\n\nEvery testable statement of the specification, in our words, and the rules that judge it. \
                    `paymaster-conformance explain ID` prints the same.\n\n\
                    | basis | what it means for a run |\n|---|---|\n"
        .to_owned();
    for basis in Basis::ALL {
        let _ = writeln!(text, "| {basis} | {} |", cost(basis));
    }
    let mut group = "";
    for clause in clauses() {
        let own = clause.id.split('.').next().unwrap_or_default();
        if own != group {
            group = own;
            let _ = writeln!(text, "\n## {group}");
        }
        of_clause(&mut text, clause);
    }
    text
}

fn of_clause(text: &mut String, clause: &Clause) {
    let _ = writeln!(
        text,
        "\n### {}\n\nSection {}, {}. {}\n",
        clause.id, clause.section, clause.basis, clause.text
    );
    if let Some(reason) = clause.unjudged {
        let _ = writeln!(text, "- not judged: {reason}");
    }
    for rule in rules().filter(|rule| rule.clause == clause.id) {
        of_rule(text, rule);
    }
    if OBSERVERS.iter().any(|observer| observer.clause == clause.id) {
        text.push_str("- observed: the values seen stand in the report\n");
    }
}

fn of_rule(text: &mut String, rule: &Rule) {
    let times = crate::report::text::words::count(rule.quota, "time");
    let _ = writeln!(
        text,
        "- rule `{}`: judged {}; passes after it held {times}",
        rule.id,
        how_judged(rule)
    );
    for (name, content) in [
        ("when it stays inconclusive", rule.advice),
        ("when it is broken", rule.hint),
    ] {
        if !content.is_empty() {
            let _ = writeln!(text, "  - {name}: {content}");
        }
    }
}

fn dialect() -> String {
    let mut text = "# Dialect: what the specification leaves open\n\nEach point below has several lawful readings. A run finds out which \
                    one the target speaks, writes its requests in it and reports it; nobody fails for a reading. A reading that is pinned \
                    in the profile is believed, and no other is tried.\n"
        .to_owned();
    for reading in READINGS {
        let alternatives: Vec<String> = reading
            .alternatives
            .iter()
            .map(|alternative| format!("`{alternative}`"))
            .collect();
        let _ = writeln!(
            text,
            "\n## {}\n\nSection {}. {}\n\n- readings: {}\n- default {}: {}",
            reading.id,
            reading.section,
            reading.question,
            alternatives.join(", "),
            alternatives[0],
            reading.why
        );
        let pin = format!("{} = \"{}\"", reading.id, reading.default());
        let told = match toml::from_str::<Pins>(&pin) {
            Ok(_) => format!("to pin it: `{pin}` under `[dialect]`"),
            Err(_) => "only observed: there is nothing to pin".to_owned(),
        };
        let _ = writeln!(text, "- {told}");
    }
    text
}

/// What the words of a verdict mean.
const VERDICTS: &str = "
Every report begins with a verdict, and with what limits it:

| verdict | meaning | code |
|---|---|---|
| `CONFORMS` | every rule was asked for; every stated one passed or does not apply | 0 |
| `CONFORMS but for 3 known failures` | the same, but for rules on the list of known failures | 0 |
| `NOTHING BROKEN in what was judged: 27 of 81 rules` | `--rule` left rules out, or `--allow-incomplete` accepts that they stayed inconclusive | 0 |
| `VIOLATIONS: 2 rules broken` | rules that fail the run were broken | 1 |
| `KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry expired` | nothing else was broken; entries expired, pass now, or match nothing | 1 |
| `COULD NOT TEST` | nothing can be said of the target | 3 |
| `INCOMPLETE: nothing broken in what was judged: 27 of 81 rules` | stated rules stayed inconclusive, or the run was cut short | 4 |
| `INCOMPLETE: no request got a result; ...` | the target refused every valid request: with `--allow-incomplete` it is 4 too | 4 |

When no valid request got an answer of the service and no rule could be judged, the run ends with 3. `matrix` writes no badge for a run
with `--rule`.
";

fn codes() -> String {
    let mut text = "# Exit codes, environment, reports\n\n## Exit codes\n\nThe same for every command.\n\n| code | meaning |\n|---|---|\n"
        .to_owned();
    for (code, meaning) in exit::TABLE {
        let _ = writeln!(text, "| {code} | {meaning} |");
    }
    text.push_str(VERDICTS);
    text.push_str("\n## Environment\n\nFlags win over the environment, the environment over the configuration file.\n\n| variable | meaning |\n|---|---|\n");
    for (name, meaning) in VARIABLES {
        let _ = writeln!(text, "| `{name}` | {} |", meaning.replace('|', "\\|"));
    }
    text.push_str("\n## Reports\n\n`--report FORMAT=PATH`, repeatable; `-` is standard output.\n\n| format | what it is |\n|---|---|\n");
    for format in FORMATS {
        let _ = writeln!(text, "| `{}` | {} |", format.name, format.about);
    }
    text
}

fn commands() -> String {
    let mut text = "# Commands\n\nWhat `--help` prints. `paymaster-conformance completions SHELL` prints a completion script, \
                    `paymaster-conformance man FOLDER` writes man pages.\n"
        .to_owned();
    let whole = Cli::command().term_width(WIDTH);
    let names = EXAMPLES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.is_empty());
    for name in names {
        let Some(command) = whole.find_subcommand(name) else {
            continue;
        };
        let mut command = command
            .clone()
            .term_width(WIDTH)
            .bin_name(format!("paymaster-conformance {name}"));
        let help = command.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = writeln!(text, "\n## {name}\n\n```text\n{}\n```", lines.join("\n"));
    }
    text
}

fn profile() -> String {
    format!(
        "# The profile: `paymaster.toml`\n\nEverything that can be said of a target, as `paymaster-conformance init` writes it. Every key is \
         optional. What is not said is found out where that is safe, and else stays inconclusive: the report then names the key to write.\n\n\
         ```toml\n{TEMPLATE}```\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_checked_in_is_what_is_made() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
        for (name, make) in PAGES {
            let checked_in = fs::read_to_string(folder.join(name)).unwrap_or_default();
            assert!(
                checked_in == page(*make),
                "docs/{name} is out of date: run `cargo run -- docs docs`"
            );
        }
    }

    #[test]
    fn the_reference_names_every_clause_and_every_rule_once() {
        let text = reference();
        for clause in clauses() {
            assert_eq!(
                text.matches(&format!("### {}\n", clause.id)).count(),
                1,
                "{}",
                clause.id
            );
        }
        for rule in rules() {
            assert_eq!(
                text.matches(&format!("rule `{}`:", rule.id)).count(),
                1,
                "{}",
                rule.id
            );
        }
    }
}
