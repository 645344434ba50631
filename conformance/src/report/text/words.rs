//! Phrases that several reports share.

use std::{cmp::Reverse, time::Duration};

use crate::report::counts::RuleState;
use crate::report::{Finding, Finished, Report};
use paymaster_client::redact::Redactor;
use paymaster_engine::message::has_one_of;
use paymaster_engine::specification::Specification;
use paymaster_engine::verdict::{
    Conclusion, EntryOutcome, EntryState, KnownFailureKind, Reached, Refusal, most_awaited,
};
use paymaster_settings::escape_controls;
use paymaster_settings::output::cut;

pub(crate) use paymaster_engine::rules::count;

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

/// Number of requests, duration and seed; for recorded traffic, the number of exchanges.
pub(crate) fn sent(report: &Report) -> String {
    if let Some(recorded) = &report.recorded {
        return count(recorded.exchanges, "recorded exchange");
    }
    let (requests, took) = (count(report.requests as u128, "request"), time(report.details.took));
    format!("{requests} in {took} · seed {}", report.seed)
}

/// What limits the run, each with its title.
pub(crate) fn limits(report: &Report) -> Vec<(&'static str, String)> {
    let warnings = report.warnings.iter().map(|warning| ("warning", warning.clone()));
    let skipped =
        report.recorded.iter().flat_map(|recorded| &recorded.skipped).map(|skipped| {
            ("left out", format!("{}: {}", count(skipped.entries, "exchange"), skipped.reason))
        });
    // Where nothing could be tested, the verdict says why.
    let cut_short = report.cut_short.iter().filter(|_| report.conclusion != Conclusion::CouldNotTest);
    let cut_short = cut_short.map(|cause| ("cut short", cause.clone()));
    let unjudged = report.unjudged.iter().map(|unjudged| {
        let (groups, request) =
            (count(unjudged.groups as u128, "group"), cut(&unjudged.request, LONGEST_MESSAGE));
        let with = if unjudged.label.is_empty() { "" } else { " with " };
        (
            "not judged",
            format!("{groups}: {}; for example{with}{}: {request}", unjudged.reason, unjudged.label),
        )
    });
    let all = warnings.chain(skipped).chain(cut_short).chain(unjudged);
    all.map(|(title, text)| (title, escape_controls(&text))).collect()
}

/// What to do next; none where nothing is to be done.
pub(crate) fn next(report: &Report) -> Option<String> {
    let text = match report.conclusion {
        Conclusion::Conforms if report.recorded.is_some() => return None,
        Conclusion::Conforms if report.embedded => {
            "judge a service: `paymaster-conformance URL`, by a profile that `paymaster-conformance init URL` writes"
        }
        Conclusion::Conforms => {
            "let CI run this command after each change: it ends with 0 as long as this holds"
        }
        Conclusion::NothingBroken => return None,
        Conclusion::ListOutOfDate => "update the list of known failures",
        Conclusion::Violations => {
            "fix what is broken, then repeat a defect with `paymaster-conformance replay FILE`; \
             `paymaster-conformance explain RULE` says what a rule requires and where to look"
        }
        Conclusion::Incomplete if report.recorded.is_some() => {
            "recorded traffic covers only what was recorded: run `paymaster-conformance check` for the rest, or accept \
             what could not be judged with --allow-incomplete"
        }
        Conclusion::CouldNotTest if report.recorded.as_ref().is_some_and(|it| it.exchanges > 0) => {
            "record calls with the key, the headers and the path that the target expects"
        }
        Conclusion::CouldNotTest if report.recorded.is_some() => {
            "record calls of the two methods together with their answers"
        }
        Conclusion::Incomplete if report.details.is_interrupted => {
            "the run was interrupted: start it again; what was judged so far held"
        }
        Conclusion::Incomplete | Conclusion::CouldNotTest if report.details.asks_for_key => {
            "give the key that the target asks for, in the URL or with --header, and run again"
        }
        Conclusion::Incomplete if report.cut_short.is_some() => {
            "let the run complete its plan: --rate keeps to a limit of the target, --time-limit and --max-requests \
             raise those of the run, fewer --cases lower what it takes; what was judged so far held"
        }
        Conclusion::Incomplete if report.details.is_refused && report.verdict_line().no_result => {
            "name what the target serves in {profile}: a run without any result does not pass, not even with --allow-incomplete"
        }
        Conclusion::Incomplete if !report.rules.iter().any(|rule| rule.waits) => {
            "see why it could not be judged, change that and run again, or accept it with --allow-incomplete"
        }
        Conclusion::Incomplete => {
            "describe the target in {profile}, or accept what could not be judged with --allow-incomplete"
        }
        Conclusion::CouldNotTest => {
            "look at the cause on the first line, mend it, then give the same command again"
        }
    };
    let first = || "paymaster.toml (`paymaster-conformance init` writes one to fill in)".to_owned();
    let profile = report.details.profile.as_deref().map_or_else(first, escape_controls);
    Some(text.replace("{profile}", &profile))
}

/// The state of a rule whose colour the verdict has.
pub(crate) const fn tone(conclusion: Conclusion) -> RuleState {
    match conclusion {
        Conclusion::Conforms => RuleState::Passed,
        Conclusion::NothingBroken | Conclusion::Incomplete => RuleState::Inconclusive,
        Conclusion::ListOutOfDate | Conclusion::Violations | Conclusion::CouldNotTest => RuleState::Broken,
    }
}

