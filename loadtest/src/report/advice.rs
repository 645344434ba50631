//! What to do next, from what a run shows.

use paymaster_judge::rules::find_rule;

use crate::{
    figures::outcome::Outcome,
    summary::{Summary, Verdict},
};

/// What to look at, the most useful first.
pub fn next(summary: &Summary) -> Vec<String> {
    let counts = summary.total().counts;
    let mut advice = Vec::new();
    if summary.verdict == Verdict::CouldNotTest {
        advice.push("look at the address, the headers and the log of the target; `paymaster-conformance URL` says more of a single exchange".to_owned());
    }
    let mut explained = std::collections::BTreeSet::new();
    for wrong in &summary.wrong {
        if let Some(rule) = find_rule(&wrong.key.rule)
            && explained.insert(rule.id)
            && explained.len() <= 3
        {
            advice.push(format!(
                "{}: {} (`paymaster-conformance explain {}`)",
                rule.id, rule.hint, rule.id
            ));
        }
    }
    if counts.of(Outcome::RpcError) > 0 {
        advice.push("JSON-RPC errors to operations that nobody vouches for: name operations that the target accepts in the profile (operations.sponsorable, or accepts = \"any\"), or allow them (--threshold 'error-rate<100%')".to_owned());
    }
    if counts.of(Outcome::RateLimited) > 0 {
        advice.push(
            "the target limits the rate: ask for less (--rate), or back off as it says (--respect-retry-after)"
                .to_owned(),
        );
    }
    if counts.of(Outcome::Timeout) > 0 {
        advice.push("timeouts: look at what the target waits for; --timeout changes the deadline".to_owned());
    }
    advice.extend(summary.warnings());
    if summary.verdict == Verdict::Passed && summary.seconds < 10.0 {
        advice.push("a short run says little of the tail: --duration 60s".to_owned());
    }
    advice
}
