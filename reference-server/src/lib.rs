//! A real, small paymaster that a wallet developer can run locally: `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation`
//! over HTTP, every member and rule of sections 2 to 7.
//!
//! A message goes `bytes -> envelope -> method (pure function) -> bytes`. [`Service::handle_bytes`] is that path without a
//! socket or a clock; [`run`] serves it over HTTP, with the [`faults`] and [`variants`] that the service was given.

mod bounds;
mod chain;
pub mod config;
mod decimal;
mod depth;
mod deviations;
mod envelope;
mod error_codes;
mod explain;
mod faults;
mod gas;
mod http;
mod methods;
mod policy;
mod request;
mod service;
mod signing;
mod tokens;
mod variants;

pub use bounds::Bounds;
pub use chain::{ChainConfig, RpcUrl};
pub use config::{Config, ConfigError, Secret};
pub use deviations::UnknownName;
pub use error_codes::ErrorCode;
pub use faults::{Fault, faults, find_fault};
pub use http::{Listen, PipeConnector, PipeListener, pipe, run};
pub use policy::PolicyConfig;
pub use service::{Reply, Service};
pub use signing::SigningConfig;
pub use tokens::Token;
pub use variants::{Variant, find_variant, variants};
