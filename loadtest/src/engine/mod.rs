//! Sends and judges while the clock runs.
//!
//! goose keeps the users: it starts and stops them after its test plan, catches Ctrl-C and serves its dashboard. What a user does is
//! ours, because of what was measured of goose 0.19: its client is timed to the response head, it has no arrival rate (its throttle
//! runs 9 to 10 % low and does not see custom requests), and a stall of the target hides from its percentiles. So each user drives
//! a connection of its own, times exchanges from when they were meant to start to the last byte, and tells goose of them
//! (`record_custom_request_duration`) when goose is asked to show something.
//!
//! Other limits of goose 0.19 to know: the spans of its plans are whole seconds and its main loop looks twice a second, so the end
//! of a run is told by our own clock; it waits for its users without a deadline, and a user that returns at once starves the
//! runtime; it prints to standard output whatever it is told; one switch means Ctrl-C and the end.

mod attack;
mod clock;
mod liveness;
mod pacer;
pub mod plan;
mod progress;
mod shared;
mod silence;
mod turn;
mod user;
pub mod vitals;

pub use attack::{Failed, attack};
pub use clock::Clock;
pub use progress::Progress;
pub use shared::{Ended, Pace, Settings, Shared};
