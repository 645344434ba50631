//! Requests that are serialized before the clock runs. Sending one copies its bytes and overwrites the id, the end of the bytes that
//! vary and (in a journey) the value of the answer before. So every request has its own id and operation, at little cost.

use std::{ops::Range, sync::OnceLock};

use bytes::Bytes;
use paymaster_engine::load::FROM_ANSWER;
use serde_json::{Value, json};

use crate::judging::skeleton::{AnswerSkeleton, ReadAnswer, Varying};

/// The id of the first request. All ids have 13 digits and are below 2^53.
pub const FIRST_ID: u64 = 1_000_000_000_000;
const ID_DIGITS: usize = 13;
/// Hex digits at the end of the bytes that make an operation unique.
const DATA_DIGITS: usize = 16;

/// Finds what of an answer iteration `number` takes.
pub type Taken = fn(&Value, u64) -> Option<Value>;

/// A serialized request that can be sent any number of times.
#[derive(Debug)]
pub struct RequestTemplate {
    /// The scenario or step that it belongs to, as reports name it.
    pub label: &'static str,
    /// Whether a JSON-RPC error is the expected answer.
    pub expects_error: bool,
    body: Box<[u8]>,
    id_at: Option<usize>,
    data_at: Option<usize>,
    value_at: Option<Range<usize>>,
    /// What it takes from the answer before; none if nothing.
    pub(crate) taken: Option<Taken>,
    /// Answers that were not judged, and answers that were judged and broke no rule.
    answers: [AnswerCache; 2],
}

impl RequestTemplate {
    /// Makes a template of a request. `varied` is the place of bytes in hex that may be changed.
    pub fn new(label: &'static str, request: &Value, varied: Option<&str>) -> Self {
        let mut request = request.clone();
        if request.is_object() && request.get("id").is_some() {
            request["id"] = json!(FIRST_ID);
        }
        let text = request.to_string();
        let id_at = text.find(&format!("\"id\":{FIRST_ID}")).map(|at| at + "\"id\":".len());
        let data = varied.and_then(|place| request.pointer(place)?.as_str()).filter(|data| has_room(data));
        let data_at = data.and_then(|data| Some(text.find(data)? + data.len() - DATA_DIGITS));
        // The name of a member, with its null, or a value.
        let placeholders = [format!("\"{FROM_ANSWER}\":null"), format!("\"{FROM_ANSWER}\"")];
        let place = |placeholder: &String| text.find(placeholder).map(|at| at..at + placeholder.len());
        let value_at = placeholders.iter().find_map(place);
        Self {
            label,
            expects_error: false,
            body: text.into_bytes().into(),
            id_at,
            data_at,
            value_at,
            taken: None,
            answers: Default::default(),
        }
    }

    /// The answers that are remembered of those that were judged, or of the others.
    pub(crate) fn answers(&self, judged: bool) -> &AnswerCache {
        &self.answers[usize::from(judged)]
    }

    /// The number of bytes to send with this value.
    pub fn length(&self, value: Option<&str>) -> usize {
        let replaced = self.value_at.as_ref().zip(value);
        replaced.map_or(self.body.len(), |(at, value)| self.body.len() - at.len() + value.len())
    }

    /// The bytes to send. Id and operation are made from `number`; `value`, which is JSON, replaces the placeholder.
    pub fn body(&self, number: u64, value: Option<&str>) -> Bytes {
        let mut body = Vec::new();
        self.write(number, number, value, &mut body);
        Bytes::from(body)
    }

    /// Appends the bytes to send. The calls of a journey have ids of their own and one number of their operation.
    pub fn write(&self, number: u64, operation: u64, value: Option<&str>, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.body);
        let body = &mut out[start..];
        if let Some(at) = self.id_at {
            write_digits::<10>(&mut body[at..at + ID_DIGITS], FIRST_ID + number);
        }
        if let Some(at) = self.data_at {
            write_digits::<16>(&mut body[at..at + DATA_DIGITS], operation);
        }
        if let Some((at, value)) = self.value_at.clone().zip(value) {
            out.splice(start + at.start..start + at.end, value.bytes());
        }
    }
}

/// The id of request `number`, as it is written.
pub(crate) fn id_of(number: u64) -> [u8; ID_DIGITS] {
    let mut id = [0; ID_DIGITS];
    write_digits::<10>(&mut id, FIRST_ID + number);
    id
}

/// Whether bytes in hex have room for a number behind `0x` and a selector of four bytes.
pub(super) fn has_room(data: &str) -> bool {
    data.len() >= 2 + 8 + DATA_DIGITS && data.bytes().skip(2).all(|byte| byte.is_ascii_hexdigit())
}

