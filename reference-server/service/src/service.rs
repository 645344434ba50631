//! The message path: bytes in, bytes out, without a socket. `answer` takes the time as an argument.

use std::collections::HashMap;
use std::io;

use alloy_primitives::Address;
use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;
use hyper::http::request::Parts;
use serde_json::value::RawValue;

use crate::config::{Bounds, Config, ConfigError, Cors};
use crate::http::respond::{Respond, ResponseCopy};
use crate::message::{
    DEFAULT_VERSION, ErrorCode, Explanation, NOT_A_CALL, RawMembers, RequestError, Violation, depth, explain,
    id_text, known_version, text_of, write_error, write_head,
};
use crate::paymaster::{
    Chain, Given, PaymasterData, Policy, Refusal, Request, SenderNonces, ServedMethod, Settings, Signer,
    TokenTable, unix_now,
};

/// The response to the body of one HTTP request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// JSON text; none when nothing is answered (a notification, HTTP 204).
    pub body: Option<Vec<u8>>,
}

impl Reply {
    /// An error about the whole body, with id null.
    pub(crate) fn refusal(status: u16, code: ErrorCode, reason: &str) -> Self {
        let mut out = Vec::new();
        let violations = [Violation::new("", reason)];
        write_error(&mut out, DEFAULT_VERSION, None, code, &violations);
        Self { status, body: Some(out) }
    }
}

/// The paymaster: answers JSON-RPC messages.
pub struct Service {
    settings: Settings,
    chain: Option<Chain>,
    bounds: Bounds,
    cors: Cors,
    error_status: u16,
}

/// Capacity for a usual response, in bytes, so that the buffer seldom grows.
const USUAL_RESPONSE_BYTES: usize = 1024;

const HTTP_OK: u16 = 200;
const HTTP_NO_CONTENT: u16 = 204;

/// A body, parsed: one request, or those of a batch.
struct Message<'a> {
    is_batch: bool,
    requests: Vec<Parsed<'a>>,
}

/// One request; or why it gets an error; or none for a notification, which gets no answer.
type Parsed<'a> = Result<Call<'a>, Option<Explanation<'a>>>;

/// A well-formed request of one of the methods.
struct Call<'a> {
    version: &'static str,
    /// JSON text of the id.
    id: &'a str,
    request: Box<dyn Request + 'a>,
}

