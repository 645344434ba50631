//! Where profile and target contradict each other: what the profile states and on which line, and what the target does instead.

use paymaster_engine::{
    session::contradictions::Contradiction,
    verdict::{conclusion::Conclusion, finding::Finding},
};
use paymaster_exchange::Exchange;
use paymaster_fee_quote::target::context::Context;
use serde_json::Value;

use crate::report::{
    Finished,
    text::{compact::cut, defects::ShownDefect, words},
};

/// The longest answer that is shown, in characters.
const LONGEST_ANSWER: usize = 300;
/// Shorter values may stand in a profile for another reason.
const SHORTEST_VALUE: usize = 6;

/// A contradiction as reports show it, without secrets.
#[derive(Debug)]
pub(crate) struct ShownContradiction {
    /// The entry of the profile, as `tokens.supported[1]`.
    pub(crate) entry: String,
    /// The file and the line of the entry, as `paymaster.toml, line 7`; none where no file has it.
    pub(crate) place: Option<String>,
    /// What the profile states.
    pub(crate) states: String,
    /// What the target does.
    pub(crate) cause: String,
    /// An answer that shows it, on one line; none where no finding has one.
    pub(crate) answer: Option<String>,
    /// The number of the defect that has this answer.
    pub(crate) defect: Option<usize>,
}

impl ShownContradiction {
    /// `tokens.supported[1] (paymaster.toml, line 7)`.
    pub(crate) fn title(&self) -> String {
        match &self.place {
            Some(place) => format!("{} ({place})", self.entry),
            None => self.entry.clone(),
        }
    }
}

/// What an entry of the profile is about.
enum Entry<'a> {
    /// A supported token: its address.
    Token(&'a str),
    /// A sponsorable operation: its sender, and the value by which it is found in the file.
    Operation { sender: &'a str, found_by: &'a str },
}

/// The contradictions; empty unless the run ended with violations, as the headline names them only then.
pub(crate) fn shown(finished: &Finished<'_>, defects: &[ShownDefect<'_>]) -> Vec<ShownContradiction> {
    if finished.summary.conclusion != Conclusion::Violations {
        return Vec::new();
    }
    let all = finished.summary.contradictions.iter();
    all.filter_map(|contradiction| one(contradiction, finished, defects)).collect()
}

fn one(
    contradiction: &Contradiction,
    finished: &Finished<'_>,
    defects: &[ShownDefect<'_>],
) -> Option<ShownContradiction> {
    let entry = entry(&contradiction.line, finished)?;
    let answers = words::count(u128::from(contradiction.times), "answer");
    let (value, states, cause) = match &entry {
        Entry::Token(address) => (
            *address,
            format!("the target supports the token {address}"),
            format!("{answers} refused it or listed it as unsupported, and none served it"),
        ),
        Entry::Operation { sender, found_by } => (
            *found_by,
            format!("the target sponsors this operation of {sender}"),
            format!("{answers} refused it, and none sponsored it"),
        ),
    };
    let place = finished.place.profile.as_ref().and_then(|file| {
        let line = file.line_with(value)?;
        Some(finished.safe(&format!("{}, line {line}", file.shown)))
    });
    let example = finished
        .summary
        .findings
        .iter()
        .enumerate()
        .find_map(|(number, finding)| Some((number, answer(finding, &entry)?)));
    let defect = example.as_ref().and_then(|(number, _)| {
        let own = defects.iter().find(|defect| defect.findings.contains(number))?;
        Some(own.number)
    });
    Some(ShownContradiction {
        entry: contradiction.line.clone(),
        place,
        states: finished.safe(&states),
        cause,
        answer: example.map(|(_, exchange)| cut(&finished.safe(&words::answer(exchange)), LONGEST_ANSWER)),
        defect,
    })
}

/// The entry that a line such as `tokens.supported[1]` names.
fn entry<'a>(line: &str, finished: &'a Finished<'_>) -> Option<Entry<'a>> {
    let (list, rest) = line.split_once('[')?;
    let index: usize = rest.trim_end_matches(']').parse().ok()?;
    let profile = &Context::of(finished.context).profile;
    if list == "tokens.supported" {
        return Some(Entry::Token(&profile.tokens.supported.get(index)?.address));
    }
    let operations = &profile.operations.sponsorable;
    let own = operations.get(index)?;
    let sender = own.get("sender")?.as_str()?;
    let is_unique = |value: &str| {
        let has = |operation: &&serde_json::Map<String, Value>| {
            let mut values = operation.values().filter_map(Value::as_str);
            values.any(|other| other.eq_ignore_ascii_case(value))
        };
        value.len() >= SHORTEST_VALUE && operations.iter().filter(has).count() == 1
    };
    let members = ["sender", "callData", "initCode", "nonce"].into_iter();
    let found_by = members
        .filter_map(|member| own.get(member)?.as_str())
        .find(|value| is_unique(value))
        .unwrap_or(sender);
    Some(Entry::Operation { sender, found_by })
}

/// The exchange of a finding, if its answer does not keep what the entry promises.
fn answer<'a>(finding: &'a Finding, entry: &Entry<'_>) -> Option<&'a Exchange> {
    let exchange = finding.exchanges.get(finding.violation.member)?;
    let request: Value = serde_json::from_slice(&exchange.request).ok()?;
    let response = exchange.outcome.as_ref().ok()?;
    let answer: Value = serde_json::from_slice(&response.body).ok()?;
    let is_error = answer["error"].is_object();
    let same =
        |value: &Value, text: &str| value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(text));
    let shows = match entry {
        Entry::Token(address) => {
            let unsupported = answer["result"]["unsupportedTokens"].as_array();
            let info = request["params"][1]["tokenInfo"].as_object();
            unsupported.is_some_and(|tokens| tokens.iter().any(|token| same(token, address)))
                || is_error && info.is_some_and(|info| info.values().any(|token| same(token, address)))
        }
        Entry::Operation { sender, .. } => {
            same(&request["params"][0]["sender"], sender)
                && (is_error || same(&answer["result"]["paymasterAndData"], "0x"))
        }
    };
    shows.then_some(exchange)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{sample, text::defects};

    fn shown_of(sample: &sample::Sample) -> Vec<ShownContradiction> {
        let finished = sample.finished();
        shown(&finished, &defects::shown(&finished))
    }

    #[test]
    fn an_entry_has_its_line_its_statement_and_an_answer_that_contradicts_it() {
        let [token, operation]: [ShownContradiction; 2] =
            shown_of(&sample::contradicted()).try_into().unwrap();
        assert_eq!(token.title(), "tokens.supported[1] (paymaster.toml, line 10)");
        assert_eq!(token.states, "the target supports the token 0x2791bca1f2de4661ed88a30c99a7a9449aa84174");
        assert_eq!(token.cause, "12 answers refused it or listed it as unsupported, and none served it");
        assert!(token.answer.unwrap().contains("\"unsupportedTokens\":[\"0x2791"));
        assert_eq!(token.defect, Some(1));
        assert_eq!(operation.title(), "operations.sponsorable[0] (paymaster.toml, line 6)");
        assert_eq!(
            operation.states,
            "the target sponsors this operation of 0x00000000000000000000000000000000deadbeef"
        );
        assert_eq!(operation.cause, "1 answer refused it, and none sponsored it");
        // No finding has a request with this sender.
        assert_eq!((operation.answer, operation.defect), (None, None));
    }

    #[test]
    fn only_a_run_with_violations_has_contradictions() {
        let mut sample = sample::contradicted();
        sample.summary.conclusion = Conclusion::Incomplete;
        assert!(shown_of(&sample).is_empty());
    }
}
