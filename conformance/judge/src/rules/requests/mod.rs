//! Rules about what requests must get: which are served, refused, and compared with each other.

pub(super) mod accepted;
pub(super) mod decision;
pub(super) mod notation;
pub(super) mod served;
