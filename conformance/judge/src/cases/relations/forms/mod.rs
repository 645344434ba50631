//! Relations about the forms in which the same request can be written.

pub(super) mod client_forms;
pub(super) mod letter_case;
pub(super) mod notation;
pub(super) mod optional_members;
