//! Sends the requests of a group and collects the answers, in the order that the group needs and at a pace that the target accepts.

use std::{
    fmt,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::future::join_all;
use paymaster_client::{
    http::transport::{PooledConnection, Transport},
    memory::{MemoryLimit, MemoryPermit},
    network::connector::Protocol,
    pace::Pace,
    stop::{Reason, Stop},
    throttling::{self, GivenUp, MOST_GIVEN_UP, RetryPolicy, ThrottleDecision},
};
use paymaster_engine::cases::case::{Group, Order};
use paymaster_exchange::{Exchange, Failure};
use tokio::sync::{Semaphore, mpsc};

use crate::{
    events::SentExchange,
    run::sending::{
        chain::Chain,
        liveness::{Liveness, NextStep, is_answered},
        outage,
        overload::{Alone, Concurrency, Overload},
    },
};

/// How many times connecting is tried for one request.
const CONNECT_TRIES: u32 = 3;

/// The pause before the next try to connect.
pub(super) const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// Why the requests of a group were not all answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryError {
    /// The run ended first.
    Stopped,
    /// The target answered 429 or 503 each time.
    Throttled,
    /// No connection could be made, for this cause; nothing was sent.
    Unreachable(String),
}

impl std::error::Error for DeliveryError {}

impl fmt::Display for DeliveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("the run was over"),
            Self::Throttled => f.write_str("the target asked to wait again and again"),
            Self::Unreachable(cause) => write!(f, "no connection: {cause}"),
        }
    }
}

/// What the sender reports while it sends.
#[derive(Debug)]
pub(crate) enum Notice {
    /// The target asked for a pause, with this HTTP status.
    Throttled { pause: Duration, status: u16 },
    /// The target refuses what it served before, with this HTTP status.
    Outage { pause: Duration, status: Option<u16> },
    /// The target refused requests while others were in flight: fewer are sent at a time from now on.
    Overloaded(Overload),
    /// An exchange ended. Sent only when a reporter wants exchanges.
    Exchanged(Box<SentExchange>),
}

/// What to do with an error answer that may come from overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OverloadMode {
    /// It is returned at once, to be checked.
    Watch,
    /// It is returned at once: it is the result of a check without other requests in flight.
    Alone,
    /// It is returned at once: it is the result of a check with many copies in flight. That no copy is answered does not show that the
    /// target stopped answering.
    UnderLoad,
    /// It is an answer like every other. A request that is throttled is sent again after a pause.
    Ignore,
}

/// Sends groups over at most `jobs` connections.
pub(crate) struct Sender {
    pub(crate) transport: Transport,
    pub(crate) stop: Stop,
    pub(crate) pace: Pace,
    pub(crate) liveness: Liveness,
    jobs: usize,
    pub(super) concurrency: Concurrency,
    /// Whether error answers are checked for overload.
    pub(super) checks_overload: bool,
    idle: Mutex<Vec<PooledConnection>>,
    gate: MemoryLimit,
    /// How many complete responses came in HTTP/1.1, and how many in HTTP/2.
    responses: [AtomicU64; 2],
    given_up: GivenUp,
    /// How many outages are over, and whether the last one lasted longer than the run waits.
    pub(super) outages: AtomicU64,
    pub(super) lasting_outage: AtomicBool,
    pub(super) notices: mpsc::UnboundedSender<Notice>,
    reports_exchanges: bool,
    chain: Option<Chain>,
}

impl Sender {
    pub(crate) fn new(
        transport: Transport,
        stop: Stop,
        pace: Pace,
        jobs: usize,
        notices: mpsc::UnboundedSender<Notice>,
    ) -> Self {
        let jobs = jobs.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self {
            transport,
            stop,
            pace,
            liveness: Liveness::default(),
            jobs,
            concurrency: Concurrency::new(jobs),
            checks_overload: true,
            idle: Mutex::default(),
            gate: MemoryLimit::default(),
            responses: Default::default(),
            given_up: GivenUp::default(),
            outages: AtomicU64::new(0),
            lasting_outage: AtomicBool::new(false),
            notices,
            reports_exchanges: false,
            chain: None,
        }
    }

    /// Reports every exchange as a [`Notice`] where `reports_exchanges` is set.
    pub(crate) fn reporting_exchanges(self, reports_exchanges: bool) -> Self {
        Self { reports_exchanges, ..self }
    }

    /// Simulates returned operations on this chain, where there is one.
    pub(crate) fn simulating_on(self, chain: Option<Chain>) -> Self {
        Self { chain, ..self }
    }

    /// Takes errors that may come from overload for answers like every other.
    pub(crate) fn ignoring_overload(self) -> Self {
        Self { checks_overload: false, ..self }
    }

