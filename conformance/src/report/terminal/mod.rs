//! The report for a terminal: verdict, defects, inconclusive rules, dialect of the target, and what to do next.

mod defect;
pub(crate) mod progress;

use std::fmt::Write as _;

use crate::report::{
    model::{JudgedRule, KnownFailure, Report},
    text::{compact, words},
};
use paymaster_engine::verdict::{
    conclusion::{Conclusion, Verdict},
    summary::Reached,
};
use paymaster_settings::output::terminal::{Paint, escape_controls, wrapped};

/// The widest line, in columns. cURL lines may be longer: they must work as printed.
pub(crate) const WIDTH: usize = 110;

/// The whole report.
pub(crate) fn render(report: &Report, paint: Paint) -> String {
    let mut page = Page { report, paint, text: String::new() };
    page.verdict();
    page.defects(true);
    page.defects(false);
    page.known();
    page.inconclusive();
    page.unjudged(Verdict::Covered, "Covered", "these rules wait for known failures alone");
    page.unjudged(Verdict::NotApplicable, "Not applicable", "these rules were not judged");
    page.dialect();
    page.reached();
    page.next();
    page.text
}

/// A report that is being written.
pub(crate) struct Page<'a> {
    pub(crate) report: &'a Report,
    pub(crate) paint: Paint,
    text: String,
}

