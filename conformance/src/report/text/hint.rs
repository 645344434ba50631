//! What to change in an answer that breaks a rule: `send 6, not "6"`.

use paymaster_engine::{
    rules::{Check, shown},
    verdict::finding::Finding,
};
use paymaster_schemas::member_validator;
use serde_json::{Number, Value};

/// What to change. Of a member of a table: the value that was sent in the type that the schema accepts, where it accepts one, otherwise
/// what is expected. Of other rules: both values where both are known, and what the rule advises.
pub(crate) fn of(finding: &Finding) -> String {
    let violation = &finding.violation;
    let sent = sent(finding);
    let not = sent.as_ref().map_or(String::new(), |_| format!(", not {}", violation.actual));
    let advice = finding.rule.hint;
    match finding.rule.check {
        Check::Row { document, member, .. } => {
            let validator = member_validator(document, member);
            let fits = |value: &Value| validator.is_some_and(|validator| validator.is_valid(value));
            let written = sent.as_ref().and_then(|value| otherwise_written(value).filter(fits));
            format!("send {}{not}", written.map_or_else(|| violation.expected.clone(), |value| shown(&value)))
        }
        _ if sent.is_some() && serde_json::from_str::<Value>(&violation.expected).is_ok() => {
            format!("send {}{not}: {advice}", violation.expected)
        }
        _ => advice.to_owned(),
    }
}

/// The value at which the rule is broken; none where there is none, or where the whole answer is wrong.
fn sent(finding: &Finding) -> Option<Value> {
    let violation = &finding.violation;
    let response = finding.exchanges.get(violation.member)?.outcome.as_ref().ok()?;
    let answer: Value = serde_json::from_slice(&response.body).ok()?;
    answer.pointer(&violation.pointer).filter(|_| !violation.pointer.is_empty()).cloned()
}

/// A text as the number that it writes, a number as text.
fn otherwise_written(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => serde_json::from_str::<Number>(text).ok().map(Value::Number),
        Value::Number(number) => Some(Value::String(number.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use paymaster_engine::rules::Violation;
    use paymaster_fee_quote::SPECIFICATION;
    use serde_json::json;

    #[test]
    fn a_hint_names_the_value_to_send() {
        let finding = |rule: &str, pointer: &str, expected: &str, answer: Value| {
            let actual = answer.pointer(pointer).map_or_else(String::new, shown);
            let mut finding = sample::violations().summary.findings.remove(0);
            finding.rule = SPECIFICATION.find_rule(rule).unwrap();
            finding.violation =
                Violation { member: 1, pointer: pointer.to_owned(), expected: expected.to_owned(), actual };
            let response = finding.exchanges[1].outcome.as_mut().unwrap();
            response.body = answer.to_string().into();
            of(&finding)
        };
        let decimal =
            |answer| finding("fee-quote.decimal", "/result/feeQuotes/0/decimal", "an integer", answer);
        let quote = |quote: Value| json!({"result": {"feeQuotes": [quote]}});
        assert_eq!(decimal(quote(json!({"decimal": "6"}))), "send 6, not \"6\"");
        assert_eq!(decimal(quote(json!({"decimal": "six"}))), "send an integer, not \"six\"");
        assert_eq!(decimal(quote(json!({}))), "send an integer");
        let gas = finding(
            "sponsored-result.preVerificationGas",
            "/result/g",
            "a string",
            json!({"result": {"g": 50000}}),
        );
        assert_eq!(gas, "send \"50000\", not 50000");
        let id = finding("answer.id", "/id", "7", json!({"id": "7"}));
        assert!(id.starts_with("send 7, not \"7\": "), "{id}");
    }
}
