//! Where profile and target contradict each other: what the profile states and on which line, and what the target does instead.

use paymaster_engine::diagnosis::Finding;
use paymaster_engine::knowledge::Statement;
use paymaster_engine::verdict::{Conclusion, Contradiction};
use paymaster_settings::escape_controls;
use paymaster_settings::output::{Style, Text, cut};
use serde_json::Value;

use crate::report::{Finished, Report, words};

/// The longest answer that is shown, in characters.
const LONGEST_ANSWER: usize = 300;

/// The contradictions; empty unless the run ended with violations, as the headline names them only then.
pub(crate) fn shown(finished: &Finished, report: &Report) -> Vec<Vec<Text>> {
    if report.conclusion != Conclusion::Violations {
        return Vec::new();
    }
    let all = finished.summary.contradictions.iter();
    all.filter_map(|contradiction| one(contradiction, finished, report)).collect()
}

/// A contradiction as reports show it, without secrets: the entry of the profile, with its file and line where they are known, and what
/// it states; what the target does instead, and which defect shows it; and an answer that shows it, where a finding has one.
fn one(contradiction: &Contradiction, finished: &Finished, report: &Report) -> Option<Vec<Text>> {
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
        .find_map(|(number, (_, made))| Some((number, made.exchanges.get(made.member)?)));
    let defect = example.and_then(|(number, _)| report.defect_of(number));
    let shows = defect.map(|defect| format!(" ({} shows it)", defect.label)).unwrap_or_default();
    let title = format!("{}{}", contradiction.line, place.unwrap_or_default());
    let stated =
        Text::quoted(title).and(": the profile states that ").with(Style::Quoted, safe(&statement.states));
    let answer = example.map(|(_, exchange)| cut(&exchange.line(), LONGEST_ANSWER));
    let answer = answer.map(|answer| Text::from("answer: ").with(Style::Quoted, answer));
    let cause = format!("cause: {answers} {}{shows}", statement.contradicted);
    Some([stated, cause.into()].into_iter().chain(answer).collect())
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

    fn shown_of(sample: &sample::Sample) -> Vec<Vec<String>> {
        let all = sample.report().details.contradictions;
        all.iter().map(|texts| texts.iter().map(Text::to_string).collect()).collect()
    }

    #[test]
    fn an_entry_has_its_line_its_statement_and_an_answer_that_contradicts_it() {
        let [token, operation]: [Vec<String>; 2] = shown_of(&sample::contradicted()).try_into().unwrap();
        let stated = "tokens.supported[1] (paymaster.toml, line 10): the profile states that the target supports the token 0x2791bca1f2de4661ed88a30c99a7a9449aa84174";
        let cause = "cause: 12 answers refused it or listed it as unsupported, and none served it (Defect 1 shows it)";
        assert_eq!(token[..2], [stated, cause]);
        assert!(token[2].contains("\"unsupportedTokens\":[\"0x2791"), "{token:?}");
        // No finding has a request with this sender, so there is no answer.
        assert_eq!(
            operation,
            [
                "operations.sponsorable[0] (paymaster.toml, line 6): the profile states that the target sponsors this operation of 0x00000000000000000000000000000000deadbeef",
                "cause: 1 answer refused it, and none sponsored it"
            ]
        );
    }

    #[test]
    fn only_a_run_with_violations_has_contradictions() {
        let mut sample = sample::contradicted();
        sample.summary.conclusion = Conclusion::Incomplete;
        assert!(shown_of(&sample).is_empty());
    }
}
