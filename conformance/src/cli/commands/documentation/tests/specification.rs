//! The page of a specification, `docs/specification.md` for the default one: every section with its tables, statements and open points, made from
//! the sections, schema documents, clauses, readings and rules.

use paymaster_engine::specification::Specification;
use std::fmt::Write as _;

use paymaster_schemas::sections::anchor;
use paymaster_schemas::{Basis, Clause, Document, Kind, Reading, Section, document, resolved};
use paymaster_settings::DEFAULT_SPECIFICATION;
use serde_json::Value;

use crate::report::text::sections::page as file;

/// The page.
pub(super) fn page(of: &Specification) -> String {
    let mut text = of.page.introduction.to_owned();
    let sections = of.definition.sections;
    text.extend(sections.iter().map(|section| format!("- [{}](#{})\n", section.heading(), section.anchor())));
    let _ = writeln!(text, "- [{FORMS}](#{})", anchor(FORMS));
    text.extend(sections.iter().map(|section| about(section, of)));
    text + &forms(of)
}

/// A link from another page of `docs/` to a section.
pub(super) fn link(number: &str, of: &Specification) -> String {
    let anchor = of.definition.find_section(number).map_or(String::new(), Section::anchor);
    format!("[Section {number}]({}#{anchor})", file("specification", of))
}

fn about(section: &Section, of: &Specification) -> String {
    let mut text = format!("\n## {}\n\n{}\n", section.heading(), section.summary);
    let own = of.definition.documents().filter(|document| document.section == section.number);
    let own = own.filter(|document| is_table(schema(document.name)));
    text.extend(own.map(|document| table(document, of)));
    text += &calls(section, of);
    let (observed, judged): (Vec<&Clause>, Vec<&Clause>) = of
        .definition
        .clauses()
        .filter(|clause| clause.section == section.number)
        .partition(|clause| clause.basis.is_observed());
    let (stated, beyond): (Vec<&Clause>, Vec<&Clause>) =
        judged.into_iter().partition(|clause| clause.basis == Basis::Stated);
    text += &statements("| statement | rule |", &stated, of);
    text += &statements("| beyond the specification (a broken rule is a warning) | rule |", &beyond, of);
    text + &open_points(section, &observed, of)
}

// ---- tables

/// Whether a schema is a table of members, not a form and not a whole message.
fn is_table(schema: &Value) -> bool {
    schema.get("properties").is_some() && schema.get("$ref").is_none()
}

fn schema(name: &str) -> &'static Value {
    static NONE: Value = Value::Null;
    resolved(name).unwrap_or(&NONE)
}

fn table(document: &Document, of: &Specification) -> String {
    let whole = schema(document.name);
    let (name, path, title) = (document.name, document.path(), whole["title"].as_str().unwrap_or_default());
    let mut text = format!(
        "\n{title}: [{name}.schema.json](../{path})\n\n| member | type | form | required | meaning |\n|---|---|---|---|---|\n"
    );
    for (member, own) in whole["properties"].as_object().into_iter().flatten() {
        let (kind, form, required) = (type_of(own), form_of(own, of), required(document, member, of));
        let meaning = own["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "| `{member}` | {kind} | {form} | {required} | {meaning} |");
    }
    text
}

/// The document that a schema refers to.
fn referred(own: &Value) -> Option<&'static Document> {
    document(own["$ref"].as_str()?.strip_suffix(".schema.json")?)
}

fn type_of(own: &Value) -> String {
    if let Some(document) = referred(own) {
        return type_of(schema(document.name));
    }
    match &own["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
            names.join(" or ")
        }
        // Every constant and every enumeration of the documents has strings.
        _ => "string".to_owned(),
    }
}

