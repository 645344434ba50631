//! How a drawn value shrinks in proptest.

use std::fmt::{self, Debug, Formatter};

use proptest::strategy::ValueTree;
use serde_json::Value;

use crate::generate::MayChange;
use crate::generate::shrink;

/// A drawn value that shrinks by whole steps of [`shrink::simpler`], so that every value of the tree is valid against the schema. It is given in
/// the form `T`.
pub struct Tree<T = Value> {
    document: &'static str,
    may_change: MayChange,
    current: Value,
    /// The value that the candidates in `left`, and `current`, are simpler than. None when there is nothing to go back to.
    simpler_than: Option<Value>,
    /// Candidates not tried yet, the most drastic last.
    left: Vec<Value>,
    /// Whether every candidate for `current` was tried.
    smallest: bool,
    /// Which candidates may be tried.
    is_kept: Box<dyn Fn(&Value) -> bool>,
    form: fn(Value) -> T,
}

impl<T> Tree<T> {
    /// A tree that begins with `drawn`. It offers only values that the schema document called `document` accepts and for which
    /// `is_kept` holds, each in the form that `form` gives it; `may_change` says what it may change.
    pub fn new(
        document: &'static str,
        drawn: Value,
        may_change: MayChange,
        is_kept: impl Fn(&Value) -> bool + 'static,
        form: fn(Value) -> T,
    ) -> Self {
        Self {
            document,
            may_change,
            current: drawn,
            simpler_than: None,
            left: Vec::new(),
            smallest: false,
            is_kept: Box::new(is_kept),
            form,
        }
    }

    fn next_candidate(&mut self) -> Option<Value> {
        while let Some(candidate) = self.left.pop() {
            if (self.is_kept)(&candidate) {
                return Some(candidate);
            }
        }
        None
    }
}

impl<T: Debug> Debug for Tree<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tree").field(&self.current()).finish()
    }
}

impl<T: Debug> ValueTree for Tree<T> {
    type Value = T;

    fn current(&self) -> T {
        (self.form)(self.current.clone())
    }

    fn simplify(&mut self) -> bool {
        if self.smallest {
            return false;
        }
        self.left = shrink::simpler(Some(self.document), &self.current, self.may_change);
        self.left.reverse();
        let Some(next) = self.next_candidate() else {
            self.smallest = true;
            self.simpler_than = None;
            return false;
        };
        self.simpler_than = Some(std::mem::replace(&mut self.current, next));
        true
    }

    fn complicate(&mut self) -> bool {
        if let Some(next) = self.next_candidate() {
            self.current = next;
            return true;
        }
        // The value before the candidates is offered once more. The answer is true, because a tuple or a list of strategies goes on
        // with its next part only after this part failed again and `simplify` has nothing left.
        let Some(before) = self.simpler_than.take() else { return false };
        self.current = before;
        self.smallest = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::convert::identity;

    use serde_json::json;

    use super::*;
    use crate::generate::shrink::Change;

    fn drawn() -> Value {
        json!({"webhookData": {"campaign": "spring"}})
    }

    fn tree(is_kept: bool) -> Tree {
        Tree::new("sponsorship-info", drawn(), |_| Change::Free, move |_| is_kept, identity)
    }

    #[test]
    fn the_smallest_failing_value_is_the_last_offer() {
        let mut tree = tree(true);
        assert!(tree.simplify());
        // Every candidate passes: the drawn value comes back, and nothing follows it.
        let mut offers = 1;
        while tree.current() != drawn() {
            assert!(tree.complicate());
            offers += 1;
        }
        assert!(offers > 1);
        assert!(!tree.simplify());
        assert!(!tree.complicate());
    }

    #[test]
    fn a_candidate_that_is_not_kept_is_not_offered() {
        let mut tree = tree(false);
        assert!(!tree.simplify());
        assert_eq!(tree.current(), drawn());
    }
}
