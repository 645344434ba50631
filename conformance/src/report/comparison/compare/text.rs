//! A comparison as text for a terminal.

use crate::report::{
    comparison::compare::{Change, ChangeKind, Comparison, Difference},
    model::{JudgedRule, Report},
    terminal::Lines,
    text::{compact::cut, words},
};
use paymaster_settings::{EMBEDDED_WARNING, Paint, escape_controls};

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

/// Every kind of change in the order of the report, with its title for two runs of one target and for two targets.
const KINDS: [(ChangeKind, &str, &str); 8] = [
    (ChangeKind::New, "New: fails now, and did not before", "Fails at the second only"),
    (
        ChangeKind::NewPointer,
        "Broken before, and now at other places too",
        "Broken at both, at the second at other places too",
    ),
    (ChangeKind::NewWarning, "Warns now, and did not before", "Warns at the second only"),
    (ChangeKind::Still, "Still broken", "Broken at both"),
    (ChangeKind::Fixed, "Fixed", "Broken at the first only"),
    (ChangeKind::NoLongerJudged, "No longer judged: neither fixed nor broken", "Judged at the first only"),
    (ChangeKind::NewlyJudged, "Judged now, and passed", "Judged at the second only, and passed"),
    (ChangeKind::InOneReport, IN_ONE_REPORT, IN_ONE_REPORT),
];
const IN_ONE_REPORT: &str = "In one report only: other rules were selected, or the versions differ";

/// The comparison as text.
pub(crate) fn render(comparison: &Comparison<'_>, names: &SideNames, paint: Paint) -> String {
    let mut page = Page { comparison, names, paint, out: Lines::default() };
    page.head();
    if comparison.is_void() {
        let next = "one of the runs could not test its target, so there is nothing to compare: run it again";
        page.out.line("");
        page.out.hanging("Next: ", 6, next);
        return page.out.0;
    }
    for (kind, of_runs, of_targets) in KINDS {
        page.rules(kind, if names.targets { of_targets } else { of_runs });
    }
    page.differences("Dialect", &comparison.dialect);
    page.differences("Behaviour, where the specification leaves it open", &comparison.behaviour);
    let alike = words::count(comparison.alike as u128, "other rule");
    page.out.line(&format!("\n{alike} alike"));
    page.out.0
}

struct Page<'a> {
    comparison: &'a Comparison<'a>,
    names: &'a SideNames,
    paint: Paint,
    out: Lines,
}

impl Page<'_> {
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
        self.out.line(&format!("{headline}  {} -> {}", self.names.before, self.names.after));
        let [first, second] = self.sides();
        self.side(first, comparison.before);
        self.side(second, comparison.after);
        let (before, after) = (comparison.before, comparison.after);
        let Report { seed, strict, target, tool, .. } = after;
        let notes = [
            (before.seed != *seed).then(|| {
                let seeds = format!("{} and {seed}", before.seed);
                format!("the seeds differ ({seeds}): a rule that is broken only sometimes may show in one run only")
            }),
            before.embedded.then(|| format!("{first}: {EMBEDDED_WARNING}")),
            after.embedded.then(|| format!("{second}: {EMBEDDED_WARNING}")),
            (before.strict != *strict).then(|| {
                "only one of them was strict, so the same violation fails one run and only warns in the other".to_owned()
            }),
            (before.tool.version != tool.version).then(|| {
                let versions = format!("{} and {}", before.tool.version, tool.version);
                format!("the versions of paymaster-conformance differ ({versions})")
            }),
            (!self.names.targets && before.target != *target)
                .then(|| format!("the targets differ ({} and {target})", before.target)),
        ];
        for note in notes.into_iter().flatten() {
            self.out.hanging("note: ", 6, &note);
        }
    }

    fn sides(&self) -> [&'static str; 2] {
        if self.names.targets { ["first", "second"] } else { ["before", "after"] }
    }

    fn side(&mut self, name: &str, run: &Report) {
        let headline = run.verdict_line().heading();
        let counts = run.counts();
        let text = format!("{headline}  {}: {}", words::count(counts.rules() as u128, "rule"), counts.line());
        self.out.hanging(&format!("  {name:<7} "), 10, &text);
        if let Some(cause) = &run.cut_short {
            self.out.hanging("          cut short: ", 21, &escape_controls(cause));
        }
    }

    fn rules(&mut self, kind: ChangeKind, title: &str) {
        let changes: Vec<Change<'_>> = self.comparison.of(kind).cloned().collect();
        if changes.is_empty() {
            return;
        }
        let title = match kind {
            ChangeKind::New | ChangeKind::NewPointer => self.paint.bad(title),
            ChangeKind::Fixed | ChangeKind::NewlyJudged => self.paint.good(title),
            ChangeKind::Still | ChangeKind::InOneReport => self.paint.bold(title),
            ChangeKind::NewWarning | ChangeKind::NoLongerJudged => self.paint.odd(title),
        };
        self.out.part(&title);
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
        self.out.line(&format!("  {name}  {verdicts}  {ground}"));
        if matches!(change.kind, ChangeKind::New | ChangeKind::NewWarning) {
            let mut findings = self.comparison.after.findings.iter();
            if let Some(finding) = findings.find(|finding| finding.rule == rule.id) {
                let [expected, actual] =
                    [&finding.expected, &finding.actual].map(|text| escape_controls(text));
                let (actual, place) = (cut(&actual, 200), escape_controls(&finding.place()));
                self.out.hanging("      ", 6, &format!("expected {expected}, got {actual} ({place})"));
            }
        }
        if change.kind == ChangeKind::NewPointer {
            for place in &change.places {
                self.out.hanging("      also ", 11, &escape_controls(place));
            }
        }
    }

    fn differences(&mut self, title: &str, differences: &[Difference]) {
        if differences.is_empty() {
            return;
        }
        self.out.part(&self.paint.bold(title));
        for difference in differences {
            self.out.line(&format!("  {}", difference.name));
            let sides = self.sides();
            for (side, values) in sides.into_iter().zip([&difference.before, &difference.after]) {
                let shown: Vec<String> =
                    values.iter().take(MOST_VALUES).map(|value| cut(&escape_controls(value), 80)).collect();
                let more = values.len().saturating_sub(MOST_VALUES);
                let more = if more > 0 { format!(", {more} more") } else { String::new() };
                if !shown.is_empty() {
                    let head = format!("      only {side}: ");
                    self.out.hanging(&head, head.len(), &(shown.join(", ") + &more));
                }
            }
        }
    }
}

fn verdict(rule: Option<&JudgedRule>) -> &'static str {
    rule.map_or("missing", |rule| rule.verdict.name())
}
