//! Makes the report of a run. The secrets of the run are replaced here, text by text, and nowhere after it: a text that a later step
//! cuts, such as a headline, could hide the beginning of a secret from a later search.

use std::{collections::BTreeMap, path::PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use paymaster_client::redact::{REDACTED, Redactor};
use paymaster_client::stop::Reason;
use paymaster_engine::cases::Member;
use paymaster_engine::diagnosis::sentence;
use paymaster_engine::diagnosis::{
    Cause as EngineCause, Defect as EngineDefect, Finding as EngineFinding, Respect, Shown,
};
use paymaster_engine::rules::{Check, shown};
use paymaster_engine::session::{Original, RECORDED};
use paymaster_engine::verdict::{EntryOutcome, RuleOutcome, UnjudgedGroups, Verdict};
use paymaster_exchange::{Exchange, HeaderSet};
use paymaster_schemas::{Basis, Kind, member_validator};
use paymaster_settings::{ShownTarget, escape_controls, exit, output::curl};
use serde_json::{Number, Value};

use crate::report::machine::FORMAT;
use crate::report::{
    Attempt, Body, Cause, CauseMember, Contrast, Defect, Details, Exchanged, Finding, FindingDetails,
    Finished, Header, JudgedRule, KnownFailure, Link, RecordedTraffic, Report, ReportedSpecification,
    Request, Response, Skipped, Tool, Unjudged, contradictions, profile_place, words,
};

/// Makes parts of a report: replaces secrets, and knows the options with which requests are repeated.
#[derive(Clone, Copy, Debug)]
pub struct Maker<'a> {
    pub(crate) redactor: &'a Redactor,
    pub(crate) place: &'a ShownTarget,
}

impl Tool {
    /// This program.
    pub(crate) fn this() -> Self {
        let [name, version] = ["paymaster-conformance", env!("CARGO_PKG_VERSION")].map(str::to_owned);
        Self { name, version }
    }
}

impl Report {
    /// The report of a finished run, without replay files.
    #[expect(clippy::too_many_lines, reason = "a list of the members of a report")]
    pub(crate) fn of(finished: &Finished) -> Self {
        let Finished { summary, context, strictness, place, redactor } = finished;
        let maker = finished.maker();
        let text = |text: &str| maker.text(text);
        let specification = context.specification();
        let reached = |kind: &Kind| summary.reached.get(kind.name).copied().unwrap_or_default();
        let observed = |values| maker.texts(values, |value, times| (value, times));
        let observations = summary.observations.iter();
        let mut report = Self {
            format: FORMAT.to_owned(),
            tool: Tool::this(),
            specification: ReportedSpecification {
                name: specification.name.to_owned(),
                title: specification.title.to_owned(),
                version: specification.version.to_owned(),
                published: specification.published.to_owned(),
            },
            target: place.shown.clone(),
            embedded: place.embedded,
            warnings: Vec::new(),
            seed: summary.seed,
            strict: strictness.strict,
            conclusion: summary.conclusion,
            verdict: String::new(),
            exit_code: exit::code(summary.conclusion),
            cut_short: summary.cut_short.as_deref().map(text),
            requests: summary.requests,
            took_ms: u64::try_from(summary.took.as_millis()).unwrap_or(u64::MAX),
            recorded: summary.recorded.as_ref().map(|recorded| RecordedTraffic {
                exchanges: recorded.exchanges,
                skipped: maker.texts(&recorded.skipped, |reason, entries| Skipped { reason, entries }),
            }),
            reached: specification.kinds.iter().map(|kind| (kind.name.to_owned(), reached(kind))).collect(),
            unjudged: maker.unjudged(&summary.unjudged),
            left_out: summary.left_out,
            rules: summary.rules.iter().map(|outcome| maker.rule(outcome)).collect(),
            findings: summary.findings.iter().map(|finding| maker.finding_of(finding, finished)).collect(),
            defects: Vec::new(),
            known_failures: summary.known.iter().map(|known| maker.known_failure(known)).collect(),
            dialect: summary.dialect.iter().map(|(name, value)| (name.clone(), maker.value(value))).collect(),
            observations: observations.map(|(clause, seen)| ((*clause).to_owned(), observed(seen))).collect(),
            details: Details {
                specification: specification.line(),
                profile: place.profile.as_ref().map(|profile| text(&profile.shown)),
                took: summary.took,
                is_refused: summary.refusal.is_some(),
                asks_for_key: summary.refusal.as_ref().is_some_and(words::asks_for_key),
                is_interrupted: summary.cut_short.as_ref() == Some(&Reason::Interrupted.to_string()),
                contradicted: summary.contradictions.iter().map(|one| text(&one.line)).collect(),
                exports: curl::needs(place),
                own_headers: maker.own_headers(),
                known: context.saved(),
                ..Details::default()
            },
        };
        report.defects = maker.defects(finished, &report);
        report.warnings = {
            let refusals =
                summary.refusal.iter().map(|refusal| words::refused(refusal, specification, redactor));
            let others = place.warnings().chain(summary.coverage.iter().map(String::as_str));
            refusals.chain(others.map(|warning| escape_controls(&text(warning)))).collect()
        };
        report.verdict = report.verdict_line().sentence();
        report.details.contradictions = contradictions::shown(finished, &report);
        report.details.missing_line = words::missing_line(finished, &report);
        report
    }

