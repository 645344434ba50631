//! Hand-written results of runs, for the snapshots of the reports.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use paymaster_client::redact::Redactor;
use paymaster_engine::cases::case::{Bases, Group, Member, Relation, Role, Rounds};
use paymaster_engine::diagnosis::cause::{Cause, Contrast};
use paymaster_engine::diagnosis::defect::defects;
use paymaster_engine::diagnosis::difference::Difference;
use paymaster_engine::diagnosis::finding::{Attempt, Finding, KindShare, Sought};
use paymaster_engine::diagnosis::outcomes::Outcomes;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::rules::{Violation, missing_line};
use paymaster_engine::session::recorded::RECORDED;
use paymaster_engine::verdict::conclusion::{Conclusion, Strictness, Verdict};
use paymaster_engine::verdict::known::{self, EntryState};
use paymaster_engine::verdict::summary::{
    Contradiction, Reached, Recorded, RuleOutcome, Summary, UnjudgedGroups,
};
use paymaster_exchange::{Body, Exchange, Failure, Response};
use paymaster_fee_quote::SPECIFICATION;
use paymaster_fee_quote::target::context::Context;
use paymaster_fee_quote::target::profile::Token;
use paymaster_schemas::kinds;
use paymaster_settings::{ProfileFile, ShownTarget, is_common};
use serde_json::{Value, json};

use crate::events::Event;
use crate::report::Finished;
use crate::report::formats::{Format, Render};
use crate::report::model::Report;

/// The profile of the target. It names the sender of the requests.
const PROFILE: &str = r#"[target]
url = "http://127.0.0.1:3000/api/s3cr3t-key"

[operations]
senders = ["0x00000000000000000000000000000000000000A1"]
"#;

static TWICE: Relation =
    Relation::new("twice", "the same request twice").of(Bases::NONE, Rounds::Fixed(1), |_, _| Vec::new());

/// A finished run for tests.
pub(crate) struct Sample {
    pub(crate) finished: Finished,
    replays: Vec<Option<PathBuf>>,
}

impl Deref for Sample {
    type Target = Finished;

    fn deref(&self) -> &Finished {
        &self.finished
    }
}

impl DerefMut for Sample {
    fn deref_mut(&mut self) -> &mut Finished {
        &mut self.finished
    }
}

impl Sample {
    pub(crate) fn finished(&self) -> &Finished {
        &self.finished
    }

    pub(crate) fn report(&self) -> Report {
        let mut report = Report::of(&self.finished);
        report.add_replays(&self.replays, &self.place);
        report
    }
}