/// Fills a slot with the last digits of a number.
fn write_digits<const BASE: u64>(slot: &mut [u8], mut number: u64) {
    for digit in slot.iter_mut().rev() {
        *digit = b"0123456789abcdef"[usize::try_from(number % BASE).unwrap_or_default()];
        number /= BASE;
    }
}

// What is remembered of earlier answers to a request, so that an equal answer is not parsed and judged again.

/// Most answers that a cache keeps. A target whose answers never look alike gains nothing from more.
const MOST: usize = 8;

/// What an answer that breaks no rule contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerContent {
    Result,
    /// A JSON-RPC error with this code; `None` if the code is not an integer of 64 bits.
    Error(Option<i64>),
}

/// The skeletons of answers to one request, each with its content. They are only added, so that nobody waits for a lock.
#[derive(Debug, Default)]
pub(crate) struct AnswerCache([OnceLock<(AnswerSkeleton, AnswerContent)>; MOST]);

impl AnswerCache {
    /// The content of this answer, if one with the same skeleton was kept.
    pub(crate) fn find(&self, answer: &ReadAnswer<'_>) -> Option<AnswerContent> {
        let mut kept = self.0.iter().map_while(OnceLock::get);
        let found = kept.find(|(skeleton, _)| skeleton.matches(answer));
        found.map(|(_, content)| *content)
    }

    /// Keeps the skeleton of an answer, unless it has none, the cache is full, or the answer is an error without an integer code.
    /// `varying` are the members of answers whose values vary.
    pub(crate) fn keep(&self, answer: &ReadAnswer<'_>, content: AnswerContent, varying: Varying) {
        if content != AnswerContent::Error(None)
            && let Some(place) = self.0.iter().find(|place| place.get().is_none())
            && let Some(skeleton) = AnswerSkeleton::of(answer, varying)
        {
            // Where another user was faster, the next such answer is kept.
            let _ = place.set((skeleton, content));
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map_while(OnceLock::get).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL_DATA: &str = "/params/0/callData";

    fn request(call_data: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "m", "params": [{"callData": call_data, "nonce": "1"}, {"tokenInfo": {"feeTokenAddress": FROM_ANSWER}}]})
    }

    #[test]
    fn every_request_has_its_own_id_and_operation() {
        let data = format!("0xb61d27f6{}", "ab".repeat(20));
        let template = RequestTemplate::new("x", &request(&data), Some(CALL_DATA));
        let token = format!("0x{}", "C".repeat(50));
        let value = json!(token).to_string();
        let sent: Vec<Value> = [0, 1, 999_999_999]
            .into_iter()
            .map(|number| serde_json::from_slice(&template.body(number, Some(&value))).unwrap())
            .collect();
        for (place, number) in [0_u64, 1, 999_999_999].into_iter().enumerate() {
            assert_eq!(sent[place]["id"], FIRST_ID + number);
            let call_data = sent[place]["params"][0]["callData"].as_str().unwrap();
            assert_eq!(call_data.len(), data.len());
            assert!(call_data.ends_with(&format!("{number:016x}")) && call_data.starts_with("0xb61d27f6"));
            assert_eq!(sent[place]["params"][1]["tokenInfo"]["feeTokenAddress"], token);
            assert_eq!(sent[place]["params"][0]["nonce"], "1");
        }
    }

    #[test]
    fn several_members_of_an_answer_stand_in_the_place_of_a_name() {
        let data = format!("0xb61d27f6{}", "ab".repeat(20));
        let request = json!({"id": 1, "params": [{FROM_ANSWER: null, "callData": data}]});
        let template = RequestTemplate::new("x", &request, Some(CALL_DATA));
        let members = r#""paymaster":"0x01","paymasterData":"0x0203""#;
        let mut body = Vec::new();
        template.write(8, 7, Some(members), &mut body);
        assert_eq!(body.len(), template.length(Some(members)));
        let sent: Value = serde_json::from_slice(&body).unwrap();
        let operation = &sent["params"][0];
        assert_eq!(
            (&operation["paymaster"], &operation["paymasterData"]),
            (&json!("0x01"), &json!("0x0203"))
        );
        assert!(operation["callData"].as_str().unwrap().ends_with("0000000000000007"), "{operation}");
        assert_eq!(sent["id"], FIRST_ID + 8);
    }

    #[test]
    fn call_data_that_must_not_change_is_kept() {
        for (data, distinct) in
            [("0x", true), ("0xb61d27f6", true), ("0xb61d27f600112233445566778899", false)]
        {
            let template = RequestTemplate::new("x", &request(data), distinct.then_some(CALL_DATA));
            let sent: Value = serde_json::from_slice(&template.body(7, None)).unwrap();
            assert_eq!(sent["params"][0]["callData"], data);
        }
        let template = RequestTemplate::new("x", &json!([1, 2]), Some(CALL_DATA));
        assert_eq!(&template.body(7, None)[..], b"[1,2]");
    }
}
