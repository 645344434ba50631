//! The HTTP client of the paymaster tools. Nothing in it depends on paymasters, rules or Ethereum.

pub mod diagnosis;
pub mod environment;
pub mod files;
pub mod http;
pub mod lean;
pub mod memory;
pub mod network;
pub mod pace;
pub mod redact;
pub mod stop;
pub mod throttling;
