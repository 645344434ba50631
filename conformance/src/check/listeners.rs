//! Functions that are called while a run goes on.

use crate::{
    events::{Event, SentExchange},
    run::Reporter,
};

type EventListener<'l> = Box<dyn FnMut(&Event<'_>) + 'l>;
type ExchangeListener<'l> = Box<dyn FnMut(&SentExchange) + 'l>;

/// The listeners of a run.
#[derive(Default)]
pub(super) struct Listeners<'l> {
    pub(super) events: Vec<EventListener<'l>>,
    pub(super) exchanges: Vec<ExchangeListener<'l>>,
}

impl Reporter for Listeners<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Exchanged(delivered) = event {
            self.exchanges.iter_mut().for_each(|listener| listener(delivered));
        } else {
            self.events.iter_mut().for_each(|listener| listener(event));
        }
    }

    fn wants_exchanges(&self) -> bool {
        !self.exchanges.is_empty()
    }
}
