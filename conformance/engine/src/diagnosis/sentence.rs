//! Causes and defects in words.

use std::collections::BTreeSet;

use num_bigint::BigUint;
use paymaster_exchange::Exchange;
use paymaster_schemas::Kind;
use serde_json::Value;

use super::cause::{Amount, Bounds, Cause, Contrast, EarlierRequest, Writing, WrongAnswers};
use super::difference::{Difference, DifferenceKind, Respect};
use super::way::{Way, WholeAnswer};
use crate::cases::Role;
use crate::diagnosis::{Finding, Sought};
use crate::json::amount;
use crate::message::Answer;
use crate::rules::{Check, Violation, count};
use crate::specification::{Counted, Places};

/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 66;

/// How much of a long value is shown before the part that differs, in characters.
const BEFORE_THE_DIFFERENCE: usize = 12;

/// How many members of recorded requests are named.
const MOST_RECORDED: usize = 4;

/// Requests of several methods and modes, or of none.
const REQUESTS: &str = "requests";

/// What is wrong, and under which condition: `pm_sponsorUserOperation with nonce "0": expected a result, got error -32602 "..."`. The
/// pairs are those of all findings of the defect; `None` stands for requests without one.
pub fn headline(finding: &Finding, pairs: &BTreeSet<Option<Kind>>) -> String {
    let violation = &finding.violation;
    let broken = finding.group.members.get(violation.member);
    let is_malformed = broken.is_some_and(|member| member.role == Role::Malformed)
        && !finding.share.is_some_and(|share| share.is_of_calls);
    let is_batch =
        pairs.iter().all(Option::is_none) && broken.is_some_and(|member| member.role == Role::Batch);
    let subject = match subject(pairs, finding) {
        subject if is_batch && subject == REQUESTS => "batches".to_owned(),
        subject if is_malformed && subject == REQUESTS => format!("malformed {subject}"),
        subject => subject,
    };
    let condition = finding.cause.as_ref().map(condition).unwrap_or_default();
    let at = match violation.pointer.as_str() {
        "" => String::new(),
        "/error" | "/result" if matches!(Way::of(finding).whole, Some(WholeAnswer::Error(_))) => {
            String::new()
        }
        pointer => format!(" at {pointer}"),
    };
    let space = if condition.is_empty() { "" } else { " " };
    format!(
        "{subject}{space}{condition}: expected {}{at}, got {}",
        cut_between_words(&violation.expected, 2 * LONGEST_VALUE),
        cut_between_words(&violation.actual, 2 * LONGEST_VALUE)
    )
}

/// The requests of these kinds, in words. What is said of every answer is said of these kinds alone.
fn subject(pairs: &BTreeSet<Option<Kind>>, finding: &Finding) -> String {
    let known: Vec<Kind> = pairs.iter().copied().flatten().collect();
    // The condition names the method.
    let is_of_method =
        finding.cause.iter().flat_map(Cause::members).any(|member| member.pointer == "/method");
    // A batch or a malformed request has no kind. Beside requests of a kind it is left out: the headline is true of those.
    let (Some(first), false) = (known.first(), is_of_method) else { return REQUESTS.to_owned() };
    if known.len() == 1 {
        return first.words();
    }
    let methods: BTreeSet<&str> = known.iter().map(|kind| kind.method).collect();
    let selectors: BTreeSet<_> = known.iter().map(|kind| kind.selector).collect();
    let subject = if methods.len() == 1 { first.method } else { REQUESTS };
    let of_methods = finding.specification.kinds.iter().filter(|kind| methods.contains(kind.method));
    let is_every = matches!(finding.cause, Some(Cause::Every { .. })) && of_methods.count() > known.len();
    match first.selector {
        Some((parameter, _)) if is_every && methods.len() * selectors.len() == known.len() => {
            let values: Vec<&str> = selectors.into_iter().flatten().map(|(_, value)| value).collect();
            let [before @ .., last] = values.as_slice() else { return subject.to_owned() };
            let and = if before.is_empty() { "" } else { " and " };
            format!("{subject} in {parameter} {}{and}{last}", before.join(", "))
        }
        Some(_) if selectors.len() == 1 => format!("{subject} {}", first.selection()),
        _ if is_every => format!("{} of {} kinds of calls", known.len(), finding.specification.kinds.len()),
        _ => subject.to_owned(),
    }
}

