//! What a deviation remembers from request to request. Bounded, whatever clients send.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::crossing::Crossing;

/// The most values that are remembered; with the next one, all are forgotten.
const MOST_VALUES: usize = 10_000;

/// The memory of one deviation.
#[derive(Default)]
pub(crate) struct Memory {
    counter: AtomicU64,
    values: Mutex<HashMap<String, Value>>,
    pub(super) crossing: Crossing,
}

impl Memory {
    /// Counts one more: 1, 2, 3 and so on.
    pub(crate) fn count(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The first value that came with that key, which may be this one.
    pub(crate) fn first(&self, key: String, value: &Value) -> Value {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= MOST_VALUES && !values.contains_key(&key) {
            values.clear();
        }
        values.entry(key).or_insert_with(|| value.clone()).clone()
    }

    /// Whether that key came before; from now on it did.
    pub(crate) fn knows(&self, key: String) -> bool {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        if values.len() >= MOST_VALUES {
            values.clear();
        }
        values.insert(key, Value::Null).is_some()
    }

    /// The value that came last with that key, or none; from now on it is this one.
    pub(crate) fn previous(&self, key: &str, value: &Value) -> Option<Value> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert(key.to_owned(), value.clone())
    }
}
