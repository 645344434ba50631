//! Rules about what requests must get: which are served, refused, and compared with each other.

pub(crate) mod accepted;
pub(crate) mod decision;
pub(crate) mod errors;
pub(crate) mod interoperability;
pub(crate) mod notation;
pub(crate) mod served;
