//! The commands.

pub(super) mod embedded;
pub(super) mod load;
pub(super) mod reports;
pub(super) mod worker;
