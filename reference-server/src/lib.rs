//! A real, small paymaster that a wallet developer can run locally: `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation`
//! over HTTP, every member and rule of sections 2 to 7.
//!
//! A message goes `bytes -> envelope -> method (pure function) -> [hook] -> bytes`. [`Service::handle_bytes`] is that path
//! without a socket or a clock; [`run`] serves it over HTTP.

mod bounds;
pub mod config;
mod decimal;
mod depth;
mod envelope;
mod error_codes;
mod explain;
mod gas;
mod http;
mod methods;
mod policy;
mod request;
mod service;
mod signing;
mod tokens;

pub use bounds::Bounds;
pub use config::{Config, ConfigError, Secret};
pub use error_codes::ErrorCode;
pub use http::run;
pub use policy::PolicyConfig;
pub use service::{Reply, Service, Tamper};
pub use signing::SigningConfig;
pub use tokens::Token;