    /// How many exchanges may run at the same time, unless the target is overloaded by them.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs
    }

    /// The overload of the target that the run found.
    pub(crate) fn overload(&self) -> Option<Overload> {
        self.concurrency.overload()
    }

    /// The HTTP versions of complete responses, and how many came in each.
    pub(crate) fn http_versions(&self) -> impl Iterator<Item = (Protocol, u64)> {
        [Protocol::Http1, Protocol::Http2]
            .into_iter()
            .zip(&self.responses)
            .map(|(protocol, times)| (protocol, times.load(Ordering::Relaxed)))
            .filter(|(_, times)| *times > 0)
    }

    /// The memory share of one group, to be held until its answers are judged.
    pub(crate) fn share(&self) -> MemoryPermit {
        self.gate.permit()
    }

    /// Sends every request of a group; returns one exchange for each, in order.
    pub(crate) async fn deliver(&self, group: &Group) -> Result<Vec<Exchange>, DeliveryError> {
        self.deliver_within(group, &mut self.share()).await
    }

    /// Sends the requests of a group one after the other, also where its relation sends them at the same time.
    pub(crate) async fn deliver_in_order(&self, group: &Group) -> Result<Vec<Exchange>, DeliveryError> {
        let Some((_slot, _)) = self.concurrency.acquire(1).await else {
            return Err(DeliveryError::Stopped);
        };
        self.deliver_in_turn(group, &self.share(), OverloadMode::Ignore).await
    }

    pub(super) async fn deliver_once(
        &self,
        group: &Group,
        share: &MemoryPermit,
        mode: OverloadMode,
    ) -> Result<Vec<Exchange>, DeliveryError> {
        let wanted = match group.relation.order {
            Order::Sequential => 1,
            Order::Concurrent => group.members.len(),
        };
        let Some((_slots, width)) = self.concurrency.acquire(wanted).await else {
            return Err(DeliveryError::Stopped);
        };
        if width == 1 {
            return self.deliver_in_turn(group, share, mode).await;
        }
        let mut exchanges = Vec::with_capacity(group.members.len());
        let numbers: Vec<usize> = (0..group.members.len()).collect();
        for chunk in numbers.chunks(width) {
            let sending = chunk.iter().map(|number| async {
                let mut connection = self.take_connection();
                let exchange = self.send(&mut connection, group, *number, share, mode).await;
                self.return_connection(connection);
                exchange
            });
            for exchange in join_all(sending).await {
                exchanges.push(exchange?);
            }
        }
        Ok(exchanges)
    }

    /// Sends the members of a group one after the other, each after the answer to the one before.
    async fn deliver_in_turn(
        &self,
        group: &Group,
        share: &MemoryPermit,
        mode: OverloadMode,
    ) -> Result<Vec<Exchange>, DeliveryError> {
        let mut connection = self.take_connection();
        let exchanges = self.deliver_over(&mut connection, group, share, mode).await?;
        self.return_connection(connection);
        Ok(exchanges)
    }

    /// The same to check an error that may come from overload: over a new connection, which is closed afterwards.
    pub(super) async fn deliver_to_check(
        &self,
        group: &Group,
        share: &MemoryPermit,
        mode: OverloadMode,
    ) -> Result<Vec<Exchange>, DeliveryError> {
        let mut connection = PooledConnection::default();
        self.deliver_over(&mut connection, group, share, mode).await
    }

    pub(super) async fn deliver_over(
        &self,
        connection: &mut PooledConnection,
        group: &Group,
        share: &MemoryPermit,
        mode: OverloadMode,
    ) -> Result<Vec<Exchange>, DeliveryError> {
        let mut exchanges = Vec::with_capacity(group.members.len());
        for number in 0..group.members.len() {
            let mut exchange = self.send(connection, group, number, share, mode).await?;
            if let (Some(chain), Some(simulation)) = (&self.chain, group.relation.simulation) {
                exchange.on_chain = chain.simulate(&exchange, simulation).await;
            }
            exchanges.push(exchange);
        }
        Ok(exchanges)
    }

    async fn send(
        &self,
        connection: &mut PooledConnection,
        group: &Group,
        number: usize,
        share: &MemoryPermit,
        mode: OverloadMode,
    ) -> Result<Exchange, DeliveryError> {
        let member = &group.members[number];
        let body: &Bytes = &member.body;
        let (mut retries, mut unreachable) = (RetryPolicy::CHECK.start(), 0);
        loop {
            if !self.pace.turn(&self.stop).await {
                return Err(DeliveryError::Stopped);
            }
            let exchange = connection.exchange_as(&self.transport, body.clone(), member.sent_as, share).await;
            self.report(&exchange, group, number);
            let is_checked = mode == OverloadMode::Watch
                && self.concurrency.suspicion(std::slice::from_ref(&exchange)).is_some();
            match self.liveness.note(&exchange) {
                NextStep::Continue => {}
                // Sending it alone shows whether the target still answers.
                _ if is_checked || mode == OverloadMode::UnderLoad => {}
                NextStep::Unreachable => self.give_up(&exchange, "no answer"),
                NextStep::Probe(known_good) => {
                    let probe = PooledConnection::default().exchange(&self.transport, known_good).await;
                    self.liveness.note(&probe);
                    if !is_answered(&probe) {
                        self.give_up(&probe, "the target stopped answering");
                    }
                }
            }
            match &exchange.outcome {
                Err(Failure::Connect(cause)) => {
                    unreachable += 1;
                    if unreachable == CONNECT_TRIES && is_checked {
                        return Ok(exchange);
                    }
                    if unreachable == CONNECT_TRIES {
                        return Err(DeliveryError::Unreachable(cause.clone()));
                    }
                    tokio::time::sleep(CONNECT_PAUSE).await;
                }
                Ok(response) => {
                    if let Some(protocol) = connection.protocol() {
                        self.responses[protocol as usize].fetch_add(1, Ordering::Relaxed);
                    }
                    let is_wanted =
                        is_checked || matches!(mode, OverloadMode::Alone | OverloadMode::UnderLoad);
                    if is_wanted && self.is_throttled_without_time(&exchange) {
                        return Ok(exchange);
                    }
                    let limit = self.concurrency.rate_limit(std::slice::from_ref(&exchange));
                    let decision = match limit {
                        Some(_) => retries.throttled_without_time(),
                        None => retries.decide(response, SystemTime::now),
                    };
                    let pause = match decision {
                        ThrottleDecision::NotThrottled => {
                            if !outage::is_sign(&exchange) {
                                self.pace.answered();
                            }
                            self.given_up.reset();
                            return Ok(exchange);
                        }
                        // Whether it is a rate limit at all is checked without other requests in flight.
                        ThrottleDecision::GiveUp if limit.is_some() => return Ok(exchange),
                        ThrottleDecision::GiveUp => {
                            self.note_throttled_group(response.status);
                            return Err(DeliveryError::Throttled);
                        }
                        ThrottleDecision::Wait(pause) => pause,
                    };
                    // The pause applies even when the receiver is gone.
                    let _ = self.notices.send(Notice::Throttled { pause, status: response.status });
                    self.pace.pause(pause, &self.stop);
                    if self.stop.reason().is_some() {
                        return Err(DeliveryError::Stopped);
                    }
                }
                Err(_) => return Ok(exchange),
            }
        }
    }

    fn report(&self, exchange: &Exchange, group: &Group, number: usize) {
        if !self.reports_exchanges {
            return;
        }
        let member = &group.members[number];
        // The receiver is gone once the run is over.
        let _ = self.notices.send(Notice::Exchanged(Box::new(SentExchange {
            relation: group.relation.id,
            group: group.number,
            member: number,
            role: member.role.name(),
            label: member.label.clone(),
            exchange: exchange.with_short_body(),
            ended: SystemTime::now(),
        })));
    }

    /// Whether an answer throttles its request and states no time: HTTP 429, or a JSON-RPC error that speaks of a rate limit.
    pub(super) fn is_throttled_without_time(&self, exchange: &Exchange) -> bool {
        let response = exchange.outcome.as_ref();
        response.is_ok_and(throttling::is_throttled_without_time)
            || self.concurrency.rate_limit(std::slice::from_ref(exchange)).is_some()
    }

    pub(super) fn note_throttled_group(&self, status: u16) {
        if self.given_up.add() {
            let tries = RetryPolicy::CHECK.tries;
            let address = self.transport.target.address();
            let cause = format!(
                "{address} answered {status} to each of {MOST_GIVEN_UP} requests {tries} times, with pauses between"
            );
            self.stop.trigger(if self.pace.answers() > 0 {
                Reason::Limited(cause)
            } else {
                Reason::GaveUp(cause)
            });
        }
    }

    fn give_up(&self, exchange: &Exchange, what: &str) {
        let cause = match &exchange.outcome {
            Ok(response) => format!("status {}", response.status),
            Err(failure) => failure.to_string(),
        };
        let address = self.transport.target.address();
        self.stop.trigger(Reason::GaveUp(format!("{what} from {address}: {cause}")));
    }

    /// Closes the connections that no request uses.
    pub(crate) fn close_idle(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.clear();
    }

    fn take_connection(&self) -> PooledConnection {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop().unwrap_or_default()
    }

    /// Keeps a connection for other groups. There are never more than exchanges at the same time.
    fn return_connection(&self, connection: PooledConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.concurrency.jobs() {
            idle.push(connection);
        }
    }

    /// Waits until no other request is in flight, and closes the idle connections: some targets take few at a time.
    pub(super) async fn alone(&self) -> Result<Alone<'_>, DeliveryError> {
        let alone = self.concurrency.alone().await.ok_or(DeliveryError::Stopped)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(alone)
    }
}
