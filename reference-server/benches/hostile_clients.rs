//! Measures a well-behaved client while hostile clients use the same server: its request rate relative to the rate without them,
//! its latencies and failures (the limit is none), and the peak memory of the server.
//!
//! Each case starts its own server and measures the good client without and with the hostile clients.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

mod samples;

use std::{
    error::Error,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, ExitCode, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::samples::PAIRS;

/// Number of requests of the good client, one after another on one connection.
const REQUESTS: usize = 500;
/// Wait after the hostile clients start, before the good client is measured.
const SETTLE: Duration = Duration::from_millis(300);

type Failure = Box<dyn Error>;

/// A kind of hostile client, and the number of them.
struct HostileClients {
    name: &'static str,
    clients: usize,
    /// Runs one client until it is stopped.
    act: fn(TcpStream, &AtomicBool) -> std::io::Result<()>,
}

const CASES: [HostileClients; 6] = [
    HostileClients { name: "idle connections", clients: 800, act: idle },
    HostileClients { name: "slow heads", clients: 200, act: slow_head },
    HostileClients { name: "answers never read", clients: 8, act: never_read },
    HostileClients { name: "bodies too large", clients: 2, act: too_large },
    HostileClients { name: "deep pipelines", clients: 2, act: pipeline },
    HostileClients { name: "batches of 100", clients: 2, act: batches },
];

fn main() -> Result<ExitCode, Failure> {
    println!(
        "one good client, {REQUESTS} requests one after another, alone and among others on the same server:"
    );
    println!(
        "{:<20} {:>7}  {:>10}  {:>13}  {:>13}  {:>8}  {:>11}",
        "others", "clients", "rate", "p50 alone", "p99 among", "failures", "server peak"
    );
    let mut failures = 0;
    for case in &CASES {
        failures += measure(case)?;
    }
    if failures == 0 {
        println!("limit met: the good client had no failure");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("limit missed: the good client had {failures} failures");
    Ok(ExitCode::FAILURE)
}

/// Measures one case; returns the number of failures of the good client.
fn measure(case: &HostileClients) -> Result<usize, Failure> {
    let server = Server::start()?;
    good_client(&server.address); // warm-up
    let alone = good_client(&server.address);
    let stop = AtomicBool::new(false);
    let among = thread::scope(|scope| {
        for _ in 0..case.clients {
            let (stop, address) = (&stop, &server.address);
            let client = move || {
                while !stop.load(Ordering::Relaxed) {
                    // The server may close a hostile connection; the client then connects again.
                    let _ = TcpStream::connect(address).and_then(|stream| (case.act)(stream, stop));
                    thread::sleep(Duration::from_millis(1));
                }
            };
            // Small stacks, because there are many threads.
            if let Err(cause) = thread::Builder::new().stack_size(128 * 1024).spawn_scoped(scope, client) {
                eprintln!("a client could not be started: {cause}");
            }
        }
        thread::sleep(SETTLE);
        let among = good_client(&server.address);
        stop.store(true, Ordering::Relaxed);
        among
    });
    let failures = alone.failures + among.failures;
    println!(
        "{:<20} {:>7}  {:>9.2}x  {:>10} us  {:>10} us  {failures:>8}  {:>8} MB",
        case.name,
        case.clients,
        alone.took.as_secs_f64() / among.took.as_secs_f64(),
        alone.quantile(50).as_micros(),
        among.quantile(99).as_micros(),
        server.peak_kilobytes()? / 1024,
    );
    Ok(failures)
}

/// The measurements of the good client.
struct Measurements {
    took: Duration,
    latencies: Vec<Duration>,
    failures: usize,
}

impl Measurements {
    fn quantile(&self, percent: usize) -> Duration {
        let place = self.latencies.len() * percent / 100;
        self.latencies.get(place).copied().unwrap_or_default()
    }
}

fn good_client(address: &str) -> Measurements {
    let (mut latencies, mut failures) = (Vec::with_capacity(REQUESTS), 0);
    let mut stream = None;
    let started = Instant::now();
    for (_, body) in PAIRS.iter().cycle().take(REQUESTS) {
        let sent = Instant::now();
        if exchange(&mut stream, address, body).is_ok() {
            latencies.push(sent.elapsed());
        } else {
            failures += 1;
            stream = None;
        }
    }
    let took = started.elapsed();
    latencies.sort();
    Measurements { took, latencies, failures }
}

/// Sends one request and reads its response, which must be a result.
fn exchange(stream: &mut Option<TcpStream>, address: &str, body: &str) -> Result<(), Failure> {
    if stream.is_none() {
        let fresh = TcpStream::connect(address)?;
        fresh.set_nodelay(true)?;
        fresh.set_read_timeout(Some(Duration::from_secs(10)))?;
        *stream = Some(fresh);
    }
    let stream = stream.as_mut().ok_or("no connection")?;
    stream.write_all(&request(body))?;
    let answer = read_answer(stream)?;
    if answer.starts_with("HTTP/1.1 200") && answer.contains("\"result\"") {
        Ok(())
    } else {
        Err("not a result".into())
    }
}

fn request(body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn read_answer(stream: &mut TcpStream) -> Result<String, Failure> {
    let (mut buffer, mut filled) = (vec![0; 64 * 1024], 0);
    loop {
        let count = stream.read(&mut buffer[filled..])?;
        if count == 0 {
            return Err("the server closed the connection".into());
        }
        filled += count;
        let text = std::str::from_utf8(&buffer[..filled])?;
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length: ")).ok_or("no length")?;
        if body.len() >= length.parse()? {
            return Ok(text.to_owned());
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other clients can fail")]
fn idle(_stream: TcpStream, stop: &AtomicBool) -> std::io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn slow_head(mut stream: TcpStream, stop: &AtomicBool) -> std::io::Result<()> {
    stream.write_all(b"POST / HTTP/1.1\r\nx-slow: ")?;
    while !stop.load(Ordering::Relaxed) {
        stream.write_all(b"x")?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn never_read(mut stream: TcpStream, stop: &AtomicBool) -> std::io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_millis(50)))?;
    let requests = request(PAIRS[0].1).repeat(64);
    while !stop.load(Ordering::Relaxed) {
        if stream.write_all(&requests).is_err() {
            return idle(stream, stop);
        }
    }
    Ok(())
}

fn too_large(mut stream: TcpStream, stop: &AtomicBool) -> std::io::Result<()> {
    stream.write_all(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000000000\r\n\r\n")?;
    let piece = vec![b' '; 64 * 1024];
    // Ends when the server closes the connection.
    while !stop.load(Ordering::Relaxed) && stream.write_all(&piece).is_ok() {}
    Ok(())
}

fn pipeline(stream: TcpStream, stop: &AtomicBool) -> std::io::Result<()> {
    flood(stream, stop, &request(PAIRS[0].1).repeat(64))
}

fn batches(stream: TcpStream, stop: &AtomicBool) -> std::io::Result<()> {
    let calls = vec![PAIRS[0].1; 100].join(",");
    flood(stream, stop, &request(&format!("[{calls}]")))
}

/// Sends the same bytes repeatedly, and reads and discards all responses.
fn flood(mut stream: TcpStream, stop: &AtomicBool, bytes: &[u8]) -> std::io::Result<()> {
    let mut answers = stream.try_clone()?;
    answers.set_read_timeout(Some(Duration::from_millis(50)))?;
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut buffer = vec![0; 256 * 1024];
            while !stop.load(Ordering::Relaxed) {
                if matches!(answers.read(&mut buffer), Ok(0)) {
                    return;
                }
            }
            // Closing both halves unblocks the writer.
            let _ = answers.shutdown(std::net::Shutdown::Both);
        });
        while !stop.load(Ordering::Relaxed) {
            stream.write_all(bytes)?;
        }
        Ok(())
    })
}

/// The reference server command, in its own process.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Result<Self, Failure> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_paymaster-reference-server"))
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().ok_or("no output")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on http://").ok_or("no address")?.to_owned();
        Ok(Self { child, address })
    }

    /// The peak resident memory, in kilobytes.
    fn peak_kilobytes(&self) -> Result<u64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .ok_or("the system does not report VmHWM")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
