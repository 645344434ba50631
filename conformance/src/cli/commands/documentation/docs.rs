//! The generated pages of `docs/`: specification, clauses and rules, readings, codes, commands, profile. A test compares them with the
//! files in the repository, and writes them where `INSTA_UPDATE=always` asks for it.

mod specification;

use std::fmt::Write as _;
use std::{collections::BTreeMap, env, fs, path::Path};

use clap::CommandFactory;
use paymaster_engine::{rules::Rule, specification::Specification};
use paymaster_schemas::{Basis, Clause, Reading, sections::anchor};
use paymaster_settings::{DEFAULT_SPECIFICATION, SPECIFICATIONS, exit, settings::environment::VARIABLES};

use crate::{
    cli::{
        args::Cli,
        commands::{
            documentation::{cost, how_judged},
            init::template,
        },
        examples::EXAMPLES,
    },
    report::{
        formats::FORMATS,
        text::{sections, words::count},
    },
};

/// Width of the help in `commands.md`.
const WIDTH: usize = 110;

const MADE: &str = "<!-- Generated from the code. A test fails when this file is out of date; CONTRIBUTING.md says how to write it. Do not edit. -->\n\n";

/// Every page, by its file.
fn pages() -> Vec<(String, String)> {
    let mut pages = vec![("codes.md".to_owned(), codes()), ("commands.md".to_owned(), commands())];
    for of in SPECIFICATIONS {
        for (page, text) in [
            ("specification", specification::page(of)),
            ("reference", reference(of)),
            ("dialect", dialect(of)),
            ("profile", profile(of)),
        ] {
            pages.push((sections::page(page, of), text));
        }
    }
    pages.into_iter().map(|(name, text)| (name, format!("{MADE}{text}"))).collect()
}

fn reference(of: &Specification) -> String {
    let mut text = format!(
        "# Clauses and rules\n\nEvery testable statement of the [specification]({}) (a *clause*), and the rules that judge it. \
         `paymaster-conformance explain ID` prints the same.\n\n| basis | what it means for a run |\n|---|---|\n",
        sections::page("specification", of)
    );
    text.extend(Basis::ALL.map(|basis| format!("| {basis} | {} |\n", cost(basis))));
    let mut by_section: BTreeMap<Vec<u32>, Vec<&Clause>> = BTreeMap::new();
    for clause in of.definition.clauses() {
        by_section.entry(sections::key(clause.section)).or_default().push(clause);
    }
    text.push_str("\n## Clauses by section\n\n| section | clauses |\n|---|---|\n");
    for own in by_section.values() {
        let link = |clause: &&Clause| format!("[{}](#{})", clause.id, anchor(clause.id));
        let links: Vec<String> = own.iter().map(link).collect();
        let _ = writeln!(text, "| {} | {} |", specification::link(own[0].section, of), links.join(", "));
    }
    let mut needs: Vec<&str> = Vec::new();
    for need in of.rules().map(|rule| rule.advice.text()) {
        if !need.is_empty() && !needs.contains(&need) {
            needs.push(need);
        }
    }
    text.push_str("\n## What rules need\n\nWhat helps where a rule stays inconclusive; each rule below names its number.\n\n");
    text.extend((1..).zip(&needs).map(|(place, need)| format!("{place}. {need}\n")));
    let mut group = "";
    for clause in of.definition.clauses() {
        let own = clause.id.split('.').next().unwrap_or_default();
        if own != group {
            group = own;
            let _ = writeln!(text, "\n## {group}");
        }
        text += &of_clause(clause, &needs, of);
    }
    text
}

fn of_clause(clause: &Clause, needs: &[&str], of: &Specification) -> String {
    let Clause { id, basis, text: statement, .. } = clause;
    let mut text =
        format!("\n### {id}\n\n{}, {basis}. {statement}\n\n", specification::link(clause.section, of));
    text.extend(clause.unjudged.map(|reason| format!("- not judged: {reason}\n")));
    text.extend(of.rules().filter(|rule| rule.clause == *id).map(|rule| of_rule(rule, needs)));
    if of.observers.iter().any(|observer| observer.clause == *id) {
        text += "- observed: the report lists the values\n";
    }
    text
}

/// A rule in one paragraph: what judges it, what it needs, by its number, and what to do where it is broken.
fn of_rule(rule: &Rule, needs: &[&str]) -> String {
    let (id, how, times) = (rule.id, how_judged(rule), count(rule.quota, "time"));
    let place = needs.iter().position(|need| *need == rule.advice.text());
    let need = place.map(|place| format!("; needs [{}](#what-rules-need)", place + 1)).unwrap_or_default();
    let hint =
        if rule.hint.is_empty() { String::new() } else { format!(". When it is broken: {}", rule.hint) };
    format!("- rule `{id}`: judged {how}; passes after it held {times}{need}{hint}\n")
}

fn dialect(of: &Specification) -> String {
    let mut text = "# Dialect: what the specification leaves open\n\nEach point below has several lawful readings. Discovery finds the one \
                    that the target uses. The run then writes its requests in this reading and reports it. No reading fails a run. If the \
                    profile pins a reading, the run uses it and tries no other.\n"
        .to_owned();
    for reading in of.definition.readings {
        let Reading { id, question, why, .. } = reading;
        let link = specification::link(reading.section, of);
        let (readings, default) =
            (specification::joined(reading.alternatives.iter().copied()), reading.default());
        let pin = format!("{id} = \"{default}\"");
        let pinned = match (of.read_profile)(&format!("[dialect]\n{pin}")) {
            Ok(_) => format!("to pin it, write `{pin}` under `[dialect]` of the profile"),
            Err(_) => "the run only observes it; a profile cannot pin it".to_owned(),
        };
        let _ = writeln!(
            text,
            "\n## {id}\n\n{link}. {question}\n\n- readings: {readings}\n- default `{default}`: {why}\n- {pinned}"
        );
    }
    text
}

