//! The command line: arguments, log, pages of help, signals and exit codes.

pub(crate) mod arguments;
pub(crate) mod exit_codes;
pub(crate) mod logging;
pub(crate) mod pages;
pub(crate) mod startup;
pub(crate) mod stop_signal;
