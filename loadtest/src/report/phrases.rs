//! Sentences that several reports share.

use std::collections::BTreeSet;

use paymaster_settings::escape_controls;

use crate::figures::{ArrivalCounts, Outcome};
use crate::results::{ModelName, RunSummary, RunVerdict, Threshold};
use crate::text::{count, duration, latency, number, rate, seconds, share};

/// A longer reason for an early end, in bytes, has a line of its own below the verdict.
const LONGEST_REASON: usize = 160;

/// The verdict and why: wrong answers and the number of missed thresholds, why the load ended early or did not begin and, if the requested
/// rate was not reached, both rates. A run that passed says what was judged, and that no threshold limited the latency if none did.
pub(super) fn verdict(summary: &RunSummary) -> String {
    let missed = || summary.thresholds.iter().filter(|judged| !judged.met);
    // Wrong answers that every threshold permits are not why a run failed.
    let wrong = wrong(summary).filter(|_| missed().any(|judged| judged.threshold.counts_wrong_answers()));
    let missed = format!("{} missed", count(missed().count() as u64, "threshold"));
    let (word, mut details) = match summary.verdict {
        RunVerdict::Passed => ("PASSED", Vec::new()),
        RunVerdict::Failed => ("FAILED", wrong.into_iter().chain([missed]).collect()),
        RunVerdict::Incomplete => ("INCOMPLETE", Vec::new()),
        RunVerdict::CouldNotTest => ("COULD NOT TEST", Vec::new()),
    };
    details.extend(early_end(summary, true).map(escape_controls));
    details.extend(shortfall(summary));
    if summary.verdict == RunVerdict::Passed {
        details.push(correctness(summary));
        details.extend(missing_latency_threshold(summary));
    }
    if details.is_empty() { word.to_owned() } else { format!("{word}: {}", details.join("; ")) }
}

/// How many answers were wrong, and how many rules they break; none if all were right.
fn wrong(summary: &RunSummary) -> Option<String> {
    let total = summary.figures.total(None);
    let wrong = total.counts.of(Outcome::Wrong);
    let noun = if total.judged < total.counts.answered() { "judged answer" } else { "answer" };
    let were = if wrong == 1 { "was" } else { "were" };
    let rules: BTreeSet<&String> = summary.figures.wrong.iter().map(|kind| &kind.key.rule).collect();
    let (all, rules) = (count(total.judged, noun), count(rules.len() as u64, "rule"));
    (wrong > 0).then(|| format!("{} of {all} {were} wrong ({rules})", number(wrong)))
}

/// Why the run ended early, if that stands in the verdict, or below it.
pub(super) fn early_end(summary: &RunSummary, in_verdict: bool) -> Option<&str> {
    let is_incomplete = summary.verdict == RunVerdict::Incomplete;
    let is_in_verdict = |why: &str| !summary.has_begun() || is_incomplete && why.len() <= LONGEST_REASON;
    summary.cut_short.as_deref().filter(|why| is_in_verdict(why) == in_verdict)
}

/// How many of the judged answers were right.
fn correctness(summary: &RunSummary) -> String {
    let total = summary.figures.total(None);
    let wrong = total.counts.of(Outcome::Wrong);
    if total.judged == 0 {
        "no answer was judged".to_owned()
    } else if wrong > 0 {
        format!("{} of the judged answers were wrong, which a threshold permits", share(wrong, total.judged))
    } else if total.judged < total.counts.answered() {
        "every judged answer was right".to_owned()
    } else {
        "every answer was right".to_owned()
    }
}

/// That no threshold limited the latency of all requests, with the median; none if one did.
fn missing_latency_threshold(summary: &RunSummary) -> Option<String> {
    let limits = summary.thresholds.iter().map(|result| &result.threshold);
    let scopes: Vec<_> = limits.filter(|limit| limit.limits_latency()).map(Threshold::scope).collect();
    if scopes.contains(&None) {
        return None;
    }
    let median = summary.figures.total(None).latency.percentile(50.0)?;
    let of = if scopes.is_empty() { "" } else { " for all requests" };
    Some(format!("no latency threshold was given{of}, p50 was {}", duration(median)))
}

