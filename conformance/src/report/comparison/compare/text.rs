//! A comparison as text for a terminal.

use crate::report::{
    comparison::compare::{Change, ChangeKind, Comparison, Difference},
    model::{JudgedRule, Report},
    terminal::WIDTH,
    text::{compact::cut, words},
};
use paymaster_settings::{
    embedded::EMBEDDED_WARNING,
    output::terminal::{Paint, escape_controls, wrapped},
};

/// How the two runs are called in the text.
#[derive(Clone, Debug)]
pub(crate) struct SideNames {
    /// The name of the first: a file, or a URL without its secrets.
    pub(crate) before: String,
    /// The name of the second.
    pub(crate) after: String,
    /// Whether they are two targets, rather than two runs of one target.
    pub(crate) targets: bool,
}

/// How many values of one observation are listed. The rest is counted.
const MOST_VALUES: usize = 6;

/// The comparison as text.
pub(crate) fn render(comparison: &Comparison<'_>, names: &SideNames, paint: Paint) -> String {
    let mut page = Page { comparison, names, paint, text: String::new() };
    page.head();
    if comparison.is_void() {
        let next = "one of the runs could not test its target, so there is nothing to compare: run it again";
        page.line("");
        page.hanging("Next: ", 6, next);
        return page.text;
    }
    for kind in ChangeKind::ALL {
        page.rules(kind);
    }
    page.differences("Dialect", &comparison.dialect);
    page.differences("Behaviour, where the specification leaves it open", &comparison.behaviour);
    let alike = words::count(comparison.alike as u128, "other rule");
    page.line(&format!("\n{alike} alike"));
    page.text
}

struct Page<'a> {
    comparison: &'a Comparison<'a>,
    names: &'a SideNames,
    paint: Paint,
    text: String,
}

