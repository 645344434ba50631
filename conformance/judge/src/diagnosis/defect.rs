//! Defects: findings with the same cause are one.

use std::collections::BTreeSet;

use super::{cause::Cause, sentence};
use crate::{rules::Rule, session::tally::fails_the_run, verdict::finding::Finding};

/// Findings that have one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The findings, by their places in the summary. The first one is shown: its rule fails a run if any does, and its requests are the
    /// smallest.
    pub findings: Vec<usize>,
}

impl Defect {
    /// The finding that is shown.
    pub fn shown<'a>(&self, findings: &'a [Finding]) -> Option<&'a Finding> {
        findings.get(*self.findings.first()?)
    }

    /// The rules that the defect breaks, each once, in the order of its findings.
    pub fn rules(&self, findings: &[Finding]) -> Vec<&'static Rule> {
        let mut known = BTreeSet::new();
        let own = self.findings.iter().filter_map(|number| findings.get(*number));
        own.map(|finding| finding.rule)
            .filter(|rule| known.insert(rule.id))
            .collect()
    }

    /// Whether it breaks a rule that fails a run.
    pub fn fails_the_run(&self, findings: &[Finding], strict: bool) -> bool {
        let rules = self.rules(findings);
        rules.iter().any(|rule| fails_the_run(rule.basis(), strict))
    }

    /// What is wrong, in a sentence without its full stop.
    pub fn headline(&self, findings: &[Finding]) -> String {
        let own = self.findings.iter().filter_map(|number| findings.get(*number));
        let pairs: BTreeSet<_> = own.map(|finding| finding.pair).collect();
        let shown = self.shown(findings);
        shown
            .map(|finding| sentence::headline(finding, &pairs))
            .unwrap_or_default()
    }
}

/// Groups findings by their causes. Findings without a known cause are grouped by rule. Defects that fail a run come first, and the
/// order of the findings decides the rest.
pub fn defects(findings: &[Finding], is_known_failure: impl Fn(&Finding) -> bool) -> Vec<Defect> {
    let mut defects: Vec<Defect> = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        if is_known_failure(finding) {
            continue;
        }
        let mut same = Defect {
            findings: vec![number],
        };
        // A finding may connect defects that were separate so far.
        defects.retain(|defect| {
            let members = defect.findings.iter().filter_map(|other| findings.get(*other));
            let connected = members.into_iter().any(|other| is_same_defect(finding, other));
            if connected {
                same.findings.extend(&defect.findings);
            }
            !connected
        });
        same.findings.sort_unstable();
        defects.push(same);
    }
    for defect in &mut defects {
        defect
            .findings
            .sort_by_key(|number| rank(&findings[*number], *number));
    }
    defects.sort_by_key(|defect| {
        defect
            .shown(findings)
            .map(|shown| rank(shown, defect.findings[0]).0)
    });
    defects
}

fn is_same_defect(one: &Finding, two: &Finding) -> bool {
    match (&one.cause, &two.cause) {
        (Some(cause), Some(other)) => is_same_cause(one, cause, two, other),
        _ => one.rule.id == two.rule.id,
    }
}

/// A cause that is every answer covers the other causes of the same rule at the same place.
fn is_same_cause(one: &Finding, cause: &Cause, two: &Finding, other: &Cause) -> bool {
    let (pointer, other_pointer) = (&one.violation.pointer, &two.violation.pointer);
    let is_every = matches!(cause, Cause::Every { .. }) || matches!(other, Cause::Every { .. });
    let is_same_place = one.rule.id == two.rule.id && pointer == other_pointer;
    is_every && is_same_place || cause.is_same(pointer, other, other_pointer)
}

/// Findings that fail a run come first, then those whose cause is one member, then those with few requests, then short ones.
fn rank(finding: &Finding, number: usize) -> (bool, bool, bool, usize, usize, usize) {
    let members = &finding.group.members;
    let bytes = members.iter().map(|member| member.body.len()).sum();
    (
        !fails_the_run(finding.basis, false),
        finding.is_flaky(),
        !matches!(&finding.cause, Some(Cause::Members(members)) if members.len() == 1),
        members.len(),
        bytes,
        number,
    )
}
