//! Judging: exchanges in, findings and counts out.

pub mod access;
pub mod judge;
pub mod learn;
pub mod recorded;
pub mod tally;
pub mod unread;
