//! Simpler requests with the same meaning: fewer members, shorter lists, shorter and simpler values.
//!
//! The specification says what may change at a place. The caller checks [`crate::knowledge::Knowledge::requirement`] again.

mod plainer;

use paymaster_schemas::validator_for;
use serde_json::Value;

use crate::json::{escaped, with_value};

/// The longest list from which every item is removed in turn.
const TAKE_EACH: usize = 16;

/// Simpler forms of `base`, the simplest first. Each has less [`weight`], so that repeated shrinking ends. When `base` is valid
/// against the schema document `document`, each of them is too.
pub fn simpler(document: Option<&str>, base: &Value, may_change: MayChange) -> Vec<Value> {
    let validator = document.and_then(validator_for).filter(|validator| validator.is_valid(base));
    let valid = |candidate: &Value| validator.is_none_or(|validator| validator.is_valid(candidate));
    let before = weight(base);
    let mut candidates: Vec<(usize, Value)> = Vec::new();
    let mut offer = |candidate: Value| {
        let after = weight(&candidate);
        let known = |(known_weight, known): &(usize, Value)| *known_weight == after && *known == candidate;
        if after < before && !candidates.iter().any(known) && valid(&candidate) {
            candidates.push((after, candidate));
        }
    };
    let mut steps = Vec::new();
    collect(base, "", may_change, &mut steps);
    if validator.is_some() {
        offer(without_what_may_go(base, &steps, &valid));
    }
    for step in &steps {
        if let Some(candidate) = step.taken(base) {
            offer(candidate);
        }
    }
    candidates.sort_by_key(|(after, _)| *after);
    candidates.into_iter().map(|(_, candidate)| candidate).collect()
}

/// The size of a value: it counts members, items and characters. Zeros count least.
pub fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 1,
        Value::Number(number) => plainer::text_weight(&number.to_string()),
        Value::String(text) => 2 + plainer::text_weight(text),
        Value::Array(items) => 3 + items.iter().map(weight).sum::<usize>(),
        Value::Object(members) => 3 + members.values().map(|member| 4 + weight(member)).sum::<usize>(),
    }
}

/// A change at one place: another value, or none to remove what stands there.
struct Step {
    pointer: String,
    value: Option<Value>,
}

impl Step {
    fn taken(&self, base: &Value) -> Option<Value> {
        with_value(base, &self.pointer, self.value.as_ref())
    }
}

/// What shrinking may do at a place of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Anything.
    Free,
    /// It must stay; its content may change.
    Stays,
    /// It may be removed; of its text only the letter case may change.
    LetterCase,
    /// It may be removed and must not change.
    Removal,
    /// It must stay; the letter case may change, or the whole text to this one.
    LetterCaseOr(&'static str),
    /// It may be removed or changed to any value but zero.
    Positive,
    /// It must not change.
    Fixed,
}

/// Says what shrinking may do at a place, a JSON pointer.
pub type MayChange = fn(&str) -> Change;

fn collect(value: &Value, pointer: &str, may_change: MayChange, steps: &mut Vec<Step>) {
    let allowed = may_change(pointer);
    let mut replace = |value| steps.push(Step { pointer: pointer.to_owned(), value: Some(value) });
    match value {
        Value::String(text) if matches!(allowed, Change::LetterCase | Change::LetterCaseOr(_)) => {
            replace(Value::String(text.to_ascii_lowercase()));
            if let Change::LetterCaseOr(plain) = allowed {
                replace(plain.into());
            }
        }
        Value::String(text) if allowed == Change::Free => {
            plainer::texts(text).for_each(|text| replace(text.into()));
        }
        Value::String(text) if allowed == Change::Positive => {
            plainer::texts(text)
                .filter(|text| !text.trim_start_matches("0x").bytes().all(|digit| digit == b'0'))
                .for_each(|text| replace(text.into()));
        }
        Value::Number(number) if allowed == Change::Free => plainer::numbers(number).for_each(replace),
        Value::Array(items) => {
            if allowed == Change::Free && items.len() > 1 {
                let half = items.len() / 2;
                replace(Value::Array(Vec::new()));
                replace(Value::Array(items[..half].to_vec()));
                replace(Value::Array(items[half..].to_vec()));
            }
            for (index, item) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                let at_an_end = index == 0 || index + 1 == items.len();
                if items.len() <= TAKE_EACH || at_an_end {
                    offer_removal(&pointer, may_change, steps);
                }
                collect(item, &pointer, may_change, steps);
            }
        }
        Value::Object(members) => {
            if allowed == Change::Free && members.len() > 1 {
                replace(Value::Object(serde_json::Map::new()));
            }
            for (name, member) in members {
                let pointer = format!("{pointer}/{}", escaped(name));
                offer_removal(&pointer, may_change, steps);
                collect(member, &pointer, may_change, steps);
            }
        }
        _ => {}
    }
}

fn offer_removal(pointer: &str, may_change: MayChange, steps: &mut Vec<Step>) {
    if matches!(may_change(pointer), Change::Free | Change::Positive | Change::LetterCase | Change::Removal) {
        steps.push(Step { pointer: pointer.to_owned(), value: None });
    }
}

/// `base` without everything that the schema does not require, outermost first.
fn without_what_may_go(base: &Value, steps: &[Step], valid: &dyn Fn(&Value) -> bool) -> Value {
    let mut left = base.clone();
    // In reverse order, so that the indices of the remaining items stay valid.
    for step in steps.iter().rev() {
        let without = if step.value.is_none() { step.taken(&left) } else { None };
        left = without.filter(valid).unwrap_or(left);
    }
    left
}
