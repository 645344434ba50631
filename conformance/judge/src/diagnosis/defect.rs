//! Defects: findings with the same cause are one.

use std::collections::BTreeSet;

use super::{cause::Cause, same, sentence};
use crate::{
    rules::Rule,
    verdict::{finding::Finding, strictness::fails_the_run},
};

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
        let Some(shown) = self.shown(findings) else {
            return String::new();
        };
        let is_every = |finding: &&Finding| matches!(finding.cause, Some(Cause::Every { .. }));
        let own = self.findings.iter().filter_map(|number| findings.get(*number));
        // What is said of every answer holds for the methods and modes for which it was found.
        let pairs: BTreeSet<_> = own
            .filter(|finding| !is_every(&shown) || is_every(finding))
            .map(|finding| finding.pair)
            .collect();
        sentence::headline(shown, &pairs)
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
            let connected = members
                .into_iter()
                .any(|other| same::is_one_defect(finding, other));
            if connected {
                same.findings.extend(&defect.findings);
            }
            !connected
        });
        same.findings.sort_unstable();
        defects.push(same);
    }
    attach(&mut defects, findings);
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

/// Adds a defect to another one where each of its findings follows from a finding of that one: the first such defect.
fn attach(defects: &mut Vec<Defect>, findings: &[Finding]) {
    let follows = |defect: &Defect, other: &Defect| {
        defect.findings.iter().all(|own| {
            let mut explained = other.findings.iter();
            explained.any(|other| same::follows_from(&findings[*own], &findings[*other]))
        })
    };
    let mut place = 0;
    while place < defects.len() {
        let into = (0..defects.len())
            .filter(|other| *other != place)
            .find(|other| follows(&defects[place], &defects[*other]));
        match into {
            Some(into) => {
                let own = std::mem::take(&mut defects[place].findings);
                defects[into].findings.extend(own);
                defects.remove(place);
            }
            None => place += 1,
        }
    }
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

#[cfg(test)]
mod tests;
