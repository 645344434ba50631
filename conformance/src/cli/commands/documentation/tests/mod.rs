//! The generated pages of `docs/`: specification, clauses and rules, readings, codes, commands, profile. A test compares them with the files in
//! the repository. As for snapshots, `INSTA_UPDATE=always` writes those that differ.

mod specification;

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::Path};

use clap::CommandFactory;
use indexmap::IndexSet;
use paymaster_engine::{rules::Rule, specification::Specification};
use paymaster_schemas::{Basis, Clause, Reading, Section, sections::anchor};
use paymaster_settings::{DEFAULT_SPECIFICATION, SPECIFICATIONS, exit, settings::environment::variables};

use super::{cost, how_judged};
use crate::cli::args::Cli;
use crate::cli::commands::init::template;
use crate::cli::examples::EXAMPLES;
use crate::report::formats::FORMATS;
use crate::report::text::sections;
use crate::report::text::words::count;

/// Width of the help in `commands.md`.
const WIDTH: usize = 110;

const MADE: &str =
    "<!-- Generated: see CONTRIBUTING.md. A test fails when this file is out of date. Do not edit. -->\n\n";

/// The command that writes the pages.
const WRITES: &str = "INSTA_UPDATE=always cargo test -p paymaster-conformance --lib documentation";

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

#[test]
fn the_pages_in_the_repository_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (name, text) in pages() {
        let path = folder.join(&name);
        if fs::read_to_string(&path).is_ok_and(|checked_in| checked_in == text) {
            continue;
        }
        let update = env::var("INSTA_UPDATE");
        assert_eq!(update.as_deref(), Ok("always"), "docs/{name} is out of date: run `{WRITES}`");
        fs::write(&path, text).unwrap();
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

fn reference(of: &Specification) -> String {
    let mut by_section: BTreeMap<Vec<u32>, Vec<&Clause>> = BTreeMap::new();
    for clause in of.definition.clauses() {
        by_section.entry(Section::order(clause.section)).or_default().push(clause);
    }
    let sections = by_section.values().map(|own| {
        let link = |clause: &&Clause| format!("[{}](#{})", clause.id, anchor(clause.id));
        let links: Vec<String> = own.iter().map(link).collect();
        format!("| {} | {} |", specification::link(own[0].section, of), links.join(", "))
    });
    let needs: IndexSet<&str> =
        of.rules().map(|rule| rule.advice.text()).filter(|need| !need.is_empty()).collect();
    let mut text = include_str!("reference.md")
        .replace("{specification}", &sections::page("specification", of))
        .replace("{bases}", &lines(Basis::ALL.map(|basis| format!("| {basis} | {} |", cost(basis)))))
        .replace("{sections}", &lines(sections))
        .replace("{needs}", &lines((1..).zip(&needs).map(|(place, need)| format!("{place}. {need}"))));
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

/// Lines of a page, without the end of the last one.
fn lines(all: impl IntoIterator<Item = String>) -> String {
    all.into_iter().collect::<Vec<_>>().join("\n")
}

fn of_clause(clause: &Clause, needs: &IndexSet<&str>, of: &Specification) -> String {
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
fn of_rule(rule: &Rule, needs: &IndexSet<&str>) -> String {
    let (id, how, times) = (rule.id, how_judged(rule), count(rule.quota, "time"));
    let place = needs.get_index_of(rule.advice.text());
    let need = place.map(|place| format!("; needs [{}](#what-rules-need)", place + 1)).unwrap_or_default();
    let hint =
        if rule.hint.is_empty() { String::new() } else { format!(". When it is broken: {}", rule.hint) };
    format!("- rule `{id}`: judged {how}; passes after it held {times}{need}{hint}\n")
}

fn dialect(of: &Specification) -> String {
    let mut text = include_str!("dialect.md").to_owned();
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

fn codes() -> String {
    let codes = exit::TABLE.iter().map(|(code, meaning)| format!("| {code} | {meaning} |"));
    let row = |(name, meaning): (String, String)| format!("| `{name}` | {} |", meaning.replace('|', "\\|"));
    let formats = FORMATS.iter().map(|format| format!("| `{}` | {} |", format.name, format.about));
    include_str!("codes.md")
        .replace("{codes}", &lines(codes))
        .replace("{variables}", &lines(variables().map(row)))
        .replace("{formats}", &lines(formats))
}

fn commands() -> String {
    let mut text = include_str!("commands.md").to_owned();
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
    let sizes = (of.page.ordinary_sizes)().into_iter().map(|(size, reason)| format!("| {size} | {reason} |"));
    include_str!("profile.md").replace("{file}", &template(of)).replace("{sizes}", &lines(sizes))
}
