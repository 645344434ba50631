//! The page `docs/specification.md`: every section of the specification with its tables, statements and open points, made from
//! the sections, schema documents, clauses, readings and rules.

use paymaster_fee_quote::{SPECIFICATION, observers::OBSERVERS, tables};
use std::fmt::Write as _;

use paymaster_schemas::{
    Basis, Clause, Document, FEE_QUOTE, Kind, Reading, Section, document, kinds, resolved, sections::anchor,
};
use serde_json::Value;

const INTRODUCTION: &str = "# The specification

This page describes, in our own words, the specification that `paymaster-conformance` tests: a paymaster service for ERC-4337 user
operations with two JSON-RPC methods, `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation`, and two modes, `SPONSORED` and `ERC20`.
The numbers of the sections are those of the specification. Rules, reports and `explain` cite them.

Three words are short for a request or a mode:

| word | meaning |
|---|---|
| quote request | a call of `pm_getFeeQuoteOrData` |
| sponsor request | a call of `pm_sponsorUserOperation` |
| token mode, sponsored mode | `ERC20`, `SPONSORED` |

The column *required* of the tables has one of these values:

| value | meaning |
|---|---|
| yes | the member must be present |
| in ... | the member must be present in this method and mode |
| listed | a request table lists the member, and the specification does not mark it as required or as optional; a run never fails a server that refuses a request without it |
| no | the member of a result may be absent |

";

/// The page.
pub(super) fn page() -> String {
    let mut text = INTRODUCTION.to_owned();
    for section in FEE_QUOTE.sections {
        let _ = writeln!(text, "- [{}](#{})", section.heading(), section.anchor());
    }
    let _ = writeln!(text, "- [{FORMS}](#{})", anchor(FORMS));
    for section in FEE_QUOTE.sections {
        about(&mut text, section);
    }
    forms(&mut text);
    text
}

/// A link from another page of `docs/` to a section.
pub(super) fn link(number: &str) -> String {
    let anchor = FEE_QUOTE.find_section(number).map_or(String::new(), Section::anchor);
    format!("[Section {number}](specification.md#{anchor})")
}

