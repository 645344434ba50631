//! Advice: what to do after a run with these results.

use crate::{
    figures::outcome::Outcome,
    results::summary::{RunSummary, RunVerdict},
};
use paymaster_settings::specifications::find_rule;

/// The advice, the most useful first.
pub fn next(summary: &RunSummary) -> Vec<String> {
    let counts = summary.figures.total(None).counts;
    let mut advice = Vec::new();
    if summary.verdict == RunVerdict::CouldNotTest {
        advice.push("check the address, the headers and the log of the target; `paymaster-conformance URL` shows more of a single exchange".to_owned());
    }
    let mut explained = std::collections::BTreeSet::new();
    for wrong in &summary.figures.wrong {
        if let Some(rule) = find_rule(&wrong.key.rule)
            && explained.insert(rule.id)
            && explained.len() <= 3
        {
            advice.push(format!("{}: {} (`paymaster-conformance explain {}`)", rule.id, rule.hint, rule.id));
        }
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
    advice.extend(summary.warnings());
    if summary.verdict == RunVerdict::Passed && summary.seconds < 10.0 {
        advice.push(
            "a short run has too few requests for high percentiles: measure for 60 s or longer".to_owned(),
        );
    }
    advice
}
