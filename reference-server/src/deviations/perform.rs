//! The path of a message with deviations on it.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::act::{Act, Damage, Deed, Part, Which};
use super::asked::Asked;
use super::change::{quotes, result};
use super::memory::Memory;
use super::sent::{Framing, Sent};
use crate::chain::World;
use crate::service::Service;

/// The deviations that a service was given, each with its memory.
pub(crate) struct Deviations {
    active: Vec<Active>,
    tokens: Vec<String>,
    resets: bool,
}

/// A deed and what it needs.
struct Active {
    deed: &'static Deed,
    kind: Kind,
    memory: Memory,
}

/// Why a deed is done, and so how far it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// To break a clause, and no other: it spares the elements of batches, and the text and the HTTP message of what is no
    /// call of the two methods, since other clauses are about these.
    Fault,
    /// To be different everywhere.
    Variant,
}

const JSON: &str = "application/json";

impl Deviations {
    pub(crate) const fn new(tokens: Vec<String>) -> Self {
        Self {
            active: Vec::new(),
            tokens,
            resets: false,
        }
    }

    /// Does that deed too from now on. Deeds of a stage are done in the order in which they were added.
    pub(crate) fn add(&mut self, deed: &'static Deed, kind: Kind) {
        self.resets |= matches!(deed.act, Act::Reset);
        self.active.push(Active {
            deed,
            kind,
            memory: Memory::default(),
        });
    }

    /// Whether connections may have to be reset, which must be known before the first one is used.
    pub(crate) const fn reset(&self) -> bool {
        self.resets
    }

    /// The response to a body.
    pub(crate) async fn respond(&self, service: &Service, body: &[u8], world: World<'_>) -> Sent {
        let request = serde_json::from_slice(body).unwrap_or(Value::Null);
        let (status, mut answer) = self.answer_body(service, body, &request, world);
        for (deed, asked) in self.deeds(body, &request, |_| false) {
            match deed.act {
                Act::Whole(change) if (deed.when)(&asked) => change(&asked, &mut answer),
                Act::Cross(part) => cross(&asked, deed, part, &mut answer).await,
                _ => {}
            }
        }
        let has_result = match &answer {
            Some(Value::Array(answers)) => answers.iter().any(|answer| answer.get("result").is_some()),
            Some(answer) => answer.get("result").is_some() && answer.get("error").is_none(),
            None => false,
        };
        let mut text = answer.map(|answer| answer.to_string().into_bytes());
        if let Some(text) = &mut text {
            for (deed, asked) in self.deeds(body, &request, |asked| !asked.is_call()) {
                if let Act::Text(change) = deed.act
                    && (deed.when)(&asked)
                {
                    change(&asked, text);
                }
            }
        }
        let mut sent = Sent {
            // Something is said where nothing was to be, or the other way round.
            status: match (&text, status) {
                (Some(_), 204) => 200,
                (None, _) => 204,
                (Some(_), status) => status,
            },
            headers: Vec::new(),
            content_type: text.is_some().then_some(JSON),
            body: text,
            framing: Framing::Length,
            delay: Duration::ZERO,
            has_result,
        };
        for (deed, asked) in self.deeds(body, &request, |asked| !asked.is_call()) {
            match deed.act {
                Act::Http(change) if (deed.when)(&asked) => change(&asked, &mut sent),
                Act::Reset if (deed.when)(&asked) => sent.framing = Framing::Reset,
                _ => {}
            }
        }
        sent
    }

    /// The deeds that may be done where `spared` does not say that a fault is to leave something alone.
    fn deeds<'a>(
        &'a self,
        raw: &'a [u8],
        request: &'a Value,
        spared: fn(&Asked<'_>) -> bool,
    ) -> impl Iterator<Item = (&'static Deed, Asked<'a>)> {
        self.active.iter().filter_map(move |active| {
            let asked = Asked {
                raw,
                request,
                memory: &active.memory,
                tokens: &self.tokens,
            };
            (active.kind == Kind::Variant || !spared(&asked)).then_some((active.deed, asked))
        })
    }

    /// The HTTP status and the answer to a request, or the answers to a batch.
    fn answer_body(
        &self,
        service: &Service,
        body: &[u8],
        request: &Value,
        world: World<'_>,
    ) -> (u16, Option<Value>) {
        let elements = match request {
            Value::Array(batch) if (1..=service.bounds().max_batch_length).contains(&batch.len()) => batch,
            // An empty batch and one that is too long are refused as a whole.
            _ => return self.answer(service, body, request, world, |_| false),
        };
        let texts: Vec<&RawValue> = serde_json::from_slice(body).unwrap_or_default();
        let answers: Vec<Value> = elements
            .iter()
            .zip(texts)
            .filter_map(|(element, text)| {
                self.answer(service, text.get().as_bytes(), element, world, |_| true)
                    .1
            })
            .collect();
        if answers.is_empty() {
            (204, None)
        } else {
            (200, Some(Value::Array(answers)))
        }
    }

