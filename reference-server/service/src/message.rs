//! JSON-RPC messages: measured, parsed, explained when they are refused, and written (sections 2, 7 and 8).

pub(crate) mod depth;
pub(crate) mod envelope;
pub(crate) mod error_codes;
pub(crate) mod explain;
pub(crate) mod request;

pub(crate) use {envelope::*, explain::*};
pub use {error_codes::*, request::*};
