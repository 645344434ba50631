//! A schedule that can be replaced while a run goes on: a Locust master changes the share of a worker when it adds or moves users.

use std::sync::{Arc, PoisonError, RwLock};

use super::schedule::Schedule;

/// The current schedule of a run.
#[derive(Debug)]
pub struct Timetable {
    schedule: RwLock<Arc<Schedule>>,
    is_replaceable: bool,
}

impl Timetable {
    /// A timetable without arrivals, until its schedule is replaced.
    pub fn replaceable() -> Self {
        Self { is_replaceable: true, ..Self::from(Schedule::new(0.0, &[])) }
    }

    pub fn current(&self) -> Arc<Schedule> {
        Arc::clone(&self.schedule.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the schedule. The arrivals that are due already must be the same in both.
    pub fn replace(&self, schedule: Schedule) {
        *self.schedule.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(schedule);
    }

    /// Whether arrivals can follow the last one of the current schedule.
    pub(in crate::engine) fn is_replaceable(&self) -> bool {
        self.is_replaceable
    }
}

impl From<Schedule> for Timetable {
    fn from(schedule: Schedule) -> Self {
        Self { schedule: RwLock::new(Arc::new(schedule)), is_replaceable: false }
    }
}
