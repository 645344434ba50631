//! What the command lines of the paymaster tools share, and the frame of their HTML pages.

pub mod args;
pub mod command_line;
pub mod duration;
pub mod embedded;
pub mod exit;
pub mod headers;
pub mod output;
pub mod process;
pub mod settings;
pub mod specifications;
mod table;
pub mod which;

pub use embedded::{EMBEDDED_WARNING, Embedded};
pub use output::{Paint, escape_controls, wrapped};
pub use paymaster_reference_server::did_you_mean;
pub use settings::{Environment, ProfileFile, RunSetup, Settings, Setup, ShownTarget, TargetProfile};
pub use settings::{is_common, shown_url};
pub use specifications::{DEFAULT_SPECIFICATION, SPECIFICATIONS, all_rules, specification};
