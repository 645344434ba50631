//! Differences between two requests, member by member.

use num_bigint::BigUint;
use serde_json::Value;

use crate::json::{amount, escaped, with_value};
use crate::specification::Specification;

/// A place at which two requests differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The place, as a JSON pointer into the request body.
    pub pointer: String,
    /// The value in the request that breaks the rule; none where the member is missing there.
    pub failing: Option<Value>,
    /// The value in the request that does not break it; none where the member is missing there.
    pub passing: Option<Value>,
    /// What of the two values decides.
    pub respect: Respect,
    /// The specification of the request.
    pub specification: &'static Specification,
}

/// What of two values decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Respect {
    /// The values, or the element in which two lists differ.
    #[default]
    Value,
    /// That this other member, a JSON pointer, has the same amount: in the failing request it does, in the passing one it does not.
    EqualTo(String),
    /// How many elements a list has, or how long a text is: the failing value and longer ones, or that and shorter ones.
    Length,
    /// The amount: the failing one and greater ones, or that and smaller ones.
    Amount,
}

/// In what two values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The member is missing in the failing request.
    Missing,
    /// The member is present in the failing request only.
    Present,
    /// Two texts, or lists of texts, with the same letters in other case.
    LetterCase,
    /// One number in two notations, such as `"16"` and `"0x10"`.
    Notation,
    /// Two numbers.
    Number,
    /// Values of two JSON types.
    Type,
    /// Two lists.
    List,
    /// Anything else.
    Value,
}

impl Difference {
    /// A difference in which the values decide.
    pub fn new(
        pointer: impl Into<String>,
        failing: Option<Value>,
        passing: Option<Value>,
        specification: &'static Specification,
    ) -> Self {
        Self { pointer: pointer.into(), failing, passing, respect: Respect::Value, specification }
    }

    /// In what the two values differ.
    pub fn kind(&self) -> DifferenceKind {
        let (failing, passing) = match (&self.failing, &self.passing) {
            (None, _) => return DifferenceKind::Missing,
            (_, None) => return DifferenceKind::Present,
            (Some(failing), Some(passing)) => (failing, passing),
        };
        match (failing, passing) {
            (Value::Array(one), Value::Array(two)) => {
                let lower_case = |items: &[Value]| -> Vec<String> {
                    items.iter().map(|item| item.to_string().to_ascii_lowercase()).collect()
                };
                let is_same = lower_case(one) == lower_case(two);
                return if is_same { DifferenceKind::LetterCase } else { DifferenceKind::List };
            }
            (Value::String(failing), Value::String(passing)) if failing.eq_ignore_ascii_case(passing) => {
                return DifferenceKind::LetterCase;
            }
            _ => {}
        }
        if self.is_about_a_number() {
            match (amount(failing), amount(passing)) {
                (Some(failing), Some(passing)) if failing == passing => return DifferenceKind::Notation,
                (Some(_), Some(_)) => return DifferenceKind::Number,
                _ => {}
            }
        }
        if std::mem::discriminant(failing) == std::mem::discriminant(passing) {
            DifferenceKind::Value
        } else {
            DifferenceKind::Type
        }
    }

    /// Whether the place holds an amount, or both values are JSON numbers. Other texts of digits, such as call data, are no numbers.
    pub(super) fn is_about_a_number(&self) -> bool {
        let is_number = |value: &Option<Value>| value.as_ref().is_some_and(Value::is_number);
        let name = self.pointer.rsplit('/').next().unwrap_or_default();
        (self.specification.is_amount)(name) || is_number(&self.failing) && is_number(&self.passing)
    }

    /// Whether the value at the place is the failing one.
    pub fn is_in(&self, request: &Value) -> bool {
        if self.respect != Respect::Value {
            return self.side(request) == Some(true);
        }
        request.pointer(&self.pointer) == self.failing.as_ref()
    }

    /// On which side of the difference a request is: true where it has the failing value at the place, false where it has the passing
    /// one. Lists that differ in one element are compared by that element.
    pub fn side(&self, request: &Value) -> Option<bool> {
        let own = request.pointer(&self.pointer);
        if own.is_none() && !self.has_parent(request) {
            return None;
        }
        match &self.respect {
            Respect::EqualTo(other) => {
                return own.and_then(amount).map(|own| Some(own) == request.pointer(other).and_then(amount));
            }
            Respect::Length | Respect::Amount => {
                let measure = |value: &Value| self.measure(value);
                let (failing, passing) = (measure(self.failing.as_ref()?)?, measure(self.passing.as_ref()?)?);
                let own = measure(own?)?;
                let is_failing = if failing > passing { own >= failing } else { own <= failing };
                let is_passing = if failing > passing { own <= passing } else { own >= passing };
                return (is_failing || is_passing).then_some(is_failing);
            }
            Respect::Value => {}
        }
        match (self.element(), own) {
            (Some((element, _)), Some(Value::Array(items))) => {
                let times = |list: &[Value]| list.iter().filter(|item| *item == element).count();
                let times_in =
                    |value: &Option<Value>| value.as_ref().and_then(Value::as_array).map(|list| times(list));
                let own = Some(times(items));
                let is_failing = (own == times_in(&self.failing)).then_some(true);
                is_failing.or((own == times_in(&self.passing)).then_some(false))
            }
            _ if own == self.failing.as_ref() => Some(true),
            _ if own == self.passing.as_ref() => Some(false),
            _ => None,
        }
    }

