//! What the command lines of the paymaster tools share.

pub mod args;
pub mod duration;
pub mod embedded;
pub mod exit;
pub mod headers;
pub mod output;
pub mod process;
pub mod settings;
pub mod specifications;
pub mod suggestion;
pub mod which;
