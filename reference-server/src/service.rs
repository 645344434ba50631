//! The message path: bytes in, bytes out, and no socket or clock in between.

use alloy_primitives::Address;
use serde_json::value::RawValue;

use crate::bounds::Bounds;
use crate::chain::{Chain, Known, Wanted, World};
use crate::config::{Config, ConfigError};
use crate::depth;
use crate::deviations::{Deed, Deviations, Kind};
use crate::envelope::{Call, Method, Violation, id_text, known_version, write_error, write_head};
use crate::error_codes::ErrorCode;
use crate::explain::explain;
use crate::faults::Fault;
use crate::methods::{self, Refusal, Request, Settings};
use crate::policy::Policy;
use crate::request::Operation;
use crate::signing::Signer;
use crate::tokens::TokenTable;
use crate::variants::Variant;

/// What goes back to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// JSON text, or none where nothing is to be said (a notification, HTTP 204).
    pub body: Option<Vec<u8>>,
}

/// The paymaster: answers messages.
pub struct Service {
    settings: Settings,
    chain: Option<Chain>,
    bounds: Bounds,
    error_status: u16,
    deviations: Option<Deviations>,
}

/// Room for a usual answer, so that it is written without growing.
const USUAL_ANSWER_BYTES: usize = 1024;

const HTTP_OK: u16 = 200;
const HTTP_NO_CONTENT: u16 = 204;

