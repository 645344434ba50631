//! The line and column in the schema documents that a rule or a finding refers to.

use paymaster_schemas::{Document, Pair, document, documents, resolved};
use serde_json::Value;

use crate::report::text::raw_json::{self, Node};
use paymaster_judge::{
    rules::{Check, Rule},
    verdict::finding::Finding,
};

/// The document of the answer envelope (section 2.10): the place of rules that belong to no other table.
const ENVELOPE: &str = "response-envelope";

/// A place in a schema document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaPlace {
    /// The document.
    pub(crate) document: &'static Document,
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
}

/// The place of a rule: the row of its table, or the document of its section.
pub(crate) fn of_rule(rule: &Rule) -> SchemaPlace {
    let section = rule.clause().section;
    let of_section = || {
        let tables = documents().iter().filter(|document| document.section == section);
        let mut objects =
            tables.filter(|table| resolved(table.name).is_some_and(|schema| schema["type"] == "object"));
        objects.next().map_or(ENVELOPE, |table| table.name)
    };
    match &rule.check {
        Check::Row { document, member, .. } => locate(document, &["properties", member]),
        _ => locate(of_section(), &[]),
    }
}

/// The place of the member at which a rule was broken; the place of the rule where the schemas have no such member.
pub(crate) fn of_finding(finding: &Finding) -> SchemaPlace {
    let (mut name, mut path) = (ENVELOPE, Vec::new());
    let mut found = None;
    for step in raw_json::steps(&finding.violation.pointer) {
        let Some(schema) = resolved(name).and_then(|schema| schema.pointer(&pointer(&path))) else {
            break;
        };
        if schema["properties"].get(&step).is_some() {
            path.extend(["properties".to_owned(), step.clone()]);
            found = Some((name, path.clone()));
        } else if schema.get("items").is_some() && step.parse::<usize>().is_ok() {
            path.push("items".to_owned());
        } else {
            break;
        }
        // The schema of the envelope leaves the result open: method and mode name its document.
        let of_pair = (name == ENVELOPE && step == "result")
            .then_some(finding.pair)
            .flatten();
        if let Some(next) = of_pair
            .map(Pair::result_document)
            .or_else(|| reference(name, &path))
        {
            (name, path) = (next, Vec::new());
        }
    }
    match found {
        Some((name, path)) => locate(name, &path.iter().map(String::as_str).collect::<Vec<_>>()),
        None => of_rule(finding.rule),
    }
}

/// The document that the schema at this path refers to.
fn reference(name: &str, path: &[String]) -> Option<&'static str> {
    let schema: &Value = resolved(name)?.pointer(&pointer(path))?;
    let file = schema.get("$ref")?.as_str()?;
    document(file.strip_suffix(".schema.json")?).map(|document| document.name)
}

fn pointer(path: &[String]) -> String {
    let steps = path.iter().map(|step| step.replace('~', "~0").replace('/', "~1"));
    steps.fold(String::new(), |pointer, step| pointer + "/" + &step)
}

/// The line and column of a member of a document; the beginning of the document where it is not found.
fn locate(name: &str, path: &[&str]) -> SchemaPlace {
    let document = document(name).unwrap_or(&documents()[0]);
    let at = raw_json::read(document.text).and_then(|root| offset(&root, path, document.text));
    let before = &document.text[..at.unwrap_or_default()];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    SchemaPlace {
        document,
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
    }
}

/// The byte at which the member begins, its name included.
fn offset(node: &Node<'_>, path: &[&str], text: &str) -> Option<usize> {
    let (step, rest) = path.split_first()?;
    match node {
        Node::Object(members) => {
            let (name, value) = members
                .iter()
                .find(|(name, _)| raw_json::unquoted(name) == **step)?;
            if rest.is_empty() {
                // The name is a slice of the text.
                return (name.as_ptr() as usize).checked_sub(text.as_ptr() as usize);
            }
            offset(value, rest, text)
        }
        Node::Array(items) => offset(items.get(step.parse::<usize>().ok()?)?, rest, text),
        Node::Scalar(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use paymaster_judge::rules::rules;

    /// The line of the document at a place.
    fn line(place: &SchemaPlace) -> &'static str {
        place.document.text.lines().nth(place.line - 1).unwrap()
    }

    #[test]
    fn rows_point_at_their_row_and_every_rule_at_some_line() {
        for rule in rules() {
            let place = of_rule(rule);
            let text: String = line(&place).chars().skip(place.column - 1).collect();
            assert!(!text.is_empty(), "{}", rule.id);
            if let Check::Row { document, member, .. } = rule.check {
                assert_eq!(place.document.name, document);
                assert!(text.starts_with(&format!("\"{member}\":")), "{}: {text}", rule.id);
            }
        }
    }

    #[test]
    fn findings_point_at_the_member() {
        let mut finding = sample::violations().summary.findings.remove(0);
        for (pointer, document, start) in [
            ("/id", "response-envelope", "\"id\""),
            ("/result", "response-envelope", "\"result\""),
            ("/result/feeQuotes", "quote-result", "\"feeQuotes\""),
            ("/result/feeQuotes/3", "quote-result", "\"feeQuotes\""),
            ("/result/feeQuotes/3/symbol", "fee-quote", "\"symbol\""),
            ("/error/code", "error-object", "\"code\""),
            ("/result/mode", "response-envelope", "\"result\""),
            ("", "quote-result", "\"feeQuotes\""),
            ("/nonsense", "quote-result", "\"feeQuotes\""),
        ] {
            pointer.clone_into(&mut finding.violation.pointer);
            let place = of_finding(&finding);
            assert_eq!(place.document.name, document, "{pointer}");
            assert!(
                line(&place).trim_start().starts_with(start),
                "{pointer}: {}",
                line(&place)
            );
        }
    }
}
