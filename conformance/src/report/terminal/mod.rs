//! The report for a terminal: verdict, defects, warnings, what to do next, and a line for the rest, which options print.

mod defect;
pub(crate) mod progress;

use crate::report::{
    counts::RuleState,
    model::Report,
    text::words::{self, NotJudged},
};
use clap::Args;
use paymaster_engine::verdict::conclusion::{Conclusion, Verdict};
use paymaster_settings::{Paint, escape_controls, wrapped};

/// The widest line, in columns, where the terminal is not narrower. With `-v`, cURL lines may be longer: they must work as printed.
pub(crate) const WIDTH: usize = 100;

/// How much of the report is shown.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Extent {
    /// Print the verdict and the headlines of the defects alone.
    #[arg(short, long, conflicts_with_all = ["verbose", "observed"])]
    pub(crate) quiet: bool,
    /// Print everything: whole requests, cURL lines, warnings as defects, why rules were not judged, and what --observed prints.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Print what the target does where the specification leaves it open, and what valid requests reached.
    #[arg(long)]
    pub(crate) observed: bool,
}

/// The report in lines of at most so many columns.
pub(crate) fn render(report: &Report, extent: Extent, paint: Paint, width: usize) -> String {
    let mut page = Page { report, extent, paint, out: Lines { width, ..Lines::default() } };
    page.verdict();
    if extent.quiet {
        let failing = report.defects.iter().filter(|defect| defect.fails);
        failing.for_each(|defect| defect::headline(&mut page, defect));
        return page.out.text;
    }
    page.run();
    if extent.observed || extent.verbose {
        page.observed();
    }
    page.next();
    page.rest();
    page.out.text
}

/// The report for a Rust program: whole, and without what only the command has, such as options and the next step.
pub(crate) fn render_for_a_program(report: &Report) -> String {
    let extent = Extent { verbose: true, ..Extent::default() };
    let mut page = Page { report, extent, paint: Paint::default(), out: Lines::default() };
    page.verdict();
    page.run();
    page.out.text
}

/// A report that is being written.
pub(crate) struct Page<'a> {
    pub(crate) report: &'a Report,
    extent: Extent,
    pub(crate) paint: Paint,
    pub(crate) out: Lines,
}

/// Text for a terminal.
pub(crate) struct Lines {
    pub(crate) text: String,
    /// The widest line, in columns.
    pub(crate) width: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self { text: String::new(), width: WIDTH }
    }
}

impl Lines {
    /// Adds a line.
    pub(crate) fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    /// Adds an empty line, and the first line of a part.
    pub(crate) fn part(&mut self, head: &str) {
        self.line("");
        self.line(head);
    }

    /// Adds a text behind a head of `width` letters. Its further lines are indented by as many.
    pub(crate) fn hanging(&mut self, head: &str, width: usize, text: &str) {
        let indent = " ".repeat(width);
        for (number, line) in wrapped(text, self.width - width).into_iter().enumerate() {
            self.line(&format!("{}{line}", if number == 0 { head } else { &indent }));
        }
    }
}

