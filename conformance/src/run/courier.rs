//! Delivers groups: every member sent and answered, in the order that the group asks for, at the pace that the target bears.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use tokio::sync::{Semaphore, mpsc};

use crate::events::Delivered;
use crate::run::on_chain::Chain;
use crate::run::vitals::{Pulse, Vitals};
use paymaster_client::{
    connector::Protocol,
    memory::{MemoryLimit, MemoryPermit},
    pace::Pace,
    stop::{Reason, Stop},
    throttling::{GivenUp, MOST_GIVEN_UP, RetryPolicy, ThrottleDecision},
    transport::{PooledConnection, Transport},
};
use paymaster_exchange::{Exchange, Failure};
use paymaster_judge::cases::{
    case::{Group, Order},
    relations::ON_CHAIN,
};

/// How often a connection is tried for one request.
const CONNECT_TRIES: u32 = 3;

/// The pause before another try to connect.
const CONNECT_PAUSE: Duration = Duration::from_millis(50);

/// Why a group has no exchanges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undelivered {
    /// The run is over.
    Stopped,
    /// The target asked to wait, again and again.
    Throttled,
    /// No connection could be made, so nothing was asked.
    Unreachable(String),
}

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("the run was over"),
            Self::Throttled => f.write_str("the target asked to wait again and again"),
            Self::Unreachable(cause) => write!(f, "no connection: {cause}"),
        }
    }
}

/// What the reporters are told of deliveries.
#[derive(Debug)]
pub(crate) enum News {
    /// The target asked for a pause.
    Asked { pause: Duration, status: u16 },
    /// An exchange ended; only when somebody wants exchanges.
    Exchanged(Box<Delivered>),
}

/// Sends groups over at most `jobs` connections.
pub(crate) struct Courier {
    pub(crate) transport: Transport,
    pub(crate) stop: Stop,
    pub(crate) pace: Pace,
    pub(crate) vitals: Vitals,
    jobs: usize,
    slots: Semaphore,
    idle: Mutex<Vec<PooledConnection>>,
    gate: MemoryLimit,
    spoken: [AtomicU64; 2],
    given_up: GivenUp,
    news: mpsc::UnboundedSender<News>,
    tells_exchanges: bool,
    chain: Option<Chain>,
}

