//! The binary against small servers that misbehave in one way each.
#![expect(clippy::unwrap_used, reason = "a test stops where the binary cannot be run")]

mod action;
mod clients;
mod commands;
mod comparing;
mod configuration;
mod contradictions;
mod defects;
mod environment;
mod first_contact;
mod formats;
mod hostile;
mod judge;
mod known;
mod limits;
mod on_chain;
mod origins;
mod overload;
mod pages;
mod proxy;
#[cfg(unix)] // It ends the proxy with a signal.
mod relay;
#[cfg(unix)] // It runs printed lines in a shell.
mod replaying;
mod reports;
mod scope;
mod secrets;
mod secure;
mod server;
mod sparse_profiles;
mod specification;
mod targets;
mod texts;
mod tls;
mod varying;
mod verdict;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use assert_cmd::Command;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Version};
use hyper_util::rt::TokioIo;
use paymaster_conformance::FORMATS;
use paymaster_fee_quote::SPECIFICATION;
use paymaster_reference_server::{Config, Service, to_profile};
use paymaster_schemas::Basis;
use secure::{Secure, certificate};
use serde_json::{Value, json};
use server::*;
use tempfile::{TempDir, tempdir};

/// The binary, in a folder of its own, with an empty environment.
fn binary(folder: impl AsRef<Path>) -> Command {
    let mut command = Command::cargo_bin("paymaster-conformance").unwrap();
    command.current_dir(folder).env_clear();
    // Where nothing names a specification, the target is asked: tests of that remove this.
    command.env("PAYMASTER_SPEC", "fee-quote");
    command.envs(system_root());
    command
}

/// The one variable without which Windows opens no socket; nothing on other systems.
fn system_root() -> Option<(&'static str, std::ffi::OsString)> {
    Some(("SystemRoot", std::env::var_os("SystemRoot")?))
}

/// A run: exit code, standard output, standard error.
fn run(folder: impl AsRef<Path>, arguments: &[&str]) -> (i32, String, String) {
    finish(binary(folder).args(arguments))
}

fn finish(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// The outputs of a run that must end with this exit code.
#[track_caller]
fn ends(expected: i32, (code, out, err): (i32, String, String)) -> (String, String) {
    assert_eq!(code, expected, "{out}{err}");
    (out, err)
}

/// A run in a new folder.
fn alone(arguments: &[&str]) -> (i32, String, String) {
    let folder = tempdir().unwrap();
    run(&folder, arguments)
}

/// The words of a command line.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The profile of the reference server.
fn own_profile() -> String {
    to_profile("fee-quote", &Config::default(), &[]).unwrap()
}

/// The report is valid against its schema.
#[track_caller]
fn is_valid(report: &Value) {
    let schema = serde_json::from_str(include_str!("../../report.schema.json")).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors = validator.iter_errors(report);
    let errors: Vec<_> = errors.map(|error| format!("{error} at {}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// A new folder with this `paymaster.toml`.
fn with_profile(text: impl AsRef<[u8]>) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("paymaster.toml"), text).unwrap();
    folder
}

fn text_of(folder: impl AsRef<Path>, name: impl AsRef<Path>) -> String {
    fs::read_to_string(folder.as_ref().join(name)).unwrap()
}

fn json_of(folder: impl AsRef<Path>, name: impl AsRef<Path>) -> Value {
    serde_json::from_str(&text_of(folder, name)).unwrap()
}

/// All these parts stand in the text.
#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing: {text}");
    }
}

/// None of these parts stands in the text.
#[track_caller]
fn lacks(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(!text.contains(part), "`{part}` is there: {text}");
    }
}

/// How many rules a run without a chain has.
fn rule_count() -> usize {
    SPECIFICATION.rules().filter(|rule| rule.basis() != Basis::OnChain).count()
}

/// A report without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
