//! Judges exchanges with a service, by whatever specification plugs in. A pure library: it uses no clock, socket, environment, file or
//! output, and names no member of a request or a result.

pub mod cases;
pub mod diagnosis;
pub mod first_profile;
pub mod generate;
pub mod json;
pub mod knowledge;
pub mod load;
pub mod message;
pub mod rules;
pub mod session;
pub mod specification;
pub mod spending;
pub mod verdict;
