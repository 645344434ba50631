//! Advice: what to do after a run with these results.

use std::collections::BTreeSet;

use paymaster_settings::specifications::find_rule;

use crate::{
    figures::Outcome,
    results::{RunSummary, RunVerdict},
    text::count,
};

/// Most rules whose hints are shown.
const EXPLAINED: usize = 5;

/// The advice, the most useful first.
pub fn next(summary: &RunSummary) -> Vec<String> {
    let counts = summary.figures.total(None).counts;
    let mut advice = Vec::new();
    if summary.verdict == RunVerdict::CouldNotTest {
        advice.push("check the address, the headers and the log of the target; `paymaster-conformance URL` shows more of a single exchange".to_owned());
    }
    let mut explained = BTreeSet::new();
    for rule in summary.figures.wrong.iter().filter_map(|wrong| find_rule(&wrong.key.rule)) {
        if explained.insert(rule.id) && explained.len() <= EXPLAINED {
            advice.push(format!("{}: {} (`paymaster-conformance explain {}`)", rule.id, rule.hint, rule.id));
        }
    }
    if let Some(more @ 1..) = explained.len().checked_sub(EXPLAINED) {
        let more = count(more as u64, "more broken rule");
        advice.push(format!(
            "{more}: `paymaster-conformance explain RULE` describes each that the wrong answers above name"
        ));
    }
    if counts.of(Outcome::RpcError) > 0 {
        advice.push("JSON-RPC errors for operations that the profile does not promise a result for: add operations that the target accepts to the profile (operations.sponsorable, or accepts = \"any\"), or allow errors (--threshold 'error-rate<100%')".to_owned());
    }
    if counts.of(Outcome::RateLimited) > 0 {
        advice.push(
            "the target limits the rate: request less (--rate), or pause as it requests (--respect-retry-after)"
                .to_owned(),
        );
    }
    if counts.of(Outcome::Timeout) > 0 {
        advice.push(
            "timeouts: find out what the target waits for; --timeout sets the time of an exchange".to_owned(),
        );
    }
    if summary.thresholds.iter().any(|result| !result.met && result.threshold.is_latency()) {
        advice.push(
            "too slow for a threshold: the plots of the page (-o report.html) show whether latency rises with the load, with time or in \
             peaks; fewer --users, or a lower --rate, show from where on"
                .to_owned(),
        );
    }
    advice.extend(summary.warnings());
    if matches!(summary.verdict, RunVerdict::Passed | RunVerdict::Failed) && summary.seconds < 10.0 {
        advice.push(
            "a short run has too few requests for high percentiles: measure for 60 s or longer".to_owned(),
        );
    }
    advice
}

#[cfg(test)]
mod tests {
    use paymaster_settings::SPECIFICATIONS;

    use super::*;
    use crate::report::fixtures;

    #[test]
    fn up_to_five_rules_are_explained_and_the_others_counted() {
        let mut summary = fixtures::failed();
        let first = summary.figures.wrong[0].clone();
        let rules = SPECIFICATIONS.iter().flat_map(|specification| specification.rules());
        let ids: Vec<&str> = rules.map(|rule| rule.id).filter(|id| find_rule(id).is_some()).collect();
        for (broken, explained, more) in [
            (1, 1, None),
            (5, 5, None),
            (
                6,
                5,
                Some(
                    "1 more broken rule: `paymaster-conformance explain RULE` describes each that the wrong answers above name",
                ),
            ),
            (
                8,
                5,
                Some(
                    "3 more broken rules: `paymaster-conformance explain RULE` describes each that the wrong answers above name",
                ),
            ),
        ] {
            // Each rule is broken in two scenarios.
            let kinds = ids[..broken].iter().flat_map(|id| [(id, "a"), (id, "b")]);
            let kinds = kinds.map(|(id, label)| {
                let mut kind = first.clone();
                (kind.key.rule, kind.key.label) = ((*id).to_owned(), label.to_owned());
                kind
            });
            summary.figures.wrong = kinds.collect();
            let advice = next(&summary);
            let hints = advice.iter().filter(|line| line.contains("(`paymaster-conformance explain "));
            assert_eq!(hints.count(), explained, "{advice:?}");
            let found = advice.iter().find(|line| line.contains(" more broken rule"));
            assert_eq!(found.map(String::as_str), more);
        }
    }
}
