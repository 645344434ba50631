//! Sending groups of requests: pacing, connections, repeats after 429 and 503, overload, whether the target still answers, and the chain on
//! which answers are simulated.

pub(crate) mod chain;
pub(crate) mod liveness;
mod outage;
pub(crate) mod overload;
pub(crate) mod sender;
#[cfg(test)]
mod tests;
mod under_load;
