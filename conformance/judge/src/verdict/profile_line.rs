//! Which line of the profile makes inconclusive rules conclusive, and the inconclusive rules grouped by what they need.
//!
//! A rule needs what its precondition names: a rule about results with tokens needs a supported token, as long as none is known; the
//! others need what their advice names.

use std::{cmp::Reverse, fmt::Write as _};

use crate::{
    rules::Rule,
    target::{
        context::{Context, Support},
        profile::{Profile, TokenLists},
    },
    verdict::{conclusion::Verdict, summary::RuleOutcome},
};

/// A line of the profile that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingLine {
    /// An operation that the target sponsors.
    Sponsorable,
    /// An operation that it does not sponsor.
    Refused,
    /// A token that it supports.
    SupportedTokens,
    /// A token that it does not support.
    UnsupportedTokens,
    /// The smart accounts that it serves.
    Accounts,
}

/// What each line is for.
struct Remedy {
    line: MissingLine,
    /// The words of an advice that ask for it.
    asked_by: &'static [&'static str],
    /// The table of the profile.
    table: &'static str,
    /// What to write there, for people.
    meaning: &'static str,
    /// What to do, where several rules wait for it.
    advice: &'static str,
}

/// Every line. An advice that names several asks for the first of them.
const REMEDIES: &[Remedy] = &[
    Remedy {
        line: MissingLine::Refused,
        asked_by: &["operations.refused"],
        table: "[operations]",
        meaning: "an operation that the target does not sponsor",
        advice: "name an operation that the target does not sponsor in the profile (operations.refused or operations.refused-senders), \
                 or set operations.sponsors = \"any\" or \"none\"",
    },
    Remedy {
        line: MissingLine::Accounts,
        asked_by: &["(accounts)"],
        table: "",
        meaning: "the smart accounts that the target serves",
        advice: "name the smart accounts of the target in the profile (accounts)",
    },
    Remedy {
        line: MissingLine::Sponsorable,
        asked_by: &["name operations"],
        table: "[operations]",
        meaning: "an operation that the target sponsors",
        advice: "name operations that the target sponsors in the profile: operations.sponsorable; or operations.accepts = \"any\" where \
                 every well-formed one gets a result, and operations.sponsors = \"any\" where each is sponsored",
    },
    Remedy {
        line: MissingLine::UnsupportedTokens,
        asked_by: &["does not support (tokens.unsupported)"],
        table: "[tokens]",
        meaning: "a token that the target does not support",
        advice: "name tokens that the target does not support in the profile (tokens.unsupported)",
    },
    Remedy {
        line: MissingLine::SupportedTokens,
        asked_by: &["tokens"],
        table: "[tokens]",
        meaning: "a token that the target supports",
        advice: "name supported tokens in the profile (tokens.supported), or tokens.complete = true where the target supports none",
    },
];

/// A line to write into the profile, and what it is worth.
#[derive(Clone, Debug)]
pub struct ProfileLine {
    /// Which line.
    pub kind: MissingLine,
    /// The table that it belongs to, as `[operations]`; empty for a line before the first table.
    pub table: &'static str,
    /// The line. Parts between `<` and `>` are to be replaced.
    pub text: String,
    /// What it says about the target.
    pub meaning: &'static str,
    /// The ids of the inconclusive rules that wait for it.
    pub rules: Vec<&'static str>,
}

/// Inconclusive rules that need the same.
#[derive(Debug)]
pub struct InconclusiveGroup<'a> {
    /// What would make them conclusive.
    pub advice: &'a str,
    /// The rules, in the order of the reports.
    pub rules: Vec<&'a RuleOutcome>,
}

/// The line that a rule waits for; none where no line of the profile helps.
pub fn missing_line(rule: &Rule, context: &Context) -> Option<MissingLine> {
    remedy(rule, context).map(|remedy| remedy.line)
}

fn remedy(rule: &Rule, context: &Context) -> Option<&'static Remedy> {
    let asked = |remedy: &&Remedy| remedy.asked_by.iter().any(|words| rule.advice.contains(words));
    let found = REMEDIES.iter().find(asked)?;
    let knows_a_token = context.tokens_with(Support::Supported).next().is_some();
    let line = match found.line {
        // Results with tokens need an operation as well: that is what is missing once a token is known.
        MissingLine::SupportedTokens if knows_a_token => MissingLine::Sponsorable,
        _ if needs_tokens(rule) && !knows_a_token => MissingLine::SupportedTokens,
        line => line,
    };
    REMEDIES.iter().find(|remedy| remedy.line == line)
}

/// Whether a rule does not apply to a target without tokens.
fn needs_tokens(rule: &Rule) -> bool {
    let without = Context::new(Profile {
        tokens: TokenLists {
            complete: true,
            ..TokenLists::default()
        },
        ..Profile::default()
    });
    (rule.not_applicable)(&without).is_some() && (rule.not_applicable)(&Context::default()).is_none()
}

