//! The reference server from outside: its messages, its HTTP, its command.

mod agreement;
mod bounds;
mod command;
mod connections;
mod json_rpc;
mod quotes;
mod signature;
mod sponsorship;
mod support;