impl Page<'_> {
    fn verdict(&mut self) {
        let report = self.report;
        let headline = report.conclusion.headline();
        let painted = match words::tone(report.conclusion) {
            RuleState::Passed => self.paint.good(headline),
            RuleState::Broken => self.paint.bad(headline),
            _ => self.paint.odd(headline),
        };
        let mut text = wrapped(&report.verdict_line().heading(), self.out.width).join("\n");
        let target = &report.target;
        let last = text.lines().last().unwrap_or_default();
        if last.len() + 2 + target.chars().count() > self.out.width {
            text.push('\n');
        }
        self.out.line(&format!("{}  {target}", text.replacen(headline, &painted, 1)));
    }

    /// The conditions of the run, what is broken, and what was not judged.
    fn run(&mut self) {
        self.conditions();
        self.defects(true);
        self.defects(false);
        self.known();
        self.not_judged();
    }

    /// Counts, and what limits the run.
    fn conditions(&mut self) {
        let report = self.report;
        let rules = words::count(report.rules.len() as u128, "rule");
        self.out.hanging("", 0, &format!("{rules}: {} · {}", report.counts().line(), words::sent(report)));
        for (title, text) in words::limits(report) {
            self.out.hanging(&format!("{}: ", title.to_lowercase()), title.len() + 2, &text);
        }
        // The line of the profile that most inconclusive rules wait for, to paste.
        if let Some((about, line)) = &report.details.missing_line {
            self.out.line("");
            let title = self.paint.odd("Missing");
            self.out.hanging(&format!("{title}: "), 9, &format!("{about}:"));
            self.out.line(&format!("  {line}"));
        }
        self.contradictions();
    }

    /// Writes where profile and target contradict each other.
    fn contradictions(&mut self) {
        for one in &self.report.details.contradictions {
            self.out.line("");
            let title = self.paint.odd("Contradiction");
            let text = format!("{}: the profile states that {}", one.title, one.states);
            self.out.hanging(&format!("{title}: "), 15, &text);
            self.out.hanging("  ", 4, &one.cause);
            if let Some(answer) = &one.answer {
                self.out.hanging("  answer: ", 10, answer);
            }
        }
    }

    /// Writes the defects: those that fail the run, or those that only warn.
    fn defects(&mut self, failing: bool) {
        for defect in self.report.defects.iter().filter(|defect| defect.fails == failing) {
            self.out.line("");
            defect::write(self, defect);
        }
    }

    /// The known failures: entries that are out of date, then those that still apply.
    fn known(&mut self) {
        let (stale, rest) = self.report.stale_and_known();
        let out_of_date = self.paint.bad("Out of date");
        let known = self.paint.odd("Known");
        for (head, list) in [
            (format!("{out_of_date} in the list of known failures; each of these fails the run"), stale),
            (format!("{known} to fail: listed, explained and dated"), rest),
        ] {
            if !list.is_empty() {
                self.out.part(&head);
            }
            for known in list {
                self.out.hanging("  ", 4, &escape_controls(&known.scope));
                self.out.hanging("    ", 4, &known.in_words());
            }
        }
    }

    /// Writes the rules that were not judged: where that decides the verdict, or everything is shown.
    fn not_judged(&mut self) {
        let is_incomplete =
            matches!(self.report.conclusion, Conclusion::Incomplete | Conclusion::CouldNotTest);
        for NotJudged { verdict, title, by_reason } in words::not_judged(self.report) {
            if !(self.extent.verbose || is_incomplete && verdict == Verdict::Inconclusive) {
                continue;
            }
            self.out.part(&self.paint.odd(&title));
            for (reason, rules) in by_reason {
                let rules: Vec<String> =
                    rules.iter().map(|rule| format!("{}{}", rule.id, words::progress(rule))).collect();
                self.out.hanging("  ", 4, &rules.join(", "));
                if !reason.is_empty() {
                    self.out.hanging("    -> ", 7, &escape_controls(reason));
                }
            }
        }
    }

    fn observed(&mut self) {
        let observed = words::observed(self.report);
        if observed.is_empty() {
            return;
        }
        let title = self.paint.bold("Observed");
        self.out.part(&format!("{title} where the specification leaves it open, and how often:"));
        for (name, text) in observed {
            self.out.hanging("  ", 4, &format!("{name}: {text}"));
        }
    }

    fn next(&mut self) {
        let Some(next) = words::next(self.report) else { return };
        self.out.line("");
        let title = self.paint.bold("Next");
        self.out.hanging(&format!("{title}: "), 6, next);
    }

    /// What was left out, and the options that print it.
    fn rest(&mut self) {
        let (report, Extent { verbose, observed, .. }) = (self.report, self.extent);
        let observations = words::count(report.observations.len() as u128, "observation");
        let not_judged = words::not_judged(report).into_iter().flat_map(|one| one.by_reason);
        let not_judged: usize = not_judged.map(|(_, rules)| rules.len()).sum();
        let rules = words::count(not_judged as u128, "rule");
        let is_hidden = !observed && !words::observed(report).is_empty();
        let observations = is_hidden.then(|| format!("{observations}: --observed"));
        let not_judged = (not_judged > 0).then(|| format!("{rules} not judged: -v"));
        let rest: Vec<String> = observations.into_iter().chain(not_judged).collect();
        if !(rest.is_empty() || verbose) {
            self.out.line("");
            self.out.hanging("", 0, &format!("{}; or all in the HTML page: -o report.html", rest.join("; ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::{self, Sample};

    fn shown(sample: &Sample) -> String {
        render(&sample.report(), Extent::default(), Paint::default(), WIDTH)
    }

    #[test]
    fn a_run_with_violations() {
        let sample = sample::violations();
        for (name, extent) in [
            ("violations", Extent::default()),
            ("violations_quiet", Extent { quiet: true, ..Extent::default() }),
            ("violations_verbose", Extent { verbose: true, ..Extent::default() }),
        ] {
            let text = render(&sample.report(), extent, Paint::default(), WIDTH);
            assert!(!text.contains("s3cr3t-key") && !text.contains('\u{1b}'));
            insta::assert_snapshot!(name, text);
        }
    }

    #[test]
    fn a_defect_fits_a_screen_and_a_warning_three_lines() {
        let text = shown(&sample::violations());
        let blocks: Vec<&str> = text.split("\n\n").collect();
        for (head, most) in [("DEFECT", 50), ("FLAKY DEFECT", 50), ("WARNING", 3)] {
            let own: Vec<_> = blocks.iter().filter(|block| block.starts_with(head)).collect();
            assert!(!own.is_empty() && own.iter().all(|block| block.lines().count() <= most), "{text}");
        }
        let mut report = sample::violations().report();
        for exchange in report.findings.iter_mut().flat_map(|finding| &mut finding.exchanges) {
            if let Ok(response) = &mut exchange.answer {
                response.body.text = format!(r#"{{"result":{{"feeQuotes":"{}"}}}}"#, "a".repeat(70));
            }
        }
        for width in [72, WIDTH] {
            let text = render(&report, Extent::default(), Paint::default(), width);
            let is_whole = |line: &str| line.starts_with("  replay") || line.chars().count() <= width;
            assert!(text.lines().all(is_whole), "{text}");
        }
    }

    #[test]
    fn what_profile_and_target_contradict_stands_below_the_headline() {
        let text = shown(&sample::contradicted());
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
        let text = shown(&sample::known());
        insta::assert_snapshot!("known", text);
    }

    #[test]
    fn recorded_traffic() {
        let text = shown(&sample::recorded());
        insta::assert_snapshot!("recorded", text);
    }

    #[test]
    fn a_run_without_answers() {
        let text = shown(&sample::unanswered());
        insta::assert_snapshot!("unanswered", text);
    }

    #[test]
    fn colours_change_no_text() {
        let sample = sample::violations();
        let plain = render(&sample.report(), Extent::default(), Paint::default(), WIDTH);
        let painted = render(&sample.report(), Extent::default(), Paint { colours: true }, WIDTH);
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