    /// Adds the replay file of each finding, in the order of the findings, and the command line that replays it.
    pub(crate) fn add_replays(&mut self, paths: &[Option<PathBuf>], place: &ShownTarget) {
        for (finding, path) in self.findings.iter_mut().zip(paths) {
            let on_chain = finding.basis == Basis::OnChain.into_str();
            finding.replay_file = path.as_ref().map(|path| path.display().to_string());
            finding.details.replay = path.as_ref().map(|path| curl::replay(place, path, on_chain));
        }
    }
}

impl Maker<'_> {
    /// A text without its secrets.
    pub(crate) fn text(&self, text: &str) -> String {
        self.redactor.apply(text).into_owned()
    }

    /// What `make` makes of texts without their secrets, each with its number.
    fn texts<N: Copy, T, C: FromIterator<T>>(
        &self,
        all: &BTreeMap<String, N>,
        make: fn(String, N) -> T,
    ) -> C {
        all.iter().map(|(text, number)| make(self.text(text), *number)).collect()
    }

    fn unjudged(&self, all: &BTreeMap<String, UnjudgedGroups>) -> Vec<Unjudged> {
        let unjudged = all.iter().map(|(reason, its)| Unjudged {
            reason: self.text(reason),
            groups: its.groups,
            request: self.text(&its.request),
            label: self.text(&its.label),
        });
        unjudged.collect()
    }

    /// The user's own headers, with variables in place of secrets.
    pub(crate) fn own_headers(&self) -> Vec<Header> {
        self.place.headers.iter().map(|header| self.header(header)).collect()
    }

    /// A JSON value without secrets. The texts in it stay as they are otherwise.
    pub(crate) fn value(&self, value: &Value) -> Value {
        let clean = self.text(&value.to_string());
        serde_json::from_str(&clean).unwrap_or(Value::String(clean))
    }

    fn body(&self, bytes: &[u8]) -> Body {
        let lossy = String::from_utf8_lossy(bytes);
        let text = self.text(&lossy);
        let has_secret = text != lossy;
        let is_odd = !has_secret && std::str::from_utf8(bytes).is_err();
        let base64 = is_odd.then(|| BASE64_STANDARD.encode(bytes));
        Body { text, base64, bytes: bytes.len(), has_secret }
    }

    /// The values of cookies are credentials and are replaced.
    fn header(&self, (name, value): &(String, String)) -> Header {
        let value = if name == "set-cookie" { REDACTED.to_owned() } else { self.text(value) };
        Header { name: name.clone(), value }
    }

    /// The headers of a published client as they were sent.
    fn sent_headers(&self, headers: &HeaderSet) -> Vec<Header> {
        let own = |(name, value): &(&str, &str)| Header { name: (*name).to_owned(), value: self.text(value) };
        curl::sent_headers(headers, self.place).map(own).collect()
    }

    /// A request and what came back.
    pub(crate) fn exchange(&self, exchange: &Exchange) -> Exchanged {
        let answer = match &exchange.outcome {
            Ok(response) => Ok(Response {
                status: response.status,
                headers: response.headers.iter().map(|header| self.header(header)).collect(),
                body: self.body(&response.body),
            }),
            Err(failure) => Err(self.text(&failure.to_string())),
        };
        Exchanged {
            request: self.body(&exchange.request),
            client: exchange.sent_as.as_ref().map(|client| client.name.to_owned()),
            headers: exchange.sent_as.as_ref().map(|headers| self.sent_headers(headers)),
            answer,
            took: exchange.took,
        }
    }

    fn exchanges(&self, all: &[Exchange]) -> Vec<Exchanged> {
        all.iter().map(|exchange| self.exchange(exchange)).collect()
    }

    fn request(&self, member: &Member) -> Request {
        Request {
            role: member.role.into_str().to_owned(),
            label: self.text(&member.label),
            body: self.body(&member.body),
            client: member.sent_as.as_ref().map(|client| client.name.to_owned()),
            headers: member.sent_as.as_ref().map(|headers| self.sent_headers(headers)),
        }
    }

    fn requests(&self, members: &[Member]) -> Vec<Request> {
        members.iter().map(|member| self.request(member)).collect()
    }

    fn rule(&self, outcome: &RuleOutcome) -> JudgedRule {
        let clause = outcome.rule.clause();
        JudgedRule {
            id: outcome.rule.id.to_owned(),
            clause: clause.id.to_owned(),
            section: clause.section.to_owned(),
            basis: clause.basis.into_str().to_owned(),
            text: clause.text.to_owned(),
            verdict: outcome.verdict,
            held: outcome.held,
            broken: outcome.broken,
            quota: outcome.quota,
            reason: outcome.reason.as_deref().map(|reason| self.text(reason)),
            hint: outcome.rule.hint.to_owned(),
            waits: outcome.waits_for.is_some(),
        }
    }

    /// A finding while the run goes on: without what only its end shows.
    pub(crate) fn finding(&self, finding: &EngineFinding) -> Finding {
        let EngineFinding { violation, group, .. } = finding;
        let clause = finding.rule.clause();
        let requests = self.requests(&group.members);
        let broken = group.members.get(violation.member);
        let attempts = finding.attempts.iter().map(|attempt| Attempt {
            broken: attempt.violation.is_some(),
            actual: attempt.violation.as_ref().map(|violation| self.text(&violation.actual)),
            exchanges: self.exchanges(&attempt.exchanges),
        });
        let is_whole = requests.get(violation.member).is_some_and(|request| !request.body.has_secret);
        Finding {
            rule: finding.rule.id.to_owned(),
            clause: clause.id.to_owned(),
            section: clause.section.to_owned(),
            basis: clause.basis.into_str().to_owned(),
            verdict: if finding.is_flaky() { Verdict::Flaky } else { Verdict::Failed },
            method: finding.pair.map(|pair| pair.method.to_owned()),
            mode: finding.pair.and_then(|pair| Some(pair.selector?.1.to_owned())),
            pointer: self.text(&violation.pointer),
            expected: self.text(&violation.expected),
            actual: self.text(&violation.actual),
            times: finding.times,
            share: finding.share,
            relation: group.relation.id.to_owned(),
            member: violation.member,
            requests,
            exchanges: self.exchanges(&finding.exchanges),
            reproduced: finding.reproduced(),
            attempts: attempts.collect(),
            shrink_requests: finding.shrink_requests,
            could_be_smaller: finding.could_be_smaller,
            curl: broken.filter(|_| is_whole).and_then(|member| curl::line(self.place, member)),
            replay_file: None,
            details: FindingDetails {
                is_repeated_as_new: finding.attempts.iter().any(|attempt| attempt.is_new(group)),
                call: finding.pair.map(|pair| pair.name.to_owned()),
                call_in_words: finding.pair.map(Kind::words),
                cause: finding.cause.as_ref().map(|cause| self.cause(cause, Shown::by(finding))),
                contrast: finding.contrast.as_ref().map(|contrast| Contrast {
                    member: contrast.member,
                    requests: self.requests(&contrast.group.members),
                    exchanges: self.exchanges(&contrast.exchanges),
                }),
                is_recorded: group.relation.id == RECORDED.id,
                hint: self.text(&hint(finding)),
                made_for: (group.pair.map(|pair| pair.name.to_owned()), group.round),
                ..FindingDetails::default()
            },
        }
    }

    fn finding_of(&self, finding: &EngineFinding, finished: &Finished) -> Finding {
        let Finished { summary, context, place, .. } = finished;
        let specification = context.specification();
        let mut made = self.finding(finding);
        let entry = summary.known_entry(finding);
        let known = entry.and_then(|entry| summary.known.iter().find(|known| known.entry == *entry));
        if let Some(known) = known {
            made.verdict = Verdict::KnownFailing;
            made.details.known = Some(self.known_failure(known));
        }
        made.details.place = profile_place::of_finding(finding, specification.places, place.profile.as_ref());
        let mut original = Original::of(finding, summary, specification);
        let Original { pointer, expected, actual, other_places, cause, .. } = &mut original;
        for text in
            [pointer, expected, actual].into_iter().chain(other_places).chain(cause.iter_mut().flatten())
        {
            *text = self.text(text);
        }
        made.details.original = Some(original);
        made
    }

    fn defects(&self, finished: &Finished, report: &Report) -> Vec<Defect> {
        let summary = &finished.summary;
        // Headlines cut long texts, and a cut secret is not recognized any more: secrets are replaced first.
        let mut clean = summary.findings.clone();
        for (finding, made) in clean.iter_mut().zip(&report.findings) {
            finding.violation.pointer.clone_from(&made.pointer);
            finding.violation.expected.clone_from(&made.expected);
            finding.violation.actual.clone_from(&made.actual);
        }
        let fails = |defect: &EngineDefect| defect.fails_the_run(&summary.findings, report.strict);
        let (failing, warnings): (Vec<_>, Vec<_>) = summary.defects.iter().partition(|defect| fails(defect));
        let number_of_failing = failing.len();
        (1..)
            .zip(failing.into_iter().chain(warnings))
            .filter_map(|(number, defect)| {
                let made = report.findings.get(*defect.findings.first()?)?;
                Some(Defect {
                    headline: self.text(&defect.headline(&clean)),
                    fails: fails(defect),
                    rules: defect.rules(&summary.findings).iter().map(|rule| rule.id.to_owned()).collect(),
                    findings: defect.findings.clone(),
                    links: defect
                        .links
                        .iter()
                        .map(|link| Link { findings: link.findings, reason: link.kinship.into_str().into() })
                        .collect(),
                    cause: made
                        .details
                        .cause
                        .clone()
                        .zip(defect.explanation(&summary.findings))
                        .map(|(cause, of_all_kinds)| Cause { text: self.text(&of_all_kinds), ..cause }),
                    contrast: made.details.contrast.clone(),
                    number,
                    label: match number.checked_sub(number_of_failing) {
                        Some(own @ 1..) => format!("Warning {own}"),
                        _ => format!("Defect {number}"),
                    },
                    cause_in_words: defect.cause_in_words(&summary.findings).map(|cause| self.text(&cause)),
                })
            })
            .collect()
    }

    fn cause(&self, cause: &EngineCause, shown: Shown) -> Cause {
        let value = |value: &Option<Value>| value.as_ref().map(|value| self.value(value));
        let members = cause.members().iter().map(|member| CauseMember {
            name: self.text(&sentence::member_name(&member.pointer, &member.specification.places)),
            pointer: self.text(&member.pointer),
            respect: match member.respect {
                Respect::Value => None,
                Respect::EqualTo(_) => Some("equality".to_owned()),
                Respect::Length => Some("length".to_owned()),
                Respect::Amount => Some("amount".to_owned()),
            },
            failing: value(&member.failing),
            passing: value(&member.passing),
        });
        Cause {
            kind: cause.into_str().to_owned(),
            text: self.text(&sentence::explanation(cause, shown)),
            members: members.collect(),
            right: self.text(&sentence::passing_condition(cause)),
            compares: shown != Shown::Wrong,
            is_compared: matches!(cause, EngineCause::Members(_) | EngineCause::Recorded { .. }),
            is_writing: matches!(cause, EngineCause::Writing(_)),
        }
    }

    fn known_failure(&self, known: &EntryOutcome) -> KnownFailure {
        let entry = &known.entry;
        KnownFailure {
            list: entry.kind.into_str().to_owned(),
            rule: entry.rule.to_owned(),
            method: entry.method.map(str::to_owned),
            mode: entry.selected.map(str::to_owned),
            pointer: entry.pointer.as_deref().map(|pointer| self.text(pointer)),
            reason: self.text(&entry.reason),
            owner: self.text(&entry.owner),
            expires: entry.expires.to_string(),
            state: known.state,
            scope: self.text(&entry.scope()),
            advice: self.text(&words::known_advice(known)),
        }
    }
}