    /// The length or the amount of a value, where one of these decides.
    fn measure(&self, value: &Value) -> Option<BigUint> {
        match (&self.respect, value) {
            (Respect::Length, Value::Array(items)) => Some(items.len().into()),
            (Respect::Length, Value::String(text)) => Some(text.len().into()),
            (Respect::Amount, value) => amount(value),
            _ => None,
        }
    }

    /// Whether the length or the amount that decides is greater in the failing value than in the passing one.
    pub fn is_from_above(&self) -> Option<bool> {
        Some(self.measure(self.failing.as_ref()?)? > self.measure(self.passing.as_ref()?)?)
    }

    /// The element in which two lists differ, where it may decide, and whether the failing list has it.
    pub fn element(&self) -> Option<(&Value, bool)> {
        if self.respect != Respect::Value {
            return None;
        }
        let (Some(Value::Array(failing)), Some(Value::Array(passing))) = (&self.failing, &self.passing)
        else {
            return None;
        };
        let more =
            |longer, shorter, is_failing| one_more(longer, shorter).map(|element| (element, is_failing));
        more(failing, passing, true).or_else(|| more(passing, failing, false))
    }

    /// Whether two lists differ in more than one element and in their length too: what of that decides is open.
    pub fn is_of_whole_lists(&self) -> bool {
        let lists = self.failing.as_ref().and_then(Value::as_array);
        let lists = lists.zip(self.passing.as_ref().and_then(Value::as_array));
        self.respect == Respect::Value
            && lists.is_some_and(|(failing, passing)| failing.len() != passing.len())
            && self.element().is_none()
    }

    /// The differences inside the two values, where both are objects or lists of objects: the smallest members that differ.
    pub fn inside(self) -> Vec<Self> {
        match (&self.failing, &self.passing) {
            (Some(failing), Some(passing)) => {
                let mut found = Vec::new();
                compare(&self.pointer, failing, passing, self.specification, &mut found);
                found
            }
            _ => vec![self],
        }
    }

    /// The request with the passing value at the place; none where the place does not exist in it.
    pub fn applied(&self, request: &Value) -> Option<Value> {
        self.with(request, self.passing.as_ref())
    }

    /// The request with the failing value at the place; none where the place does not exist in it.
    pub fn with_failing(&self, request: &Value) -> Option<Value> {
        if self.is_in(request) {
            return Some(request.clone());
        }
        if let Respect::EqualTo(other) = &self.respect {
            return self.with(request, Some(request.pointer(other)?));
        }
        self.with(request, self.failing.as_ref())
    }

    /// The request with this value at the place, or without the member; none where the place does not exist in it.
    pub fn with(&self, request: &Value, value: Option<&Value>) -> Option<Value> {
        if value.is_none() && request.pointer(&self.pointer).is_none() && self.has_parent(request) {
            return Some(request.clone());
        }
        with_value(request, &self.pointer, value)
    }

    /// Whether the object that the member is in exists: a list of requests lacks no member.
    fn has_parent(&self, request: &Value) -> bool {
        let (parent, _) = self.pointer.rsplit_once('/').unwrap_or_default();
        request.pointer(parent).is_some_and(Value::is_object)
    }
}

/// The element that the longer list has and the shorter one lacks, where that is the only difference.
fn one_more<'a>(longer: &'a [Value], shorter: &[Value]) -> Option<&'a Value> {
    if longer.len() != shorter.len() + 1 {
        return None;
    }
    let index = longer.iter().zip(shorter).position(|(one, other)| one != other).unwrap_or(shorter.len());
    (longer[index + 1..] == shorter[index..]).then(|| &longer[index])
}

/// The request with every passing value that can be applied; none where one cannot be.
pub fn with_all<'a>(request: &Value, differences: impl IntoIterator<Item = &'a Difference>) -> Option<Value> {
    let mut changed = request.clone();
    for difference in differences {
        changed = difference.applied(&changed)?;
    }
    Some(changed)
}

/// Every place at which two requests differ, in the order of the failing one. Objects are compared member by member, and so are
/// `params` and lists of objects, where they are of one length; all other values are compared as a whole.
pub fn differences(
    failing: &Value,
    passing: &Value,
    specification: &'static Specification,
) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", failing, passing, specification, &mut found);
    found
}

fn compare(
    pointer: &str,
    failing: &Value,
    passing: &Value,
    specification: &'static Specification,
    found: &mut Vec<Difference>,
) {
    let differ = |found: &mut Vec<_>, pointer: &str, failing: Option<&Value>, passing: Option<&Value>| {
        found.push(Difference::new(pointer, failing.cloned(), passing.cloned(), specification));
    };
    match (failing, passing) {
        _ if failing == passing => {}
        _ if pointer == specification.free_form => differ(found, pointer, Some(failing), Some(passing)),
        (Value::Object(left), Value::Object(right)) => {
            let place = |name: &str| format!("{pointer}/{}", escaped(name));
            for (name, value) in left {
                match right.get(name) {
                    Some(other) => compare(&place(name), value, other, specification, found),
                    None => differ(found, &place(name), Some(value), None),
                }
            }
            for (name, value) in right.iter().filter(|(name, _)| !left.contains_key(*name)) {
                differ(found, &place(name), None, Some(value));
            }
        }
        (Value::Array(left), Value::Array(right))
            if left.len() == right.len()
                && (pointer == "/params" || left.iter().chain(right).all(Value::is_object)) =>
        {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{pointer}/{index}"), left, right, specification, found);
            }
        }
        _ => differ(found, pointer, Some(failing), Some(passing)),
    }
}
