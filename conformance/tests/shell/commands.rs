//! The other commands, and how a run is interrupted.

use std::process::Command;

use crate::*;

#[cfg(unix)]
use std::process::Child;

#[test]
fn rules_are_listed() {
    let (out, _) = ends(0, alone(&["rules"]));
    assert!(out.lines().count() > 50, "{out}");
}

#[test]
fn a_dry_run_sends_nothing() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let (out, _) = ends(0, run(&folder, &[&server.url(), "--dry-run"]));
    assert!(out.contains("would be sent"), "{out}");
    assert_eq!(server.requests(), 0);
    ends(0, run(&folder, &[&unreachable_url(), "--dry-run"]));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_with_a_report() {
    let folder = tempdir().unwrap();
    let server = Server::sound();
    let child = Command::new(assert_cmd::cargo::cargo_bin("paymaster-conformance"))
        .current_dir(folder.path())
        .args([&server.url(), "--rate", "50"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while server.requests() < 40 {
        assert!(begin.elapsed() < Duration::from_mins(1), "nothing was sent");
        thread::sleep(Duration::from_millis(10));
    }
    let out = told_when_interrupted(child);
    assert!(out.contains("cut short: interrupted"), "{out}");
    assert!(out.contains("the run was interrupted: start it again"), "{out}");
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_ends_a_selftest() {
    let folder = tempdir().unwrap();
    let child = Command::new(assert_cmd::cargo::cargo_bin("paymaster-conformance"))
        .current_dir(folder.path())
        .args(["selftest", "--only", "id-zero-refused", "--seeds", "500"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !listens_to_interrupts(child.id()) {
        assert!(begin.elapsed() < Duration::from_mins(1), "nobody listens");
        thread::sleep(Duration::from_millis(10));
    }
    let out = told_when_interrupted(child);
    assert!(out.contains("interrupted: "), "{out}");
}

/// Whether a process catches SIGINT.
#[cfg(target_os = "linux")]
fn listens_to_interrupts(process: u32) -> bool {
    const SIGINT: u64 = 1 << 1;
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & SIGINT != 0)
}

/// Interrupts a command, and gives what it prints then: the run is incomplete.
#[cfg(unix)]
fn told_when_interrupted(mut child: Child) -> String {
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{out}");
    assert!(out.starts_with("INCOMPLETE"), "{out}");
    out
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let folder = tempdir().unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("paymaster-conformance"))
        .current_dir(folder.path())
        .arg("rules")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
