//! What lies below HTTP: the target's URL, proxies, tunnels and TLS.

pub mod connector;
pub mod proxies;
pub mod stream;
pub mod target;
pub mod tls;
pub mod tunnel;

pub use {connector::*, proxies::*, stream::*, target::*, tls::*};
