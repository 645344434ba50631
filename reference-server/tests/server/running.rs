//! The command as a process of its own, on a free port.

use std::process::{ChildStdout, Output};

use crate::*;

/// The command, without the environment variables that it reads.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paymaster-reference-server"));
    for variable in ["RUST_LOG", "PAYMASTER_SIGNING_KEY", "PAYMASTER_CHAIN_RPC"] {
        command.env_remove(variable);
    }
    command
}

/// Runs the command to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    command().args(arguments).output().expect("the command runs")
}

/// The standard error of a command that must have ended with this exit code.
#[track_caller]
pub(crate) fn failed(code: i32, output: &Output) -> String {
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{error}");
    error
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A running server, killed when dropped.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: String,
    stdout: BufReader<ChildStdout>,
    /// What it has printed and the test has read.
    printed: String,
}

/// A server that was stopped.
pub(crate) struct Stopped {
    #[cfg_attr(windows, expect(dead_code, reason = "only tests of signals compare it"))]
    pub(crate) code: Option<i32>,
    /// Its standard output.
    pub(crate) printed: String,
    /// Its standard error.
    pub(crate) log: String,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = command()
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let stdout = BufReader::new(child.stdout.take().expect("the stream is piped"));
        let mut server = Self { child, address: String::new(), stdout, printed: String::new() };
        server.address = server.line("listening on http://");
        server
    }

    /// Reads lines until one begins with `start`; returns the rest of it.
    pub(crate) fn line(&mut self, start: &str) -> String {
        loop {
            let from = self.printed.len();
            let count = self.stdout.read_line(&mut self.printed).expect("the output is text");
            assert!(count > 0, "no line begins with {start:?} in {}", self.printed);
            if let Some(rest) = self.printed[from..].trim_end().strip_prefix(start) {
                return rest.to_owned();
            }
        }
    }

    /// Sends a POST request; returns the whole response.
    pub(crate) fn post(&self, path: &str, body: &str) -> String {
        exchange(&self.address, &post_bytes(path, body))
    }

    /// Sends a request without a body and with these header lines; returns the whole response.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str]) -> String {
        let start = format!("{method} {path} HTTP/1.1");
        let lines = [&[start.as_str(), "host: localhost"], headers, &["\r\n"]].concat();
        exchange(&self.address, &lines.join("\r\n"))
    }

    /// Stops it with a signal.
    pub(crate) fn stop(mut self, signal: &str) -> Stopped {
        let sent = Command::new("kill")
            .args(["-s", signal, &self.child.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(sent.success());
        let status = self.child.wait().expect("the server ends");
        let mut log = String::new();
        let stderr = self.child.stderr.as_mut().expect("the stream is piped");
        stderr.read_to_string(&mut log).expect("the log is text");
        let mut printed = std::mem::take(&mut self.printed);
        self.stdout.read_to_string(&mut printed).expect("the output is text");
        Stopped { code: status.code(), printed, log }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It still runs only if a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request on a connection of its own; returns the whole response, its head in lower case.
pub(crate) fn exchange(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let request = request.replacen("\r\n", "\r\nconnection: close\r\n", 1);
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server answers");
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) => format!("{}\r\n\r\n{body}", head.to_lowercase()),
        None => answer,
    }
}