fn form_of(own: &Value, of: &Specification) -> String {
    if let Some(document) = referred(own) {
        return link_to(document, of);
    }
    if let Some(value) = own["const"].as_str() {
        return format!("`{value}`");
    }
    if let Some(values) = own["enum"].as_array() {
        return joined(values.iter().filter_map(Value::as_str));
    }
    if let Some(document) = referred(&own["items"]) {
        return format!("of {}", link_to(document, of));
    }
    let most = own.get("maximum").map_or(" or more".to_owned(), |most| format!(" to {most}"));
    let parts = [
        own.get("maxItems").map(|count| format!("{count} elements")),
        own["pattern"].as_str().map(|pattern| format!("`{}`", pattern.replace('|', "\\|"))),
        own.get("minLength").map(|_| "not empty".to_owned()),
        own.get("minimum").map(|least| format!("{least}{most}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A link to where the page describes a document.
fn link_to(document: &Document, of: &Specification) -> String {
    let whole = schema(document.name);
    let title = whole["title"].as_str().unwrap_or(document.name).to_lowercase();
    let place = match of.definition.find_section(document.section) {
        Some(section) if is_table(whole) => section.anchor(),
        _ => anchor(FORMS),
    };
    format!("[{title}](#{place})")
}

// ---- what is required

fn required(document: &Document, member: &str, of: &Specification) -> String {
    let whole = schema(document.name);
    if whole["required"].as_array().is_some_and(|names| names.iter().any(|name| name == member)) {
        return "yes".to_owned();
    }
    let branches = whole["oneOf"].as_array().into_iter().flatten();
    let one_of: Vec<&str> = branches.filter_map(|branch| branch["required"][0].as_str()).collect();
    if one_of.contains(&member) {
        return format!("exactly one of {}", joined(one_of));
    }
    (of.page.required)(document, member)
}

pub(super) fn joined<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

// ---- methods

/// The requests of the method that a section describes: what each kind requires, and what it returns.
fn calls(section: &Section, of: &Specification) -> String {
    let is_own =
        |kind: &&Kind| document(kind.request_document).is_some_and(|own| own.section == section.number);
    let own: Vec<&Kind> = of.kinds.iter().filter(is_own).collect();
    let Some(first) = own.first() else { return String::new() };
    let parameter = first.selector.map_or("method", |(parameter, _)| parameter);
    let (params, place) = of.places.terms.rsplit_once('/').unwrap_or_default();
    let mut text = format!(
        "\n| {parameter} | required in `{}[{place}]` | result | schema |\n|---|---|---|---|\n",
        params.trim_start_matches('/')
    );
    let terms = format!("/properties{params}/prefixItems/{place}/required");
    for kind in own {
        let request =
            document(kind.request_document).expect("a test holds that every kind has its documents");
        let (name, path) = (request.name, request.path());
        let required = schema(name).pointer(&terms).and_then(Value::as_array).into_iter().flatten();
        let required = joined(required.filter_map(Value::as_str));
        let value = kind.selector.map_or(kind.method, |(_, value)| value);
        let result = document(kind.result_document).map_or(String::new(), |document| link_to(document, of));
        let _ = writeln!(text, "| `{value}` | {required} | {result} | [{name}.schema.json](../{path}) |");
    }
    text
}

// ---- statements and open points

fn statements(head: &str, clauses: &[&Clause], of: &Specification) -> String {
    if clauses.is_empty() {
        return String::new();
    }
    let rows = clauses.iter().map(|clause| format!("| {} | {} |\n", clause.text, judged_by(clause, of)));
    format!("\n{head}\n|---|---|\n{}", rows.collect::<Vec<_>>().concat())
}

/// What judges a clause, with a link to its reference.
fn judged_by(clause: &Clause, of: &Specification) -> String {
    if let Some(reason) = clause.unjudged {
        return format!("{}: not judged, {reason}", reference(clause, clause.id, of));
    }
    let judges: Vec<String> = of
        .rules()
        .filter(|rule| rule.clause == clause.id)
        .map(|rule| reference(clause, rule.id, of))
        .collect();
    if judges.is_empty() && of.observers.iter().any(|observer| observer.clause == clause.id) {
        return format!("{}: observed", reference(clause, clause.id, of));
    }
    judges.join(", ")
}

fn reference(clause: &Clause, name: &str, of: &Specification) -> String {
    format!("[`{name}`]({}#{})", file("reference", of), anchor(clause.id))
}

/// Where the section is silent or disagrees with itself: the readings, and what is only observed.
fn open_points(section: &Section, observed: &[&Clause], of: &Specification) -> String {
    let all = of.definition.readings;
    let readings: Vec<&Reading> = all.iter().filter(|reading| reading.section == section.number).collect();
    if readings.is_empty() && observed.is_empty() {
        return String::new();
    }
    let mut text = "\n| open point | how it is read |\n|---|---|\n".to_owned();
    for reading in &readings {
        let Reading { id, question, why, .. } = reading;
        let (default, dialect) = (reading.default(), file("dialect", of));
        let others = joined(reading.alternatives[1..].iter().copied());
        let _ = writeln!(
            text,
            "| {question} | default `{default}`: {why}. Also lawful: {others}. See [`{id}`]({dialect}#{id}). |"
        );
    }
    let is_read = |clause: &Clause| {
        let (_, rest) = clause.id.split_once('.').unwrap_or_default();
        all.iter().any(|reading| rest == reading.id)
    };
    for clause in observed.iter().filter(|clause| !is_read(clause)) {
        let _ = writeln!(text, "| {} | {} |", clause.text, judged_by(clause, of));
    }
    text
}

// ---- forms

const FORMS: &str = "Forms";

/// The forms of values that several tables share.
fn forms(of: &Specification) -> String {
    let mut text = format!("\n## {FORMS}\n\n| form | type | meaning |\n|---|---|---|\n");
    for document in of.definition.documents() {
        let whole = schema(document.name);
        if whole.get("properties").is_none() && whole.get("$ref").is_none() {
            let (path, kind) = (document.path(), type_of(whole));
            let title = whole["title"].as_str().unwrap_or(document.name);
            let meaning = whole["description"].as_str().unwrap_or_default();
            let _ = writeln!(text, "| [{title}](../{path}) | {kind} | {meaning} |");
        }
    }
    text
}

#[test]
fn every_section_that_a_clause_cites_is_a_heading() {
    let text = page(DEFAULT_SPECIFICATION);
    for clause in DEFAULT_SPECIFICATION.definition.clauses() {
        let heading = DEFAULT_SPECIFICATION.definition.find_section(clause.section).map(Section::heading);
        let heading = heading.unwrap_or_else(|| panic!("{}: section {}", clause.id, clause.section));
        assert_eq!(text.matches(&format!("\n## {heading}\n")).count(), 1, "{heading}");
    }
}

#[test]
fn every_clause_every_rule_and_every_reading_is_on_the_page() {
    let text = page(DEFAULT_SPECIFICATION);
    for clause in DEFAULT_SPECIFICATION.definition.clauses() {
        let read =
            DEFAULT_SPECIFICATION.definition.readings.iter().any(|reading| clause.id.ends_with(reading.id));
        assert!(read || text.contains(clause.text), "{}", clause.id);
    }
    for rule in DEFAULT_SPECIFICATION.rules() {
        assert!(text.contains(&format!("[`{}`]", rule.id)), "{}", rule.id);
    }
    for reading in DEFAULT_SPECIFICATION.definition.readings {
        assert!(text.contains(reading.question), "{}", reading.id);
    }
}

#[test]
fn every_member_of_every_table_has_a_type_and_a_meaning() {
    for document in
        DEFAULT_SPECIFICATION.definition.documents().filter(|document| is_table(schema(document.name)))
    {
        for (member, own) in schema(document.name)["properties"].as_object().into_iter().flatten() {
            assert!(!type_of(own).is_empty(), "{} {member}", document.name);
            assert!(own["description"].is_string(), "{} {member}", document.name);
        }
    }
}

#[test]
fn what_is_required_depends_on_the_method_and_the_mode() {
    let of = |name: &str, member: &str| {
        document(name).map(|document| required(document, member, DEFAULT_SPECIFICATION)).unwrap_or_default()
    };
    assert_eq!(of("mode-object", "mode"), "yes");
    assert_eq!(of("mode-object", "sponsorshipInfo"), "in `pm_getFeeQuoteOrData` / `SPONSORED`");
    assert_eq!(
        of("token-info", "feeTokenAddress"),
        "one of `feeTokenAddress`, `tokenAddress` in `pm_sponsorUserOperation` / `ERC20`"
    );
    assert_eq!(
        of("user-operation", "callGasLimit"),
        "listed; optional in `pm_sponsorUserOperation` / `ERC20`"
    );
    assert_eq!(of("quote-result", "unsupportedTokens"), "no");
    assert_eq!(of("response-envelope", "error"), "exactly one of `result`, `error`");
}
