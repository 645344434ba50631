//! Valid requests by outcome: a result, or what stood in its place, and what these requests have in common.

use std::collections::{BTreeMap, BTreeSet};

use paymaster_schemas::Kind;

use crate::message::Call;
use crate::rules::{Rule, View};
use crate::specification::{DecidingValues, Specification};
use crate::verdict::Refusal;

/// The most outcomes that are kept: a target may word every error differently.
const MOST_OUTCOMES: usize = 1_000;
/// The longest part of an error message that is kept, in characters.
const LONGEST_MESSAGE: usize = 4_096;
/// The most values that are named as common to all requests.
const MOST_IN_COMMON: usize = 4;
/// The most values of a member that are kept of requests with a result: a member that has more of them tells little.
const MOST_VALUES: usize = 8;

/// What a request got.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Result,
    /// A JSON-RPC error. Messages that differ only in words with digits, such as addresses, are one.
    Refused(String),
    /// No answer of the service, for this reason.
    Unanswered(String),
}

/// The id of a relation, method and mode, and what the request got.
type Key = (&'static str, Kind, Outcome);

/// Members of requests with their values, such as `sender 0x...`.
type Values = BTreeSet<String>;

#[derive(Clone, Debug)]
struct Requests {
    times: u64,
    /// The error message; of several the first in the alphabet, so that the order of the answers makes no difference.
    message: String,
    in_common: Values,
    /// The first values of each member.
    seen: BTreeMap<&'static str, BTreeSet<String>>,
}

impl Requests {
    fn note(&mut self, deciding: &DecidingValues<'_>) {
        for (member, value) in deciding {
            let seen = self.seen.entry(member).or_default();
            if seen.len() < MOST_VALUES && !seen.contains(&**value) {
                seen.insert(value.to_string());
            }
        }
    }

    fn has_seen(&self, named: &str) -> bool {
        let value_of = |member: &str| named.strip_prefix(member)?.strip_prefix(' ');
        self.seen.iter().any(|(member, values)| value_of(member).is_some_and(|value| values.contains(value)))
    }
}

/// Counts valid requests of ordinary size by their outcome, and keeps the lengths of those of every size.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    by_key: BTreeMap<Key, Requests>,
    /// The lengths of the shortest and the longest request with a result, or without an answer, in bytes, and how many there were.
    lengths: BTreeMap<Outcome, (usize, usize, u64)>,
}

impl Outcomes {
    /// Counts the answer to a request of a relation.
    pub(crate) fn see(&mut self, relation: &'static str, view: &View<'_>) {
        let Some(call) = view.valid_call() else { return };
        let message = view.answer.error().map(|error| {
            let text = error["message"].as_str().or(error.as_str());
            let text = text.map_or_else(|| error.to_string(), str::to_owned);
            text.chars().take(LONGEST_MESSAGE).collect::<String>()
        });
        let outcome = match (view.answer.result(), &message, view.answer.response()) {
            (Some(_), ..) => Outcome::Result,
            (_, Some(message), _) => Outcome::Refused(without_values(message)),
            (.., Some(response)) => Outcome::Unanswered(without_answer(response.status)),
            _ => Outcome::Unanswered("no complete answer".to_owned()),
        };
        if !matches!(outcome, Outcome::Refused(_)) {
            self.note_length(outcome.clone(), (view.request_bytes, view.request_bytes, 1));
        }
        if !view.within_tables || view.beyond.is_some() {
            return;
        }
        let deciding = (view.specification.deciding)(call);
        self.count((relation, call.pair, outcome), &deciding, message.unwrap_or_default());
    }

    /// Counts a request that has no answer to judge, for this reason.
    pub(crate) fn leave_out(
        &mut self,
        relation: &'static str,
        call: &Call,
        reason: &str,
        specification: &Specification,
    ) {
        let outcome = Outcome::Unanswered(reason.to_owned());
        self.count((relation, call.pair, outcome), &(specification.deciding)(call), String::new());
    }

