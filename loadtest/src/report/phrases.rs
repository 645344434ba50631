//! Sentences that several reports share.

use crate::{
    figures::{arrivals::ArrivalCounts, outcome::OutcomeCounts},
    results::summary::{RunSummary, RunVerdict},
    text::{count, number, rate, seconds},
};

/// The verdict, with the number of missed thresholds and, if the requested rate was not reached, both rates.
pub(super) fn verdict(summary: &RunSummary) -> String {
    let missed = summary.thresholds.iter().filter(|judged| !judged.met).count() as u64;
    let missed = format!("{} missed", count(missed, "threshold"));
    let (word, missed) = match summary.verdict {
        RunVerdict::Passed => ("PASSED", None),
        RunVerdict::Failed => ("FAILED", Some(missed)),
        RunVerdict::Incomplete => ("INCOMPLETE", None),
        RunVerdict::CouldNotTest => ("COULD NOT TEST", None),
    };
    let details: Vec<String> = missed.into_iter().chain(shortfall(summary)).collect();
    if details.is_empty() {
        word.to_owned()
    } else {
        format!("{word}: {}", details.join("; "))
    }
}

/// The number of requests, and of answers if not every request was answered.
pub(super) fn answered(counts: OutcomeCounts) -> String {
    let requests = count(counts.all(), "request");
    if counts.answered() == counts.all() {
        requests
    } else {
        format!("{} to {requests}", count(counts.answered(), "answer"))
    }
}

/// The requested and the reached rate, if the open model did not reach it.
fn shortfall(summary: &RunSummary) -> Option<String> {
    summary.shortfall().map(|shortfall| {
        format!(
            "asked for {}, reached {}",
            rate(shortfall.requested),
            rate(shortfall.reached)
        )
    })
}

/// The arrivals of the open model and how they ended; `None` in the closed model.
pub(super) fn arrivals(arrivals: &ArrivalCounts) -> Option<String> {
    arrivals.requested_rate()?;
    let mut parts = vec![format!(
        "{} asked for in {}",
        count(arrivals.due, "arrival"),
        seconds(arrivals.seconds)
    )];
    for (times, ending) in [
        (arrivals.in_time, "served in time"),
        (arrivals.late, "served late"),
    ] {
        parts.push(format!("{} {ending}", number(times)));
    }
    for (times, ending) in [
        (arrivals.unanswered(), "without an answer"),
        (arrivals.held_back, "held back for Retry-After"),
        (arrivals.unsent, "never sent"),
    ] {
        if times > 0 {
            parts.push(format!("{} {ending}", number(times)));
        }
    }
    Some(parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_shown_for_the_open_model_only() {
        assert_eq!(arrivals(&ArrivalCounts::default()), None);
        let of = ArrivalCounts {
            due: 3_000,
            seconds: 3.0,
            in_time: 1_000,
            late: 1_200,
            unsent: 700,
            ..ArrivalCounts::default()
        };
        assert_eq!(
            arrivals(&of).as_deref(),
            Some(
                "3 000 arrivals asked for in 3 s, 1 000 served in time, 1 200 served late, 100 without an answer, 700 never sent"
            )
        );
    }
}