/// What to change. Of a member of a table: the value that was sent in the type that the schema accepts, where it accepts one, otherwise
/// what is expected. Of other rules: both values where both are known, and what the rule advises.
fn hint(finding: &EngineFinding) -> String {
    let violation = &finding.violation;
    let sent = sent(finding);
    let not = sent.as_ref().map_or(String::new(), |_| format!(", not {}", violation.actual));
    let advice = finding.rule.hint;
    match finding.rule.check {
        Check::Row { document, member, .. } => {
            let validator = member_validator(document, member);
            let fits = |value: &Value| validator.is_some_and(|validator| validator.is_valid(value));
            let written = sent.as_ref().and_then(|value| otherwise_written(value).filter(fits));
            format!("send {}{not}", written.map_or_else(|| violation.expected.clone(), |value| shown(&value)))
        }
        _ if sent.is_some() && serde_json::from_str::<Value>(&violation.expected).is_ok() => {
            let more = if advice.is_empty() { String::new() } else { format!(": {advice}") };
            format!("send {}{not}{more}", violation.expected)
        }
        _ => advice.to_owned(),
    }
}

/// The value at which the rule is broken; none where there is none, or where the whole answer is wrong.
fn sent(finding: &EngineFinding) -> Option<Value> {
    let violation = &finding.violation;
    let response = finding.exchanges.get(violation.member)?.outcome.as_ref().ok()?;
    let answer: Value = serde_json::from_slice(&response.body).ok()?;
    answer.pointer(&violation.pointer).filter(|_| !violation.pointer.is_empty()).cloned()
}

