//! Load testing of paymaster services with judged answers: a fast answer that breaks a rule counts as a failure.
//!
//! From the command line to the reports: [`cli`] reads arguments, [`run`] puts a run together, [`scenarios`] makes its requests,
//! [`engine`] sends them (goose manages the users), [`judging`] judges the answers, [`figures`] counts them, [`results`] holds
//! summary, thresholds, merging and comparison, [`report`] renders them, [`metrics`] shows them while a run goes on. [`text`] formats
//! numbers.
//! [`worker`] is the same as a worker of a Locust master, which distributes a run over machines.
//!
//! A threshold judges what a run counted:
//!
//! ```
//! use std::time::Duration;
//! use paymaster_loadtest::{
//!     figures::{Figures, Outcome, Sample},
//!     results::Threshold,
//! };
//!
//! let mut figures = Figures::default();
//! for milliseconds in [3, 4, 250] {
//!     figures.record(&Sample {
//!         label: "quote-erc20",
//!         at: Some(Duration::ZERO),
//!         latency: Duration::from_millis(milliseconds),
//!         outcome: Outcome::Good,
//!         judged: true,
//!     });
//! }
//! let threshold: Threshold = "p95<200ms".parse().unwrap();
//! assert!(!threshold.judge(&figures, Duration::from_secs(1), false).met);
//! ```

pub mod cli;
pub mod engine;
pub mod figures;
pub mod judging;
pub mod metrics;
mod number;
pub mod report;
pub mod results;
pub mod run;
pub mod scenarios;
pub mod text;
pub mod worker;
