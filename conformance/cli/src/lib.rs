//! What the command lines of the paymaster tools share.

pub mod args;
pub mod duration;
pub mod embedded;
pub mod environment;
pub mod exit;
pub mod file;
pub mod headers;
pub mod layer;
pub mod output;
pub mod profile_file;
pub mod public_words;
pub mod report_file;
pub mod settings;
pub mod setup;
pub mod shell;
pub mod suggestion;
pub mod target;
pub mod terminal;
mod text;
mod validation;