/// The verdicts and their meanings.
const VERDICTS: &str = "
Every report begins with a verdict and its limits:

| verdict | meaning | code |
|---|---|---|
| `CONFORMS` | all rules ran; every stated rule passed or does not apply | 0 |
| `CONFORMS but for 3 known failures` | the same, except for rules on the list of known failures | 0 |
| `NOTHING BROKEN in what was judged: 27 of 81 rules` | `--rule` excluded rules, or `--allow-incomplete` accepts inconclusive rules | 0 |
| `VIOLATIONS: 2 rules broken` | rules that fail the run were broken | 1 |
| `KNOWN-FAILURES LIST IS OUT OF DATE: 1 entry expired` | no other rule is broken; entries expired, pass now, or match nothing | 1 |
| `COULD NOT TEST` | the run has no information about the target | 3 |
| `INCOMPLETE: nothing broken in what was judged: 27 of 81 rules` | stated rules stayed inconclusive, or the run was cut short | 4 |
| `INCOMPLETE: no request got a result; ...` | the target refused every valid request; the code is 4 with `--allow-incomplete` too | 4 |

If no valid request is answered by the service and no rule can be judged, the run ends with 3. `matrix` writes no badge for a run with
`--rule`.
";

fn codes() -> String {
    let mut text = "# Exit codes, environment, reports\n\n## Exit codes\n\nThe same for every command.\n\n| code | meaning |\n|---|---|\n"
        .to_owned();
    text.extend(exit::TABLE.iter().map(|(code, meaning)| format!("| {code} | {meaning} |\n")));
    text.push_str(VERDICTS);
    text.push_str("\n## Environment\n\nFlags win over the environment, the environment over the configuration file.\n\n");
    text.push_str(VALUES);
    text.push_str("\n| variable | meaning |\n|---|---|\n");
    let row = |(name, meaning): &(&str, &str)| format!("| `{name}` | {} |\n", meaning.replace('|', "\\|"));
    text.extend(VARIABLES.iter().map(row));
    text.push_str("\n## Reports\n\n`--report FORMAT=PATH`, repeatable; `-` is standard output.\n\n| format | what it is |\n|---|---|\n");
    text.extend(FORMATS.iter().map(|format| format!("| `{}` | {} |\n", format.name, format.about)));
    text
}

/// What a value means that is empty or not UTF-8, and when the embedded server is the target.
const VALUES: &str = "A used variable ends the command with 2 if it is not UTF-8, or if it begins with `PAYMASTER_` and is empty or blank: a secret that a CI\nsystem does not have becomes such a variable. Any other empty variable counts as not set. A variable that an argument overrides is not used.\n\nThe embedded reference server is the target only if there is neither an argument, nor `PAYMASTER_URL`, nor `target.url` in the profile. Every\nreport then has a warning (`embedded` in JSON), and `matrix` makes no badge of it.\n";

fn commands() -> String {
    let mut text = "# Commands\n\nThis page has the output of `--help`. `paymaster-conformance completions SHELL` prints a completion script, \
                    `paymaster-conformance man FOLDER` writes man pages.\n"
        .to_owned();
    let whole = Cli::command().term_width(WIDTH);
    let mut names: Vec<&str> = EXAMPLES.iter().map(|(name, ..)| *name).collect();
    names.dedup();
    for (name, command) in names.iter().filter_map(|name| Some((name, whole.find_subcommand(name)?))) {
        let mut command = command.clone().term_width(WIDTH).bin_name(format!("paymaster-conformance {name}"));
        let help = command.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = writeln!(text, "\n## {name}\n\n```text\n{}\n```", lines.join("\n"));
    }
    text
}

fn profile(of: &Specification) -> String {
    let mut text = format!(
        "# The profile: `paymaster.toml`\n\nThe profile describes a target. `paymaster-conformance init` writes the file below. Every key is \
         optional. Discovery finds a missing value where a request can show it. Otherwise the rules that need the value stay inconclusive, \
         and the report names the key to write.\n\n\
         ```toml\n{}```\n\n## Ordinary sizes\n\nThe specification shows no limits. Where the profile promises results, the \
         target must serve requests up to these sizes, which are what wallets send. It may refuse larger ones, unless `[limits]` promises \
         more. The report lists how it answers them.\n\n| may be refused | reason |\n|---|---|\n",
        template(of)
    );
    let sizes = (of.page.ordinary_sizes)();
    text.extend(sizes.into_iter().map(|(size, reason)| format!("| {size} | {reason} |\n")));
    text
}

#[test]
fn the_pages_in_the_repository_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let is_update = env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    for (name, text) in pages() {
        let path = folder.join(&name);
        if is_update {
            fs::write(&path, &text).unwrap();
        }
        let checked_in = fs::read_to_string(&path).unwrap_or_default();
        assert!(checked_in == text, "docs/{name} is out of date: CONTRIBUTING.md says how to write it");
    }
}

#[test]
fn the_reference_names_every_clause_and_every_rule_once() {
    let text = reference(DEFAULT_SPECIFICATION);
    for clause in DEFAULT_SPECIFICATION.definition.clauses() {
        assert_eq!(text.matches(&format!("### {}\n", clause.id)).count(), 1, "{}", clause.id);
    }
    for rule in DEFAULT_SPECIFICATION.rules() {
        assert_eq!(text.matches(&format!("rule `{}`:", rule.id)).count(), 1, "{}", rule.id);
    }
}