fn about(text: &mut String, section: &Section) {
    let _ = writeln!(text, "\n## {}\n\n{}", section.heading(), section.summary);
    let own = || FEE_QUOTE.documents().filter(|document| document.section == section.number);
    for document in own().filter(|document| is_table(schema(document.name))) {
        table(text, document);
    }
    calls(text, section);
    let of_section = |wanted: fn(Basis) -> bool| -> Vec<&Clause> {
        FEE_QUOTE
            .clauses()
            .filter(|clause| clause.section == section.number && wanted(clause.basis))
            .collect()
    };
    statements(text, "| statement | rule |", &of_section(|basis| basis == Basis::Stated));
    statements(
        text,
        "| beyond the specification (a broken rule is a warning) | rule |",
        &of_section(|basis| basis != Basis::Stated && !basis.is_observed()),
    );
    open_points(text, section, &of_section(Basis::is_observed));
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

fn table(text: &mut String, document: &Document) {
    let whole = schema(document.name);
    let _ = writeln!(
        text,
        "\n{}: [{name}.schema.json](../{path})\n\n| member | type | form | required | meaning |\n|---|---|---|---|---|",
        whole["title"].as_str().unwrap_or_default(),
        name = document.name,
        path = document.path(),
    );
    for (member, own) in whole["properties"].as_object().into_iter().flatten() {
        let _ = writeln!(
            text,
            "| `{member}` | {} | {} | {} | {} |",
            type_of(own),
            form_of(own),
            required(document, member),
            own["description"].as_str().unwrap_or_default(),
        );
    }
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

fn form_of(own: &Value) -> String {
    if let Some(document) = referred(own) {
        return link_to(document);
    }
    if let Some(value) = own["const"].as_str() {
        return format!("`{value}`");
    }
    if let Some(values) = own["enum"].as_array() {
        return joined(values.iter().filter_map(Value::as_str));
    }
    if let Some(document) = referred(&own["items"]) {
        return format!("of {}", link_to(document));
    }
    let mut parts = Vec::new();
    if let Some(count) = own.get("maxItems") {
        parts.push(format!("{count} elements"));
    }
    if let Some(pattern) = own["pattern"].as_str() {
        parts.push(format!("`{}`", pattern.replace('|', "\\|")));
    }
    if own.get("minLength").is_some() {
        parts.push("not empty".to_owned());
    }
    match (own.get("minimum"), own.get("maximum")) {
        (Some(least), Some(most)) => parts.push(format!("{least} to {most}")),
        (Some(least), None) => parts.push(format!("{least} or more")),
        _ => {}
    }
    parts.join(", ")
}

/// A link to where the page describes a document.
fn link_to(document: &Document) -> String {
    let whole = schema(document.name);
    let title = whole["title"].as_str().unwrap_or(document.name).to_lowercase();
    let place = match FEE_QUOTE.find_section(document.section) {
        Some(section) if is_table(whole) => section.anchor(),
        _ => anchor(FORMS),
    };
    format!("[{title}](#{place})")
}

// ---- what is required

fn required(document: &Document, member: &str) -> String {
    let whole = schema(document.name);
    if names(&whole["required"], member) {
        return "yes".to_owned();
    }
    let one_of = choice(&whole["oneOf"]);
    if one_of.contains(&member) {
        return format!("exactly one of {}", joined(one_of));
    }
    let demanding: Vec<Kind> =
        kinds::ALL.into_iter().filter(|pair| demands(*pair, document.name, member)).collect();
    if demanding.len() == kinds::ALL.len() {
        return "yes".to_owned();
    }
    if let [pair] = demanding.as_slice() {
        let names = choice(&info(*pair)["anyOf"]);
        if names.contains(&member) {
            return format!("one of {} in {}", joined(names), called(*pair));
        }
    }
    if !demanding.is_empty() {
        let calls: Vec<String> = demanding.into_iter().map(called).collect();
        return format!("in {}", calls.join(" and "));
    }
    let optional = kinds::ALL
        .into_iter()
        .find(|pair| document.name == "user-operation" && tables::is_optional(member, *pair));
    match optional {
        Some(pair) => format!("listed; optional in {}", called(pair)),
        None if is_of_requests(document) => "listed".to_owned(),
        None => "no".to_owned(),
    }
}

/// Whether the requests of a pair must have a member of the mode object, or of its token info.
fn demands(pair: Kind, document: &str, member: &str) -> bool {
    match document {
        "mode-object" => names(&mode_object(pair)["required"], member),
        "token-info" => choice(&info(pair)["anyOf"]).contains(&member),
        _ => false,
    }
}

fn mode_object(pair: Kind) -> &'static Value {
    &schema(pair.request_document)["properties"]["params"]["prefixItems"][1]
}

fn info(pair: Kind) -> &'static Value {
    &mode_object(pair)["properties"]["tokenInfo"]
}

/// The members of which a `oneOf` or `anyOf` requires one.
fn choice(branches: &Value) -> Vec<&str> {
    let branches = branches.as_array().into_iter().flatten();
    branches.filter_map(|branch| branch["required"][0].as_str()).collect()
}

fn names(list: &Value, member: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|name| name == member))
}

/// Sections 2.1 to 2.5 are about requests.
fn is_of_requests(document: &Document) -> bool {
    ["2.1", "2.2", "2.3", "2.4", "2.5"].contains(&document.section)
}

/// The value of the parameter that selects a kind of call.
fn selected(pair: Kind) -> &'static str {
    pair.selector.map_or("-", |(_, value)| value)
}

fn called(pair: Kind) -> String {
    format!("`{}` / `{}`", pair.method, selected(pair))
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

// ---- methods

/// The requests of the method that a section describes: what each mode requires, and what it returns.
fn calls(text: &mut String, section: &Section) {
    let own: Vec<Kind> = kinds::ALL
        .into_iter()
        .filter(|pair| {
            document(pair.request_document).is_some_and(|document| document.section == section.number)
        })
        .collect();
    if own.is_empty() {
        return;
    }
    text.push_str("\n| mode | required in `params[1]` | result | schema |\n|---|---|---|---|\n");
    for pair in own {
        let required = mode_object(pair)["required"].as_array().into_iter().flatten();
        let request =
            document(pair.request_document).expect("a test holds that every kind has its documents");
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | [{}.schema.json](../{}) |",
            selected(pair),
            joined(required.filter_map(Value::as_str)),
            document(pair.result_document).map_or(String::new(), link_to),
            request.name,
            request.path(),
        );
    }
}

// ---- statements and open points

