//! Causes and defects in words.

use std::collections::BTreeSet;

use paymaster_schemas::Pair;
use serde_json::Value;

use super::{
    cause::{Cause, EarlierRequest, WrongAnswers},
    difference::{Difference, DifferenceKind},
};
use crate::{cases::case::Role, verdict::finding::Finding};

/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 66;

/// How many members of recorded requests are named.
const MOST_RECORDED: usize = 4;

/// Requests of several methods and modes, or of none.
const REQUESTS: &str = "requests";

/// What is wrong, and under which condition: `pm_sponsorUserOperation with nonce "0": expected a result, got error -32602 "..."`. The
/// pairs are those of all findings of the defect; `None` stands for requests without one.
pub fn headline(finding: &Finding, pairs: &BTreeSet<Option<Pair>>) -> String {
    let violation = &finding.violation;
    let broken = finding.group.members.get(violation.member);
    let is_malformed = broken.is_some_and(|member| member.role == Role::Malformed);
    let subject = match subject(pairs) {
        subject if is_malformed && subject == REQUESTS => format!("malformed {subject}"),
        subject => subject,
    };
    let condition = match &finding.cause {
        Some(cause) => condition(cause),
        None => String::new(),
    };
    let at = match violation.pointer.as_str() {
        "" => String::new(),
        pointer => format!(" at {pointer}"),
    };
    let space = if condition.is_empty() { "" } else { " " };
    // The reason for the expectation stands with the rules.
    let expected = violation.expected.split(": according to the profile").next();
    // Some texts are sentences: "the member is missing".
    let got = if violation.actual.starts_with("the ") {
        "but"
    } else {
        "got"
    };
    format!(
        "{subject}{space}{condition}: expected {}{at}, {got} {}",
        cut(expected.unwrap_or_default(), 2 * LONGEST_VALUE),
        cut(&violation.actual, 2 * LONGEST_VALUE)
    )
}

fn subject(pairs: &BTreeSet<Option<Pair>>) -> String {
    let mut known = pairs.iter().flatten();
    let (Some(first), false) = (known.next(), pairs.contains(&None)) else {
        return REQUESTS.to_owned();
    };
    if pairs.len() == 1 {
        return format!("{} in mode {}", first.method, first.mode);
    }
    if known.clone().all(|pair| pair.method == first.method) {
        return first.method.to_string();
    }
    if known.all(|pair| pair.mode == first.mode) {
        return format!("requests in mode {}", first.mode);
    }
    REQUESTS.to_owned()
}

/// What decides: `with nonce "0"`, `while other requests are in flight`. It completes a sentence about a request.
pub fn condition(cause: &Cause) -> String {
    match cause {
        Cause::Members(differences) | Cause::Form(differences) => {
            let each: Vec<String> = differences.iter().map(failing).collect();
            each.join(" and ")
        }
        Cause::Every { answers, .. } => format!("(every {})", answers.name()),
        Cause::Recorded { .. } => String::new(),
        Cause::Headers { client, lines } => match lines.as_slice() {
            [] => format!("with the request headers of {client}"),
            lines => {
                let lines: Vec<String> = lines
                    .iter()
                    .map(|(name, value)| format!("{name}: {value}"))
                    .collect();
                format!("with the request header {}", lines.join(" and "))
            }
        },
        Cause::Writing => "with this order of members, white space and escapes".to_owned(),
        Cause::Concurrency => "while other requests are in flight".to_owned(),
        Cause::Earlier(earlier) => format!("after {}", earlier.name()),
        Cause::Chance { broken, sent } => format!("in {broken} of {sent} answers to the same request"),
    }
}

/// With what the rule held: `with nonce "1"`, or the recorded exchange. Empty for causes without a passing request.
pub fn passing_condition(cause: &Cause) -> String {
    match cause {
        Cause::Members(differences) => {
            let each: Vec<String> = differences.iter().map(passing).collect();
            each.join(" and ")
        }
        Cause::Recorded { place, .. } => place.clone(),
        _ => String::new(),
    }
}

/// What decides, beside what does not break the rule: `wrong with nonce "0", right with nonce "1"`. The finding and its contrast have
/// the requests.
pub fn explanation(cause: &Cause) -> String {
    match cause {
        Cause::Members(differences) => {
            let wrong: Vec<String> = differences.iter().map(failing).collect();
            let right: Vec<String> = differences.iter().map(passing).collect();
            let remark = match differences.as_slice() {
                [one] => remark(one.kind()),
                _ => "",
            };
            format!(
                "wrong {}, right {}{remark}",
                wrong.join(" and "),
                right.join(" and ")
            )
        }
        Cause::Form(_) => format!("every request {}", condition(cause)),
        Cause::Every { pair, answers } => {
            let of = pair.map_or(String::new(), |pair| {
                format!(" of {} in mode {}", pair.method, pair.mode)
            });
            format!("every {}{of} that the rule judges", answers.name())
        }
        Cause::Recorded {
            differences,
            is_only_there,
            place,
        } => recorded(differences, *is_only_there, place),
        Cause::Headers { .. } => format!("wrong {}, right with the plain ones", condition(cause)),
        Cause::Writing => {
            "wrong as written here, right with the same values in another order of members, or with other white space or escapes"
                .to_owned()
        }
        Cause::Concurrency => {
            "only while other requests are in flight; right when sent one after the other".to_owned()
        }
        Cause::Earlier(earlier) => format!("only after {}; right when sent alone", earlier.name()),
        Cause::Chance { broken, sent } => {
            format!("{broken} of {sent} answers to the same request: no member of the request decides")
        }
    }
}

