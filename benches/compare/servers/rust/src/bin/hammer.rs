//! Sends the requests of a file, one a line, in turn, over keep-alive connections for some time, and counts the answers.
//! `hammer URL_AUTHORITY REQUESTS_FILE CONNECTIONS SECONDS` prints `requests seconds p50_us p99_us`; an answer that is not HTTP 200
//! with a result ends it with an error, since nobody wants to know how fast a server refuses.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, task::JoinSet};

type Failure = Box<dyn Error + Send + Sync>;

/// One answer in so many is looked into, so that looking costs next to nothing.
const LOOK_EVERY: usize = 256;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [authority, file, connections, seconds] = &arguments[..] else {
        return Err("wants: AUTHORITY REQUESTS_FILE CONNECTIONS SECONDS".into());
    };
    let requests: Arc<Vec<Bytes>> = Arc::new(
        std::fs::read_to_string(file)?
            .lines()
            .filter(|line| !line.is_empty())
            .map(|line| Bytes::from(line.to_owned()))
            .collect(),
    );
    let connections: usize = connections.parse()?;
    let started = Instant::now();
    let ends = started + Duration::from_secs_f64(seconds.parse()?);
    let mut crew = JoinSet::new();
    for number in 0..connections {
        crew.spawn(user(authority.clone(), Arc::clone(&requests), number, ends));
    }
    let mut took = Vec::new();
    while let Some(done) = crew.join_next().await {
        took.extend(done??);
    }
    let elapsed = started.elapsed().as_secs_f64();
    took.sort_unstable();
    let at = |share: f64| took.get(((took.len() as f64 - 1.0) * share) as usize).copied().unwrap_or_default();
    println!("{} {elapsed} {} {}", took.len(), at(0.5), at(0.99));
    Ok(())
}

async fn user(
    authority: String,
    requests: Arc<Vec<Bytes>>,
    number: usize,
    ends: Instant,
) -> Result<Vec<u32>, Failure> {
    let stream = TcpStream::connect(&authority).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut took = Vec::new();
    for turn in number.. {
        let started = Instant::now();
        if started >= ends {
            break;
        }
        let request = Request::post("/")
            .header("host", &authority)
            .header("content-type", "application/json")
            .body(Full::new(requests[turn % requests.len()].clone()))?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        took.push(u32::try_from(started.elapsed().as_micros())?);
        let looked_into = took.len() % LOOK_EVERY == 1;
        if status != 200 || looked_into && !String::from_utf8_lossy(&body).contains("\"result\"") {
            return Err(format!("{status}: {}", String::from_utf8_lossy(&body)).into());
        }
    }
    Ok(took)
}
