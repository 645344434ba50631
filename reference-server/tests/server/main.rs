//! Tests of the reference server through its public API: messages, HTTP and the command.

mod agreement;
mod bounds;
mod chain;
#[cfg(unix)] // It ends the server with signals.
mod command;
mod connections;
mod injection;
mod json_rpc;
mod quotes;
mod signature;
mod sponsorship;
mod support;
