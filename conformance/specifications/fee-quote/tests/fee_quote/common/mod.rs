//! What several tests share.

pub(crate) mod group;
pub(crate) mod letters;
pub(crate) mod runs;
pub(crate) mod sample;