    /// Adds the counts of another part of the run.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, requests) in other.by_key {
            self.add(key, requests);
        }
        for (outcome, lengths) in other.lengths {
            self.note_length(outcome, lengths);
        }
    }

    fn note_length(&mut self, outcome: Outcome, (shortest, longest, times): (usize, usize, u64)) {
        let known = self.lengths.entry(outcome).or_insert((shortest, longest, 0));
        *known = (known.0.min(shortest), known.1.max(longest), known.2 + times);
    }

    /// Counts one request. Its values are written as text only where they are the first ones of their key.
    fn count(&mut self, key: Key, deciding: &DecidingValues<'_>, message: String) {
        if let Some(own) = self.by_key.get_mut(&key) {
            own.times += 1;
            own.in_common.retain(|known| {
                let value_of = |member| known.strip_prefix(member)?.strip_prefix(' ');
                deciding.iter().any(|(member, value)| value_of(*member) == Some(&**value))
            });
            own.message = message.min(std::mem::take(&mut own.message));
            own.note(deciding);
            return;
        }
        let in_common = deciding.iter().map(|(member, value)| format!("{member} {value}")).collect();
        let mut first = Requests { times: 1, message, in_common, seen: BTreeMap::new() };
        first.note(deciding);
        self.add(key, first);
    }

    fn add(&mut self, key: Key, requests: Requests) {
        if let Some(own) = self.by_key.get_mut(&key) {
            own.times += requests.times;
            own.in_common.retain(|value| requests.in_common.contains(value));
            own.message = requests.message.min(std::mem::take(&mut own.message));
            for (member, values) in requests.seen {
                own.seen.entry(member).or_default().extend(values);
            }
        } else if self.by_key.len() < MOST_OUTCOMES {
            self.by_key.insert(key, requests);
        }
    }

    /// The error message that most requests of these methods and modes got; none where none got one.
    pub fn commonest_refusal(&self, pairs: &[Kind]) -> Option<Refusal> {
        let mut by_kind = BTreeMap::<&str, (u64, &str)>::new();
        let mut of = 0;
        for ((_, _, outcome), requests) in self.by_key.iter().filter(|((_, pair, _), _)| pairs.contains(pair))
        {
            of += requests.times;
            if let Outcome::Refused(kind) = outcome {
                let known = by_kind.entry(kind).or_insert((0, &requests.message));
                *known = (known.0 + requests.times, known.1.min(&requests.message));
            }
        }
        let (times, message) = by_kind.into_values().max()?;
        Some(Refusal { pairs: pairs.to_vec(), message: message.to_owned(), times, of })
    }

    /// The commonest error message in the methods and modes in which no request got a result.
    pub(crate) fn refusal(&self, kinds: &[Kind]) -> Option<Refusal> {
        let is_served = |pair: &Kind| {
            let mut keys = self.by_key.keys();
            keys.any(|(_, other, outcome)| other == pair && *outcome == Outcome::Result)
        };
        let unserved: Vec<Kind> = kinds.iter().copied().filter(|pair| !is_served(pair)).collect();
        self.commonest_refusal(&unserved)
    }

    /// Why requests of the kind that a rule is about got no answer of the service, and whether most of them got none: where no line of the
    /// profile helps, the rule was exercised too seldom for that reason.
    pub(crate) fn why_unjudged(&self, rule: &Rule) -> Option<(String, bool)> {
        let is_of_rule = |(relation, pair, _): &Key| rule.is_about(relation, *pair);
        let (mut all, mut unanswered) = (0, BTreeMap::<&str, u64>::new());
        for (key, requests) in self.by_key.iter().filter(|(key, _)| is_of_rule(key)) {
            all += requests.times;
            if let Outcome::Unanswered(reason) = &key.2 {
                *unanswered.entry(reason).or_default() += requests.times;
            }
        }
        let (reason, times) = unanswered.into_iter().max_by_key(|(_, times)| *times)?;
        let in_common = self.in_common(reason, is_of_rule);
        let why = format!("{reason}, for {times} of {all} requests of the kind that it is about{in_common}");
        Some((why, 2 * times > all))
    }

    /// The reason for which requests were not answered, and what all of them have in common.
    pub(crate) fn described(&self, reason: &str) -> String {
        reason.to_owned() + &self.in_common(reason, |_| true) + &self.length(reason)
    }

    /// The length from which on requests were not answered for this reason, where all that got a result are shorter: in words, or nothing.
    fn length(&self, reason: &str) -> String {
        let served = self.lengths.get(&Outcome::Result).map_or(usize::MAX, |(_, longest, _)| *longest);
        match self.lengths.get(&Outcome::Unanswered(reason.to_owned())) {
            Some((shortest, _, 2..)) if served < *shortest => {
                format!("; the shortest has {shortest} bytes, and the longest request with a result {served}")
            }
            _ => String::new(),
        }
    }

    /// What all requests of this kind without an answer, for this reason, have in common, and most requests with a result are in no relation that
    /// has it: `; all have mode ERC20`, or nothing.
    fn in_common(&self, reason: &str, is_of_kind: impl Fn(&Key) -> bool) -> String {
        let is_affected =
            |key: &Key| is_of_kind(key) && matches!(&key.2, Outcome::Unanswered(own) if own == reason);
        let affected = self.by_key.iter().filter(|(key, _)| is_affected(key));
        let shared = affected
            .map(|(_, requests)| (requests.times, requests.in_common.clone()))
            .reduce(|(times, shared), (more, others)| (times + more, &shared & &others));
        let Some((2.., shared)) = shared else { return String::new() };
        let served = || self.by_key.iter().filter(|(key, _)| key.2 == Outcome::Result);
        let all: u64 = served().map(|(_, requests)| requests.times).sum();
        let is_common = |value: &&String| {
            let with_it = served().filter(|(_, requests)| requests.has_seen(value));
            2 * with_it.map(|(_, requests)| requests.times).sum::<u64>() > all
        };
        let named = shared.iter().filter(|value| !is_common(value)).take(MOST_IN_COMMON);
        let named: Vec<&str> = named.map(String::as_str).collect();
        if named.is_empty() { String::new() } else { format!("; all have {}", named.join(", ")) }
    }
}

