//! The HTTP client of the paymaster tools. Nothing in it depends on paymasters, rules or Ethereum.

mod coding;
mod connection;
pub mod connector;
pub mod diagnosis;
pub mod lean;
pub mod memory;
pub mod pace;
pub mod proxies;
pub mod redact;
mod response_head;
pub mod stop;
pub mod stream;
mod tap;
pub mod target;
pub mod throttling;
pub mod tls;
pub mod transport;
pub mod tunnel;
