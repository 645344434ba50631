//! Reports for machines: JSON, JUnit, SARIF, HAR and the event log.

mod exchange;
pub(crate) mod github;
pub(crate) mod har;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod ndjson;
pub(crate) mod profile_place;
pub(crate) mod sarif;

pub(crate) use exchange::moment;
