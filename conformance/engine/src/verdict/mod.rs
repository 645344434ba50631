//! Verdicts, known failures and the summary of a run.

pub mod conclusion;
pub mod counts;
pub mod known;
pub mod line;
pub mod summary;

pub use {conclusion::*, counts::*, known::*, line::*, summary::*};