/// A text as the number that it writes, a number as text.
fn otherwise_written(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => serde_json::from_str::<Number>(text).ok().map(Value::Number),
        Value::Number(number) => Some(Value::String(number.to_string())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use paymaster_engine::{
        diagnosis::cause::WrongAnswers,
        verdict::summary::{Contradiction, Recorded, Refusal, Summary},
    };
    use paymaster_schemas::kinds;
    use paymaster_settings::{Paint, output::document::terminal::Lines};
    use serde_json::json;

    use super::*;
    use crate::{
        events::{Event, SentExchange},
        report::{
            comparison::{
                compare::{self, SideNames},
                matrix::{self, Column},
            },
            document,
            formats::{FORMATS, Render},
            replay_file::ReplayFile,
            sample,
        },
    };

    const CANARY: &str = "s3cr3t-key";

    /// A run that has a secret in every text that comes from the target, the profile or the command line.
    fn leaking() -> sample::Sample {
        let mut sample = sample::contradicted();
        let secret = |text: &mut String| *text = format!("a {CANARY}");
        let known = sample::known().finished.summary.known;
        let Summary { findings, rules, observations, .. } = &mut sample.summary;
        for finding in findings {
            let violation = &mut finding.violation;
            for text in [&mut violation.pointer, &mut violation.expected, &mut violation.actual] {
                secret(text);
            }
            if let Some(EngineCause::Members(members)) = &mut finding.cause {
                let other = members[0].clone();
                members.push(other);
                for member in members {
                    member.pointer = format!("/params/0/{CANARY}");
                    member.failing = Some(json!({ CANARY: [CANARY] }));
                    member.passing = Some(CANARY.into());
                }
            }
            let contrast = finding.contrast.iter_mut();
            let groups = contrast.map(|contrast| (&mut contrast.group, &mut contrast.exchanges));
            for (group, exchanges) in groups.chain([(&mut finding.group, &mut finding.exchanges)]) {
                for member in &mut group.members {
                    secret(&mut member.label);
                    member.body = json!({ CANARY: CANARY }).to_string().into();
                }
                leak(exchanges);
            }
            for attempt in &mut finding.attempts {
                leak(&mut attempt.exchanges);
                attempt.violation = Some(finding.violation.clone());
            }
        }
        for rule in rules {
            rule.reason = Some(CANARY.to_owned());
        }
        for values in observations.values_mut() {
            *values = [(CANARY.to_owned(), 1)].into();
        }
        let summary = &mut sample.summary;
        summary.cut_short = Some(CANARY.to_owned());
        let unjudged = UnjudgedGroups { groups: 1, request: CANARY.to_owned(), label: CANARY.to_owned() };
        summary.unjudged = [(CANARY.to_owned(), unjudged)].into();
        summary.dialect.insert("jsonrpc-version".to_owned(), CANARY.into());
        summary.recorded = Some(Recorded { exchanges: 1, skipped: [(CANARY.to_owned(), 1)].into() });
        summary.contradictions.push(Contradiction { line: CANARY.to_owned(), times: 1 });
        summary.refusal =
            Some(Refusal { pairs: vec![kinds::QUOTE_ERC20], message: CANARY.to_owned(), times: 1, of: 1 });
        summary.known = known;
        for known in &mut summary.known {
            known.entry.pointer = Some(format!("/{CANARY}"));
            secret(&mut known.entry.reason);
            secret(&mut known.entry.owner);
        }
        sample.place.connection_warnings.push(CANARY.to_owned());
        sample.place.headers.push(("x-own".to_owned(), CANARY.to_owned()));
        sample
    }

    fn leak(exchanges: &mut [Exchange]) {
        for (number, exchange) in exchanges.iter_mut().enumerate() {
            exchange.request = format!("\u{1}{CANARY}").into();
            exchange.outcome = if number == 0 {
                Err(paymaster_exchange::Failure::Broken(CANARY.to_owned()))
            } else {
                let mut body = json!({ CANARY: CANARY }).to_string().into_bytes();
                body.extend(b"\xFF");
                let header = |name: &str| (name.to_owned(), CANARY.to_owned());
                Ok(paymaster_exchange::Response {
                    status: 200,
                    headers: vec![header("x"), header("set-cookie"), header("content-type")],
                    body: body.into(),
                })
            };
        }
    }

    #[test]
    fn no_member_of_the_model_and_no_format_has_a_secret() {
        let mut sample = leaking();
        // The cURL line has the user's own headers as they are given to a shell: variables stand there in place of secrets.
        sample.place.headers.pop();
        let report = sample.report();
        let model = format!("{report:?}");
        assert!(!model.contains(CANARY), "{model}");
        let json = serde_json::to_value(&report).unwrap();
        for pointer in "/warnings/0 /warnings/1 /cut_short /recorded/skipped/0/reason /unjudged/0/reason \
            /unjudged/0/request /unjudged/0/label /rules/0/reason /findings/0/pointer /findings/0/expected \
            /findings/0/actual /findings/0/requests/0/label /findings/0/requests/0/body \
            /findings/0/answers/0/failure /findings/0/answers/1/body /findings/0/attempts/0/actual \
            /findings/0/attempts/0/answers/1/body /defects/0/headline /defects/0/cause/text \
            /defects/0/cause/members/0/pointer /defects/0/cause/members/0/failing \
            /defects/0/cause/members/0/passing /defects/0/contrast/requests/0/label \
            /defects/0/contrast/requests/0/body /defects/0/contrast/answers/1/body \
            /known_failures/0/pointer /known_failures/0/reason /known_failures/0/owner \
            /dialect/jsonrpc-version /observations/behaviour.error-status"
            .split(' ')
        {
            let value = json.pointer(pointer).map(Value::to_string).unwrap_or_default();
            assert!(value.contains(REDACTED), "the secret does not reach {pointer}: {value}");
        }
        assert!(report.findings.iter().all(|finding| finding.curl.is_none()), "a line that would send `***`");
        let mut texts = vec![document::terminal(
            &report,
            document::Extent { verbose: true, ..Default::default() },
            Paint::default(),
            paymaster_settings::output::document::terminal::WIDTH,
        )];
        texts.extend(FORMATS.iter().map(|format| sample.rendered(format)));
        texts.extend((0..report.findings.len()).map(|number| {
            let replay = ReplayFile::of(number, &report).unwrap();
            assert!(replay.group(&[]).is_err(), "a request without its secret is not sent again");
            serde_json::to_string(&replay).unwrap()
        }));
        let names = SideNames { before: "a.json".to_owned(), after: "b.json".to_owned(), targets: false };
        let other = sample::violations().report();
        let comparison = compare::compare(&other, &report);
        let comparison = compare::document(&comparison, &names);
        texts.push(Lines::default().document(&comparison));
        texts.push(matrix::page(&[Column { name: "a".to_owned(), run: report }]));
        for text in texts {
            assert!(!text.contains(CANARY), "{text}");
        }
    }

    #[test]
    fn the_cause_of_a_defect_names_every_kind_of_call_for_which_it_was_found() {
        let mut sample = sample::violations();
        let Summary { findings, defects, .. } = &mut sample.summary;
        findings.truncate(1);
        findings.push(findings[0].clone());
        for (finding, pair) in findings.iter_mut().zip([kinds::QUOTE_ERC20, kinds::SPONSOR_ERC20]) {
            finding.pair = Some(pair);
            finding.cause = Some(EngineCause::Every { pair: Some(pair), answers: WrongAnswers::All });
        }
        *defects = vec![EngineDefect { findings: vec![0, 1], links: Vec::new() }];
        let defect = serde_json::to_value(&sample.report().defects[0]).unwrap();
        assert_eq!(defect["cause"]["text"], "every answer of requests in mode ERC20 that the rule judges");
    }

    #[test]
    fn the_extent_of_a_defect_tells_rules_that_fail_from_those_that_warn() {
        let report = sample::violations().report();
        let extent = |rules: &[&str]| {
            let rules = rules.iter().map(|rule| (*rule).to_owned()).collect();
            report.extent(&Defect { rules, ..report.defects[0].clone() })
        };
        let (fails, warns) = ("quote-result.feeQuotes", "interoperability.mode-member");
        assert_eq!(extent(&[fails]), "breaks 1 rule");
        assert_eq!(extent(&[fails, warns]), "breaks 1 rule, and 1 that only warns");
        assert_eq!(extent(&[warns, warns]), "breaks 2 rules that only warn");
    }

    #[test]
    fn no_log_has_a_secret() {
        let sample = leaking();
        let finished = sample.finished();
        let sent = SentExchange {
            relation: "twice",
            group: 0,
            member: 1,
            role: "again",
            label: CANARY.to_owned(),
            exchange: finished.summary.findings[0].exchanges[1].clone(),
            ended: SystemTime::UNIX_EPOCH,
        };
        for format in FORMATS {
            let Render::Log(open) = format.render else { continue };
            let (mut log, mut bytes) = (open(), Vec::new());
            for event in [
                Event::Started { target: CANARY, specification: "s", seed: 1 },
                Event::Planned {
                    dialect: &finished.summary.dialect,
                    at_most: 1,
                    limits: paymaster_engine::spending::SpendingLimits::default(),
                },
                Event::Waiting { pause: Duration::ZERO, reason: CANARY },
                Event::Overloaded { jobs: 1, sign: CANARY },
                Event::Exchanged(&sent),
                Event::Found(&finished.summary.findings[0]),
            ] {
                log.event(&event, finished.maker(), &mut bytes).unwrap();
            }
            log.end(&sample.report(), &mut bytes).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert!(!text.contains(CANARY), "{}: {text}", format.name);
        }
    }
}

#[cfg(test)]
mod tests_1 {
    use super::*;
    use crate::report::sample;
    use paymaster_engine::rules::Violation;
    use paymaster_fee_quote::SPECIFICATION;
    use serde_json::json;

    #[test]
    fn a_hint_names_the_value_to_send() {
        let finding = |rule: &str, pointer: &str, expected: &str, answer: Value| {
            let actual = answer.pointer(pointer).map_or_else(String::new, shown);
            let mut finding = sample::violations().summary.findings.remove(0);
            finding.rule = SPECIFICATION.find_rule(rule).unwrap();
            finding.violation =
                Violation { member: 1, pointer: pointer.to_owned(), expected: expected.to_owned(), actual };
            let response = finding.exchanges[1].outcome.as_mut().unwrap();
            response.body = answer.to_string().into();
            hint(&finding)
        };
        let decimal =
            |answer| finding("fee-quote.decimal", "/result/feeQuotes/0/decimal", "an integer", answer);
        let quote = |quote: Value| json!({"result": {"feeQuotes": [quote]}});
        assert_eq!(decimal(quote(json!({"decimal": "6"}))), "send 6, not \"6\"");
        assert_eq!(decimal(quote(json!({"decimal": "six"}))), "send an integer, not \"six\"");
        assert_eq!(decimal(quote(json!({}))), "send an integer");
        let gas = finding(
            "sponsored-result.preVerificationGas",
            "/result/g",
            "a string",
            json!({"result": {"g": 50000}}),
        );
        assert_eq!(gas, "send \"50000\", not 50000");
        let id = finding("answer.id", "/id", "7", json!({"id": "7"}));
        assert!(id.starts_with("send 7, not \"7\": "), "{id}");
    }
}
