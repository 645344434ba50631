//! What is remembered of earlier answers to a request, so that an equal answer is not parsed and judged again.

use std::sync::{PoisonError, RwLock};

/// Most normalized answers that a cache keeps. A target whose answers never look alike gains nothing from more.
const MOST: usize = 8;

/// What an answer that breaks no rule contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerContent {
    /// A result.
    Result,
    /// A JSON-RPC error with this code; `None` if the code is not an integer of 64 bits.
    Error(Option<i64>),
}

/// Normalized answers to one request (see `judging::normalize`), each with its content.
#[derive(Debug, Default)]
pub(crate) struct AnswerCache(RwLock<Vec<(Box<[u8]>, AnswerContent)>>);

impl AnswerCache {
    /// The content of an answer with this normalized form, if one was kept.
    pub(crate) fn find(&self, normalized: &[u8]) -> Option<AnswerContent> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(kept, _)| **kept == *normalized);
        found.map(|(_, content)| *content)
    }

    /// Keeps a normalized answer, unless the cache is full or the answer is an error without an integer code.
    pub(crate) fn keep(&self, normalized: &[u8], content: AnswerContent) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST && content != AnswerContent::Error(None) {
            kept.push((normalized.into(), content));
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
