//! A paymaster: `pm_getFeeQuoteOrData` and `pm_sponsorUserOperation` over HTTP, with every member and rule of sections 2 to 7 of the
//! first specification, and beside them `pm_getPaymasterStubData` and `pm_getPaymasterData` of ERC-7677.
//!
//! [`Service::handle_bytes`] turns the bytes of a request into those of its response, without a socket or a clock.
//! [`run`] serves a [`Service`], or whatever else implements [`Respond`], over HTTP.
//!
//! ```
//! use paymaster_service::{Config, Service};
//!
//! let service = Service::new(&Config::default()).unwrap();
//! let request = br#"{"jsonrpc": "2.0", "id": 7, "method": "pm_getFeeQuoteOrData", "params": []}"#;
//! let reply = service.handle_bytes(request, 1_772_366_400);
//! let answer: serde_json::Value = serde_json::from_slice(&reply.body.unwrap()).unwrap();
//! assert_eq!(answer["id"], 7);
//! assert_eq!(answer["error"]["code"], -32602, "params lack the operation");
//! ```
#![warn(missing_docs)]

pub mod config;
mod http;
mod message;
mod nearest;
mod observation;
mod paymaster;
mod service;

pub use config::{Bounds, Config, ConfigError, Cors, CorsConfig, Secret};
pub use http::respond::{AnnouncesTimeout, IdleBefore, Respond, ResponseCopy};
pub use http::{run, run_observed, serve_stream};
pub use message::{EntryPoint, ErrorCode, pair_of};
pub use nearest::{did_you_mean, nearest, place, with_suggestion};
pub use observation::metrics::{Metrics, metrics_address, serve_metrics};
pub use observation::observer::Observer;
pub use paymaster::{ChainConfig, Layout, PaymasterDataConfig, PolicyConfig, RpcUrl, SenderNonces};
pub use paymaster::{SigningConfig, Token, unix_now};
pub use service::{Reply, Service};