fn statements(text: &mut String, head: &str, clauses: &[&Clause]) {
    if clauses.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{head}\n|---|---|");
    for clause in clauses {
        let _ = writeln!(text, "| {} | {} |", clause.text, judged_by(clause));
    }
}

/// What judges a clause, with a link to its reference.
fn judged_by(clause: &Clause) -> String {
    if let Some(reason) = clause.unjudged {
        return format!("{}: not judged, {reason}", reference(clause, clause.id));
    }
    let judges: Vec<String> = SPECIFICATION
        .rules()
        .filter(|rule| rule.clause == clause.id)
        .map(|rule| reference(clause, rule.id))
        .collect();
    if judges.is_empty() && OBSERVERS.iter().any(|observer| observer.clause == clause.id) {
        return format!("{}: observed", reference(clause, clause.id));
    }
    judges.join(", ")
}

fn reference(clause: &Clause, name: &str) -> String {
    format!("[`{name}`](reference.md#{})", anchor(clause.id))
}

/// Where the section is silent or disagrees with itself: the readings, and what is only observed.
fn open_points(text: &mut String, section: &Section, observed: &[&Clause]) {
    let readings: Vec<&Reading> =
        FEE_QUOTE.readings.iter().filter(|reading| reading.section == section.number).collect();
    if readings.is_empty() && observed.is_empty() {
        return;
    }
    text.push_str("\n| open point | how it is read |\n|---|---|\n");
    for reading in &readings {
        let others = joined(reading.alternatives[1..].iter().copied());
        let _ = writeln!(
            text,
            "| {} | default `{}`: {}. Also lawful: {others}. See [`{id}`](dialect.md#{id}). |",
            reading.question,
            reading.default(),
            reading.why,
            id = reading.id,
        );
    }
    let is_read = |clause: &&&Clause| {
        FEE_QUOTE
            .readings
            .iter()
            .any(|reading| clause.id.split_once('.').is_some_and(|(_, rest)| rest == reading.id))
    };
    for clause in observed.iter().filter(|clause| !is_read(clause)) {
        let _ = writeln!(text, "| {} | {} |", clause.text, judged_by(clause));
    }
}

// ---- forms

const FORMS: &str = "Forms";

/// The forms of values that several tables share.
fn forms(text: &mut String) {
    let _ = writeln!(text, "\n## {FORMS}\n\n| form | type | meaning |\n|---|---|---|");
    for document in FEE_QUOTE.documents() {
        let whole = schema(document.name);
        if whole.get("properties").is_some() {
            continue;
        }
        if whole.get("$ref").is_some() {
            continue;
        }
        let _ = writeln!(
            text,
            "| [{}](../{}) | {} | {} |",
            whole["title"].as_str().unwrap_or(document.name),
            document.path(),
            type_of(whole),
            whole["description"].as_str().unwrap_or_default(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_that_a_clause_cites_is_a_heading() {
        let text = page();
        for clause in FEE_QUOTE.clauses() {
            let heading = FEE_QUOTE.find_section(clause.section).map(Section::heading);
            let heading = heading.unwrap_or_else(|| panic!("{}: section {}", clause.id, clause.section));
            assert_eq!(text.matches(&format!("\n## {heading}\n")).count(), 1, "{heading}");
        }
    }

    #[test]
    fn every_clause_every_rule_and_every_reading_is_on_the_page() {
        let text = page();
        for clause in FEE_QUOTE.clauses() {
            let read = FEE_QUOTE.readings.iter().any(|reading| clause.id.ends_with(reading.id));
            assert!(read || text.contains(clause.text), "{}", clause.id);
        }
        for rule in SPECIFICATION.rules() {
            assert!(text.contains(&format!("[`{}`]", rule.id)), "{}", rule.id);
        }
        for reading in FEE_QUOTE.readings {
            assert!(text.contains(reading.question), "{}", reading.id);
        }
    }

    #[test]
    fn every_member_of_every_table_has_a_type_and_a_meaning() {
        for document in FEE_QUOTE.documents().filter(|document| is_table(schema(document.name))) {
            for (member, own) in schema(document.name)["properties"].as_object().into_iter().flatten() {
                assert!(!type_of(own).is_empty(), "{} {member}", document.name);
                assert!(own["description"].is_string(), "{} {member}", document.name);
            }
        }
    }

    #[test]
    fn what_is_required_depends_on_the_method_and_the_mode() {
        let of = |name: &str, member: &str| {
            document(name).map(|document| required(document, member)).unwrap_or_default()
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
}
