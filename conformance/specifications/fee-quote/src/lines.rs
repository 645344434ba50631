//! The lines of the profile that inconclusive rules wait for.

use crate::target::{Context, SmartAccount};
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{MissingLine, Rule};
use paymaster_schemas::Mode;

/// An operation that the target sponsors.
pub static SPONSORABLE: MissingLine = MissingLine {
    table: "[operations]",
    meaning: "an operation that the target sponsors",
    advice: "name operations that the target sponsors in the profile: operations.sponsorable; or operations.accepts = \"any\" \
             where every well-formed one gets a result, and operations.sponsors = \"any\" where each is sponsored",
    text: |_| {
        r#"sponsorable = [{ sender = "<address>", nonce = "<nonce>", callData = "<0x...>" }]"#.to_owned()
    },
    then: None,
};

/// An operation that it does not sponsor.
pub static REFUSED: MissingLine = MissingLine {
    table: "[operations]",
    meaning: "an operation that the target does not sponsor",
    advice: "name an operation that the target does not sponsor in the profile (operations.refused or operations.refused-senders), \
             or set operations.sponsors = \"any\" or \"none\"",
    text: |_| r#"refused = [{ sender = "<address>", nonce = "<nonce>", callData = "<0x...>" }]"#.to_owned(),
    then: None,
};

/// A token that it supports. Results with tokens need an operation as well: that is what is missing once a token is known.
pub static SUPPORTED_TOKENS: MissingLine = MissingLine {
    table: "[tokens]",
    meaning: "a token that the target supports",
    advice: "name supported tokens in the profile (tokens.supported), or tokens.complete = true where the target supports none",
    text: |_| r#"supported = [{ address = "<address>" }]"#.to_owned(),
    then: Some(&SPONSORABLE),
};

/// A token that it does not support.
pub static UNSUPPORTED_TOKENS: MissingLine = MissingLine {
    table: "[tokens]",
    meaning: "a token that the target does not support",
    advice: "name tokens that the target does not support in the profile (tokens.unsupported)",
    text: |_| r#"unsupported = ["<address>"]"#.to_owned(),
    then: None,
};

/// The smart accounts that it serves.
pub static ACCOUNTS: MissingLine = MissingLine {
    table: "",
    meaning: "the smart accounts that the target serves",
    advice: "name the smart accounts of the target in the profile (accounts)",
    text: |knowledge| {
        let account = |account: SmartAccount| {
            // Debug escapes quotes as TOML does.
            format!("{{ name = {:?}, version = {:?} }}", account.name, account.version)
        };
        let accounts: Vec<String> = Context::of(knowledge).accounts().into_iter().map(account).collect();
        format!("accounts = [{}]", accounts.join(", "))
    },
    then: None,
};

/// For rules about results that contain a token.
pub(crate) fn no_token(knowledge: &dyn Knowledge) -> Option<&'static str> {
    let profile = &Context::of(knowledge).profile;
    let none = profile.tokens.is_none_supported() || !profile.operations.serves(Mode::Erc20);
    none.then_some("the profile says that the target supports no token")
}

/// A rule about token mode: it does not apply without a token, and waits for the tokens first.
pub(crate) const fn in_token_mode(rule: Rule) -> Rule {
    rule.unless(no_token).waiting_first(&SUPPORTED_TOKENS)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::{SPECIFICATION, target::context::Support};
    use paymaster_engine::{
        rules::missing_line,
        verdict::{
            conclusion::Verdict,
            summary::{RuleOutcome, most_awaited},
        },
    };

    fn inconclusive_outcomes() -> Vec<RuleOutcome> {
        SPECIFICATION
            .rules()
            .map(|rule| RuleOutcome {
                rule,
                verdict: Verdict::Inconclusive,
                held: 0,
                broken: 0,
                quota: rule.quota,
                reason: missing_line(rule, &Context::default()).map(|line| line.advice.to_owned()),
                waits_for: missing_line(rule, &Context::default()),
            })
            .collect()
    }

    #[test]
    fn every_line_has_a_remedy() {
        for rule in SPECIFICATION.rules() {
            let line = missing_line(rule, &Context::default());
            assert!(line.is_none_or(|line| line.advice.contains("profile")), "{}", rule.id);
        }
    }

    #[test]
    fn a_rule_about_tokens_waits_for_a_token_until_one_is_known() {
        let rule = SPECIFICATION.find_rule("fee-quote.decimal").unwrap();
        let line = |context: &Context| missing_line(rule, context);
        let mut context = Context::default();
        assert_eq!(line(&context), Some(&SUPPORTED_TOKENS));
        context.learn_token("0xab", Support::Supported);
        assert_eq!(line(&context), Some(&SPONSORABLE));
    }

    #[test]
    fn the_line_for_most_rules_comes_first() {
        let outcomes = inconclusive_outcomes();
        let (line, rules) = most_awaited(&outcomes).unwrap();
        let waiting = |line: Option<&MissingLine>| {
            outcomes.iter().filter(|other| other.waits_for.is_some() && other.waits_for == line).count()
        };
        assert_eq!(waiting(Some(line)), rules);
        assert!(outcomes.iter().all(|outcome| waiting(outcome.waits_for) <= rules));
        assert!(rules > 20, "{rules}: {line:?}");
        let passed: Vec<RuleOutcome> = outcomes
            .into_iter()
            .map(|outcome| RuleOutcome { verdict: Verdict::Passed, waits_for: None, ..outcome })
            .collect();
        assert_eq!(most_awaited(&passed), None);
    }
}
