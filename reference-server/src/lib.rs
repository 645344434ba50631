//! A paymaster that a wallet developer runs locally, and the faults that it can show on request.
//!
//! The paymaster is the crate `paymaster_service`, the faults are the crate `paymaster_faults`. The command is in this one.
#![warn(missing_docs)]

pub use paymaster_faults::*;
pub use paymaster_service::*;
