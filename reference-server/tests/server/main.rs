//! The reference server from outside: its messages, its HTTP, its command.

mod agreement;
mod bounds;
mod chain;
mod command;
mod connections;
mod injection;
mod json_rpc;
mod quotes;
mod signature;
mod sponsorship;
mod support;
