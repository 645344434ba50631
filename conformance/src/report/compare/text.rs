//! A comparison for people.

use crate::report::{
    compact::cut,
    compare::{Change, Comparison, Difference, Kind},
    recorded::{Recorded, RecordedRule},
    terminal::WIDTH,
    words,
};
use paymaster_cli::terminal::{Paint, harmless, wrapped};

/// What is told of the two sides.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    /// The name of the first, as a file or a URL without its secrets.
    pub before: String,
    /// The name of the second.
    pub after: String,
    /// Whether the two are different targets, not two runs of one.
    pub targets: bool,
}

/// More values of one observation are counted, not listed.
const MOST_VALUES: usize = 6;

/// The comparison as text.
pub(crate) fn render(comparison: &Comparison<'_>, words: &Words, paint: Paint) -> String {
    let mut page = Page {
        comparison,
        words,
        paint,
        text: String::new(),
    };
    page.head();
    if comparison.is_void() {
        let next =
            "one of the runs could not test its target, so nothing can be said of the other: run it again";
        page.line("");
        page.hanging("Next: ", 6, next);
        return page.text;
    }
    for kind in Kind::ALL {
        page.rules(kind);
    }
    page.differences("Dialect", &comparison.dialect);
    page.differences(
        "Behaviour, where the specification leaves it open",
        &comparison.behaviour,
    );
    let alike = words::count(comparison.alike as u128, "other rule");
    page.line(&format!("\n{alike} alike"));
    page.text
}

struct Page<'a> {
    comparison: &'a Comparison<'a>,
    words: &'a Words,
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
        let same = comparison.changes.iter().all(|change| change.kind == Kind::Still)
            && comparison.dialect.is_empty()
            && comparison.behaviour.is_empty();
        let headline = if comparison.is_void() {
            self.paint.bad("COULD NOT COMPARE")
        } else if same {
            self.paint.good("ALIKE")
        } else if self.words.targets {
            self.paint.odd("DIFFERENT")
        } else if comparison.is_worse() {
            self.paint.bad("WORSE")
        } else if comparison.count(Kind::Fixed) > 0 {
            self.paint.good("BETTER")
        } else {
            self.paint.odd("CHANGED")
        };
        self.line(&format!(
            "{headline}  {} -> {}",
            self.words.before, self.words.after
        ));
        let [first, second] = self.sides();
        self.side(first, comparison.before);
        self.side(second, comparison.after);
        let (before, after) = (comparison.before, comparison.after);
        let mut notes = Vec::new();
        if before.seed != after.seed {
            notes.push(format!(
                "the seeds differ ({} and {}): a rule that breaks now and then may show in one run alone",
                before.seed, after.seed
            ));
        }
        if before.strict != after.strict {
            notes.push(
                "only one of them was strict, so the same break fails one run and warns in the other"
                    .to_owned(),
            );
        }
        if before.tool.version != after.tool.version {
            notes.push(format!(
                "the versions of paymaster-conformance differ ({} and {})",
                before.tool.version, after.tool.version
            ));
        }
        if !self.words.targets && before.target != after.target {
            notes.push(format!(
                "the targets differ ({} and {})",
                before.target, after.target
            ));
        }
        for note in notes {
            self.hanging("note: ", 6, &note);
        }
    }

    fn sides(&self) -> [&'static str; 2] {
        if self.words.targets {
            ["first", "second"]
        } else {
            ["before", "after"]
        }
    }

    fn side(&mut self, name: &str, run: &Recorded) {
        let headline = run.verdict().heading();
        let counts = run.counts();
        let text = format!(
            "{headline}  {}: {}",
            words::count(counts.rules() as u128, "rule"),
            counts.line()
        );
        self.hanging(&format!("  {name:<7} "), 10, &text);
        if let Some(cause) = &run.cut_short {
            self.hanging("          cut short: ", 21, &harmless(cause));
        }
    }

    fn rules(&mut self, kind: Kind) {
        let changes: Vec<Change<'_>> = self.comparison.of(kind).cloned().collect();
        if changes.is_empty() {
            return;
        }
        self.line("");
        let title = title(kind, self.words.targets);
        let title = match kind {
            Kind::New | Kind::NewPlace => self.paint.bad(title),
            Kind::Fixed | Kind::Gained => self.paint.good(title),
            Kind::Still | Kind::Unmatched => self.paint.bold(title),
            Kind::NewWarning | Kind::Lost => self.paint.odd(title),
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
        let ground = self
            .paint
            .dim(&format!("section {}, {}", rule.section, rule.basis));
        self.line(&format!("  {name}  {verdicts}  {ground}"));
        if matches!(change.kind, Kind::New | Kind::NewWarning) {
            let mut findings = self.comparison.after.findings.iter();
            if let Some(finding) = findings.find(|finding| finding.rule == rule.id) {
                let text = format!(
                    "expected {}, got {} ({})",
                    harmless(&finding.expected),
                    cut(&harmless(&finding.actual), 200),
                    harmless(&finding.place())
                );
                self.hanging("      ", 6, &text);
            }
        }
        if change.kind == Kind::NewPlace {
            for place in &change.places {
                self.hanging("      also ", 11, &harmless(place));
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
                let shown: Vec<String> = values
                    .iter()
                    .take(MOST_VALUES)
                    .map(|value| cut(&harmless(value), 80))
                    .collect();
                let more = values.len().saturating_sub(MOST_VALUES);
                let more = if more > 0 {
                    format!(", {more} more")
                } else {
                    String::new()
                };
                if !shown.is_empty() {
                    let head = format!("      only {side}: ");
                    self.hanging(&head, head.len(), &(shown.join(", ") + &more));
                }
            }
        }
    }
}

fn title(kind: Kind, targets: bool) -> &'static str {
    match (kind, targets) {
        (Kind::New, false) => "New: fails now, and did not before",
        (Kind::New, true) => "Fails at the second alone",
        (Kind::NewPlace, false) => "Broken before, and now elsewhere too",
        (Kind::NewPlace, true) => "Broken at both, at the second elsewhere too",
        (Kind::NewWarning, false) => "Warns now, and did not before",
        (Kind::NewWarning, true) => "Warns at the second alone",
        (Kind::Still, false) => "Still broken",
        (Kind::Still, true) => "Broken at both",
        (Kind::Fixed, false) => "Fixed",
        (Kind::Fixed, true) => "Broken at the first alone",
        (Kind::Lost, false) => "No longer judged: that is neither fixed nor broken",
        (Kind::Lost, true) => "Judged at the first alone",
        (Kind::Gained, false) => "Judged now, and passed",
        (Kind::Gained, true) => "Judged at the second alone, and passed",
        (Kind::Unmatched, _) => "In one of them only: other rules were chosen, or another version",
    }
}

fn verdict(rule: Option<&RecordedRule>) -> &'static str {
    rule.map_or("not there", |rule| rule.verdict.name())
}