/// What decides: `with nonce "0"`, `while other requests are in flight`. It completes a sentence about a request.
pub fn condition(cause: &Cause) -> String {
    match cause {
        Cause::Members(differences) | Cause::Form(differences) => sides(differences, true),
        Cause::Every { answers, .. } => format!("(every judged {})", answers.name()),
        Cause::Recorded { .. } => String::new(),
        Cause::Headers { client, lines } => match lines.as_slice() {
            [] => format!("with the request headers of {client}, as it writes them"),
            lines => {
                let lines: Vec<String> =
                    lines.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                format!("with the request header {}", lines.join(" and "))
            }
        },
        Cause::Writing(writing) => format!("with {}", writing.words().0),
        Cause::Concurrency => "while other requests are in flight".to_owned(),
        Cause::Earlier(earlier) => format!("after {}", earlier.name()),
        Cause::Missing { method, member } => {
            format!("without an earlier {method} {}", with_the_same(*member))
        }
        Cause::Spent { .. } => "later in the run".to_owned(),
        Cause::Amount(Amount { counted: Counted::REFUSED, bounds: Bounds::Exactly(1), .. }) => {
            "for an operation that the profile lists as refused".to_owned()
        }
        Cause::Amount(Amount { counted: Counted { what, .. }, bounds, .. }) => match *bounds {
            Bounds::Exactly(0) | Bounds::AtMost(0) => format!("with no {what}"),
            Bounds::Exactly(number) => format!("with exactly {}", count(number as u128, what)),
            Bounds::AtLeast(number) => format!("with {} or more", count(number as u128, what)),
            Bounds::AtMost(number) => format!("with {} or fewer", count(number as u128, what)),
        },
        Cause::Chance { broken, sent } => format!("in {broken} of {sent} tries with the same requests"),
    }
}

/// With what the rule held: `with nonce "1"`, or the recorded exchange. Empty for causes without a passing request.
pub fn passing_condition(cause: &Cause) -> String {
    match cause {
        Cause::Members(differences) => sides(differences, false),
        Cause::Recorded { place, .. } => place.clone(),
        _ => String::new(),
    }
}

/// The cause of a finding as [`explanation`], for all of `pairs`, the methods and modes for which it was found; none where none was found.
pub(super) fn explained(finding: &Finding, pairs: &BTreeSet<Option<Kind>>) -> Option<String> {
    finding.cause.as_ref().map(|cause| match cause {
        Cause::Every { pair: Some(_), answers } => every(*answers, &subject(pairs, finding)),
        cause => explanation(cause, Shown::by(finding)),
    })
}

/// The cause of a finding, and how much of a long run it was checked against. Where none was found, how many requests show the
/// violation; none where that was not counted. `pairs` are the methods and modes for which it was found.
pub fn cause_of(finding: &Finding, pairs: &BTreeSet<Option<Kind>>) -> Option<String> {
    match (explained(finding, pairs), finding.share) {
        (Some(cause), Some(share)) if share.judged < share.all => {
            Some(format!("{cause}; checked against {} of {} requests of this kind", share.judged, share.all))
        }
        (Some(cause), _) => Some(cause),
        (None, Some(share)) if share.broken == 0 && !finding.group.is_planned() => Some(format!(
            "seen in the first requests of the run only; none of {} later ones of this kind shows it",
            share.judged
        )),
        (None, Some(share)) => Some(format!(
            "{}; {} of {} requests of this kind show it",
            if finding.sought == Sought::No { "no cause was looked for" } else { "no cause found" },
            share.broken,
            share.judged
        )),
        (None, None) => None,
    }
}

fn every(answers: WrongAnswers, subject: &str) -> String {
    let of = if subject == REQUESTS { String::new() } else { format!(" of {subject}") };
    match answers {
        WrongAnswers::ToOwedRequests => format!("every request{of} that must get a result"),
        _ => format!("every {}{of} that the rule judges", answers.name()),
    }
}

