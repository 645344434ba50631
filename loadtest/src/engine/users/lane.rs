//! What a user of a Locust worker sends. In a run of one machine, every user sends the mix of the run instead.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

use crate::scenarios::mix::Mix;

/// What a group of users sends.
#[derive(Debug)]
pub(crate) struct Lane {
    mix: RwLock<Arc<Mix>>,
    /// How many sequences the users have taken; none if the numbers of the arrivals count.
    taken: Option<AtomicU64>,
}

impl Lane {
    /// Closed model: the users of one class send the sequences of their scenario, one after the other.
    pub(crate) fn of_class(mix: Mix) -> Self {
        Self { mix: RwLock::new(Arc::new(mix)), taken: Some(AtomicU64::new(0)) }
    }

    /// Open model: every user takes the next arrival, whose number decides which sequence it is.
    pub(crate) fn of_arrivals(mix: Mix) -> Self {
        Self { mix: RwLock::new(Arc::new(mix)), taken: None }
    }

    /// Replaces the mix from the next iteration on.
    pub(crate) fn replace(&self, mix: Mix) {
        *self.mix.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(mix);
    }

    /// The mix, and the number of the next sequence in it. `iteration` is the number of the iteration that sends it.
    pub(in crate::engine) fn take(&self, iteration: u64) -> (Arc<Mix>, u64) {
        let mix = Arc::clone(&self.mix.read().unwrap_or_else(PoisonError::into_inner));
        let number = self.taken.as_ref();
        (mix, number.map_or(iteration, |taken| taken.fetch_add(1, Ordering::Relaxed)))
    }
}
