//! The judge applies rules to the exchanges of a group.

use crate::cases::Group;
use crate::knowledge::Knowledge;
use crate::rules::{Check, Report, Rule, View};
use paymaster_exchange::Exchange;

/// The result of one rule for one group.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The rule.
    pub rule: &'static Rule,
    /// Its place among the rules of the judge.
    pub number: usize,
    /// How often it held, and where it was broken.
    pub report: Report,
}

/// Judges groups by a selection of the rules.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The rules it judges by.
    pub rules: Vec<&'static Rule>,
}

impl Judge {
    /// A judge with these rules.
    pub fn new(rules: Vec<&'static Rule>) -> Self {
        Self { rules }
    }

    /// Judges a group and its exchanges, one exchange a member, in order. Rules that were not exercised are left out.
    pub fn group(&self, group: &Group, exchanges: &[Exchange], context: &dyn Knowledge) -> Vec<Judgement> {
        self.views(&read(group, exchanges, context), Some(group), context)
    }

    /// Judges parsed exchanges. Without a group, only rules about single exchanges apply.
    pub fn views(
        &self,
        views: &[View<'_>],
        group: Option<&Group>,
        context: &dyn Knowledge,
    ) -> Vec<Judgement> {
        let refused = views.iter().any(|view| view.refused_for_headers);
        self.rules
            .iter()
            .enumerate()
            .filter(|(_, rule)| !refused || rule.compares_headers())
            .filter_map(|(number, rule)| {
                let report = apply(rule, views, group, context);
                (report.held > 0 || !report.violations.is_empty()).then_some(Judgement {
                    rule,
                    number,
                    report,
                })
            })
            .collect()
    }
}

/// Reads the exchanges of a group.
pub fn read<'a>(group: &'a Group, exchanges: &'a [Exchange], context: &dyn Knowledge) -> Vec<View<'a>> {
    group
        .members
        .iter()
        .zip(exchanges)
        .map(|(member, exchange)| View::new(member.role, &member.label, exchange, context))
        .collect()
}

fn apply(rule: &'static Rule, views: &[View<'_>], group: Option<&Group>, context: &dyn Knowledge) -> Report {
    let mut report = Report::default();
    if let Check::Group(relation, check) = &rule.check {
        if group.is_some_and(|group| std::ptr::eq(group.relation, *relation)) {
            check(views, context, &mut report);
        }
        return report;
    }
    for (member, view) in views.iter().enumerate() {
        report.set_member(member);
        rule.judge_one(view, context, &mut report);
    }
    report
}
