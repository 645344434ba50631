//! The service with injections around it.

use std::borrow::Cow;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::Response;
use hyper::http::request::Parts;
use paymaster_service::{Bounds, Cors, IdleBefore, Respond, ResponseCopy, SenderNonces, Service, unix_now};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::behaviour::{Behaviour, Injection, MemberChange, SwappedPart};
use super::body::PieceBody;
use super::change::{change, has_quotes, json, quotes, refuse, remove, replace, result};
use super::memory::Memory;
use super::request_view::{Arrival, RequestView};
use super::response::{Framing, WireResponse};
use crate::faults::Fault;
use crate::variants::Variant;

/// A [`Service`] with faults and variants injected around it. Without any, it responds exactly as the service does.
pub struct InjectedService {
    service: Service,
    active: Vec<ActiveInjection>,
    /// The addresses of the supported tokens, in the order of the configuration.
    tokens: Vec<String>,
    in_flight: AtomicUsize,
}

struct ActiveInjection {
    injection: &'static Injection,
    /// A fault breaks its own clause only. It leaves alone the elements of batches, and the text and the HTTP message of
    /// the response to anything but a call of the two methods, because other clauses are about these. A variant applies
    /// everywhere.
    is_fault: bool,
    memory: Memory,
}

/// A body, or an element of a batch, with what its answer depends on.
#[derive(Clone, Copy)]
struct Message<'a> {
    arrival: Arrival<'a>,
    raw: &'a [u8],
    request: &'a Value,
    now: u64,
    nonces: &'a SenderNonces,
    is_spared_by_faults: fn(&RequestView<'_>) -> bool,
}

type HttpChange = fn(&RequestView<'_>, &mut WireResponse);

const JSON: &str = "application/json";

impl From<Service> for InjectedService {
    /// The service with nothing injected.
    fn from(service: Service) -> Self {
        let tokens = service.tokens().map(|token| token.to_string()).collect();
        Self { service, active: Vec::new(), tokens, in_flight: AtomicUsize::new(0) }
    }
}

impl Respond for InjectedService {
    type Body = Either<Full<Bytes>, PieceBody>;

    fn bounds(&self) -> &Bounds {
        self.service.bounds()
    }

    fn cors(&self) -> &Cors {
        self.service.cors()
    }

    async fn respond(
        &self,
        head: &Parts,
        body: &[u8],
        copy: &mut ResponseCopy,
    ) -> io::Result<Response<Self::Body>> {
        if self.active.is_empty() {
            return Ok(self.service.respond(head, body, copy).await?.map(Either::Left));
        }
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        scopeguard::defer! { self.in_flight.fetch_sub(1, Ordering::Relaxed); }
        let idle = head.extensions.get().map_or(Duration::ZERO, |IdleBefore(idle)| *idle);
        let arrival = Arrival { headers: &head.headers, in_flight, idle };
        let nonces = self.service.look_up(body).await;
        let response = self.response(arrival, body, unix_now(), &nonces).await;
        copy.keep(response.body.as_deref());
        response.into_http().await
    }

    fn resets_connections(&self) -> bool {
        self.active.iter().any(|active| matches!(active.injection.behaviour, Behaviour::Reset))
    }
}

impl InjectedService {
    /// Adds these faults. Behaviours of the same kind are applied in the order in which they were added.
    #[must_use]
    pub fn with_faults(self, faults: impl IntoIterator<Item = &'static Fault>) -> Self {
        self.injected(faults.into_iter().map(|fault| &fault.injection), true)
    }

    /// Adds these variants. Behaviours of the same kind are applied in the order in which they were added.
    #[must_use]
    pub fn with_variants(self, variants: impl IntoIterator<Item = &'static Variant>) -> Self {
        self.injected(variants.into_iter().map(|variant| &variant.injection), false)
    }

    fn injected(mut self, injections: impl Iterator<Item = &'static Injection>, is_fault: bool) -> Self {
        let active = |injection| ActiveInjection { injection, is_fault, memory: Memory::default() };
        self.active.extend(injections.map(active));
        self
    }

    /// The response to a body, whatever is injected. `now` is Unix time, in seconds.
    pub(crate) async fn response(
        &self,
        arrival: Arrival<'_>,
        body: &[u8],
        now: u64,
        nonces: &SenderNonces,
    ) -> WireResponse {
        let request = &serde_json::from_slice(body).unwrap_or(Value::Null);
        let message = Message { arrival, raw: body, request, now, nonces, is_spared_by_faults: |_| false };
        let (status, mut reply) = self.reply(message);
        let of_reply = |behaviour| {
            matches!(behaviour, Behaviour::Reply(_) | Behaviour::Batch(_) | Behaviour::Swap(_))
                .then_some(behaviour)
        };
        for (behaviour, view) in self.applied(message, of_reply) {
            match (behaviour, &mut reply) {
                (Behaviour::Reply(change), reply) => change(&view, reply),
                (Behaviour::Batch(change), Some(Value::Array(answers))) => change(&view, answers),
                (Behaviour::Swap(part), reply) => swap(&view, part, reply).await,
                _ => {}
            }
        }
        let has_result = match &reply {
            Some(Value::Array(answers)) => answers.iter().any(|answer| answer.get("result").is_some()),
            Some(answer) => answer.get("result").is_some() && answer.get("error").is_none(),
            None => false,
        };
        let message = Message { is_spared_by_faults: |view| !view.is_call(), ..message };
        let mut text = reply.map(|reply| reply.to_string().into_bytes());
        if let Some(text) = &mut text {
            let of_text = |behaviour| match behaviour {
                Behaviour::Text(change) => Some(change),
                _ => None,
            };
            self.applied(message, of_text).for_each(|(change, view)| change(&view, text));
        }
        let mut response = WireResponse {
            // A behaviour may have added or removed the body.
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
        let of_http = |behaviour| match behaviour {
            Behaviour::Http(change) => Some(change),
            Behaviour::Reset => Some((|_, response| response.framing = Framing::Reset) as HttpChange),
            _ => None,
        };
        self.applied(message, of_http).for_each(|(change, view)| change(&view, &mut response));
        response
    }

    /// The active injections, without the faults that must leave this request alone.
    fn injections<'a>(
        &'a self,
        message: Message<'a>,
    ) -> impl Iterator<Item = (&'static Injection, RequestView<'a>)> {
        let Message { arrival, raw, request, is_spared_by_faults, .. } = message;
        self.active.iter().filter_map(move |active| {
            let view = RequestView { raw, request, arrival, memory: &active.memory, tokens: &self.tokens };
            let applies = !active.is_fault || !is_spared_by_faults(&view);
            applies.then_some((active.injection, view))
        })
    }

    /// What `select` takes of the active injections whose condition holds.
    fn applied<'a, T>(
        &'a self,
        message: Message<'a>,
        select: impl Fn(Behaviour) -> Option<T>,
    ) -> impl Iterator<Item = (T, RequestView<'a>)> {
        self.injections(message).filter_map(move |(injection, view)| {
            let selected = select(injection.behaviour)?;
            (injection.condition)(&view).then_some((selected, view))
        })
    }

    /// The HTTP status, and the response to a request or the responses to a batch.
    fn reply(&self, message: Message<'_>) -> (u16, Option<Value>) {
        let most = self.service.bounds().max_batch_length;
        let elements = match message.request {
            Value::Array(batch) if (1..=most).contains(&batch.len()) => batch,
            // An empty batch and one that is too long are refused as a whole.
            _ => return self.answer(message),
        };
        let texts: Vec<&RawValue> = serde_json::from_slice(message.raw).unwrap_or_default();
        let answers: Vec<Value> = elements
            .iter()
            .zip(texts)
            .filter_map(|(request, text)| {
                let raw = text.get().as_bytes();
                self.answer(Message { raw, request, is_spared_by_faults: |_| true, ..message }).1
            })
            .collect();
        if answers.is_empty() { (204, None) } else { (200, Some(Value::Array(answers))) }
    }

    /// The HTTP status and the response to one request.
    fn answer(&self, message: Message<'_>) -> (u16, Option<Value>) {
        let Message { raw, request, now, nonces, .. } = message;
        let of_request = |behaviour| match behaviour {
            Behaviour::Request(change) | Behaviour::Exchange(change, _) => Some(change),
            _ => None,
        };
        let mut changed = Cow::Borrowed(request);
        self.applied(message, of_request).for_each(|(change, view)| change(&view, changed.to_mut()));
        let reply = if *changed == *request {
            self.service.handle(raw, now, nonces)
        } else {
            self.service.handle(changed.to_string().as_bytes(), now, nonces)
        };
        let mut answer = reply.body.and_then(|body| serde_json::from_slice(&body).ok());
        if let Some(Value::Object(answer)) = &mut answer {
            for (injection, view) in self.injections(message) {
                change_answer(injection, &view, answer);
            }
        }
        (reply.status, answer)
    }
}