/// `differs from the nearest recorded request that passed, entry 3, in nonce ("0", there "1")`, and that nothing was sent again.
fn recorded(differences: &[Difference], is_only_there: bool, place: &str) -> String {
    if differences.is_empty() {
        return format!(
            "the same request passed in {place}: something outside the request decides; nothing was sent again"
        );
    }
    let each: Vec<String> = differences
        .iter()
        .take(MOST_RECORDED)
        .map(|difference| {
            let name = member_name(&difference.pointer);
            match (&difference.failing, &difference.passing) {
                (Some(own), Some(other)) => format!("{name} ({}, there {})", shown(own), shown(other)),
                (Some(own), None) => format!("{name} ({}, there missing)", shown(own)),
                (None, Some(other)) => format!("{name} (missing, there {})", shown(other)),
                (None, None) => name,
            }
        })
        .collect();
    let more = match differences.len().saturating_sub(MOST_RECORDED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let values = match differences.len() {
        _ if !is_only_there => "",
        1 => ", a value that no request that passed has",
        _ => ", values that no request that passed has",
    };
    format!(
        "differs from the nearest recorded request that passed, {place}, in {}{more}{values}; nothing was sent again, so this may not be \
         what decides",
        each.join(" and ")
    )
}

impl WrongAnswers {
    /// `answer`, `result` or `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "answer",
            Self::Results => "result",
            Self::Errors => "error",
        }
    }
}

impl EarlierRequest {
    /// The earlier request, in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "the same request",
            Self::SameOperation => "a request with the same operation",
            Self::SameSender => "a request of the same sender",
            Self::SameId => "a request with the same id",
            Self::Other => "another request",
        }
    }
}

fn remark(kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::LetterCase => " (only the letter case differs)",
        DifferenceKind::Notation => " (the same number in another notation)",
        _ => "",
    }
}

fn failing(difference: &Difference) -> String {
    side(
        difference,
        difference.failing.as_ref(),
        difference.passing.as_ref(),
    )
}

fn passing(difference: &Difference) -> String {
    side(
        difference,
        difference.passing.as_ref(),
        difference.failing.as_ref(),
    )
}

/// One side of a difference: `with nonce "0"`, `without initCode`, `with "0x12" in tokenList`.
fn side(difference: &Difference, own: Option<&Value>, other: Option<&Value>) -> String {
    let name = member_name(&difference.pointer);
    match (own, other) {
        (None, _) => format!("without {name}"),
        (Some(Value::Array(own)), Some(Value::Array(other))) => match one_more(own, other) {
            Some(element) => format!("with {} in {name}", shown(element)),
            None => match one_more(other, own) {
                Some(element) => format!("without {} in {name}", shown(element)),
                None => format!("with {name} {}", shown(&Value::Array(own.clone()))),
            },
        },
        (Some(value), _) => format!("with {name} {}", shown(value)),
    }
}

/// The element that the longer list has and the shorter one lacks, where that is the only difference.
fn one_more<'a>(longer: &'a [Value], shorter: &[Value]) -> Option<&'a Value> {
    if longer.len() != shorter.len() + 1 {
        return None;
    }
    let index = longer
        .iter()
        .zip(shorter)
        .position(|(one, other)| one != other)
        .unwrap_or(shorter.len());
    (longer[index + 1..] == shorter[index..]).then(|| &longer[index])
}

/// The name of a member of the request, for people: `nonce`, `tokenInfo.feeTokenAddress`, `id`.
pub fn member_name(pointer: &str) -> String {
    let path = ["/params/0/", "/params/1/", "/"]
        .iter()
        .find_map(|parent| pointer.strip_prefix(parent));
    match path {
        None => "the body".to_owned(),
        Some("params/0") => "the operation".to_owned(),
        Some("params/1") => "the mode object".to_owned(),
        Some(path) => path.replace('/', ".").replace("~1", "/").replace("~0", "~"),
    }
}

fn shown(value: &Value) -> String {
    cut(&value.to_string(), LONGEST_VALUE)
}

/// The text, its middle left out where it is long.
fn cut(text: &str, longest: usize) -> String {
    let length = text.chars().count();
    if length <= longest {
        return text.to_owned();
    }
    let half = longest / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half / 2).collect();
    format!("{start}…{end} ({length} characters)")
}
