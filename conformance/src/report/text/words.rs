//! Phrases that several reports share.

use std::{collections::BTreeMap, time::Duration};

use crate::report::{
    Finished,
    counts::RuleState,
    model::{Finding, JudgedRule, Report, Request},
    text::compact,
};
use paymaster_client::redact::Redactor;
use paymaster_engine::{
    session::unserved::Refusal,
    specification::Specification,
    verdict::{
        conclusion::{Conclusion, Verdict},
        known::{EntryOutcome, EntryState, KnownFailureKind},
        profile_line,
    },
};
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
pub(crate) fn recorded(finding: &Finding) -> Option<&Request> {
    finding.requests.first().filter(|_| finding.details.is_recorded)
}

/// Number of requests, duration and seed; for recorded traffic, the number of exchanges.
pub(crate) fn sent(report: &Report) -> String {
    match &report.recorded {
        Some(recorded) => count(recorded.exchanges, "recorded exchange"),
        None => format!(
            "{} in {} · seed {}",
            count(report.requests as u128, "request"),
            time(report.details.took),
            report.seed
        ),
    }
}

/// The rules with this verdict, grouped by the reason for it, in the order of the rules.
pub(crate) fn by_reason(report: &Report, verdict: Verdict) -> Vec<(&str, Vec<&JudgedRule>)> {
    let mut by_reason: Vec<(&str, Vec<&JudgedRule>)> = Vec::new();
    for rule in report.rules.iter().filter(|rule| rule.verdict == verdict) {
        let reason = rule.reason.as_deref().unwrap_or_default();
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rules)) => rules.push(rule),
            None => by_reason.push((reason, vec![rule])),
        }
    }
    by_reason
}

/// What the line of the profile is for that most inconclusive rules wait for, and the line to paste. None unless the run is incomplete.
pub(crate) fn missing_line(finished: &Finished<'_>, report: &Report) -> Option<(String, String)> {
    if report.conclusion != Conclusion::Incomplete || report.recorded.is_some() {
        return None;
    }
    let line = profile_line::by_value(&finished.summary.rules, finished.context).into_iter().next()?;
    let inconclusive = report.counts().get(RuleState::Inconclusive);
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
pub(crate) fn refused(refusal: &Refusal, specification: &Specification, redactor: &Redactor) -> String {
    let pairs: Vec<String> = refusal.pairs.iter().map(|pair| pair.words()).collect();
    let of_pairs = if pairs.len() == specification.kinds.len() {
        String::new()
    } else {
        format!(" of {}", pairs.join(" and of "))
    };
    let Refusal { times, of, .. } = refusal;
    let message = message_of_target(&refusal.message, redactor);
    let line = (specification.excluding_line)(&refusal.pairs).filter(|_| times == of);
    let line = line.map_or_else(String::new, |line| format!(": where it does not serve them, write {line}"));
    format!(
        "no ordinary request{of_pairs} got a result; most often ({times} of {of} times) the target answered: {message}{line}"
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
    if finding.details.is_recorded {
        return "recorded, not sent again".to_owned();
    }
    if finding.attempts.is_empty() {
        return "not sent again: the run was over".to_owned();
    }
    format!("reproduced {}/{}", finding.reproduced, finding.attempts.len())
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

/// What to do about an entry that fails the run; the state of any other.
pub(crate) fn known_advice(known: &EntryOutcome) -> String {
    let entry = &known.entry;
    let text = match (known.state, entry.kind) {
        (EntryState::UnexpectedlyPassing, _) => {
            "unexpectedly passing: the rule held every time; delete the entry"
        }
        (EntryState::MatchesNothing, _) => {
            "matches nothing: no violation matches it; correct the entry or delete it"
        }
        (EntryState::Expired, _) => {
            return format!(
                "expired on {}: the failure counts again; fix it, or ask {} to set a later date",
                entry.expires, entry.owner
            );
        }
        (EntryState::StillFailing, KnownFailureKind::Failing) => "fails",
        (EntryState::StillFailing, KnownFailureKind::Flaky) => "flaky, failed this time",
        (EntryState::Quiet, _) => "flaky, did not fail this time",
        (EntryState::NotReached, _) => {
            "did not fail in what was judged, which is too little to show that it is gone"
        }
    };
    text.to_owned()
}

/// Whether a text is an address: 0x and 40 hex digits.
pub(crate) fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    digits.len() == 40 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}
