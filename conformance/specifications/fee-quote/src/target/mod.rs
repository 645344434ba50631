//! What is known of the target: profile, dialect, tokens, accounts.

pub mod accounts;
mod by_pair;
pub mod context;
pub mod dialect;
pub mod forms;
pub mod ordinary;
pub mod profile;
mod promises;
pub mod quoted;
pub mod spellings;

pub use {accounts::*, context::*, dialect::*, forms::*, ordinary::*, profile::*, quoted::*, spellings::*};
