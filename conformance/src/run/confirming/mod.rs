//! Looking closer at a violation: sending the same requests again, and looking for a smaller group that breaks the same rule.

pub(crate) mod confirm;
pub(crate) mod shrink;
