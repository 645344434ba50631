//! Requests made before the clock runs. When one is sent, only its id, the end of its call data and (in a journey) its token are
//! written into the bytes, so that each request has an id and an operation of its own and costs next to nothing.

use std::sync::{PoisonError, RwLock};

use bytes::Bytes;
use paymaster_judge::{
    cases::{case::Base, generate::Source},
    target::{context::Context, profile::Accepts},
};
use serde_json::{Value, json};

/// The first id: all ids have as many digits, and stay below 2^53.
pub const FIRST_ID: u64 = 1_000_000_000_000;
/// Digits of an id.
const ID_DIGITS: usize = 13;
/// Hex digits at the end of the call data that make an operation distinct.
const DATA_DIGITS: usize = 16;
/// An address that stands where a token of a quote goes.
pub(crate) const TOKEN_SLOT: &str = "0x7070707070707070707070707070707070707070";
/// How many draws are tried for an operation whose call data has room for a number.
const TRIES: usize = 20;

/// What follows from an answer that broke no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sound {
    /// A result.
    Result,
    /// An error of that code, where it is a small number.
    Error(Option<i64>),
}

/// Skeletons of answers to a request, each with what such an answer is: it need not be parsed again.
#[derive(Debug, Default)]
pub(crate) struct Skeletons(RwLock<Vec<(Box<[u8]>, Sound)>>);

