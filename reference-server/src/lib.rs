//! A paymaster that a wallet developer runs locally: `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation` over HTTP, with
//! every member and rule of sections 2 to 7 of the specification.
//!
//! [`Service::handle_bytes`] turns the bytes of a request into those of its response, without a socket or a clock.
//! [`run`] serves a [`Service`] over HTTP. An [`InjectedService`] is a service with [`faults`] and [`variants`] around it.
#![warn(missing_docs)]

pub mod config;
mod faults;
mod http;
mod injection;
mod message;
mod names;
mod observation;
mod paymaster;
mod profile;
mod service;
mod variants;

pub use config::bounds::Bounds;
pub use config::cors::CorsConfig;
pub use config::{Config, ConfigError, Secret};
pub use faults::{Fault, FaultCondition, faults, find_fault};
pub use http::respond::Respond;
pub use http::{Listen, PipeConnector, PipeListener, pipe, run, run_observed};
pub use injection::InjectedService;
pub use message::error_codes::ErrorCode;
pub use names::{UnknownName, nearest};
pub use observation::metrics::{Metrics, metrics_address, serve_metrics};
pub use observation::observer::Observer;
pub use paymaster::chain::{ChainConfig, RpcUrl};
pub use paymaster::policy::PolicyConfig;
pub use paymaster::signing::SigningConfig;
pub use paymaster::tokens::Token;
pub use service::{Reply, Service};
pub use variants::{Statement, Variant, find_variant, variants};