/// What came of the requests, a line each.
pub(super) fn outcome(summary: &RunSummary) -> Vec<String> {
    let total = summary.figures.total(None);
    let (all, answered, wrong) =
        (total.counts.all(), total.counts.answered(), total.counts.of(Outcome::Wrong));
    let mut lines: Vec<String> =
        early_end(summary, false).iter().map(|why| format!("cut short: {why}")).collect();
    if all == 0 {
        lines.push("nothing was measured".to_owned());
        return lines;
    }
    let answers = if answered == all { String::new() } else { format!("{} to ", count(answered, "answer")) };
    let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| latency(total.latency.percentile(percent)));
    let (time, rate, max) = (seconds(summary.seconds), rate(summary.rate()), latency(total.latency.max()));
    let requests = count(all, "request");
    lines.push(format!("{answers}{requests} in {time}: {rate}, p50 {p50}, p95 {p95}, p99 {p99}, max {max}"));
    lines.extend(arrivals(&summary.figures.arrivals));
    let of = if total.judged >= answered { "all".to_owned() } else { format!("{} of", number(total.judged)) };
    lines.push(format!("{of} {} answers judged, {} wrong", number(answered), number(wrong)));
    lines
}

/// The requested and the reached rate, if the open model did not reach it: both in arrivals per second.
fn shortfall(summary: &RunSummary) -> Option<String> {
    let shortfall = summary.shortfall()?;
    let why = if shortfall.by_generator {
        ", because the generator was slow".to_owned()
    } else {
        format!(" with {}", count(summary.model.users as u64, "user"))
    };
    Some(format!("asked for {}, reached {}{why}", rate(shortfall.requested), rate(shortfall.reached)))
}

/// The model, its rate, the users and the seed.
pub(super) fn load(summary: &RunSummary) -> String {
    let model = &summary.model;
    let rate = match &model.rate {
        Some(rate) if model.name == ModelName::Open => {
            let spread = if model.poisson { " at random (Poisson)" } else { "" };
            format!(
                "open model, {rate} arrivals per second{spread} requested, latency from the intended start"
            )
        }
        Some(rate) => format!("closed model, at most {rate} requests per second"),
        None => "closed model".to_owned(),
    };
    format!("{rate}, {}, seed {}", count(model.users as u64, "user"), summary.seed)
}

/// The requests that are in no figure: those of discovery, and those of the warm-up.
pub(super) fn in_no_figure(summary: &RunSummary) -> Vec<String> {
    let (discovery, warm_up) = (summary.discovery, summary.figures.warm_up);
    let time = seconds(discovery.seconds);
    let wrong = match warm_up.of(Outcome::Wrong) {
        0 => String::new(),
        wrong => format!(", {} of them wrong", number(wrong)),
    };
    let both = [
        (discovery.requests, format!("of discovery, in {time} before the load, are in no figure")),
        (warm_up.all(), format!("of the warm-up are in no figure{wrong}")),
    ];
    let sent = both.into_iter().filter(|(requests, _)| *requests > 0);
    sent.map(|(requests, what)| format!("{} {what}", count(requests, "request"))).collect()
}

