//! The result of a run: its summary and verdict, judged by thresholds, merged with other runs or compared with an earlier one.

pub mod compare;
pub mod merge;
pub mod summary;
pub mod threshold;
pub mod workers;