impl Page<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text.trim_end());
        self.text.push('\n');
    }

    fn hanging(&mut self, head: &str, width: usize, text: &str) {
        for (number, line) in wrapped(text, WIDTH - width).into_iter().enumerate() {
            let indent = " ".repeat(width);
            let head = if number == 0 { head } else { &indent };
            self.line(&format!("{head}{line}"));
        }
    }

    fn head(&mut self) {
        let comparison = self.comparison;
        let same = comparison.changes.iter().all(|change| change.kind == ChangeKind::Still)
            && comparison.dialect.is_empty()
            && comparison.behaviour.is_empty();
        let headline = if comparison.is_void() {
            self.paint.bad("COULD NOT COMPARE")
        } else if same {
            self.paint.good("ALIKE")
        } else if self.names.targets {
            self.paint.odd("DIFFERENT")
        } else if comparison.is_worse() {
            self.paint.bad("WORSE")
        } else if comparison.count(ChangeKind::Fixed) > 0 {
            self.paint.good("BETTER")
        } else {
            self.paint.odd("CHANGED")
        };
        self.line(&format!("{headline}  {} -> {}", self.names.before, self.names.after));
        let [first, second] = self.sides();
        self.side(first, comparison.before);
        self.side(second, comparison.after);
        let (before, after) = (comparison.before, comparison.after);
        let mut notes = Vec::new();
        if before.seed != after.seed {
            notes.push(format!(
                "the seeds differ ({} and {}): a rule that is broken only sometimes may show in one run only",
                before.seed, after.seed
            ));
        }
        for (name, run) in [(first, before), (second, after)] {
            if run.embedded {
                notes.push(format!("{name}: {EMBEDDED_WARNING}"));
            }
        }
        if before.strict != after.strict {
            notes.push(
                "only one of them was strict, so the same violation fails one run and only warns in the other"
                    .to_owned(),
            );
        }
        if before.tool.version != after.tool.version {
            notes.push(format!(
                "the versions of paymaster-conformance differ ({} and {})",
                before.tool.version, after.tool.version
            ));
        }
        if !self.names.targets && before.target != after.target {
            notes.push(format!("the targets differ ({} and {})", before.target, after.target));
        }
        for note in notes {
            self.hanging("note: ", 6, &note);
        }
    }

    fn sides(&self) -> [&'static str; 2] {
        if self.names.targets { ["first", "second"] } else { ["before", "after"] }
    }

    fn side(&mut self, name: &str, run: &Report) {
        let headline = run.verdict_line().heading();
        let counts = run.counts();
        let text = format!("{headline}  {}: {}", words::count(counts.rules() as u128, "rule"), counts.line());
        self.hanging(&format!("  {name:<7} "), 10, &text);
        if let Some(cause) = &run.cut_short {
            self.hanging("          cut short: ", 21, &escape_controls(cause));
        }
    }

    fn rules(&mut self, kind: ChangeKind) {
        let changes: Vec<Change<'_>> = self.comparison.of(kind).cloned().collect();
        if changes.is_empty() {
            return;
        }
        self.line("");
        let title = title(kind, self.names.targets);
        let title = match kind {
            ChangeKind::New | ChangeKind::NewPointer => self.paint.bad(title),
            ChangeKind::Fixed | ChangeKind::NewlyJudged => self.paint.good(title),
            ChangeKind::Still | ChangeKind::InOneReport => self.paint.bold(title),
            ChangeKind::NewWarning | ChangeKind::NoLongerJudged => self.paint.odd(title),
        };
        self.line(&title);
        for change in changes {
            self.change(&change);
        }
    }

    fn change(&mut self, change: &Change<'_>) {
        let Some(rule) = change.after.or(change.before) else {
            return;
        };
        let name = self.paint.name(&rule.id);
        let verdicts = format!("{} -> {}", verdict(change.before), verdict(change.after));
        let ground = self.paint.dim(&format!("section {}, {}", rule.section, rule.basis));
        self.line(&format!("  {name}  {verdicts}  {ground}"));
        if matches!(change.kind, ChangeKind::New | ChangeKind::NewWarning) {
            let mut findings = self.comparison.after.findings.iter();
            if let Some(finding) = findings.find(|finding| finding.rule == rule.id) {
                let text = format!(
                    "expected {}, got {} ({})",
                    escape_controls(&finding.expected),
                    cut(&escape_controls(&finding.actual), 200),
                    escape_controls(&finding.place())
                );
                self.hanging("      ", 6, &text);
            }
        }
        if change.kind == ChangeKind::NewPointer {
            for place in &change.places {
                self.hanging("      also ", 11, &escape_controls(place));
            }
        }
    }

    fn differences(&mut self, title: &str, differences: &[Difference]) {
        if differences.is_empty() {
            return;
        }
        self.line("");
        let title = self.paint.bold(title);
        self.line(&title);
        for difference in differences {
            self.line(&format!("  {}", difference.name));
            let sides = self.sides();
            for (side, values) in sides.into_iter().zip([&difference.before, &difference.after]) {
                let shown: Vec<String> =
                    values.iter().take(MOST_VALUES).map(|value| cut(&escape_controls(value), 80)).collect();
                let more = values.len().saturating_sub(MOST_VALUES);
                let more = if more > 0 { format!(", {more} more") } else { String::new() };
                if !shown.is_empty() {
                    let head = format!("      only {side}: ");
                    self.hanging(&head, head.len(), &(shown.join(", ") + &more));
                }
            }
        }
    }
}

fn title(kind: ChangeKind, targets: bool) -> &'static str {
    match (kind, targets) {
        (ChangeKind::New, false) => "New: fails now, and did not before",
        (ChangeKind::New, true) => "Fails at the second only",
        (ChangeKind::NewPointer, false) => "Broken before, and now at other places too",
        (ChangeKind::NewPointer, true) => "Broken at both, at the second at other places too",
        (ChangeKind::NewWarning, false) => "Warns now, and did not before",
        (ChangeKind::NewWarning, true) => "Warns at the second only",
        (ChangeKind::Still, false) => "Still broken",
        (ChangeKind::Still, true) => "Broken at both",
        (ChangeKind::Fixed, false) => "Fixed",
        (ChangeKind::Fixed, true) => "Broken at the first only",
        (ChangeKind::NoLongerJudged, false) => "No longer judged: neither fixed nor broken",
        (ChangeKind::NoLongerJudged, true) => "Judged at the first only",
        (ChangeKind::NewlyJudged, false) => "Judged now, and passed",
        (ChangeKind::NewlyJudged, true) => "Judged at the second only, and passed",
        (ChangeKind::InOneReport, _) => {
            "In one report only: other rules were selected, or the versions differ"
        }
    }
}

fn verdict(rule: Option<&JudgedRule>) -> &'static str {
    rule.map_or("missing", |rule| rule.verdict.name())
}