impl Courier {
    pub(crate) fn new(
        transport: Transport,
        stop: Stop,
        pace: Pace,
        jobs: usize,
        news: mpsc::UnboundedSender<News>,
    ) -> Self {
        let jobs = jobs.clamp(1, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
        Self {
            transport,
            stop,
            pace,
            vitals: Vitals::default(),
            jobs,
            slots: Semaphore::new(jobs),
            idle: Mutex::default(),
            gate: MemoryLimit::default(),
            spoken: Default::default(),
            given_up: GivenUp::default(),
            news,
            tells_exchanges: false,
            chain: None,
        }
    }

    /// The same, telling of every exchange when `tells` says so.
    pub(crate) fn telling_exchanges(self, tells: bool) -> Self {
        Self {
            tells_exchanges: tells,
            ..self
        }
    }

    /// The same, and answers to operations are simulated on this chain.
    pub(crate) fn simulating_on(self, chain: Option<Chain>) -> Self {
        Self { chain, ..self }
    }

    /// How many exchanges may run at the same time.
    pub(crate) fn jobs(&self) -> usize {
        self.jobs
    }

    /// The HTTP versions that complete responses came in, and how many in each.
    pub(crate) fn spoken(&self) -> impl Iterator<Item = (Protocol, u64)> {
        [Protocol::Http1, Protocol::Http2]
            .into_iter()
            .zip(&self.spoken)
            .map(|(protocol, times)| (protocol, times.load(Ordering::Relaxed)))
            .filter(|(_, times)| *times > 0)
    }

    /// The share of a group that is delivered and judged.
    pub(crate) fn share(&self) -> MemoryPermit {
        self.gate.permit()
    }

    /// Sends every member of a group; one exchange a member, in order.
    pub(crate) async fn deliver(&self, group: &Group) -> Result<Vec<Exchange>, Undelivered> {
        self.deliver_within(group, &self.share()).await
    }

    /// The same with a share that the caller keeps as long as the answers.
    pub(crate) async fn deliver_within(
        &self,
        group: &Group,
        share: &MemoryPermit,
    ) -> Result<Vec<Exchange>, Undelivered> {
        let width = match group.relation.order {
            Order::Sequential => 1,
            Order::Concurrent => group.members.len().clamp(1, self.jobs),
        };
        let permits = u32::try_from(width).unwrap_or(u32::MAX);
        let Ok(_slots) = self.slots.acquire_many(permits).await else {
            return Err(Undelivered::Stopped);
        };
        let mut exchanges = Vec::with_capacity(group.members.len());
        if width == 1 {
            let mut line = self.take_line();
            for number in 0..group.members.len() {
                let mut exchange = self.send(&mut line, group, number, share).await?;
                if let Some(chain) = &self.chain
                    && group.relation.id == ON_CHAIN.id
                {
                    exchange.on_chain = chain.simulate(&exchange).await;
                }
                exchanges.push(exchange);
            }
            self.give_back(line);
            return Ok(exchanges);
        }
        let numbers: Vec<usize> = (0..group.members.len()).collect();
        for together in numbers.chunks(width) {
            let sending = together
                .iter()
                .map(|number| async {
                    let mut line = self.take_line();
                    let exchange = self.send(&mut line, group, *number, share).await;
                    self.give_back(line);
                    exchange
                })
                .collect();
            for exchange in join(sending).await {
                exchanges.push(exchange?);
            }
        }
        Ok(exchanges)
    }

    async fn send(
        &self,
        line: &mut PooledConnection,
        group: &Group,
        number: usize,
        share: &MemoryPermit,
    ) -> Result<Exchange, Undelivered> {
        let body: &Bytes = &group.members[number].body;
        let (mut retries, mut unreachable) = (RetryPolicy::CHECK.start(), 0);
        loop {
            if !self.pace.turn(&self.stop).await {
                return Err(Undelivered::Stopped);
            }
            let exchange = line.exchange_within(&self.transport, body.clone(), share).await;
            self.tell(&exchange, group, number);
            match self.vitals.note(&exchange) {
                Pulse::Fine => {}
                Pulse::NobodyThere => self.give_up(&exchange, "no answer"),
                Pulse::Ask(known_good) => {
                    let probe = PooledConnection::default()
                        .exchange(&self.transport, known_good)
                        .await;
                    self.vitals.note(&probe);
                    if !super::vitals::is_answered(&probe) {
                        self.give_up(&probe, "the target stopped answering");
                    }
                }
            }
            match &exchange.outcome {
                Err(Failure::Connect(cause)) => {
                    unreachable += 1;
                    if unreachable == CONNECT_TRIES {
                        return Err(Undelivered::Unreachable(cause.clone()));
                    }
                    tokio::time::sleep(CONNECT_PAUSE).await;
                }
                Ok(response) => {
                    if let Some(protocol) = line.protocol() {
                        self.spoken[protocol as usize].fetch_add(1, Ordering::Relaxed);
                    }
                    let pause = match retries.decide(response, SystemTime::now) {
                        ThrottleDecision::NotThrottled => {
                            self.pace.answered();
                            self.given_up.reset();
                            return Ok(exchange);
                        }
                        ThrottleDecision::GiveUp => {
                            self.note_refusal(response.status);
                            return Err(Undelivered::Throttled);
                        }
                        ThrottleDecision::Wait(pause) => pause,
                    };
                    // Nobody may be listening any more; the pause is kept all the same.
                    let _ = self.news.send(News::Asked {
                        pause,
                        status: response.status,
                    });
                    self.pace.pause(pause, &self.stop);
                    if self.stop.reason().is_some() {
                        return Err(Undelivered::Stopped);
                    }
                }
                Err(_) => return Ok(exchange),
            }
        }
    }

    fn tell(&self, exchange: &Exchange, group: &Group, number: usize) {
        if !self.tells_exchanges {
            return;
        }
        let member = &group.members[number];
        // Nobody may be listening any more.
        let _ = self.news.send(News::Exchanged(Box::new(Delivered {
            relation: group.relation.id,
            group: group.number,
            member: number,
            role: member.role.name(),
            label: member.label.clone(),
            exchange: exchange.keepsake(),
            ended: SystemTime::now(),
        })));
    }

    fn note_refusal(&self, status: u16) {
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
        self.stop
            .trigger(Reason::GaveUp(format!("{what} from {address}: {cause}")));
    }

    fn take_line(&self) -> PooledConnection {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop().unwrap_or_default()
    }

    fn give_back(&self, line: PooledConnection) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    }
}

/// Runs futures side by side, within the task of the caller.
pub(crate) async fn join<T, F: Future<Output = T>>(futures: Vec<F>) -> Vec<T> {
    let mut running: Vec<(Pin<Box<F>>, Option<T>)> = futures
        .into_iter()
        .map(|future| (Box::pin(future), None))
        .collect();
    poll_fn(|cx| {
        for (future, output) in &mut running {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *output = Some(ready);
            }
        }
        if running.iter().all(|(_, output)| output.is_some()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    running.into_iter().filter_map(|(_, output)| output).collect()
}
