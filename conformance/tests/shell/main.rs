//! The binary against small servers that misbehave in one way each.
#![expect(clippy::unwrap_used, reason = "a test stops where the binary cannot be run")]

mod action;
mod clients;
mod commands;
mod comparing;
mod configuration;
mod formats;
mod hostile;
mod judge;
mod known;
mod limits;
mod origins;
mod overload;
mod pages;
mod proxy;
mod relay;
mod replaying;
mod reports;
mod secrets;
mod secure;
mod server;
mod sparse_profiles;
mod targets;
mod texts;
mod tls;
mod verdict;

use std::path::Path;

use assert_cmd::Command;

/// The binary, in a folder of its own, with an empty environment.
fn binary(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("paymaster-conformance").unwrap();
    command.current_dir(folder).env_clear();
    command
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

/// A report without its line breaks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
