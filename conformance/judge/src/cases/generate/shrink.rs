//! Simpler requests with the same meaning: fewer members, shorter lists, shorter and simpler values.
//!
//! Tokens, accounts, method, mode and id stay, because the expectation of the request depends on them. Sender, nonce, initCode and
//! callData change: the caller checks [`crate::target::context::Context::expectation`] again.

mod plainer;

use paymaster_schemas::validator_for;
use serde_json::Value;

use crate::json::pointer::{escaped, remove};
use crate::message::tables::{FEES, GAS};

/// A sender that a person would write.
const PLAIN_SENDER: &str = "0x1000000000000000000000000000000000000001";

/// The longest list from which every item is removed in turn.
const TAKE_EACH: usize = 16;

/// Simpler forms of `base`, the simplest first. Each has less [`weight`], so that repeated shrinking ends. When `base` is valid
/// against the schema document `document`, each of them is too.
pub fn simpler(document: Option<&str>, base: &Value) -> Vec<Value> {
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
    collect(base, "", &mut steps);
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

/// A change at one place.
struct Step {
    pointer: String,
    change: Change,
}

enum Change {
    Remove,
    Replace(Value),
}

impl Step {
    fn taken(&self, base: &Value) -> Option<Value> {
        let mut changed = base.clone();
        match &self.change {
            Change::Replace(value) => *changed.pointer_mut(&self.pointer)? = value.clone(),
            Change::Remove => remove(&mut changed, &self.pointer)?,
        }
        Some(changed)
    }
}

/// What shrinking may change at a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allowed {
    /// Anything.
    Free,
    /// It must stay; its content may change.
    Stays,
    /// It may be removed; of its text only the letter case may change.
    SameAddress,
    /// It may be removed and must not change.
    SameText,
    /// It must stay; the letter case may change, or the whole address to a plain one.
    Sender,
    /// It may be removed or changed to any value but zero.
    Positive,
    /// It must not change.
    Fixed,
}

fn is_gas_or_fee(name: &str) -> bool {
    GAS.contains(&name) || FEES.contains(&name)
}

fn allowed(pointer: &str) -> Allowed {
    const TOKENS: &str = "/params/1/tokenInfo";
    const ACCOUNT: &str = "/params/1/sponsorshipInfo/smartAccountInfo";
    match pointer {
        "" | "/params" | "/params/0" | "/params/1" => Allowed::Stays,
        "/jsonrpc" | "/method" | "/id" | "/params/1/mode" => Allowed::Fixed,
        "/params/0/sender" => Allowed::Sender,
        // A target may refuse a gas limit or fee of zero, which would change the failure.
        _ if pointer.strip_prefix("/params/0/").is_some_and(is_gas_or_fee) => Allowed::Positive,
        _ => match (pointer.strip_prefix(TOKENS), pointer.strip_prefix(ACCOUNT)) {
            (Some("/preferredToken" | "/feeTokenAddress" | "/tokenAddress"), _) => Allowed::SameAddress,
            (Some(item), _) if item.starts_with("/tokenList/") => Allowed::SameAddress,
            (_, Some("/name" | "/version")) => Allowed::SameText,
            _ => Allowed::Free,
        },
    }
}

fn collect(value: &Value, pointer: &str, steps: &mut Vec<Step>) {
    let allowed = allowed(pointer);
    let mut replace = |value: Value| {
        steps.push(Step { pointer: pointer.to_owned(), change: Change::Replace(value) });
    };
    match value {
        Value::String(text) if matches!(allowed, Allowed::SameAddress | Allowed::Sender) => {
            replace(Value::String(text.to_ascii_lowercase()));
            if allowed == Allowed::Sender {
                replace(Value::String(PLAIN_SENDER.to_owned()));
            }
        }
        Value::String(text) if allowed == Allowed::Free => {
            plainer::texts(text).for_each(|text| replace(text.into()));
        }
        Value::String(text) if allowed == Allowed::Positive => {
            plainer::texts(text)
                .filter(|text| !text.trim_start_matches("0x").bytes().all(|digit| digit == b'0'))
                .for_each(|text| replace(text.into()));
        }
        Value::Number(number) if allowed == Allowed::Free => plainer::numbers(number).for_each(replace),
        Value::Array(items) => {
            if allowed == Allowed::Free && items.len() > 1 {
                let half = items.len() / 2;
                replace(Value::Array(Vec::new()));
                replace(Value::Array(items[..half].to_vec()));
                replace(Value::Array(items[half..].to_vec()));
            }
            for (index, item) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{index}");
                let at_an_end = index == 0 || index + 1 == items.len();
                if items.len() <= TAKE_EACH || at_an_end {
                    offer_removal(&pointer, steps);
                }
                collect(item, &pointer, steps);
            }
        }
        Value::Object(members) => {
            if allowed == Allowed::Free && members.len() > 1 {
                replace(Value::Object(serde_json::Map::new()));
            }
            for (name, member) in members {
                let pointer = format!("{pointer}/{}", escaped(name));
                offer_removal(&pointer, steps);
                collect(member, &pointer, steps);
            }
        }
        _ => {}
    }
}

fn offer_removal(pointer: &str, steps: &mut Vec<Step>) {
    if matches!(
        allowed(pointer),
        Allowed::Free | Allowed::Positive | Allowed::SameAddress | Allowed::SameText
    ) {
        steps.push(Step { pointer: pointer.to_owned(), change: Change::Remove });
    }
}

/// `base` without everything that the schema does not require, outermost first.
fn without_what_may_go(base: &Value, steps: &[Step], valid: &dyn Fn(&Value) -> bool) -> Value {
    let mut left = base.clone();
    // In reverse order, so that the indices of the remaining items stay valid.
    for step in steps.iter().rev() {
        if !matches!(step.change, Change::Remove) {
            continue;
        }
        let mut without = left.clone();
        if remove(&mut without, &step.pointer).is_some() && valid(&without) {
            left = without;
        }
    }
    left
}
