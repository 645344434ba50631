//! Fault injection: a layer around the service that changes requests and responses.
//!
//! [`faults`](crate::faults()) and [`variants`](crate::variants()) are tables of [`Injection`]s: a condition and a
//! behaviour. [`InjectedService`] applies them around a plain [`Service`](paymaster_service::Service), which does not know them.

#[macro_use]
mod behaviour;
mod body;
mod change;
mod compress;
mod memory;
mod request_view;
mod response;
#[cfg(test)]
pub(crate) mod samples;
mod service;
#[cfg(test)]
mod tests;

pub use service::InjectedService;
pub(crate) use {behaviour::*, change::*, compress::*, request_view::*, response::*};