/// What the answers of a finding show of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// That it is answered wrongly.
    Wrong,
    /// That it is answered otherwise than the one that its rule compares it with: which of the two is wrong may be open.
    Otherwise,
    /// That it gets what another one got, and should get something else.
    Alike,
}

impl Shown {
    /// What the answers of this finding show.
    pub fn by(finding: &Finding) -> Self {
        let Violation { member, pointer, .. } = &finding.violation;
        let value = |exchange: &Exchange| Answer::of(exchange).document()?.value.pointer(pointer).cloned();
        let values: Vec<_> = finding.exchanges.iter().map(value).collect();
        // Where members of the request decide, only a request of the group that has the passing values shows how these are answered.
        let has_passing = |place: usize| {
            let request = || serde_json::from_slice::<Value>(&finding.exchanges[place].request).ok();
            let cause = finding.cause.as_ref().filter(|cause| !cause.members().is_empty());
            cause.is_none_or(|cause| request().and_then(|request| cause.states(&request)) == Some(false))
        };
        let is_own = |(place, value): (usize, &Option<Value>)| {
            place != *member && value.is_some() && values.get(*member) == Some(value) && has_passing(place)
        };
        // What is wrong for one request may be right for another.
        let is_same = |contrast: &Contrast| {
            contrast.exchanges.get(*member).and_then(value).is_some_and(|own| values[*member] == Some(own))
        };
        match finding.rule.check {
            Check::Group(..) if values.iter().enumerate().any(is_own) => Self::Alike,
            Check::Group(..) => Self::Otherwise,
            _ if finding.contrast.as_ref().is_some_and(is_same) => Self::Alike,
            _ => Self::Wrong,
        }
    }
}

/// What decides, beside what does not break the rule: `wrong with nonce "0", right with nonce "1"`, or `answered otherwise with nonce "0"
/// than with nonce "1"` where the rule compares requests. The finding and its contrast have the requests.
pub fn explanation(cause: &Cause, shown: Shown) -> String {
    match cause {
        Cause::Members(differences) => {
            let (wrong, right) = (sides(differences, true), sides(differences, false));
            let remark = match differences.as_slice() {
                [one] => remark(one.kind()),
                _ => "",
            };
            match shown {
                Shown::Wrong => format!("wrong {wrong}, right {right}{remark}"),
                Shown::Otherwise => format!("answered otherwise {wrong} than {right}{remark}"),
                Shown::Alike => format!("answered alike {wrong} and {right}{remark}"),
            }
        }
        Cause::Form(_) => format!("every request {}", condition(cause)),
        Cause::Every { pair, answers } => {
            every(*answers, &pair.map_or_else(|| REQUESTS.to_owned(), Kind::words))
        }
        Cause::Recorded { differences, is_only_there, place } => recorded(differences, *is_only_there, place),
        Cause::Headers { .. } => format!("wrong {}, right with the plain ones", condition(cause)),
        Cause::Writing(writing) => {
            format!("wrong as written here, right with the same values {}", writing.words().1)
        }
        Cause::Concurrency => {
            "only while other requests are in flight; right when sent one after the other".to_owned()
        }
        Cause::Earlier(earlier) if shown != Shown::Wrong => {
            format!("answered otherwise after {} than when sent alone", earlier.name())
        }
        Cause::Earlier(earlier) => format!("only after {}; right when sent alone", earlier.name()),
        Cause::Missing { .. } => format!("only {}; right after one", condition(cause)),
        Cause::Spent { served } => {
            let right = count(*served as u128, "answer");
            format!(
                "right at first ({right}), then wrong: requests for which the rule held in the run break it now"
            )
        }
        Cause::Amount(Amount { broken, held, .. }) => format!(
            "the run shows it for each of {} {}, and for none of {held} others",
            count(*broken as u128, "request"),
            condition(cause)
        ),
        Cause::Chance { broken, sent } => {
            format!("{broken} of {sent} tries with the same requests, sent alone again and again")
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
            let name = name(difference);
            match (&difference.failing, &difference.passing) {
                (Some(own), Some(other)) => {
                    let [own, other] = [own.to_string(), other.to_string()];
                    let (here, there) = (shown_beside(&own, &other), shown_beside(&other, &own));
                    format!("{name} ({here}, there {there})")
                }
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
    /// `answer`, `result`, `error` or a request.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "answer",
            Self::Results => "result",
            Self::Errors => "error",
            Self::ToOwedRequests => "request that must get a result",
        }
    }
}

impl Writing {
    /// What of the request is written otherwise, and how it is right.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Order => ("this order of members", "in another order of members"),
            Self::WhiteSpace => ("this white space", "without white space"),
            Self::Escapes => ("these escapes", "without escapes"),
            Self::WhiteSpaceAndEscapes => {
                ("this white space and these escapes", "without white space and escapes")
            }
        }
    }
}

