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

use std::path::Path;

use assert_cmd::Command;
use paymaster_fee_quote::SPECIFICATION;
use paymaster_schemas::Basis;

/// The binary, in a folder of its own, with an empty environment.
fn binary(folder: &Path) -> Command {
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
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
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

/// How many rules a run without a chain has.
fn rule_count() -> usize {
    SPECIFICATION.rules().filter(|rule| rule.basis() != Basis::OnChain).count()
}

/// A report without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
