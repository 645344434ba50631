//! The HTTP client of the paymaster tools. It knows nothing of paymasters, rules or Ethereum.

pub mod connection;
pub mod dial;
pub mod http_proxy;
pub mod pace;
pub mod redact;
pub mod retry_after;
pub mod share;
pub mod stop;
pub mod stream;
pub mod symptoms;
pub mod target;
pub mod tls;
pub mod transport;
pub mod wire;
