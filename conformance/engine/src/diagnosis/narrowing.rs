//! Narrowing a difference within a value: a number to its boundary, a list to an element or a length, a text to its letter case or notation.

use std::collections::VecDeque;

use num_bigint::BigUint;
use serde_json::{Map, Number, Value, json};

use super::difference::Difference;
use crate::json::amount;

/// The most values that are tried between two numbers: enough for a boundary at any power of two, and for any boundary below 2^40.
const MOST_HALVINGS: u32 = 50;

/// Moves the two values of a difference closer together. It proposes values; the caller sends a request with each and says what came
/// of it, until [`Narrowing::next_value`] has none left.
#[derive(Clone, Debug)]
pub struct Narrowing {
    difference: Difference,
    candidates: VecDeque<Value>,
    /// The value that was proposed last.
    proposed: Option<Value>,
    halvings: u32,
    /// Whether a candidate was enough, so that no other candidate is tried.
    found: bool,
}

impl Narrowing {
    /// A narrowing of this difference.
    pub fn new(difference: Difference) -> Self {
        Self { candidates: candidates(&difference), difference, proposed: None, halvings: 0, found: false }
    }

    /// The next value to send at the place of the difference; none at the end.
    pub fn next_value(&mut self) -> Option<Value> {
        let next =
            if self.found { self.between() } else { self.candidates.pop_front().or_else(|| self.between()) };
        // The same value again: the answer to it did not show on which side it is, and would not now.
        let next = next.filter(|value| self.proposed.as_ref() != Some(value));
        self.proposed.clone_from(&next);
        next
    }

    /// The proposed value did not break the rule.
    pub fn held(&mut self) {
        if let Some(value) = self.proposed.take() {
            self.difference.passing = Some(value);
            self.found = true;
        }
    }

    /// The proposed value broke the rule.
    pub fn broke(&mut self) {
        let Some(value) = self.proposed.take() else { return };
        if self.between_lengths().is_some_and(|between| between == value) {
            self.difference.failing = Some(value);
            return;
        }
        let number = |value: Option<&Value>| value.and_then(amount);
        let (failing, passing) = (&self.difference.failing, &self.difference.passing);
        if let (Some(failing), Some(passing), Some(proposed)) =
            (number(failing.as_ref()), number(passing.as_ref()), amount(&value))
            && self.difference.is_about_a_number()
            && (failing < proposed && proposed < passing || passing < proposed && proposed < failing)
        {
            self.difference.failing = Some(value);
        }
    }

    /// The difference, as narrow as it was found.
    pub fn finish(self) -> Difference {
        self.difference
    }

    /// The beginning of the failing list or text, in length half-way to the passing one, which must be a beginning of it too. None where no length is
    /// left between the two.
    fn between_lengths(&self) -> Option<Value> {
        match (self.difference.failing.as_ref()?, self.difference.passing.as_ref()?) {
            (Value::Array(failing), Value::Array(passing)) if failing.starts_with(passing) => {
                let middle = failing.len().midpoint(passing.len());
                (middle > passing.len()).then(|| failing[..middle].into())
            }
            (Value::String(failing), Value::String(passing))
                if failing.is_ascii() && failing.starts_with(&**passing) =>
            {
                let middle = whole_bytes(failing, failing.len().midpoint(passing.len()));
                (middle > passing.len()).then(|| failing[..middle].into())
            }
            _ => None,
        }
    }

    /// A list, a text or a number between the two; none where they are neighbours, or none of these.
    fn between(&mut self) -> Option<Value> {
        if let Some(list) = self.between_lengths() {
            return Some(list);
        }
        if !self.difference.is_about_a_number() || self.halvings == MOST_HALVINGS {
            return None;
        }
        self.halvings += 1;
        let like = self.difference.failing.as_ref()?;
        let failing = amount(like)?;
        let passing = amount(self.difference.passing.as_ref()?)?;
        written_like(like, &middle(failing, passing)?)
    }
}

/// A number between two numbers; none where they are neighbours. Boundaries are mostly next to a power of two: the first ones are powers
/// of two, then the number before one.
fn middle(one: BigUint, other: BigUint) -> Option<BigUint> {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    let between = |number: &BigUint| low < *number && *number < high;
    let power = |bits: u64| BigUint::from(1_u8) << bits;
    let by_bits = power(low.bits().midpoint(high.bits()));
    let before_high = if high == BigUint::ZERO { BigUint::ZERO } else { &high - 1_u8 };
    let is_power = high.count_ones() == 1;
    let halfway: BigUint = (&low + &high) / 2_u8;
    [Some(by_bits), is_power.then_some(before_high), Some(halfway)].into_iter().flatten().find(between)
}

