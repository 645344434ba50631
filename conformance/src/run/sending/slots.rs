//! The slots of the requests that may be in flight.

use tokio::sync::{Semaphore, SemaphorePermit, watch};

/// The limit on requests in flight. It starts with the jobs of the run, and only becomes lower.
#[derive(Debug)]
pub(super) struct Slots {
    jobs: watch::Sender<usize>,
    free: Semaphore,
}

impl Slots {
    pub(super) fn new(jobs: usize) -> Self {
        Self { jobs: watch::Sender::new(jobs), free: Semaphore::new(jobs) }
    }

    /// How many requests may be in flight.
    pub(super) fn jobs(&self) -> usize {
        *self.jobs.borrow()
    }

    /// Waits for that many slots, or for as many as there are. Returns them with their number; none when the run is over.
    pub(super) async fn acquire(&self, wanted: usize) -> Option<(SemaphorePermit<'_>, usize)> {
        if wanted <= 1 {
            return Some((self.free.acquire().await.ok()?, 1));
        }
        let mut jobs = self.jobs.subscribe();
        loop {
            let width = wanted.min(*jobs.borrow_and_update());
            tokio::select! {
                biased;
                slots = self.free.acquire_many(u32::try_from(width).unwrap_or(u32::MAX)) => return Some((slots.ok()?, width)),
                // So many slots may not exist any more.
                _ = jobs.changed() => {}
            }
        }
    }

    /// Gives all slots back, of which only this many remain.
    pub(super) fn give_back(&self, mut all: SemaphorePermit<'_>, jobs: usize) {
        if let Some(surplus) = all.split(self.jobs().saturating_sub(jobs)) {
            surplus.forget();
        }
        self.jobs.send_if_modified(|known| std::mem::replace(known, jobs) != jobs);
    }

    /// Leaves only this many slots, while all are free.
    pub(super) fn lower(&self, jobs: usize) {
        self.free.forget_permits(self.jobs().saturating_sub(jobs));
        self.jobs.send_if_modified(|known| jobs < std::mem::replace(known, jobs.min(*known)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn fewer_slots_stay_fewer() {
        let slots = Slots::new(5);
        for (wanted, expected) in [(3, 3), (4, 3), (1, 1)] {
            slots.lower(wanted);
            let (all, width) = slots.acquire(usize::MAX).await.unwrap();
            assert_eq!((width, slots.jobs()), (expected, expected));
            drop(all);
        }
    }

    #[tokio::test]
    async fn nobody_waits_for_slots_that_are_gone() {
        let slots = Arc::new(Slots::new(5));
        for expected in [2, 1] {
            let (all, _) = slots.acquire(usize::MAX).await.unwrap();
            // These wait for slots, two of them for more than there will be.
            let waiting = [1, 5, usize::MAX].map(|wanted| {
                let slots = Arc::clone(&slots);
                tokio::spawn(async move { slots.acquire(wanted).await.unwrap().1 })
            });
            tokio::task::yield_now().await;
            assert!(waiting.iter().all(|waiting| !waiting.is_finished()));
            slots.give_back(all, expected);
            assert_eq!(slots.jobs(), expected);
            for (waiting, width) in waiting.into_iter().zip([1, expected, expected]) {
                assert_eq!(waiting.await.unwrap(), width);
            }
        }
    }
}
