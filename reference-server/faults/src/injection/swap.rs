//! Swaps values between two requests in flight: each gets the other's. A single request waits only briefly.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

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
