//! The result of a run: its summary and verdict, judged by thresholds, merged with other runs or compared with an earlier one.

mod compare;
mod merge;
mod summary;
mod threshold;
mod workers;

pub use {compare::*, merge::*, summary::*, threshold::*, workers::*};
