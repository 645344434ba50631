//! What must hold of the reference server, whatever bytes it is sent.

use serde_json::Value;

use crate::*;

const NOW: u64 = 1_800_000_000;
/// The longest answer to a message, and how much each byte of it may add: an element of a batch may get an error as long as the
/// problems that are told of it.
const ANSWER_BYTES: usize = 4_096;
const PER_BYTE: usize = 512;

pub(crate) struct Server(Service);

impl Server {
    pub(crate) fn new() -> Self {
        Self(Service::new(&Config::default()).expect("the default configuration is sound"))
    }

    /// One answer, the same each time, in the form of JSON-RPC 2.0, and of a bounded length.
    pub(crate) fn holds(&self, message: &[u8]) {
        let reply = self.0.handle_bytes(message, NOW);
        assert_eq!(reply, self.0.handle_bytes(message, NOW), "two answers to one message");
        let Some(body) = reply.body else {
            assert_eq!(reply.status, 204, "nothing is said with a status that promises something");
            return;
        };
        let limit = ANSWER_BYTES + PER_BYTE * message.len();
        assert!(body.len() <= limit, "{} bytes answer {}", body.len(), message.len());
        match serde_json::from_slice(&body).expect("answers are JSON") {
            Value::Array(answers) => {
                assert!(!answers.is_empty(), "an empty batch is no answer");
                answers.iter().for_each(is_an_answer);
            }
            answer => is_an_answer(&answer),
        }
    }
}

fn is_an_answer(answer: &Value) {
    assert!(answer["jsonrpc"].is_string(), "{answer}");
    assert!(answer.get("id").is_some(), "{answer}");
    assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{answer}");
    if let Some(error) = answer.get("error") {
        assert!(error["code"].is_i64() && error["message"].is_string(), "{answer}");
    }
}

/// The messages of a short run: one of each group.
pub(crate) fn messages() -> Vec<Vec<u8>> {
    let context = Context::new(Profile::default());
    Plan::new(&context, 1, 4).filter_map(|group| Some(group.members.last()?.body.to_vec())).collect()
}