/// What the target does where the specification leaves it open, and what valid requests reached: each point with what was seen, and how
/// often. Nothing of a target that could not be tested.
pub(crate) fn observed(report: &Report) -> Vec<(String, String)> {
    if report.conclusion == Conclusion::CouldNotTest {
        return Vec::new();
    }
    let dialect = report.dialect.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (format!("dialect: {}", name.replace('-', " ")), value)
    });
    let observations = report.observations.iter().map(|(clause, values)| {
        let mut values: Vec<_> = values.iter().collect();
        values.sort_by_key(|(value, times)| (Reverse(**times), *value));
        let values = values.into_iter().map(|(value, times)| format!("{value} ({times})"));
        (clause.clone(), values.collect::<Vec<_>>().join(", "))
    });
    let reached = report.reached.iter().filter(|(_, reached)| **reached != Reached::default());
    let reached = reached.map(|(call, Reached { results, errors, unreadable })| {
        let answers = format!("results ({results}), errors ({errors}), unreadable ({unreadable})");
        (format!("valid requests: {call}"), answers)
    });
    let all = dialect.chain(observations).chain(reached);
    all.map(|(name, text)| (name, escape_controls(&text))).collect()
}

/// What the line of the profile is for that most inconclusive rules wait for, and the line to paste. None unless the run is incomplete.
pub(crate) fn missing_line(finished: &Finished, report: &Report) -> Option<(String, String)> {
    // Where the words of the refusals ask for a line, no other one helps before.
    let refusal = finished.summary.refusal.as_ref().filter(|_| report.verdict_line().no_result);
    let line_asked_for = finished.context.specification().line_asked_for;
    let asks = report.details.asks_for_key
        || refusal.is_some_and(|refusal| line_asked_for(&refusal.message).is_some());
    if report.conclusion != Conclusion::Incomplete || report.recorded.is_some() || asks {
        return None;
    }
    let (line, rules) = most_awaited(&finished.summary.rules)?;
    let inconclusive = report.counts().get(RuleState::Inconclusive);
    // Where every operation is refused, what rules wait for first helps none: it is the operation, for which they wait afterwards.
    let line = line.then.filter(|_| report.verdict_line().no_result).unwrap_or(line);
    let (text, meaning) = ((line.text)(&*finished.context), line.meaning);
    let place = match line.table {
        "" => "before the first table".to_owned(),
        table => format!("under {table}"),
    };
    let of = count(inconclusive as u128, "inconclusive rule");
    let wait = if inconclusive == 1 { "waits" } else { "wait" };
    let wait = format!("{rules} of {of} {wait} for one line of the profile, {meaning}");
    let file = report.details.profile.as_deref().unwrap_or("paymaster.toml");
    Some((format!("{wait}. Write it in {}, {place}", escape_controls(file)), text))
}

/// `no ordinary request of pm_getFeeQuoteOrData in mode ERC20 got a result; the commonest refusal (120 of 130 answers): "..."`.
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
    let line = line.map(|line| format!(": where it does not serve them, write {line}"));
    let key = || asks_for_key(refusal).then(|| ": give its key in the URL or with --header".to_owned());
    let asked = || {
        let line = (specification.line_asked_for)(&refusal.message)?;
        Some(format!(": the words may ask for {line} in the profile"))
    };
    let line = line.or_else(key).or_else(asked).unwrap_or_default();
    format!(
        "no ordinary request{of_pairs} got a result; the commonest refusal ({times} of {of} answers): {message}{line}"
    )
}

/// Whether the commonest refusal says that a key is missing or wrong.
pub(crate) fn asks_for_key(refusal: &Refusal) -> bool {
    has_one_of(&refusal.message, &["authoriz", "api key", "apikey", "credential"])
}

/// A text of the target between quotes, on one line, without secrets and control characters.
pub(crate) fn message_of_target(text: &str, redactor: &Redactor) -> String {
    let text = escape_controls(&redactor.apply(text));
    format!("\"{}\"", cut(&text, LONGEST_MESSAGE))
}

/// `reproduced 3/3`, or why the request was not sent again.
pub(crate) fn reproduced(finding: &Finding) -> String {
    if finding.details.is_recorded {
        return "recorded, not sent again".to_owned();
    }
    if finding.attempts.is_empty() {
        return "not sent again: the run was over".to_owned();
    }
    let how = if finding.details.is_repeated_as_new { " with new ids and nonces" } else { "" };
    format!("reproduced {}/{}{how}", finding.reproduced, finding.attempts.len())
}

/// `12 times in the run, reproduced 3/3`, how often other answers broke its rule, and whether a smaller request may show it.
pub(crate) fn seen(finding: &Finding, broken: u64) -> String {
    let smaller = if finding.could_be_smaller {
        "; a smaller request may show it too: the search ended with its budget of requests (--shrink-requests)"
    } else {
        ""
    };
    let all = if broken > finding.times {
        format!(" (its rule was broken {} in all)", count(broken, "time"))
    } else {
        String::new()
    };
    format!("{} in the run{all}, {}{smaller}", count(finding.times, "time"), reproduced(finding))
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
