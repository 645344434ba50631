//! Which line of the profile makes inconclusive rules conclusive.
//!
//! A rule about results with tokens needs a supported token, as long as none is known; the others need what their advice names.

use std::cmp::Reverse;

use crate::{
    rules::{Advice, Rule},
    target::{
        context::{Context, Support},
        profile::SmartAccount,
    },
    verdict::summary::RuleOutcome,
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

/// What a line is for.
struct Remedy {
    /// The table of the profile.
    table: &'static str,
    /// What to write there, for people.
    meaning: &'static str,
    /// What to do, where several rules wait for it.
    advice: &'static str,
    /// The line as it stands in the file.
    text: fn(&Context) -> String,
}

impl MissingLine {
    const fn remedy(self) -> Remedy {
        match self {
            Self::Refused => Remedy {
                table: "[operations]",
                meaning: "an operation that the target does not sponsor",
                advice: "name an operation that the target does not sponsor in the profile (operations.refused or \
                         operations.refused-senders), or set operations.sponsors = \"any\" or \"none\"",
                text: |_| {
                    r#"refused = [{ sender = "<address>", nonce = "<nonce>", callData = "<0x...>" }]"#
                        .to_owned()
                },
            },
            Self::Accounts => Remedy {
                table: "",
                meaning: "the smart accounts that the target serves",
                advice: "name the smart accounts of the target in the profile (accounts)",
                text: |context| {
                    let account = |account: SmartAccount| {
                        // Debug escapes quotes as TOML does.
                        format!("{{ name = {:?}, version = {:?} }}", account.name, account.version)
                    };
                    let accounts: Vec<String> = context.accounts().into_iter().map(account).collect();
                    format!("accounts = [{}]", accounts.join(", "))
                },
            },
            Self::Sponsorable => Remedy {
                table: "[operations]",
                meaning: "an operation that the target sponsors",
                advice: "name operations that the target sponsors in the profile: operations.sponsorable; or \
                         operations.accepts = \"any\" where every well-formed one gets a result, and operations.sponsors = \
                         \"any\" where each is sponsored",
                text: |_| {
                    r#"sponsorable = [{ sender = "<address>", nonce = "<nonce>", callData = "<0x...>" }]"#
                        .to_owned()
                },
            },
            Self::UnsupportedTokens => Remedy {
                table: "[tokens]",
                meaning: "a token that the target does not support",
                advice: "name tokens that the target does not support in the profile (tokens.unsupported)",
                text: |_| r#"unsupported = ["<address>"]"#.to_owned(),
            },
            Self::SupportedTokens => Remedy {
                table: "[tokens]",
                meaning: "a token that the target supports",
                advice: "name supported tokens in the profile (tokens.supported), or tokens.complete = true where the \
                         target supports none",
                text: |_| r#"supported = [{ address = "<address>" }]"#.to_owned(),
            },
        }
    }

    /// What to do, where rules wait for it.
    pub const fn advice(self) -> &'static str {
        self.remedy().advice
    }
}

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

/// The line that a rule waits for; none where no line of the profile helps.
pub fn missing_line(rule: &Rule, context: &Context) -> Option<MissingLine> {
    let Advice::Write(own) = rule.advice else {
        return None;
    };
    let knows_a_token = context.tokens_with(Support::Supported).next().is_some();
    let line = match own {
        // Results with tokens need an operation as well: that is what is missing once a token is known.
        MissingLine::SupportedTokens if knows_a_token => MissingLine::Sponsorable,
        _ if rule.needs_token && !knows_a_token => MissingLine::SupportedTokens,
        line => line,
    };
    Some(line)
}

/// The missing lines that inconclusive rules wait for, the one that most rules wait for first.
pub fn by_value(rules: &[RuleOutcome], context: &Context) -> Vec<ProfileLine> {
    let mut lines: Vec<ProfileLine> = Vec::new();
    for outcome in rules {
        let Some(kind) = outcome.waits_for else { continue };
        if let Some(line) = lines.iter_mut().find(|line| line.kind == kind) {
            line.rules.push(outcome.rule.id);
            continue;
        }
        let Remedy { table, meaning, text, .. } = kind.remedy();
        lines.push(ProfileLine { kind, table, text: text(context), meaning, rules: vec![outcome.rule.id] });
    }
    // Stable: of two lines that are worth the same, the one of the first rule comes first.
    lines.sort_by_key(|line| Reverse(line.rules.len()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{rules::rules, verdict::conclusion::Verdict};

    fn inconclusive_outcomes() -> Vec<RuleOutcome> {
        rules()
            .map(|rule| RuleOutcome {
                rule,
                verdict: Verdict::Inconclusive,
                held: 0,
                broken: 0,
                quota: rule.quota,
                reason: missing_line(rule, &Context::default()).map(|line| line.advice().to_owned()),
                waits_for: missing_line(rule, &Context::default()),
            })
            .collect()
    }

    #[test]
    fn every_line_has_a_remedy() {
        for rule in rules() {
            let line = missing_line(rule, &Context::default());
            assert!(line.is_none_or(|line| line.advice().contains("profile")), "{}", rule.id);
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
    fn the_line_for_most_rules_comes_first() {
        let outcomes = inconclusive_outcomes();
        let lines = by_value(&outcomes, &Context::default());
        assert!(lines.is_sorted_by_key(|line| Reverse(line.rules.len())));
        assert!(lines[0].rules.len() > 20, "{lines:#?}");
        let passed: Vec<RuleOutcome> = outcomes
            .into_iter()
            .map(|outcome| RuleOutcome { verdict: Verdict::Passed, waits_for: None, ..outcome })
            .collect();
        assert!(by_value(&passed, &Context::default()).is_empty());
    }
}
