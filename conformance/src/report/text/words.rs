//! Phrases that several reports share.

use std::{collections::BTreeMap, time::Duration};

use crate::report::{
    Finished,
    counts::{Counts, RuleState},
    text::compact,
};
use paymaster_client::redact::Redactor;
use paymaster_engine::{
    cases::case::Member,
    session::{recorded::RECORDED, unserved::Refusal},
    verdict::{
        conclusion::{Conclusion, Verdict},
        finding::Finding,
        known::{EntryOutcome, EntryState, KnownFailureKind},
        profile_line,
        summary::{RuleOutcome, Summary},
    },
};
use paymaster_exchange::Exchange;
use paymaster_settings::output::terminal::escape_controls;

pub(crate) use paymaster_engine::verdict::line::count;

/// The longest error message of the target that is shown, in characters.
const LONGEST_MESSAGE: usize = 200;

/// `0.4 s`, `12 s`, `3 min 20 s`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 9.95 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

/// The request of a finding in recorded traffic; its label names its place in the recording. None for other findings.
pub(crate) fn recorded(finding: &Finding) -> Option<&Member> {
    let is_recorded = finding.group.relation.id == RECORDED.id;
    finding.group.members.first().filter(|_| is_recorded)
}

/// Number of requests, duration and seed; for recorded traffic, the number of exchanges.
pub(crate) fn sent(summary: &Summary) -> String {
    match &summary.recorded {
        Some(recorded) => count(recorded.exchanges, "recorded exchange"),
        None => format!(
            "{} in {} · seed {}",
            count(summary.requests as u128, "request"),
            time(summary.took),
            summary.seed
        ),
    }
}

/// The rules with this verdict, grouped by the reason for it, in the order of the rules.
pub(crate) fn by_reason(rules: &[RuleOutcome], verdict: Verdict) -> Vec<(&str, Vec<&RuleOutcome>)> {
    let mut by_reason: Vec<(&str, Vec<&RuleOutcome>)> = Vec::new();
    for outcome in rules.iter().filter(|outcome| outcome.verdict == verdict) {
        let reason = outcome.reason.as_deref().unwrap_or_default();
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rules)) => rules.push(outcome),
            None => by_reason.push((reason, vec![outcome])),
        }
    }
    by_reason
}

/// What the line of the profile is for that most inconclusive rules wait for, and the line to paste. None unless the run is incomplete.
pub(crate) fn missing_line(finished: &Finished<'_>) -> Option<(String, String)> {
    let summary = finished.summary;
    if summary.conclusion != Conclusion::Incomplete || summary.recorded.is_some() {
        return None;
    }
    let line = profile_line::by_value(&summary.rules, finished.context).into_iter().next()?;
    let inconclusive = Counts::of(&summary.rules, finished.strictness).get(RuleState::Inconclusive);
    let about = format!(
        "{} of {inconclusive} wait for one line of the profile, {}. Write it in paymaster.toml, {}",
        count(line.rules.len() as u128, "inconclusive rule"),
        line.kind.meaning,
        match line.kind.table {
            "" => "before the first table".to_owned(),
            table => format!("under {table}"),
        },
    );
    Some((about, line.text))
}

/// `no ordinary request of pm_getFeeQuoteOrData in mode ERC20 got a result; most often (120 of 130 times) the target answered: "..."`.
pub(crate) fn refused(refusal: &Refusal, kinds: usize, redactor: &Redactor) -> String {
    let pairs: Vec<String> = refusal.pairs.iter().map(|pair| pair.words()).collect();
    let of_pairs =
        if pairs.len() == kinds { String::new() } else { format!(" of {}", pairs.join(" and of ")) };
    let Refusal { times, of, .. } = refusal;
    let message = message_of_target(&refusal.message, redactor);
    format!(
        "no ordinary request{of_pairs} got a result; most often ({times} of {of} times) the target answered: {message}"
    )
}

/// A text of the target between quotes, on one line, without secrets and control characters.
pub(crate) fn message_of_target(text: &str, redactor: &Redactor) -> String {
    let text = escape_controls(&redactor.apply(text));
    format!("\"{}\"", compact::cut(&text, LONGEST_MESSAGE))
}

/// Values and how often each was seen, the most frequent first.
pub(crate) fn by_frequency(values: &BTreeMap<String, u64>) -> Vec<(&String, &u64)> {
    let mut sorted: Vec<_> = values.iter().collect();
    sorted.sort_by(|left, right| right.1.cmp(left.1).then(left.0.cmp(right.0)));
    sorted
}

/// `reproduced 3/3`, or why the request was not sent again.
pub(crate) fn reproduced(finding: &Finding) -> String {
    if recorded(finding).is_some() {
        return "recorded, not sent again".to_owned();
    }
    if finding.attempts.is_empty() {
        return "not sent again: the run was over".to_owned();
    }
    format!("reproduced {}/{}", finding.reproduced(), finding.attempts.len())
}

/// `reproduced 3/3, seen 12 times in the run`, and whether a smaller request may show it.
pub(crate) fn seen(finding: &Finding) -> String {
    let smaller = if finding.could_be_smaller {
        "; a smaller request may show it too: the search ended with its budget of requests (--shrink-requests)"
    } else {
        ""
    };
    format!("{}, seen {} in the run{smaller}", reproduced(finding), count(finding.times, "time"))
}

/// The place in the answer at which the rule is broken.
pub(crate) fn place(finding: &Finding) -> &str {
    match finding.violation.pointer.as_str() {
        "" => "the whole answer",
        pointer => pointer,
    }
}

/// The verdict for a single finding.
pub(crate) fn verdict(finding: &Finding) -> Verdict {
    if finding.is_flaky() { Verdict::Flaky } else { Verdict::Failed }
}

/// An answer on one line: status and body, or why there is no answer.
pub(crate) fn answer(exchange: &Exchange) -> String {
    match &exchange.outcome {
        Ok(response) => {
            let body = String::from_utf8_lossy(&response.body);
            let body = if body.is_empty() { "(empty body)" } else { body.trim() };
            format!("HTTP {}  {body}", response.status)
        }
        Err(failure) => failure.to_string(),
    }
}

/// The state of an entry that does not fail the run.
pub(crate) fn known_state(known: &EntryOutcome) -> &'static str {
    match (known.entry.kind, known.state) {
        (KnownFailureKind::Failing, EntryState::StillFailing) => "fails",
        (KnownFailureKind::Flaky, EntryState::StillFailing) => "flaky, failed this time",
        (_, EntryState::Quiet) => "flaky, did not fail this time",
        _ => "did not fail in what was judged, which is too little to show that it is gone",
    }
}

/// What to do about an entry that fails the run.
pub(crate) fn known_advice(known: &EntryOutcome) -> String {
    let entry = &known.entry;
    match known.state {
        EntryState::UnexpectedlyPassing => {
            "unexpectedly passing: the rule held every time; delete the entry".to_owned()
        }
        EntryState::MatchesNothing => {
            "matches nothing: no violation matches it; correct the entry or delete it".to_owned()
        }
        EntryState::Expired => format!(
            "expired on {}: the failure counts again; fix it, or ask {} to set a later date",
            entry.expires, entry.owner
        ),
        EntryState::StillFailing | EntryState::Quiet | EntryState::NotReached => entry.reason.clone(),
    }
}

/// Whether a text is an address: 0x and 40 hex digits.
pub(crate) fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}
