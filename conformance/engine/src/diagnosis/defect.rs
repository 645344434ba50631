//! Defects: findings that are wrong in one way, or for one reason, are one.

use std::collections::BTreeSet;

use paymaster_schemas::Kind;

use super::cause::{Cause, WrongAnswers};
use super::same::{Kinship, kinship};
use super::sentence;
use crate::diagnosis::{Finding, Outcomes, without_indices};
use crate::rules::{Check, Rule, fails_the_run};

/// Findings that have one cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defect {
    /// The findings, by their places in the summary. The first one is shown: its rule fails a run if any does, and its requests are the
    /// smallest.
    pub findings: Vec<usize>,
    /// Why they are one defect: each finding but one has a link to another one.
    pub links: Vec<Link>,
}

/// Why two findings are one defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The findings, by their places in the summary.
    pub findings: [usize; 2],
    /// The reason.
    pub kinship: Kinship,
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
        own.map(|finding| finding.rule).filter(|rule| known.insert(rule.id)).collect()
    }

    /// Whether it breaks a rule that fails a run.
    pub fn fails_the_run(&self, findings: &[Finding], strict: bool) -> bool {
        let rules = self.rules(findings);
        rules.iter().any(|rule| fails_the_run(rule.basis(), strict))
    }

    /// What is wrong, in a sentence without its full stop.
    pub fn headline(&self, findings: &[Finding]) -> String {
        self.shown(findings)
            .map_or_else(String::new, |shown| sentence::headline(shown, &self.pairs(shown, findings)))
    }

    /// Its cause in words, as [`sentence::cause_of`].
    pub fn cause_in_words(&self, findings: &[Finding]) -> Option<String> {
        let shown = self.shown(findings)?;
        sentence::cause_of(shown, &self.pairs(shown, findings))
    }

    /// Its cause in words alone, without how much of the run it was checked against.
    pub fn explanation(&self, findings: &[Finding]) -> Option<String> {
        let shown = self.shown(findings)?;
        sentence::explained(shown, &self.pairs(shown, findings))
    }

    /// The methods and modes for which it was found.
    fn pairs(&self, shown: &Finding, findings: &[Finding]) -> BTreeSet<Option<Kind>> {
        let every = |finding: &Finding| match finding.cause {
            Some(Cause::Every { answers, .. }) => Some(answers),
            _ => None,
        };
        let own = self.findings.iter().filter_map(|number| findings.get(*number));
        let place = |finding: &Finding| {
            let pointer = without_indices(&finding.violation.pointer);
            finding.specification.places.whole_of(&pointer).to_owned()
        };
        // What is said of every answer holds for the methods and modes for which it was found, at that place.
        own.filter(|finding| match (every(shown), every(finding)) {
            (None, _) | (Some(WrongAnswers::ToOwedRequests), Some(WrongAnswers::All)) => true,
            (own, other) => own == other && place(shown) == place(finding),
        })
        .map(|finding| finding.pair)
        .collect()
    }
}

/// Groups findings that are one defect. Defects that fail a run come first, and the order of the findings decides the rest.
pub fn defects(
    findings: &[Finding],
    outcomes: &Outcomes,
    is_known_failure: impl Fn(&Finding) -> bool,
) -> Vec<Defect> {
    let mut defects: Vec<Defect> = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        if is_known_failure(finding) {
            continue;
        }
        let mut same = Defect { findings: vec![number], links: Vec::new() };
        // A finding may connect defects that were separate so far.
        defects.retain_mut(|defect| {
            let link = defect.findings.iter().find_map(|other| {
                let kinship = kinship(finding, findings.get(*other)?, outcomes)?;
                Some(Link { findings: [*other, number], kinship })
            });
            if let Some(link) = link {
                same.findings.append(&mut defect.findings);
                same.links.append(&mut defect.links);
                same.links.push(link);
            }
            link.is_none()
        });
        defects.push(same);
    }
    for defect in &mut defects {
        defect.findings.sort_by_key(|number| rank(&findings[*number], *number));
        defect.links.sort_by_key(|link| link.findings);
    }
    defects.sort_by_key(|defect| defect.shown(findings).map(|shown| rank(shown, defect.findings[0]).0[0]));
    defects
}

/// Findings that fail a run come first, then those with a cause, those of rules about single answers, those of every answer, those of
/// well-formed requests, those whose cause is one member, those with few requests, and short ones.
fn rank(finding: &Finding, number: usize) -> ([bool; 7], [usize; 3]) {
    let members = &finding.group.members;
    let bytes = members.iter().map(|member| member.body.len()).sum();
    let sort = [
        !fails_the_run(finding.basis, false),
        finding.cause.is_none(),
        finding.is_flaky(),
        // A rule that compares requests judges few answers: what is true of every one of these may be false of the others.
        matches!(finding.rule.check, Check::Group(..)),
        !matches!(&finding.cause, Some(Cause::Every { .. })),
        finding.pair.is_none(),
        !matches!(&finding.cause, Some(Cause::Members(members)) if members.len() == 1),
    ];
    (sort, [members.len(), bytes, number])
}

#[cfg(test)]
mod tests;
