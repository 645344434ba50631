//! Answers that cross: two requests in flight get each what was meant for the other. A lone request waits only shortly.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;

/// How long an answer waits for another one to cross with.
const WAIT: Duration = Duration::from_millis(5);

/// Where two answers meet.
#[derive(Default)]
pub(super) struct Crossing {
    meeting: Mutex<Meeting>,
}

#[derive(Default)]
struct Meeting {
    tickets: u64,
    waiting: Option<Waiting>,
}

struct Waiting {
    ticket: u64,
    value: Value,
    gets: oneshot::Sender<Value>,
}

impl Crossing {
    /// Gives `mine` to another request and returns its value; `mine` itself when there is no other one.
    pub(super) async fn exchange(&self, mine: Value) -> Value {
        let (ticket, mut theirs) = match self.meet(&mine) {
            Met::Other(theirs) => return theirs,
            Met::Nobody(ticket, theirs) => (ticket, theirs),
        };
        if let Ok(theirs) = tokio::time::timeout(WAIT, &mut theirs).await {
            return theirs.unwrap_or(mine);
        }
        if self.leave(ticket) {
            return mine;
        }
        // The other one came at the last moment, so that its value is here.
        theirs.await.unwrap_or(mine)
    }

    fn meet(&self, mine: &Value) -> Met {
        let mut meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = meeting.waiting.take()
            && waiting.gets.send(mine.clone()).is_ok()
        {
            return Met::Other(waiting.value);
        }
        // Nobody waits, or who waited has gone away with its connection.
        meeting.tickets += 1;
        let ticket = meeting.tickets;
        let (gets, theirs) = oneshot::channel();
        meeting.waiting = Some(Waiting {
            ticket,
            value: mine.clone(),
            gets,
        });
        Met::Nobody(ticket, theirs)
    }

    /// Whether this one still waited; then it does so no longer.
    fn leave(&self, ticket: u64) -> bool {
        let mut meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = meeting
            .waiting
            .as_ref()
            .is_some_and(|waiting| waiting.ticket == ticket);
        if waits {
            meeting.waiting = None;
        }
        waits
    }
}

enum Met {
    Other(Value),
    Nobody(u64, oneshot::Receiver<Value>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_cross_and_a_third_keeps_its_own() {
        let crossing = Crossing::default();
        let (one, two) = tokio::join!(crossing.exchange(1.into()), crossing.exchange(2.into()));
        assert_eq!((one, two), (2.into(), 1.into()));
        assert_eq!(crossing.exchange(3.into()).await, 3);
        assert_eq!(crossing.exchange(4.into()).await, 4);
    }
}