/// The reason for which a request with this HTTP status and without a JSON-RPC answer is not judged.
pub(crate) fn without_answer(status: u16) -> String {
    format!("HTTP {status}, and no answer of the service")
}

/// A message without the words that hold a digit: addresses, amounts, ids.
pub fn without_values(message: &str) -> String {
    let words = message.split_whitespace();
    let words: Vec<&str> =
        words.filter(|word| !word.contains(|letter: char| letter.is_ascii_digit())).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use paymaster_schemas::kinds;

    use super::*;

    #[test]
    fn what_most_served_requests_have_is_not_named_for_those_without_an_answer() {
        let mut outcomes = Outcomes::default();
        let unanswered = Outcome::Unanswered("HTTP 502".to_owned());
        for (mode, sender, outcome) in [
            ("ERC20", "0x1", &unanswered),
            ("ERC20", "0x2", &unanswered),
            ("SPONSORED", "0x1", &Outcome::Result),
            ("SPONSORED", "0x2", &Outcome::Result),
        ] {
            let deciding = vec![("mode", mode.into()), ("sender", sender.into()), ("chain id", "0x1".into())];
            outcomes.count(("calls", kinds::QUOTE_ERC20, outcome.clone()), &deciding, String::new());
        }
        assert_eq!(outcomes.described("HTTP 502"), "HTTP 502; all have mode ERC20");
        // Where one in two served requests has the value, it may decide.
        let served = vec![("mode", "SPONSORED".into()), ("chain id", "0x2".into())];
        for _ in 0..2 {
            outcomes.count(("others", kinds::QUOTE_ERC20, Outcome::Result), &served, String::new());
        }
        assert_eq!(outcomes.described("HTTP 502"), "HTTP 502; all have chain id 0x1, mode ERC20");
        // Those that have it beside others of their relation count too.
        let mixed = vec![("mode", "ERC20".into()), ("chain id", "0x1".into())];
        for deciding in [&mixed, &served].into_iter().cycle().take(8) {
            outcomes.count(("mixed", kinds::QUOTE_ERC20, Outcome::Result), deciding, String::new());
        }
        assert_eq!(outcomes.described("HTTP 502"), "HTTP 502");
    }

    #[test]
    fn the_length_of_requests_without_an_answer_is_named_where_all_that_were_served_are_shorter() {
        let unanswered = || Outcome::Unanswered("HTTP 413".to_owned());
        let mut outcomes = Outcomes::default();
        outcomes.note_length(Outcome::Result, (500, 8_000, 40));
        outcomes.note_length(unanswered(), (8_300, 8_300, 1));
        assert_eq!(outcomes.described("HTTP 413"), "HTTP 413", "one may be chance");
        outcomes.note_length(unanswered(), (8_200, 9_000, 1));
        let said = "HTTP 413; the shortest has 8200 bytes, and the longest request with a result 8000";
        assert_eq!(outcomes.described("HTTP 413"), said);
        let mut longer = Outcomes::default();
        longer.note_length(Outcome::Result, (8_250, 8_250, 1));
        outcomes.merge(longer);
        assert_eq!(outcomes.described("HTTP 413"), "HTTP 413");
    }
}
