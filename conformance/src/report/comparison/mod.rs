//! Reports that are read back and compared: two runs, or several implementations side by side.

pub(crate) mod compare;
pub(crate) mod matrix;
pub(crate) mod saved_report;