impl EarlierRequest {
    /// The earlier request, in words.
    pub fn name(self) -> String {
        match self {
            Self::Same => "the same request".to_owned(),
            Self::Member(pointer, places) => format!("a request {}", with_the_same((pointer, places))),
            Self::OnceOfParty(places) => {
                let once = member_name(places.once, &places);
                format!("a request {} and {once}", with_the_same((places.party, places)))
            }
            Self::Repeated(times, pointer, places) => {
                format!("{times} requests {}", with_the_same((pointer, places)))
            }
            Self::WithOtherOnce(places) => {
                format!("the same request with another {}", member_name(places.once, &places))
            }
            Self::Other => "another request".to_owned(),
        }
    }
}

fn with_the_same((pointer, places): (&str, Places)) -> String {
    format!("with the same {}", member_name(pointer, &places).trim_start_matches("the "))
}

fn remark(kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::LetterCase => " (only the letter case differs)",
        DifferenceKind::Notation => " (the same number in another notation)",
        _ => "",
    }
}

/// The failing or the passing sides of differences: `with nonce "0" and without initCode`.
fn sides(differences: &[Difference], are_failing: bool) -> String {
    let each: Vec<String> = differences.iter().map(|difference| side(difference, are_failing)).collect();
    each.join(" and ")
}

/// One side of a difference: `with nonce "0"`, `without initCode`, `with "0x12" in tokenList`.
fn side(difference: &Difference, is_failing: bool) -> String {
    let name = name(difference);
    let (own, other) = if is_failing {
        (&difference.failing, &difference.passing)
    } else {
        (&difference.passing, &difference.failing)
    };
    match &difference.respect {
        Respect::EqualTo(other) => {
            let other = member_name(other, &difference.specification.places);
            return format!("with {name} {} {other}", if is_failing { "equal to" } else { "other than" });
        }
        Respect::Length | Respect::Amount => {
            let is_more = difference.is_from_above() == Some(is_failing);
            let or_more = |least: &'static str| if is_more { " or more" } else { least };
            let counted = |number: usize, unit: &str| {
                let or_more = if number == 0 { "" } else { or_more(" or fewer") };
                format!("with {}{or_more} in {name}", count(number as u128, unit))
            };
            return match own {
                Some(Value::Array(items)) => counted(items.len(), "element"),
                Some(Value::String(text)) if difference.respect == Respect::Length => {
                    match text.strip_prefix("0x") {
                        Some(digits) => counted(digits.len() / 2, "byte"),
                        None => counted(text.len(), "character"),
                    }
                }
                Some(value) => {
                    let is_zero = amount(value) == Some(BigUint::ZERO);
                    let or_more = if is_zero { "" } else { or_more(" or less") };
                    format!("with {name} {}{or_more}", shown(value))
                }
                None => format!("without {name}"),
            };
        }
        Respect::Value => {}
    }
    if let Some((element, failing_has_it)) = difference.element() {
        let with = if failing_has_it == is_failing { "with" } else { "without" };
        return format!("{with} {} in {name}", shown(element));
    }
    match (own, other) {
        (None, _) => format!("without {name}"),
        (Some(own), None) => format!("with {name} {}", shown(own)),
        (Some(own), Some(other)) => {
            format!("with {name} {}", shown_beside(&own.to_string(), &other.to_string()))
        }
    }
}

