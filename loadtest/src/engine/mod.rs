//! Sends requests and judges answers while the clock runs.
//!
//! goose manages the users: it starts and stops them by its test plan and serves its dashboard. What a user does is
//! our code, because of these limits of goose 0.19: its client measures the time to the response head only; it has no arrival rate
//! (its throttle is 9 to 10 % too slow and ignores custom requests); and its percentiles hide a stall of the target. So each user
//! has a connection of its own, measures exchanges from their intended start to the last byte, and reports them to goose
//! (`record_custom_request_duration`) if the user asked for a dashboard or report of goose.
//!
//! Other limits of goose 0.19: the times of its plans are whole seconds and its main loop checks twice a second, so our own clock
//! ends the run; it waits for its users without a deadline; a user that returns at once starves the runtime; it always prints to
//! standard output; and its handler of Ctrl-C ends the process without a report, so it is kept out (`cli::interrupts`).
//!
//! A Locust worker uses all of this without goose: its users are tasks (`users::tasks`), because a master changes their number at any time.

pub mod arrivals;
mod execute;
mod live;
mod liveness;
pub mod plan;
mod state;
mod stdout;
pub(crate) mod users;

pub use arrivals::schedule::{Schedule, Timetable};
pub use execute::execute;
pub use live::LiveView;
pub use plan::{MOST_USERS, StepPlan};
pub use state::{EndReason, Pacing, RunClock, RunSettings, RunState};
pub(crate) use users::tasks::{Lane, UserTasks};