impl Skeletons {
    /// What an answer of that skeleton is, where one was learned.
    pub(crate) fn find(&self, skeleton: &[u8]) -> Option<Sound> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(known, _)| **known == *skeleton);
        found.map(|(_, sound)| *sound)
    }

    /// Keeps a skeleton. An error without a small number for a code is not kept.
    pub(crate) fn learn(&self, skeleton: &[u8], sound: Sound) {
        /// Targets whose answers never look alike gain nothing from more.
        const MOST: usize = 8;
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() < MOST && sound != Sound::Error(None) {
            known.push((skeleton.into(), sound));
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A request, ready to be sent any number of times.
#[derive(Debug)]
pub struct Entry {
    /// The scenario or step that it belongs to.
    pub label: &'static str,
    /// Whether an error is what it asks for.
    pub wants_error: bool,
    body: Box<[u8]>,
    id_at: Option<usize>,
    data_at: Option<usize>,
    token_at: Option<usize>,
    /// Answers that were judged and broke no rule.
    pub(crate) sound: Skeletons,
    /// Answers that were not judged.
    pub(crate) unjudged: Skeletons,
}

impl Entry {
    /// Makes an entry of a request. `distinct` says whether its call data may be changed.
    pub fn new(label: &'static str, request: &Value, distinct: bool) -> Self {
        let mut request = request.clone();
        if request.is_object() && request.get("id").is_some() {
            request["id"] = json!(FIRST_ID);
        }
        let text = request.to_string();
        let id_at = text
            .find(&format!("\"id\":{FIRST_ID}"))
            .map(|at| at + "\"id\":".len());
        let data = request["params"][0]["callData"].as_str().unwrap_or_default();
        let data_at = text
            .find(data)
            .filter(|_| distinct && has_room(data))
            .map(|at| at + data.len() - DATA_DIGITS);
        let token_at = text.find(TOKEN_SLOT);
        Self {
            label,
            wants_error: false,
            body: text.into_bytes().into(),
            id_at,
            data_at,
            token_at,
            sound: Skeletons::default(),
            unjudged: Skeletons::default(),
        }
    }

    /// The same, when an error is what the request asks for.
    #[must_use]
    pub fn wanting_an_error(mut self) -> Self {
        self.wants_error = true;
        self
    }

    /// Whether a token of the answer before goes into it.
    pub fn takes_a_token(&self) -> bool {
        self.token_at.is_some()
    }

    /// The bytes to send: with that number for id and operation, and that token.
    pub fn body(&self, number: u64, token: Option<&str>) -> Bytes {
        let mut body = self.body.to_vec();
        if let Some(at) = self.id_at {
            write_decimal(&mut body[at..at + ID_DIGITS], FIRST_ID + number);
        }
        if let Some(at) = self.data_at {
            write_hex(&mut body[at..at + DATA_DIGITS], number);
        }
        if let (Some(at), Some(token)) = (
            self.token_at,
            token.filter(|token| token.len() == TOKEN_SLOT.len()),
        ) {
            body[at..at + token.len()].copy_from_slice(token.as_bytes());
        }
        Bytes::from(body)
    }
}

fn has_room(data: &str) -> bool {
    // 0x, a selector of four bytes, and the number.
    data.len() >= 2 + 8 + DATA_DIGITS && data.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit())
}

fn write_decimal(slot: &mut [u8], mut number: u64) {
    for digit in slot.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

fn write_hex(slot: &mut [u8], mut number: u64) {
    for digit in slot.iter_mut().rev() {
        *digit = b"0123456789abcdef"[usize::try_from(number & 15).unwrap_or_default()];
        number >>= 4;
    }
}

/// Draws requests that suit a target, by a seed.
#[derive(Debug)]
pub struct Draws<'a> {
    /// What is known of the target.
    pub context: &'a Context,
    /// The seed.
    pub seed: u64,
    /// How many requests to make for a scenario.
    pub size: usize,
    source: Source,
}

impl<'a> Draws<'a> {
    /// Draws by `seed` what suits `context`.
    pub fn new(context: &'a Context, seed: u64, size: usize) -> Self {
        Self {
            context,
            seed,
            size,
            source: Source::new(seed, context),
        }
    }

    /// Whether operations may be made distinct: not where the target accepts listed ones alone.
    pub fn distinct(&self) -> bool {
        let operations = &self.context.profile.operations;
        operations.accepts == Accepts::Any
            || operations.sponsorable.is_empty() && operations.accepts != Accepts::Listed
    }

    /// A whole valid request; none when nothing known of the target gives one.
    pub fn request(&mut self, base: &Base) -> Option<Value> {
        let mut drawn = self.source.base(base)?;
        for _ in 0..TRIES {
            let room = drawn["params"][0]["callData"].as_str().is_some_and(has_room);
            if room || !self.distinct() {
                break;
            }
            drawn = self.source.base(base)?;
        }
        Some(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(call_data: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": [{"callData": call_data, "nonce": "1"}, {"tokenInfo": {"feeTokenAddress": TOKEN_SLOT}}]})
    }

    #[test]
    fn every_sending_has_its_own_id_and_operation() {
        let data = format!("0xb61d27f6{}", "ab".repeat(20));
        let entry = Entry::new("x", &request(&data), true);
        let token = format!("0x{}", "C".repeat(40));
        let sent: Vec<Value> = [0, 1, 999_999_999]
            .into_iter()
            .map(|number| serde_json::from_slice(&entry.body(number, Some(&token))).unwrap())
            .collect();
        for (place, number) in [0_u64, 1, 999_999_999].into_iter().enumerate() {
            assert_eq!(sent[place]["id"], FIRST_ID + number);
            let told = sent[place]["params"][0]["callData"].as_str().unwrap();
            assert_eq!(told.len(), data.len());
            assert!(told.ends_with(&format!("{number:016x}")) && told.starts_with("0xb61d27f6"));
            assert_eq!(sent[place]["params"][1]["tokenInfo"]["feeTokenAddress"], token);
            assert_eq!(sent[place]["params"][0]["nonce"], "1");
        }
    }

    #[test]
    fn what_must_not_be_changed_is_left_alone() {
        for (data, distinct) in [
            ("0x", true),
            ("0xb61d27f6", true),
            ("0xb61d27f600112233445566778899", false),
        ] {
            let entry = Entry::new("x", &request(data), distinct);
            let sent: Value = serde_json::from_slice(&entry.body(7, None)).unwrap();
            assert_eq!(sent["params"][0]["callData"], data);
        }
        let entry = Entry::new("x", &json!([1, 2]), true);
        assert_eq!(&entry.body(7, None)[..], b"[1,2]");
    }
}