/// The missing lines that inconclusive rules wait for, the one that most rules wait for first.
pub fn by_value(rules: &[RuleOutcome], context: &Context) -> Vec<ProfileLine> {
    let mut lines: Vec<ProfileLine> = Vec::new();
    for outcome in rules {
        if outcome.verdict != Verdict::Inconclusive {
            continue;
        }
        let Some(remedy) = remedy(outcome.rule, context) else {
            continue;
        };
        match lines.iter_mut().find(|line| line.kind == remedy.line) {
            Some(line) => line.rules.push(outcome.rule.id),
            None => lines.push(ProfileLine {
                kind: remedy.line,
                table: remedy.table,
                text: text(remedy.line, context),
                meaning: remedy.meaning,
                rules: vec![outcome.rule.id],
            }),
        }
    }
    // Stable: of two lines that are worth the same, the one of the first rule comes first.
    lines.sort_by_key(|line| Reverse(line.rules.len()));
    lines
}

/// The inconclusive rules, one group for each line of the profile or advice.
pub fn inconclusive<'a>(rules: &'a [RuleOutcome], context: &Context) -> Vec<InconclusiveGroup<'a>> {
    let mut groups: Vec<InconclusiveGroup<'a>> = Vec::new();
    let inconclusive = |outcome: &&RuleOutcome| outcome.verdict == Verdict::Inconclusive;
    for outcome in rules.iter().filter(inconclusive) {
        let own = outcome.reason.as_deref().unwrap_or_default();
        // Recorded traffic has reasons of its own.
        let is_advice = own == outcome.rule.advice;
        let remedy = remedy(outcome.rule, context).filter(|_| is_advice);
        let advice = remedy.map_or(own, |remedy| remedy.advice);
        match groups.iter_mut().find(|group| group.advice == advice) {
            Some(group) => group.rules.push(outcome),
            None => groups.push(InconclusiveGroup {
                advice,
                rules: vec![outcome],
            }),
        }
    }
    groups
}

/// The line as it stands in the file.
fn text(line: MissingLine, context: &Context) -> String {
    match line {
        MissingLine::Sponsorable => {
            r#"sponsorable = [{ sender = "<address>", nonce = "<nonce>", callData = "<0x...>" }]"#.to_owned()
        }
        MissingLine::Refused => {
            r#"refused = [{ sender = "<address>", nonce = "<nonce>", callData = "<0x...>" }]"#.to_owned()
        }
        MissingLine::SupportedTokens => r#"supported = [{ address = "<address>" }]"#.to_owned(),
        MissingLine::UnsupportedTokens => r#"unsupported = ["<address>"]"#.to_owned(),
        MissingLine::Accounts => {
            let mut text = "accounts = [".to_owned();
            for (place, account) in context.accounts().iter().enumerate() {
                let between = if place > 0 { ", " } else { "" };
                // Writing to a String cannot fail. Debug escapes quotes as TOML does.
                let _ = write!(
                    text,
                    "{between}{{ name = {:?}, version = {:?} }}",
                    account.name, account.version
                );
            }
            text + "]"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::rules;

    fn inconclusive_outcomes() -> Vec<RuleOutcome> {
        rules()
            .map(|rule| RuleOutcome {
                rule,
                verdict: Verdict::Inconclusive,
                held: 0,
                broken: 0,
                quota: rule.quota,
                reason: Some(rule.advice.to_owned()),
            })
            .collect()
    }

    #[test]
    fn every_advice_that_names_the_profile_has_a_line() {
        for rule in rules() {
            let line = missing_line(rule, &Context::default());
            assert_eq!(line.is_some(), rule.advice.contains("profile"), "{}", rule.id);
        }
    }

    #[test]
    fn a_rule_about_tokens_waits_for_a_token_until_one_is_known() {
        let rule = crate::rules::find_rule("fee-quote.decimal").unwrap();
        let line = |context: &Context| missing_line(rule, context);
        let mut context = Context::default();
        assert_eq!(line(&context), Some(MissingLine::SupportedTokens));
        context.learn_token("0xab", Support::Supported);
        assert_eq!(line(&context), Some(MissingLine::Sponsorable));
    }

    #[test]
    fn the_line_for_most_rules_comes_first_and_every_rule_is_in_one_group() {
        let outcomes = inconclusive_outcomes();
        let lines = by_value(&outcomes, &Context::default());
        assert!(lines.is_sorted_by_key(|line| Reverse(line.rules.len())));
        assert!(lines[0].rules.len() > 20, "{lines:#?}");
        let groups = inconclusive(&outcomes, &Context::default());
        let grouped: usize = groups.iter().map(|group| group.rules.len()).sum();
        assert_eq!(grouped, outcomes.len());
        for line in &lines {
            let same = groups
                .iter()
                .find(|group| group.rules[0].rule.id == line.rules[0]);
            assert_eq!(same.unwrap().rules.len(), line.rules.len(), "{:?}", line.kind);
        }
        let passed: Vec<RuleOutcome> = outcomes
            .into_iter()
            .map(|outcome| RuleOutcome {
                verdict: Verdict::Passed,
                ..outcome
            })
            .collect();
        assert!(by_value(&passed, &Context::default()).is_empty());
    }
}
