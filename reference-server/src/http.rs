//! HTTP: any path, POST only, bounded in size, time and number of connections.

mod body;
mod connection;
mod deviating;
mod listener;
mod progress;
mod pulse;
mod socket;

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Semaphore;

pub use self::listener::{Listen, PipeConnector, PipeListener, pipe};
use self::progress::TickBounds;
use self::pulse::{Pulse, Stage};
use crate::deviations::Deviations;
use crate::error_codes::ErrorCode;
use crate::service::Service;

/// How long to wait when the system has no descriptor or memory left for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long to wait for connections to notice that they are to end at once.
const END_TIMEOUT: Duration = Duration::from_secs(1);
/// What a refused connection may take to read the refusal.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves until `shutdown` is ready; then answers what is in flight, for as long as the bounds allow, and returns.
pub async fn run<L: Listen>(mut listener: L, service: Arc<Service>, shutdown: impl Future<Output = ()>) {
    let bounds = service.bounds();
    let pulse = Arc::new(Pulse::new(bounds));
    let tick_bounds = Arc::new(TickBounds::new(bounds, &pulse));
    // More permits than a semaphore has are as good as no bound.
    let most_connections = bounds.max_connections.min(Semaphore::MAX_PERMITS);
    let most_connections = u32::try_from(most_connections).unwrap_or(u32::MAX);
    let slots = Arc::new(Semaphore::new(most_connections as usize));
    let mut shutdown = pin!(shutdown);
    let mut beats = tokio::time::interval(pulse.period());
    beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);

    loop {
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            _ = beats.tick() => pulse.beat(),
            accepted = listener.accept() => match accepted {
                Ok(stream) => match Arc::clone(&slots).try_acquire_owned() {
                    Ok(slot) => {
                        if service.deviations().is_some_and(Deviations::reset) {
                            L::reset_when_closed(&stream);
                        }
                        let connection =
                            connection::serve(stream, Arc::clone(&service), Arc::clone(&pulse), Arc::clone(&tick_bounds));
                        tokio::spawn(async move {
                            connection.await;
                            drop(slot);
                        });
                    }
                    Err(_) => {
                        tokio::spawn(refuse(stream, Arc::clone(&service)));
                    }
                },
                Err(error) => pause_after(&error).await,
            },
        }
    }
    drop(listener);
    tracing::info!(
        connections = most_connections as usize - slots.available_permits(),
        "stopping"
    );
    pulse.enter(Stage::Stopping);
    let drain = tokio::time::timeout(Duration::from_millis(bounds.drain_timeout_ms), async {
        tokio::select! {
            // All slots are free when all connections have ended.
            _ = slots.acquire_many(most_connections) => {}
            () = keep_beating(&pulse, &mut beats) => {}
        }
    });
    if drain.await.is_err() {
        tracing::warn!("requests in flight were cut off");
        pulse.enter(Stage::Ending);
        let _ = tokio::time::timeout(END_TIMEOUT, slots.acquire_many(most_connections)).await;
    }
    tracing::info!("stopped");
}

async fn keep_beating(pulse: &Pulse, beats: &mut tokio::time::Interval) {
    loop {
        beats.tick().await;
        pulse.beat();
    }
}

/// A connection that failed by itself is not our trouble; a lack of descriptors or memory passes only with time.
async fn pause_after(error: &io::Error) {
    let only_this_connection = matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    );
    if !only_this_connection {
        tracing::warn!(%error, "cannot accept connections");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// Answers a connection for which there is no room, without reading what it asks.
async fn refuse(mut stream: impl AsyncWrite + Unpin, service: Arc<Service>) {
    let reply = service.refuse(503, ErrorCode::TooManyConnections, "try again later");
    let body = reply.body.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer = [head.as_bytes(), &body].concat();
    let _ = tokio::time::timeout(REFUSAL_TIMEOUT, async {
        stream.write_all(&answer).await?;
        stream.shutdown().await
    })
    .await;
}
