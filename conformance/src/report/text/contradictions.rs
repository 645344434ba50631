//! Where profile and target contradict each other: what the profile states and on which line, and what the target does instead.

use paymaster_engine::{
    knowledge::Statement,
    session::contradictions::Contradiction,
    verdict::{conclusion::Conclusion, finding::Finding},
};
use paymaster_settings::escape_controls;
use serde_json::Value;

use crate::report::{
    Finished,
    model::Report,
    text::{compact::cut, words},
};

/// The longest answer that is shown, in characters.
const LONGEST_ANSWER: usize = 300;

/// A contradiction as reports show it, without secrets.
#[derive(Clone, Debug)]
pub(crate) struct ShownContradiction {
    /// The entry of the profile, with its file and line where they are known: `tokens.supported[1] (paymaster.toml, line 7)`.
    pub(crate) title: String,
    /// What the profile states.
    pub(crate) states: String,
    /// What the target does instead, and which defect shows it.
    pub(crate) cause: String,
    /// An answer that shows it, on one line; none where no finding has one.
    pub(crate) answer: Option<String>,
}

/// The contradictions; empty unless the run ended with violations, as the headline names them only then.
pub(crate) fn shown(finished: &Finished, report: &Report) -> Vec<ShownContradiction> {
    if report.conclusion != Conclusion::Violations {
        return Vec::new();
    }
    let all = finished.summary.contradictions.iter();
    all.filter_map(|contradiction| one(contradiction, finished, report)).collect()
}

fn one(contradiction: &Contradiction, finished: &Finished, report: &Report) -> Option<ShownContradiction> {
    let safe = |text: &str| escape_controls(&finished.maker().text(text));
    let (list, place) = contradiction.line.split_once('[')?;
    let statement = finished.context.stated(list, place.trim_end_matches(']').parse().ok()?)?;
    let answers = words::count(u128::from(contradiction.times), "answer");
    let place = finished.place.profile.as_ref().and_then(|file| {
        let line = file.line_with(&statement.found_by)?;
        Some(safe(&format!(" ({}, line {line})", file.shown)))
    });
    let findings = finished.summary.findings.iter().zip(&report.findings).enumerate();
    let example = findings
        .filter(|(_, (finding, _))| contradicts(finding, &statement) == Some(true))
        .find_map(|(number, (_, made))| Some((number, made.exchange()?)));
    let defect = example.and_then(|(number, _)| report.defect_of(number));
    let shows = defect.map(|defect| format!(" ({} shows it)", defect.label)).unwrap_or_default();
    Some(ShownContradiction {
        title: format!("{}{}", contradiction.line, place.unwrap_or_default()),
        states: safe(&statement.states),
        cause: format!("cause: {answers} {}{shows}", statement.contradicted),
        answer: example.map(|(_, exchange)| cut(&escape_controls(&exchange.line()), LONGEST_ANSWER)),
    })
}

/// Whether the answer of a finding contradicts the statement; none where there is no such answer.
fn contradicts(finding: &Finding, statement: &Statement) -> Option<bool> {
    let exchange = finding.exchanges.get(finding.violation.member)?;
    let request: Value = serde_json::from_slice(&exchange.request).ok()?;
    let response = exchange.outcome.as_ref().ok()?;
    let answer: Value = serde_json::from_slice(&response.body).ok()?;
    Some((statement.is_contradicted)(&request, &answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn shown_of(sample: &sample::Sample) -> Vec<ShownContradiction> {
        sample.report().details.contradictions
    }

    #[test]
    fn an_entry_has_its_line_its_statement_and_an_answer_that_contradicts_it() {
        let [token, operation]: [ShownContradiction; 2] =
            shown_of(&sample::contradicted()).try_into().unwrap();
        assert_eq!(token.title, "tokens.supported[1] (paymaster.toml, line 10)");
        assert_eq!(token.states, "the target supports the token 0x2791bca1f2de4661ed88a30c99a7a9449aa84174");
        let cause = "cause: 12 answers refused it or listed it as unsupported, and none served it (Defect 1 shows it)";
        assert_eq!(token.cause, cause);
        assert!(token.answer.unwrap().contains("\"unsupportedTokens\":[\"0x2791"));
        assert_eq!(operation.title, "operations.sponsorable[0] (paymaster.toml, line 6)");
        assert_eq!(
            operation.states,
            "the target sponsors this operation of 0x00000000000000000000000000000000deadbeef"
        );
        assert_eq!(operation.cause, "cause: 1 answer refused it, and none sponsored it");
        // No finding has a request with this sender.
        assert_eq!(operation.answer, None);
    }

    #[test]
    fn only_a_run_with_violations_has_contradictions() {
        let mut sample = sample::contradicted();
        sample.summary.conclusion = Conclusion::Incomplete;
        assert!(shown_of(&sample).is_empty());
    }
}