impl Page<'_> {
    pub(crate) fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Writes a text with a hanging indent. The first line begins with `head`, which is `width` columns wide.
    pub(crate) fn hanging(&mut self, head: &str, width: usize, text: &str) {
        for (number, line) in wrapped(text, WIDTH - width).into_iter().enumerate() {
            if number == 0 {
                self.line(&format!("{head}{line}"));
            } else {
                self.line(&format!("{}{line}", " ".repeat(width)));
            }
        }
    }

    fn verdict(&mut self) {
        let report = self.report;
        let headline = report.conclusion.headline();
        let painted = match report.conclusion {
            Conclusion::Conforms => self.paint.good(headline),
            Conclusion::Violations | Conclusion::ListOutOfDate | Conclusion::CouldNotTest => {
                self.paint.bad(headline)
            }
            Conclusion::NothingBroken | Conclusion::Incomplete => self.paint.odd(headline),
        };
        let mut text = wrapped(&report.verdict_line().heading(), WIDTH).join("\n");
        let target = &report.target;
        let last = text.lines().last().unwrap_or_default();
        if last.len() + 2 + target.chars().count() > WIDTH {
            text.push('\n');
        }
        self.line(&format!("{}  {target}", text.replacen(headline, &painted, 1)));
        let rules = words::count(report.rules.len() as u128, "rule");
        self.line(&format!("{rules}: {} · {}", report.counts().line(), words::sent(report)));
        for warning in &report.warnings {
            self.hanging("warning: ", 9, warning);
        }
        for skipped in report.recorded.iter().flat_map(|recorded| &recorded.skipped) {
            let text = format!("{}: {}", skipped.entries, escape_controls(&skipped.reason));
            self.hanging("left out ", 9, &text);
        }
        // The line of the profile that most inconclusive rules wait for, to paste.
        if let Some((about, line)) = &report.details.missing_line {
            self.line("");
            let title = self.paint.odd("Missing");
            self.hanging(&format!("{title}: "), 9, &format!("{about}:"));
            self.line(&format!("  {line}"));
        }
        self.contradictions();
        if let Some(cause) = &report.cut_short {
            self.hanging("cut short: ", 11, &escape_controls(cause));
        }
        for unjudged in &report.unjudged {
            let groups = words::count(unjudged.groups as u128, "group");
            self.hanging("not judged: ", 12, &format!("{groups}: {}", escape_controls(&unjudged.reason)));
        }
    }

    /// Writes where profile and target contradict each other.
    fn contradictions(&mut self) {
        for one in &self.report.details.contradictions {
            self.line("");
            let title = self.paint.odd("Contradiction");
            let text = format!("{}: the profile states that {}", one.title(), one.states);
            self.hanging(&format!("{title}: "), 15, &text);
            let cause = format!("cause: {}", one.cause);
            self.hanging("  ", 4, &cause);
            if let Some(answer) = &one.answer {
                self.hanging("  answer: ", 10, answer);
            }
        }
    }

    /// Writes the defects: those that fail the run, or those that only warn.
    fn defects(&mut self, failing: bool) {
        for defect in self.report.defects.iter().filter(|defect| defect.fails == failing) {
            self.line("");
            defect::write(self, defect);
        }
    }

    /// The known failures: entries that are out of date, then those that still apply.
    fn known(&mut self) {
        let (stale, rest) = self.report.stale_and_known();
        if !stale.is_empty() {
            self.line("");
            let title = self.paint.bad("Out of date");
            self.line(&format!("{title} in the list of known failures; each of these fails the run"));
            for known in stale {
                self.known_failure(known, &known.advice);
            }
        }
        if !rest.is_empty() {
            self.line("");
            let title = self.paint.odd("Known");
            self.line(&format!("{title} to fail: listed, explained and dated"));
            for known in rest {
                let KnownFailure { advice, reason, owner, expires, .. } = known;
                let text = format!("{advice}: {reason} ({owner}, until {expires})");
                self.known_failure(known, &text);
            }
        }
    }

    fn known_failure(&mut self, known: &KnownFailure, text: &str) {
        self.hanging("  ", 4, &escape_controls(&known.scope));
        self.hanging("    ", 4, &escape_controls(text));
    }

    /// Writes the inconclusive rules, grouped by what would make them conclusive, or by why they are not.
    fn inconclusive(&mut self) {
        let by_reason = words::by_reason(self.report, Verdict::Inconclusive);
        // A target that never answered is the only reason, and the verdict names it.
        if by_reason.is_empty() || self.report.is_untested() {
            return;
        }
        self.line("");
        let title = self.paint.odd("Inconclusive");
        self.line(&format!("{title}: exercised too seldom to pass (times held / times needed)"));
        for (reason, rules) in by_reason {
            let progress = |rule: &&JudgedRule| format!("{} {}/{}", rule.id, rule.held, rule.quota);
            let rules: Vec<String> = rules.iter().map(progress).collect();
            self.hanging("  ", 4, &rules.join(", "));
            if !reason.is_empty() {
                self.hanging("    -> ", 7, &escape_controls(reason));
            }
        }
    }

    /// Writes the rules with a verdict that is no judgement, grouped by the reason.
    fn unjudged(&mut self, verdict: Verdict, title: &str, meaning: &str) {
        let by_reason = words::by_reason(self.report, verdict);
        if by_reason.is_empty() || self.report.conclusion == Conclusion::CouldNotTest {
            return;
        }
        self.line("");
        let title = self.paint.odd(title);
        self.line(&format!("{title}: {meaning}"));
        for (reason, rules) in by_reason {
            let ids: Vec<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
            self.hanging("  ", 4, &ids.join(", "));
            self.hanging("    -> ", 7, &escape_controls(reason));
        }
    }

    fn dialect(&mut self) {
        let report = self.report;
        if report.conclusion == Conclusion::CouldNotTest {
            return;
        }
        self.line("");
        let is_shown = !report.verdict_line().no_result;
        let title = self.paint.bold(if is_shown { "Dialect" } else { "Dialect that was sent" });
        self.hanging(&format!("{title}: "), 9, &report.details.dialect_in_words);
        if report.observations.is_empty() {
            return;
        }
        let title = self.paint.bold("Observed");
        self.line(&format!("{title} where the specification leaves it open:"));
        for (clause, values) in &report.observations {
            let sorted = words::by_frequency(values);
            let more = sorted.len().saturating_sub(MOST_VALUES);
            let mut text = sorted
                .iter()
                .take(MOST_VALUES)
                .map(|(value, times)| format!("{} ({times})", compact::cut(&escape_controls(value), 60)))
                .collect::<Vec<_>>()
                .join(", ");
            if more > 0 {
                // Writing to a String cannot fail.
                let _ = write!(text, ", {more} more");
            }
            self.hanging(&format!("  {clause}: "), clause.len() + 4, &text);
        }
    }

    fn reached(&mut self) {
        let all = &self.report.reached;
        if all.iter().all(|(_, reached)| *reached == Reached::default()) {
            return;
        }
        self.line("");
        let title = self.paint.bold("Reached");
        self.line(&format!("{title} by valid requests       results    errors  unreadable"));
        for (call, Reached { results, errors, unreadable }) in all {
            self.line(&format!("  {call:<26} {results:>10} {errors:>9} {unreadable:>11}"));
        }
    }

    fn next(&mut self) {
        let report = self.report;
        let next = match report.conclusion {
            Conclusion::Conforms | Conclusion::NothingBroken => return,
            Conclusion::ListOutOfDate => "update the list of known failures, as described above",
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
            Conclusion::Incomplete if report.cut_short.is_some() => {
                "let the run complete its plan: the cause is above; --time-limit and --max-requests raise its limits, fewer --cases lower \
                 what it takes; what was judged so far held"
            }
            Conclusion::Incomplete if report.details.is_refused && report.verdict_line().no_result => {
                "name operations, accounts and tokens that the target serves in paymaster.toml (`paymaster-conformance init` \
                 writes one to fill in): a run without any result does not pass, not even with --allow-incomplete"
            }
            Conclusion::Incomplete if !report.rules.iter().any(|rule| rule.waits) => {
                "find out why the target did not answer what could not be judged, as listed above, then run again"
            }
            Conclusion::Incomplete => {
                "describe the target in paymaster.toml (`paymaster-conformance init` writes one to fill in), \
                 or accept what could not be judged with --allow-incomplete"
            }
            Conclusion::CouldNotTest => {
                "look at the cause above: whether the target is running, and whether host, port, path, headers and key are right; then run \
                 again"
            }
        };
        self.line("");
        let title = self.paint.bold("Next");
        self.hanging(&format!("{title}: "), 6, next);
    }
}