impl Service {
    /// A service with this configuration, or what is wrong with it.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        config.check()?;
        let settings = Settings {
            policy: Policy::new(&config.policy)?,
            tokens: TokenTable::new(&config.tokens)?,
            signer: Signer::new(&config.signing)?,
            token_paymaster: config.signing.token_paymaster.clone(),
            quote_valid_seconds: config.quote_valid_seconds,
        };
        let chain = Chain::new(&config.chain, settings.signer.sponsorship_paymaster())?;
        Ok(Self {
            settings,
            chain,
            bounds: config.bounds.clone(),
            error_status: config.error_status,
            deviations: None,
        })
    }

    /// The same service, but with these faults when it is served by [`run`](crate::run).
    #[must_use]
    pub fn with_faults(self, faults: impl IntoIterator<Item = &'static Fault>) -> Self {
        faults
            .into_iter()
            .fold(self, |service, fault| service.with_deed(&fault.deed, Kind::Fault))
    }

    /// The same service, but with these variants when it is served by [`run`](crate::run).
    #[must_use]
    pub fn with_variants(self, variants: impl IntoIterator<Item = &'static Variant>) -> Self {
        variants.into_iter().fold(self, |service, variant| {
            service.with_deed(&variant.deed, Kind::Variant)
        })
    }

    fn with_deed(mut self, deed: &'static Deed, kind: Kind) -> Self {
        let deviations = self.deviations.get_or_insert_with(|| {
            let tokens = self.settings.tokens.all();
            Deviations::new(tokens.iter().map(|token| token.address.to_string()).collect())
        });
        deviations.add(deed, kind);
        self
    }

    /// What the service was told to do otherwise, if anything.
    pub(crate) const fn deviations(&self) -> Option<&Deviations> {
        self.deviations.as_ref()
    }

    /// The bounds that the configuration sets.
    pub const fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The address, in hex, that signatures recover to.
    pub fn signer_address(&self) -> String {
        self.settings.signer.address().to_string()
    }

    /// The reply that says only that something is wrong with the whole of what was sent.
    pub fn refuse(&self, status: u16, code: ErrorCode, reason: &str) -> Reply {
        let mut out = Vec::new();
        let violations = [Violation::new("", reason)];
        write_error(
            &mut out,
            crate::envelope::DEFAULT_VERSION,
            None,
            code,
            &violations,
        );
        Reply {
            status,
            body: Some(out),
        }
    }

    /// Answers the body of one HTTP request: a JSON-RPC request or a batch of them. `now` is Unix time, in seconds. Faults
    /// and variants do not show here: they are between this and HTTP. With a chain configured a sponsorship is refused, since
    /// nothing is looked up here.
    pub fn handle_bytes(&self, body: &[u8], now: u64) -> Reply {
        if self.chain.is_none() {
            return self.handle(body, World::at(now));
        }
        let nonces = &Known::default();
        self.handle(body, World { now, nonces })
    }

    /// Looks up on the chain what the answer to a body needs to know of it; none without a chain.
    pub(crate) async fn look_up(&self, body: &[u8]) -> Option<Known> {
        let chain = self.chain.as_ref()?;
        let senders = self.wanted_senders(body);
        Some(chain.sender_nonces(senders).await)
    }

    /// The senders whose nonces the answer to a body needs, whenever it is given.
    fn wanted_senders(&self, body: &[u8]) -> Vec<Address> {
        let nonces = Wanted::default();
        self.handle(
            body,
            World {
                now: 0,
                nonces: &nonces,
            },
        );
        nonces.senders()
    }

    /// Answers as [`handle_bytes`](Self::handle_bytes) does, in that world.
    pub(crate) fn handle(&self, body: &[u8], world: World<'_>) -> Reply {
        let refuse = |code, reason: &str| self.refuse(self.error_status, code, reason);
        let Ok(text) = std::str::from_utf8(body) else {
            return refuse(ErrorCode::ParseError, "the body is not utf-8");
        };
        if depth::exceeds(body, self.bounds.max_depth) {
            let reason = format!("nested deeper than {} levels", self.bounds.max_depth);
            return refuse(ErrorCode::ParseError, &reason);
        }
        let mut out = Vec::with_capacity(USUAL_ANSWER_BYTES);
        let is_batch = text.trim_ascii_start().starts_with('[');
        if !is_batch {
            let status = match self.answer(text, world, &mut out) {
                Outcome::Result => HTTP_OK,
                Outcome::Error => self.error_status,
                Outcome::Nothing => HTTP_NO_CONTENT,
            };
            return Reply {
                status,
                body: (status != HTTP_NO_CONTENT).then_some(out),
            };
        }
        let batch: Vec<&RawValue> = match serde_json::from_str(text) {
            Ok(batch) => batch,
            Err(error) => return refuse(ErrorCode::ParseError, &error.to_string()),
        };
        if batch.is_empty() {
            return refuse(ErrorCode::InvalidRequest, "the batch is empty");
        }
        if batch.len() > self.bounds.max_batch_length {
            let reason = format!(
                "the batch has more than {} requests",
                self.bounds.max_batch_length
            );
            return refuse(ErrorCode::InvalidRequest, &reason);
        }
        for call in batch {
            let start = out.len();
            out.push(if start == 0 { b'[' } else { b',' });
            if self.answer(call.get(), world, &mut out) == Outcome::Nothing {
                out.truncate(start);
            }
        }
        if out.is_empty() {
            return Reply {
                status: HTTP_NO_CONTENT,
                body: None,
            };
        }
        out.push(b']');
        Reply {
            status: HTTP_OK,
            body: Some(out),
        }
    }

    /// Appends the answer to one request.
    fn answer(&self, text: &str, world: World<'_>, out: &mut Vec<u8>) -> Outcome {
        let start = out.len();
        match self.try_answer(text, world, out) {
            Ok(outcome) => {
                tracing::debug!(?outcome, bytes = text.len(), "answered");
                outcome
            }
            Err(typed) => {
                out.truncate(start);
                let Some(explanation) = explain(text, &typed) else {
                    tracing::debug!(bytes = text.len(), "took a notification");
                    return Outcome::Nothing;
                };
                tracing::debug!(code = ?explanation.code, bytes = text.len(), "refused");
                write_error(
                    out,
                    explanation.version,
                    explanation.id,
                    explanation.code,
                    &explanation.violations,
                );
                Outcome::Error
            }
        }
    }

    /// The fast path; an `Err` says that there is something to explain.
    fn try_answer(&self, text: &str, world: World<'_>, out: &mut Vec<u8>) -> Result<Outcome, String> {
        const NOT_A_CALL: &str = "is not a request that this service serves";
        let call: Call<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let not_a_call = || NOT_A_CALL.to_owned();
        let version = call
            .jsonrpc
            .and_then(|text| known_version(&text.0))
            .ok_or_else(not_a_call)?;
        let id = call.id.and_then(id_text).ok_or_else(not_a_call)?;
        let method = call
            .method
            .and_then(|name| Method::from_name(&name.0))
            .ok_or_else(not_a_call)?;
        let params = call.params.ok_or_else(not_a_call)?;
        let request = Request {
            operation: Operation::new(params.operation).ok_or_else(not_a_call)?,
            mode: params.mode,
            world,
        };
        let start = out.len();
        write_head(out, version, id);
        out.extend_from_slice(br#""result":"#);
        let run = match method {
            Method::Quote => methods::quote,
            Method::Sponsor => methods::sponsor,
        };
        match run(out, &self.settings, &request) {
            Ok(()) => {
                out.push(b'}');
                Ok(Outcome::Result)
            }
            Err(Refusal::Malformed(reason)) => Err(reason),
            Err(Refusal::Refused {
                code,
                pointer,
                reason,
            }) => {
                out.truncate(start);
                let violations = [Violation { pointer, reason }];
                write_error(out, version, Some(id), code, &violations);
                Ok(Outcome::Error)
            }
        }
    }
}

/// What came of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Result,
    Error,
    /// A notification: not answered.
    Nothing,
}
