//! Users as tokio tasks, for a Locust worker.
//!
//! A Locust master starts and stops users at any time, and goose cannot: it takes its plan of users before the start, changes users
//! by a telnet or WebSocket port only, and keeps its settings and its end for the whole process, while a worker has one run after
//! the other. So each user of a worker is a task that does what a user of goose does (`user::work_slice`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;
use tokio::task::JoinSet;

use super::user::{Sender, UserState, work_slice};
use crate::{engine::state::RunState, scenarios::Mix};

/// The users of a run, by class.
#[derive(Debug)]
pub(crate) struct UserTasks {
    run: Arc<RunState>,
    tasks: JoinSet<()>,
    /// For each class and each of its users: whether the user must stop.
    stops: BTreeMap<String, Vec<Arc<AtomicBool>>>,
    started: usize,
}

impl UserTasks {
    pub(crate) fn new(run: &Arc<RunState>) -> Self {
        Self { run: Arc::clone(run), tasks: JoinSet::new(), stops: BTreeMap::new(), started: 0 }
    }

    /// Starts or stops users of a class until it has `count`; without a lane it has none. A stopped user finishes its iteration.
    pub(crate) fn set(&mut self, class: &str, lane: Option<&Arc<Lane>>, count: usize) {
        // Users that were stopped earlier are reaped here, so that a long run with many changes keeps no trace of them.
        while self.tasks.try_join_next().is_some() {}
        let stops = self.stops.entry(class.to_owned()).or_default();
        for stopped in stops.drain(count.min(stops.len())..) {
            stopped.store(true, Ordering::Release);
        }
        while stops.len() < count
            && let Some(lane) = lane
        {
            let stop = Arc::new(AtomicBool::new(false));
            stops.push(Arc::clone(&stop));
            let (run, lane, index) = (Arc::clone(&self.run), Arc::clone(lane), self.started);
            self.started += 1;
            self.tasks.spawn(async move {
                let mut state = UserState::default();
                while !stop.load(Ordering::Acquire) && !run.is_over() {
                    let sender = Sender { index, lane: Some(&lane), goose: None };
                    work_slice(&run, &mut state, sender).await;
                }
            });
        }
        self.run.users.change(&self.run.clock, |_| self.total());
    }

    /// The number of users of each class that ever had a number.
    pub(crate) fn by_class(&self) -> BTreeMap<String, usize> {
        self.stops.iter().map(|(class, users)| (class.clone(), users.len())).collect()
    }

    /// The number of all users.
    pub(crate) fn total(&self) -> usize {
        self.stops.values().map(Vec::len).sum()
    }

    /// Ends every task. Requests in progress are dropped.
    pub(crate) async fn shut_down(&mut self) {
        self.stops.values_mut().for_each(Vec::clear);
        self.tasks.shutdown().await;
    }
}

/// What a group of users of a Locust worker sends. In a run of one machine, every user sends the mix of the run instead.
#[derive(Debug)]
pub(crate) struct Lane {
    mix: RwLock<Arc<Mix>>,
    /// How many sequences the users have taken; none if the numbers of the arrivals count.
    taken: Option<AtomicU64>,
}

impl Lane {
    /// Closed model: the users of one class send the sequences of their scenario, one after the other. Open model: every user takes the next
    /// arrival, whose number decides which sequence it is.
    pub(crate) fn new(mix: Mix, by_arrival: bool) -> Self {
        Self { mix: RwLock::new(Arc::new(mix)), taken: (!by_arrival).then(AtomicU64::default) }
    }

    /// Replaces the mix from the next iteration on.
    pub(crate) fn replace(&self, mix: Mix) {
        *self.mix.write() = Arc::new(mix);
    }

    /// The mix, and the number of the next sequence in it. `iteration` is the number of the iteration that sends it.
    pub(crate) fn take(&self, iteration: u64) -> (Arc<Mix>, u64) {
        let mix = Arc::clone(&self.mix.read());
        let number = self.taken.as_ref();
        (mix, number.map_or(iteration, |taken| taken.fetch_add(1, Ordering::Relaxed)))
    }
}
