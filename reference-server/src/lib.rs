//! A paymaster that a wallet developer runs locally: `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation` over HTTP, with
//! every member and rule of sections 2 to 7 of the specification.
//!
//! [`Service::handle_bytes`] turns the bytes of a request into those of its response, without a socket or a clock.
//! [`run`] serves a [`Service`] over HTTP. An [`InjectedService`] is a service with [`faults`] and [`variants`] around it.

mod bounds;
mod calls;
mod chain;
mod clock;
pub mod config;
mod cors;
mod decimal;
mod depth;
mod envelope;
mod error_codes;
mod explain;
mod faults;
mod gas;
mod http;
mod injection;
mod methods;
mod metrics;
mod names;
mod observer;
mod policy;
mod profile;
mod request;
mod respond;
mod service;
mod signing;
mod tokens;
mod variants;

pub use bounds::Bounds;
pub use chain::{ChainConfig, RpcUrl};
pub use config::{Config, ConfigError, Secret};
pub use cors::CorsConfig;
pub use error_codes::ErrorCode;
pub use faults::{Fault, faults, find_fault};
pub use http::{Listen, PipeConnector, PipeListener, pipe, run, run_observed};
pub use injection::InjectedService;
pub use metrics::{Metrics, metrics_address, serve_metrics};
pub use names::UnknownName;
pub use observer::Observer;
pub use policy::PolicyConfig;
pub use respond::Respond;
pub use service::{Reply, Service};
pub use signing::SigningConfig;
pub use tokens::Token;
pub use variants::{Statement, Variant, find_variant, variants};
