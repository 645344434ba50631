//! What is remembered of earlier answers to a request, so that an equal answer is not parsed and judged again.

use std::sync::OnceLock;

use crate::judging::skeleton::{AnswerSkeleton, ReadAnswer, Varying};

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