/// Values between the two of a difference, those that say most first.
fn candidates(difference: &Difference) -> VecDeque<Value> {
    let mut values = Vec::new();
    match (&difference.failing, &difference.passing) {
        (Some(Value::Object(failing)), None) => without_each(failing, &mut values),
        (None, Some(Value::Object(passing))) => without_each(passing, &mut values),
        (Some(failing), passing) => {
            if difference.is_about_a_number()
                && let Some(number) = amount(failing)
            {
                other_notations(failing, &number, &mut values);
                // The neighbours: most boundaries are next to the smallest failing number.
                values.extend(written_like(failing, &(&number + 1_u8)));
                if number > BigUint::ZERO {
                    values.extend(written_like(failing, &(&number - 1_u8)));
                }
            }
            match failing {
                Value::String(text) => other_letter_case(text, &mut values),
                Value::Array(items) => {
                    other_lists(items, &mut values);
                    let shorter = passing.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
                    values.extend(items.get(..shorter).map(Value::from));
                }
                _ => {}
            }
            if let (Value::String(failing), Some(Value::String(passing))) = (failing, passing)
                && !difference.is_about_a_number()
            {
                shorter_texts(failing, passing, &mut values);
            }
        }
        (None, _) => {}
    }
    let known = [&difference.failing, &difference.passing];
    let is_new = |value: &Value| known.iter().all(|known| known.as_ref() != Some(value));
    let mut new = VecDeque::<Value>::new();
    for value in values {
        if is_new(&value) && !new.contains(&value) {
            new.push_back(value);
        }
    }
    new
}

fn without_each(members: &Map<String, Value>, values: &mut Vec<Value>) {
    for name in members.keys() {
        let mut rest = members.clone();
        rest.remove(name);
        values.push(Value::Object(rest));
    }
}

fn other_notations(value: &Value, number: &BigUint, values: &mut Vec<Value>) {
    let hex = json!(format!("0x{number:x}"));
    let decimal = json!(number.to_string());
    match value {
        Value::String(text) if text.starts_with("0x") => values.extend([hex, decimal]),
        Value::String(_) => values.extend([decimal, hex]),
        _ => values.push(decimal),
    }
}

fn other_letter_case(text: &str, values: &mut Vec<Value>) {
    values.push(json!(text.to_ascii_lowercase()));
    values.push(match text.strip_prefix("0x") {
        Some(digits) => json!(format!("0x{}", digits.to_ascii_uppercase())),
        None => json!(text.to_ascii_uppercase()),
    });
}

/// The list without one element, without repeated elements, and backwards.
fn other_lists(items: &[Value], values: &mut Vec<Value>) {
    const MOST_ELEMENTS: usize = 16;
    for index in 0..items.len().min(MOST_ELEMENTS) {
        let mut rest = items.to_vec();
        rest.remove(index);
        values.push(Value::Array(rest));
    }
    if items.len() > 1 {
        values.push(Value::Array(items.iter().rev().cloned().collect()));
    }
}

/// The failing text cut to lengths between the two, the longest first: they show from which length on it breaks the rule.
fn shorter_texts(failing: &str, passing: &str, values: &mut Vec<Value>) {
    if !failing.is_ascii() || !passing.is_ascii() || failing.len() <= passing.len() {
        return;
    }
    let mut length = failing.len();
    while length > passing.len().max(1) {
        length = whole_bytes(failing, length.midpoint(passing.len())).min(length - 1);
        values.push(json!(failing[..length].to_owned()));
    }
}

/// A length at which a text can be cut: whole bytes of hex data stay whole bytes.
fn whole_bytes(text: &str, length: usize) -> usize {
    if text.starts_with("0x") { length & !1 } else { length }
}

/// A number in the notation of a value.
pub fn written_like(value: &Value, number: &BigUint) -> Option<Value> {
    Some(match value {
        Value::String(text) if text.starts_with("0x") => json!(format!("0x{number:x}")),
        Value::String(_) => json!(number.to_string()),
        Value::Number(_) => Value::Number(number.to_string().parse::<Number>().ok()?),
        _ => return None,
    })
}
