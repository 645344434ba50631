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

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use alloy_primitives::{hex, keccak256};
use paymaster_reference_server::{
    Config, ErrorCode, InjectedService, PolicyConfig, Service, SigningConfig, find_fault, find_variant,
    to_profile,
};
use paymaster_schemas::validator_for;
use running::*;
use serde_json::{Value, json};
use signature::{TEST_ACCOUNT, recovered_sponsorship};
use support::*;
