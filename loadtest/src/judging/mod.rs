//! Judges answers by the rules of a conformance run, fast enough to judge every answer under load.

pub(crate) mod skeleton;

use paymaster_client::lean::{PlainReply, Reply};
use paymaster_client::throttling::is_throttled;
use paymaster_engine::cases::Role;
use paymaster_engine::diagnosis::Key;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Answer;
use paymaster_engine::rules::{Check, Rule, View, Violation};
use paymaster_engine::session::Judge;
use paymaster_exchange::{Exchange, Failure};
use paymaster_schemas::Basis;
use std::sync::Arc;

use crate::figures::Outcome;
use crate::number::float;
use crate::run::JudgingOptions;
use crate::scenarios::{AnswerContent, RequestTemplate, id_of};
use skeleton::ReadAnswer;

/// The share of answers that is judged, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedShare(pub f64);

impl JudgedShare {
    /// Reads a share: `10%`, `all` or `none`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let percent = match text.trim() {
            "all" => 100.0,
            "none" => 0.0,
            text => text
                .strip_suffix('%')
                .and_then(|number| number.trim().parse::<f64>().ok())
                .filter(|percent| (0.0..=100.0).contains(percent))
                .ok_or_else(|| format!("`{text}` is not a share: write 10%, all or none"))?,
        };
        Ok(Self(percent / 100.0))
    }

    /// Whether the answer to request `number` (from 0) is judged. The judged answers are spread evenly.
    pub fn includes(self, number: u64) -> bool {
        let number = float(number);
        self.0 >= 1.0 || ((number + 1.0) * self.0).floor() > (number * self.0).floor()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct SentRequest<'a> {
    /// The template that it was made from.
    pub template: &'a RequestTemplate,
    /// Its number (from 0), from which its id was made.
    pub number: u64,
    /// The value of the answer before that was written into it.
    pub token: Option<&'a str>,
}

impl<'a> SentRequest<'a> {
    /// The answer to it that these parts are.
    fn answer(&self, id: &'a [u8], status: u16, content_type: &'a str, body: &'a [u8]) -> ReadAnswer<'a> {
        ReadAnswer { status, content_type, body, id, token: self.token.unwrap_or_default() }
    }
}

/// What an exchange counts as.
#[derive(Debug)]
pub struct Assessment {
    /// How the exchange ended.
    pub outcome: Outcome,
    /// Whether the answer was judged.
    pub judged: bool,
    /// The rules that the answer breaks, each with the first place.
    pub violations: Vec<(&'static Rule, Violation)>,
    /// The JSON-RPC error code of the answer; `none` for an error without an integer code.
    pub error_code: Option<String>,
    /// Why there is no JSON-RPC answer.
    pub failure: Option<String>,
}

impl Assessment {
    fn new(outcome: Outcome, judged: bool) -> Self {
        Self { outcome, judged, violations: Vec::new(), error_code: None, failure: None }
    }

    /// An exchange without a JSON-RPC answer.
    fn unanswered(outcome: Outcome, failure: String) -> Self {
        Self { failure: Some(failure), ..Self::new(outcome, false) }
    }

    /// An answer that HTTP alone refused.
    fn refused(status: u16) -> Self {
        Self::unanswered(Outcome::Refused, format!("HTTP {status}"))
    }

    /// An answer with this content that breaks no rule.
    fn accepted(template: &RequestTemplate, content: AnswerContent, judged: bool) -> Self {
        let AnswerContent::Error(code) = content else { return Self::new(Outcome::Good, judged) };
        let outcome = if template.expects_error { Outcome::Good } else { Outcome::RpcError };
        Self {
            error_code: Some(code.map_or_else(|| "none".to_owned(), |code| code.to_string())),
            ..Self::new(outcome, judged)
        }
    }
}

/// Judges the answers of a run.
#[derive(Debug)]
pub struct AnswerJudge {
    judge: Judge,
    known: Arc<dyn Knowledge>,
    share: JudgedShare,
}

impl AnswerJudge {
    /// Judges the answers of the target of which this is known by the rules of stated clauses. With `strict`, rules that only
    /// warn in a conformance run count too.
    pub fn new(known: &Arc<dyn Knowledge>, JudgingOptions { judge, strict }: JudgingOptions) -> Self {
        let specification = known.specification();
        let counts = |rule: &&'static Rule| match rule.basis() {
            Basis::Stated => true,
            // Answers that differ in numbers alone are judged once, so that the plain sense of numbers is left to conformance runs.
            Basis::Plausibility => false,
            basis => strict && !basis.is_observed(),
        };
        // Group rules need related exchanges, which a load test does not send.
        let single = |rule: &&'static Rule| {
            !matches!(rule.check, Check::Group(..)) && !specification.load.rules_of_times.contains(&rule.id)
        };
        Self {
            judge: Judge::new(specification.rules().filter(counts).filter(single).collect()),
            known: Arc::clone(known),
            share: judge,
        }
    }

