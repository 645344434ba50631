//! Tests of the reference server through its public API: messages, HTTP and the command.

mod agreement;
mod bounds;
mod chain;
#[cfg(unix)] // It ends the server with signals.
mod command;
mod connections;
mod cors;
mod injection;
mod json_rpc;
mod log;
mod metrics;
mod page;
mod paymaster_data;
mod quotes;
mod running;
mod secure_chain;
mod signature;
mod sponsorship;
mod startup;
mod support;
