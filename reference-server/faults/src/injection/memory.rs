//! What one injection remembers of earlier requests. Its size is bounded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::swap::Swap;

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