/// The arrivals of the open model and how they ended; `None` in the closed model.
pub(super) fn arrivals(arrivals: &ArrivalCounts) -> Option<String> {
    arrivals.requested_rate()?;
    let mut parts =
        vec![format!("{} asked for in {}", count(arrivals.due, "arrival"), seconds(arrivals.seconds))];
    for (times, ending, always) in [
        (arrivals.in_time, "served in time", true),
        (arrivals.late, "served late", true),
        (arrivals.unanswered(), "without an answer", false),
        (arrivals.held_back, "held back for Retry-After", false),
        (arrivals.unsent, "never sent", false),
    ] {
        if always || times > 0 {
            parts.push(format!("{} {ending}", number(times)));
        }
    }
    Some(parts.join(", "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        figures::{Figures, GeneratorUsage, Sample},
        report::fixtures,
        results::judge_all,
    };

    /// A run of ten answers after 2.3 s each.
    fn slow(thresholds: &[&str], judged: u64, wrong: u64) -> RunSummary {
        let mut figures = Figures::default();
        for n in 0..10 {
            figures.record(&Sample {
                label: "quote-erc20",
                at: Some(Duration::ZERO),
                latency: Duration::from_millis(2_300),
                outcome: if n < wrong { Outcome::Wrong } else { Outcome::Good },
                judged: n < judged,
            });
        }
        let length = Duration::from_secs(30);
        let own: Vec<Threshold> = thresholds.iter().map(|text| text.parse().unwrap()).collect();
        let results = judge_all(&own, &figures, length);
        let scenarios = vec!["quote-erc20".to_owned()];
        RunSummary { scenarios, ..RunSummary::new(figures, length) }.judged(results)
    }

    #[test]
    fn a_run_that_passed_says_which_threshold_was_missing() {
        for (thresholds, judged, wrong, expected) in [
            (
                &[][..],
                10,
                0,
                "PASSED: every answer was right; no latency threshold was given, p50 was 2.30 s",
            ),
            (&["p95<5s"], 10, 0, "PASSED: every answer was right"),
            (&["avg<5s"], 4, 0, "PASSED: every judged answer was right"),
            (
                &["max<5s for quote-erc20"],
                10,
                0,
                "PASSED: every answer was right; no latency threshold was given for all requests, p50 was 2.30 s",
            ),
            (&["p95<5s"], 0, 0, "PASSED: no answer was judged"),
            (
                &["p95<5s", "wrong-rate<50%", "error-rate<50%"],
                10,
                4,
                "PASSED: 40% of the judged answers were wrong, which a threshold permits",
            ),
            (&["p95<1s"], 10, 0, "FAILED: 1 threshold missed"),
            (&["p95<1s", "wrong-rate<50%", "error-rate<50%"], 10, 4, "FAILED: 1 threshold missed"),
        ] {
            assert_eq!(verdict(&slow(thresholds, judged, wrong)), expected);
        }
        assert_eq!(verdict(&fixtures::unreachable()), "COULD NOT TEST");
        assert_eq!(verdict(&fixtures::not_begun()), "COULD NOT TEST: no connection: <b>");
    }

    #[test]
    fn a_run_that_failed_says_how_many_answers_were_wrong() {
        let mut summary = fixtures::failed();
        assert_eq!(verdict(&summary), "FAILED: 40 of 990 answers were wrong (1 rule); 2 thresholds missed");
        let mut other = summary.figures.wrong[0].clone();
        other.key.rule = "answer.id".to_owned();
        summary.figures.wrong.push(other);
        let label = summary.figures.labels.get_mut("quote-erc20").unwrap();
        label.judged -= 100;
        assert_eq!(
            verdict(&summary),
            "FAILED: 40 of 890 judged answers were wrong (2 rules); 2 thresholds missed"
        );
    }

    #[test]
    fn a_short_reason_of_an_early_end_stands_in_the_verdict_and_a_long_one_below() {
        let incomplete = |why: &str| {
            let summary =
                RunSummary { cut_short: Some(why.to_owned()), ..slow(&["p95<5s"], 10, 0) }.judged(Vec::new());
            (verdict(&summary), outcome(&summary).remove(0))
        };
        let (first, below) = incomplete("interrupted after 4.7 s of 30 s \u{1b}");
        assert_eq!(first, "INCOMPLETE: interrupted after 4.7 s of 30 s \\u{1b}");
        assert!(!below.contains("cut short"), "{below}");
        let long = "worker a was lost; ".repeat(10);
        assert_eq!(incomplete(&long), ("INCOMPLETE".to_owned(), format!("cut short: {long}")));
    }

    /// 450 journeys at 45 a second. The last one begins after 11.66 s: 900 answers, which are 77 a second.
    #[test]
    fn a_rate_that_was_not_reached_fails_unless_the_generator_was_slow() {
        let overload = |waited: u64, delayed: u64| {
            let mut summary = slow(&["p95<5s", "rps>=0.3"], 10, 0);
            summary.model.users = 7;
            summary.figures.arrivals = ArrivalCounts {
                due: 450,
                seconds: 10.0,
                in_time: 450 - waited - delayed,
                late: waited + delayed,
                waited,
                delayed,
                last_begun: 11.66,
                ..ArrivalCounts::default()
            };
            summary
        };
        let judged = |summary: RunSummary| {
            let thresholds = ["p95<5s", "rps>=0.3"].map(|text| text.parse().unwrap());
            let results = judge_all(&thresholds, &summary.figures, summary.length());
            verdict(&summary.judged(results))
        };
        assert_eq!(
            judged(overload(400, 20)),
            "FAILED: 1 threshold missed; asked for 45.0/s, reached 38.6/s with 7 users"
        );
        let by_generator = "INCOMPLETE: asked for 45.0/s, reached 38.6/s, because the generator was slow";
        assert_eq!(judged(overload(20, 400)), by_generator);
        let mut full = overload(400, 20);
        full.generators = vec![GeneratorUsage { cpu_share: Some(0.9), ..GeneratorUsage::default() }];
        assert_eq!(judged(full), by_generator);
        // The arrivals in progress were dropped.
        let mut interrupted = overload(400, 20);
        interrupted.cut_short = Some("interrupted".to_owned());
        assert_eq!(judged(interrupted), "INCOMPLETE: interrupted");
        // From 95 % on it does not fail, and below 99 % it is stated.
        let mut close = overload(400, 20);
        close.figures.arrivals.last_begun = 10.4;
        assert_eq!(
            judged(close),
            "PASSED: asked for 45.0/s, reached 43.3/s with 7 users; every answer was right"
        );
    }

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
