//! Groups, exchanges and judgements to count.

use paymaster_engine::cases::case::Member;
use paymaster_engine::rules::Report;
use paymaster_engine::session::judge::{Judgement, read};
use paymaster_fee_quote::relations::CALLS;

use crate::*;

pub(crate) const ID: &str = "answer.id";
pub(crate) const ROW: &str = "sponsored-result.callGasLimit";
pub(crate) const WATCHED_POINTER: &str = "/result/callGasLimit";

pub(crate) fn rule(id: &str) -> &'static Rule {
    SPECIFICATION.find_rule(id).expect("it is one of ours")
}

pub(crate) fn request() -> Value {
    sample::sponsor_request("pm_sponsorUserOperation")
}

pub(crate) fn group(number: usize, members: usize) -> Group {
    let body = Bytes::from(request().to_string());
    let member = |place: usize| Member {
        role: Role::Call,
        label: format!("member {place}"),
        body: body.clone().into(),
        sent_as: None,
    };
    Group {
        number,
        relation: &CALLS,
        pair: Some(kinds::SPONSOR_SPONSORED),
        base: request(),
        round: 0,
        is_depth: false,
        first_id: 1,
        members: (0..members).map(member).collect(),
    }
}

pub(crate) fn answered(status: u16, headers: &[(&str, &str)], body: &str) -> Exchange {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Exchange::new(
        request().to_string(),
        Ok(Response { status, headers: headers.collect(), body: body.to_owned().into() }),
        Duration::ZERO,
    )
}

pub(crate) fn result() -> Exchange {
    answered(200, &[], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
}

pub(crate) const NO: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":""}}"#;

pub(crate) fn at(member: usize, pointer: &str) -> Violation {
    Violation {
        member,
        pointer: pointer.to_owned(),
        expected: String::new(),
        actual: format!("of member {member}"),
    }
}

pub(crate) fn judgement(id: &str, held: u64, violations: Vec<Violation>) -> Judgement {
    let mut report = Report::default();
    (0..held).for_each(|_| report.held());
    report.violations = violations;
    let number = SPECIFICATION.rules().position(|rule| rule.id == id).expect("it is a rule");
    Judgement { rule: rule(id), number, report }
}

/// The tally of a run with every rule.
pub(crate) fn empty() -> Tally {
    Tally::of(&SPECIFICATION.rules().collect::<Vec<_>>())
}

/// What one group adds.
pub(crate) fn added(
    tally: &mut Tally,
    number: usize,
    exchanges: &[Exchange],
    found: Vec<Judgement>,
) -> Vec<&'static str> {
    added_group(tally, &group(number, exchanges.len()), exchanges, found)
}

/// What this group adds.
pub(crate) fn added_group(
    tally: &mut Tally,
    group: &Group,
    exchanges: &[Exchange],
    found: Vec<Judgement>,
) -> Vec<&'static str> {
    let context = Context::default();
    let views = read(group, exchanges, &context);
    let new = tally.add(group, exchanges, &views, found, &Context::default());
    new.into_iter().map(|new| new.rule.id).collect()
}

pub(crate) fn outcome(
    tally: &Tally,
    id: &str,
    known: &KnownFailureList,
    findings: &[Finding],
) -> RuleOutcome {
    let (mut outcomes, _) = tally.outcomes(&[rule(id)], findings, &Context::default(), known, true, false);
    outcomes.pop().expect("one rule was selected")
}

pub(crate) fn verdict(tally: &Tally, id: &str) -> Verdict {
    outcome(tally, id, &KnownFailureList::default(), &[]).verdict
}