impl Sample {
    /// The report in a format: a log from its beginning to its end.
    pub(crate) fn rendered(&self, format: &Format) -> String {
        let report = self.report();
        let open = match format.render {
            Render::Text(render) => return render(&report),
            Render::Log(open) => open,
        };
        let (mut log, mut bytes) = (open(), Vec::new());
        let specification = SPECIFICATION.line();
        let started = Event::Started { target: &self.place.shown, specification: &specification, seed: 1 };
        let found = self.summary.findings.iter().map(Event::Found);
        for event in std::iter::once(started).chain(found) {
            log.event(&event, self.maker(), &mut bytes).unwrap();
        }
        log.end(&report, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }
}

/// The finding with a cause: the letter case of the sender decides.
fn with_cause(finding: Finding) -> Finding {
    let [failing, passing] = ["a1", "A1"].map(|end| Some(json!(format!("0x{}{end}", "0".repeat(38)))));
    let difference = Difference::new("/params/0/sender", failing, passing, &SPECIFICATION);
    let (group, member, mut exchanges) =
        (finding.group.clone(), finding.violation.member, finding.exchanges.clone());
    let right = br#"{"jsonrpc":"2.0","id":7,"result":{"feeQuotes":[],"note":"s3cr3t-key"}}"#;
    let body = Bytes::from_static(right).into();
    exchanges[member].outcome = Ok(Response { status: 200, headers: Vec::new(), body });
    Finding {
        contrast: Some(Contrast { group, exchanges, member }),
        sought: Sought::Yes,
        cause: Some(Cause::Members(vec![difference])),
        share: Some(KindShare { broken: 1_200, judged: 6_000, all: 24_000, is_of_calls: true }),
        ..finding
    }
}

/// A run with a failure, a flake, a warning and an inconclusive rule.
#[expect(clippy::too_many_lines, reason = "a list of findings")]
pub(crate) fn violations() -> Sample {
    let mut redactor = Redactor::with_public_words(is_common);
    redactor.hide("s3cr3t-key");
    let findings = vec![
        with_cause(finding("quote-result.feeQuotes", "/result/feeQuotes", &["an array", "null"], 3)),
        Finding {
            share: Some(KindShare { broken: 3, judged: 40, all: 40, is_of_calls: true }),
            ..finding("answer.id", "/id", &["7", "\"7\" (s3cr3t-key \u{1b}[31m)"], 0)
        },
        finding("interoperability.mode-member", "/result/mode", &["\"ERC20\"", "no such member"], 3),
    ];
    let outcome = |rule, verdict, held, broken| RuleOutcome {
        rule: SPECIFICATION.find_rule(rule).unwrap(),
        verdict,
        held,
        broken,
        quota: SPECIFICATION.find_rule(rule).map_or(0, |rule| rule.quota),
        reason: (verdict == Verdict::Inconclusive)
            .then(|| SPECIFICATION.find_rule(rule).unwrap().advice.text().to_owned()),
        waits_for: (verdict == Verdict::Inconclusive)
            .then(|| missing_line(SPECIFICATION.find_rule(rule).unwrap(), &Context::default()))
            .flatten(),
    };
    let quoted = Reached { results: 250, errors: 3, unreadable: 0 };
    let unjudged = UnjudgedGroups { groups: 2, request: r#"{"id":1}"#.to_owned(), label: "id 1".to_owned() };
    Sample {
        finished: Finished {
            summary: Summary {
                target: "http://127.0.0.1:3000/api/***".to_owned(),
                seed: 1,
                conclusion: Conclusion::Violations,
                recorded: None,
                cut_short: None,
                coverage: Vec::new(),
                rules: vec![
                    outcome("answer.id", Verdict::Flaky, 900, 1),
                    outcome("quote-result.feeQuotes", Verdict::Failed, 0, 250),
                    outcome("quote-result.MODE", Verdict::Passed, 250, 0),
                    outcome("sponsor.refused-gets-0x", Verdict::Inconclusive, 0, 0),
                    outcome("interoperability.mode-member", Verdict::Failed, 0, 250),
                ],
                left_out: 0,
                defects: defects(&findings, &Outcomes::default(), |_| false),
                contradictions: Vec::new(),
                findings,
                places: Vec::new(),
                known: Vec::new(),
                refusal: None,
                unjudged: BTreeMap::from([("no connection: refused".to_owned(), unjudged)]),
                observations: BTreeMap::from([(
                    "behaviour.error-status",
                    BTreeMap::from([("HTTP 200".to_owned(), 3), ("HTTP 400".to_owned(), 1)]),
                )]),
                dialect: Context::default().dialect(),
                requests: 1013,
                connections: 8,
                reached: BTreeMap::from([(kinds::QUOTE_ERC20.name, quoted)]),
                took: Duration::from_millis(1234),
            },
            context: Arc::new(Context::default()),
            strictness: Strictness::default(),
            place: ShownTarget {
                shown: "http://127.0.0.1:3000/api/***".to_owned(),
                headers: vec![("x-key".to_owned(), "${KEY}".to_owned())],
                replay_options: " -H 'x-key: ${KEY}'".to_owned(),
                profile: Some(ProfileFile::new("paymaster.toml".as_ref(), PROFILE.to_owned())),
                ..ShownTarget::default()
            },
            redactor,
        },
        replays: vec![
            Some("paymaster-replays/quote-result.feeQuotes-1.json".into()),
            None,
            Some("paymaster-replays/interoperability.mode-member-1.json".into()),
        ],
    }
}

/// A run whose target serves neither a token nor an operation that the profile lists.
pub(crate) fn contradicted() -> Sample {
    const PROFILE: &str = r#"[target]
url = "http://127.0.0.1:3000/api/s3cr3t-key"

[operations]
sponsorable = [
  { sender = "0x00000000000000000000000000000000deadbeef", nonce = "1", callData = "0x" },
]
[[tokens.supported]]
[[tokens.supported]]
address = "0x2791bca1f2de4661ed88a30c99a7a9449aa84174"
"#;
    let mut sample = violations();
    sample.place.profile = Some(ProfileFile::new("paymaster.toml".as_ref(), PROFILE.to_owned()));
    let mut context = Context::default();
    let profile = &mut context.profile;
    profile.tokens.supported = vec![Token::default(), Token::default()];
    "0x2791bca1f2de4661ed88a30c99a7a9449aa84174".clone_into(&mut profile.tokens.supported[1].address);
    let operation =
        json!({ "sender": "0x00000000000000000000000000000000deadbeef", "nonce": "1", "callData": "0x" });
    profile.operations.sponsorable = operation.as_object().cloned().into_iter().collect();
    sample.context = Arc::new(context);
    let answer = json!({
        "jsonrpc": "2.0",
        "id": 7,
        "result": { "unsupportedTokens": ["0x2791BCA1f2de4661ed88a30c99a7a9449aa84174"], "note": "s3cr3t-key" },
    });
    sample.summary.findings[0].exchanges[1].outcome =
        Ok(Response { status: 200, headers: Vec::new(), body: answer.to_string().into() });
    let contradiction = |line: &str, times| Contradiction { line: line.to_owned(), times };
    sample.summary.contradictions =
        vec![contradiction("tokens.supported[1]", 12), contradiction("operations.sponsorable[0]", 1)];
    sample
}

/// A run in which every failure is known, and the list has out-of-date entries.
pub(crate) fn known() -> Sample {
    let mut sample = violations();
    let summary = &mut sample.summary;
    summary.findings.truncate(1);
    // A known failure is no defect.
    summary.defects.clear();
    summary.unjudged.clear();
    summary.rules.retain(|outcome| outcome.rule.id != "interoperability.mode-member");
    for outcome in &mut summary.rules {
        if outcome.rule.id == "answer.id" {
            outcome.broken = 0;
        }
        (outcome.verdict, outcome.reason) = match outcome.rule.id {
            "answer.id" => (Verdict::UnexpectedlyPassing, Some("delete its entry".to_owned())),
            "quote-result.feeQuotes" => (Verdict::KnownFailing, Some("null until release 7".to_owned())),
            _ => continue,
        };
    }
    summary.rules.push(RuleOutcome {
        rule: SPECIFICATION.find_rule("quote.tokens-quoted").unwrap(),
        verdict: Verdict::Covered,
        held: 0,
        broken: 0,
        quota: 10,
        reason: Some("covered by quote-result.feeQuotes: it can be judged once that is mended".to_owned()),
        waits_for: None,
    });
    let entry = |kind, rule: &str, pointer: Option<&str>, state| known::EntryOutcome {
        entry: known::KnownFailure {
            kind,
            rule: SPECIFICATION.find_rule(rule).unwrap().id,
            method: None,
            selected: pointer.map(|_| "ERC20"),
            pointer: pointer.map(str::to_owned),
            reason: "null until release 7".to_owned(),
            owner: "quotes team".to_owned(),
            expires: chrono::NaiveDate::from_ymd_opt(2026, 6, 30).unwrap(),
        },
        state,
    };
    summary.conclusion = Conclusion::ListOutOfDate;
    summary.known = vec![
        entry(
            known::KnownFailureKind::Failing,
            "quote-result.feeQuotes",
            Some("/result/feeQuotes"),
            EntryState::StillFailing,
        ),
        entry(known::KnownFailureKind::Failing, "answer.id", None, EntryState::UnexpectedlyPassing),
        entry(
            known::KnownFailureKind::Failing,
            "quote-result.MODE",
            Some("/result/other"),
            EntryState::MatchesNothing,
        ),
        entry(known::KnownFailureKind::Flaky, "answer.object", None, EntryState::Expired),
        entry(known::KnownFailureKind::Flaky, "quote-result.MODE", None, EntryState::Quiet),
    ];
    sample
}

/// Recorded traffic.
pub(crate) fn recorded() -> Sample {
    let mut sample = violations();
    let summary = &mut sample.summary;
    for finding in &mut summary.findings {
        finding.group.relation = &RECORDED;
        finding.group.members.truncate(1);
        finding.exchanges.remove(0);
        finding.attempts.clear();
        finding.violation.member = 0;
    }
    summary.unjudged.clear();
    (summary.requests, summary.seed) = (0, 0);
    summary.recorded =
        Some(Recorded { exchanges: 250, skipped: BTreeMap::from([("not a POST request".to_owned(), 12)]) });
    for outcome in &mut summary.rules {
        if outcome.verdict == Verdict::Flaky {
            outcome.verdict = Verdict::Failed;
        }
    }
    sample
}

/// A run in which the target never answered.
pub(crate) fn unanswered() -> Sample {
    let mut sample = violations();
    sample.summary.conclusion = Conclusion::CouldNotTest;
    sample.summary.cut_short = Some("no answer from 127.0.0.1:3000: no connection: refused".to_owned());
    sample.summary.findings.clear();
    sample.summary.defects.clear();
    sample.summary.unjudged.clear();
    sample.summary.reached.clear();
    sample.summary.requests = 3;
    sample.replays.clear();
    for outcome in &mut sample.summary.rules {
        outcome.verdict = Verdict::Inconclusive;
        (outcome.held, outcome.broken) = (0, 0);
        outcome.reason = Some(outcome.rule.advice.text().to_owned());
    }
    sample
}

#[expect(clippy::too_many_lines, reason = "the members of a finding")]
fn finding(rule: &str, pointer: &str, words: &[&str; 2], reproduced: usize) -> Finding {
    let rule = SPECIFICATION.find_rule(rule).unwrap();
    let violation = Violation {
        member: 1,
        pointer: pointer.to_owned(),
        expected: words[0].to_owned(),
        actual: words[1].to_owned(),
    };
    let request = json!({
        "jsonrpc": "2.0",
        "id": 7,
        "method": "pm_getFeeQuoteOrData",
        "params": [
            {"sender": "0x00000000000000000000000000000000000000a1", "callData": format!("0x{}", "ab".repeat(200))},
            {"mode": "ERC20", "tokenInfo": {"preferredToken": "it's", "tokenList": ["it's"]}},
        ],
    });
    let body = Body::from(request.to_string());
    let member = |role| Member { role, label: "as it is".to_owned(), body: body.clone(), sent_as: None };
    let answered = Exchange::new(
        body.clone(),
        Ok(Response {
            status: 200,
            headers: Vec::new(),
            body: Bytes::from_static(
                br#"{"jsonrpc":"2.0","id":7,"result":{"feeQuotes":null,"note":"s3cr3t-key"}}"#,
            )
            .into(),
        }),
        Duration::from_millis(1),
    );
    let unanswered = Exchange { outcome: Err(Failure::Broken("closed".to_owned())), ..answered.clone() };
    let exchanges = vec![unanswered, answered];
    let attempts = (0..3)
        .map(|number| Attempt {
            exchanges: exchanges.clone(),
            violation: (number < reproduced).then(|| violation.clone()),
        })
        .collect();
    Finding {
        rule,
        specification: &SPECIFICATION,
        basis: rule.basis(),
        pair: Some(kinds::QUOTE_ERC20),
        violation,
        group: Group {
            number: 0,
            relation: &TWICE,
            pair: Some(kinds::QUOTE_ERC20),
            base: Value::Null,
            round: 0,
            is_depth: false,
            first_id: 7,
            members: vec![member(Role::Baseline), member(Role::Again)],
        },
        exchanges,
        times: 250,
        attempts,
        shrink_requests: 12,
        could_be_smaller: false,
        cause: None,
        sought: Sought::Yes,
        of_sent_values: None,
        contrast: None,
        share: None,
    }
}