    fn answer(
        &self,
        service: &Service,
        raw: &[u8],
        request: &Value,
        world: World<'_>,
        spared: fn(&Asked<'_>) -> bool,
    ) -> (u16, Option<Value>) {
        let mut changed = Cow::Borrowed(request);
        for (deed, asked) in self.deeds(raw, request, spared) {
            if let Act::Request(change) = deed.act
                && (deed.when)(&asked)
            {
                change(&asked, changed.to_mut());
            }
        }
        let reply = if *changed == *request {
            service.handle(raw, world)
        } else {
            service.handle(changed.to_string().as_bytes(), world)
        };
        let mut answer = reply.body.and_then(|body| serde_json::from_slice(&body).ok());
        if let Some(Value::Object(answer)) = &mut answer {
            for (deed, asked) in self.deeds(raw, request, spared) {
                change_answer(deed, &asked, answer);
            }
        }
        (reply.status, answer)
    }
}

/// Does a deed that is on the answer to one request.
fn change_answer(deed: &Deed, asked: &Asked<'_>, answer: &mut Map<String, Value>) {
    match deed.act {
        Act::Refuse => {
            // What is not sponsored stays so: other clauses are about refusals.
            let is_served = result(answer)
                .is_some_and(|result| result.get("paymasterAndData").is_none_or(|data| data != "0x"));
            if is_served && (deed.when)(asked) {
                answer.shift_remove("result");
                let error = json!({ "code": -32602, "message": "invalid params: not accepted" });
                answer.insert("error".to_owned(), error);
            }
        }
        Act::Row { row, which, damage } => {
            let Some((document, member)) = row.split_once('.') else {
                return;
            };
            let Some(Value::Object(result)) = answer.get_mut("result") else {
                return;
            };
            let pair = asked.pair();
            if document == "fee-quote" {
                let wanted =
                    |index: usize, quote: &Map<String, Value>| match which {
                        Which::All => true,
                        Which::Nth(nth) => nth == index,
                        Which::Token(number) => quote
                            .get("tokenAddress")
                            .and_then(Value::as_str)
                            .is_some_and(|address| {
                                let token = asked.tokens.get(number);
                                token.is_some_and(|token| token.eq_ignore_ascii_case(address))
                            }),
                    };
                let mut concerned: Vec<_> = quotes(result)
                    .enumerate()
                    .filter(|(index, quote)| wanted(*index, quote))
                    .collect();
                if !concerned.is_empty() && (deed.when)(asked) {
                    for (_, quote) in &mut concerned {
                        apply(damage, quote, member);
                    }
                }
            } else if pair.is_some_and(|pair| pair.result_document() == document) && (deed.when)(asked) {
                apply(damage, result, member);
            }
        }
        Act::Result(change) => {
            if let Some(Value::Object(result)) = answer.get_mut("result")
                && (deed.when)(asked)
            {
                change(asked, result);
            }
        }
        Act::Error(change) => {
            if let Some(Value::Object(error)) = answer.get_mut("error")
                && (deed.when)(asked)
            {
                change(asked, error);
            }
        }
        Act::Answer(change) => {
            if (deed.when)(asked) {
                change(asked, answer);
            }
        }
        Act::Request(_) | Act::Whole(_) | Act::Cross(_) | Act::Text(_) | Act::Http(_) | Act::Reset => {}
    }
}

fn apply(damage: Damage, object: &mut Map<String, Value>, member: &str) {
    match damage {
        Damage::Missing => {
            object.shift_remove(member);
        }
        Damage::To(text) => {
            if let Some(value) = object.get_mut(member) {
                *value = super::change::json(text);
            }
        }
        Damage::By(change) => {
            if let Some(value) = object.get_mut(member) {
                *value = change(value);
            }
        }
    }
}

/// Exchanges the answer to a single request, or its result.
async fn cross(asked: &Asked<'_>, deed: &Deed, part: Part, answer: &mut Option<Value>) {
    let mine = match (part, answer.as_mut()) {
        (Part::Answer, Some(answer)) if answer.get("result").is_some() => answer,
        (Part::Result, Some(answer)) => match answer.get_mut("result") {
            Some(result) => result,
            None => return,
        },
        _ => return,
    };
    if (deed.when)(asked) {
        *mine = asked.memory.crossing.exchange(mine.take()).await;
    }
}