/// Applies a behaviour that changes the response to one request.
fn change_answer(injection: &Injection, view: &RequestView<'_>, answer: &mut Map<String, Value>) {
    let applies = injection.condition;
    match injection.behaviour {
        Behaviour::Refuse => {
            // Leaves operations that are not sponsored as they are: other clauses are about these.
            let is_served = result(answer)
                .is_some_and(|result| result.get("paymasterAndData").is_none_or(|data| data != "0x"));
            if is_served && applies(view) {
                refuse(answer, -32602, "invalid params: not accepted");
            }
        }
        Behaviour::Row { row, change } => {
            let (Some((document, member)), Some(result)) = (row.split_once('.'), result(answer)) else {
                return;
            };
            if document == "fee-quote" {
                if has_quotes(result) && applies(view) {
                    quotes(result).for_each(|quote| change.apply(quote, member));
                }
            } else if view.pair().is_some_and(|pair| pair.result_document == document) && applies(view) {
                change.apply(result, member);
            }
        }
        Behaviour::Result(change) | Behaviour::Exchange(_, change) => {
            if let Some(result) = result(answer)
                && applies(view)
            {
                change(view, result);
            }
        }
        Behaviour::Error(change) => {
            if let Some(Value::Object(error)) = answer.get_mut("error")
                && applies(view)
            {
                change(view, error);
            }
        }
        Behaviour::Answer(change) if applies(view) => change(view, answer),
        // The others change the request or the response as a whole.
        _ => {}
    }
}

impl MemberChange {
    fn apply(self, object: &mut Map<String, Value>, member: &str) {
        match self {
            Self::Remove => remove(object, member),
            Self::Set(text) => replace(object, member, json(text)),
            Self::Map(change) => self::change(object, member, change),
        }
    }
}

/// Swaps the response to a single request, or its result, with that of another request.
async fn swap(view: &RequestView<'_>, part: SwappedPart, answer: &mut Option<Value>) {
    let Some(answer) = answer.as_mut().filter(|answer| answer.get("result").is_some()) else { return };
    let mine = if part == SwappedPart::Answer { answer } else { &mut answer["result"] };
    *mine = view.memory.swap.exchange(mine.take()).await;
}