    /// What a reply counts as. A plain one stays in the buffer of its connection if an equal answer is known; every other reply becomes
    /// an exchange.
    pub fn assess_reply<'a>(&self, reply: Reply<'a>, sent: SentRequest<'_>) -> (Reply<'a>, Assessment) {
        let exchange = match reply {
            Reply::Plain(plain) => {
                let PlainReply { status, content_type, body, .. } = plain;
                if let Some(known) =
                    self.recall(&sent.answer(&id_of(sent.number), status, content_type, body), sent)
                {
                    return (reply, known);
                }
                plain.to_exchange()
            }
            Reply::Other(exchange) => exchange,
        };
        let assessment = self.assess(&exchange, sent);
        (Reply::Other(exchange), assessment)
    }

    fn recall(&self, answer: &ReadAnswer<'_>, sent: SentRequest<'_>) -> Option<Assessment> {
        let judged = self.share.includes(sent.number);
        let content = sent.template.answers(judged).find(answer)?;
        Some(Assessment::accepted(sent.template, content, judged))
    }

    /// Judges an exchange, or reuses what is known of an equal answer.
    pub fn assess(&self, exchange: &Exchange, sent: SentRequest<'_>) -> Assessment {
        let response = match &exchange.outcome {
            Ok(response) => response,
            Err(failure) => {
                let is_timeout = matches!(failure, Failure::Timeout { .. });
                let outcome = if is_timeout { Outcome::Timeout } else { Outcome::Transport };
                return Assessment::unanswered(outcome, failure.to_string());
            }
        };
        if is_throttled(response) {
            return Assessment::new(Outcome::RateLimited, false);
        }
        let id = id_of(sent.number);
        let content_type = response.header("content-type").unwrap_or_default();
        let read = sent.answer(&id, response.status, content_type, &response.body);
        if let Some(assessment) = self.recall(&read, sent) {
            return assessment;
        }
        if self.share.includes(sent.number) {
            return self.judge(exchange, sent.template, &read);
        }
        // An answer that is not judged is parsed, to distinguish results from errors. Its skeleton is kept, so that it costs no more
        // than one that is judged.
        let answer = Answer::of(exchange);
        if answer.object().is_none() && response.status != 200 {
            return Assessment::refused(response.status);
        }
        self.accept(&answer, sent.template, &read, false)
    }

    /// Judges an answer by every rule. Without a violation, its skeleton is kept.
    fn judge(&self, exchange: &Exchange, template: &RequestTemplate, read: &ReadAnswer<'_>) -> Assessment {
        let view = View::new(Role::Call, "", exchange, &*self.known);
        if let Some(what) = view.answer.exceeded_limit() {
            return Assessment::unanswered(Outcome::Transport, format!("{what}: more than we read"));
        }
        if view.rejected_before_service() {
            return Assessment::refused(read.status);
        }
        let views = [view];
        let judged = self.judge.views(&views, None, &*self.known).into_iter();
        let broken = judged.filter_map(|of| Some((of.rule, of.report.violations.into_iter().next()?)));
        let violations: Vec<_> = broken.collect();
        if !violations.is_empty() {
            return Assessment { violations, ..Assessment::new(Outcome::Wrong, true) };
        }
        let [view] = &views;
        if view.answer.object().is_none() {
            // HTTP alone refused the request. For a malformed call, no rule requires more.
            return if template.expects_error {
                Assessment::new(Outcome::Good, true)
            } else {
                Assessment::refused(read.status)
            };
        }
        self.accept(&view.answer, template, read, true)
    }

    /// Keeps the skeleton of an answer that breaks no rule.
    fn accept(
        &self,
        answer: &Answer<'_>,
        template: &RequestTemplate,
        read: &ReadAnswer<'_>,
        judged: bool,
    ) -> Assessment {
        let code = answer.error().map(|error| error["code"].as_i64());
        let content = code.map_or(AnswerContent::Result, AnswerContent::Error);
        template.answers(judged).keep(read, content, self.known.specification().load.varying);
        Assessment::accepted(template, content, judged)
    }
}

/// The JSON pointer of a violation with `*` for array indices, so that equal violations are counted together.
pub fn pointer(rule: &Rule, violation: &Violation) -> String {
    Key::of(rule, None, violation).pointer
}

/// The longest text that a request takes from an answer, in bytes.
const MOST_TAKEN: usize = 16_384;

/// What the next request of a sequence takes from the body of an answer, as JSON; `None` if it takes nothing, or the answer has none.
/// `step` is the index of the answered request, `number` the number of the iteration.
pub fn value_for_next(body: &[u8], sequence: &[RequestTemplate], step: usize, number: u64) -> Option<String> {
    let taken = sequence.get(step + 1)?.taken?;
    let taken = taken(&serde_json::from_slice(body).ok()?, number)?.to_string();
    let members = taken.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    Some(members.map_or_else(|| taken.clone(), str::to_owned)).filter(|text| text.len() <= MOST_TAKEN)
}

#[cfg(test)]
mod tests;
