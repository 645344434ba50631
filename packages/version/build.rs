//! Finds the commit and the target of the build, and passes them to the library as `PAYMASTER_BUILD`. Git is not required.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Digits of a commit that are printed.
const DIGITS: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PAYMASTER_COMMIT");
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let commit = given().or_else(|| packaged(&package)).or_else(|| checked_out(&package));
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = match commit {
        Some(commit) => format!("commit {}", commit.get(..DIGITS).unwrap_or(&commit)),
        None if release => "commit unknown".to_owned(),
        None => "debug build".to_owned(),
    };
    let target = env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=PAYMASTER_BUILD={commit}, {target}");
}

/// The commit that the release workflow, or the packager of a distribution, states.
fn given() -> Option<String> {
    env::var("PAYMASTER_COMMIT").ok().filter(|commit| !commit.is_empty())
}

/// The commit that `cargo package` wrote into the packaged sources.
fn packaged(package: &Path) -> Option<String> {
    let text = fs::read_to_string(package.join(".cargo_vcs_info.json")).ok()?;
    let value = text.split("\"sha1\"").nth(1)?;
    Some(value.split('"').nth(1)?.to_owned())
}

/// The commit that is checked out. Only in release builds: a debug build would have to be compiled again after every commit.
fn checked_out(package: &Path) -> Option<String> {
    let root = package.join("../..");
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // Without this, the commit of a repository around unpacked sources would be taken.
    if !release || !root.join(".git").exists() {
        return None;
    }
    // Git appends to this file at each commit and checkout.
    let log = git(&root, &["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={}", root.join(log).display());
    git(&root, &["rev-parse", "HEAD"])
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