impl Service {
    /// A service with this configuration.
    ///
    /// # Errors
    ///
    /// The first value of the configuration that is not valid.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        config.check()?;
        let settings = Settings {
            policy: Policy::new(&config.policy)?,
            tokens: TokenTable::new(&config.tokens)?,
            signer: Signer::new(&config.signing)?,
            token_paymaster: config.signing.token_paymaster.clone(),
            quote_valid_seconds: config.quote_valid_seconds,
            paymaster_data: PaymasterData::new(&config.paymaster_data)?,
        };
        let chain = Chain::new(&config.chain, settings.signer.sponsorship_paymaster)?;
        Ok(Self {
            settings,
            chain,
            bounds: config.bounds.clone(),
            cors: Cors::new(&config.cors)?,
            error_status: config.error_status,
        })
    }

    /// The address, in hex, that signatures recover to.
    pub fn signer_address(&self) -> String {
        self.settings.signer.address.to_string()
    }

    /// The addresses of the supported tokens, in the order of the configuration.
    pub fn tokens(&self) -> impl Iterator<Item = Address> {
        self.settings.tokens.all().iter().map(|token| token.address)
    }

    /// Answers the body of one HTTP request: a JSON-RPC request or a batch of them. `now` is Unix time, in seconds.
    ///
    /// With a chain configured, sponsorships are refused here, because nothing is looked up.
    pub fn handle_bytes(&self, body: &[u8], now: u64) -> Reply {
        let nonces = SenderNonces(self.chain.as_ref().map(|_| HashMap::new()));
        self.handle(body, now, &nonces)
    }

    /// Answers a body with these nonces.
    pub fn handle(&self, body: &[u8], now: u64, nonces: &SenderNonces) -> Reply {
        match self.parse(body) {
            Ok(message) => self.answer(message, now, nonces),
            Err(refusal) => refusal,
        }
    }

    /// Looks up the nonces that the response to a body needs.
    pub async fn look_up(&self, body: &[u8]) -> SenderNonces {
        if let Ok(message) = self.parse(body) { self.nonces(&message).await } else { SenderNonces::default() }
    }

    async fn nonces(&self, message: &Message<'_>) -> SenderNonces {
        let Some(chain) = &self.chain else { return SenderNonces::default() };
        let calls = message.requests.iter().filter_map(|parsed| parsed.as_ref().ok());
        let senders = calls.filter_map(|call| call.request.sender_to_look_up(&self.settings));
        chain.sender_nonces(senders.collect()).await
    }

    /// Parses a body; the error is the reply to one that is refused as a whole.
    fn parse<'a>(&self, body: &'a [u8]) -> Result<Message<'a>, Reply> {
        let refusal = |code, reason: &str| Reply::refusal(self.error_status, code, reason);
        let Ok(text) = std::str::from_utf8(body) else {
            return Err(refusal(ErrorCode::ParseError, "the body is not utf-8"));
        };
        if depth::exceeds(body, self.bounds.max_depth) {
            let reason = format!("nested deeper than {} levels", self.bounds.max_depth);
            return Err(refusal(ErrorCode::ParseError, &reason));
        }
        if !text.trim_ascii_start().starts_with('[') {
            return Ok(Message { is_batch: false, requests: vec![parse_request(text)] });
        }
        let batch: Vec<&'a RawValue> =
            serde_json::from_str(text).map_err(|error| refusal(ErrorCode::ParseError, &error.to_string()))?;
        if batch.is_empty() {
            return Err(refusal(ErrorCode::InvalidRequest, "the batch is empty"));
        }
        if batch.len() > self.bounds.max_batch_length {
            let reason = format!("the batch has more than {} requests", self.bounds.max_batch_length);
            return Err(refusal(ErrorCode::InvalidRequest, &reason));
        }
        let requests = batch.into_iter().map(|raw| parse_request(raw.get())).collect();
        Ok(Message { is_batch: true, requests })
    }

    fn answer(&self, message: Message<'_>, now: u64, nonces: &SenderNonces) -> Reply {
        let Message { is_batch, requests } = message;
        let mut out = Vec::with_capacity(USUAL_RESPONSE_BYTES);
        let mut status = HTTP_OK;
        for parsed in requests {
            let start = out.len();
            if is_batch {
                out.push(if start == 0 { b'[' } else { b',' });
            }
            match self.answer_request(parsed, now, nonces, &mut out) {
                Outcome::Nothing => out.truncate(start),
                Outcome::Error if !is_batch => status = self.error_status,
                Outcome::Result | Outcome::Error => {}
            }
        }
        if out.is_empty() {
            return Reply { status: HTTP_NO_CONTENT, body: None };
        }
        if is_batch {
            out.push(b']');
        }
        Reply { status, body: Some(out) }
    }

    /// Appends the response to one request.
    fn answer_request(
        &self,
        parsed: Parsed<'_>,
        now: u64,
        nonces: &SenderNonces,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let Call { version, id, request } = match parsed {
            Ok(call) => call,
            Err(None) => return Outcome::Nothing,
            Err(Some(explanation)) => {
                let Explanation { version, id, code, violations } = explanation;
                write_error(out, version, id, code, &violations);
                return Outcome::Error;
            }
        };
        let start = out.len();
        write_head(out, version, id);
        out.extend_from_slice(br#""result":"#);
        match request.write_result(out, Given { settings: &self.settings, now, nonces }) {
            Ok(()) => {
                out.push(b'}');
                Outcome::Result
            }
            Err(Refusal { code, pointer, reason }) => {
                out.truncate(start);
                write_error(out, version, Some(id), code, &[Violation::new(pointer, reason)]);
                Outcome::Error
            }
        }
    }
}

impl Respond for Service {
    type Body = Full<Bytes>;

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn cors(&self) -> &Cors {
        &self.cors
    }

    async fn respond(
        &self,
        _: &Parts,
        body: &[u8],
        copy: &mut ResponseCopy,
    ) -> io::Result<Response<Full<Bytes>>> {
        let reply = match self.parse(body) {
            Ok(message) => {
                let nonces = self.nonces(&message).await;
                self.answer(message, unix_now(), &nonces)
            }
            Err(refusal) => refusal,
        };
        copy.keep(reply.body.as_deref());
        Ok(reply.into())
    }
}

/// Parses one request: first into types, and with the schemas where that fails.
fn parse_request(text: &str) -> Parsed<'_> {
    parse_call(text).map_err(|reason| explain(text, &reason.to_string()))
}

/// The fast path. Its error names the cause only where the schemas cannot see it; [`explain`] does the rest.
fn parse_call(text: &str) -> Result<Call<'_>, RequestError> {
    let members: RawMembers<'_> = serde_json::from_str(text)?;
    let version = members.jsonrpc.and_then(text_of).and_then(|text| known_version(&text));
    let id = members.id.and_then(id_text);
    let method = members.method.and_then(text_of).and_then(|name| ServedMethod::find(&name));
    Ok(Call {
        version: version.ok_or(NOT_A_CALL)?,
        id: id.ok_or(NOT_A_CALL)?,
        request: (method.ok_or(NOT_A_CALL)?.parse)(text)?,
    })
}

/// The kind of response to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Result,
    Error,
    /// A notification gets no answer.
    Nothing,
}
