//! The report for a terminal: verdict, defects, inconclusive rules, dialect of the target, and what to do next.

mod defect;
pub(crate) mod progress;

use std::fmt::Write as _;

use crate::report::{
    Finished,
    counts::Counts,
    text::{compact, contradictions, defects, words},
};
use paymaster_engine::verdict::{
    conclusion::{Conclusion, Verdict},
    known::EntryOutcome,
    summary::{RuleOutcome, Summary},
};
use paymaster_settings::output::terminal::{Paint, wrapped};

/// The widest line, in columns. cURL lines may be longer: they must work as printed.
pub(crate) const WIDTH: usize = 110;

/// The whole report.
pub(crate) fn render(finished: &Finished<'_>, paint: Paint) -> String {
    let mut page = Page { finished, paint, text: String::new() };
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
    pub(crate) finished: &'a Finished<'a>,
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

    /// A text from the target with its secrets replaced and its control characters escaped.
    pub(crate) fn foreign(&self, text: &str) -> String {
        self.finished.safe(text)
    }

    fn summary(&self) -> &Summary {
        self.finished.summary
    }

    fn verdict(&mut self) {
        let summary = self.finished.summary;
        let headline = summary.conclusion.headline();
        let painted = match summary.conclusion {
            Conclusion::Conforms => self.paint.good(headline),
            Conclusion::Violations | Conclusion::ListOutOfDate | Conclusion::CouldNotTest => {
                self.paint.bad(headline)
            }
            Conclusion::NothingBroken | Conclusion::Incomplete => self.paint.odd(headline),
        };
        let mut text = wrapped(&self.finished.verdict().heading(), WIDTH).join("\n");
        let target = &self.finished.place.shown;
        let last = text.lines().last().unwrap_or_default();
        if last.len() + 2 + target.chars().count() > WIDTH {
            text.push('\n');
        }
        self.line(&format!("{}  {target}", text.replacen(headline, &painted, 1)));
        let rules = words::count(summary.rules.len() as u128, "rule");
        let counts = Counts::of(&summary.rules, self.finished.strictness).line();
        let sent = words::sent(summary);
        self.line(&format!("{rules}: {counts} · {sent}"));
        for warning in self.finished.warnings() {
            self.hanging("warning: ", 9, &warning);
        }
        self.left_out();
        self.next_line();
        self.contradictions();
        if let Some(cause) = &summary.cut_short {
            let cause = self.foreign(cause);
            self.hanging("cut short: ", 11, &cause);
        }
        for (reason, groups) in &summary.unjudged {
            let text = format!("{}: {}", words::count(*groups as u128, "group"), self.foreign(reason));
            self.hanging("not judged: ", 12, &text);
        }
    }

    /// Writes where profile and target contradict each other.
    fn contradictions(&mut self) {
        let all = contradictions::shown(self.finished, &defects::shown(self.finished));
        for one in all {
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

    /// Writes the line of the profile that most inconclusive rules wait for, to paste.
    fn next_line(&mut self) {
        let Some((about, line)) = words::missing_line(self.finished) else {
            return;
        };
        self.line("");
        let title = self.paint.odd("Missing");
        self.hanging(&format!("{title}: "), 9, &format!("{about}:"));
        self.line(&format!("  {line}"));
    }

    /// Writes how many exchanges of a recording were left out, and why.
    fn left_out(&mut self) {
        let finished = self.finished;
        for (reason, times) in finished.summary.recorded.iter().flat_map(|recorded| &recorded.skipped) {
            let text = format!("{times}: {}", self.foreign(reason));
            self.hanging("left out ", 9, &text);
        }
    }

    /// Writes the defects: those that fail the run, or those that only warn.
    fn defects(&mut self, failing: bool) {
        let finished = self.finished;
        let summary = finished.summary;
        let own = summary
            .defects
            .iter()
            .filter(|defect| defect.fails_the_run(&summary.findings, finished.strictness.strict) == failing);
        for (number, defect) in own.enumerate() {
            self.line("");
            defect::write(self, number + 1, defect, failing);
        }
    }

    /// Writes the inconclusive rules, grouped by what would make them conclusive, or by why they are not.
    /// The known failures: entries that are out of date, then those that still apply.
    fn known(&mut self) {
        let finished = self.finished;
        let known = &finished.summary.known;
        let (stale, rest): (Vec<_>, Vec<_>) = known.iter().partition(|known| known.state.fails_the_run());
        if !stale.is_empty() {
            self.line("");
            let title = self.paint.bad("Out of date");
            self.line(&format!("{title} in the list of known failures; each of these fails the run"));
            for known in stale {
                self.known_failure(known, &words::known_advice(known));
            }
        }
        if !rest.is_empty() {
            self.line("");
            let title = self.paint.odd("Known");
            self.line(&format!("{title} to fail: listed, explained and dated"));
            for known in rest {
                let text = format!(
                    "{}: {} ({}, until {})",
                    words::known_state(known),
                    known.entry.reason,
                    known.entry.owner,
                    known.entry.expires
                );
                self.known_failure(known, &text);
            }
        }
    }

    fn known_failure(&mut self, known: &EntryOutcome, text: &str) {
        self.hanging("  ", 4, &known.entry.scope());
        let text = self.foreign(text);
        self.hanging("    ", 4, &text);
    }

    fn inconclusive(&mut self) {
        let finished = self.finished;
        let by_reason = words::by_reason(&finished.summary.rules, Verdict::Inconclusive);
        // A target that never answered is the only reason, and the verdict names it.
        let nothing_held = finished.summary.rules.iter().all(|outcome| outcome.held == 0);
        let untested = finished.summary.conclusion == Conclusion::CouldNotTest && nothing_held;
        if by_reason.is_empty() || untested {
            return;
        }
        self.line("");
        let title = self.paint.odd("Inconclusive");
        self.line(&format!("{title}: exercised too seldom to pass (times held / times needed)"));
        for (reason, rules) in by_reason {
            let progress =
                |outcome: &RuleOutcome| format!("{} {}/{}", outcome.rule.id, outcome.held, outcome.quota);
            let rules: Vec<String> = rules.iter().copied().map(progress).collect();
            self.hanging("  ", 4, &rules.join(", "));
            if !reason.is_empty() {
                let reason = self.foreign(reason);
                self.hanging("    -> ", 7, &reason);
            }
        }
    }

    /// Writes the rules with a verdict that is no judgement, grouped by the reason.
    fn unjudged(&mut self, verdict: Verdict, title: &str, meaning: &str) {
        let finished = self.finished;
        let by_reason = words::by_reason(&finished.summary.rules, verdict);
        if by_reason.is_empty() || finished.summary.conclusion == Conclusion::CouldNotTest {
            return;
        }
        self.line("");
        let title = self.paint.odd(title);
        self.line(&format!("{title}: {meaning}"));
        for (reason, rules) in by_reason {
            let ids: Vec<&str> = rules.iter().map(|outcome| outcome.rule.id).collect();
            self.hanging("  ", 4, &ids.join(", "));
            let reason = self.foreign(reason);
            self.hanging("    -> ", 7, &reason);
        }
    }

    fn dialect(&mut self) {
        let summary = self.finished.summary;
        if summary.conclusion == Conclusion::CouldNotTest {
            return;
        }
        self.line("");
        let is_shown = !self.finished.verdict().no_result;
        let title = self.paint.bold(if is_shown { "Dialect" } else { "Dialect that was sent" });
        let text = self.finished.context.dialect_in_words();
        self.hanging(&format!("{title}: "), 9, &text);
        if summary.observations.is_empty() {
            return;
        }
        let title = self.paint.bold("Observed");
        self.line(&format!("{title} where the specification leaves it open:"));
        for (clause, values) in &summary.observations {
            let sorted = words::by_frequency(values);
            let more = sorted.len().saturating_sub(MOST_VALUES);
            let mut text = sorted
                .iter()
                .take(MOST_VALUES)
                .map(|(value, times)| format!("{} ({times})", compact::cut(&self.foreign(value), 60)))
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
        let summary = self.finished.summary;
        if summary.reached.is_empty() {
            return;
        }
        self.line("");
        let title = self.paint.bold("Reached");
        self.line(&format!("{title} by valid requests       results    errors  unreadable"));
        for pair in self.finished.context.specification().kinds {
            let reached = summary.reached.get(pair.name).copied().unwrap_or_default();
            let name = pair.name;
            self.line(&format!(
                "  {name:<26} {:>10} {:>9} {:>11}",
                reached.results, reached.errors, reached.unreadable
            ));
        }
    }

    fn next(&mut self) {
        let rules = &self.finished.summary.rules;
        let next = match self.summary().conclusion {
            Conclusion::Conforms | Conclusion::NothingBroken => return,
            Conclusion::ListOutOfDate => "update the list of known failures, as described above",
            Conclusion::Violations => {
                "fix what is broken, then repeat a defect with `paymaster-conformance replay FILE`; \
                 `paymaster-conformance explain RULE` says what a rule requires and where to look"
            }
            Conclusion::Incomplete if self.summary().recorded.is_some() => {
                "recorded traffic covers only what was recorded: run `paymaster-conformance check` for the rest, or accept \
                 what could not be judged with --allow-incomplete"
            }
            Conclusion::CouldNotTest
                if self.summary().recorded.as_ref().is_some_and(|it| it.exchanges > 0) =>
            {
                "record calls with the key, the headers and the path that the target expects"
            }
            Conclusion::CouldNotTest if self.summary().recorded.is_some() => {
                "record calls of the two methods together with their answers"
            }
            Conclusion::Incomplete if self.summary().cut_short.is_some() => {
                "let the run complete its plan: the cause is above; --time-limit and --max-requests raise its limits, fewer --cases lower \
                 what it takes; what was judged so far held"
            }
            Conclusion::Incomplete
                if self.summary().refusal.is_some() && self.finished.verdict().no_result =>
            {
                "name operations, accounts and tokens that the target serves in paymaster.toml (`paymaster-conformance init` \
                 writes one to fill in): a run without any result does not pass, not even with --allow-incomplete"
            }
            Conclusion::Incomplete if !rules.iter().any(|outcome| outcome.waits_for.is_some()) => {
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
        let text = render(&sample::violations().finished(), Paint::default());
        assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
        insta::assert_snapshot!("violations", text);
    }

    #[test]
    fn what_profile_and_target_contradict_stands_below_the_headline() {
        let text = render(&sample::contradicted().finished(), Paint::default());
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
        let text = render(&sample::known().finished(), Paint::default());
        insta::assert_snapshot!("known", text);
    }

    #[test]
    fn recorded_traffic() {
        let text = render(&sample::recorded().finished(), Paint::default());
        insta::assert_snapshot!("recorded", text);
    }

    #[test]
    fn a_run_without_answers() {
        let text = render(&sample::unanswered().finished(), Paint::default());
        insta::assert_snapshot!("unanswered", text);
    }

    #[test]
    fn colours_change_no_text() {
        let sample = sample::violations();
        let plain = render(&sample.finished(), Paint::default());
        let painted = render(&sample.finished(), Paint { colours: true });
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
