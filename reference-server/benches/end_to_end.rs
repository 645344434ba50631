//! Measures the CPU time of the server for each request over HTTP, relative to a bare hyper server that returns constant bytes.
//! The limit is 1.18 with signing off.
//!
//! Each server runs in its own process, so that the system reports its CPU time. The servers get the same requests in short
//! alternating turns, so that the drift of a shared machine affects all of them; the ratio is the median of all turns.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its figures")]

mod samples;

use std::convert::Infallible;
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use paymaster_reference_server::{Config, Service, run};
use tokio::net::TcpListener;

use crate::samples::PAIRS;

/// Largest ratio with signing off.
const LIMIT: f64 = 1.18;
/// Number of connections, with one request in flight on each.
const CONNECTIONS: usize = 4;
/// Requests of a turn on one connection: few, so that a disturbance affects all servers or only one turn.
const REQUESTS: usize = 1_000;
/// Number of measured turns of each server.
const TURNS: usize = 75;
/// The argument that makes this process a server.
const SERVE: &str = "--serve";

type Failure = Box<dyn Error>;

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(position) = arguments.iter().position(|argument| argument == SERVE) {
        let kind = arguments.get(position + 1).ok_or("which server?")?;
        serve(kind)?;
        return Ok(ExitCode::SUCCESS);
    }
    compare()
}

fn compare() -> Result<ExitCode, Failure> {
    let mut servers =
        ["bare", "unsigned", "signed"].map(Process::start).into_iter().collect::<Result<Vec<_>, _>>()?;
    for server in &mut servers {
        server.turn()?; // warm-up
    }
    let mut costs = vec![Vec::new(); servers.len()];
    for _ in 0..TURNS {
        for (server, costs) in servers.iter_mut().zip(&mut costs) {
            costs.push(server.turn()?);
        }
    }
    println!(
        "server CPU a request, the four pairs in turn, {CONNECTIONS} connections, median of {TURNS} turns:"
    );
    let mut met = true;
    for (index, (server, costs_of_server)) in servers.iter().zip(&costs).enumerate() {
        let ratios = costs_of_server.iter().zip(&costs[0]).map(|(cost, bare)| cost / bare).collect();
        let ratio = median(ratios);
        println!("{:>9}: {:6.2} us, {ratio:.3} of bare", server.kind, median(costs_of_server.clone()));
        if index == 1 {
            met = ratio <= LIMIT;
        }
    }
    if met {
        println!("limit met: unsigned is at most {LIMIT} of bare");
        Ok(ExitCode::SUCCESS)
    } else {
        eprintln!("limit missed: unsigned is above {LIMIT} of bare");
        Ok(ExitCode::FAILURE)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A server in its own process, which ends when its standard input ends.
struct Process {
    kind: &'static str,
    child: Child,
    _stdin: Option<ChildStdin>,
    address: String,
}

impl Process {
    fn start(kind: &'static str) -> Result<Self, Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([SERVE, kind])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let stdout = child.stdout.as_mut().ok_or("no output")?;
        BufReader::new(stdout).read_line(&mut address)?;
        Ok(Self { kind, _stdin: child.stdin.take(), child, address: address.trim().to_owned() })
    }

    /// Sends the requests of a turn; returns the CPU time of the server for each, in microseconds.
    fn turn(&mut self) -> Result<f64, Failure> {
        let before = self.cpu_nanoseconds()?;
        std::thread::scope(|scope| {
            let drivers: Vec<_> = (0..CONNECTIONS)
                .map(|_| scope.spawn(|| drive(&self.address).map_err(|error| error.to_string())))
                .collect();
            for driver in drivers {
                driver.join().map_err(|_| "a driver panicked")??;
            }
            Ok::<(), Failure>(())
        })?;
        let spent = self.cpu_nanoseconds()? - before;
        let requests = u32::try_from(CONNECTIONS * REQUESTS)?;
        Ok(std::time::Duration::from_nanos(spent).as_secs_f64() * 1e6 / f64::from(requests))
    }

    /// CPU time of all threads so far, from `schedstat`.
    fn cpu_nanoseconds(&self) -> Result<u64, Failure> {
        let mut sum = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let accounts = std::fs::read_to_string(task?.path().join("schedstat"))?;
            sum += accounts.split(' ').next().ok_or("an empty schedstat")?.parse::<u64>()?;
        }
        Ok(sum)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends the requests of a turn on one connection, one after another.
fn drive(address: &str) -> Result<(), Failure> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let requests = PAIRS.map(|(_, body)| {
        format!(
            "POST /api/v2/137/key HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    });
    let mut buffer = vec![0; 64 * 1024];
    for request in requests.iter().cycle().take(REQUESTS) {
        stream.write_all(request.as_bytes())?;
        let mut filled = 0;
        loop {
            let count = stream.read(&mut buffer[filled..])?;
            if count == 0 {
                return Err("the server closed the connection".into());
            }
            filled += count;
            if is_whole(&buffer[..filled])? {
                break;
            }
        }
    }
    Ok(())
}

/// Whether a whole response with a result has been read.
fn is_whole(answer: &[u8]) -> Result<bool, Failure> {
    let text = std::str::from_utf8(answer)?;
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Ok(false) };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).ok_or("no length")?;
    if body.len() < length.parse()? {
        return Ok(false);
    }
    if head.starts_with("HTTP/1.1 200") && body.contains("\"result\"") {
        Ok(true)
    } else {
        Err(format!("not a result: {body}").into())
    }
}

/// Serves until standard input ends.
fn serve(kind: &str) -> Result<(), Failure> {
    let mut config = Config::default();
    config.signing.enabled = kind == "signed";
    let service = Service::new(&config)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        let ended = tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0]));
        if kind == "bare" {
            // The response has the mean length of the real responses.
            let lengths: Vec<usize> = PAIRS
                .iter()
                .map(|(_, text)| service.handle_bytes(text.as_bytes(), 0).body.map_or(0, |body| body.len()))
                .collect();
            let length = lengths.iter().sum::<usize>() / lengths.len();
            let mut answer = br#"{"result":""#.to_vec();
            answer.resize(length - 2, b'x');
            answer.extend_from_slice(b"\"}");
            tokio::select! {
                served = serve_bare(listener, Bytes::from(answer)) => served?,
                _ = ended => {}
            }
        } else {
            run(listener, Arc::new(service), async {
                let _ = ended.await;
            })
            .await;
        }
        Ok(())
    })
}

/// hyper as in its examples: reads the body and returns a constant response.
async fn serve_bare(listener: TcpListener, answer: Bytes) -> Result<(), Failure> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(|request: Request<Incoming>| {
                let answer = answer.clone();
                async move {
                    let _ = request.into_body().collect().await;
                    Ok::<_, Infallible>(Response::new(Full::new(answer)))
                }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
