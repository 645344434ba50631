//! What one injection remembers of earlier requests. Its size is bounded.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{collections::HashMap, time::Duration};

use serde_json::Value;
use tokio::sync::oneshot;

/// Most values that are kept. A new key beyond them clears the memory.
const MOST_VALUES: usize = 10_000;

/// The state of one injection.
#[derive(Default)]
pub(crate) struct Memory {
    counter: AtomicU64,
    values: Mutex<HashMap<String, Value>>,
    pub(super) swap: Swap,
}

impl Memory {
    /// Counts one request: returns 1, 2, 3 and so on.
    pub(crate) fn count(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The first value stored under `key`; `value` itself when there is none yet.
    pub(crate) fn first(&self, key: String, value: &Value) -> Value {
        let mut values = self.values_with_room_for(&key);
        values.entry(key).or_insert_with(|| value.clone()).clone()
    }

    /// Counts one request with this key: returns 1, 2, 3 and so on.
    pub(crate) fn count_of(&self, key: &str) -> u64 {
        let mut values = self.values_with_room_for(key);
        let count = values.get(key).and_then(Value::as_u64).unwrap_or_default() + 1;
        values.insert(key.to_owned(), count.into());
        count
    }

    /// The last value stored under `key`, if any; stores `value` in its place.
    pub(crate) fn previous(&self, key: &str, value: &Value) -> Option<Value> {
        let mut values = self.values_with_room_for(key);
        values.insert(key.to_owned(), value.clone())
    }

    fn values_with_room_for(&self, key: &str) -> MutexGuard<'_, HashMap<String, Value>> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= MOST_VALUES && !values.contains_key(key) {
            values.clear();
        }
        values
    }
}

// Swaps values between two requests in flight: each gets the other's. A single request waits only briefly.

/// How long a value waits for another one.
const WAIT: Duration = Duration::from_millis(5);

/// The meeting point of two values.
#[derive(Default)]
pub(super) struct Swap {
    waiting: Mutex<Option<Waiting>>,
}

struct Waiting {
    value: Value,
    other: oneshot::Sender<Value>,
}

impl Swap {
    /// Exchanges `mine` with the value of another request; returns `mine` when no other one comes in time.
    pub(super) async fn exchange(&self, mine: Value) -> Value {
        let mut theirs = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(first) = waiting.take()
                && first.other.send(mine.clone()).is_ok()
            {
                return first.value;
            }
            // No value waits, or its request ended with its connection.
            let (other, theirs) = oneshot::channel();
            let value = mine.clone();
            *waiting = Some(Waiting { value, other });
            theirs
        };
        if let Ok(theirs) = tokio::time::timeout(WAIT, &mut theirs).await {
            return theirs.unwrap_or(mine);
        }
        // A closed channel makes the next request drop this value; one that came just before is received all the same.
        theirs.close();
        theirs.try_recv().unwrap_or(mine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_values_are_swapped_and_a_third_comes_back() {
        let swap = Swap::default();
        let (one, two) = tokio::join!(swap.exchange(1.into()), swap.exchange(2.into()));
        assert_eq!((one, two), (2.into(), 1.into()));
        assert_eq!(swap.exchange(3.into()).await, 3);
        assert_eq!(swap.exchange(4.into()).await, 4);
    }
}