/// How many values of one observation are listed. The rest is counted.
const MOST_VALUES: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_run_with_violations() {
        let text = render(&sample::violations().report(), Paint::default());
        assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
        insta::assert_snapshot!("violations", text);
    }

    #[test]
    fn what_profile_and_target_contradict_stands_below_the_headline() {
        let text = render(&sample::contradicted().report(), Paint::default());
        let top = text.split("DEFECT 1").next().unwrap();
        for part in [
            "Contradiction: tokens.supported[1] (paymaster.toml, line 10): the profile states that the target",
            "cause: 12 answers refused it or listed it as unsupported, and none served it",
            "answer: HTTP 200",
        ] {
            assert!(top.contains(part), "{part}: {top}");
        }
        assert!(!text.contains("s3cr3t-key"), "{text}");
    }

    #[test]
    fn a_run_with_known_failures() {
        let text = render(&sample::known().report(), Paint::default());
        insta::assert_snapshot!("known", text);
    }

    #[test]
    fn recorded_traffic() {
        let text = render(&sample::recorded().report(), Paint::default());
        insta::assert_snapshot!("recorded", text);
    }

    #[test]
    fn a_run_without_answers() {
        let text = render(&sample::unanswered().report(), Paint::default());
        insta::assert_snapshot!("unanswered", text);
    }

    #[test]
    fn colours_change_no_text() {
        let sample = sample::violations();
        let plain = render(&sample.report(), Paint::default());
        let painted = render(&sample.report(), Paint { colours: true });
        let mut bare = String::new();
        let mut rest = painted.as_str();
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            bare.push_str(before);
            rest = after.split_once('m').map_or("", |(_, behind)| behind);
        }
        bare.push_str(rest);
        assert_ne!(painted, plain);
        assert_eq!(bare, plain);
    }
}