/// The name of a member of the request, for people: `nonce`, `tokenInfo.feeTokenAddress`, `id`, `the operation`.
pub fn member_name(pointer: &str, places: &Places) -> String {
    let parameter = pointer.strip_prefix("/params/").and_then(|path| {
        let (place, member) = path.split_once('/').unwrap_or((path, ""));
        Some((*places.params.get(place.parse::<usize>().ok()?)?, member))
    });
    let path = match parameter {
        Some((name, "")) => return name.to_owned(),
        Some((_, member)) => member,
        None if pointer.is_empty() => return "the body".to_owned(),
        None => pointer.trim_start_matches('/'),
    };
    path.replace('/', ".").replace("~1", "/").replace("~0", "~")
}

fn name(difference: &Difference) -> String {
    member_name(&difference.pointer, &difference.specification.places)
}

fn shown(value: &Value) -> String {
    cut(&value.to_string(), LONGEST_VALUE)
}

/// A text beside one that differs from it: where it is long, the part around the first difference is left in.
fn shown_beside(text: &str, other: &str) -> String {
    let length = text.chars().count();
    let same = text.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    let start = same.count().saturating_sub(BEFORE_THE_DIFFERENCE);
    let is_visible = start + BEFORE_THE_DIFFERENCE < LONGEST_VALUE / 2;
    if length <= LONGEST_VALUE || is_visible {
        return cut(text, LONGEST_VALUE);
    }
    let head: String = text.chars().take(BEFORE_THE_DIFFERENCE).collect();
    let rest: String = text.chars().skip(start).take(LONGEST_VALUE - BEFORE_THE_DIFFERENCE).collect();
    let end = if start + rest.chars().count() < length { "…" } else { "" };
    format!("{head}…{rest}{end} ({length} characters)")
}

/// The text, its middle left out where it is long.
fn cut(text: &str, longest: usize) -> String {
    match ends(text, longest) {
        Some((start, end, length)) => format!("{start}…{end} ({length} characters)"),
        None => text.to_owned(),
    }
}

/// The text, its middle left out where it is long: up to the end of a word or a JSON value, and from the beginning of one, where that leaves
/// more than half of each end.
fn cut_between_words(text: &str, longest: usize) -> String {
    let Some((start, end, length)) = ends(text, longest) else { return text.to_owned() };
    let is_between = |letter: char| letter == ' ' || letter == ',';
    let to = start.rfind(is_between).filter(|place| 2 * place > start.len());
    let from = end.find(is_between).filter(|place| 2 * place < end.len());
    let (start, end) =
        (to.map_or(start, |place| &start[..=place]), from.map_or(end, |place| &end[place + 1..]));
    // A value that was cut before says how long it is.
    let is_measured = |measure: &str| [" bytes", " characters"].iter().any(|unit| measure.ends_with(unit));
    let measured =
        text.strip_suffix(')').map(|text| text.trim_end_matches(')')).filter(|text| is_measured(text));
    match measured.and_then(|text| text.rfind('(')) {
        Some(measure) => format!("{start}… {}", &text[measure..]),
        None => format!("{start}…{end} ({length} characters)"),
    }
}

/// The beginning and the end of a text that is longer than this, and its length, in characters; none for a shorter text.
fn ends(text: &str, longest: usize) -> Option<(&str, &str, usize)> {
    let length = text.chars().count();
    let place = |letters: usize| text.char_indices().nth(letters).map_or(text.len(), |(place, _)| place);
    (length > longest).then(|| (&text[..place(longest / 2)], &text[place(length - longest / 4)..], length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words_unless_little_would_be_left() {
        let words = "one result, as the call gets alone, and then again and again as it was before";
        assert_eq!(cut_between_words(words, 40), "one result, as the …before (77 characters)");
        assert_eq!(cut(words, 40), "one result, as the c…was before (77 characters)");
        let value = format!("got {}", "5a".repeat(40));
        assert_eq!(cut_between_words(&value, 40), cut(&value, 40), "the beginning of the value stays");
        assert_eq!(cut_between_words("short", 40), "short");
        let measured = format!("result {}… (414 bytes)", "5a".repeat(40));
        let cut = cut_between_words(&measured, 40);
        assert_eq!(cut, "result 5a5a5a5a5a5a5… (414 bytes)");
        assert_eq!(cut_between_words(&format!("({measured})"), 40), "(result 5a5a5a5a5a5a… (414 bytes))");
    }
}
