//! Runs the command, and test servers for it to load.

use std::process::{Command, Output};

use crate::*;

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_paymaster-loadtest"));
    command.current_dir(folder).env_clear().env("NO_COLOR", "1");
    // Where nothing names a specification, the target is asked, and these tests count its requests.
    command.env("PAYMASTER_SPEC", "fee-quote");
    // Without it, Windows opens no socket.
    if let Some(root) = std::env::var_os("SystemRoot") {
        command.env("SystemRoot", root);
    }
    command
}

/// The words of a command line.
pub(crate) fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// The words of an output, whose lines are broken where they are too long.
pub(crate) fn flat(out: &str) -> String {
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a command did.
pub(crate) struct Finished {
    /// The exit code; -1 after a signal.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Runs the command in this folder.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Finished {
    command(folder).args(arguments).output().unwrap().into()
}

/// Runs the command in a temporary folder. Returns its JSON report too, or null if it wrote none.
pub(crate) fn load(arguments: &[&str]) -> (Finished, Value) {
    let folder = tempfile::tempdir().unwrap();
    let finished = run(folder.path(), &[arguments, &["-o", "report.json"]].concat());
    let report = std::fs::read_to_string(folder.path().join("report.json"));
    let report = report.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    (finished, report)
}

/// The outputs of a command that must end with this exit code.
#[track_caller]
pub(crate) fn ends(expected: i32, Finished { code, out, err }: Finished) -> (String, String) {
    assert_eq!(code, expected, "{out}{err}");
    (out, err)
}

/// Standard output and report of a load that must end with this exit code.
#[track_caller]
pub(crate) fn loaded(expected: i32, arguments: &[&str]) -> (String, Value) {
    let (finished, report) = load(arguments);
    (ends(expected, finished).0, report)
}

/// The number of requests with this outcome in a JSON report.
pub(crate) fn count(report: &Value, outcome: &str) -> u64 {
    let labels = report["labels"].as_object().unwrap();
    let counts = labels.values().map(|label| label["counts"][outcome].as_u64().unwrap());
    counts.sum()
}

/// Starts a test server and returns its URL. `answer` gets the number of a request (from 0) and its id, and returns the whole HTTP
/// response; if that is empty, the server closes the connection.
pub(crate) fn serve(answer: impl Fn(usize, &str) -> String + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    let served = Arc::new(AtomicUsize::new(0));
    thread::spawn(move || {
        for stream in listener.incoming().take(20_000).map_while(Result::ok) {
            let (answer, served) = (Arc::clone(&answer), Arc::clone(&served));
            thread::spawn(move || {
                let _ = converse(stream, &served, &*answer);
            });
        }
    });
    url
}

fn converse(
    mut stream: TcpStream,
    served: &AtomicUsize,
    answer: &(dyn Fn(usize, &str) -> String + Send + Sync),
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut buffer, mut chunk) = (Vec::new(), [0_u8; 8_192]);
    loop {
        let text = String::from_utf8_lossy(&buffer).into_owned();
        let length = text.to_ascii_lowercase().split("content-length: ").nth(1).and_then(|rest| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<usize>().ok()
        });
        let whole = text.find("\r\n\r\n").zip(length).map(|(head, length)| head + 4 + length);
        if let Some(whole) = whole.filter(|whole| buffer.len() >= *whole) {
            let id = text.split("\"id\":").nth(1).unwrap_or("1,");
            let id: String = id.chars().take_while(char::is_ascii_digit).collect();
            let number = served.fetch_add(1, Ordering::SeqCst);
            let answer = answer(number, &id);
            if answer.is_empty() {
                return Ok(());
            }
            stream.write_all(answer.as_bytes())?;
            buffer.drain(..whole);
            continue;
        }
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Ok(());
        }
        buffer.extend_from_slice(&chunk[..read]);
    }
}

pub(crate) fn http(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(crate) fn sponsored(id: &str) -> String {
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"MODE\":\"SPONSORED\",\"paymasterAndData\":\"0xab\",\"preVerificationGas\":\"1\",\"verificationGasLimit\":1,\"callGasLimit\":1}}}}"
    );
    http("200 OK", "", &body)
}
